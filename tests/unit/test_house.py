"""The house's own rules: one more thing is one more file, and only the edge reads the clock."""

import ast
from pathlib import Path

import pytest

from actuator.backends.table import BACK_ENDS
from models.zoo import MODELS

ROOT = Path(__file__).parents[2]
ROOMS = ("forecaster", "features", "models", "actuator", "simulator")
MOST_LINES = 400
CLOCKS = {"now", "utcnow", "today", "time", "monotonic", "perf_counter", "time_ns"}
READS_THE_CLOCK = {"forecaster/clock.py"}


def python_files(*directories: str) -> list[Path]:
    """Every Python file below these directories."""
    return [path for directory in directories for path in sorted((ROOT / directory).rglob("*.py"))]


def named(path: Path) -> str:
    """A path as people write it."""
    return str(path.relative_to(ROOT))


def clock_reads(source: str) -> list[int]:
    """Lines that call a clock of `datetime`, `date`, `time` or pandas."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CLOCKS
        and ast.unparse(node.func.value).split(".")[-1]
        in {"datetime", "date", "time", "Timestamp", "dt", "pd"}
    ]


def sources() -> list[Path]:
    """The files below `features/sources` that hold a source."""
    return [
        path
        for path in python_files("features/sources")
        if path.stem != "protocol"
        and "def demand(self, start_seconds" in path.read_text(encoding="utf-8")
    ]


def test_a_clock_that_is_read_is_found() -> None:
    """The search itself sees the ways to read one, and no others."""
    assert [1] == clock_reads("datetime.now(UTC)")
    assert [1] == clock_reads("time.time()")
    assert [2] == clock_reads("\npd.Timestamp.now()")
    assert [] == clock_reads("moment.time(); forecast.now_gpus; panel.now()")


@pytest.mark.parametrize("path", python_files(*ROOMS), ids=named)
def test_only_the_edge_reads_the_clock(path: Path) -> None:
    """`now` is an argument everywhere else."""
    found = [] if named(path) in READS_THE_CLOCK else clock_reads(path.read_text(encoding="utf-8"))
    assert [] == found


@pytest.mark.parametrize("path", python_files(*ROOMS, "tests", "docs"), ids=named)
def test_no_file_grows_beyond_what_one_reads_at_once(path: Path) -> None:
    """What is longer holds two things."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_of_the_zoo_has_its_file_test_and_page(name: str) -> None:
    """The row in the table, the file, the test file and the docs page agree."""
    model = MODELS[name]()
    module = type(model).__module__.removeprefix("models.")
    assert name == model.name
    assert (ROOT / "models" / f"{module}.py").is_file()
    assert (ROOT / "tests" / "unit" / "models" / f"test_{module}.py").is_file()
    page = ROOT / "docs" / "models" / f"{name}.md"
    assert f"# {name}" == page.read_text(encoding="utf-8").splitlines()[0]
    assert f"({name}.md)" in (page.parent / "README.md").read_text(encoding="utf-8")


def test_every_page_of_a_model_has_its_row() -> None:
    """No page stays behind when a model goes."""
    pages = {path.stem for path in (ROOT / "docs" / "models").glob("*.md")} - {"README"}
    assert set(MODELS) == pages


@pytest.mark.parametrize("name", list(BACK_ENDS))
def test_a_back_end_has_its_file_test_and_page(name: str) -> None:
    """The row in the table, the file, the test file and the docs page agree."""
    assert f"actuator.backends.{name}" == BACK_ENDS[name].check_options.__module__
    assert (ROOT / "tests" / "unit" / "actuator" / "backends" / f"test_{name}.py").is_file()
    page = ROOT / "docs" / "back-ends" / f"{name}.md"
    assert f"# {name}" == page.read_text(encoding="utf-8").splitlines()[0]
    assert f"({name}.md)" in (page.parent / "README.md").read_text(encoding="utf-8")


def test_every_page_of_a_back_end_has_its_row() -> None:
    """No page stays behind when a back end goes."""
    pages = {path.stem for path in (ROOT / "docs" / "back-ends").glob("*.md")} - {"README"}
    assert set(BACK_ENDS) == pages


def test_the_sources_are_found() -> None:
    """The next test is about something."""
    assert {"prometheus", "job_table", "demand_table"} <= {path.stem for path in sources()}


@pytest.mark.parametrize("path", sources(), ids=named)
def test_a_source_has_its_test_and_page(path: Path) -> None:
    """The file, the test file and the docs page agree."""
    assert list((ROOT / "tests").rglob(f"test_{path.stem}*.py"))
    assert list((ROOT / "docs" / "how-to").glob(f"{path.stem.replace('_', '-')}*.md"))


@pytest.mark.parametrize("path", python_files(*ROOMS), ids=named)
def test_a_module_says_why_it_exists(path: Path) -> None:
    """Its docstring is the first thing a reader meets."""
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
