"""The history store: what it keeps, what it asks for, and what it refuses."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import BadInput, SourceUnavailable
from features.pool import Pool, Shape
from features.series import COLUMNS, DemandSeries
from forecaster.history import HistoryStore, PoolHoldings
from forecaster.history.merging import joined, merged
from forecaster.history.partitions import PARTITION_SECONDS, key_of
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE, tidal_series
from tests.fakes.sources import RecordedSource

DAY = 86_400
HOUR = 3_600
NOW = MONDAY + 10 * DAY
STEP = 300


def levels(
    *demand: float, pool: Pool = WHOLE, start: int = MONDAY, **columns: object
) -> DemandSeries:
    return DemandSeries(pool, start, STEP, np.array(demand, dtype=float), **columns)  # type: ignore[arg-type]  # columns by name


def assert_same(expected: DemandSeries, actual: DemandSeries) -> None:
    assert expected.pool == actual.pool
    pd.testing.assert_frame_equal(expected.to_frame(), actual.to_frame())


@pytest.fixture
def store(tmp_path: Path) -> HistoryStore:
    return HistoryStore(tmp_path / "data" / "history")


def test_what_is_imported_is_given_out_again(store: HistoryStore) -> None:
    """Every column of every pool comes back as it went in, across partitions."""
    series = [tidal_series(pool, days=60, seed=7) for pool in (WHOLE, FRAGMENT)]
    store.import_series(series)
    assert (FRAGMENT, WHOLE) == store.pools()
    for expected, actual in zip(reversed(series), store.series(), strict=True):
        assert_same(expected, actual)


def test_a_store_that_was_never_written_to_is_empty(store: HistoryStore) -> None:
    """Reading makes nothing and finds nothing."""
    assert () == store.pools()
    assert [] == store.series()
    assert () == store.describe().pools
    assert not store.directory.exists()


@pytest.mark.parametrize(
    "gpu_type",
    [
        "../../../etc/passwd",
        "a/b",
        '\'; rm -rf "$HOME"\n',
        "ü-🙂",
        ".",
        "x" * 65_536,
        "CON",
        "\ud800",
    ],
)
def test_hostile_names_stay_names(store: HistoryStore, gpu_type: str) -> None:
    """Whatever a label holds is kept as it is, and its file stays inside the store."""
    series = levels(1, 2, pool=Pool(gpu_type, Shape.FRAGMENT))
    store.import_series([series])
    assert_same(series, store.series([series.pool])[0])
    assert {store.directory} == {path.parent for path in store.directory.rglob("*.parquet")}
    assert [] == [path for path in store.directory.parent.rglob("*") if len(path.name) > 100]


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=5, unique=True))
def test_different_pools_never_share_a_file(names: list[str]) -> None:
    """Names that look alike once made harmless have different files."""
    keys = {key_of(Pool(name, shape)) for name in names for shape in Shape}
    assert len(names) * len(Shape) == len(keys)
    assert all(key.isascii() and "/" not in key for key in keys)


def test_a_gap_in_newer_history_takes_nothing_away(store: HistoryStore) -> None:
    """What was known stays known; what is known anew counts."""
    nan = np.nan
    store.import_series([levels(1, nan, 3, 4, running_gpus=np.array([1.0, nan, 3, nan]))])
    store.import_series([levels(nan, 2, nan, 40, 50, running_gpus=np.array([nan, 2.0, 9, nan, 5]))])
    (kept,) = store.series()
    np.testing.assert_equal([1, 2, 3, 40, 50], kept.demand_gpus)
    np.testing.assert_equal([1, 2, 9, nan, 5], kept.running_gpus)


def test_a_step_is_capped_as_the_latest_look_at_it_says(store: HistoryStore) -> None:
    """A later look that did not see the step does not change the mark."""
    store.import_series([levels(1, 2, 3, capped=np.array([True, True, False]))])
    store.import_series([levels(1, np.nan, 3, capped=np.array([False, False, True]))])
    assert [False, True, True] == store.series()[0].capped.tolist()


@given(st.data())
def test_merging_keeps_what_is_known_and_prefers_the_newer(data: st.DataObject) -> None:
    """For any two series, each step is the newer value, else the older, else unknown."""
    value = st.one_of(st.just(np.nan), st.integers(0, 9).map(float))
    old, new = (
        levels(*data.draw(st.lists(value, min_size=1, max_size=8)), start=MONDAY + first * STEP)
        for first in (0, data.draw(st.integers(-9, 9)))
    )
    both = merged(old, new)
    expected = {
        int(time): demand
        for series in (old, new)
        for time, demand in zip(series.times_seconds, series.demand_gpus, strict=True)
        if not np.isnan(demand)
    }
    known = both.observed
    actual = dict(zip(both.times_seconds[known].tolist(), both.demand_gpus[known], strict=True))
    assert expected == actual
    assert min(old.start_seconds, new.start_seconds) == both.start_seconds
    assert max(old.end_seconds, new.end_seconds) == both.end_seconds


def test_parts_are_joined_with_gaps_between() -> None:
    """Time of which there is no part stays unknown."""
    whole = joined([levels(1, 2), levels(5, start=MONDAY + 4 * STEP)])
    np.testing.assert_equal([1, 2, np.nan, np.nan, 5], whole.demand_gpus)


def test_a_later_series_of_a_pool_lies_over_an_earlier_one(store: HistoryStore) -> None:
    """One import may bring a pool in several pieces."""
    store.import_series([levels(1, 2), levels(3, start=MONDAY + 2 * STEP), levels(7)])
    assert [7, 2, 3] == store.series()[0].demand_gpus.tolist()


def test_a_second_step_for_a_pool_is_refused(store: HistoryStore) -> None:
    """Minutes and five minutes cannot be one history, and nothing of the import is kept."""
    store.import_series([levels(1, 2)])
    minute = DemandSeries(WHOLE, MONDAY, 60, np.array([9.0]))
    other = levels(4, pool=FRAGMENT)
    with pytest.raises(BadInput, match="a100/whole-node: the history has a step of 300 s, this ha"):
        store.import_series([other, minute])
    with pytest.raises(BadInput, match="the history has a step of 300 s, this has 60 s"):
        store.import_series([other, DemandSeries(FRAGMENT, MONDAY, 60, np.array([9.0]))])
    assert (WHOLE,) == store.pools()
    assert [1, 2] == store.series()[0].demand_gpus.tolist()


def test_dates_and_times_since_a_trace_began_are_kept_apart(store: HistoryStore) -> None:
    """A pool's history never spans from 1970 to now."""
    store.import_series([levels(1, start=0)])
    with pytest.raises(BadInput, match="dates and times since a trace began cannot be one"):
        store.import_series([levels(1)])
    assert not store.series()[0].has_calendar


def test_series_are_cut_to_the_time_asked_for(store: HistoryStore) -> None:
    """Only rows inside come, and pools without any are left out."""
    store.import_series([tidal_series(WHOLE, days=40), levels(1, pool=FRAGMENT)])
    since, until = MONDAY + 30 * DAY + 1, MONDAY + 31 * DAY + 1
    (series,) = store.series(since_seconds=since, until_seconds=until)
    assert (WHOLE, MONDAY + 30 * DAY + STEP) == (series.pool, series.start_seconds)
    assert MONDAY + 31 * DAY == series.end_seconds
    assert [] == store.series([WHOLE], since_seconds=MONDAY + 400 * DAY)
    assert [] == store.series([WHOLE], until_seconds=MONDAY - 400 * DAY)


def test_an_unknown_pool_is_named(store: HistoryStore) -> None:
    """The message says which there are."""
    store.import_series([levels(1)])
    with pytest.raises(BadInput, match="holds no pool 'h100'; it has a100/whole-node"):
        store.series([Pool.parse("h100")])


def test_it_says_what_it_holds(store: HistoryStore) -> None:
    """Span, step, share observed, gaps, capped steps and share without demand."""
    capped = np.array([True, False, False, False, True, False, False, False])
    store.import_series([levels(0, 1, np.nan, np.nan, 4, np.nan, 0, 3, capped=capped)])
    expected = PoolHoldings(
        pool=WHOLE,
        start_seconds=MONDAY,
        end_seconds=MONDAY + 8 * STEP,
        step_seconds=STEP,
        observed_share=5 / 8,
        gaps=(
            (MONDAY + 2 * STEP, MONDAY + 4 * STEP),
            (MONDAY + 5 * STEP, MONDAY + 6 * STEP),
        ),
        capped_steps=2,
        zero_share=2 / 5,
    )
    assert (expected,) == store.describe().pools
    assert () == store.describe().problems


def test_a_pool_never_observed_has_no_share_of_zeros(store: HistoryStore) -> None:
    """Unknown is not zero in the description either."""
    store.import_series([levels(np.nan, np.nan)])
    (held,) = store.describe().pools
    assert (0.0, 0.0) == (held.observed_share, held.zero_share)
    assert ((MONDAY, MONDAY + 2 * STEP),) == held.gaps


def test_a_pull_asks_for_whole_steps_up_to_now(store: HistoryStore) -> None:
    """Nothing of the step that still runs is asked for."""
    source = RecordedSource([tidal_series(days=20)])
    report = store.pull(source, NOW + 299, days=5, step_seconds=STEP)
    assert [(NOW - 5 * DAY, NOW)] == source.asked
    assert ((NOW - 5 * DAY, NOW),) == report.asked_spans
    assert ((WHOLE,), 5 * 288) == (report.pools, report.observed_steps)
    assert_same(tidal_series(days=20).between(NOW - 5 * DAY, NOW), store.series()[0])


def test_the_next_pull_asks_for_the_tail_alone(store: HistoryStore) -> None:
    """The newest hour is asked for again, since late samples may fill it; the rest is not."""
    source = RecordedSource([tidal_series(days=20)])
    store.pull(source, NOW, days=5, step_seconds=STEP)
    store.pull(source, NOW + STEP, days=5, step_seconds=STEP)
    assert [(NOW - 5 * DAY, NOW), (NOW - HOUR, NOW + STEP)] == source.asked
    assert NOW + STEP == store.series()[0].end_seconds


def test_a_pull_that_looks_further_back_asks_for_the_rest(store: HistoryStore) -> None:
    """Only the older days and the tail are asked for."""
    source = RecordedSource([tidal_series(days=20)])
    store.pull(source, NOW, days=2, step_seconds=STEP)
    store.pull(source, NOW, days=5, step_seconds=STEP)
    assert [(NOW - 5 * DAY, NOW - 2 * DAY), (NOW - HOUR, NOW)] == source.asked[1:]


def with_gap(start: int, end: int) -> DemandSeries:
    series = tidal_series(days=20)
    demand = series.demand_gpus.copy()
    demand[(series.times_seconds >= start) & (series.times_seconds < end)] = np.nan
    return DemandSeries(series.pool, series.start_seconds, series.step_seconds, demand)


def test_a_gap_that_the_source_knows_nothing_of_is_not_asked_for_again(
    store: HistoryStore,
) -> None:
    """An outage of the past stays one."""
    source = RecordedSource([with_gap(NOW - 6 * HOUR, NOW - 3 * HOUR)])
    for _ in range(2):
        store.pull(source, NOW, days=5, step_seconds=STEP)
    assert (NOW - HOUR, NOW) == source.asked[-1]
    assert ((NOW - 6 * HOUR, NOW - 3 * HOUR),) == store.describe().pools[0].gaps


def test_a_recent_gap_with_a_warning_is_asked_for_again(store: HistoryStore) -> None:
    """A source that warned may know more by and by, for a day."""
    gappy = with_gap(NOW - 6 * HOUR, NOW - 3 * HOUR)
    source = RecordedSource([gappy], warnings=("answered in part",))
    report = store.pull(source, NOW, days=5, step_seconds=STEP)
    assert ("answered in part",) == report.warnings
    source.series = [tidal_series(days=20)]
    store.pull(source, NOW + STEP, days=5, step_seconds=STEP)
    assert (NOW - 6 * HOUR, NOW + STEP) == source.asked[-1]
    assert () == store.describe().pools[0].gaps


def test_an_old_gap_with_a_warning_is_let_be(store: HistoryStore) -> None:
    """A warning that never goes away does not make every pull a full one."""
    source = RecordedSource([with_gap(NOW - 60 * HOUR, NOW - 50 * HOUR)], warnings=("guessed",))
    for _ in range(2):
        store.pull(source, NOW, days=5, step_seconds=STEP)
    assert (NOW - HOUR, NOW) == source.asked[-1]


def test_another_source_is_asked_for_all(store: HistoryStore) -> None:
    """What one source answered says nothing of another."""
    store.pull(RecordedSource([tidal_series()], name="one"), NOW, days=5, step_seconds=STEP)
    other = RecordedSource([tidal_series()], name="http://user:secret@other")
    store.pull(other, NOW, days=5, step_seconds=STEP)
    assert [(NOW - 5 * DAY, NOW)] == other.asked
    assert not [path for path in store.directory.iterdir() if b"secret" in path.read_bytes()]


def test_what_was_answered_is_kept_when_the_source_fails_later(store: HistoryStore) -> None:
    """An error loses no answer, and what failed is asked for again."""
    source = RecordedSource([tidal_series(days=20)])
    store.pull(source, NOW - 3 * DAY, days=1, step_seconds=STEP)
    source.failures = [None, SourceUnavailable("gone")]
    with pytest.raises(SourceUnavailable, match="gone"):
        store.pull(source, NOW, days=5, step_seconds=STEP)
    assert NOW - 5 * DAY == store.series()[0].start_seconds
    source.asked.clear()
    store.pull(source, NOW, days=5, step_seconds=STEP)
    assert [(NOW - 3 * DAY - HOUR, NOW)] == source.asked


def test_a_lost_record_of_answers_only_costs_another_question(store: HistoryStore) -> None:
    """Whatever happens to the record, history is asked for once more and nothing is lost."""
    source = RecordedSource([tidal_series(days=20)])
    for damage in (b"", b"{}", b"[]", b"\xff", b'{"format": 1, "spans": {"x": 3}, "files": []}'):
        store.pull(source, NOW, days=5, step_seconds=STEP)
        source.asked.clear()
        (store.directory / "answered.json").write_bytes(damage)
        store.pull(source, NOW, days=5, step_seconds=STEP)
        assert [(NOW - 5 * DAY, NOW)] == source.asked


def test_a_file_that_was_taken_away_is_asked_for_again(store: HistoryStore) -> None:
    """Moving a damaged file away is all that a user has to do."""
    source = RecordedSource([tidal_series(days=70)])
    now = MONDAY + 70 * DAY
    store.pull(source, now, days=70, step_seconds=STEP)
    before = store.series()[0]
    middle = sorted(store.directory.glob("*.parquet"))[1]
    middle.unlink()
    source.asked.clear()
    store.pull(source, now, days=70, step_seconds=STEP)
    lost, _ = source.asked
    assert PARTITION_SECONDS == lost[1] - lost[0]
    assert_same(before, store.series()[0])


def test_old_history_is_thrown_away_in_whole_files(tmp_path: Path) -> None:
    """What is older than the store keeps goes; what was only imported stays."""
    store = HistoryStore(tmp_path, keep_days=90)
    store.import_series([tidal_series(FRAGMENT, days=10)])
    source = RecordedSource([tidal_series(WHOLE, days=200)])
    for day in range(10, 200, 10):
        store.pull(source, MONDAY + day * DAY, days=15, step_seconds=STEP)
    _, whole = store.describe().pools
    kept_days = (whole.end_seconds - whole.start_seconds) / DAY
    assert 90 <= kept_days <= 90 + PARTITION_SECONDS / DAY
    assert whole.start_seconds % PARTITION_SECONDS == 0
    assert (FRAGMENT, WHOLE) == store.pools()
    assert 1.0 == whole.observed_share


@pytest.mark.parametrize("days", [0, -1, 91])
def test_a_pull_of_more_days_than_are_kept_is_refused(store: HistoryStore, days: int) -> None:
    """What would be thrown away at once is not asked for."""
    source = RecordedSource([])
    with pytest.raises(BadInput, match=f"a pull of {days} days: take 1 to 90"):
        store.pull(source, NOW, days=days, step_seconds=STEP)
    assert [] == source.asked


def test_a_series_without_rows_changes_nothing(store: HistoryStore) -> None:
    """A pool of which a source knows nothing in a span does no harm."""
    store.import_series([levels(1, 2), levels(3, pool=FRAGMENT).between(0, 300)])
    assert (WHOLE,) == store.pools()


def test_every_column_is_kept(store: HistoryStore) -> None:
    """No column of a series is forgotten when one is added."""
    columns = {name: np.array([float(place)]) for place, name in enumerate(COLUMNS)}
    series = DemandSeries(pool=WHOLE, start_seconds=MONDAY, step_seconds=STEP, **columns)
    store.import_series([series])
    assert_same(series, store.series()[0])
