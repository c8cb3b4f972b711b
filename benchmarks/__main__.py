"""Runs the benchmarks named on the command line, or all of them.

python -m benchmarks [features] [training] [startup] [prometheus] [acting] [day] [service] [prom]
"""

import sys
from collections.abc import Callable

from benchmarks import acting, day, features, prom, prometheus, service, startup, training
from benchmarks.measuring import Row, printed

BENCHMARKS: dict[str, Callable[[], list[Row]]] = {
    "features": features.rows,
    "training": training.rows,
    "startup": startup.rows,
    "prometheus": prometheus.rows,
    "acting": acting.rows,
    "day": day.rows,
    "service": service.rows,
    "prom": prom.rows,
}


def main() -> None:
    """Print one table per benchmark."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"no benchmark '{unknown[0]}'; choose from {', '.join(BENCHMARKS)}")
    for name in names:
        print(f"\n{name}")
        print(printed(BENCHMARKS[name]()), flush=True)


if __name__ == "__main__":
    main()
