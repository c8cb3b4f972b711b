"""Writes `docs/reference/` from the command line, the settings and the JSON shapes themselves.

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

from forecaster.json_shapes import ANSWERS, Shape
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

JSON_HEAD = """\
# JSON

`--output json` prints one JSON object on stdout; progress and warnings stay on stderr. Fields may
be added in any version. None changes its name, type or meaning without a line in the
[changelog](../../CHANGELOG.md).

A quantile level is written as text: `"0.5"`, `"0.9"`. Times in seconds are Unix time, UTC, or count
from the beginning of a trace that has no dates. `null` says 'not known'; it never stands for zero.
"""


def settings_page() -> str:
    """All groups of settings, a table each."""
    return "\n".join([SETTINGS_HEAD, *_groups(Settings, "")])


def json_page() -> str:
    """All answers, and the shapes inside them, a table each."""
    shapes = list(dict.fromkeys(found for answer in ANSWERS for found in _within(answer)))
    return "\n".join([JSON_HEAD, *(_shape(shape) for shape in shapes)])


def cli_page() -> str:
    """All commands, as the command line describes itself."""
    command = [sys.executable, "-m", "typer", "forecaster.cli", "utils", "docs"]
    command += ["--name", "tidecast", "--title", "Command line"]
    written = subprocess.run(  # noqa: S603 - every word of it is our own
        command, check=True, capture_output=True, text=True
    )
    return written.stdout.rstrip() + "\n"


PAGES = {"settings.md": settings_page, "json.md": json_page, "cli.md": cli_page}


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
            inner += [_items(f"{prefix}{name}", item) for item in items]
    yield "\n".join([*lines, ""])
    yield from inner


def _items(key: str, model: type[BaseModel]) -> str:
    lines = [f"## {key}, each entry", "", _first_line(model), ""]
    lines += ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{name}` | {_type_text(field.annotation)} | {_default(field)} | {_text(field)} |"
        for name, field in model.model_fields.items()
    ]
    return "\n".join([*lines, ""])


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
