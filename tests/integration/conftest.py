"""A Prometheus that holds 35 days of a small cluster, started once for all who ask it."""

from collections.abc import Iterator

import pytest

from tests.fakes.real_prometheus import RealPrometheus, seed
from tests.integration.small_cluster import small_cluster


@pytest.fixture(scope="session")
def cluster_prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPrometheus]:
    server = RealPrometheus(seed(tmp_path_factory.mktemp("cluster"), small_cluster().openmetrics()))
    server.start()
    yield server
    server.stop()
