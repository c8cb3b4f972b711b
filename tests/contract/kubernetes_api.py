"""A Kubernetes API to hold a contract against: our fake, or a real one that somebody names.

`TIDECAST_TEST_KUBECONFIG` names a kubeconfig of a cluster that may be written to: nodes, pods and
deployments called `tidecast-test-...` are created there and removed again.
"""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from actuator.cluster.access import ClusterAccess
from actuator.cluster.api_errors import NotThere
from actuator.cluster.connection import MERGE_PATCH, KubernetesConnection
from tests.fakes.kubernetes_server import FakeKubernetes

Json = dict[str, Any]
KUBECONFIG = "TIDECAST_TEST_KUBECONFIG"
KINDS = ("fake", "real") if os.environ.get(KUBECONFIG) else ("fake",)
"""What the contract is held against on this machine."""

NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


class Api:
    """What a test does to a cluster, and undoes."""

    def __init__(self, access: ClusterAccess) -> None:
        self.access = access
        self.connection = KubernetesConnection(access)
        self.prefix = f"tidecast-test-{uuid.uuid4().hex[:8]}"
        self._made: list[str] = []

    def create(self, collection: str, body: Json) -> Json:
        """Create an object, and then set its status, as kubelets and schedulers do."""
        path = f"{collection}/{body['metadata']['name']}"
        self._made.append(path)
        made = self.connection.request("POST", collection, {}, body)
        if status := body.get("status"):
            return self.set_status(path, status)
        return made

    def set_status(self, path: str, status: Json) -> Json:
        """Set the status of an object."""
        body = {"status": status}
        return self.connection.request("PATCH", f"{path}/status", {}, body, MERGE_PATCH)

    def remember(self, path: str) -> str:
        """Remove it in the end."""
        self._made.append(path)
        return path

    def delete(self, path: str) -> None:
        """Remove an object at once, if it is there."""
        body = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        try:
            self.connection.request("DELETE", path, {}, body)
        except NotThere:
            return

    def leave(self) -> None:
        """Remove everything that was created."""
        for path in self._made:
            self.delete(path)
        self.connection.close()


@contextmanager
def kubernetes_api(kind: str) -> Iterator[Api]:
    """The fake, or the real one that is named."""
    if kind == "fake":
        with FakeKubernetes(bookmark_seconds=0.1) as fake:
            yield Api(ClusterAccess(fake.url, requests_per_second=1000))
        return
    api = Api(ClusterAccess(kubeconfig=os.environ[KUBECONFIG], requests_per_second=100))
    try:
        yield api
    finally:
        api.leave()
