"""Announcements and their versions; what is over or called off leaves by itself.

A row is never changed by whoever has read an older version of it. Nothing is deleted while it may
still be scored; `prune` removes what ended long ago.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from features.errors import BadInput
from forecaster.announcements.announcement import Announcement
from forecaster.database.cycle_memory import Overtaken
from forecaster.database.database import Database
from forecaster.database.kept_announcements import (
    AnnouncementStanding,
    KeptAnnouncement,
    kept_in,
    row_of,
)
from forecaster.database.refusals import AlreadyThere, NotThere, TooMany
from forecaster.database.tables import ANNOUNCEMENTS

MOST_ACTIVE = 1_000
MOST_PER_PAGE = 1_000
KEEP_DAYS = 90
_DAY_SECONDS = 86_400
_COLUMNS = ANNOUNCEMENTS.c


@dataclass(frozen=True)
class AnnouncementFilter:
    """Which announcements; None for any.

    Attributes:
        pool: those that say this pool, or all pools.
        owner: announced by this one.
        source: come by this.
        active_seconds: neither called off nor over at this Unix time.
    """

    pool: str | None = None
    owner: str | None = None
    source: str | None = None
    active_seconds: int | None = None


@dataclass(frozen=True)
class AnnouncementPage:
    """Some announcements, newest first.

    Attributes:
        announcements: as they are kept.
        cursor: what to ask for the next ones with; None where there are none.
    """

    announcements: tuple[KeptAnnouncement, ...]
    cursor: str | None


@dataclass(frozen=True)
class Replaced:
    """What became of the announcements of one source.

    Attributes:
        added: identifiers that are new, or were called off and are back.
        changed: identifiers that say something else than before.
        cancelled: identifiers that the source no longer has.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    cancelled: tuple[str, ...]


class Announcements:
    """Announcements by identifier."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, announcement: Announcement, source: str = "person") -> KeptAnnouncement:
        """Keep a new announcement; once this returns it outlives a crash.

        Returns:
            As it is kept. One that was created before and says the same is left as it is, so that
            a repeated request creates nothing twice.

        Raises:
            AlreadyThere: its identifier belongs to one that says something else.
            TooMany: as many as may be are active already.
        """
        with self._database.writing() as connection:
            held = _row(connection, announcement.identifier)
            if held is not None:
                kept = kept_in(held)
                if kept.says(announcement):
                    return kept
                raise AlreadyThere(
                    f"there is an announcement {announcement.identifier!r} already, and it says "
                    "something else; change or cancel that one"
                )
            made = KeptAnnouncement.of(announcement, source)
            _insert(connection, made)
            _check_room(connection, announcement.announced_seconds)
        return made

    def get(self, identifier: str) -> KeptAnnouncement:
        """One announcement.

        Raises:
            NotThere: there is none of that name.
        """
        with self._database.reading() as connection:
            return _found(connection, identifier)

    def page(
        self,
        wanted: AnnouncementFilter = AnnouncementFilter(),
        cursor: str | None = None,
        limit: int = 50,
    ) -> AnnouncementPage:
        """Announcements, newest first.

        Args:
            wanted: which ones.
            cursor: as the page before gave it; None for the first one.
            limit: most announcements, 1 to 1000.

        Raises:
            BadInput: the cursor is none, or the limit is out of range.
        """
        if not 1 <= limit <= MOST_PER_PAGE:
            raise BadInput(f"a limit of {limit} announcements is not between 1 and {MOST_PER_PAGE}")
        query = select(ANNOUNCEMENTS).where(*_conditions(wanted))
        if cursor is not None:
            place = tuple_(_COLUMNS.made_seconds, _COLUMNS.identifier)
            query = query.where(place < tuple_(*_position(cursor)))
        query = query.order_by(_COLUMNS.made_seconds.desc(), _COLUMNS.identifier.desc())
        with self._database.reading() as connection:
            rows = connection.execute(query.limit(limit + 1)).all()
        found = tuple(kept_in(row) for row in rows[:limit])
        more = len(rows) > limit
        return AnnouncementPage(found, _cursor(found[-1]) if more else None)

    def active(self, now_seconds: int) -> tuple[Announcement, ...]:
        """What still holds, for the board of a cycle; in the order of their beginning."""
        return self._said(_active(now_seconds))

    def known_since(self, since_seconds: int) -> tuple[Announcement, ...]:
        """What was not over at a moment, called off or not: to score what came of it."""
        return self._said(_not_over(since_seconds))

    def change(self, changed: Announcement, read_version: int) -> KeptAnnouncement:
        """Put an announcement in the place of the one of its identifier.

        Args:
            changed: what it says from now on; `announced_seconds` is when it was changed, so that
                no past forecast seems to have known.
            read_version: the version that was read.

        Raises:
            NotThere: there is none of that name.
            Overtaken: somebody changed it since.
            BadInput: it was called off; what is off stays off.
        """
        with self._database.writing() as connection:
            held = _found(connection, changed.identifier)
            _check_version(held, read_version)
            if held.announcement.cancelled_seconds is not None:
                raise BadInput(
                    f"announcement {changed.identifier!r} was cancelled; announce it anew"
                )
            if held.says(changed):
                return held
            made = KeptAnnouncement.of(changed, held.source, held.version + 1)
            _replace(connection, made)
            _check_room(connection, changed.announced_seconds)
        return made

    def cancel(
        self, identifier: str, now_seconds: int, read_version: int | None = None
    ) -> KeptAnnouncement:
        """Call an announcement off; one that was called off before stays as it was.

        Args:
            identifier: which one.
            now_seconds: Unix time from which it no longer holds.
            read_version: the version that was read; None to cancel whatever it says.

        Raises:
            NotThere: there is none of that name.
            Overtaken: somebody changed it since.
        """
        with self._database.writing() as connection:
            held = _found(connection, identifier)
            if held.announcement.cancelled_seconds is not None:
                return held
            if read_version is not None:
                _check_version(held, read_version)
            return _cancelled(connection, held, now_seconds)

    def replace(
        self, source: str, announcements: Sequence[Announcement], now_seconds: int
    ) -> Replaced:
        """Take over all that a source says now, in one step.

        What it said before and says no more is called off, unless it is over; what it says again
        in the same words is left as it is, so that it counts as known since it was first said.

        Args:
            source: what they came by, such as one calendar.
            announcements: all that it has, each identifier once.
            now_seconds: Unix time.

        Raises:
            TooMany: more would be active than may be; nothing is changed.
        """
        wanted = {one.identifier: one for one in announcements}
        with self._database.writing() as connection:
            held = _of_source(connection, source, wanted)
            added: list[str] = []
            changed: list[str] = []
            for identifier, one in wanted.items():
                before = held.get(identifier)
                if before is None:
                    _insert(connection, KeptAnnouncement.of(one, source))
                    added.append(identifier)
                elif before.source != source or not before.says(one):
                    _replace(connection, KeptAnnouncement.of(one, source, before.version + 1))
                    stood = before.standing is AnnouncementStanding.ACTIVE
                    (changed if stood else added).append(identifier)
            gone = [name for name, one in held.items() if name not in wanted]
            gone = [name for name in gone if held[name].is_active(now_seconds)]
            for name in gone:
                _cancelled(connection, held[name], now_seconds)
            _check_room(connection, now_seconds)
        return Replaced(tuple(added), tuple(changed), tuple(gone))

    def prune(self, now_seconds: int, keep_days: int = KEEP_DAYS) -> int:
        """Remove what was over, or called off, so many days ago; gives how many went."""
        before = now_seconds - keep_days * _DAY_SECONDS
        with self._database.writing() as connection:
            return connection.execute(
                delete(ANNOUNCEMENTS).where(_COLUMNS.ends_seconds < before)
            ).rowcount

    def _said(self, condition: ColumnElement[bool]) -> tuple[Announcement, ...]:
        query = select(ANNOUNCEMENTS).where(condition)
        query = query.order_by(_COLUMNS.begins_seconds, _COLUMNS.identifier)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(kept_in(row).announcement for row in rows)


def _row(connection: Connection, identifier: str) -> Row[Any] | None:
    wanted = select(ANNOUNCEMENTS).where(_COLUMNS.identifier == identifier)
    return connection.execute(wanted).one_or_none()


def _found(connection: Connection, identifier: str) -> KeptAnnouncement:
    row = _row(connection, identifier)
    if row is None:
        raise NotThere(
            f"there is no announcement {identifier[:80]!r}; 'tidecast announce list' has all"
        )
    return kept_in(row)


def _of_source(
    connection: Connection, source: str, wanted: Mapping[str, Announcement]
) -> dict[str, KeptAnnouncement]:
    """What a source has said before, and what bears one of the wanted identifiers."""
    query = select(ANNOUNCEMENTS).where(
        or_(_COLUMNS.source == source, _COLUMNS.identifier.in_(list(wanted)))
    )
    return {row.identifier: kept_in(row) for row in connection.execute(query)}


def _insert(connection: Connection, kept: KeptAnnouncement) -> None:
    connection.execute(insert(ANNOUNCEMENTS).values(**row_of(kept)))


def _replace(connection: Connection, kept: KeptAnnouncement) -> None:
    own = _COLUMNS.identifier == kept.announcement.identifier
    connection.execute(update(ANNOUNCEMENTS).where(own).values(**row_of(kept)))


def _cancelled(
    connection: Connection, held: KeptAnnouncement, now_seconds: int
) -> KeptAnnouncement:
    off = replace(held.announcement, cancelled_seconds=now_seconds)
    kept = KeptAnnouncement.of(off, held.source, held.version + 1)
    _replace(connection, kept)
    return kept


def _check_version(held: KeptAnnouncement, read_version: int) -> None:
    if held.version != read_version:
        raise Overtaken(
            f"announcement {held.announcement.identifier!r} was changed meanwhile (version "
            f"{held.version}, read was {read_version}); read it again"
        )


def _check_room(connection: Connection, now_seconds: int) -> None:
    """Refuse what would be too much, before it is committed."""
    active = select(func.count()).select_from(ANNOUNCEMENTS).where(_active(now_seconds))
    if (connection.scalar(active) or 0) > MOST_ACTIVE:
        raise TooMany(
            f"more than {MOST_ACTIVE} announcements would be active; cancel some, or announce "
            "them as one that recurs"
        )


def _not_over(now_seconds: int) -> ColumnElement[bool]:
    return or_(_COLUMNS.ends_seconds.is_(None), _COLUMNS.ends_seconds > now_seconds)


def _active(now_seconds: int) -> ColumnElement[bool]:
    return and_(_COLUMNS.standing == AnnouncementStanding.ACTIVE, _not_over(now_seconds))


def _conditions(wanted: AnnouncementFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.pool is not None:
        found.append(or_(_COLUMNS.pool.is_(None), _COLUMNS.pool == wanted.pool))
    if wanted.owner is not None:
        found.append(_COLUMNS.owner == wanted.owner)
    if wanted.source is not None:
        found.append(_COLUMNS.source == wanted.source)
    if wanted.active_seconds is not None:
        found.append(_active(wanted.active_seconds))
    return found


def _cursor(last: KeptAnnouncement) -> str:
    return f"{last.announcement.announced_seconds}-{last.announcement.identifier}"


def _position(cursor: str) -> tuple[int, str]:
    made, dash, identifier = cursor.partition("-")
    if not (
        dash and identifier and made.isascii() and made.isdigit() and len(made) <= len("9" * 12)
    ):
        raise BadInput(f"{cursor[:40]!r} is no cursor; give the one that came with the last page")
    return int(made), identifier
