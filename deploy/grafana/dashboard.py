"""Values that a dashboard is made of, and how Grafana writes them: classic JSON, version 1.

Two data sources stand behind every dashboard, both of Grafana's own Prometheus kind: `tidecast` is
`/prom`, which knows the future, and `prometheus` is the server that scrapes `/metrics`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

SCHEMA_VERSION = 39
WIDTH = 24

Json = dict[str, Any]

TIDECAST, PROMETHEUS = "tidecast", "prometheus"


@dataclass(frozen=True)
class Query:
    """One query of a panel.

    Attributes:
        expression: PromQL.
        legend: how its series are called.
        source: which of the two data sources answers it.
        instant: only its newest value is asked for.
    """

    expression: str
    legend: str
    source: str = PROMETHEUS
    instant: bool = False


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        title: what it shows.
        queries: where it comes from.
        unit: Grafana's name of the unit.
        kind: `timeseries`, `stat`, `state-timeline` or `bargauge`.
        text: what a reader should know.
        width: of 24 columns.
        height: in rows.
        overrides: what is different for some of its series.
        defaults: what else holds for all of them.
    """

    title: str
    queries: Sequence[Query]
    unit: str = "short"
    kind: str = "timeseries"
    text: str = ""
    width: int = 12
    height: int = 8
    overrides: Sequence[Json] = ()
    defaults: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Dashboard:
    """One dashboard.

    Attributes:
        uid: its name in addresses, and the file's.
        title: what it is called.
        panels: in reading order.
        since: where its time begins.
        until: where its time ends.
        variables: besides the two data sources.
    """

    uid: str
    title: str
    panels: Sequence[Panel]
    since: str = "now-24h"
    until: str = "now"
    variables: Sequence[Json] = ()


def override(name: str, **properties: object) -> Json:
    """What is different for the series of this name; `__` in a property stands for a dot."""
    return {
        "matcher": {"id": "byName", "options": name},
        "properties": [
            {"id": key.replace("__", "."), "value": value} for key, value in properties.items()
        ],
    }


def of_pool(name: str, legend: str, more: str = "") -> Query:
    """A metric of the pool that is chosen."""
    return Query(f'{name}{{pool="$pool"{more}}}', legend)


def source(name: str) -> Json:
    """A data source, by the variable that stands for it."""
    return {"type": "prometheus", "uid": f"${{{name}}}"}


MIXED = {"type": "datasource", "uid": "-- Mixed --"}


def written(dashboard: Dashboard) -> Json:
    """A dashboard as Grafana reads it."""
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "tags": ["tidecast"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "1m",
        "timezone": "browser",
        "time": {"from": dashboard.since, "to": dashboard.until},
        "templating": {"list": [*_sources(), _pool(), *dashboard.variables]},
        "annotations": {"list": _annotations()},
        "links": [
            {
                "type": "dashboards",
                "tags": ["tidecast"],
                "title": "Tidecast",
                "asDropdown": True,
                "includeVars": True,
                "keepTime": False,
            }
        ],
        "panels": _panels(dashboard.panels),
    }


def _sources() -> list[Json]:
    labels = {TIDECAST: "Tidecast (/prom)", PROMETHEUS: "Prometheus that scrapes Tidecast"}
    patterns = {TIDECAST: "/tidecast/i", PROMETHEUS: "/^(?!.*tidecast).*$/i"}
    return [
        {
            "name": name,
            "label": labels[name],
            "type": "datasource",
            "query": "prometheus",
            "regex": patterns[name],
            "refresh": 1,
        }
        for name in labels
    ]


def _pool() -> Json:
    query = "label_values(gpu_demand:actual, pool)"
    return {
        "name": "pool",
        "label": "Pool",
        "type": "query",
        "datasource": source(TIDECAST),
        "definition": query,
        "query": {"query": query, "refId": "pool"},
        "refresh": 2,
        "sort": 1,
    }


def _annotations() -> list[Json]:
    return [
        {
            "name": "Announcements",
            "datasource": source(TIDECAST),
            "enable": True,
            "iconColor": "purple",
            "expr": 'gpu_announcement:gpus{pool="$pool"}',
            "step": "5m",
            "titleFormat": "Announced ({{kind}})",
            "textFormat": "{{pool}}",
        },
        {
            "name": "Decisions",
            "datasource": source(PROMETHEUS),
            "enable": True,
            "iconColor": "blue",
            "expr": "sum by (pool, mode, reason) "
            '(increase(tidecast_decisions_total{pool="$pool"}[2m])) > 0',
            "step": "1m",
            "titleFormat": "{{mode}}: {{reason}}",
            "textFormat": "{{pool}}",
        },
    ]


def _panels(panels: Sequence[Panel]) -> list[Json]:
    """Panels from left to right, and a new row where one does not fit any more."""
    found: list[Json] = []
    column = row = 0
    for number, panel in enumerate(panels, start=1):
        if column + panel.width > WIDTH:
            column, row = 0, max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in found)
        place = {"x": column, "y": row, "w": panel.width, "h": panel.height}
        found.append(_panel(panel, number, place))
        column += panel.width
    return found


def _panel(panel: Panel, number: int, place: Json) -> Json:
    sources = {query.source for query in panel.queries}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.text,
        "gridPos": place,
        "datasource": source(sources.pop()) if len(sources) == 1 else MIXED,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, **panel.defaults},
            "overrides": list(panel.overrides),
        },
        "options": {},
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": source(query.source),
                "editorMode": "code",
                "expr": query.expression,
                "legendFormat": query.legend,
                "instant": query.instant,
                "range": not query.instant,
            }
            for index, query in enumerate(panel.queries)
        ],
    }


def text_of(dashboard: Dashboard) -> str:
    """A dashboard as its file has it."""
    return json.dumps(written(dashboard), indent=2) + "\n"
