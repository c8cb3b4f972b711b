"""What an expression comes to at given moments.

It reads series and changes none. How much it may hold at once is bounded before anything is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from features.series import FloatArray
from forecaster.api.prom.errors import NotAnswered
from forecaster.api.prom.expressions import Aggregate, Expression, Number, Operation, Selector
from forecaster.api.prom.matchers import NAME, Labels, Matcher
from forecaster.api.prom.series import Moments, Series

MOST_VALUES = 1_000_000
"""Series times moments of a selector: some 25 MB of answer."""

Find = Callable[[Sequence[Matcher], float, float], Sequence[Series]]
"""The series that match, with what they need of [since, until], in seconds."""

_TOGETHER: Mapping[Operation, np.ufunc] = {
    Operation.SUM: np.add,
    Operation.MAX: np.fmax,
    Operation.MIN: np.fmin,
}


@dataclass(frozen=True, eq=False)
class Evaluated:
    """One series of an answer.

    Attributes:
        labels: its labels.
        values: at each moment, NaN for none; shape (moments,).
    """

    labels: Labels
    values: FloatArray


def evaluated(expression: Expression, moments: Moments, find: Find) -> list[Evaluated]:
    """What an expression comes to; a plain number is one series without labels.

    Args:
        expression: what is asked.
        moments: Unix times in seconds, at least one.
        find: gives the series.

    Raises:
        NotAnswered: too many series at too many moments.
    """
    if isinstance(expression, Number):
        return [Evaluated({}, np.full(len(moments), expression.value))]
    if isinstance(expression, Aggregate):
        return _aggregated(expression, evaluated(expression.inner, moments, find))
    return _selected(expression, moments, find)


def _selected(selector: Selector, moments: Moments, find: Find) -> list[Evaluated]:
    moments = moments - selector.offset_seconds
    found = find(selector.matchers, float(moments[0]), float(moments[-1]))
    if len(found) * len(moments) > MOST_VALUES:
        raise NotAnswered(
            f"{len(found)} series at {len(moments)} moments are more than {MOST_VALUES} values; "
            "ask for fewer pools or bands, a shorter time, or a longer step"
        )
    return [Evaluated(one.labels, one.at(moments)) for one in found]


def _aggregated(aggregate: Aggregate, inner: Sequence[Evaluated]) -> list[Evaluated]:
    together = _TOGETHER[aggregate.operation]
    groups: dict[tuple[tuple[str, str], ...], FloatArray] = {}
    for one in inner:
        key = tuple(sorted(_grouped(one.labels, aggregate).items()))
        held = groups.get(key)
        groups[key] = one.values if held is None else _both(held, one.values, together)
    return [Evaluated(dict(key), values) for key, values in groups.items()]


def _grouped(labels: Labels, aggregate: Aggregate) -> Labels:
    """The labels that a series keeps in its group; `without` drops the name too."""
    if aggregate.are_kept:
        return {name: value for name, value in labels.items() if name in aggregate.labels}
    gone = aggregate.labels | {NAME}
    return {name: value for name, value in labels.items() if name not in gone}


def _both(held: FloatArray, more: FloatArray, together: np.ufunc) -> FloatArray:
    """Two series as one; where one has no value the other's counts, as in Prometheus."""
    both: FloatArray = together(held, more)
    return np.where(np.isnan(held), more, np.where(np.isnan(more), held, both))
