"""`tidecast serve`: where it listens is said by the settings, or by the command."""

from collections.abc import Iterator

import pytest
import structlog

from forecaster.wiring import Workspace
from tests.fakes.command_line import Command


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Workspace]]:
    """The workspaces that a service was started on, which does not run."""
    before = structlog.get_config()
    begun: list[Workspace] = []
    monkeypatch.setattr(
        "forecaster.service.running.serve", lambda opened, _config: begun.append(opened())
    )
    yield begun
    structlog.configure(**before)


def test_it_listens_where_the_settings_say(tidecast: Command, served: list[Workspace]) -> None:
    """On this machine alone if they say nothing."""
    assert 0 == tidecast("serve").code
    assert ("127.0.0.1", 8080) == (
        served[0].settings.service.host, served[0].settings.service.port
    )  # fmt: skip


def test_the_command_goes_before_the_settings(
    tidecast: Command, served: list[Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For what it names, and nothing else."""
    monkeypatch.setenv("TIDECAST_SERVICE__PORT", "9000")
    monkeypatch.setenv("TIDECAST_SERVICE__REQUIRE_TOKEN", "true")
    assert 0 == tidecast("serve", "--host", "0.0.0.0", "--logs", "console").code
    group = served[0].settings.service
    assert ("0.0.0.0", 9000, True) == (group.host, group.port, group.require_token)


def test_nobody_listens_beyond_the_machine_without_tokens(
    tidecast: Command, served: list[Workspace]
) -> None:
    """However it is asked for."""
    ran = tidecast("serve", "--host", "0.0.0.0")
    assert 2 == ran.code
    assert "set require_token" in ran.err
    assert [] == served
