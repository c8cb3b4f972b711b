"""From file and environment to settings, or to a line for every problem in them."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from features.errors import BadInput
from forecaster.settings.model import ENVIRONMENT_PREFIX, GROUP_SEPARATOR, Settings
from forecaster.settings.problems import KnownKeys, yaml_problem

DEFAULT_FILE = Path("tidecast.yaml")
KEYS = KnownKeys(
    Settings,
    page="docs/reference/settings.md",
    secrets=frozenset({"token", "password", "headers", "database.url", "calendars"}),
)


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


def _read(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{file}: no such settings file; check --config") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read as a text file ({error})") from None
    except yaml.YAMLError as error:
        raise BadInput(f"{file}: {yaml_problem(error)}") from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise BadInput(f"{file}: must hold 'key: value' lines; {KEYS.page} has all")
    return content


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
            yield f"environment variable {variable}: unknown key '{group}'{KEYS.hint([group])}"


def _problem_line(detail: ErrorDetails, file: Path) -> str:
    place = [str(part) for part in detail["loc"]]
    variable = ENVIRONMENT_PREFIX + GROUP_SEPARATOR.join(place).upper()
    where = f"environment variable {variable}" if variable in os.environ else f"{file}"
    return KEYS.problem(detail, where)
