"""From file and environment to settings, or to a line for every problem in them."""

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from features.errors import BadInput
from forecaster.settings.model import ENVIRONMENT_PREFIX, GROUP_SEPARATOR, Settings

DEFAULT_FILE = Path("tidecast.yaml")
SECRETS = {"token", "password", "headers"}
"""Keys whose values are never repeated, not even in a complaint about them."""


def load_settings(path: Path | None = None) -> Settings:
    """Read the settings file and the environment.

    Args:
        path: the file; when None, `tidecast.yaml` of the working directory if it is there.

    Raises:
        BadInput: the file cannot be read, or anything in it or in the environment is wrong; one
            line for each problem.
    """
    file = path or DEFAULT_FILE
    content = _read(file) if path or file.is_file() else {}
    problems = list(_unknown_groups())
    try:
        settings = Settings(**content)
    except ValidationError as error:
        problems += [_problem_line(detail, file) for detail in error.errors()]
    except SettingsError as error:
        problems.append(f"environment: {error}; lists and mappings are written as JSON there")
    if problems:
        raise BadInput("\n".join(problems))
    return settings


def settings_keys(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Every key as it is written with dots, `prometheus.url`, groups included."""
    for name, field in model.model_fields.items():
        yield prefix + name
        if group := group_of(field.annotation):
            yield from settings_keys(group, f"{prefix}{name}.")


def group_of(annotation: object) -> type[BaseModel] | None:
    """The group that a field holds, if it holds one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _read(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{file}: no such settings file; check --config") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read as a text file ({error})") from None
    except yaml.YAMLError as error:
        raise BadInput(f"{file}: {_yaml_problem(error)}") from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise BadInput(f"{file}: must hold 'key: value' lines; docs/reference/settings.md has all")
    return content


def _yaml_problem(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 1} is not YAML: {error.problem}"
    return "is not YAML: " + " ".join(str(error).split())


def _unknown_groups() -> Iterator[str]:
    """Variables that look like ours and are not.

    A name without `__` is left alone: Kubernetes sets TIDECAST_PORT and the like in every pod
    beside a service of that name.
    """
    for variable in sorted(os.environ):
        name = variable.removeprefix(ENVIRONMENT_PREFIX)
        if name == variable or GROUP_SEPARATOR not in name:
            continue
        group = name.split(GROUP_SEPARATOR)[0].lower()
        if group not in Settings.model_fields:
            yield f"environment variable {variable}: unknown key '{group}'{_hint([group])}"


def _problem_line(detail: ErrorDetails, file: Path) -> str:
    place = [str(part) for part in detail["loc"]]
    variable = ENVIRONMENT_PREFIX + GROUP_SEPARATOR.join(place).upper()
    where = f"environment variable {variable}" if variable in os.environ else f"{file}"
    key = ".".join(place)
    given = "" if SECRETS.intersection(place) else f" is {detail['input']!r}"
    if detail["type"] == "extra_forbidden":
        return f"{where}: unknown key '{key}'{_hint(place)}"
    if detail["type"] in {"model_type", "model_attributes_type"}:
        return f"{where}: {key}{given}: it must be a group of keys"
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "value_error":
        return f"{where}: {key}: {message}"
    return f"{where}: {key}{given}: {message[0].lower()}{message[1:]}"


def _hint(place: list[str]) -> str:
    """The known key that was most likely meant: in the same group first, then anywhere."""
    keys = list(settings_keys())
    prefix = "".join(f"{part}." for part in place[:-1])
    beside = [key for key in keys if key.startswith(prefix) and "." not in key[len(prefix) :]]
    close = difflib.get_close_matches(".".join(place), beside, n=1, cutoff=0.75)
    close = close or [key for key in keys if key.split(".")[-1] == place[-1]]
    if close:
        return f"; did you mean '{close[0]}'?"
    if not beside:
        return "; docs/reference/settings.md has all"
    return f"; known here: {', '.join(key[len(prefix) :] for key in beside)}"
