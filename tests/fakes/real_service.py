"""A `tidecast serve` in a process of its own, on a directory that a test fills."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
READY_SECONDS = 60.0


class RealService:
    """One service; used as a context, which ends it."""

    def __init__(self, directory: Path, settings: dict[str, Any] | None = None) -> None:
        """Nothing runs yet.

        Args:
            directory: where it runs, with `tidecast-data` in it.
            settings: the content of its settings file.
        """
        self.directory = directory
        self.config = directory / "tidecast.yaml"
        self.log = directory / "service.log"
        self.write(settings or {})
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    def write(self, settings: dict[str, Any]) -> None:
        """Write its settings file, as JSON, which is YAML too."""
        self.config.write_text(json.dumps(settings), encoding="utf-8")

    def __enter__(self) -> "RealService":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # and what it has started
            self.process.wait()

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.port = free_port()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command(), "serve", "--port", str(self.port), "--config", str(self.config)],
                cwd=self.directory,
                env=environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.until(lambda: self.get("/readyz").status_code == 200)

    def get(self, path: str) -> httpx.Response:
        """Ask it for something."""
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=10)

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """Send it something."""
        return httpx.post(f"http://127.0.0.1:{self.port}{path}", json=body, timeout=10)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def end(self, within_seconds: float) -> int:
        """Ask it to end; gives its exit code."""
        assert self.process is not None
        self.signal(signal.SIGTERM)
        return self.process.wait(within_seconds)

    def until(self, holds: Any, seconds: float = READY_SECONDS) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                if holds():
                    return
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {self.log.read_text(encoding='utf-8')}")

    def logged(self, text: str) -> bool:
        """Whether its log says something."""
        return text in self.log.read_text(encoding="utf-8")


def command() -> list[str]:
    """The `tidecast` of this environment."""
    return [sys.executable, "-m", "forecaster"]


def environment() -> dict[str, str]:
    """The environment without the machine's settings."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("TIDECAST_")}
    return {**own, "PYTHONPATH": str(ROOT), "TIDECAST_MLFLOW__ENABLED": "false"}


def free_port() -> int:
    """A port that nobody listens on now."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
