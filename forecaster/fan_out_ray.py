"""Ray as the one that does the work: a cluster that runs already, or worker processes here.

The one module that knows Ray; it must be imported only where Ray is asked for, and importing it
fails where Ray is not installed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from joblib import parallel_config

from features.errors import SourceUnavailable

# by name, so that types can be checked where Ray is not installed
ray = import_module("ray")
register_ray = import_module("ray.util.joblib").register_ray


@contextmanager
def ray_configured(workers: int, scheduler: str | None) -> Iterator[None]:
    """Have joblib use Ray.

    Args:
        workers: processes to start here, of one CPU each.
        scheduler: address of a cluster that runs already, such as `ray://head:10001`; its own
            CPUs count then.

    Raises:
        SourceUnavailable: the cluster does not answer, or a worker died.
    """
    where: dict[str, Any] = {"address": scheduler}
    if scheduler is None:
        # "local" starts a cluster even where another one runs
        where = {"address": "local", "num_cpus": workers, "include_dashboard": False}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    try:
        ray.init(**where, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError) as error:
        raise SourceUnavailable(
            f"Ray does not answer at {scheduler or 'this machine'} ({error}); check "
            "compute.scheduler"
        ) from error
    try:
        register_ray()
        with parallel_config("ray", n_jobs=int(ray.cluster_resources()["CPU"])):
            yield
    except ray.exceptions.RayActorError as error:
        raise SourceUnavailable(
            "a Ray worker died, most often for want of memory; allow it more, or lower "
            "compute.workers"
        ) from error
    finally:
        ray.shutdown()
