"""A copy of all that cannot be had again: the database, the history and the trained models.

It is taken while everything runs: the database by SQLite's own online backup, files that are only
ever replaced as a whole by copying them. A backup is there whole or not at all.
"""

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from features.errors import BadInput
from forecaster.json_shapes import BackupAnswer
from forecaster.wiring import Workspace

DATABASE = "tidecast.db"
FOLDERS = ("history", "models")


def back_up(workspace: Workspace, place: Path) -> BackupAnswer:
    """Copy the data directory to a new place, from which a service can be started.

    Raises:
        BadInput: there is something at that place, or it cannot be written to.
    """
    if place.exists():
        raise BadInput(f"{place}: there is something already; name a directory that is not there")
    source = workspace.settings.data_directory
    made: Path | None = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=place.parent, prefix=".backup-"))
        copied = _copied(source, made)
        made.rename(place)
    except (OSError, sqlite3.Error, shutil.Error) as error:
        raise BadInput(
            f"{place}: no backup could be made ({error}); free some space or make it writable"
        ) from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
    warnings = []
    if workspace.settings.database.url is not None:
        warnings.append("the database is elsewhere and not part of this; use its own backup")
    files = [one for one in place.rglob("*") if one.is_file()]
    return BackupAnswer(
        place=str(place),
        parts=copied,
        bytes=sum(one.stat().st_size for one in files),
        warnings=warnings,
    )


def _copied(source: Path, made: Path) -> list[str]:
    """Copy what there is; gives the names."""
    copied = []
    if (source / DATABASE).exists():
        with (
            closing(sqlite3.connect(source / DATABASE)) as running,
            closing(sqlite3.connect(made / DATABASE)) as copy,
        ):
            running.backup(copy)
        copied.append(DATABASE)
    for name in FOLDERS:
        if (source / name).is_dir():
            shutil.copytree(source / name, made / name, ignore=shutil.ignore_patterns(".*"))
            copied.append(name)
    return copied
