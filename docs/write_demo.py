"""Writes what `tidecast demo` prints into the README, where a reader sees it first.

Run `python docs/write_demo.py` after a change to a model or to the demo's cluster; the test that
compares the two is among the slow ones (`make test-slow`).
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
SHOWN = re.compile(r"```text\n.*?```", re.DOTALL)


def main() -> None:
    """Run the demo in an empty directory, and put its output in place of the old one."""
    with tempfile.TemporaryDirectory() as directory:
        ran = subprocess.run(
            [sys.executable, "-m", "forecaster", "demo"],
            check=True,
            cwd=directory,
            stdout=subprocess.PIPE,
            text=True,
        )
    printed = "\n".join(line.rstrip() for line in ran.stdout.splitlines())
    text = README.read_text(encoding="utf-8")
    README.write_text(SHOWN.sub(lambda _: f"```text\n{printed}\n```", text, count=1), "utf-8")


if __name__ == "__main__":
    main()
