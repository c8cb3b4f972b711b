"""The history store when things go wrong: damage, full disks, other writers and kill -9."""

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from features.errors import BadInput
from features.pool import Pool, Shape
from features.series import DemandSeries
from forecaster.history import HistoryStore
from forecaster.history.partitions import Partition, write_partition
from tests.fakes.demand import FRAGMENT, MONDAY, WHOLE, tidal_series
from tests.fakes.sources import RecordedSource

ROOT = Path(__file__).parents[3]
DAY = 86_400
STEP = 300


@pytest.fixture
def store(tmp_path: Path) -> HistoryStore:
    """A store with two pools of three files each."""
    store = HistoryStore(tmp_path / "history")
    store.import_series([tidal_series(pool, days=40) for pool in (WHOLE, FRAGMENT)])
    return store


def first_file_of(store: HistoryStore, pool: Pool) -> Path:
    return Partition.of(store.directory, pool, MONDAY).path


def changed(pool: Pool) -> DemandSeries:
    return DemandSeries(pool, MONDAY, STEP, np.full(2_000, 7.0))


def content(store: HistoryStore) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(store.directory.iterdir())}


def cut_short(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped_in_the_middle(content: bytes) -> bytes:
    place = len(content) // 3
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


def foreign_parquet(content: bytes) -> bytes:
    return pd.DataFrame({"time_seconds": [1]}).to_parquet()


@pytest.mark.parametrize(
    "damage", [cut_short, flipped_in_the_middle, foreign_parquet, lambda content: b""]
)
class TestDamagedFile:
    """A file of the store holds something else than was written."""

    @pytest.fixture
    def damaged(self, store: HistoryStore, damage: object) -> Path:
        path = first_file_of(store, WHOLE)
        path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]  # a function
        return path

    def test_reading_names_the_file_and_the_way_out(
        self, store: HistoryStore, damaged: Path
    ) -> None:
        """One line says which file and what to do, and other pools can be read."""
        with pytest.raises(BadInput) as raised:
            store.series([WHOLE])
        assert str(raised.value).startswith(f"{damaged}: is damaged and cannot be read (")
        assert str(raised.value).endswith("move it away, and pull or import that time again")
        assert "\n" not in str(raised.value)
        assert len(store.series([FRAGMENT])[0]) == 40 * 288

    def test_all_pools_together_are_not_given_in_part(
        self, store: HistoryStore, damaged: Path
    ) -> None:
        """Who asks for everything is told that something is missing."""
        with pytest.raises(BadInput, match="is damaged"):
            store.series()

    def test_the_description_shows_it(self, store: HistoryStore, damaged: Path) -> None:
        """The damaged file is a problem; all else is described."""
        holdings = store.describe()
        assert [str(damaged)] == [line.split(": ")[0] for line in holdings.problems]
        assert (FRAGMENT, WHOLE) == tuple(held.pool for held in holdings.pools)
        assert holdings.pools[1].start_seconds > MONDAY

    def test_writing_keeps_all_other_pools_and_says_so(
        self, store: HistoryStore, damaged: Path
    ) -> None:
        """The damaged file is not overwritten, and everything else is."""
        before = damaged.read_bytes()
        with pytest.raises(BadInput, match="is damaged"):
            store.import_series([changed(WHOLE), changed(FRAGMENT)])
        assert before == damaged.read_bytes()
        assert 7.0 == store.series([FRAGMENT])[0].demand_gpus[0]

    def test_moving_it_away_is_the_way_out(self, store: HistoryStore, damaged: Path) -> None:
        """Then the time is imported again, as the message says."""
        damaged.unlink()
        store.import_series([tidal_series(WHOLE, days=40)])
        assert len(store.series([WHOLE])[0]) == 40 * 288


def test_a_pool_with_nothing_but_damage_is_not_passed_over(store: HistoryStore) -> None:
    """All pools together are refused even if the damaged one cannot say its name."""
    for path in store.directory.glob("a100_whole-node*.parquet"):
        path.write_bytes(b"")
    assert (FRAGMENT,) == store.pools()
    with pytest.raises(BadInput, match="is damaged"):
        store.series()
    assert 3 == len(store.describe().problems)


def test_a_file_under_another_pools_name_is_damage(store: HistoryStore) -> None:
    """Copying files about cannot mix up pools."""
    own = first_file_of(store, WHOLE)
    own.write_bytes(first_file_of(store, FRAGMENT).read_bytes())
    with pytest.raises(BadInput, match=r"is damaged .*it holds 'a100/fragment'"):
        store.series([WHOLE])


def test_a_file_of_a_later_format_is_not_guessed_at(
    store: HistoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older version refuses what a newer one wrote."""
    monkeypatch.setattr("forecaster.history.partitions._FORMAT", 2)
    write_partition(Partition.of(store.directory, WHOLE, MONDAY), tidal_series(days=1))
    monkeypatch.undo()
    with pytest.raises(BadInput, match="it has format 2, not 1"):
        store.series([WHOLE])


def test_a_file_that_cannot_be_opened_is_not_called_damaged(store: HistoryStore) -> None:
    """The way out of a missing permission is another one."""
    path = first_file_of(store, WHOLE)
    path.unlink()
    path.symlink_to(path.name)
    message = f"{path}: cannot be opened (Too many levels of symbolic links); make it readable"
    with pytest.raises(BadInput) as raised:
        store.series([WHOLE])
    assert message == str(raised.value)


def test_files_of_others_are_let_be(store: HistoryStore) -> None:
    """What is not named like a file of the store is neither read nor removed."""
    (store.directory / "notes.parquet").write_text("mine")
    (store.directory / "README").write_text("mine")
    assert 2 == len(store.series())
    store.import_series([changed(WHOLE)])
    assert "mine" == (store.directory / "notes.parquet").read_text()


def test_a_second_writer_is_refused(store: HistoryStore) -> None:
    """Two writers never interleave; readers go on meanwhile."""
    refused = []

    class MeanwhileAnother(RecordedSource):
        def demand(self, start_seconds: int, end_seconds: int, step_seconds: int):  # type: ignore[no-untyped-def]
            with pytest.raises(BadInput) as raised:
                HistoryStore(store.directory).import_series([changed(WHOLE)])
            refused.append(str(raised.value))
            assert 2 == len(HistoryStore(store.directory).series())
            return super().demand(start_seconds, end_seconds, step_seconds)

    store.pull(MeanwhileAnother([tidal_series()]), MONDAY + 5 * DAY, days=2, step_seconds=STEP)
    assert [
        f"{store.directory}: another tidecast is writing to this history; try again when it is done"
    ] == refused
    store.import_series([changed(WHOLE)])


@contextmanager
def files_no_larger_than(most_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_write_that_the_system_cuts_short_changes_nothing(store: HistoryStore) -> None:
    """When the system takes only a part of a file, the old one stays, and no part is left."""
    before = content(store)
    with files_no_larger_than(1_000), pytest.raises(BadInput) as raised:
        store.import_series([changed(WHOLE)])
    assert "cannot be written (File too large); make room" in str(raised.value)
    assert before == content(store)


def test_a_full_disk_changes_nothing(store: HistoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without room there is one clear line, the store is as before, and so is the next pull."""

    def half(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = content(store)
    source = RecordedSource([tidal_series(Pool("h100", Shape.FRAGMENT))])
    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(BadInput, match=r"cannot be written \(No space left on device\); make room"):
        store.pull(source, MONDAY + 5 * DAY, days=2, step_seconds=STEP)
    monkeypatch.undo()
    assert before == content(store)
    store.pull(source, MONDAY + 5 * DAY, days=2, step_seconds=STEP)
    assert source.asked[0] == source.asked[1]
    assert 3 == len(store.pools())


def test_a_read_only_directory_can_be_read(
    store: HistoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing is refused in one line; reading goes on."""

    def refuse(path: Path, mode: str = "r", *rest: object, **more: object) -> object:
        if set(mode) & set("wax+"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return path_open(path, mode, *rest, **more)  # type: ignore[arg-type]

    path_open = Path.open
    before = content(store)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(BadInput) as raised:
        store.import_series([changed(WHOLE)])
    assert (
        f"{store.directory}: history cannot be written there (Read-only file system); make it "
        "writable, or set another data directory"
    ) == str(raised.value)
    assert 2 == len(store.series())
    assert before == content(store)


def test_a_file_in_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    """A data directory that is none is said to be unwritable."""
    (tmp_path / "data").write_text("a file")
    store = HistoryStore(tmp_path / "data" / "history")
    with pytest.raises(BadInput, match=r"history cannot be written there \(Not a directory\)"):
        store.import_series([changed(WHOLE)])
    assert [] == store.series()


def test_leftovers_of_a_killed_writer_are_ignored_and_cleared(store: HistoryStore) -> None:
    """Half a file of a writer that is gone is never read, and goes with the next write."""
    name = first_file_of(store, WHOLE).name
    leftover = store.directory / f".{name}.4711.part"
    leftover.write_bytes(b"PAR1 half a file")
    assert 2 == len(store.series())
    store.import_series([changed(WHOLE)])
    assert not leftover.exists()


KILLED_AT_EVERY_LINE = '''
"""Forks writers that are killed at one line each, and looks at what they leave behind."""

import os, shutil, signal, sys
from pathlib import Path

import numpy as np

from features.pool import Pool, Shape
from features.series import DemandSeries
from features.sources.protocol import SourceAnswer
from forecaster.history import HistoryStore

top = Path(sys.argv[1])
directory, spare, lines_file = top / "history", top / "spare", top / "lines"
START, STEP, ROWS = 1_767_398_400, 3_600, 24 * 40
FILE = 28 * 86_400
POOLS = [Pool("a", Shape.FRAGMENT), Pool("b", Shape.FRAGMENT)]
WATCHED = ("r/files.py", "history/store.py", "history/partitions.py", "history/answered.py")
WATCHED_IN_PATHLIB = {"write_bytes", "write_text", "replace", "unlink"}


class Constant:
    name = "constant"

    def __init__(self, demand):
        self.demand_gpus = float(demand)

    def demand(self, start, end, step):
        values = np.full((end - start) // step, self.demand_gpus)
        return SourceAnswer(tuple(DemandSeries(pool, start, step, values) for pool in POOLS))


def write(demand):
    HistoryStore(directory).pull(Constant(demand), START + ROWS * STEP, 40, STEP)


def killed_after(lines):
    """Write in a fork; True if it was killed after so many lines of watched code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    left = lines

    def trace(frame, event, argument):
        nonlocal left
        code = frame.f_code
        in_pathlib = "pathlib" in code.co_filename and code.co_name in WATCHED_IN_PATHLIB
        if not (in_pathlib or code.co_filename.endswith(WATCHED)):
            return None
        if event == "line":
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    write(2)
    sys.settrace(None)
    lines_file.write_text(str(lines - left))
    os._exit(0)


def start_again():
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(spare, directory)


write(1)
(directory / "answered.json").unlink()  # so that everything is asked for again
shutil.copytree(directory, spare)
assert not killed_after(1_000_000)
lines = int(lines_file.read_text())
outcomes = set()
for point in range(0, lines, lines // 59):
    start_again()
    assert killed_after(point), point
    found = HistoryStore(directory).series()
    assert [series.pool for series in found] == POOLS, found
    for series in found:
        assert len(series) == ROWS and series.observed.all(), point
        for part in np.split(series.demand_gpus, np.flatnonzero(series.times_seconds % FILE == 0)):
            assert len(set(part)) <= 1 and set(part) <= {1.0, 2.0}, point
    outcomes.add((float(found[0].demand_gpus[0]), float(found[1].demand_gpus[-1])))
    write(3)
    newest = [series.demand_gpus[-1] for series in HistoryStore(directory).series()]
    assert newest == [3.0, 3.0], point
    assert not list(directory.glob(".*.part")), point
assert outcomes == {(1.0, 1.0), (2.0, 1.0), (2.0, 2.0)}, outcomes
print("survived")
'''


def test_a_writer_killed_at_any_line_leaves_old_or_new(tmp_path: Path) -> None:
    """After kill -9 anywhere each file is the old or the new one, and the next writer goes on."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED_AT_EVERY_LINE, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ("survived\n", "") == (done.stdout, done.stderr)
