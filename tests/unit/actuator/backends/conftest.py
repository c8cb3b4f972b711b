"""A Kubernetes API server to write to, and a connection that does not wait."""

from collections.abc import Iterator

import pytest

from actuator.cluster.access import ClusterAccess
from actuator.cluster.connection import KubernetesConnection
from tests.fakes.kubernetes_objects import ObjectStore
from tests.fakes.kubernetes_resources import RESOURCES, Resource
from tests.fakes.kubernetes_server import FakeKubernetes

MACHINES = Resource("cluster.x-k8s.io/v1beta1", "Machine", "machines")


@pytest.fixture
def cluster() -> Iterator[FakeKubernetes]:
    with FakeKubernetes(store=ObjectStore((*RESOURCES, MACHINES))) as fake:
        yield fake


@pytest.fixture
def connection(cluster: FakeKubernetes) -> Iterator[KubernetesConnection]:
    access = ClusterAccess(
        url=cluster.url, request_timeout_seconds=2.0, requests_per_second=1000, attempts=1
    )
    made = KubernetesConnection(access)
    yield made
    made.close()
