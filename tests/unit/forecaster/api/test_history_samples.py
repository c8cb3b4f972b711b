"""The history as arrays: what the store says, read again only where a file has changed."""

from pathlib import Path

import numpy as np
import pytest

from features.series import DemandSeries
from forecaster.api.history_samples import COLUMNS, HistorySamples
from forecaster.history import HistoryStore
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE, tidal_series

DAYS = 40
LATER = MONDAY + DAYS * 86_400


@pytest.fixture
def store(tmp_path: Path) -> HistoryStore:
    found = HistoryStore(tmp_path)
    found.import_series([tidal_series(WHOLE, DAYS), tidal_series(FRAGMENT, DAYS, seed=2)])
    return found


def more(pool_rows: DemandSeries) -> DemandSeries:
    """Two steps more, of which the newer is not known."""
    demand = np.array([7.0, np.nan])
    return DemandSeries(pool_rows.pool, pool_rows.end_seconds, 300, demand)


def test_it_is_what_the_store_says(store: HistoryStore) -> None:
    """Every step stands at its close, over all files of a pool."""
    found = HistorySamples(store.directory).read()
    assert () == found.problems
    assert [FRAGMENT, WHOLE] == list(found.pools)
    for series in store.series():
        history = found.pools[series.pool]
        np.testing.assert_array_equal(series.times_seconds + 300, history.closes_seconds)
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(series, name), history.columns[name])
        assert LATER == history.observed_seconds


def test_only_what_has_changed_is_read_again(store: HistoryStore) -> None:
    """The old files of a pool, and other pools, are left as they are."""
    samples = HistorySamples(store.directory)
    before = samples.read()
    files = samples.files
    assert files == samples.reads == len(list(store.directory.glob("*.parquet"))) > 2
    samples.read()
    assert files == samples.reads
    store.import_series([more(store.series([WHOLE])[0])])
    after = samples.read()
    assert files + 1 == samples.reads
    assert before.pools[FRAGMENT] is after.pools[FRAGMENT]
    assert [7.0] == after.pools[WHOLE].columns["demand_gpus"][-2:-1].tolist()
    assert LATER + 300 == after.pools[WHOLE].observed_seconds


def test_files_that_are_gone_are_let_go(store: HistoryStore) -> None:
    """Neither their pool nor their memory stays."""
    samples = HistorySamples(store.directory)
    samples.read()
    for file in store.directory.glob("*fragment*"):
        file.unlink()
    assert [WHOLE] == list(samples.read().pools)
    assert len(list(store.directory.glob("*.parquet"))) == samples.files


def test_a_damaged_file_is_named_and_the_others_count(store: HistoryStore) -> None:
    """It is not read again and again, and counts once it is whole."""
    samples = HistorySamples(store.directory)
    file = max(store.directory.glob("*whole*"))
    whole = file.read_bytes()
    file.write_bytes(b"none")
    found = samples.read()
    assert 1 == len(found.problems)
    assert str(file) in found.problems[0]
    assert {FRAGMENT, WHOLE} == set(found.pools)
    assert LATER > (found.pools[WHOLE].observed_seconds or 0)
    reads = samples.reads
    samples.read()
    assert reads == samples.reads
    file.write_bytes(whole)
    assert LATER == samples.read().pools[WHOLE].observed_seconds


def test_where_there_is_nothing_nothing_is_known(tmp_path: Path) -> None:
    """A store that was never written to, and a pool of which nothing was observed."""
    assert {} == HistorySamples(tmp_path / "none").read().pools
    HistoryStore(tmp_path).import_series([DemandSeries(WHOLE, MONDAY, 300, np.array([np.nan]))])
    assert HistorySamples(tmp_path).read().pools[WHOLE].observed_seconds is None
