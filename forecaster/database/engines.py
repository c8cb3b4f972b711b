"""How SQLite and PostgreSQL are opened so that both behave alike.

A transaction that writes takes its turn before it reads, so that what it read still holds when it
commits: `BEGIN IMMEDIATE` in SQLite, where a deferred one would fail in spite of a busy time-out,
and an advisory lock in PostgreSQL. A commit returns once it is on the disk.
"""

import math
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from features.errors import BadInput

WRITES = "tidecast_writes"
"""Execution option of a connection whose transactions write."""

ADVISORY_LOCK = 7_423_301_954
"""The same in every program that writes to a database of ours; else of no meaning."""

POSTGRESQL = "postgresql"

IN_MEMORY = ":memory:"
"""What SQLite calls a database that would be gone with the process."""


def engine_of(url: str, busy_timeout_seconds: float) -> Engine:
    """An engine for a database's URL; nothing is connected yet.

    Args:
        url: `sqlite:///FILE` or `postgresql://...`.
        busy_timeout_seconds: longest wait for another writer.

    Raises:
        BadInput: the URL is neither, or the driver is not installed.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise _no_such_url() from None
    file = parsed.database if parsed.get_backend_name() == "sqlite" else None
    if file and file != IN_MEMORY and not parsed.query:
        return _sqlite(parsed, file, busy_timeout_seconds)
    if parsed.get_backend_name() == POSTGRESQL:
        return _postgresql(parsed, busy_timeout_seconds)
    raise _no_such_url()


def _no_such_url() -> BadInput:
    return BadInput(
        "database.url is neither sqlite:///FILE nor postgresql://USER:PASSWORD@HOST/DATABASE; "
        "write it as one of them, or leave it out"
    )


def _sqlite(url: URL, file: str, busy_timeout_seconds: float) -> Engine:
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"{file}: its directory cannot be made ({error.strerror or error}); make it writable, "
            "or set another data directory"
        ) from error
    engine = create_engine(url, connect_args={"timeout": busy_timeout_seconds})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL, busy_timeout_seconds: float) -> Engine:
    try:
        engine = create_engine(
            url.set(drivername=f"{POSTGRESQL}+psycopg"),
            connect_args={"connect_timeout": max(2, math.ceil(busy_timeout_seconds))},
            pool_pre_ping=True,  # a server that was restarted is found again
        )
    except ImportError:
        raise BadInput(
            "database.url names PostgreSQL, but its driver is not installed; "
            "install tidecast[postgres]"
        ) from None

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITES, False):
            milliseconds = math.ceil(busy_timeout_seconds * 1000)
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")

    return engine
