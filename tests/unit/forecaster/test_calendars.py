"""Calendars as announcements: files, addresses, and what goes wrong with either."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from features.errors import BadInput, SourceUnavailable
from forecaster.database.announcements import Announcements
from forecaster.settings import Settings
from forecaster.tasks.calendars import source_of, take_calendar, take_calendars
from forecaster.wiring import Workspace

NOW = 1_772_323_200  # 2026-03-01T00:00:00Z


def calendar(*events: str) -> str:
    """A calendar with these events on 6 March 2026."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:test"]
    for number, summary in enumerate(events):
        lines += [
            "BEGIN:VEVENT", f"UID:{number}", f"SUMMARY:{summary}", "DTSTAMP:20260301T000000Z",
            "DTSTART:20260306T090000Z", "DTEND:20260306T110000Z", "END:VEVENT",
        ]  # fmt: skip
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


@pytest.fixture
def server() -> Iterator[str]:
    """An address whose calendar asks for 64 GPUs; any path but its own is not found."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/secret/team.ics"
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(calendar("Friday GPUS=64").encode() if found else b"")

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
        httpd.shutdown()


def workspace_of(directory: Path, *calendars: str) -> Workspace:
    """A workspace that reads these calendars."""
    return Workspace(
        Settings(data_directory=directory, announcements={"calendars": list(calendars)})
    )


def reasons(workspace: Workspace) -> list[str]:
    with workspace.open_database() as database:
        return [one.reason for one in Announcements(database).active(NOW)]


def test_a_file_says_anew_what_it_has(tmp_path: Path) -> None:
    """What it no longer has is called off."""
    file = tmp_path / "team.ics"
    workspace = workspace_of(tmp_path / "data", str(file))
    with workspace.open_database() as database:
        file.write_text(calendar("a GPUS=8", "lunch", "b GPUS=+8"))
        assert "2 added, 0 changed, 0 cancelled" == take_calendars(workspace, database, NOW)
        file.write_text(calendar("a GPUS=16"))
        assert "0 added, 1 changed, 1 cancelled" == take_calendars(workspace, database, NOW + 60)
    assert ["a GPUS=16"] == reasons(workspace)


def test_an_address_is_read_and_not_told(tmp_path: Path, server: str) -> None:
    """What is kept names neither its path nor what is secret in it."""
    place = f"{server}/secret/team.ics"
    workspace = workspace_of(tmp_path, place)
    with workspace.open_database() as database:
        assert ("0@1772787600",) == take_calendar(workspace, database, place, NOW).added
        assert source_of(place) == Announcements(database).get("0@1772787600").source
    assert "secret" not in source_of(place)
    assert source_of(place) != source_of(place + "x")


def test_a_calendar_that_cannot_be_read_keeps_what_it_said(tmp_path: Path, server: str) -> None:
    """And no other from being read; its secret address is not told."""
    file = tmp_path / "team.ics"
    file.write_text(calendar("a GPUS=8"))
    workspace = workspace_of(tmp_path / "data", f"{server}/secret/gone.ics", str(file))
    with workspace.open_database() as database:
        with pytest.raises(SourceUnavailable, match=r"127\.0\.0\.1 does not answer") as told:
            take_calendars(workspace, database, NOW)
        file.write_text("no calendar")
        with pytest.raises(
            SourceUnavailable, match=r"does not answer.*team.ics: the calendar cannot be"
        ):
            take_calendars(workspace, database, NOW)
    assert "secret" not in str(told.value)
    assert ["a GPUS=8"] == reasons(workspace)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """With its name."""
    workspace = workspace_of(tmp_path)
    with workspace.open_database() as database:
        with pytest.raises(BadInput, match=r"absent\.ics: cannot be read"):
            take_calendar(workspace, database, str(tmp_path / "absent.ics"), NOW)
        assert "no calendar is set" == take_calendars(workspace, database, NOW)
