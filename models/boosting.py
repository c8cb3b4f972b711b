"""LightGBM without the libraries that it imports for wrappers nobody here uses.

Importing LightGBM imports scikit-learn and pandas wherever they are installed, which costs a
process that only forecasts two seconds and 140 MB. Its own compatibility module does without them
when they cannot be imported, so for the moment of that one import they cannot. Nothing stays hidden
after it, and a process that has them already loses nothing. It must not run while another thread
imports one of them.
"""

import sys
from importlib import import_module

WRAPPED = ("sklearn", "pandas", "matplotlib", "graphviz", "dask", "distributed")


def load_lightgbm() -> None:
    """Import LightGBM, if it is not there yet, without what it wraps; `import lightgbm` follows."""
    if "lightgbm" in sys.modules:
        return
    hidden = [name for name in WRAPPED if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own mark of 'not importable'
    try:
        import_module("lightgbm")
    finally:
        for name in hidden:
            del sys.modules[name]
