"""What is wrong with something that people wrote, a line each: where, what, what was meant.

Settings and policies complain alike. A value that may be a secret is never repeated.
"""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import yaml
from pydantic import BaseModel
from pydantic_core import ErrorDetails

LONGEST_VALUE = 80
"""Characters of a value that a complaint repeats."""


@dataclass(frozen=True)
class KnownKeys:
    """The keys that may be written in one kind of document.

    Attributes:
        model: its groups.
        page: the reference page that has all of them.
        secrets: keys whose values are never repeated, not even in a complaint about them.
    """

    model: type[BaseModel]
    page: str
    secrets: frozenset[str] = frozenset()

    def problem(self, detail: ErrorDetails, where: str) -> str:
        """One of pydantic's complaints as a line.

        Args:
            detail: the complaint.
            where: the file or variable that it is about.
        """
        place = [_printable(str(part)) for part in detail["loc"]]
        key = ".".join(place)
        hidden = self.secrets.intersection({key, *place})
        given = "" if hidden else f" is {_shortened(detail['input'])}"
        if detail["type"] == "extra_forbidden":
            return f"{where}: unknown key '{key}'{self.hint(place)}"
        if detail["type"] in {"model_type", "model_attributes_type"}:
            return f"{where}: {key}{given}: it must be a group of keys"
        if detail["type"] == "missing":
            return f"{where}: {key} is missing; {self.page} says what it is"
        message = detail["msg"].removeprefix("Value error, ")
        if not key:
            return f"{where}: {message[0].lower()}{message[1:]}"
        if detail["type"] == "value_error":
            return f"{where}: {key}: {message}"
        return f"{where}: {key}{given}: {message[0].lower()}{message[1:]}"

    def hint(self, place: list[str]) -> str:
        """The known key that was most likely meant: in the same group first, then anywhere."""
        place = [part for part in place if not part.isdigit()]
        keys = list(keys_of(self.model))
        prefix = "".join(f"{part}." for part in place[:-1])
        beside = [key for key in keys if key.startswith(prefix) and "." not in key[len(prefix) :]]
        close = difflib.get_close_matches(".".join(place), beside, n=1, cutoff=0.75)
        close = close or [key for key in keys if key.split(".")[-1] == place[-1]]
        if close:
            return f"; did you mean '{close[0]}'?"
        if not beside:
            return f"; {self.page} has all"
        return f"; known here: {', '.join(key[len(prefix) :] for key in beside)}"


def keys_of(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key as it is written with dots, `prometheus.url`: groups, and the keys of entries."""
    for name, field in model.model_fields.items():
        yield prefix + name
        for group in models_in(field.annotation):
            yield from keys_of(group, f"{prefix}{name}.")


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The groups that a field holds, itself or in its entries."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for inside in get_args(annotation) for found in models_in(inside)]


def yaml_problem(error: yaml.YAMLError) -> str:
    """Why a text is not YAML, and in which line."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 1} is not YAML: {error.problem}"
    return "is not YAML: " + " ".join(str(error).split())


def _printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)[1:-1]


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
