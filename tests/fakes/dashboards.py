"""The committed dashboards, and every query in them."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

GRAFANA = Path(__file__).parents[2] / "deploy" / "grafana"
DASHBOARDS = GRAFANA / "dashboards"

WRITE = """
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import write_dashboards

write_dashboards.HERE = Path(sys.argv[2])
write_dashboards.main()
"""


def dashboards() -> list[Any]:
    """Every committed dashboard."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DASHBOARDS.iterdir())]


def written_again(directory: Path) -> dict[str, str]:
    """What the script writes now, by the name of the file."""
    command = [sys.executable, "-B", "-c", WRITE, str(GRAFANA), str(directory)]
    subprocess.run(command, check=True, timeout=60)
    return {path.name: path.read_text(encoding="utf-8") for path in directory.iterdir()}


def queries(dashboard: Any) -> Iterator[tuple[str, str, str]]:
    """Title, source and expression of each query of a dashboard, annotations included."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], _source(target), target["expr"]
    for one in dashboard["annotations"]["list"]:
        yield one["name"], _source(one), one["expr"]


def filled_in(expression: str, variables: Mapping[str, str]) -> str:
    """An expression with a value for each variable, as Grafana sends it."""
    for name, value in variables.items():
        expression = expression.replace(f"${name}", value)
    return expression


def _source(of: Any) -> str:
    return str(of["datasource"]["uid"]).strip("${}")
