"""The record of decisions: appended on the disk before anything is done, closed once afterwards.

What was appended and not closed is what a crash left behind; whoever starts finds and finishes it.
An event is closed once; nothing else about it ever changes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json
from sqlalchemy import Connection, Select, delete, insert, select, tuple_, update

from actuator.audit import AuditEvent, EventStanding, abandoned, closed
from actuator.backends.back_end import Outcome
from features.errors import BadInput
from forecaster.database.database import Database
from forecaster.database.refusals import NotThere
from forecaster.database.tables import AUDIT_EVENTS

LEAST_KEEP_DAYS = 15
KEEP_DAYS = 90
MOST_EVENTS = 1000
_DAY_SECONDS = 86_400
_COLUMNS = AUDIT_EVENTS.c


@dataclass(frozen=True)
class AuditFilter:
    """Which events; None for any.

    Attributes:
        pool: about this pool.
        since_seconds: decided at or after this Unix time.
        until_seconds: decided before it.
        held_back: held back by a guard, or not.
        shadow: decided by a shadow policy, or by the live one.
        standing: how far they have come.
    """

    pool: str | None = None
    since_seconds: int | None = None
    until_seconds: int | None = None
    held_back: bool | None = None
    shadow: bool | None = None
    standing: EventStanding | None = None


@dataclass(frozen=True)
class AuditPage:
    """Some events, newest first.

    Attributes:
        events: the events.
        cursor: what to ask for the next ones with; None where there are none.
    """

    events: tuple[AuditEvent, ...]
    cursor: str | None


class AuditLog:
    """Events by identifier and time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, event: AuditEvent) -> AuditEvent:
        """Put a decision on record; once this returns it outlives a crash.

        Returns:
            The event as it is on record: one that a repeated cycle had appended before is left as
            it was, and may be closed already.
        """
        return self.append_all((event,))[0]

    def append_all(self, events: Sequence[AuditEvent]) -> tuple[AuditEvent, ...]:
        """The same for all decisions of a cycle in one transaction, which waits for one disk."""
        with self._database.writing() as connection:
            held = _found(connection, (event.identifier for event in events))
            fresh = [_row(event) for event in events if event.identifier not in held]
            if fresh:
                connection.execute(insert(AUDIT_EVENTS), fresh)
        return tuple(held.get(event.identifier, event) for event in events)

    def close(self, identifier: str, outcomes: tuple[Outcome, ...], now_seconds: int) -> bool:
        """Say what became of a decision.

        Returns:
            Whether this call closed it; False where it was closed or abandoned before, and stays
            as it was.

        Raises:
            BadInput: there is no such event.
        """
        return bool(self.close_all({identifier: outcomes}, now_seconds))

    def close_all(
        self, outcomes: Mapping[str, tuple[Outcome, ...]], now_seconds: int
    ) -> tuple[str, ...]:
        """The same for several, by identifier; gives those that this call closed.

        Raises:
            BadInput: one of them is not on record; none is closed.
        """
        with self._database.writing() as connection:
            held = _open_ones(connection, outcomes)
            for identifier, event in held.items():
                _replace(connection, closed(event, outcomes[identifier], now_seconds))
        return tuple(held)

    def abandon(self, identifier: str, now_seconds: int) -> bool:
        """Give up finding out what became of a decision; gives whether it was open.

        Raises:
            BadInput: there is no such event.
        """
        with self._database.writing() as connection:
            held = _open_ones(connection, (identifier,))
            for event in held.values():
                _replace(connection, abandoned(event, now_seconds))
        return bool(held)

    def open_events(self) -> tuple[AuditEvent, ...]:
        """What was begun and not finished, oldest first."""
        wanted = (
            select(_COLUMNS.document)
            .where(_COLUMNS.standing == EventStanding.OPEN)
            .order_by(_COLUMNS.made_seconds, _COLUMNS.identifier)
        )
        with self._database.reading() as connection:
            return tuple(_event(document) for document in connection.scalars(wanted))

    def page(
        self, wanted: AuditFilter = AuditFilter(), cursor: str | None = None, limit: int = 50
    ) -> AuditPage:
        """Events, newest first.

        Args:
            wanted: which ones.
            cursor: as the page before gave it; None for the first one.
            limit: most events, 1 to 1000.

        Raises:
            BadInput: the cursor is none, or the limit is out of range.
        """
        if not 1 <= limit <= MOST_EVENTS:
            raise BadInput(f"a limit of {limit} events is not between 1 and {MOST_EVENTS}")
        query = _filtered(select(_COLUMNS.document), wanted)
        if cursor is not None:
            query = query.where(
                tuple_(_COLUMNS.made_seconds, _COLUMNS.identifier) < tuple_(*_position(cursor))
            )
        query = query.order_by(_COLUMNS.made_seconds.desc(), _COLUMNS.identifier.desc())
        with self._database.reading() as connection:
            documents = connection.scalars(query.limit(limit + 1)).all()
        events = tuple(_event(document) for document in documents[:limit])
        return AuditPage(events, events[-1].identifier if len(documents) > limit else None)

    def show(self, identifier: str) -> AuditEvent:
        """One event.

        Raises:
            NotThere: there is no such event.
        """
        with self._database.reading() as connection:
            found = _found(connection, (identifier,))
        if identifier not in found:
            raise _no_such_event(identifier)
        return found[identifier]

    def prune(self, now_seconds: int, keep_days: int = KEEP_DAYS) -> int:
        """Remove what is older than it must be kept; open events stay. Gives how many went.

        Raises:
            BadInput: fewer days than a record has to be kept.
        """
        if keep_days < LEAST_KEEP_DAYS:
            raise BadInput(
                f"the audit is kept for at least {LEAST_KEEP_DAYS} days, {keep_days} is less; set "
                "database.keep_audit_days higher"
            )
        old = delete(AUDIT_EVENTS).where(
            _COLUMNS.made_seconds < now_seconds - keep_days * _DAY_SECONDS,
            _COLUMNS.standing != EventStanding.OPEN,
        )
        with self._database.writing() as connection:
            return connection.execute(old).rowcount


@cache
def _adapter() -> TypeAdapter[AuditEvent]:
    return TypeAdapter(AuditEvent)


def _event(document: Any) -> AuditEvent:
    return _adapter().validate_python(document)


def _document(event: AuditEvent) -> Any:
    """JSON has no NaN: written as text it can be read back, where null could not."""
    return json.loads(to_json(event, inf_nan_mode="strings"))


def _row(event: AuditEvent) -> dict[str, object]:
    return {
        "identifier": event.identifier,
        "pool": event.pool,
        "made_seconds": event.made_seconds,
        "policy_version": event.policy_version,
        "shadow": event.shadow,
        "held_back": event.plan.held_back,
        "standing": event.standing.value,
        "document": _document(event),
    }


def _replace(connection: Connection, event: AuditEvent) -> None:
    own = _COLUMNS.identifier == event.identifier
    connection.execute(update(AUDIT_EVENTS).where(own).values(**_row(event)))


def _found(connection: Connection, identifiers: Iterable[str]) -> dict[str, AuditEvent]:
    wanted = select(_COLUMNS.document).where(_COLUMNS.identifier.in_(list(identifiers)))
    events = (_event(document) for document in connection.scalars(wanted))
    return {event.identifier: event for event in events}


def _open_ones(connection: Connection, identifiers: Iterable[str]) -> dict[str, AuditEvent]:
    wanted = list(identifiers)
    found = _found(connection, wanted)
    for identifier in wanted:
        if identifier not in found:
            raise _no_such_event(identifier)
    return {name: one for name, one in found.items() if one.standing is EventStanding.OPEN}


def _filtered(query: Select[Any], wanted: AuditFilter) -> Select[Any]:
    same = {
        _COLUMNS.pool: wanted.pool,
        _COLUMNS.held_back: wanted.held_back,
        _COLUMNS.shadow: wanted.shadow,
        _COLUMNS.standing: wanted.standing,
    }
    for column, value in same.items():
        if value is not None:
            query = query.where(column == value)
    if wanted.since_seconds is not None:
        query = query.where(_COLUMNS.made_seconds >= wanted.since_seconds)
    if wanted.until_seconds is not None:
        query = query.where(_COLUMNS.made_seconds < wanted.until_seconds)
    return query


def _position(cursor: str) -> tuple[int, str]:
    """Where a page ended: its last event's time and identifier, of which the latter begins so."""
    made = cursor.partition("-")[0]
    if not (made.isascii() and made.isdigit() and len(cursor) <= len("9" * 12 + "-" + "f" * 12)):
        raise BadInput(f"{cursor[:40]!r} is no cursor; give the one that came with the last page")
    return int(made), cursor


def _no_such_event(identifier: str) -> NotThere:
    return NotThere(f"there is no decision {identifier!r} on record; 'tidecast audit list' has all")
