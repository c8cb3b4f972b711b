"""Debian's Prometheus on a free port, filled with history by promtool; it can die at any time."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

LONGEST_START_SECONDS = 30


def seed(directory: Path, *texts: str) -> Path:
    """Write OpenMetrics texts as blocks that a Prometheus can serve; gives the data directory."""
    data = directory / "data"
    for number, text in enumerate(texts):
        source = directory / f"seed-{number}.om"
        source.write_text(text)
        subprocess.run(
            [
                "promtool", "tsdb", "create-blocks-from", "--max-block-duration=840h",
                "openmetrics", "-q", source, data,
            ],
            check=True, capture_output=True, timeout=300,
        )  # fmt: skip
        source.unlink()
    return data


class RealPrometheus:
    """A Prometheus process on a data directory; it scrapes every second what it is told to."""

    def __init__(self, data: Path, flags: Sequence[str] = (), scraped: Sequence[str] = ()) -> None:
        self._data = data
        self._flags = tuple(flags)
        self._scraped = tuple(scraped)
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]

    @property
    def url(self) -> str:
        """Where it listens, also while it is down."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it, and return when it is ready to answer."""
        binary = shutil.which("prometheus")
        assert binary is not None
        config = self._data.parent / "prometheus.yml"
        jobs = [{"job_name": "scraped", "static_configs": [{"targets": list(self._scraped)}]}]
        every = {"scrape_interval": "1s", "scrape_timeout": "1s"}
        config.write_text(json.dumps({"global": every, "scrape_configs": jobs}))
        self._process = subprocess.Popen(
            [
                binary, f"--config.file={config}", f"--storage.tsdb.path={self._data}",
                f"--web.listen-address=127.0.0.1:{self._port}", "--log.level=error",
                "--storage.tsdb.retention.time=100y", *self._flags,
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        give_up = time.monotonic() + LONGEST_START_SECONDS
        while not self._ready():
            assert self._process.poll() is None, "Prometheus ended at its start"
            assert time.monotonic() < give_up, "Prometheus is not ready in time"
            time.sleep(0.02)

    def stop(self) -> None:
        """Kill it, as a node that goes away would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=1):
                return True
        except (urllib.error.URLError, OSError):
            return False
