"""What the service records: forecasts as they are made, and what they were worth."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from features.errors import BadInput, Unavailable
from features.events import EventKind
from forecaster.announcements.announcement import Announcement
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from forecaster.database.forecasts import Forecasts
from forecaster.database.scores import Scores
from forecaster.settings import Settings
from forecaster.tasks.recording import clear_away, record_forecasts, record_scores
from forecaster.wiring import Workspace
from models.forecast import Forecast
from models.verdict import Standing
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE, tidal_series

DAY = 86_400
END = MONDAY + 3 * DAY


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Three days of two pools, forecast by the simplest model."""
    settings = Settings(data_directory=tmp_path, forecast={"model": "persistence"})
    made = Workspace(settings)
    made.store.import_series([tidal_series(pool, days=3) for pool in (WHOLE, FRAGMENT)])
    return made


@pytest.fixture
def database(workspace: Workspace) -> Iterator[Database]:
    with workspace.open_database() as opened:
        yield opened


def newest(database: Database) -> dict[str, Forecast]:
    """What was said last, where something was."""
    kept = Forecasts(database).newest(0)
    return {
        str(pool): one.forecast for pool, one in kept.items() if isinstance(one.forecast, Forecast)
    }


def test_every_pool_is_forecast_and_kept(workspace: Workspace, database: Database) -> None:
    """From the newest step on."""
    assert record_forecasts(workspace, database, END + 20).startswith("2 of 2 pools forecast")
    assert {END} == {int(one.origin.timestamp()) for one in newest(database).values()}
    assert {"a100/whole-node", "a100/fragment"} == set(newest(database))


def test_an_announcement_moves_the_forecast(workspace: Workspace, database: Database) -> None:
    """By the next run, of its pool alone."""
    record_forecasts(workspace, database, END + 20)
    before = newest(database)
    Announcements(database).create(
        Announcement(
            "flood", "a100/whole-node", END + 600, END + 7_200, EventKind.EXTRA, 64.0, "", "ada",
            announced_seconds=END - 60,
        )
    )  # fmt: skip
    record_forecasts(workspace, database, END + 80)
    after = newest(database)
    assert 64.0 == pytest.approx(after["a100/whole-node"].explanation["events"])
    assert after["a100/whole-node"].peak_at(0.9) > before["a100/whole-node"].peak_at(0.9) + 32
    assert before["a100/fragment"].peak_at(0.9) == after["a100/fragment"].peak_at(0.9)


def test_what_is_long_gone_is_no_forecast(workspace: Workspace, database: Database) -> None:
    """When history stops coming, the service says so instead of repeating what it last said."""
    told = record_forecasts(workspace, database, END + 1_000)
    assert told.startswith("0 of 2 pools forecast; a100/fragment: its newest step that is known")
    kept = Forecasts(database).newest(END + 900)
    assert {WHOLE, FRAGMENT} == set(kept)
    assert all(isinstance(one.forecast, Unavailable) for one in kept.values())


def test_without_history_there_is_nothing_to_forecast(tmp_path: Path) -> None:
    """The job fails, in one line."""
    workspace = Workspace(Settings(data_directory=tmp_path))
    with workspace.open_database() as database, pytest.raises(BadInput, match="history"):
        record_forecasts(workspace, database, END)


def test_forecasts_are_scored_as_they_come_true(tmp_path: Path) -> None:
    """Before any has come true nothing is said; afterwards each pool has its verdict."""
    workspace = Workspace(Settings(data_directory=tmp_path, forecast={"model": "persistence"}))
    whole = tidal_series(WHOLE, days=3)
    with workspace.open_database() as database:
        assert "nothing to score yet" == record_scores(workspace, database, END)
        for step in range(4):
            at = MONDAY + 2 * DAY + 300 * step
            workspace.store.import_series([whole.between(MONDAY, at)])
            record_forecasts(workspace, database, at + 20)
        workspace.store.import_series([whole])
        now = MONDAY + 2 * DAY + 2 * 1_800 + 20
        assert "1 caution" == record_scores(workspace, database, now)
        (kept,) = Scores(database).newest().values()
    assert Standing.CAUTION is kept.verdict.standing
    assert (4, 4) == (kept.score.spans["1 d"].scored, kept.score.spans["1 d"].made)
    assert 7 == kept.score.spans["1 d"].due
    assert np.isfinite(kept.score.spans["1 d"].pinball_gpus[0.9])


def test_one_pool_that_cannot_be_scored_keeps_no_other_from_it(
    workspace: Workspace, database: Database
) -> None:
    """What is wrong with it is told."""
    record_forecasts(workspace, database, END + 20)
    record_scores(workspace, database, END + 900)
    told = record_scores(workspace, database, END + 600)
    assert told.startswith("nothing to score yet; a100/fragment: the previous verdict")
    assert "; a100/whole-node: the previous verdict" in told
    assert "2 caution" == record_scores(workspace, database, END + 900)


def test_what_was_cleared_away_is_told(workspace: Workspace, database: Database) -> None:
    """By kind; and that there was nothing."""
    record_forecasts(workspace, database, END + 20)
    assert "nothing was old enough" == clear_away(workspace, database, END + 35 * DAY)
    assert "removed 2 forecasts" == clear_away(workspace, database, END + 36 * DAY)
