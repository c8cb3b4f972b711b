"""What a Prometheus answers that records our rules for one pool, told its demand over time."""

from collections.abc import Callable

from tests.fakes.prometheus_server import Asked, Reply, names, success

POOL_LABELS = {"gpu_type": "a100", "shape": "whole-node"}
LAST_SCRAPE = "tidecast:last_scrape_timestamp_seconds"
LEVELS = ("demand_gpus", "running_gpus")


def recorded(
    demand_gpus: Callable[[int], float | None], replicas: int = 1
) -> Callable[[Asked], Reply]:
    """A Prometheus that answers with this demand at each instant; None where nothing was scraped.

    Args:
        demand_gpus: by Unix time; NaN is answered as such.
        replicas: how many copies of each series it has.
    """

    def answers(asked: Asked) -> Reply:
        if asked.path.endswith("/labels"):
            return names(["__name__"])
        query = asked.parameters["query"]
        told = [(at, level) for at in _instants(asked) if (level := demand_gpus(at)) is not None]
        if LAST_SCRAPE in query:
            return success([_matrix([(at, 1.0) for at, _ in told], {})])
        if not any(f"tidecast:{level}" in query for level in LEVELS):
            return success([])
        copies = [POOL_LABELS | {"prometheus_replica": str(copy)} for copy in range(replicas)]
        return success([_matrix(told, labels) for labels in copies])

    return answers


def _instants(asked: Asked) -> range:
    first, last, step = (int(float(asked.parameters[one])) for one in ("start", "end", "step"))
    return range(first, last + 1, step)


def _matrix(samples: list[tuple[int, float]], labels: dict[str, str]) -> dict[str, object]:
    return {"metric": labels, "values": [[at, str(value)] for at, value in samples]}
