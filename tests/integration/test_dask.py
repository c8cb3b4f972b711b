"""A real Dask cluster of two worker processes does the same work with the same answers."""

import os
from collections.abc import Iterator

import pytest

from features.errors import SourceUnavailable
from forecaster.fan_out import Backend, FanOut
from forecaster.tasks.fleets import fit_clusters
from models.protocol import Model
from tests.fakes.fleet import QUICK_MODELS, cluster
from tests.fakes.work import die_of_two, meet, meeting_point, refuse_two, square

if os.environ.get("CI") != "true":  # where all is installed, and no test is skipped
    pytest.importorskip("distributed", reason="needs Dask: install tidecast[dask]")

FLEET = {"north": cluster(seed=1), "south": cluster(seed=5)}


def local_cluster(workers: int):
    """Dask's own scheduler, with so many worker processes of one thread."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    )


@pytest.fixture(scope="module")
def on_dask() -> Iterator[FanOut]:
    """The fan-out of a cluster of two that runs already."""
    with local_cluster(workers=2) as running:
        yield FanOut(Backend.DASK, scheduler=running.scheduler_address)


@pytest.mark.parametrize("model", QUICK_MODELS, ids=lambda model: model.name)
def test_clusters_learn_the_same_on_dask(on_dask: FanOut, model: Model) -> None:
    """All that was learned, byte by byte."""
    here = fit_clusters(FanOut(Backend.SEQUENTIAL), model, FLEET)
    there = fit_clusters(on_dask, model, FLEET)
    assert {name: fit.artifact() for name, fit in here.items()} == {
        name: fit.artifact() for name, fit in there.items()
    }


def test_both_workers_work_at_the_same_time(on_dask: FanOut) -> None:
    """Two pieces of work wait for each other, in two processes that are not this one."""
    with meeting_point() as place:
        processes = set(on_dask.map(meet, [place, place]))
    assert 2 == len(processes - {os.getpid()})


def test_answers_come_in_order_and_each_is_told_of(on_dask: FanOut) -> None:
    """Whichever is done first."""
    told: list[int] = []
    assert [square(number) for number in range(9)] == on_dask.map(square, range(9), told.append)
    assert list(range(9)) == sorted(told)


def test_an_error_of_the_work_surfaces_as_itself(on_dask: FanOut) -> None:
    """Its type and its text are what the work raised."""
    with pytest.raises(LookupError, match=r"^two is not to be had$"):
        on_dask.map(refuse_two, range(4))


def test_workers_are_started_here_and_their_death_is_told() -> None:
    """Without an address two are started; work that kills them again and again ends in a line."""
    from dask import config

    with (
        config.set({"distributed.scheduler.allowed-failures": 0}),
        pytest.raises(SourceUnavailable, match="died again and again, most often for want of mem"),
    ):
        FanOut(Backend.DASK, workers=2).map(die_of_two, range(4))


def test_a_scheduler_without_workers_is_said_to_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line instead of waiting for ever."""
    monkeypatch.setattr("forecaster.fan_out_dask.PATIENCE_SECONDS", 1)
    with local_cluster(workers=0) as running:
        alone = FanOut(Backend.DASK, scheduler=running.scheduler_address)
        with pytest.raises(SourceUnavailable, match=r"at tcp://\S+ has no workers; start some"):
            alone.map(square, range(2))


def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the setting to look at."""
    monkeypatch.setattr("forecaster.fan_out_dask.PATIENCE_SECONDS", 1)
    nobody = FanOut(Backend.DASK, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(SourceUnavailable, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"):
        nobody.map(square, range(2))
