"""Every policy that was ever in force or tried, by version; the newest live one is in force.

Versions are only ever added. Going back adds a version too, which names the one whose document it
took, so that what was in force when can always be told. A shadow version is never in force.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from actuator.policy import Policy
from features.errors import BadInput
from forecaster.database.database import Database
from forecaster.database.refusals import NotThere
from forecaster.database.tables import POLICY_VERSIONS
from forecaster.policy import PolicyDocument, policy_content, policy_digest, stored_policy

LONGEST_NOTE = 500
HIGHEST_VERSION = 2**31 - 1
"""The highest number that the column can hold; a higher one was never given."""

_COLUMNS = POLICY_VERSIONS.c


class PolicyKind(StrEnum):
    """What a version was made for."""

    LIVE = "live"
    SHADOW = "shadow"


@dataclass(frozen=True)
class Authorship:
    """Who makes a version, when and why.

    Attributes:
        author: a person's or a token's name.
        made_seconds: Unix time.
        note: why; may be empty.
    """

    author: str
    made_seconds: int
    note: str = ""


@dataclass(frozen=True)
class PolicyVersion:
    """A policy document with its history.

    Attributes:
        version: its number; the next one is one higher.
        kind: live, or only tried.
        digest: SHA-256 of what the document says.
        authorship: who made it, when and why.
        restored_from: the version whose document it took; None where the document was new.
        ended_seconds: when a shadow was taken off; None while it is tried.
        content: the document as JSON.
    """

    version: int
    kind: PolicyKind
    digest: str
    authorship: Authorship
    restored_from: int | None
    ended_seconds: int | None
    content: Any

    @property
    def document(self) -> PolicyDocument:
        """The document.

        Raises:
            BadInput: it was written by another Tidecast, and this one does not understand it.
        """
        return stored_policy(self.content, f"policy version {self.version}")

    @property
    def policy(self) -> Policy:
        """The document as the deciding part reads it.

        Raises:
            BadInput: it was written by another Tidecast, and this one does not understand it.
        """
        return self.document.policy(self.version)


class PolicyVersions:
    """Policy documents by version."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(self) -> PolicyVersion | None:
        """The version in force, or None before the first."""
        with self._database.reading() as connection:
            return _newest(connection, PolicyKind.LIVE)

    def shadow(self) -> PolicyVersion | None:
        """The version that is tried beside it, or None."""
        with self._database.reading() as connection:
            return _shadow(connection)

    def versions(self) -> tuple[PolicyVersion, ...]:
        """All versions, newest first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                select(POLICY_VERSIONS).order_by(_COLUMNS.version.desc())
            ).all()
        return tuple(_version(row) for row in rows)

    def get(self, version: int) -> PolicyVersion:
        """One version.

        Raises:
            BadInput: there is no such version.
        """
        with self._database.reading() as connection:
            return _get(connection, version)

    def apply(self, document: PolicyDocument, authorship: Authorship) -> PolicyVersion:
        """Put a document into force from the next cycle on.

        Returns:
            Its version; the one in force, unchanged, if that says the same.

        Raises:
            BadInput: the author or the note is not one line, or too long.
        """
        with self._database.writing() as connection:
            current = _newest(connection, PolicyKind.LIVE)
            if current is not None and current.digest == policy_digest(document):
                return current
            return _add(connection, PolicyKind.LIVE, document, authorship)

    def roll_back(self, authorship: Authorship, version: int | None = None) -> PolicyVersion:
        """Put an earlier document into force again, as a new version.

        Args:
            authorship: who does so, when and why.
            version: whose document; None for the one in force before this one. Twice goes back two.

        Returns:
            The new version; the one in force, unchanged, if that says the same.

        Raises:
            BadInput: there is no such version, or this program does not understand it.
        """
        with self._database.writing() as connection:
            current = _newest(connection, PolicyKind.LIVE)
            if current is None:
                raise BadInput("no policy is in force yet; 'tidecast policy apply FILE' makes one")
            wanted = _before(connection, current) if version is None else _get(connection, version)
            origin = _origin(connection, wanted)
            if origin.digest == current.digest:
                return current
            return _add(connection, PolicyKind.LIVE, origin.document, authorship, origin.version)

    def try_beside(self, document: PolicyDocument, authorship: Authorship) -> PolicyVersion:
        """Decide by a document too, and only record it; it takes the place of an earlier shadow.

        Returns:
            Its version; the shadow there is, unchanged, if that says the same.

        Raises:
            BadInput: the author or the note is not one line, or too long.
        """
        with self._database.writing() as connection:
            shadow = _shadow(connection)
            if shadow is not None and shadow.digest == policy_digest(document):
                return shadow
            _end_shadow(connection, authorship.made_seconds)
            return _add(connection, PolicyKind.SHADOW, document, authorship)

    def stop_trying(self, now_seconds: int) -> PolicyVersion | None:
        """Take the shadow off; gives it, or None if there was none."""
        with self._database.writing() as connection:
            shadow = _shadow(connection)
            _end_shadow(connection, now_seconds)
        return shadow


def _add(
    connection: Connection,
    kind: PolicyKind,
    document: PolicyDocument,
    authorship: Authorship,
    restored_from: int | None = None,
) -> PolicyVersion:
    for text in (authorship.author, authorship.note):
        if len(text) > LONGEST_NOTE or not text.isprintable():
            raise BadInput(
                f"{text[:40]!r} is not one line of at most {LONGEST_NOTE} characters; shorten it"
            )
    newest = connection.scalar(select(func.max(_COLUMNS.version)))
    made = PolicyVersion(
        version=(newest or 0) + 1,
        kind=kind,
        digest=policy_digest(document),
        authorship=authorship,
        restored_from=restored_from,
        ended_seconds=None,
        content=policy_content(document),
    )
    connection.execute(
        insert(POLICY_VERSIONS).values(
            version=made.version,
            kind=kind.value,
            digest=made.digest,
            author=authorship.author,
            note=authorship.note,
            made_seconds=authorship.made_seconds,
            restored_from=restored_from,
            document=made.content,
        )
    )
    return made


def _get(connection: Connection, version: int) -> PolicyVersion:
    wanted = select(POLICY_VERSIONS).where(_COLUMNS.version == min(version, HIGHEST_VERSION))
    row = connection.execute(wanted).one_or_none()
    if row is None:
        raise NotThere(f"there is no policy version {version}; see 'tidecast policy list'")
    return _version(row)


def _newest(
    connection: Connection, kind: PolicyKind, below: int | None = None
) -> PolicyVersion | None:
    wanted = select(POLICY_VERSIONS).where(_COLUMNS.kind == kind)
    if below is not None:
        wanted = wanted.where(_COLUMNS.version < below)
    row = connection.execute(wanted.order_by(_COLUMNS.version.desc()).limit(1)).one_or_none()
    return None if row is None else _version(row)


def _shadow(connection: Connection) -> PolicyVersion | None:
    newest = _newest(connection, PolicyKind.SHADOW)
    return newest if newest is not None and newest.ended_seconds is None else None


def _end_shadow(connection: Connection, now_seconds: int) -> None:
    tried = (_COLUMNS.kind == PolicyKind.SHADOW) & _COLUMNS.ended_seconds.is_(None)
    connection.execute(update(POLICY_VERSIONS).where(tried).values(ended_seconds=now_seconds))


def _origin(connection: Connection, version: PolicyVersion) -> PolicyVersion:
    """The version whose document was new; one that was restored names it."""
    return version if version.restored_from is None else _get(connection, version.restored_from)


def _before(connection: Connection, current: PolicyVersion) -> PolicyVersion:
    """The live version before the one whose document is in force."""
    found = _newest(connection, PolicyKind.LIVE, below=_origin(connection, current).version)
    if found is None:
        raise BadInput(
            "there is no earlier policy to go back to; see 'tidecast policy list', and choose one "
            "with 'tidecast policy rollback VERSION'"
        )
    return found


def _version(row: Row[Any]) -> PolicyVersion:
    return PolicyVersion(
        version=row.version,
        kind=PolicyKind(row.kind),
        digest=row.digest,
        authorship=Authorship(row.author, row.made_seconds, row.note),
        restored_from=row.restored_from,
        ended_seconds=row.ended_seconds,
        content=row.document,
    )
