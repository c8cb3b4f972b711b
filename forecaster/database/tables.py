"""Every table: the columns that are asked for by value, and a JSON document with all the rest.

Times are Unix time, UTC, in whole seconds. A column is added here and by a migration; a test holds
that both agree.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    text,
)

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

POLICY_VERSIONS = Table(
    "policy_versions",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),  # live or shadow
    Column("digest", String, nullable=False),
    Column("author", String, nullable=False),
    Column("note", String, nullable=False),
    Column("made_seconds", BigInteger, nullable=False),
    Column("ended_seconds", BigInteger),  # when a shadow was taken off
    Column("restored_from", Integer, ForeignKey("policy_versions.version")),
    Column("document", JSON, nullable=False),
)

AUDIT_EVENTS = Table(
    "audit_events",
    METADATA,
    Column("identifier", String, primary_key=True),
    Column("pool", String, nullable=False),
    Column("made_seconds", BigInteger, nullable=False),
    Column("policy_version", Integer, nullable=False),
    Column("shadow", Boolean, nullable=False),
    Column("held_back", Boolean, nullable=False),
    Column("standing", String, nullable=False),
    Column("document", JSON, nullable=False),
    Index(None, "made_seconds", "identifier"),
    Index(None, "pool", "made_seconds"),
    Index(None, "standing", "made_seconds"),
)

CYCLE_MEMORY = Table(
    "cycle_memory",
    METADATA,
    Column("name", String, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("document", JSON, nullable=False),
)

ANNOUNCEMENTS = Table(
    "announcements",
    METADATA,
    Column("identifier", String, primary_key=True),
    Column("pool", String),  # all pools where it is null
    Column("standing", String, nullable=False),
    Column("source", String, nullable=False),  # which person, calendar or cluster it came by
    Column("owner", String, nullable=False),
    Column("begins_seconds", BigInteger, nullable=False),
    Column("ends_seconds", BigInteger),  # null while it recurs without an end
    Column("made_seconds", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),  # what If-Match is held against
    Column("document", JSON, nullable=False),
    Index(None, "standing", "ends_seconds"),
)

IDEMPOTENCY_KEYS = Table(
    "idempotency_keys",
    METADATA,
    Column("owner", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("request_digest", String, nullable=False),
    Column("made_seconds", BigInteger, nullable=False),
    Column("document", JSON(none_as_null=True)),  # the answer; null while it is being worked out
    Index(None, "made_seconds"),
)

FORECASTS = Table(
    "forecasts",
    METADATA,
    Column("pool", String, primary_key=True),
    Column("origin_seconds", BigInteger, primary_key=True),
    Column("model_name", String, primary_key=True),
    Column("model_version", String, nullable=False),
    Column("made_seconds", BigInteger, nullable=False),
    Column("step_seconds", Integer, nullable=False),
    Column("peak_steps", Integer, nullable=False),
    Column("peak_gpus", LargeBinary),  # float64 per level; null where there is no forecast
    Column("path_gpus", LargeBinary),  # float32 per step and level
    Column("document", JSON, nullable=False),
    Index(None, "origin_seconds"),
)

SCORES = Table(
    "scores",
    METADATA,
    Column("pool", String, primary_key=True),
    Column("scored_seconds", BigInteger, primary_key=True),
    Column("document", JSON, nullable=False),
    Index(None, "scored_seconds"),
)

JOBS = Table(
    "jobs",
    METADATA,
    Column("run", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("due_seconds", BigInteger, nullable=False),
    Column("begun_seconds", BigInteger, nullable=False),
    Column("ended_seconds", BigInteger),
    Column("standing", String, nullable=False),
    Column("document", JSON, nullable=False),
    UniqueConstraint("name", "due_seconds"),
    Index(
        "ix_jobs_one_running",  # two runs of one job never overlap
        "name",
        unique=True,
        sqlite_where=text("ended_seconds IS NULL"),
        postgresql_where=text("ended_seconds IS NULL"),
    ),
)

TOKENS = Table(
    "tokens",
    METADATA,
    Column("identifier", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("digest", String, nullable=False, unique=True),  # never the token itself
    Column("made_seconds", BigInteger, nullable=False),
    Column("expires_seconds", BigInteger),
    Column("revoked_seconds", BigInteger),
    Column("document", JSON, nullable=False),  # its scopes
)

PROTECTIONS = Table(
    "protections",
    METADATA,
    Column("kind", String, primary_key=True),  # node or pod
    Column("name", String, primary_key=True),
    Column("owner", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("made_seconds", BigInteger, nullable=False),
    Column("expires_seconds", BigInteger),
)

POOL_MODES = Table(
    "pool_modes",
    METADATA,
    Column("pool", String, primary_key=True),
    Column("mode", String, nullable=False),
    Column("author", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("made_seconds", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),  # what If-Match is held against
)
