"""Reading the tables people have: Parquet or CSV, with times, numbers and names as they wrote them.

Job tables and demand tables share these few steps. Nothing here may guess: a time without a zone, a
text where a number belongs or a column that is not there is refused, with the first row it is in.
Rows are numbered from 1, a header not counted.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from features.errors import BadInput
from features.series import CALENDAR_BEGINS_SECONDS, BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20_000_000  # of all series of a table together, some 1.5 GB
_MOST_SECONDS = 1e11  # the year 5138 in seconds, 1973 in milliseconds
_ISO_WITH_ZONE = r"^\d{4}-?\d\d-?\d\d[T ]\d.*(?:[Zz]|[+-]\d\d(?::?\d\d)?)$"
_ZONE_ADVICE = "write them as 2026-01-31T09:00:00Z or with an offset, or as Unix seconds"


def read_table(path: Path) -> "pd.DataFrame":
    """The whole file as it is; the columns of a CSV file are all text.

    Raises:
        BadInput: there is no such file, it is not what its name says, or it has no rows.
    """
    try:
        frame = _read_parquet(path) if _is_parquet(path) else _read_csv(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from error
    if frame.empty:
        raise BadInput(f"{path}: has no rows; give a table with at least one")
    return frame


def _is_parquet(path: Path) -> bool:
    if path.is_dir():
        raise BadInput(f"{path}: is a directory; name the files in it")
    if not path.exists():
        raise BadInput(f"{path}: there is no such file; check its name")
    if not path.stat().st_size:
        raise BadInput(f"{path}: is empty; give a table with at least one row")
    name = path.name.lower()
    if not name.endswith((".parquet", ".pq", ".csv", ".csv.gz")):
        raise BadInput(f"{path}: is neither .parquet nor .csv by its name; convert or rename it")
    return name.endswith((".parquet", ".pq"))


def _read_parquet(path: Path) -> "pd.DataFrame":
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        try:
            # without pandas' own metadata an index that was saved is a column like any other
            table: pd.DataFrame = pq.read_table(file).to_pandas(ignore_metadata=True)
        except (pa.ArrowException, OSError) as error:  # both for a footer that makes no sense
            raise BadInput(
                f"{path}: is not a Parquet file that can be read ({_first_line(error)}); "
                "write it anew, or name it .csv if that is what it is"
            ) from error
    return table


def _read_csv(path: Path) -> "pd.DataFrame":
    import pandas as pd

    try:
        # as text, since a cluster called 6214e9 is no number
        frame = pd.read_csv(path, dtype=str, skipinitialspace=True)
    except (ValueError, EOFError) as error:  # what pandas raises for bytes that are not text too
        raise BadInput(
            f"{path}: is not a CSV file that can be read ({_first_line(error)}); "
            "it needs a header line and one row per line, in UTF-8"
        ) from error
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes what is too much as an index
        raise BadInput(f"{path}: its rows have more fields than its header; name each column")
    return frame


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def require_columns(path: Path, frame: "pd.DataFrame", names: Sequence[str], why: str) -> None:
    """Refuse a table that lacks a column.

    Raises:
        BadInput: which ones are missing, and what they are for.
    """
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise BadInput(
            f"{path}: has no column {_names(missing)}; {why} (it has {_names(list(frame.columns))})"
        )


def selected(path: Path, frame: "pd.DataFrame", select: Mapping[str, str]) -> "pd.DataFrame":
    """The rows in which each named column has the wanted value, compared as numbers or text.

    Raises:
        BadInput: a column does not exist, or no rows are left.
    """
    require_columns(path, frame, tuple(select), "select by one that exists")
    for column, wanted in select.items():
        values = frame[column]
        chosen = values.astype("string") == str(wanted)
        if values.dtype.kind in "iuf":
            chosen = values == _number_or_nan(wanted)
        frame = frame[chosen.fillna(False).to_numpy(np.bool_)]
        if frame.empty:
            known = sorted(str(value) for value in values.dropna().unique())
            raise BadInput(f"{path}: no rows left with {column}={wanted}; it has {_names(known)}")
    return frame


def _number_or_nan(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _names(names: Sequence[object], most: int = 12) -> str:
    shown = ", ".join(f"'{str(name)[:60]}'" for name in list(names)[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def refuse_rows(path: Path, frame: "pd.DataFrame", wrong: BoolArray, problem: str) -> None:
    """Refuse a table in which rows are wrong; `problem` ends the sentence '3 rows ...'.

    Args:
        path: the table, for the message.
        frame: its rows; the index numbers them.
        wrong: which are wrong, shape (rows,).
        problem: what is wrong and what to do.

    Raises:
        BadInput: at least one row is wrong.
    """
    count = int(np.count_nonzero(wrong))
    if count:
        first = int(frame.index[int(np.argmax(wrong))]) + 1
        rows = f"row {first}" if count == 1 else f"{count} rows (the first is row {first})"
        raise BadInput(f"{path}: {rows}: {problem}")


def numbers(path: Path, frame: "pd.DataFrame", column: str) -> FloatArray:
    """A column as numbers, NaN where it says nothing, shape (rows,).

    Raises:
        BadInput: something is no number, or infinite.
    """
    values = _numbers_or_nan(frame[column])
    wrong = np.isnan(values) & frame[column].notna().to_numpy()
    advice = "give a number, or leave it empty where it is not known"
    refuse_rows(path, frame, wrong, f"'{column}' is not a number; {advice}")
    refuse_rows(path, frame, np.isinf(values), f"'{column}' is infinite; {advice}")
    return values


def _numbers_or_nan(values: "pd.Series") -> FloatArray:
    import pandas as pd

    if values.dtype.kind in "iufb":
        return values.to_numpy(np.float64, na_value=np.nan)
    plain = values.astype(object)  # a category has no numeric reading of its own
    return pd.to_numeric(plain, errors="coerce").to_numpy(np.float64)


def moments(path: Path, frame: "pd.DataFrame", column: str) -> FloatArray:
    """A column of times as seconds, NaN where it says nothing, shape (rows,).

    Numbers are seconds: Unix time, or before 2000 the time since the trace began. Text is ISO 8601
    with an offset.

    Raises:
        BadInput: a time has no zone, cannot be read, or is in milliseconds.
    """
    import pandas as pd

    values = frame[column]
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return _unix_seconds(values)
    is_time = values.dtype.kind == "M"  # without a zone, or it would be the type above
    seconds = np.array(_numbers_or_nan(values)) if not is_time else np.full(len(values), np.nan)
    is_text = values.notna().to_numpy() & np.isnan(seconds)
    if is_text.any():
        seconds[is_text] = _iso_moments(path, frame[is_text], column)
    problem = f"'{column}' lies beyond the year 5138; give seconds, not milliseconds"
    refuse_rows(path, frame, np.abs(seconds) > _MOST_SECONDS, problem)
    return seconds


def _iso_moments(path: Path, frame: "pd.DataFrame", column: str) -> FloatArray:
    import pandas as pd

    text = frame[column].astype("string")
    zoned = text.str.match(_ISO_WITH_ZONE).to_numpy(np.bool_)
    example = "" if zoned.all() else text[~zoned].iloc[0][:40]
    problem = f"'{column}' is '{example}', without a zone; {_ZONE_ADVICE}"
    refuse_rows(path, frame, ~zoned, problem)
    read = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
    problem = f"'{column}' holds a date that does not exist; {_ZONE_ADVICE}"
    refuse_rows(path, frame, read.isna().to_numpy(), problem)
    return _unix_seconds(read)


def _unix_seconds(values: "pd.Series") -> FloatArray:
    microseconds = values.dt.as_unit("us").astype("int64").to_numpy()
    return np.where(values.isna(), np.nan, microseconds / 1e6)


def refuse_mixed_times(path: Path, frame: "pd.DataFrame", *moments_seconds: FloatArray) -> None:
    """Refuse a table in which some times are dates and others count from a trace's own start.

    Raises:
        BadInput: both kinds occur, or a time is negative.
    """
    stacked = np.stack(moments_seconds)
    refuse_rows(path, frame, np.any(stacked < 0, axis=0), "a time before 1970; correct it")
    relative = np.any(stacked < CALENDAR_BEGINS_SECONDS, axis=0)
    if np.any(stacked >= CALENDAR_BEGINS_SECONDS):
        problem = "a time before 2000 beside times after it; is it a placeholder? Correct it"
        refuse_rows(path, frame, relative, problem)


def refuse_too_many_rows(path: Path, pools: int, seconds: float, step_seconds: int) -> None:
    """Refuse to lay a table on a grid that would not fit in memory.

    Raises:
        BadInput: the series of all pools together have more than `MOST_ROWS` rows.
    """
    rows = int(pools * seconds // step_seconds)
    if rows > MOST_ROWS:
        raise BadInput(
            f"{path}: {pools} pools over {seconds / 86400:.0f} days make {rows} rows of "
            f"{step_seconds} s, more than {MOST_ROWS}; cut it by --since and --until, or check "
            "its earliest and latest time"
        )
