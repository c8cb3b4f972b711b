"""What the store of announcements keeps to, on every database."""

import os
import signal
from dataclasses import replace

import pytest

from features.errors import BadInput
from forecaster.announcements.announcement import Announcement
from forecaster.announcements.recurrence import Recurrence
from forecaster.database import Database
from forecaster.database import announcements as module
from forecaster.database.announcements import AnnouncementFilter, Announcements, Replaced
from forecaster.database.cycle_memory import Overtaken
from forecaster.database.kept_announcements import KeptAnnouncement
from forecaster.database.refusals import AlreadyThere, NotThere, TooMany
from tests.fakes.announcements import DAY, FLOOD, HOUR
from tests.fakes.processes import process

WEEKLY = replace(FLOOD, identifier="w", recurrence=Recurrence("FREQ=WEEKLY", "Europe/Berlin"))
THRICE = replace(FLOOD, identifier="t", recurrence=Recurrence("FREQ=DAILY;COUNT=3"))


def named(identifier: str, **changes: object) -> Announcement:
    """A flood of that name."""
    return replace(FLOOD, identifier=identifier, **changes)  # type: ignore[arg-type]


def names(announcements: tuple[Announcement, ...]) -> list[str]:
    return [one.identifier for one in announcements]


def test_an_announcement_comes_back_as_it_was_made(database: Database) -> None:
    """All of it, recurrence and excluded dates too; and whatever stood in its texts."""
    kept = Announcements(database)
    odd = replace(WEEKLY, reason="'; DROP TABLE \n☂", pool=None, certainty=1 / 3)
    made = kept.create(odd, "calendar x")
    assert KeptAnnouncement(odd, 1, "calendar x", None) == made == kept.get("w")
    with pytest.raises(NotThere, match="no announcement 'nobody'; 'tidecast announce list'"):
        kept.get("nobody")


def test_creating_twice_is_creating_once(database: Database) -> None:
    """A repeated request finds its own; another text under the same name is refused."""
    kept = Announcements(database)
    first = kept.create(FLOOD)
    assert first == kept.create(replace(FLOOD, announced_seconds=2 * HOUR))
    with pytest.raises(AlreadyThere, match="says something else"):
        kept.create(replace(FLOOD, amount=65))
    assert [first] == list(kept.page().announcements)


def test_what_is_over_or_called_off_leaves_by_itself(database: Database) -> None:
    """Nobody has to clear it away; to score it, it can still be found."""
    kept = Announcements(database)
    for one in (FLOOD, WEEKLY, THRICE, named("off", end_seconds=30 * DAY)):
        kept.create(one)
    kept.cancel("off", 11 * HOUR)
    assert ["a1", "t", "w"] == names(kept.active(12 * HOUR - 1))
    assert ["t", "w"] == names(kept.active(12 * HOUR))
    assert ["w"] == names(kept.active(2 * DAY + 12 * HOUR))
    assert ["w"] == names(kept.active(10_000 * DAY))
    assert ["a1", "off", "t", "w"] == names(kept.known_since(10 * HOUR))
    assert ["t", "w"] == names(kept.known_since(12 * HOUR))


def test_a_change_needs_the_version_that_was_read(database: Database) -> None:
    """Whoever was overtaken changes nothing; a change that changes nothing is none."""
    kept = Announcements(database)
    kept.create(FLOOD, "person")
    more = replace(FLOOD, amount=128, end_seconds=2 * DAY, announced_seconds=3 * HOUR)
    assert KeptAnnouncement(more, 2, "person", 2 * DAY) == kept.change(more, 1) == kept.get("a1")
    with pytest.raises(Overtaken, match=r"changed meanwhile \(version 2, read was 1\)"):
        kept.change(replace(FLOOD, amount=1), 1)
    assert 2 == kept.change(replace(more, announced_seconds=4 * HOUR), 2).version
    with pytest.raises(NotThere):
        kept.change(named("nobody"), 1)


def test_what_is_called_off_stays_off(database: Database) -> None:
    """Calling it off again changes nothing; changing it is refused."""
    kept = Announcements(database)
    kept.create(FLOOD)
    with pytest.raises(Overtaken):
        kept.cancel("a1", 3 * HOUR, read_version=2)
    off = kept.cancel("a1", 3 * HOUR, read_version=1)
    assert (3 * HOUR, 3 * HOUR, 2) == (
        off.announcement.cancelled_seconds, off.ends_seconds, off.version
    )  # fmt: skip
    assert off == kept.cancel("a1", 4 * HOUR, read_version=1)
    with pytest.raises(BadInput, match="was cancelled; announce it anew"):
        kept.change(FLOOD, 2)
    with pytest.raises(NotThere):
        kept.cancel("nobody", 0)


def test_pages_hold_every_announcement_once(database: Database) -> None:
    """Newest first, also where several were made in the same second."""
    kept = Announcements(database)
    for number in range(7):
        kept.create(named(f"n-{number}", announced_seconds=HOUR + number // 3))
    cursor, seen = None, []
    for _ in range(3):
        page = kept.page(cursor=cursor, limit=3)
        seen += [one.announcement.identifier for one in page.announcements]
        cursor = page.cursor
    assert cursor is None
    assert ["n-6", "n-5", "n-4", "n-3", "n-2", "n-1", "n-0"] == seen


def test_what_is_no_cursor_is_refused(database: Database) -> None:
    """It comes from outside."""
    for cursor in ("", "x", "12", "12-", "²-a", "9" * 13 + "-a"):
        with pytest.raises(BadInput, match="is no cursor"):
            Announcements(database).page(cursor=cursor)
    with pytest.raises(BadInput, match="not between 1 and 1000"):
        Announcements(database).page(limit=0)


def test_announcements_are_told_apart_by_what_is_asked(database: Database) -> None:
    """A pool's are its own and those of every pool."""
    kept = Announcements(database)
    kept.create(named("own"))
    kept.create(named("all", pool=None, owner="bob"), "calendar x")
    kept.create(named("other", pool="h100"))
    kept.cancel("own", 2 * HOUR)

    def found(**wanted: object) -> list[str]:
        page = kept.page(AnnouncementFilter(**wanted))  # type: ignore[arg-type]
        return sorted(one.announcement.identifier for one in page.announcements)

    assert ["all", "own"] == found(pool="a100/whole-node")
    assert ["all"] == found(owner="bob") == found(source="calendar x")
    assert ["all", "other"] == found(active_seconds=3 * HOUR)
    assert [] == found(active_seconds=12 * HOUR)


def test_no_more_are_active_than_may_be(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One too many leaves nothing behind; what is over makes room."""
    monkeypatch.setattr(module, "MOST_ACTIVE", 2)
    kept = Announcements(database)
    for name in "ab":
        kept.create(named(name))
    with pytest.raises(TooMany, match="more than 2 announcements would be active"):
        kept.create(named("c"))
    with pytest.raises(TooMany):
        kept.replace("calendar x", [named("d")], HOUR)
    assert ["a", "b"] == names(kept.active(HOUR))
    assert 1 == kept.create(named("e", end_seconds=DAY, announced_seconds=12 * HOUR)).version


def test_a_source_says_anew_what_it_has(database: Database) -> None:
    """What it no longer has is called off, what it repeats counts as known since the first time."""
    kept = Announcements(database)
    kept.create(named("mine"))
    early = [named(name) for name in ("gone", "same", "more", "over")]
    early[3] = replace(early[3], end_seconds=11 * HOUR)
    assert ("gone", "same", "more", "over") == kept.replace("calendar x", early, HOUR).added
    later = [named(name, announced_seconds=11 * HOUR) for name in ("same", "more", "new")]
    later[1] = replace(later[1], amount=99)
    done = kept.replace("calendar x", later, 11 * HOUR)
    assert Replaced(added=("new",), changed=("more",), cancelled=("gone",)) == done
    assert ["mine", "more", "new", "same"] == names(kept.active(11 * HOUR))
    assert (HOUR, 11 * HOUR) == (
        kept.get("same").announcement.announced_seconds,
        kept.get("more").announcement.announced_seconds,
    )
    assert Replaced((), (), ()) == kept.replace("calendar x", later, 11 * HOUR)
    assert ("gone",) == kept.replace("calendar x", [*later, early[0]], 11 * HOUR).added
    assert "gone" in names(kept.active(11 * HOUR))


def test_only_what_is_long_over_is_removed(database: Database) -> None:
    """An announcement that recurs without an end stays."""
    kept = Announcements(database)
    for one in (FLOOD, WEEKLY):
        kept.create(one)
    assert 0 == kept.prune(12 * HOUR + 7 * DAY, keep_days=7)
    assert 1 == kept.prune(12 * HOUR + 7 * DAY + 1, keep_days=7)
    assert ["w"] == [one.announcement.identifier for one in kept.page().announcements]


WRITES = """
import sys
from dataclasses import replace
from forecaster.database import Database
from forecaster.database.announcements import Announcements
from tests.fakes.announcements import FLOOD
kept = Announcements(Database.open(sys.argv[1]))
for number in range(1000):
    kept.create(replace(FLOOD, identifier=f"n-{number}"))
    print(number, flush=True)
"""


def test_no_acknowledged_announcement_is_lost_to_a_kill(url: str) -> None:
    """The process is killed in the midst of writing; what it had said to be kept is there."""
    writer = process(WRITES, url)
    assert writer.stdout is not None
    for line in writer.stdout:
        if int(line) >= 20:
            os.kill(writer.pid, signal.SIGKILL)
            break
    out, err = writer.communicate(timeout=60)
    acknowledged = 20 + len(out.splitlines())
    assert ("", -9) == (err, writer.returncode)
    with Database.open(url) as database:
        held = {one.identifier for one in Announcements(database).active(HOUR)}
    assert {f"n-{number}" for number in range(acknowledged + 1)} <= held
    assert len(held) <= acknowledged + 2
