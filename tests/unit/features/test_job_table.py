"""Job tables as people have them: every way to write them, and every way to get them wrong."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from features.errors import BadInput
from features.pool import Pool, Shape
from features.sources.job_table import JobTable

TRACES = Path(__file__).parents[3] / "../shared/traces"
MONDAY = 1_767_571_200  # 2026-01-05T00:00:00Z
HEADER = "job_id,submit,start,end,duration,gpus,node_gpus,gpu_type,cluster"
WHOLE = Pool("a100", Shape.WHOLE_NODE)
FRAGMENT = Pool("a100", Shape.FRAGMENT)


def table(tmp_path: Path, *lines: str, header: str = HEADER) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def job(number: int = 1, **changes: object) -> str:
    """A line of a job that is submitted at midnight, waits 60 s and runs for ten minutes."""
    values = {
        "job_id": f"job-{number}",
        "submit": MONDAY,
        "start": MONDAY + 60,
        "end": MONDAY + 660,
        "duration": 600,
        "gpus": 8,
        "node_gpus": 8,
        "gpu_type": "a100",
        "cluster": "east",
    }
    return ",".join(str(value) for value in (values | changes).values())


def refusal(path: Path, **options: object) -> str:
    """The one line with which a table is refused."""
    with pytest.raises(BadInput) as raised:
        JobTable(path, **options).history(300)  # type: ignore[arg-type]  # options by name
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_a_job_becomes_demand(tmp_path: Path) -> None:
    """A whole-node job and a fragment are a pool each, on one grid."""
    path = table(tmp_path, job(1), job(2, gpus=2, end=MONDAY + 300))
    fragment, whole = JobTable(path).history(300).series
    assert (FRAGMENT, WHOLE) == (fragment.pool, whole.pool)
    assert MONDAY == fragment.start_seconds == whole.start_seconds
    assert [8, 8, 8] == whole.demand_gpus.tolist()
    assert [8, 8, 0] == whole.running_gpus.tolist()
    assert [2, 2, 0] == fragment.demand_gpus.tolist()
    assert [2, 0, 0] == fragment.running_gpus.tolist()
    assert [1, 0, 0] == fragment.submitted_jobs.tolist()
    assert whole.has_calendar


@pytest.mark.parametrize("step_seconds", [60, 300, 3600])
def test_any_step_will_do(tmp_path: Path, step_seconds: int) -> None:
    """The grid is the caller's choice and spans the table's own time."""
    (series,) = JobTable(table(tmp_path, job())).history(step_seconds).series
    assert step_seconds == series.step_seconds
    assert -(-660 // step_seconds) == len(series)


@pytest.mark.parametrize(
    ("submit", "end"),
    [
        ("2026-01-05T00:00:00Z", "2026-01-05T00:11:00Z"),
        ("2026-01-05T01:00:00+01:00", "2026-01-04 19:11:00-0500"),
        ("2026-01-05 00:00:00.000+00:00", "2026-01-05T05:41:00+05:30"),
        (f"{MONDAY}", f"{MONDAY + 660}.0"),
    ],
)
def test_times_are_read_however_they_are_written(tmp_path: Path, submit: str, end: str) -> None:
    """ISO times with an offset and Unix seconds mean the same moments."""
    path = table(tmp_path, f"{submit},{end},8", header="submit,end,gpus")
    (series,) = JobTable(path).history(60).series
    assert MONDAY == series.start_seconds
    assert [8.0] * 11 == series.demand_gpus.tolist()


def test_zoned_parquet_times_are_read(tmp_path: Path) -> None:
    """A Parquet file may hold times in any zone."""
    path = tmp_path / "jobs.parquet"
    submit = pd.to_datetime(["2026-01-05T01:00:00"]).tz_localize("Europe/Berlin")
    end = submit + pd.Timedelta(minutes=11)
    pd.DataFrame({"submit": submit, "end": end, "gpus": [8]}).to_parquet(path)
    (series,) = JobTable(path).history(60).series
    assert MONDAY == series.start_seconds
    assert 11 == len(series)


def test_seconds_since_the_trace_began_have_no_calendar(tmp_path: Path) -> None:
    """Times before 2000 count from the trace's own start."""
    path = table(tmp_path, "0,600,8", header="submit,end,gpus")
    (series,) = JobTable(path).history(300).series
    assert not series.has_calendar
    assert [8, 8] == series.demand_gpus.tolist()


def test_nullable_and_category_columns_are_read(tmp_path: Path) -> None:
    """The types in which pandas keeps missing values are numbers and names like any other."""
    path = tmp_path / "jobs.parquet"
    pd.DataFrame(
        {
            "submit": pd.array([0, 0, 0], dtype="Int64"),
            "start": pd.array([0, None, None], dtype="Int64"),
            "end": pd.array([600, 600, 600], dtype="Int64"),
            "duration": pd.array([600, 600, None], dtype="Int64"),
            "gpus": pd.Series([1, 2, 4], dtype="category"),
            "node_gpus": pd.array([8, None, 2], dtype="Int16"),
            "gpu_type": pd.Categorical(["a100", None, "a100"]),
        }
    ).to_parquet(path)
    series = {one.pool: one for one in JobTable(path, default_gpu_type="h100").history(600).series}
    assert {FRAGMENT, WHOLE, Pool("h100", Shape.FRAGMENT)} == set(series)
    assert [1] == series[FRAGMENT].demand_gpus.tolist()
    assert [2] == series[Pool("h100", Shape.FRAGMENT)].demand_gpus.tolist()
    assert [2] == series[WHOLE].demand_nodes.tolist()


def test_a_job_that_never_ran_waits_until_its_end(tmp_path: Path) -> None:
    """Without a start and a duration a job is pending for all of its life."""
    path = table(tmp_path, job(1, start="", duration=""), job(2, start="", gpus=16))
    (series,) = JobTable(path).history(300).series
    assert [8, 8, 0] == series.pending_gpus.tolist()
    assert [16, 16, 0] == series.running_gpus.tolist()


def test_without_start_and_duration_columns_jobs_run_from_their_submission(tmp_path: Path) -> None:
    """Three columns suffice, and what they leave open is told."""
    path = table(tmp_path, f"{MONDAY},{MONDAY + 600},8", header="submit,end,gpus")
    answer = JobTable(path).history(300)
    assert [8, 8] == answer.series[0].running_gpus.tolist()
    assert (
        "1 of 1 jobs have no start and count as running from their submission; "
        "the pending demand is a lower bound",
    ) == answer.warnings


def test_a_table_that_says_everything_gives_no_warning(tmp_path: Path) -> None:
    """There is nothing to tell where nothing was assumed."""
    assert () == JobTable(table(tmp_path, job())).history(300).warnings


def test_select_keeps_the_rows_with_that_value(tmp_path: Path) -> None:
    """Columns select by what they hold, text that looks like a number included."""
    path = table(tmp_path, job(1, cluster="6214e9"), job(2, cluster="7", gpus=16))
    (series,) = JobTable(path, select={"cluster": "6214e9"}).history(300).series
    assert [8, 8, 8] == series.demand_gpus.tolist()
    (series,) = JobTable(path, select={"cluster": "7", "gpus": "16"}).history(300).series
    assert [16, 16, 16] == series.demand_gpus.tolist()


def test_select_compares_numbers_as_numbers(tmp_path: Path) -> None:
    """A Parquet column of numbers is selected from whichever way the number is written."""
    path = tmp_path / "jobs.parquet"
    pd.DataFrame({"submit": [0, 0], "end": [60, 60], "gpus": [8.0, 4.0]}).to_parquet(path)
    (series,) = JobTable(path, select={"gpus": "8"}).history(60).series
    assert [8] == series.demand_gpus.tolist()


def test_pools_can_be_named_by_another_column(tmp_path: Path) -> None:
    """One import makes pools per cluster."""
    path = table(tmp_path, job(1), job(2, cluster="west", gpus=1))
    pools = [one.pool for one in JobTable(path, gpu_type_column="cluster").history(300).series]
    assert [Pool("east", Shape.WHOLE_NODE), Pool("west", Shape.FRAGMENT)] == pools


def test_node_size_is_a_setting_where_the_table_has_none(tmp_path: Path) -> None:
    """Without a node size the given one decides what is a whole node."""
    path = table(tmp_path, "0,600,4", header="submit,end,gpus")
    assert "gpu/fragment" == str(JobTable(path).history(300).series[0].pool)
    assert "gpu/whole-node" == str(JobTable(path, node_gpus=4).history(300).series[0].pool)


def test_since_and_until_cut_the_series_but_not_the_jobs(tmp_path: Path) -> None:
    """A job from before the cut still counts after it."""
    path = table(tmp_path, job(1, end=MONDAY + 3600))
    options = {"since_seconds": MONDAY + 600, "until_seconds": MONDAY + 1500}
    (series,) = JobTable(path, **options).history(300).series  # type: ignore[arg-type]  # by name
    assert MONDAY + 600 == series.start_seconds
    assert [8, 8, 8] == series.demand_gpus.tolist()
    assert [0, 0, 0] == series.submitted_jobs.tolist()


def test_beyond_its_own_time_a_table_knows_nothing(tmp_path: Path) -> None:
    """Asked for more, a table answers for the time it covers, and never with zeros."""
    path = table(tmp_path, job())
    (series,) = JobTable(path).demand(MONDAY - 86400, MONDAY + 86400, 300).series
    assert (MONDAY, MONDAY + 900) == (series.start_seconds, series.end_seconds)
    assert () == JobTable(path).demand(MONDAY + 86400, MONDAY + 90000, 300).series


def test_jobs_without_gpus_are_left_out_and_told_of(tmp_path: Path) -> None:
    """A log may list other jobs too; they are no GPU demand."""
    answer = JobTable(table(tmp_path, job(1), job(2, gpus=0))).history(300)
    assert [1, 0, 0] == answer.series[0].submitted_jobs.tolist()
    assert ("1 jobs ask for no GPU; they are left out",) == answer.warnings


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (job(2, end=MONDAY - 1), "row 2: 'end' lies before 'submit' or 'start'; correct it"),
        (job(2, end=MONDAY + 59), "row 2: 'end' lies before 'submit' or 'start'; correct it"),
        (job(2, end=""), "row 2: no 'end'; a job that still runs ends when the table was made"),
        (job(2, submit=""), "row 2: no 'submit'; a job that still"),
        (job(2, gpus=""), "row 2: no 'gpus'; give the job's GPUs, or leave it out"),
        (job(2, gpus="NaN"), "row 2: no 'gpus'"),
        (job(2, gpus="inf"), "row 2: 'gpus' is infinite; give a number, or leave it empty"),
        (job(2, gpus=-8), "row 2: 'gpus' is negative; correct it"),
        (job(2, gpus="eight"), "row 2: 'gpus' is not a number; give a number"),
        (job(2, node_gpus=0), "row 2: 'node_gpus' is not positive; leave it empty if unknown"),
        (job(2, node_gpus=-8), "row 2: 'node_gpus' is not positive"),
        (job(2, duration="inf"), "row 2: 'duration' is infinite"),
        (job(1), "row 2: a 'job_id' that stands in an earlier row too; keep one row per job"),
        (job(2, submit="2026-01-05T00:00:00"), "row 2: 'submit' is '2026-01-05T00:00:00', without"),
        (job(2, start="yesterday"), "row 2: 'start' is 'yesterday', without a zone; write them as"),
        (job(2, submit="2026-01-05"), "row 2: 'submit' is '2026-01-05', without a zone"),
        (job(2, end="2026-13-45T00:00:00Z"), "row 2: 'end' holds a date that does not exist"),
        (job(2, submit=0), "row 2: a time before 2000 beside times after it; is it a placeholder?"),
        (job(2, start=0), "row 2: a time before 2000 beside times after it; is it a placeholder?"),
        (job(2, end=1_767_571_800_000), "row 2: 'end' lies beyond the year 5138; give seconds"),
        (job(2, submit=-5), "row 2: a time before 1970; correct it"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_number(
    tmp_path: Path, line: str, message: str
) -> None:
    """Each mistake has its own line that names the row."""
    assert refusal(table(tmp_path, job(1), line)).startswith(message)


def test_many_wrong_rows_are_counted(tmp_path: Path) -> None:
    """The number of such rows and the first of them are told."""
    wrong = [job(number, end=MONDAY - 1) for number in (2, 3)]
    message = refusal(table(tmp_path, job(1), *wrong))
    assert message.startswith("2 rows (the first is row 2): 'end' lies before")


def test_rows_are_numbered_as_in_the_file_after_a_selection(tmp_path: Path) -> None:
    """Selecting does not shift the number that leads to the row."""
    path = table(tmp_path, job(1, cluster="west"), job(2, gpus=-1))
    assert refusal(path, select={"cluster": "east"}).startswith("row 2: 'gpus' is negative")


def test_parquet_times_without_a_zone_are_refused(tmp_path: Path) -> None:
    """A time that could be anywhere on earth is no time."""
    path = tmp_path / "jobs.parquet"
    times = pd.to_datetime(["2026-01-05T09:00:00"])
    pd.DataFrame({"submit": times, "end": times, "gpus": [8]}).to_parquet(path)
    assert refusal(path).startswith("row 1: 'submit' is '2026-01-05 09:00:00', without a zone; ")


def test_missing_columns_are_named_all_at_once(tmp_path: Path) -> None:
    """The reader learns which are missing, and which there are."""
    message = refusal(table(tmp_path, "1,2", header="submit,finish"))
    assert (
        "has no column 'end', 'gpus'; a job table needs them (it has 'submit', 'finish')" == message
    )


def test_selecting_by_what_is_not_there_is_refused(tmp_path: Path) -> None:
    """An unknown column and an unknown value say what there is instead."""
    path = table(tmp_path, job(1), job(2, cluster="west"))
    assert refusal(path, select={"team": "x"}).startswith("has no column 'team'; select by one")
    message = "no rows left with cluster=north; it has 'east', 'west'"
    assert message == refusal(path, select={"cluster": "north"})


def test_naming_pools_by_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Only the usual column may be missing."""
    message = refusal(table(tmp_path, job()), gpu_type_column="team")
    assert message.startswith("has no column 'team'; name pools by a column that exists")


def test_a_time_outside_of_the_table_is_refused(tmp_path: Path) -> None:
    """A cut that leaves nothing says where the table lies."""
    message = refusal(table(tmp_path, job()), since_seconds=MONDAY + 86400)
    assert message.startswith("holds no whole step of 300 s inside the wanted time; it runs from")


def test_jobs_of_which_none_asks_for_a_gpu_are_refused(tmp_path: Path) -> None:
    """A log of other jobs alone is no history of demand."""
    message = refusal(table(tmp_path, job(gpus=0)))
    assert "no job asks for a GPU; check the column 'gpus'" == message


def test_a_time_span_that_would_not_fit_in_memory_is_refused(tmp_path: Path) -> None:
    """One end in the year 2900 does not cost all of the memory."""
    message = refusal(table(tmp_path, job(1, end="2900-01-01T00:00:00Z")))
    assert "rows of 300 s, more than 20000000; cut it by --since and --until" in message


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("jobs.parquet", b"submit,end,gpus\n1,2,3\n", "is not a Parquet file that can be read"),
        ("jobs.parquet", b"PAR1" + b"\0" * 64 + b"PAR1", "is not a Parquet file that can be read"),
        ("jobs.csv", b"PAR1\x15\x04\xff\xfe\0\0", "is not a CSV file that can be read"),
        ("jobs.csv", b'submit,end,gpus\n1,2,"3\n', "is not a CSV file that can be read"),
        ("jobs.csv", b"submit,end\n1,2,3,4\n5,6,7,8,9\n", "is not a CSV file that can be read"),
        ("jobs.csv", b"submit,end,gpus\n1,2,3,4\n", "its rows have more fields than its header;"),
        ("jobs.csv.gz", b"submit,end,gpus\n", "cannot be read"),
        ("jobs.csv", b"submit,end,gpus\n", "has no rows; give a table with at least one"),
        ("jobs.csv", b"", "is empty; give a table with at least one row"),
        ("jobs.csv", b"\n\n", "is not a CSV file that can be read"),
        ("jobs.xlsx", b"PK", "is neither .parquet nor .csv by its name; convert or rename it"),
    ],
)
def test_a_file_that_is_not_what_it_seems_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """Not Parquet, not CSV, empty: each says so."""
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal(path).startswith(message)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    """The name is wrong, and the message says how."""
    missing = refusal(tmp_path / "none.csv")
    assert "there is no such file; check its name" == missing
    (tmp_path / "jobs.parquet").mkdir()
    assert "is a directory; name the files in it" == refusal(tmp_path / "jobs.parquet")


def test_hostile_names_become_pools_like_any_other(tmp_path: Path) -> None:
    """Whatever stands in the GPU type column is a name, nothing else."""
    path = tmp_path / "jobs.parquet"
    names = ["'; DROP", "../../etc", "ü\n<b>", "x" * 65536]
    frame = pd.DataFrame({"submit": 0, "end": 60, "gpus": 1, "gpu_type": names})
    frame.to_parquet(path)
    found = [one.pool.gpu_type for one in JobTable(path).history(60).series]
    assert sorted(names) == found


@pytest.mark.skipif(not TRACES.is_dir(), reason="the traces are not beside the project")
def test_the_public_traces_are_imported_as_they_are() -> None:
    """Both job traces give their pools, cut to the time that is fit for use."""
    itp = JobTable(
        TRACES / "jobs_itp.parquet",
        select={"cluster": "cluster07"},
        since_seconds=1_615_420_800,
        until_seconds=1_619_395_200,
    ).history(300)
    assert ["gpu/fragment", "gpu/whole-node"] == [str(one.pool) for one in itp.series]
    assert {46 * 288} == {len(one) for one in itp.series}
    philly = JobTable(TRACES / "jobs_philly.parquet").history(3600)
    assert 109_570 == sum(np.sum(one.submitted_jobs) for one in philly.series)
    assert "104494 of 109570 jobs have no start" in philly.warnings[0]
