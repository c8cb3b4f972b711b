"""Calendars as announcements: what each one says now takes the place of what it said before.

A calendar is a file or an address. One that cannot be read keeps what it said last.
"""

import hashlib
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from features.errors import BadInput, SourceUnavailable, TidecastError
from forecaster.announcements.calendar_file import MOST_BYTES, announcements_in
from forecaster.database import Database
from forecaster.database.announcements import Announcements, Replaced
from forecaster.wiring import Workspace

TIMEOUT_SECONDS = 20
_DAY_SECONDS = 86_400


def take_calendar(
    workspace: Workspace, database: Database, place: str, now_seconds: int
) -> Replaced:
    """Take over all that a calendar announces.

    Args:
        workspace: settings.
        database: where announcements are kept.
        place: a file, or an `http://` or `https://` address.
        now_seconds: Unix time.

    Raises:
        BadInput: it is no calendar, or asks for what cannot be.
        SourceUnavailable: its address does not answer.
    """
    days = workspace.settings.announcements.calendar_days
    until = now_seconds + days * _DAY_SECONDS
    content = _fetched(place) if _is_address(place) else _read(Path(place))
    try:
        said = announcements_in(content, workspace.zone, now_seconds, until, now_seconds)
    except BadInput as error:
        shown = urlsplit(place).hostname if _is_address(place) else place
        raise BadInput(f"{shown}: {error}") from error
    return Announcements(database).replace(source_of(place), said, now_seconds)


def take_calendars(workspace: Workspace, database: Database, now_seconds: int) -> str:
    """Take over all calendars of the settings, each on its own.

    Raises:
        SourceUnavailable: one of them could not be read; the others were taken over.
    """
    told, problems = [], []
    for place in workspace.settings.announcements.calendars:
        try:
            done = take_calendar(workspace, database, place.get_secret_value(), now_seconds)
        except TidecastError as error:
            problems.append(str(error))
        else:
            told.append(replaced_text(done))
    if problems:
        raise SourceUnavailable("; ".join(problems))
    return "; ".join(told) or "no calendar is set"


def source_of(place: str) -> str:
    """What the announcements of a calendar are kept under; it shows nothing of an address."""
    if not _is_address(place):
        return f"calendar {Path(place).name}"
    return f"calendar {hashlib.sha256(place.encode()).hexdigest()[:12]}"


def replaced_text(done: Replaced) -> str:
    """What became of a calendar's announcements, in words."""
    return f"{len(done.added)} added, {len(done.changed)} changed, {len(done.cancelled)} cancelled"


def _is_address(place: str) -> bool:
    return urlsplit(place).scheme in {"http", "https"}


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{file}: cannot be read ({error.strerror or error})") from error


def _fetched(address: str) -> bytes:
    host = urlsplit(address).hostname
    try:
        # http and https alone come here
        request = urllib.request.Request(address)  # noqa: S310 - see above
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - see above
            content: bytes = answer.read(MOST_BYTES + 1)
    except (OSError, ValueError, urllib.error.URLError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise SourceUnavailable(f"the calendar at {host} does not answer ({reason})") from error
    return content
