"""Log lines are for programs, and never mix with answers."""

import json
from collections.abc import Iterator

import pytest
import structlog

from forecaster.logs import log_to_stderr


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)


def test_a_line_is_an_object_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever stands in its values; one event is one line, with its traceback."""
    log_to_stderr()
    log = structlog.get_logger()
    log.warning("job ended", detail='a "quoted"\nline')
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        log.exception("job raised")
    out, err = capsys.readouterr()
    first, second = (json.loads(line) for line in err.splitlines())
    assert "" == out
    assert ("job ended", "warning", 'a "quoted"\nline') == (
        first["event"], first["level"], first["detail"]
    )  # fmt: skip
    assert first["timestamp"].endswith("Z")
    assert "ZeroDivisionError: division by zero" in second["exception"]
