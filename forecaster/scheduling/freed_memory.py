"""Gives memory that a job has freed back to the system, which the allocator keeps by itself.

A service idles for most of its life; what its jobs once needed must not stay with it. Where the C
library cannot do so, nothing is done.
"""

import ctypes
import gc
import sys


def give_back() -> None:
    """Collect what nobody needs, and let the allocators return it."""
    gc.collect()
    if "pyarrow" in sys.modules:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
