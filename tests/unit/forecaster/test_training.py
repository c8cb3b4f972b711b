"""What a training goes on from, and what it says it was made from."""

import dataclasses
from typing import Any

import pytest

from features.panel import DemandPanel
from forecaster.tasks.serving import SavedFit
from forecaster.tasks.training import _continuing, panel_digest
from models.combined import Combined
from models.persistence import Persistence
from models.registry import Manifest
from tests.fakes.demand import tidal_panel

PANEL = tidal_panel(days=2)


class GoesOn:
    """A model that remembers what it goes on from."""

    name = "combined"
    refit_seconds = 3_600

    def __init__(self, previous: Any = None) -> None:
        self.previous = previous

    def continued_from(self, previous: Any) -> "GoesOn":
        return GoesOn(previous)


def champion(model: str = "combined", last_seconds: int = PANEL.end_seconds) -> Any:
    """A champion that learned up to a moment."""
    manifest = Manifest(model, "v1", PANEL.step_seconds, (), PANEL.start_seconds, last_seconds)
    return SavedFit(manifest, "what it learned")  # type: ignore[arg-type]


def continued(model: Any, incumbent: Any) -> Any:
    """What the model goes on from."""
    return getattr(_continuing(model, incumbent, PANEL), "previous", None)


def test_a_model_goes_on_from_a_champion_of_its_own_kind() -> None:
    """What the champion has learned of its own errors is not lost."""
    assert "what it learned" == continued(GoesOn(), champion())


@pytest.mark.parametrize(
    "incumbent",
    [None, champion("lightgbm"), champion(last_seconds=PANEL.end_seconds + 300)],
    ids=["no champion", "another model", "from the future"],
)
def test_a_model_begins_anew_where_it_cannot_go_on(incumbent: Any) -> None:
    """Neither from another model nor from what came later."""
    assert continued(GoesOn(), incumbent) is None


def test_a_model_that_cannot_go_on_is_left_as_it_is() -> None:
    """Only some can; the champion's usual model is one of them."""
    model = Persistence()
    assert model is _continuing(model, champion("persistence"), PANEL)
    assert hasattr(Combined, "continued_from")


def test_the_same_history_has_the_same_digest_and_any_change_another() -> None:
    """Demand, pools, start and order all count."""
    assert panel_digest(tidal_panel(days=2)) == panel_digest(PANEL)
    demand = PANEL.demand_gpus.copy()
    demand[1, 7] += 1
    changed: list[DemandPanel] = [
        dataclasses.replace(PANEL, demand_gpus=demand),
        dataclasses.replace(PANEL, start_seconds=PANEL.start_seconds + 300),
        dataclasses.replace(PANEL, capped=~PANEL.capped),
        PANEL.select(PANEL.pools[::-1]),
        PANEL.before(len(PANEL) - 1),
    ]
    assert 6 == len({panel_digest(one) for one in [PANEL, *changed]})
