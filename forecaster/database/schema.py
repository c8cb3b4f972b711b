"""Which tables a database has, and how it comes to have those that this program needs.

Changes of the tables are Alembic's migrations, which ship inside the package and run in the one
transaction that may write: whoever opens at the same time waits, and finds them done. A database
that a newer program made is refused, never altered.
"""

from pathlib import Path

from sqlalchemy import Connection, column, inspect, select, table

from features.errors import BadInput

REVISION = "0001"
"""The newest migration; a test holds that it is Alembic's head."""

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION_TABLE = "alembic_version"


def is_up_to_date(connection: Connection, place: str) -> bool:
    """Whether the tables are those that this program needs.

    Raises:
        BadInput: a newer program made them.
    """
    if not inspect(connection).has_table(VERSION_TABLE):
        return False
    revision = connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))
    if revision is not None and revision > REVISION:
        raise BadInput(
            f"{place}: a newer tidecast made this database (tables {revision}; this program knows "
            f"{REVISION}); install that one, or set another database.url"
        )
    return bool(revision == REVISION)


def bring_up_to_date(connection: Connection) -> None:
    """Run the migrations that are missing, in the transaction that the caller holds."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    command.upgrade(config, "head")
