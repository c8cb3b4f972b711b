"""The first tables: policies, audit, memory, announcements, forecasts, scores, jobs, access.

What is written here never changes: databases have been made by it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "policy_versions",
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
        sa.Column("made_seconds", sa.BigInteger, nullable=False),
        sa.Column("ended_seconds", sa.BigInteger),
        sa.Column("restored_from", sa.Integer, sa.ForeignKey("policy_versions.version")),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_table(
        "audit_events",
        sa.Column("identifier", sa.String, primary_key=True),
        sa.Column("pool", sa.String, nullable=False),
        sa.Column("made_seconds", sa.BigInteger, nullable=False),
        sa.Column("policy_version", sa.Integer, nullable=False),
        sa.Column("shadow", sa.Boolean, nullable=False),
        sa.Column("held_back", sa.Boolean, nullable=False),
        sa.Column("standing", sa.String, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_index(None, "audit_events", ["made_seconds", "identifier"])
    op.create_index(None, "audit_events", ["pool", "made_seconds"])
    op.create_index(None, "audit_events", ["standing", "made_seconds"])
    op.create_table(
        "cycle_memory",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_table(
        "announcements",
        sa.Column("identifier", sa.String, primary_key=True),
        sa.Column("pool", sa.String),
        sa.Column("standing", sa.String, nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("begins_seconds", sa.BigInteger, nullable=False),
        sa.Column("ends_seconds", sa.BigInteger),
        sa.Column("made_seconds", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_index(None, "announcements", ["standing", "ends_seconds"])
    op.create_table(
        "idempotency_keys",
        sa.Column("owner", sa.String, primary_key=True),
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("request_digest", sa.String, nullable=False),
        sa.Column("made_seconds", sa.BigInteger, nullable=False),
        sa.Column("document", sa.JSON(none_as_null=True)),
    )
    op.create_index(None, "idempotency_keys", ["made_seconds"])
    op.create_table(
        "forecasts",
        sa.Column("pool", sa.String, primary_key=True),
        sa.Column("origin_seconds", sa.BigInteger, primary_key=True),
        sa.Column("model_name", sa.String, primary_key=True),
        sa.Column("model_version", sa.String, nullable=False),
        sa.Column("made_seconds", sa.BigInteger, nullable=False),
        sa.Column("step_seconds", sa.Integer, nullable=False),
        sa.Column("peak_steps", sa.Integer, nullable=False),
        sa.Column("peak_gpus", sa.LargeBinary),
        sa.Column("path_gpus", sa.LargeBinary),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_index(None, "forecasts", ["origin_seconds"])
    op.create_table(
        "scores",
        sa.Column("pool", sa.String, primary_key=True),
        sa.Column("scored_seconds", sa.BigInteger, primary_key=True),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_index(None, "scores", ["scored_seconds"])
    op.create_table(
        "jobs",
        sa.Column("run", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("due_seconds", sa.BigInteger, nullable=False),
        sa.Column("begun_seconds", sa.BigInteger, nullable=False),
        sa.Column("ended_seconds", sa.BigInteger),
        sa.Column("standing", sa.String, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
        sa.UniqueConstraint("name", "due_seconds"),
    )
    op.create_index(
        "ix_jobs_one_running",
        "jobs",
        ["name"],
        unique=True,
        sqlite_where=sa.text("ended_seconds IS NULL"),
        postgresql_where=sa.text("ended_seconds IS NULL"),
    )
    op.create_table(
        "tokens",
        sa.Column("identifier", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        sa.Column("made_seconds", sa.BigInteger, nullable=False),
        sa.Column("expires_seconds", sa.BigInteger),
        sa.Column("revoked_seconds", sa.BigInteger),
        sa.Column("document", sa.JSON, nullable=False),
    )
    op.create_table(
        "protections",
        sa.Column("kind", sa.String, primary_key=True),
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("made_seconds", sa.BigInteger, nullable=False),
        sa.Column("expires_seconds", sa.BigInteger),
    )
    op.create_table(
        "pool_modes",
        sa.Column("pool", sa.String, primary_key=True),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("made_seconds", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
    )
