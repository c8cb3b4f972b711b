"""Marks that people set on nodes and pods: not to be touched, by whom, why and until when.

They stand beside the marks that the cluster itself carries; both are kept to.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, or_, select

from features.errors import BadInput
from forecaster.database.database import Database
from forecaster.database.tables import PROTECTIONS

LONGEST_TEXT = 500
_COLUMNS = PROTECTIONS.c


class ProtectedKind(StrEnum):
    """What a mark is set on."""

    NODE = "node"
    POD = "pod"


@dataclass(frozen=True)
class KeptProtection:
    """A mark.

    Attributes:
        kind: node or pod.
        name: the node's; `namespace/name` for a pod.
        owner: who set it.
        reason: why.
        made_seconds: Unix time at which it was set.
        expires_seconds: Unix time from which it no longer holds; None for ever.
    """

    kind: ProtectedKind
    name: str
    owner: str
    reason: str
    made_seconds: int
    expires_seconds: int | None = None


class Protections:
    """Marks by kind and name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def protect(self, wanted: KeptProtection) -> None:
        """Set a mark; it takes the place of the one before it.

        Raises:
            BadInput: it names nothing or nobody, or has expired already.
        """
        _check(wanted)
        with self._database.writing() as connection:
            connection.execute(delete(PROTECTIONS).where(_own(wanted.kind, wanted.name)))
            connection.execute(
                insert(PROTECTIONS).values(
                    kind=wanted.kind.value,
                    name=wanted.name,
                    owner=wanted.owner,
                    reason=wanted.reason,
                    made_seconds=wanted.made_seconds,
                    expires_seconds=wanted.expires_seconds,
                )
            )

    def release(self, kind: ProtectedKind, name: str) -> bool:
        """Take a mark off; gives whether there was one."""
        with self._database.writing() as connection:
            return bool(connection.execute(delete(PROTECTIONS).where(_own(kind, name))).rowcount)

    def active(self, now_seconds: int) -> tuple[KeptProtection, ...]:
        """The marks that hold, by kind and name."""
        holds = or_(_COLUMNS.expires_seconds.is_(None), _COLUMNS.expires_seconds > now_seconds)
        wanted = select(PROTECTIONS).where(holds).order_by(_COLUMNS.kind, _COLUMNS.name)
        with self._database.reading() as connection:
            return tuple(_kept(row) for row in connection.execute(wanted))

    def prune(self, now_seconds: int) -> int:
        """Remove marks that have expired; gives how many went."""
        over = delete(PROTECTIONS).where(_COLUMNS.expires_seconds <= now_seconds)
        with self._database.writing() as connection:
            return connection.execute(over).rowcount


def _own(kind: ProtectedKind, name: str) -> ColumnElement[bool]:
    return (_COLUMNS.kind == kind.value) & (_COLUMNS.name == name)


def _kept(row: Row[Any]) -> KeptProtection:
    return KeptProtection(
        kind=ProtectedKind(row.kind),
        name=row.name,
        owner=row.owner,
        reason=row.reason,
        made_seconds=row.made_seconds,
        expires_seconds=row.expires_seconds,
    )


def _check(wanted: KeptProtection) -> None:
    if not wanted.name.strip() or not wanted.owner.strip():
        raise BadInput("a protection needs a name and an owner; say what, and who protects it")
    if max(len(wanted.name), len(wanted.owner), len(wanted.reason)) > LONGEST_TEXT:
        raise BadInput(
            f"protection: name, owner or reason is longer than {LONGEST_TEXT} characters; shorten "
            "it"
        )
    if wanted.expires_seconds is not None and wanted.expires_seconds <= wanted.made_seconds:
        raise BadInput("the protection would have expired already; give a later time")
