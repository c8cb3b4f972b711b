"""Many clusters and many models at once are the same, to the last digit, as one after the other."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from features.errors import BadInput
from forecaster.fan_out import Backend, FanOut
from forecaster.settings import Settings, load_settings
from forecaster.settings.compute import ComputeSettings
from forecaster.tasks.fleets import fit_clusters, replays_with
from forecaster.wiring import Workspace
from models.backtest import BacktestResult, backtest
from models.protocol import Model, with_threads
from models.zoo import models_named
from tests.fakes.command_line import Command
from tests.fakes.fleet import CONTEXT, QUICK_MODELS, cluster, quick_lightgbm

FLEET = {"north": cluster(seed=1), "south": cluster(seed=5)}
IN_TURN = FanOut(Backend.SEQUENTIAL)
AT_ONCE = [FanOut(Backend.THREADING, workers=2), FanOut(Backend.LOKY, workers=2)]
MODELS = models_named(["seasonal-naive", "periodic-regression"])


@pytest.mark.parametrize("model", QUICK_MODELS, ids=lambda model: model.name)
def test_clusters_learn_the_same_wherever_they_are_fitted(model: Model) -> None:
    """All that was learned, byte by byte; and the clusters differ, so that none is another's."""
    expected = {name: fit.artifact() for name, fit in fit_clusters(IN_TURN, model, FLEET).items()}
    assert expected["north"] != expected["south"]
    for fan_out in AT_ONCE:
        fitted = fit_clusters(fan_out, model, FLEET)
        assert expected == {name: fit.artifact() for name, fit in fitted.items()}


def test_the_number_of_threads_changes_no_digit() -> None:
    """A fit alone uses more of them than one beside others."""
    panel = FLEET["north"].panel
    origins = np.arange(len(panel) - 50, len(panel))
    one, three = (
        with_threads(quick_lightgbm(), threads).fit(panel, CONTEXT).predict(panel, origins, CONTEXT)
        for threads in (1, 3)
    )
    np.testing.assert_array_equal(one.peak, three.peak)
    np.testing.assert_array_equal(one.path, three.path)


@dataclass(frozen=True)
class Threaded:
    """A model that learns how many threads it was given."""

    threads: int = 0
    name: str = "threaded"
    refit_seconds: int = 86_400

    def with_threads(self, threads: int) -> "Threaded":
        return replace(self, threads=threads)

    def fit(self, panel, context):
        return self

    def restore(self, artifact):
        return self


def test_a_fit_gets_all_threads_alone_and_one_beside_others() -> None:
    """The CPU quota is used, and not exceeded."""
    alone = FanOut(Backend.THREADING, workers=1, threads=6)
    beside = FanOut(Backend.THREADING, workers=2, threads=6)
    assert {6} == {fit.threads for fit in fit_clusters(alone, Threaded(), FLEET).values()}
    assert {1} == {fit.threads for fit in fit_clusters(beside, Threaded(), FLEET).values()}


@dataclass(frozen=True)
class Refusing(Threaded):
    """A model that refuses every panel."""

    def fit(self, panel, context):
        raise BadInput("nothing can be learned from this")


@pytest.mark.parametrize("fan_out", [IN_TURN, *AT_ONCE])
def test_the_cluster_of_an_error_is_named(fan_out: FanOut) -> None:
    """Among fifty, one wants to know which."""
    with pytest.raises(BadInput, match=r"^(north|south): nothing can be learned from this$"):
        fit_clusters(fan_out, Refusing(), FLEET)


def replayed(fan_out: FanOut, told: list[tuple[str, int, int]]) -> BacktestResult:
    """The last day of a cluster, and what was told meanwhile."""
    return backtest(
        FLEET["north"].panel,
        MODELS,
        CONTEXT,
        1,
        lambda *step: told.append(step),
        replays=replays_with(fan_out),
    )


@pytest.mark.parametrize("fan_out", AT_ONCE)
def test_a_backtest_is_the_same_wherever_it_is_replayed(fan_out: FanOut) -> None:
    """Every forecast, to the last digit, is what its model says when it is replayed alone."""
    found = replayed(fan_out, [])
    for model in MODELS:
        alone = backtest(FLEET["north"].panel, [model], CONTEXT, 1).forecasts[model.name]
        np.testing.assert_array_equal(alone.peak, found.forecasts[model.name].peak)
        np.testing.assert_array_equal(alone.path, found.forecasts[model.name].path)


def test_progress_says_what_is_still_under_way() -> None:
    """All at the beginning, fewer with each that is done, and at the end that it is."""
    told: list[tuple[str, int, int]] = []
    replayed(AT_ONCE[0], told)
    begun, then, done = [step for step in told if not step[0].startswith("persistence")]
    assert ("seasonal-naive, periodic-regression", 0, 2) == begun
    assert then[0] in {"seasonal-naive", "periodic-regression"}
    assert (1, 2) == then[1:]
    assert (2, 2) == done[1:]


def test_one_after_the_other_tells_of_every_refit() -> None:
    """The bar moves while a model is replayed."""
    told: list[tuple[str, int, int]] = []
    replayed(IN_TURN, told)
    assert ("periodic-regression", 1, 1) in told


def test_the_backtest_command_says_the_same_whatever_is_set(
    tidecast: Command, jobs_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`compute` changes what progress looks like, and no figure."""
    tidecast("history", "import", jobs_csv)
    asked = ("backtest", "--days", "1", "--models", "seasonal-naive,periodic-regression")
    monkeypatch.setenv("TIDECAST_COMPUTE__WORKERS", "2")
    at_once = tidecast(*asked, "--output", "json")
    monkeypatch.setenv("TIDECAST_COMPUTE__BACKEND", "sequential")
    in_turn = tidecast(*asked, "--output", "json")
    assert in_turn.answer == at_once.answer
    assert "Replaying: seasonal-naive, periodic-regression ..." in at_once.err
    assert "Replaying: periodic-regression ..." in in_turn.err
    assert "seasonal-naive, periodic" not in in_turn.err


def test_workers_and_threads_come_from_the_cpu_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the user sets the workers; threads are never more than the quota allows."""
    monkeypatch.setattr("forecaster.wiring.cpus_allowed", lambda: 6)
    unset = Workspace(Settings()).fan_out
    assert FanOut(Backend.LOKY, workers=6, threads=6) == unset
    one = Workspace(Settings(compute=ComputeSettings(workers=1))).fan_out
    assert (1, 6) == (one.workers, one.threads)


def test_an_address_without_a_cluster_is_refused(tmp_path: Path) -> None:
    """`loky` would never use it."""
    file = tmp_path / "tidecast.yaml"
    file.write_text("compute: {scheduler: 'tcp://dask:8786'}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"compute: scheduler is set but backend is 'loky'; set"):
        load_settings(file)
