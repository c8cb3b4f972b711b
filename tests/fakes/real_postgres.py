"""Debian's PostgreSQL on a socket of its own; it may be restarted, and keeps nothing."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from sqlalchemy import create_engine, text

LONGEST_START_SECONDS = 30
UNPRIVILEGED = "postgres"  # PostgreSQL refuses to run as root


class RealPostgres:
    """A PostgreSQL process with a database for each test that asks for one."""

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._user = UNPRIVILEGED if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self._directory, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        subprocess.run(
            [
                "initdb", f"--pgdata={self._data}", "--username=tidecast", "--auth=trust",
                "--encoding=UTF8", "--locale=C", "--no-sync",
            ],
            check=True, capture_output=True, timeout=120, user=self._user, cwd="/",
        )  # fmt: skip

    @property
    def _data(self) -> Path:
        return self._directory / "data"

    def url(self, database: str = "postgres") -> str:
        """Where a database is, also while the server is down."""
        return f"postgresql://tidecast@/{database}?host={self._directory}"

    def new_database(self) -> str:
        """The URL of an empty database."""
        self._databases += 1
        name = f"test_{self._databases}"
        engine = create_engine(
            self.url().replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
        )
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)

    def start(self) -> None:
        """Start it, and return when it is ready to answer."""
        binary = shutil.which("postgres")
        assert binary is not None
        self._process = subprocess.Popen(
            [
                binary, "-D", self._data, "-k", self._directory, "-c", "listen_addresses=",
                "-c", "fsync=off", "-c", "shared_buffers=16MB",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=self._user, cwd="/",
        )  # fmt: skip
        give_up = time.monotonic() + LONGEST_START_SECONDS
        while not self._ready():
            assert self._process.poll() is None, "PostgreSQL ended at its start"
            assert time.monotonic() < give_up, "PostgreSQL is not ready in time"
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop it at once, breaking off whoever is connected."""
        if self._process is not None:
            self._process.send_signal(2)  # PostgreSQL's fast shutdown
            self._process.wait(timeout=60)
            self._process = None

    def remove(self) -> None:
        """Stop it and remove all that it kept."""
        self.stop()
        shutil.rmtree(self._directory)

    def _ready(self) -> bool:
        state = self._data / "postmaster.pid"  # its last line says how far the start has come
        return state.exists() and state.read_text().rstrip().endswith("ready")
