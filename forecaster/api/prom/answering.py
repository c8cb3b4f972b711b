"""Answers as Prometheus writes them: `[1772323200, "8"]`, gaps left out.

A month of twenty pools is some hundred thousand numbers, so each different number is written once
and the same times serve every series.
"""

import json
from collections.abc import Sequence
from decimal import Decimal
from operator import add
from typing import Any

import numpy as np

from features.series import FloatArray
from forecaster.api.prom.evaluating import Evaluated
from forecaster.api.prom.series import Moments

MILLISECONDS = 1_000


def success(data: Any, warnings: Sequence[str] = ()) -> bytes:
    """An answer of any data that JSON can hold."""
    return _whole(json.dumps(data, separators=(",", ":")), warnings)


def matrix(found: Sequence[Evaluated], moments: Moments, warnings: Sequence[str] = ()) -> bytes:
    """Series over time; those without a value are left out."""
    heads = [f'[{time_text(one)},"' for one in moments.tolist()]
    parts = [text for one in found if (text := _series(one, heads)) is not None]
    return _result("matrix", f"[{','.join(parts)}]", warnings)


def vector(found: Sequence[Evaluated], moment: float, warnings: Sequence[str] = ()) -> bytes:
    """Series at one moment; those without a value are left out."""
    head = f'[{time_text(moment)},"'
    parts = [
        f'{{"metric":{_labels(one)},"value":{head}{value_text(float(one.values[0]))}"]}}'
        for one in found
        if not np.isnan(one.values[0])
    ]
    return _result("vector", f"[{','.join(parts)}]", warnings)


def scalar(value: float, moment: float) -> bytes:
    """A plain number."""
    return _result("scalar", f'[{time_text(moment)},"{value_text(value)}"]')


def time_text(seconds: float) -> str:
    """A time in seconds, with milliseconds where it has any."""
    whole, rest = divmod(round(seconds * MILLISECONDS), MILLISECONDS)
    return f"{whole}.{rest:03d}" if rest else str(whole)


def value_text(value: float) -> str:
    """A number in its shortest form that reads back the same, without an exponent."""
    if value.is_integer():
        return str(int(value))
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = repr(value)
    return format(Decimal(text), "f") if "e" in text else text


def _series(one: Evaluated, heads: list[str]) -> str | None:
    rows = np.flatnonzero(~np.isnan(one.values))
    if not len(rows):
        return None
    if len(rows) < len(heads):
        heads = [heads[row] for row in rows.tolist()]
    values = ",".join(map(add, heads, _tails(one.values[rows])))
    return f'{{"metric":{_labels(one)},"values":[{values}]}}'


def _tails(values: FloatArray) -> list[str]:
    different, which = np.unique(values, return_inverse=True)
    texts = [f'{value_text(value)}"]' for value in different.tolist()]
    tails: list[str] = np.array(texts, dtype=object)[which].tolist()
    return tails


def _labels(one: Evaluated) -> str:
    return json.dumps(dict(sorted(one.labels.items())))


def _result(kind: str, result: str, warnings: Sequence[str] = ()) -> bytes:
    return _whole(f'{{"resultType":"{kind}","result":{result}}}', warnings)


def _whole(data: str, warnings: Sequence[str]) -> bytes:
    told = f',"warnings":{json.dumps(list(warnings))}' if warnings else ""
    return f'{{"status":"success","data":{data}{told}}}'.encode()
