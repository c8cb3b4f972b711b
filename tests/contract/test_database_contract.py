"""What every database keeps to: SQLite and PostgreSQL give the same answers to the same calls."""

import json

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, text

from features.errors import BadInput, SourceUnavailable
from forecaster.database import Database
from forecaster.database.cycle_memory import CycleMemory, Overtaken, Remembered
from forecaster.database.policy_versions import Authorship, PolicyVersions
from forecaster.database.schema import MIGRATIONS, REVISION
from forecaster.database.tables import JOBS, METADATA
from tests.fakes.decisions import START_SECONDS, document
from tests.fakes.real_postgres import RealPostgres

ADA = Authorship("ada", START_SECONDS)
SHORT_SECONDS = 0.1


def test_the_newest_migration_is_the_one_the_program_names() -> None:
    """Else a database would be altered again at each start, or never."""
    assert REVISION == ScriptDirectory(MIGRATIONS).get_current_head()


def test_the_migrations_make_the_tables_that_the_program_names(database: Database) -> None:
    """Neither is changed without the other."""
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert [] == compare_metadata(context, METADATA)


def test_opening_again_finds_what_was_written(url: str) -> None:
    """Nothing is made anew."""
    with Database.open(url) as database:
        PolicyVersions(database).apply(document(), ADA)
    with Database.open(url) as database:
        current = PolicyVersions(database).current()
    assert current is not None
    assert (1, ADA, document()) == (current.version, current.authorship, current.document)


def test_tables_of_a_newer_program_are_refused(url: str) -> None:
    """Nothing in them is touched."""
    with Database.open(url) as database, database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(BadInput, match=r"a newer tidecast made this database \(tables 9999"):
        Database.open(url)


def test_a_writer_that_waits_too_long_is_told_so(database: Database, url: str) -> None:
    """One line, and nothing is written; as soon as the other is done it works."""
    with Database.open(url, busy_timeout_seconds=SHORT_SECONDS) as other:
        with database.writing():
            with pytest.raises(SourceUnavailable) as told:
                PolicyVersions(other).apply(document(), ADA)
            assert PolicyVersions(other).current() is None
        assert 1 == PolicyVersions(other).apply(document(), ADA).version
    assert "the database is locked by another process; try again" in str(told.value)
    assert 1 == len(str(told.value).splitlines())


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    """What was written before the failure is gone."""
    run_once = insert(JOBS).values(
        name="train", due_seconds=1, begun_seconds=1, standing="running", document={}
    )
    with pytest.raises(SourceUnavailable), database.writing() as connection:  # noqa: PT012 - the second insert is the failure
        connection.execute(run_once)
        connection.execute(run_once)
    with database.reading() as connection:
        assert [] == connection.execute(JOBS.select()).all()


def test_two_runs_of_one_job_never_overlap(database: Database) -> None:
    """The table itself refuses a second one that has not ended."""
    with database.writing() as connection:
        for due in (1, 2):
            ended = None if due == 2 else 5
            connection.execute(
                insert(JOBS).values(
                    name="train", due_seconds=due, begun_seconds=due, ended_seconds=ended,
                    standing="done", document={},
                )
            )  # fmt: skip
    with pytest.raises(SourceUnavailable), database.writing() as connection:
        connection.execute(
            insert(JOBS).values(
                name="train", due_seconds=3, begun_seconds=3, standing="running", document={}
            )
        )


def test_memory_is_replaced_by_who_read_it_last(database: Database) -> None:
    """Whoever was overtaken changes nothing, and is told."""
    memory = CycleMemory(database)
    assert memory.read("cycle") is None
    assert 1 == memory.write("cycle", {"pools": {}})
    with pytest.raises(Overtaken, match="'cycle' was written by another tidecast"):
        memory.write("cycle", {"pools": {"late": {}}})
    assert 2 == memory.write("cycle", {"pools": {"b": None}}, read_version=1)
    with pytest.raises(Overtaken):
        memory.write("cycle", [], read_version=1)
    assert Remembered({"pools": {"b": None}}, 2) == memory.read("cycle")
    with pytest.raises(Overtaken):
        memory.write("other", [], read_version=3)
    assert memory.read("other") is None


def test_a_document_keeps_the_order_of_its_keys(database: Database) -> None:
    """What is shown reads as it was written."""
    memory = CycleMemory(database)
    memory.write("cycle", {"z": 1, "a": 2})
    found = memory.read("cycle")
    assert found is not None
    assert '{"z": 1, "a": 2}' == json.dumps(found.document)


@pytest.mark.tool("postgres")
def test_a_server_that_was_restarted_is_found_again(postgres: RealPostgres) -> None:
    """While it is down there is one clear line, with no password in it."""
    url = postgres.new_database()
    with Database.open(url.replace("tidecast@", "tidecast:hush@"), 1.0) as database:
        versions = PolicyVersions(database)
        first = versions.apply(document(), ADA)
        postgres.stop()
        postgres.start()
        assert first == versions.current()
        postgres.stop()
        try:
            with pytest.raises(SourceUnavailable) as told:
                versions.apply(document(floor_nodes=1), ADA)
        finally:
            postgres.start()
        assert first == versions.current()
        assert 2 == versions.apply(document(floor_nodes=1), ADA).version
    assert 1 == len(str(told.value).splitlines())
    assert "hush" not in str(told.value)
