"""Writes `docs/reference/` from command line, API, settings, policy and JSON shapes themselves.

Run `python docs/write_reference.py` after changing any of them; a test fails while a page is old.
"""

import subprocess
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from forecaster.api.description import TAGS, DescribedApp, operations, scope_of
from forecaster.api.metrics.table import SECTIONS, Kind, Metric
from forecaster.api.prom.catalogue import SERIES, Named
from forecaster.api.routes import ROUTERS
from forecaster.json_shapes import ANSWERS, Shape
from forecaster.policy import PolicyDocument
from forecaster.settings import Settings

REFERENCE = Path(__file__).parent / "reference"

SETTINGS_HEAD = """\
# Settings

One YAML file holds all settings, and every one has a default: without a file everything works.
`tidecast.yaml` of the working directory is read if it is there; `--config FILE` or the environment
variable `TIDECAST_CONFIG` names another one. An example is
[examples/tidecast.yaml](../../examples/tidecast.yaml).

An environment variable stands above the file. Its name is `TIDECAST_`, the group, two underscores
and the key: `TIDECAST_PROMETHEUS__URL`, `TIDECAST_HISTORY__KEEP_DAYS`; lists and mappings are
written as JSON. Keep tokens and passwords there rather than in the file.

A key that is not listed here is refused, and all problems are reported at once, a line each.
"""

POLICY_HEAD = """\
# Policy

A policy says what nodes are planned by. It is one YAML file, of which only `pools` must be given;
an example is [examples/policy.yaml](../../examples/policy.yaml), and
[how to change a policy](../how-to/policies.md) says how it comes into force.

A key that is not listed here is refused, so is one that is written twice, and values must have the
type that stands here: `'3'` is no number. All problems are reported at once, a line each, and a
policy with any of them changes nothing.
"""

JSON_HEAD = """\
# JSON

`--output json` prints one JSON object on stdout; progress and warnings stay on stderr. Fields may
be added in any version. None changes its name, type or meaning without a line in the
[changelog](../../CHANGELOG.md).

A quantile level is written as text: `"0.5"`, `"0.9"`. Times in seconds are Unix time, UTC, or count
from the beginning of a trace that has no dates. `null` says 'not known'; it never stands for zero.
"""


API_HEAD = """\
# API

`tidecast serve` answers under `/v1`; [how to use the API](../how-to/api.md) has examples, and the
service gives all of this as OpenAPI, with every field and every problem, at `/v1/openapi.json`. A
token needs the scope that stands here. A pool's name may be written with its slash or with `%2F`.
"""

METRICS_HEAD = """\
# Metrics

`GET /metrics` says how Tidecast is and what it knows of each pool now; `GET /prom/api/v1/...`
answers as a Prometheus does, the future included. [How to put both into
Grafana](../how-to/grafana.md).

A value that is not known is not there; a zero always means zero. A forecast or a plan that is older
than 15 minutes says nothing of now and is left out, and its age says so. Bands are quantiles: `p90`
is what demand stays below nine times in ten. Process metrics of the Python client stand beside
these.
"""

SERIES_HEAD = """\
## Series of `/prom`

The history goes back as far as it is kept, forecasts 35 days, and both they and announcements reach
ahead. A step stands at the moment at which it closes.

| name | labels | meaning |
| --- | --- | --- |
"""


def settings_page() -> str:
    """All groups of settings, a table each."""
    return "\n".join([SETTINGS_HEAD, *_groups(Settings, "")])


def policy_page() -> str:
    """All parts of a policy, a table each."""
    return "\n".join([POLICY_HEAD, *_groups(PolicyDocument, "")])


def json_page() -> str:
    """All answers, and the shapes inside them, a table each."""
    shapes = list(dict.fromkeys(found for answer in ANSWERS for found in _within(answer)))
    return "\n".join([JSON_HEAD, *(_shape(shape) for shape in shapes)])


def api_page() -> str:
    """All operations of the API, a table for each tag."""
    app = DescribedApp(title="Tidecast")
    for router in ROUTERS:
        app.include_router(router)
    tables: dict[str, list[str]] = {name: [] for name in TAGS}
    for path, method, operation in operations(app.openapi()):
        for tag in operation.get("tags", []):
            tables.setdefault(tag, []).append(
                f"| `{method} {path}` | {scope_of(operation) or 'none'} | {operation['summary']} |"
            )
    head = ["| operation | scope | what it is |", "| --- | --- | --- |"]
    parts = [
        "\n".join([f"## {tag}", "", TAGS.get(tag, ""), "", *head, *rows, ""])
        for tag, rows in tables.items()
        if rows
    ]
    return "\n".join([API_HEAD, *parts])


def metrics_page() -> str:
    """All metrics, a table for each section, and the series of `/prom`."""
    sections = [_metrics(title, metrics) for title, metrics in SECTIONS.items()]
    series = "".join(_series(one) for one in SERIES)
    return "\n".join([METRICS_HEAD, *sections, SERIES_HEAD + series])


def cli_page() -> str:
    """All commands, as the command line describes itself."""
    command = [sys.executable, "-m", "typer", "forecaster.cli", "utils", "docs"]
    command += ["--name", "tidecast", "--title", "Command line"]
    written = subprocess.run(  # noqa: S603 - every word of it is our own
        command, check=True, capture_output=True, text=True
    )
    return written.stdout.rstrip() + "\n"


PAGES = {
    "settings.md": settings_page,
    "policy.md": policy_page,
    "json.md": json_page,
    "api.md": api_page,
    "metrics.md": metrics_page,
    "cli.md": cli_page,
}


def _metrics(title: str, metrics: tuple[Metric, ...]) -> str:
    lines = [f"## {title}", "", "| name | labels | meaning |", "| --- | --- | --- |"]
    for metric in metrics:
        kind = " A counter." if metric.kind is Kind.COUNTER else ""
        lines.append(f"| `{metric.name}` | {_labels(metric.labels)} | {metric.help}{kind} |")
    return "\n".join([*lines, ""])


def _series(series: Named) -> str:
    return f"| `{series.name}` | {_labels(series.labels)} | {series.help} |\n"


def _labels(labels: tuple[str, ...]) -> str:
    return ", ".join(f"`{label}`" for label in labels) or "none"


def _groups(model: type[BaseModel], prefix: str) -> Iterator[str]:
    lines = [f"## {prefix.rstrip('.') or 'At the top'}", "", _first_line(model), ""]
    lines += ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    inner: list[str] = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            inner += _groups(field.annotation, f"{prefix}{name}.")
            continue
        lines.append(
            f"| `{prefix}{name}` | {_type_text(field.annotation)} | {_default(field)} | "
            f"{_text(field)} |"
        )
        if items := _models_in(field.annotation):
            inner += [
                part for item in items for part in _items(f"{prefix}{name}, each entry", item)
            ]
    yield "\n".join([*lines, ""])
    yield from inner


def _items(title: str, model: type[BaseModel]) -> Iterator[str]:
    lines = [f"## {title}", "", _first_line(model), ""]
    lines += ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{name}` | {_type_text(field.annotation)} | {_default(field)} | {_text(field)} |"
        for name, field in model.model_fields.items()
    ]
    yield "\n".join([*lines, ""])
    for name, field in model.model_fields.items():
        for inner in _models_in(field.annotation):
            entry = "" if inner is field.annotation else ", each entry"
            yield from _items(f"{title.removesuffix(', each entry')}.{name}{entry}", inner)


def _shape(shape: type[Shape]) -> str:
    lines = [f"## {shape.__name__}", "", _first_line(shape), ""]
    lines += ["| field | type | meaning |", "| --- | --- | --- |"]
    lines += [
        f"| `{name}` | {_type_text(field.annotation)} | {_text(field)} |"
        for name, field in shape.model_fields.items()
    ]
    return "\n".join([*lines, ""])


def _within(shape: type[Shape]) -> Iterator[type[Shape]]:
    yield shape
    for field in shape.model_fields.values():
        for inner in _models_in(field.annotation):
            if issubclass(inner, Shape):
                yield from _within(inner)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for inside in get_args(annotation) for found in _models_in(inside)]


def _type_text(annotation: Any) -> str:
    if inside := get_args(annotation):
        return _generic_text(get_origin(annotation), inside)
    if issubclass(annotation, StrEnum):
        return " or ".join(f"`{one.value}`" for one in annotation)
    if issubclass(annotation, Shape):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    if issubclass(annotation, BaseModel):
        return "groups of keys"
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    names |= {NoneType: "null", SecretStr: "text"}
    return names.get(annotation, annotation.__name__.lower())


def _generic_text(origin: Any, inside: tuple[Any, ...]) -> str:
    if origin is Literal:
        return " or ".join(f"`{str(value).lower()}`" for value in inside)
    if origin in {list, tuple}:
        return f"list of {_type_text(inside[0])}"
    if origin is dict:
        return f"mapping of {_type_text(inside[0])} to {_type_text(inside[1])}"
    return " or ".join(_type_text(one) for one in inside)


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        return "must be given"
    if isinstance(value, SecretStr) or value is None or value in ("", (), {}):
        return "none"
    if isinstance(value, BaseModel):
        return "as below"
    if isinstance(value, tuple):
        return "<br>".join(_entry(one) for one in value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _entry(value: object) -> str:
    if isinstance(value, BaseModel):
        return " = ".join(
            f"`{one:.4g}`" if isinstance(one, float) else f"`{one}`"
            for one in value.model_dump().values()
        ).replace("|", "\\|")
    return f"`{value}`"


def _text(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def _first_line(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]


def main() -> None:
    """Write every page."""
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
