"""Demand tables, long and wide: what they say, what they leave open, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from features.errors import BadInput
from features.pool import Pool, Shape
from features.series import DemandSeries
from features.sources.demand_table import DemandTable

TRACES = Path(__file__).parents[3] / "../shared/traces"
MONDAY = 1_767_571_200  # 2026-01-05T00:00:00Z
WHOLE = Pool("a100", Shape.WHOLE_NODE)
FRAGMENT = Pool("a100", Shape.FRAGMENT)


def table(tmp_path: Path, header: str, *lines: str) -> Path:
    path = tmp_path / "demand.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def long_table(tmp_path: Path, *lines: str) -> Path:
    return table(tmp_path, "time,pool,demand", *lines)


def refusal(path: Path, step_seconds: int | None = None, **options: object) -> str:
    """The one line with which a table is refused."""
    with pytest.raises(BadInput) as raised:
        DemandTable(path, **options).history(step_seconds)  # type: ignore[arg-type]  # by name
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_a_long_table_has_a_series_per_pool(tmp_path: Path) -> None:
    """Rows may come in any order; a time without a row is a gap, and so is an empty cell."""
    path = long_table(
        tmp_path,
        "2026-01-05T00:15:00Z,a100/whole-node,32",
        "2026-01-05T00:00:00Z,a100/whole-node,16",
        "2026-01-05T01:05:00+01:00,a100/whole-node,24",
        "2026-01-05T00:00:00Z,a100/fragment,3",
        "2026-01-05T00:05:00Z,a100/fragment,",
        "2026-01-05T00:10:00Z,a100/fragment,0",
    )
    fragment, whole = DemandTable(path).history().series
    assert (FRAGMENT, WHOLE) == (fragment.pool, whole.pool)
    assert (MONDAY, 300) == (whole.start_seconds, whole.step_seconds)
    np.testing.assert_equal([16, 24, np.nan, 32], whole.demand_gpus)
    np.testing.assert_equal([3, np.nan, 0], fragment.demand_gpus)


def test_other_columns_of_a_series_come_along(tmp_path: Path) -> None:
    """What a table knows beside the demand is kept; foreign columns are not looked at."""
    path = table(
        tmp_path,
        "t,pool,demand_gpus,running_gpus,submitted_jobs,capacity_gpus,capped,owner",
        "0,a100,8,8,1,16,true,x",
        "60,a100,16,,2,16,0,y",
        "120,a100,16,16,0,16,,z",
    )
    (series,) = DemandTable(path).history().series
    assert Pool("a100", Shape.MIXED) == series.pool
    assert not series.has_calendar
    np.testing.assert_equal([8, np.nan, 16], series.running_gpus)
    np.testing.assert_equal([1, 2, 0], series.submitted_jobs)
    np.testing.assert_equal([16, 16, 16], series.capacity_gpus)
    assert [True, False, False] == series.capped.tolist()
    assert np.isnan(series.pending_gpus).all()


def test_a_wide_table_has_a_column_per_pool(tmp_path: Path) -> None:
    """Named columns are pools, called as they are or as the caller says."""
    path = table(tmp_path, "t,A10,H-100,note", "0,1,2,a", "3600,3,,b")
    options = ("H-100", "A10=a10/fragment")
    h100, a10 = DemandTable(path, pool_columns=options).history().series
    assert ("H-100", "a10/fragment") == (str(h100.pool), str(a10.pool))
    assert 3600 == a10.step_seconds
    np.testing.assert_equal([2, np.nan], h100.demand_gpus)
    np.testing.assert_equal([1, 3], a10.demand_gpus)


@pytest.mark.parametrize("step_seconds", [1, 60, 300, 420, 3600, 86400])
def test_the_step_is_the_smallest_spacing(tmp_path: Path, step_seconds: int) -> None:
    """Any spacing makes a grid, gaps or not."""
    first = -(-MONDAY // step_seconds) * step_seconds
    path = long_table(tmp_path, *(f"{first + row * step_seconds},a,1" for row in (0, 2, 3, 7)))
    (series,) = DemandTable(path).history().series
    assert step_seconds == series.step_seconds == DemandTable(path).step_seconds
    assert [0, 2, 3, 7] == np.flatnonzero(series.observed).tolist()


def test_a_longer_step_takes_highs_sums_and_closings(tmp_path: Path) -> None:
    """A multiple of the table's step is made of whole steps; half-known ones stay unknown."""
    path = table(
        tmp_path,
        "t,pool,demand,demand_nodes,running_gpus,submitted_jobs,capped",
        "60,a,9,9,9,9,0",
        "120,a,5,2,3,1,0",
        "180,a,3,1,2,4,1",
        "240,a,,1,2,4,0",
        "300,a,7,1,2,4,0",
        "360,a,1,1,1,1,0",
        "420,a,1,2,0,1,0",
    )
    (series,) = DemandTable(path).history(120).series
    assert (0, 120) == (series.start_seconds, series.step_seconds)
    np.testing.assert_equal([np.nan, 5, np.nan, 1], series.demand_gpus)
    np.testing.assert_equal([np.nan, 2, 1, 2], series.demand_nodes)
    np.testing.assert_equal([9, 2, 2, 0], series.running_gpus)
    np.testing.assert_equal([np.nan, 5, 8, 2], series.submitted_jobs)
    assert [False, True, False, False] == series.capped.tolist()


def test_since_and_until_cut_before_anything_is_judged(tmp_path: Path) -> None:
    """What lies outside of the wanted time need not be sound."""
    path = long_table(tmp_path, "0,a,-1", "60,a,1", "120,a,2", "180,a,3", "240,a,inf")
    options = {"since_seconds": 60, "until_seconds": 240}
    (series,) = DemandTable(path, **options).history().series
    assert (60, 240) == (series.start_seconds, series.end_seconds)
    assert [1, 2, 3] == series.demand_gpus.tolist()


def test_select_keeps_the_rows_with_that_value(tmp_path: Path) -> None:
    """A table of several clusters is imported one at a time."""
    path = table(tmp_path, "t,pool,demand,site", "0,a,1,x", "0,a,2,y", "60,a,3,y")
    (series,) = DemandTable(path, select={"site": "y"}).history().series
    assert [2, 3] == series.demand_gpus.tolist()


def test_a_span_is_answered_with_the_rows_inside(tmp_path: Path) -> None:
    """Asked as a source, a table gives no row that is not wholly inside."""
    path = long_table(tmp_path, "0,a,1", "60,a,2", "120,a,3", "0,b,4", "60,b,4")
    (series,) = DemandTable(path).demand(61, 190, 60).series
    assert ("a", 120, [3]) == (str(series.pool), series.start_seconds, series.demand_gpus.tolist())


def test_what_a_series_says_of_itself_is_read_back(tmp_path: Path) -> None:
    """A series written as a frame is a demand table, Parquet index or not."""
    written = DemandSeries(
        WHOLE,
        MONDAY,
        300,
        np.array([1.0, np.nan, 2.0]),
        capped=np.array([False, True, False]),
    )
    path = tmp_path / "demand.parquet"
    frame = written.to_frame().assign(pool=str(WHOLE)).set_index("time")
    frame.to_parquet(path)
    (series,) = DemandTable(path).history().series
    pd.testing.assert_frame_equal(written.to_frame(), series.to_frame())


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["0,a,1", "60,a,-1"], "row 2: 'demand_gpus' is negative; correct it, or leave it empty"),
        (["0,a,1", "60,a,inf"], "row 2: 'demand_gpus' is infinite; give a number, or leave it"),
        (["0,a,1", "60,a,x"], "row 2: 'demand_gpus' is not a number; give a number, or leave it"),
        (["0,a,1", ",a,1"], "row 2: no 'time'; say when the step begins"),
        (["0,a,1", "60,,1"], "row 2: no 'pool'; name it"),
        (["0,a,1", '60," ",1'], "row 2: no 'pool'; name it"),
        (["0,a,1", "0.5,a,1"], "row 2: 'time' is a fraction of a second; begin steps at whole"),
        (["0,a,1", "60,a,1", "0,a,2"], "row 3: a time and pool that an earlier row has too;"),
        (["0,a/whole,1", "0,a/whole-node,2"], "row 2: a time and pool that an earlier row has"),
        (["0,a,1", f"{MONDAY},a,1"], "row 1: a time before 2000 beside times after it"),
        (["2026-01-05 00:00,a,1"], "row 1: 'time' is '2026-01-05 00:00', without a zone; write"),
        (["0,a,1"], "one time alone has no spacing; give at least two rows"),
        (["0,a,1", "60,a,1", "150,a,1"], "a has 1 times off the grid of 60 s, its smallest spa"),
        (["30,a,1", "90,a,1"], "a has 2 times off the grid of 60 s, its smallest spacing (the fir"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, lines: list[str], message: str) -> None:
    """Each mistake has its own message, with the row it is in."""
    assert refusal(long_table(tmp_path, *lines)).startswith(message)


def test_a_capped_flag_that_is_none_is_refused(tmp_path: Path) -> None:
    """True and false are written in several ways, but not in any."""
    path = table(tmp_path, "t,pool,demand,capped", "0,a,1,no idea")
    assert "row 1: 'capped' is neither true nor false" == refusal(path)


@pytest.mark.parametrize(
    ("header", "options", "message"),
    [
        ("when,pool,demand", {}, "has no column 'time'; a demand table needs it (or 't')"),
        ("t,demand", {}, "has no column 'pool'; a demand table needs it, unless pool columns"),
        ("t,pool", {}, "has no column 'demand_gpus'; a demand table needs it"),
        ("t,a", {"pool_columns": ("b",)}, "has no column 'b'; name pool columns that exist"),
        ("t,a", {"pool_columns": ("b=a",)}, "has no column 'b'; name pool columns that exist"),
    ],
)
def test_missing_columns_are_named(
    tmp_path: Path, header: str, options: dict[str, object], message: str
) -> None:
    """The reader learns what a table of this kind needs."""
    path = table(tmp_path, header, ",".join("0" for _ in header.split(",")))
    assert refusal(path, **options).startswith(message)


def test_a_wide_table_with_a_time_twice_is_refused(tmp_path: Path) -> None:
    """Which of the two rows would count cannot be known."""
    path = table(tmp_path, "t,a", "0,1", "60,1", "60.0,2")
    message = refusal(path, pool_columns=("a",))
    assert "row 3: a time and pool that an earlier row has too; keep one of the two" == message


def test_two_columns_for_one_pool_are_refused(tmp_path: Path) -> None:
    """Which of the two would count cannot be known."""
    path = table(tmp_path, "t,a,b", "0,1,2", "60,1,2")
    message = refusal(path, pool_columns=("a", "b=a"))
    assert "two columns are named for the pool 'a'; take one" == message


@pytest.mark.parametrize("step_seconds", [60, 450])
def test_a_step_that_is_no_multiple_is_refused(tmp_path: Path, step_seconds: int) -> None:
    """Demand cannot be known more finely than it was written down."""
    path = long_table(tmp_path, "0,a,1", "300,a,1")
    message = refusal(path, step_seconds)
    assert message.startswith(f"has a step of 300 s, which cannot become one of {step_seconds} s;")


def test_a_time_outside_of_the_table_is_refused(tmp_path: Path) -> None:
    """A cut that leaves nothing says where the table lies."""
    path = long_table(tmp_path, "0,a,1", "60,a,1")
    message = refusal(path, since_seconds=600)
    assert message.startswith("holds nothing inside the wanted time; it runs from 0 to 60")
    message = refusal(path, step_seconds=3600)
    assert message.startswith("holds no whole step of 3600 s inside the wanted time; it runs from")


def test_times_that_would_not_fit_in_memory_are_refused(tmp_path: Path) -> None:
    """Rows a century apart, seconds beside them, do not cost all of the memory."""
    path = long_table(tmp_path, f"{MONDAY},a,1", f"{MONDAY + 1},a,1", f"{2 * MONDAY},a,1")
    assert "rows of 1 s, more than 20000000; cut it by --since and --until" in refusal(path)


@pytest.mark.skipif(not TRACES.is_dir(), reason="the traces are not beside the project")
def test_the_public_series_are_imported_as_they_are() -> None:
    """Both wide traces give their pools, by minute and by hour."""
    philly = DemandTable(TRACES / "series_philly_nodes.parquet", ("active_nodes=philly",))
    (nodes,) = philly.history().series
    assert (60, 105_644) == (nodes.step_seconds, int(nodes.observed.sum()))
    spot = DemandTable(
        TRACES / "series_alibaba_spot_hourly.parquet",
        ("A10", "A100-SXM4-80GB"),
        until_seconds=4416 * 3600,
    )
    assert [(3600, 4416), (3600, 4416)] == [
        (one.step_seconds, len(one)) for one in spot.history().series
    ]
