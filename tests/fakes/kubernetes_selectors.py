"""Label and field selectors as the Kubernetes API reads them."""

import re
from collections.abc import Mapping
from typing import Any

TERM = re.compile(
    r"\s*(!?[\w./-]+)\s*(?:(==|=|!=|\bin\b|\bnotin\b)\s*(\([^)]*\)|[^,]*))?\s*(?:,|$)"
)


def labels_match(selector: str, labels: Mapping[str, str]) -> bool:
    """Whether labels fit: equality, `in`, `notin`, presence and absence."""
    for name, operator, text in TERM.findall(selector):
        values = {value.strip() for value in text.strip("()").split(",")}
        if not operator:
            fits = name.removeprefix("!") in labels
            fits = not fits if name.startswith("!") else fits
        elif operator in {"!=", "notin"}:
            fits = labels.get(name) not in values
        else:
            fits = labels.get(name) in values
        if not fits:
            return False
    return True


def fields_match(selector: str, body: Mapping[str, Any]) -> bool:
    """Whether fields fit; one that is not there is an empty text."""
    for name, operator, text in TERM.findall(selector):
        value: Any = body
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        is_equal = str(value or "") == text.strip()
        if is_equal == (operator == "!="):
            return False
    return True
