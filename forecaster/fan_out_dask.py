"""Dask as the one that does the work: a cluster that runs already, or worker processes here.

The one module that knows Dask; it must be imported only where Dask is asked for, and importing it
fails where Dask is not installed.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from typing import Any

import dask
from distributed import Client, LocalCluster
from distributed.scheduler import KilledWorker
from joblib import parallel_config
from joblib._dask import DaskDistributedBackend

from features.errors import SourceUnavailable

PATIENCE_SECONDS = 10
LARGEST_MESSAGE = "4GiB"
"""Below this Dask does not complain of large messages; a cluster's history is one."""


@contextmanager
def dask_configured(workers: int, scheduler: str | None) -> Iterator[None]:
    """Have joblib use Dask.

    Args:
        workers: processes to start here, of one thread each.
        scheduler: address of a scheduler that runs already; its own workers count then.

    Raises:
        SourceUnavailable: the scheduler does not answer or has no workers, or workers died again
            and again.
    """
    quiet = dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGEST_MESSAGE})
    place = _workers_here(workers) if scheduler is None else nullcontext(scheduler)
    with quiet, place as address, _client(address) as client:
        try:
            with parallel_config(_TellingOfDeaths(client)):
                yield
        except KilledWorker as error:
            raise SourceUnavailable(
                "Dask's workers died again and again, most often for want of memory; allow them "
                "more, or lower compute.workers"
            ) from error


def _workers_here(workers: int) -> LocalCluster:
    return LocalCluster(  # type: ignore[no-untyped-call] # Dask has types in part
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # any free port, for nobody else
        silence_logs=logging.CRITICAL,
    )


@contextmanager
def _client(address: str | LocalCluster) -> Iterator[Client]:
    """A client of a scheduler that has workers."""
    try:
        client = Client(  # type: ignore[no-untyped-call] # Dask has types in part
            address, timeout=PATIENCE_SECONDS, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise SourceUnavailable(
            f"no Dask scheduler answers at {address} ({error}); check compute.scheduler"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE_SECONDS)
        except TimeoutError as error:
            raise SourceUnavailable(
                f"the Dask scheduler at {address} has no workers; start some"
            ) from error
        yield client


class _TellingOfDeaths(DaskDistributedBackend):  # type: ignore[misc] # joblib has no types
    """joblib's own back end, which would wait forever for work whose workers died."""

    def __init__(self, client: Client) -> None:
        super().__init__(client=client)

    def submit(self, func: Any, callback: Callable[[Any], None]) -> "Future[Any]":
        """Hand a piece of work out; the callback hears of its failure too."""
        future: Future[Any] = super().submit(func, callback)

        def tell_of_failure(ended: "Future[Any]") -> None:
            if (error := ended.exception()) is not None:
                callback(error)

        future.add_done_callback(tell_of_failure)
        return future
