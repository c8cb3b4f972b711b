"""What Alembic runs: the migrations, in the transaction of whoever opens the database.

There is no offline mode and no connection of its own.
"""

from alembic import context

from forecaster.database.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,  # SQLite alters a table by making a new one
)
with context.begin_transaction():
    context.run_migrations()
