"""The few shapes of PromQL that our questions are built of.

No text from outside may reach an expression but through `quoted`; PromQL that a user writes
himself is taken whole, as an expression of its own.
"""

from collections.abc import Sequence
from textwrap import indent

PEAK_RESOLUTION_SECONDS = 60


def quoted(value: str) -> str:
    r"""A value as a PromQL string: neither `"` nor `\` nor a line break can end or change it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'


def labelled(promql: str, label: str, value: str) -> str:
    """The same samples with one label more, of a fixed value."""
    # In a replacement `$` would stand for a group.
    return f'label_replace({promql}, "{label}", {quoted(value.replace("$", "$$"))}, "", "")'


def copied(promql: str, label: str, source: str) -> str:
    """The same samples with the value of one label under another name too."""
    return f'label_replace({promql}, "{label}", "$1", "{source}", "(.+)")'


def first_of(expressions: Sequence[str], matched_on: str = "") -> str:
    """Samples of the first expression that has any for these labels (all labels if none given)."""
    if len(expressions) == 1:
        return expressions[0]
    matching = f" on ({matched_on})" if matched_on else ""
    return "(\n" + f"\nor{matching}\n".join(indent(one, "  ") for one in expressions) + "\n)"


def without(promql: str, others: Sequence[str], matched_on: str) -> str:
    """Samples for whose labels none of the others has any."""
    return "".join([promql, *(f"\nunless on ({matched_on}) ({one})" for one in others)])


def counted_by_value(promql: str, label: str) -> str:
    """How many samples of each GPU type have each value; the label says the value."""
    return f'count_values by (gpu_type) ("{label}", {promql})'


def highest_in_step(promql: str, step_seconds: int) -> str:
    """The highest value of an expression inside the step, its opening and its close included.

    The range is a second longer than the step, so that left-open ranges (Prometheus 3) hold the
    same instants as closed ones (2).
    """
    resolution = min(step_seconds, PEAK_RESOLUTION_SECONDS)
    return f"max_over_time(({promql})[{step_seconds + 1}s:{resolution}s])"


def newest_sample_timestamp(selector: str) -> str:
    """When the newest sample of some series was taken; no answer where look-back finds none."""
    return f"max(timestamp({selector}))"


def sampled_within(selector: str, seconds: int) -> str:
    """How many of some series have a sample no older than this; no answer where none has.

    Look-back alone shows samples of 300 s, a range alone those of a target known to be gone.
    """
    # A millisecond more, because left-open ranges (Prometheus 3) lack a sample just so old.
    return f"count({selector} and count_over_time({selector}[{seconds * 1000 + 1}ms]))"
