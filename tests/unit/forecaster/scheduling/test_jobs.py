"""The table of jobs: which there are with which settings, and what each of them does."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from features.errors import BadInput
from forecaster.database import Database
from forecaster.scheduling import jobs as table
from forecaster.scheduling.due import Job
from forecaster.scheduling.jobs import job_named, service_jobs
from forecaster.settings import Settings
from forecaster.wiring import Workspace

NOW = 1_772_323_200


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(f"sqlite:///{tmp_path / 't.db'}") as opened:
        yield opened


def jobs(database: Database, directory: Path, **settings: object) -> dict[str, Job]:
    """The table of these settings."""
    workspace = Workspace(Settings(data_directory=directory, **settings))  # type: ignore[arg-type]
    return {one.name: one for one in service_jobs(workspace, database, Path("own.yaml"))}


def test_only_what_the_settings_ask_for_is_done(database: Database, tmp_path: Path) -> None:
    """Without a Prometheus nothing is pulled, without calendars none is read."""
    assert ["forecast", "score", "train", "prune"] == list(jobs(database, tmp_path))
    every = jobs(
        database,
        tmp_path,
        prometheus={"url": "http://prometheus:9090"},
        announcements={"calendars": ["team.ics"]},
        schedule={"forecast_every_seconds": 60, "offset_seconds": 5, "train_cron": "0 1 * * *"},
        calendar={"time_zone": "Europe/Berlin"},
    )
    assert ["pull", "calendars", "forecast", "score", "train", "prune"] == list(every)
    assert "every 60 s" == str(every["pull"].schedule) == str(every["forecast"].schedule)
    assert 5 == every["score"].schedule.last_due(64)
    assert "0 1 * * * (Europe/Berlin)" == str(every["train"].schedule)


def test_a_job_that_there_is_not_is_refused(database: Database, tmp_path: Path) -> None:
    """With those that there are."""
    found = tuple(jobs(database, tmp_path).values())
    assert "score" == job_named(found, "score").name
    with pytest.raises(BadInput, match="no job 'pull' with these settings; there are forecast, "):
        job_named(found, "pull")


def test_training_has_a_process_of_its_own(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same settings; its result is told in a line."""
    given = []

    def run_command(arguments: tuple[str, ...], stop: Event) -> str:
        given.append((arguments, stop))
        return json.dumps({"challenger": "combined", "promoted": True, "reasons": ["better", "so"]})

    monkeypatch.setattr(table, "run_command", run_command)
    stop = Event()
    told = jobs(database, tmp_path)["train"].run(NOW, stop)
    assert "combined is champion now; better; so" == told
    assert [(("train", "--output", "json", "--config", "own.yaml"), stop)] == given


def test_what_is_due_on_an_empty_disk_says_what_is_missing(
    database: Database, tmp_path: Path
) -> None:
    """Nothing breaks before the first history comes."""
    found = jobs(database, tmp_path)
    assert "nothing to score yet" == found["score"].run(NOW, Event())
    assert "nothing was old enough" == found["prune"].run(NOW, Event())
    with pytest.raises(BadInput, match="history"):
        found["forecast"].run(NOW, Event())
