"""What must outlive the process: policy versions, audit, memory between cycles, announcements.

SQLite in the data directory by default, PostgreSQL by URL; both behave alike, one writer at a time.
One repository class per kind, a file each, takes a `Database`. Nothing here decides anything, and
no exception of SQLAlchemy or of a driver leaves it.
"""

from forecaster.database.database import Database

__all__ = ["Database"]
