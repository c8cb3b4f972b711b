"""What README and the guides tell a user to type exists, works, and prints what they show."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forecaster.cli import run

ROOT = Path(__file__).parents[2]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
SHOWN = re.compile(r"```text\n(.*?)```", re.DOTALL)
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(text: str) -> list[str]:
    """The command lines of every console block; a backslash joins lines."""
    joined = "\n".join(CONSOLE.findall(text)).replace("\\\n", " ")
    return [line.removeprefix("$ ").strip() for line in joined.splitlines() if line.strip()]


TIDECAST = sorted(
    {
        line
        for guide in GUIDES
        if guide.parent.name != "reference"
        for line in commands(guide.read_text(encoding="utf-8"))
        if line.startswith("tidecast ")
    }
)


def tidecast(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line that begins with `tidecast` in a directory."""
    words = [sys.executable, "-m", "forecaster", *shlex.split(command)[1:]]
    return subprocess.run(words, check=False, capture_output=True, text=True, cwd=directory)


@pytest.mark.parametrize("command", TIDECAST)
def test_a_command_of_the_guides_exists(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its options are known: with `--help` behind it, it is explained and not refused."""
    assert 0 == run([*shlex.split(command)[1:], "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert set(re.findall(r"(?<= )--[a-z-]+", command)) <= known


def test_the_guides_have_commands() -> None:
    """The test above is about something."""
    assert {"tidecast doctor", "tidecast forecast", "tidecast history pull"} <= set(TIDECAST)


def test_what_make_is_told_to_do_it_can() -> None:
    """Each `make` of a guide is a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    told = {
        word
        for guide in GUIDES
        for line in commands(guide.read_text(encoding="utf-8"))
        if line.startswith("make ")
        for word in shlex.split(line)[1:]
        if "=" not in word
    }
    assert {"demo", "test"} <= told <= targets


def test_the_way_with_a_file_of_jobs_works(tmp_path: Path) -> None:
    """README's block, line by line, in a directory with nothing but the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (block,) = [text for text in CONSOLE.findall(README) if "history import examples" in text]
    ran = [tidecast(line, tmp_path) for line in block.splitlines()]
    assert [0, 0, 0, 0] == [one.returncode for one in ran]
    assert "a100/whole-node at " in ran[-1].stdout


@pytest.mark.slow
def test_the_demo_prints_what_readme_shows(tmp_path: Path) -> None:
    """To the letter: the demo is seeded, so its numbers repeat."""
    (shown,) = SHOWN.findall(README)
    ran = tidecast("tidecast demo", tmp_path)
    assert 0 == ran.returncode
    printed = [line.rstrip() for line in ran.stdout.splitlines()]
    assert shown.splitlines() == printed
