"""Wherever work runs, the answers, their order and their errors are the same."""

import os
import sys
import threading

import pytest

from features.errors import BadInput, SourceUnavailable
from forecaster.fan_out import Backend, FanOut
from tests.fakes.work import die_of_two, meet, meeting_point, process_of, refuse_two, square

HERE = FanOut(Backend.SEQUENTIAL, workers=2)
THREADS = FanOut(Backend.THREADING, workers=2)
PROCESSES = FanOut(Backend.LOKY, workers=2)
every_local_backend = pytest.mark.parametrize("fan_out", [HERE, THREADS, PROCESSES])


@every_local_backend
def test_answers_come_in_the_order_of_the_items(fan_out: FanOut) -> None:
    """Whichever is done first."""
    assert [square(number) for number in range(12)] == fan_out.map(square, range(12))


def test_answers_keep_their_order_when_the_last_is_done_first() -> None:
    """The first item is not done before the second has been told of."""
    told_of_second = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            assert told_of_second.wait(timeout=60)
        return number

    assert [0, 1] == THREADS.map(work, [0, 1], lambda _: told_of_second.set())


@every_local_backend
def test_nothing_to_do_is_no_answer(fan_out: FanOut) -> None:
    """An empty fleet needs no workers."""
    assert [] == fan_out.map(square, [])


@every_local_backend
def test_an_error_of_the_work_surfaces_as_itself(fan_out: FanOut) -> None:
    """Its type and its text are what the work raised."""
    with pytest.raises(LookupError, match=r"^'?two is not to be had'?$"):
        fan_out.map(refuse_two, range(4))


@every_local_backend
def test_every_item_that_is_done_is_told_of_once(fan_out: FanOut) -> None:
    """In whatever order."""
    told: list[int] = []
    fan_out.map(square, range(5), told.append)
    assert [0, 1, 2, 3, 4] == sorted(told)


def test_processes_work_at_the_same_time() -> None:
    """Two pieces of work wait for each other, in two processes that are not this one."""
    with meeting_point() as place:
        processes = set(PROCESSES.map(meet, [place, place]))
    assert 2 == len(processes - {os.getpid()})


def test_threads_work_at_the_same_time() -> None:
    """Two pieces of work wait for each other in this process."""
    with meeting_point() as place:
        assert [os.getpid()] * 2 == THREADS.map(meet, [place, place])


def test_a_single_item_stays_here() -> None:
    """It is not worth the journey."""
    assert [os.getpid()] == FanOut(Backend.LOKY, workers=4).map(process_of, [1])


def test_a_worker_that_is_killed_is_one_clear_line() -> None:
    """It says what to do instead of what a process pool is."""
    with pytest.raises(SourceUnavailable, match=r"was killed.*lower compute\.workers"):
        PROCESSES.map(die_of_two, range(4))
    assert [0, 1] == PROCESSES.map(square, range(2))


@pytest.mark.parametrize(
    ("backend", "module", "extra"),
    [(Backend.DASK, "distributed", "dask"), (Backend.RAY, "ray", "ray")],
)
def test_a_missing_extra_is_named(
    backend: Backend, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who sets a back end that is not installed learns how to install it."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"forecaster.fan_out_{extra}", raising=False)
    with pytest.raises(BadInput, match=rf"'{extra}', which is not installed.*tidecast\[{extra}\]"):
        FanOut(backend, workers=2).map(square, range(2))


@pytest.mark.parametrize(
    ("fan_out", "items", "at_once", "threads_each"),
    [
        (FanOut(Backend.LOKY, workers=4, threads=8), 9, 4, 1),
        (FanOut(Backend.LOKY, workers=4, threads=8), 2, 2, 1),
        (FanOut(Backend.LOKY, workers=4, threads=8), 1, 1, 8),
        (FanOut(Backend.LOKY, workers=1, threads=8), 9, 1, 8),
        (FanOut(Backend.SEQUENTIAL, workers=4, threads=8), 9, 1, 8),
        (FanOut(Backend.DASK, workers=1, scheduler="tcp://dask:8786", threads=8), 9, 9, 1),
    ],
)
def test_who_works_beside_others_gets_one_thread(
    fan_out: FanOut, items: int, at_once: int, threads_each: int
) -> None:
    """So that together they ask for no more CPUs than there are."""
    assert at_once == fan_out.at_once(items)
    assert threads_each == fan_out.threads_each(items)
