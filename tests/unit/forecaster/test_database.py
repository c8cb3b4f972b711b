"""What SQLite is told, and what a user is told when a database cannot be used."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import exc, text

from features.errors import BadInput, SourceUnavailable
from forecaster.database import Database
from forecaster.database.cycle_memory import CycleMemory
from forecaster.database.engines import engine_of
from forecaster.database.errors import clear_error
from forecaster.settings import Settings
from forecaster.wiring import Workspace


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tidecast.db"


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    with Database.open(f"sqlite:///{file}") as opened:
        yield opened


def test_what_is_acknowledged_is_on_the_disk(database: Database) -> None:
    """A write-ahead log that is synced at every commit, and foreign keys that are held."""
    with database.reading() as connection:
        found = [
            connection.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert ["wal", 2, 1] == found


def test_a_version_that_names_one_that_is_not_there_is_refused(database: Database) -> None:
    """Foreign keys are not only declared."""
    statement = text("INSERT INTO policy_versions VALUES (1, 'live', '', '', '', 0, NULL, 7, '{}')")
    with pytest.raises(SourceUnavailable, match="FOREIGN KEY"), database.writing() as connection:
        connection.execute(statement)


def test_a_reader_never_waits_for_a_writer(database: Database) -> None:
    """It sees what was there before."""
    memory = CycleMemory(database)
    memory.write("cycle", 1)
    with database.writing() as connection:
        connection.execute(text("UPDATE cycle_memory SET document = '2'"))
        found = memory.read("cycle")
    assert found is not None
    assert 1 == found.document


def test_a_full_disk_is_told_and_nothing_is_half_written(database: Database) -> None:
    """What was acknowledged before stays, and writing goes on once there is room."""
    memory = CycleMemory(database)
    memory.write("cycle", "before")
    with database.reading() as connection:
        pages = connection.scalar(text("PRAGMA page_count"))
    with pytest.raises(SourceUnavailable) as told, database.writing() as connection:  # noqa: PT012 - the second one fails
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))
        connection.execute(text(f"UPDATE cycle_memory SET document = '\"{'x' * 99_999}\"'"))
    assert "has no room left on its disk; make room and try again" in str(told.value)
    database.close()  # the limit belongs to the connection
    found = memory.read("cycle")
    assert found is not None
    assert ("before", 2) == (found.document, memory.write("cycle", "after", found.version))


def test_a_file_that_is_no_database_is_left_alone(file: Path) -> None:
    """It may be somebody's."""
    file.write_text("not a database, but long enough to be looked at" * 99)
    with pytest.raises(BadInput, match=r"is no SQLite database; set another database\.url"):
        Database.open(f"sqlite:///{file}")
    assert file.read_text().startswith("not a database")


def test_a_damaged_file_is_told(file: Path) -> None:
    """A page in its middle was overwritten."""
    Database.open(f"sqlite:///{file}").close()
    content = bytearray(file.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    file.write_bytes(content)
    with pytest.raises(BadInput, match="is damaged; put a backup in its place"):
        Database.open(f"sqlite:///{file}")


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """What is in its way stays."""
    (tmp_path / "here").write_text("a file")
    with pytest.raises(BadInput, match="its directory cannot be made"):
        Database.open(f"sqlite:///{tmp_path / 'here' / 'tidecast.db'}")
    with pytest.raises(BadInput, match="cannot be opened; check that its directory is writable"):
        Database.open(f"sqlite:///{tmp_path}")


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///:memory:", "sqlite:///t.db?mode=ro", "mysql://a/b", "tidecast.db", ""],
)
def test_what_is_no_url_of_a_database_is_refused(url: str) -> None:
    """Nothing is opened in its place."""
    with pytest.raises(BadInput, match="neither sqlite:///FILE nor"):
        Database.open(url)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BadInput, match=r"install tidecast\[postgres\]"):
        engine_of("postgresql://a/b", 1.0)


def test_a_server_that_is_not_there_is_told_without_its_password(tmp_path: Path) -> None:
    """One line that names the place."""
    with pytest.raises(SourceUnavailable) as told:
        Database.open(f"postgresql://tidecast:hush@/tidecast?host={tmp_path}", 0.1)
    assert 1 == len(str(told.value).splitlines())
    assert "hush" not in str(told.value)
    assert "postgresql" in str(told.value)


def test_a_complaint_of_any_length_is_one_short_line() -> None:
    """Statements and their values are left out."""
    error = exc.StatementError("long\n" * 99, "INSERT hush", {"password": "hush"}, None)
    message = str(clear_error(error, "place"))
    assert 1 == len(message.splitlines())
    assert "hush" not in message
    assert len(message) < 300


def test_busy_connections_are_told() -> None:
    """Waiting for one has an end."""
    assert "place: every connection is in use; try again" == str(
        clear_error(exc.TimeoutError("QueuePool limit"), "place")
    )


def test_the_database_lies_in_the_data_directory_unless_a_url_is_set(tmp_path: Path) -> None:
    """As the settings say."""
    with Workspace(Settings(data_directory=tmp_path / "held")).open_database() as database:
        assert f"sqlite:///{tmp_path / 'held' / 'tidecast.db'}" == database.place
    url = f"sqlite:///{tmp_path / 'other.db'}"
    settings = Settings.model_validate({"database": {"url": url}})
    with Workspace(settings).open_database() as database:
        assert url == database.place


def test_opening_what_is_up_to_date_imports_no_alembic(file: Path) -> None:
    """Only making and altering tables pays for it."""
    Database.open(f"sqlite:///{file}").close()
    code = (
        "import sys; from forecaster.database import Database; "
        f"Database.open('sqlite:///{file}').close(); sys.exit(str('alembic' in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "False" == ran.stderr.strip()


def test_a_backup_is_a_database(database: Database, tmp_path: Path) -> None:
    """SQLite's own backup, while it is open and written to."""
    CycleMemory(database).write("cycle", 5)
    with (
        sqlite3.connect(database.place.removeprefix("sqlite:///")) as source,
        sqlite3.connect(tmp_path / "backup.db") as target,
    ):
        source.backup(target)
    source.close()
    target.close()
    with Database.open(f"sqlite:///{tmp_path / 'backup.db'}") as restored:
        found = CycleMemory(restored).read("cycle")
    assert found is not None
    assert 5 == found.document
