"""The files of the store: one Parquet file per pool and 28 days.

A file is whole or not there, says itself whose it is, and has a name that no pool can misuse:
whatever a label holds, the name is made of a few harmless letters of it and a digest. A file that
cannot be trusted must never be read as if it held nothing.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np

from features.errors import BadInput
from features.pool import Pool, Shape
from features.series import COLUMNS, DemandSeries
from forecaster.files import replacing

PARTITION_SECONDS = 28 * 86400
_FORMAT = 1
_METADATA_KEY = b"tidecast"
_NOT_AS_WRITTEN = (OSError, ValueError, KeyError, TypeError, BadInput)  # Arrow raises all of them
_NAME = re.compile(r"(?P<key>[\w-]+)\.(?P<date>\d{4}-\d\d-\d\d)\.parquet", re.ASCII)


class DamagedFile(BadInput):
    """A file of the store that cannot be read, and what to do about it."""


@dataclass(frozen=True, order=True)
class Partition:
    """Where 28 days of one pool are kept.

    Attributes:
        key: what stands for the pool in file names.
        begin_seconds: Unix time at which the 28 days begin.
        path: the file.
    """

    key: str
    begin_seconds: int
    path: Path

    @classmethod
    def of(cls, directory: Path, pool: Pool, seconds: int) -> "Partition":
        """The partition of a pool that a moment belongs to."""
        begin = seconds // PARTITION_SECONDS * PARTITION_SECONDS
        date = datetime.fromtimestamp(begin, tz=UTC).date().isoformat()
        key = key_of(pool)
        return cls(key, begin, directory / f"{key}.{date}.parquet")

    @property
    def end_seconds(self) -> int:
        """Unix time at which the 28 days end."""
        return self.begin_seconds + PARTITION_SECONDS


def key_of(pool: Pool) -> str:
    """What stands for a pool in file names: letters of its name to read, and a digest of it."""
    readable = re.sub(r"[^\w-]+", "_", str(pool), flags=re.ASCII)[:40].strip("_")
    whole = f"{pool.gpu_type}\0{pool.shape}".encode("utf-8", "surrogatepass")
    return f"{readable or 'pool'}-{hashlib.sha256(whole).hexdigest()[:16]}"


def partition_named(directory: Path, file_name: str) -> Partition | None:
    """The partition that a file's name stands for; None for what is no file of the store."""
    name = _NAME.fullmatch(file_name)
    if name is None:
        return None
    begin = datetime.fromisoformat(name["date"]).replace(tzinfo=UTC)
    return Partition(name["key"], int(begin.timestamp()), directory / file_name)


def partitions_in(directory: Path) -> dict[str, list[Partition]]:
    """All partitions of a store by the key of their pool, in the order of time."""
    found: dict[str, list[Partition]] = {}
    for path in sorted(directory.glob("*.parquet")):
        partition = partition_named(directory, path.name)
        if partition is not None:
            found.setdefault(partition.key, []).append(partition)
    return found


def split(directory: Path, series: DemandSeries) -> Iterator[tuple[Partition, DemandSeries]]:
    """The rows of a series by the partition in which they begin."""
    begins = series.times_seconds // PARTITION_SECONDS
    firsts = np.flatnonzero(np.diff(begins, prepend=-1))
    for first, stop in zip(firsts, [*firsts[1:], len(series)], strict=True):
        start = series.start_seconds + int(first) * series.step_seconds
        end = series.start_seconds + int(stop) * series.step_seconds
        yield Partition.of(directory, series.pool, start), series.between(start, end)


def write_partition(partition: Partition, series: DemandSeries) -> None:
    """Replace a partition's file as a whole.

    Raises:
        BadInput: it cannot be written; what stood there before stands there still.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    about = {
        "format": _FORMAT,
        "gpu_type": series.pool.gpu_type,
        "shape": series.pool.shape,
        "step_seconds": series.step_seconds,
    }
    columns = {"time_seconds": series.times_seconds, "capped": series.capped}
    columns |= {name: getattr(series, name) for name in COLUMNS}
    table = pa.table(columns).replace_schema_metadata({_METADATA_KEY: json.dumps(about)})
    written = pa.BufferOutputStream()
    pq.write_table(table, written, write_page_checksum=True)
    with replacing(partition.path) as part:
        part.write_bytes(written.getvalue())


def read_partition(partition: Partition) -> DemandSeries:
    """What a partition's file holds.

    Raises:
        DamagedFile: it cannot be read, or is not what its name says.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _opened(partition) as file:
        try:
            table = pq.ParquetFile(file, page_checksum_verification=True).read(use_threads=False)
            pool, step_seconds = _about(partition, table.schema.metadata)
            columns = {name: table[name].to_numpy() for name in (*COLUMNS, "capped")}
            times = table["time_seconds"].to_numpy()
            return DemandSeries.from_rows(pool, step_seconds, times, columns)
        except (pa.ArrowException, *_NOT_AS_WRITTEN) as error:
            raise _damaged(partition, error) from error


def read_about(partition: Partition) -> tuple[Pool, int]:
    """Whose history a partition holds and on which step, without reading its rows.

    Raises:
        DamagedFile: it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _opened(partition) as file:
        try:
            return _about(partition, pq.read_schema(file).metadata)
        except (pa.ArrowException, *_NOT_AS_WRITTEN) as error:
            raise _damaged(partition, error) from error


@contextmanager
def _opened(partition: Partition) -> Iterator[IO[bytes]]:
    try:
        file = partition.path.open("rb")
    except OSError as error:
        raise DamagedFile(
            f"{partition.path}: cannot be opened ({error.strerror or error}); make it readable"
        ) from error
    with file:
        yield file


def _about(partition: Partition, metadata: dict[bytes, bytes] | None) -> tuple[Pool, int]:
    about: dict[str, Any] = json.loads((metadata or {})[_METADATA_KEY])
    if about["format"] != _FORMAT:
        raise ValueError(f"it has format {about['format']}, not {_FORMAT}")
    pool = Pool(about["gpu_type"], Shape(about["shape"]))
    if key_of(pool) != partition.key:
        raise ValueError(f"it holds {str(pool)[:60]!r}")
    return pool, int(about["step_seconds"])


def _damaged(partition: Partition, cause: Exception) -> DamagedFile:
    reason = (str(cause).strip().splitlines() or [type(cause).__name__])[0][:200]
    return DamagedFile(
        f"{partition.path}: is damaged and cannot be read ({reason}); move it away, and pull or "
        "import that time again"
    )
