"""The dashboards that are committed are what their script writes, and hang together."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from forecaster.api.metrics.table import METRICS
from forecaster.api.prom.catalogue import SERIES
from tests.fakes.dashboards import DASHBOARDS, dashboards, queries, written_again

GRAFANA = DASHBOARDS.parent
NAME = re.compile(r"\b(?:tidecast_|gpu_)[a-z0-9_:]+")


@pytest.fixture(params=sorted(DASHBOARDS.glob("*.json")), ids=lambda path: path.stem)
def dashboard(request: pytest.FixtureRequest) -> Any:
    return json.loads(request.param.read_text(encoding="utf-8"))


def panels() -> Iterator[tuple[str, Any]]:
    """Every panel with its dashboard's name."""
    for one in dashboards():
        for panel in one["panels"]:
            yield one["uid"], panel


def test_the_committed_files_are_what_the_script_writes(tmp_path: Path) -> None:
    """Run `python deploy/grafana/write_dashboards.py` after changing it."""
    again = written_again(tmp_path)
    assert {path.name for path in DASHBOARDS.iterdir()} == set(again)
    for name, text in again.items():
        assert (DASHBOARDS / name).read_text(encoding="utf-8") == text


def test_a_dashboard_is_found_by_the_name_of_its_file(dashboard: Any) -> None:
    """Its uid is in the addresses that people keep, and fits into them."""
    assert (DASHBOARDS / f"{dashboard['uid']}.json").is_file()
    assert len(dashboard["uid"]) <= 40
    assert "tidecast" in dashboard["tags"]


def test_every_query_asks_one_of_the_two_sources(dashboard: Any) -> None:
    """By its variable, so that the dashboard fits any Grafana."""
    variables = {one["name"] for one in dashboard["templating"]["list"]}
    asked = [target["datasource"]["uid"] for panel in dashboard["panels"]
             for target in panel["targets"]]  # fmt: skip
    asked += [one["datasource"]["uid"] for one in dashboard["annotations"]["list"]]
    assert set(asked) <= {"${tidecast}", "${prometheus}"}
    assert {"tidecast", "prometheus", "pool"} <= variables
    used = set(re.findall(r"\$(\w+)", " ".join(text for _, _, text in queries(dashboard))))
    assert used <= variables


def test_panels_do_not_lie_over_each_other(dashboard: Any) -> None:
    """Each cell of the grid belongs to one panel at most, and ids are given once."""
    cells = [
        (place["x"] + dx, place["y"] + dy)
        for place in (panel["gridPos"] for panel in dashboard["panels"])
        for dx in range(place["w"])
        for dy in range(place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))


def test_names_in_queries_are_names_that_are_served() -> None:
    """A metric that is renamed takes its panels along."""
    for one in dashboards():
        for _, source, expression in queries(one):
            names = set(NAME.findall(re.sub(r"by \([^)]*\)", "", expression)))
            known = {one.name for one in SERIES} if source == "tidecast" else set(METRICS)
            assert names <= known | {"gpu_type"}


def test_bands_are_filled_between_series_that_are_there() -> None:
    """Grafana fills below a series of just that name."""
    filled = []
    for uid, panel in panels():
        legends = {target["legendFormat"] for target in panel["targets"]}
        for override in panel["fieldConfig"]["overrides"]:
            name = override["matcher"]["options"]
            for one in override["properties"]:
                if one["id"] == "custom.fillBelowTo":
                    filled.append(uid)
                    assert {name, one["value"]} <= legends
    assert ["tidecast-forecast"] * 2 == filled


def test_the_forecast_reaches_into_the_future() -> None:
    """Six hours of it, whose past is that of a day."""
    (forecast,) = (one for one in dashboards() if one["uid"] == "tidecast-forecast")
    assert {"from": "now-24h", "to": "now+6h"} == forecast["time"]


def test_the_provisioning_example_is_a_prometheus_source_at_prom() -> None:
    """Grafana's own kind, and nothing of the future is taken from its cache."""
    text = (GRAFANA / "provisioning/datasources/tidecast.yaml").read_text(encoding="utf-8")
    (source,) = yaml.safe_load(text)["datasources"]
    assert "prometheus" == source["type"]
    assert source["url"].endswith("/prom")
    assert source["jsonData"]["incrementalQuerying"] is False
    assert source["secureJsonData"]["httpHeaderValue1"].startswith("Bearer $")
