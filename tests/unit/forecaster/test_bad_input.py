"""Bad input of every kind: exit code 2, one clear line, and nothing lost or changed on disk."""

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.fakes.command_line import Command, Ran, files_in

DATA = Path("tidecast-data")
JOBS_HEAD = "submit,end,gpus\n"
JOB = "2026-03-01T09:00:00Z,2026-03-01T10:00:00Z,4\n"


@pytest.fixture
def held(tidecast: Command, jobs_csv: Path) -> dict[Path, bytes]:
    """A store with history in it, and its files before the bad input comes."""
    assert 0 == tidecast("history", "import", jobs_csv).code
    files = files_in(DATA)
    assert files
    return files


def refused(ran: Ran) -> str:
    """The one line that a command was refused with, after its line of progress."""
    assert 2 == ran.code
    assert "" == ran.out
    lines = [line for line in ran.err.splitlines() if not line.endswith(" ...")]
    assert 1 == len(lines)
    assert "Traceback" not in ran.err
    return lines[0]


BAD_FILES = {
    "a missing column": (
        "submit,end\n2026-03-01T09:00Z,2026-03-01T10:00Z\n",
        r"bad\.csv: has no column 'gpus'",
    ),
    "times without a zone": (
        JOBS_HEAD + "2026-03-01T09:00:00,2026-03-01T10:00:00,4\n",
        r"bad\.csv: .*'submit' .*zone",
    ),
    "an end before its start": (
        JOBS_HEAD + "2026-03-01T10:00:00Z,2026-03-01T09:00:00Z,4\n",
        r"bad\.csv: row 1: 'end' lies before",
    ),
    "duplicate jobs": (
        "job_id," + JOBS_HEAD + f"a,{JOB}a,{JOB}",
        r"bad\.csv: row 2: a 'job_id' that stands in an earlier row",
    ),
    "duplicate rows of demand": (
        "time,pool,demand_gpus\n" + "2026-03-01T09:00:00Z,a100,4\n" * 2,
        r"bad\.csv: row 2: a time and pool that an earlier row has too; keep one",
    ),
    "infinite GPUs": (
        JOBS_HEAD + "2026-03-01T09:00:00Z,2026-03-01T10:00:00Z,inf\n",
        r"bad\.csv: row 1: 'gpus' is infinite",
    ),
    "GPUs that are not a number": (
        JOBS_HEAD + "2026-03-01T09:00:00Z,2026-03-01T10:00:00Z,NaN\n",
        r"bad\.csv: row 1: no 'gpus'",
    ),
    "negative GPUs": (
        JOBS_HEAD + "2026-03-01T09:00:00Z,2026-03-01T10:00:00Z,-4\n",
        r"bad\.csv: row 1: 'gpus' is negative",
    ),
    "infinite demand": (
        "time,pool,demand_gpus\n2026-03-01T09:00:00Z,a100,inf\n2026-03-01T09:05:00Z,a100,1\n",
        r"bad\.csv: row 1: 'demand_gpus' is infinite",
    ),
    "another kind of table": ("name,age\nada,36\n", r"bad\.csv: is neither a table of jobs"),
    "no rows": (JOBS_HEAD, r"bad\.csv: has no rows"),
    "nothing": ("", r"bad\.csv: is empty"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused(
    tidecast: Command, held: dict[Path, bytes], tmp_path: Path, kind: str
) -> None:
    """The line names the file and the fault; the history is as it was."""
    text, message = BAD_FILES[kind]
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    assert_matches(message, refused(tidecast("history", "import", "bad.csv")))
    assert held == files_in(DATA)


def assert_matches(pattern: str, line: str) -> None:
    """The line is ours, and says what is expected."""
    assert line.startswith("tidecast: ")
    assert re.search(pattern, line), line


def test_a_good_file_beside_a_bad_one_is_not_stored(
    tidecast: Command, held: dict[Path, bytes], jobs_csv: Path, tmp_path: Path
) -> None:
    """All files of a command are read before any is kept."""
    good = jobs_csv.read_text(encoding="utf-8").replace(",a100", ",h100")
    (tmp_path / "good.csv").write_text(good, encoding="utf-8")
    (tmp_path / "bad.csv").write_text("submit,end\n1,2\n", encoding="utf-8")
    assert_matches("bad", refused(tidecast("history", "import", "good.csv", "bad.csv")))
    assert held == files_in(DATA)


def test_a_file_that_is_not_parquet_is_refused(
    tidecast: Command, held: dict[Path, bytes], tmp_path: Path
) -> None:
    """Whatever its name says."""
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 but not really")
    assert_matches(
        r"bad\.parquet: is not a Parquet file",
        refused(tidecast("history", "import", "bad.parquet")),
    )
    assert held == files_in(DATA)


BAD_ARGUMENTS: dict[str, tuple[tuple[str, ...], str]] = {
    "a file that is not there": (
        ("history", "import", "none.csv"),
        r"none\.csv: there is no such file",
    ),
    "a time without a zone": (
        ("history", "import", "jobs.csv", "--since", "2026-03-01T09:00"),
        r"--since: '2026-03-01T09:00' has no time zone; add Z",
    ),
    "a span that ends before it begins": (
        ("history", "import", "jobs.csv", "--since", "2026-03-02", "--until", "2026-03-01"),
        r"--until is not after --since",
    ),
    "a selection that is none": (
        ("history", "import", "jobs.csv", "--select", "cluster"),
        r"--select: 'cluster' is not 'column=value'",
    ),
    "a selection by a column that is not there": (
        ("history", "import", "jobs.csv", "--select", "cluster=a"),
        r"no column 'cluster'",
    ),
    "a selection that leaves nothing": (
        ("history", "import", "jobs.csv", "--select", "gpu_type=b"),
        r"no rows left with gpu_type=b; it has 'a100'",
    ),
    "a window without any job": (
        ("history", "import", "jobs.csv", "--since", "2027-01-01", "--until", "2027-02-01"),
        r"jobs\.csv: holds no whole step",
    ),
    "another step than the history has": (
        ("history", "import", "jobs.csv", "--step", "60"),
        r"a100/.*: the history has a step of 300 s, this has 60 s",
    ),
    "a pool that is not there": (
        ("forecast", "--pool", "b200/fragment"),
        r"the history holds no pool 'b200/fragment'; it has a100/fragment, a100/whole-node",
    ),
    "a model that is not in the zoo": (
        ("forecast", "--model", "oracle"),
        r"there is no model 'oracle'; choose from persistence,",
    ),
    "a moment beyond the history": (
        ("forecast", "--at", "2030-01-01T00:00Z"),
        r"--at: the history runs from 2026-03-01T0.:..:00Z to .*; choose a moment within it",
    ),
    "a moment before the history": (
        ("forecast", "--at", "2020-01-01T00:00Z"),
        r"--at: the history runs from",
    ),
    "more days than there are": (
        ("backtest", "--days", "30", "--models", "persistence"),
        r"days of history cannot replay the last 30 days",
    ),
    "a model to replay that is not in the zoo": (
        ("backtest", "--models", "persistence,oracle"),
        r"there is no model 'oracle'",
    ),
    "a pull without a Prometheus": (("history", "pull"), r"no Prometheus is set; set prometheus"),
    "an unknown command": (("foresee",), r"No such command 'foresee'"),
    "an unknown option": (("forecast", "--pol", "a100"), r"No such option: --pol"),
    "no command of a group": (("history",), r"Missing command"),
    "an option without its value": (("forecast", "--pool"), r"--pool"),
    "a number that is none": (("backtest", "--days", "many"), r"Invalid value for '--days'"),
}


@pytest.mark.parametrize("kind", BAD_ARGUMENTS)
def test_a_bad_argument_is_refused(tidecast: Command, held: dict[Path, bytes], kind: str) -> None:
    """The line names the argument; the data directory is as it was."""
    arguments, message = BAD_ARGUMENTS[kind]
    assert_matches(message, refused(tidecast(*arguments)))
    assert held == files_in(DATA)


def test_an_unknown_key_in_the_settings_is_refused(
    tidecast: Command, held: dict[Path, bytes], tmp_path: Path
) -> None:
    """Whichever command reads them, and with the key that was meant."""
    (tmp_path / "tidecast.yaml").write_text("promtheus: {url: http://p}", encoding="utf-8")
    for command in (("history", "show"), ("forecast",), ("doctor",), ("demo",)):
        assert (
            "tidecast: tidecast.yaml: unknown key 'promtheus'; did you mean 'prometheus'?"
            == refused(tidecast(*command))
        )
    assert held == files_in(DATA)


def test_several_problems_of_the_settings_are_a_line_each(
    tidecast: Command, tmp_path: Path
) -> None:
    """Nobody has to find them one by one."""
    (tmp_path / "tidecast.yaml").write_text("a: 1\nhistory: {step_seconds: 7}", encoding="utf-8")
    ran = tidecast("history", "show")
    assert 2 == ran.code
    begin = ["tidecast: tidecast.yaml: history.step_seconds", "tidecast: tidecast.yaml: unknown"]
    lines = ran.err.splitlines()
    assert begin == [line[: len(start)] for line, start in zip(lines, begin, strict=True)]


def closed_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("command", [("history", "pull"), ("forecast",)])
def test_an_unreachable_prometheus_is_one_line(
    tidecast: Command,
    held: dict[Path, bytes],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    """With its URL, and what to check."""
    url = f"http://127.0.0.1:{closed_port()}"
    monkeypatch.setenv("TIDECAST_PROMETHEUS__URL", url)
    monkeypatch.setenv("TIDECAST_PROMETHEUS__ATTEMPTS", "1")
    assert_matches(f"cannot reach Prometheus at {url}", refused(tidecast(*command)))
    assert held == files_in(DATA)


def test_a_url_that_is_none_is_refused(
    tidecast: Command, held: dict[Path, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is asked."""
    monkeypatch.setenv("TIDECAST_PROMETHEUS__URL", "prometheus:9090")
    assert_matches(
        r"environment variable TIDECAST_PROMETHEUS__URL: prometheus.url: 'prometheus:9090' is not",
        refused(tidecast("history", "pull")),
    )
    assert held == files_in(DATA)


class _WebPage(BaseHTTPRequestHandler):
    """A web server that is no Prometheus."""

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html>Welcome</html>")

    do_GET = do_POST = _answer  # noqa: N815 - the names that the base class looks for

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web_page() -> Iterator[str]:
    """The URL of something else than a Prometheus."""
    server = HTTPServer(("127.0.0.1", 0), _WebPage)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_url_of_something_else_is_one_line(
    tidecast: Command, held: dict[Path, bytes], web_page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is no answer."""
    monkeypatch.setenv("TIDECAST_PROMETHEUS__URL", web_page)
    monkeypatch.setenv("TIDECAST_PROMETHEUS__ATTEMPTS", "1")
    assert_matches(web_page, refused(tidecast("history", "pull")))
    assert held == files_in(DATA)


def test_a_data_directory_that_cannot_be_written_is_one_line(
    tidecast: Command, jobs_csv: Path
) -> None:
    """With its path, and nothing half-written beside it: a file stands where it should be made."""
    DATA.write_text("", encoding="utf-8")
    assert_matches("tidecast-data", refused(tidecast("history", "import", jobs_csv)))
    assert b"" == DATA.read_bytes()


def test_a_disk_that_is_full_loses_nothing(
    tidecast: Command, held: dict[Path, bytes], jobs_csv: Path
) -> None:
    """No file may grow beyond 2 kB here, as on a disk with no room left."""
    more = jobs_csv.read_text(encoding="utf-8").replace(",a100", ",h100")
    Path("more.csv").write_text(more, encoding="utf-8")
    command = (
        "import resource, sys; from forecaster.cli import run; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY)); "
        "sys.exit(run(['history', 'import', 'more.csv']))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", command], check=False, capture_output=True, text=True
    )
    assert_matches("tidecast-data", refused(Ran(ran.returncode, ran.stdout, ran.stderr)))
    assert held == files_in(DATA)


def test_a_report_that_cannot_be_written_is_one_line(
    tidecast: Command, held: dict[Path, bytes]
) -> None:
    """A directory stands where the file should go."""
    Path("taken").mkdir()
    for option in ("--report", "--forecasts"):
        ran = tidecast("backtest", "--days", "1", "--models", "persistence", option, "taken")
        lines = [line for line in ran.err.splitlines() if not line.endswith(" ...")]
        assert 2 == ran.code
        assert 1 == len(lines)
        assert_matches("taken: cannot be written", lines[0])
    assert [] == list(Path("taken").iterdir())
    assert held == files_in(DATA)


def test_a_pool_with_a_day_of_data_still_gets_a_forecast(tidecast: Command, jobs_csv: Path) -> None:
    """Short history is not bad input: the simplest model answers, and says so."""
    ran = tidecast("history", "import", jobs_csv, "--until", "2026-03-02")
    assert 0 == ran.code
    answer = tidecast("forecast", "--model", "periodic-regression", "--output", "json").answer
    assert ["persistence"] * 2 == [one["model_name"] for one in answer["forecasts"]]
    assert all(
        "periodic-regression has too little history" in one["notes"][0]
        for one in answer["forecasts"]
    )
