"""A process that only forecasts is light, and nothing stays hidden from one that does more."""

import subprocess
import sys

import pytest

FORECAST_ONLY = """
import sys
import numpy as np
from features.calendar import CalendarSettings, ClusterCalendar
from features.events import NoKnownEvents
from models.forecast import Horizon
from models.protocol import Context
from models.zoo import MODELS
from tests.fakes.demand import tidal_panel

context = Context(Horizon.of(300), ClusterCalendar(CalendarSettings()), NoKnownEvents())
panel = tidal_panel(days=2)
said = MODELS["combined"]().fit(panel, context).predict(panel, np.array([len(panel)]), context)
assert np.isfinite(said.peak).all()
"""
HEAVY = ("sklearn", "pandas", "prophet", "mlflow", "matplotlib")


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )


@pytest.mark.parametrize("name", HEAVY)
def test_forecasting_imports_nothing_heavy(name):
    """The champion, with its trees, forecasts without these libraries."""
    ended = run(f"{FORECAST_ONLY}\nsys.exit({name!r} in sys.modules)")
    assert 0 == ended.returncode, ended.stderr


def test_what_was_hidden_can_be_imported_afterwards():
    """A regression can be fitted after trees were read, in either order of import."""
    after = run(
        f"{FORECAST_ONLY}\nfrom sklearn.linear_model import Ridge; import pandas\n"
        "Ridge().fit([[0.0], [1.0]], [0.0, 1.0]); pandas.Series([1]).sum()"
    )
    assert 0 == after.returncode, after.stderr
    before = run(f"import pandas, sklearn.linear_model\n{FORECAST_ONLY}")
    assert 0 == before.returncode, before.stderr
