"""A file is written whole or not at all."""

from pathlib import Path

import pytest

from features.errors import BadInput
from forecaster.files import replacing


def test_what_was_written_takes_the_place_of_the_file(tmp_path: Path) -> None:
    """Directories on the way are made, and nothing else is left."""
    path = tmp_path / "new" / "report.html"
    with replacing(path) as part:
        part.write_text("first", encoding="utf-8")
    with replacing(path) as part:
        part.write_text("second", encoding="utf-8")
    assert "second" == path.read_text(encoding="utf-8")
    assert [path] == list(path.parent.iterdir())


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path: Path) -> None:
    """Neither the half of it nor its remains can be seen."""
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def write_half() -> None:
        with replacing(path) as part:
            part.write_text("ha", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert "old" == path.read_text(encoding="utf-8")
    assert [path] == list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    """A file stands where a directory is needed."""
    blocking = tmp_path / "file"
    blocking.write_text("", encoding="utf-8")
    with (
        pytest.raises(BadInput, match=r"report\.html: cannot be written \(.+\); make room, or"),
        replacing(blocking / "report.html"),
    ):
        pass


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    """The error comes while writing, and nothing is left behind."""
    path = tmp_path / "report.html"
    with (
        pytest.raises(BadInput, match=r"No space left on device"),
        replacing(path),
        Path("/dev/full").open("w", encoding="utf-8") as full,
    ):
        full.write("x" * 100_000)
    assert [] == list(tmp_path.iterdir())
