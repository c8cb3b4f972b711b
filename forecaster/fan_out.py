"""The same work on many things at once: in this process, on this machine, or on a cluster.

One call stands before every back end, and the answers are the same to the last digit whichever does
the work: it decides where something runs, and never what comes out. Work that is given here must
depend on its arguments alone and be able to travel (no open files, no callbacks to this process).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from features.errors import BadInput, SourceUnavailable

if TYPE_CHECKING:
    from joblib import Parallel

Item = TypeVar("Item")
Answer = TypeVar("Answer")

Told = Callable[[int], None]
"""Called in this process with the index of an item whenever one is done."""


class Backend(StrEnum):
    """Who does the work."""

    SEQUENTIAL = "sequential"
    THREADING = "threading"
    LOKY = "loky"
    DASK = "dask"
    RAY = "ray"


REACHES_OUT = frozenset({Backend.DASK, Backend.RAY})
"""The back ends that can use workers of other machines."""


def tell_nobody(index: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class FanOut:
    """Where work runs, and how much of it at a time.

    Attributes:
        backend: who does the work.
        workers: processes or threads on this machine; a cluster that runs elsewhere has its own.
        scheduler: address of a Dask or Ray cluster that runs already; None starts workers here.
        threads: threads that a piece of work may use while it runs alone.
    """

    backend: Backend = Backend.LOKY
    workers: int = 1
    scheduler: str | None = None
    threads: int = 1

    def at_once(self, items: int) -> int:
        """How many of so many items run at the same time; 1 is in this process."""
        if self.backend is Backend.SEQUENTIAL:
            return 1
        return items if self.scheduler else min(self.workers, items)

    def threads_each(self, items: int) -> int:
        """Threads for each of so many items: all of them alone, one each beside others."""
        return 1 if self.at_once(items) > 1 else self.threads

    def map(
        self,
        function: Callable[[Item], Answer],
        items: Sequence[Item],
        told: Told = tell_nobody,
    ) -> list[Answer]:
        """Call a function with each item.

        Args:
            function: what to do; a function of a module, or a `functools.partial` of one.
            items: what to do it with.
            told: told of each item that is done, in the order in which they are; Ray tells of
                all at the end.

        Returns:
            The answers in the order of the items.

        Raises:
            BadInput: the back end is not installed.
            SourceUnavailable: a cluster cannot be reached or has no workers, or a worker died.
            Exception: whatever the function raises, as it is.
        """
        at_once = self.at_once(len(items))
        if at_once <= 1:
            return [_told_of(function(item), index, told) for index, item in enumerate(items)]
        with self._ready(at_once) as parallel, _deaths_explained():
            from joblib import delayed

            calls = (delayed(_numbered)(function, *numbered) for numbered in enumerate(items))
            done = {index: _told_of(answer, index, told) for index, answer in parallel(calls)}
        return [done[index] for index in range(len(items))]

    @contextmanager
    def _ready(self, at_once: int) -> Iterator["Parallel"]:
        """The back end as joblib knows it, with its workers there to be used."""
        from joblib import Parallel

        with self._configured(at_once):
            # Ray's back end cannot hand out answers as they come
            unordered = self.backend is not Backend.RAY
            yield Parallel(
                batch_size=1,
                max_nbytes=None,  # no copies in /dev/shm, which is tiny in a container
                return_as="generator_unordered" if unordered else "list",
            )

    def _configured(self, at_once: int) -> AbstractContextManager[None]:
        try:
            if self.backend is Backend.DASK:
                from forecaster.fan_out_dask import dask_configured

                return dask_configured(at_once, self.scheduler)
            if self.backend is Backend.RAY:
                from forecaster.fan_out_ray import ray_configured

                return ray_configured(at_once, self.scheduler)
        except ImportError as error:
            name = self.backend.value
            raise BadInput(
                f"compute.backend is '{name}', which is not installed; install tidecast[{name}]"
            ) from error
        return _locally_configured(self.backend, at_once)


@contextmanager
def _locally_configured(backend: Backend, workers: int) -> Iterator[None]:
    from joblib import parallel_config

    # more than one thread in each worker would ask for more CPUs than there are
    threads = {"inner_max_num_threads": 1} if backend is Backend.LOKY else {}
    with parallel_config(backend.value, n_jobs=workers, **threads):
        yield


@contextmanager
def _deaths_explained() -> Iterator[None]:
    """A worker process that is killed says nothing itself."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        yield
    except BrokenProcessPool as error:
        raise SourceUnavailable(
            "a worker process was killed, most often for want of memory; lower compute.workers or "
            "allow more memory"
        ) from error


def _numbered(function: Callable[[Item], Answer], index: int, item: Item) -> tuple[int, Answer]:
    return index, function(item)


def _told_of(answer: Answer, index: int, told: Told) -> Answer:
    told(index)
    return answer
