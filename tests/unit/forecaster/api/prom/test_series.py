"""What holds at a moment, against a loop that looks at one sample after another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forecaster.api.prom.series import LOOK_BACK_SECONDS, Intervals, Samples

STEP = 60
TIMES = st.lists(st.integers(0, 40), unique=True).map(sorted)


def naive_at(samples: list[tuple[float, float]], step: int, moment: float) -> float:
    """The newest sample at or before a moment, if it is not too old."""
    newest = [(at, value) for at, value in samples if at <= moment]
    if not newest:
        return np.nan
    at, value = newest[-1]
    return value if moment - at < max(LOOK_BACK_SECONDS, step) else np.nan


@given(TIMES, st.integers(0, 2**31), st.sampled_from([60, 900]))
def test_the_newest_value_holds_until_it_is_too_old(steps: list[int], seed: int, step: int) -> None:
    """A gap that is known ends what was before it."""
    random = np.random.default_rng(seed)
    times = np.array(steps, dtype=np.float64) * step
    values = np.where(random.random(len(times)) < 0.3, np.nan, random.integers(0, 9, len(times)))
    moments = step / 2 * np.sort(random.integers(-2, 90, 20))
    found = Samples(times, values, step).at(moments)
    pairs = list(zip(times.tolist(), values.tolist(), strict=True))
    expected = [naive_at(pairs, step, moment) for moment in moments.tolist()]
    np.testing.assert_array_equal(expected, found)


def test_a_value_of_just_the_look_back_is_gone() -> None:
    """As in Prometheus 3, whose ranges are open on the left."""
    samples = Samples(np.array([0.0]), np.array([7.0]), STEP)
    np.testing.assert_array_equal([7.0, np.nan], samples.at(np.array([299.0, 300.0])))


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(1, 9)), max_size=6),
    st.sampled_from([(np.add, sum), (np.fmax, max)]),
)
def test_stretches_that_overlap_are_put_together(stretches: list, together: tuple) -> None:
    """At each moment all that hold count, and nothing holds at its own end."""
    whole = [(float(min(a, b)), float(max(a, b)), float(value)) for a, b, value in stretches]
    moments = np.arange(0.0, 55.0)
    expected = []
    for moment in moments.tolist():
        holding = [value for begin, end, value in whole if begin <= moment < end]
        expected.append(together[1](holding) if holding else np.nan)
    np.testing.assert_array_equal(expected, Intervals(tuple(whole), together[0]).at(moments))
