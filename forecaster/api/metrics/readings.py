"""Readings: one value of one metric, and how those of several come together."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """One value of one metric.

    Attributes:
        name: the metric's.
        value: a finite number.
        labels: the values of its labels, in the table's order.
    """

    name: str
    value: float
    labels: tuple[str, ...] = ()


def known(name: str, value: float | None, *labels: str) -> Iterator[Reading]:
    """A reading, or none where its value is not known."""
    if value is not None and math.isfinite(value):
        yield Reading(name, float(value), labels)


def one_of(name: str, chosen: str, all_of_them: Sequence[str], *labels: str) -> Iterator[Reading]:
    """1 for the one that holds, and 0 for each of the others."""
    for one in all_of_them:
        yield Reading(name, float(one == chosen), (*labels, one))


def short(seconds: int) -> str:
    """A length of time in a label: `30m`, or `90s` where it is no whole minutes."""
    return f"{seconds}s" if seconds % 60 else f"{seconds // 60}m"
