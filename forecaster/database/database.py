"""A database that is open: transactions that read, transactions that write, and nothing else.

Opening brings its tables up to date first. Whoever holds a `Database` never meets an exception of
SQLAlchemy.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from forecaster.database.engines import WRITES, engine_of
from forecaster.database.errors import clear_error
from forecaster.database.schema import bring_up_to_date, is_up_to_date

BUSY_TIMEOUT_SECONDS = 10.0


class Database:
    """Tables of ours, up to date."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.place = engine.url.render_as_string(hide_password=True)
        """The database as people name it, without its password."""

    @classmethod
    def open(cls, url: str, busy_timeout_seconds: float = BUSY_TIMEOUT_SECONDS) -> Self:
        """Open a database, making or altering its tables where that is needed.

        Args:
            url: `sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST/DATABASE`.
            busy_timeout_seconds: longest wait for another writer.

        Raises:
            BadInput: the URL is wrong, the file is no database, or a newer Tidecast made it.
            SourceUnavailable: it is locked, full or out of reach.
        """
        database = cls(engine_of(url, busy_timeout_seconds))
        try:
            with database.reading() as connection:
                current = is_up_to_date(connection, database.place)
            if not current:
                with database.writing() as connection:
                    bring_up_to_date(connection)
        except BaseException:
            database.close()
            raise
        return database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that reads.

        Raises:
            BadInput: the database is damaged or not ours to read.
            SourceUnavailable: it is out of reach.
        """
        with self._clear_errors(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that alone may write; once it is left, what it wrote is on the disk.

        Raises:
            BadInput: the database is damaged or cannot be written to.
            SourceUnavailable: another writer holds it for too long, it is full or out of reach.
        """
        with self._clear_errors(), self._engine.connect() as connection:
            writer = connection.execution_options(**{WRITES: True})
            with writer.begin():
                yield writer

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise clear_error(error, self.place) from error
