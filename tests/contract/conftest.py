"""Databases that contracts are tested on: SQLite in a file, and a real PostgreSQL if any."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forecaster.database import Database
from tests.fakes.real_postgres import RealPostgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[RealPostgres]:
    server = RealPostgres()
    server.start()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.tool("postgres"))])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that does not exist yet, or that is empty."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'data' / 'tidecast.db'}"
    server: RealPostgres = request.getfixturevalue("postgres")
    return server.new_database()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with Database.open(url) as opened:
        yield opened
