"""What SQLite, PostgreSQL and SQLAlchemy complain of, as one clear line.

No message may repeat a password or a statement's values.
"""

from sqlalchemy import exc

from features.errors import BadInput, SourceUnavailable, TidecastError

LONGEST_COMPLAINT = 200

_FINDINGS: tuple[tuple[str, type[TidecastError], str], ...] = (
    ("SQLITE_BUSY", SourceUnavailable, "is locked by another process; try again when it is done"),
    ("SQLITE_FULL", SourceUnavailable, "has no room left on its disk; make room and try again"),
    ("SQLITE_IOERR", SourceUnavailable, "cannot be read or written; check its disk"),
    ("SQLITE_CANTOPEN", BadInput, "cannot be opened; check that its directory is writable"),
    ("SQLITE_READONLY", BadInput, "cannot be written to; make it and its directory writable"),
    ("SQLITE_NOTADB", BadInput, "is no SQLite database; set another database.url"),
    ("SQLITE_CORRUPT", BadInput, "is damaged; put a backup in its place"),
    ("55P03", SourceUnavailable, "is locked by another process; try again when it is done"),
    ("53100", SourceUnavailable, "has no room left on its disk; make room and try again"),
    ("42501", BadInput, "does not let this user do that; grant it all rights on its database"),
)
"""By the beginning of SQLite's error name or of PostgreSQL's SQLSTATE."""


def clear_error(error: exc.SQLAlchemyError, place: str) -> TidecastError:
    """What to tell the user.

    Args:
        error: what SQLAlchemy raised.
        place: the database as people name it, without its password.
    """
    if isinstance(error, exc.TimeoutError):
        return SourceUnavailable(f"{place}: every connection is in use; try again")
    cause = error.orig if isinstance(error, exc.DBAPIError) else None
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""
    for begin, kind, finding in _FINDINGS:
        if code.startswith(begin):
            return kind(f"{place}: the database {finding}")
    said = " ".join(str(cause or error).split())[:LONGEST_COMPLAINT]
    return SourceUnavailable(f"{place}: the database did not do what was asked ({said})")
