"""The group of settings that says which cluster is acted on, and how it is read."""

from pathlib import Path

from pydantic import Field, SecretStr, field_validator

from actuator.cluster.read_settings import NODE_POOL_LABELS
from actuator.cluster.utilisation import DEFAULT_QUERY
from actuator.warm_up import OnFailure
from forecaster.settings.groups import Group


class WarmUpGroup(Group):
    """What a new node runs before it counts as capacity."""

    job_file: Path | None = None
    """A Kubernetes Job (YAML) that pulls images or fills a data cache; started once on each new
    node that carries the taint `tidecast.io/warming`. None for no warm-up."""

    timeout_seconds: int = Field(default=1800, ge=1, le=86_400)
    """Longest time for it."""

    on_failure: OnFailure = OnFailure.KEEP
    """What becomes of a node whose warm-up fails: `release` lets jobs on it all the same, `keep`
    leaves it tainted and reports it."""


class DrainGroup(Group):
    """Whether nodes that carry jobs may be emptied; it needs deploy/kubernetes/drain-rbac.yaml."""

    allowed: bool = False
    """True lets Tidecast cordon nodes and evict jobs where that costs clearly less than a node."""

    wait_seconds: int = Field(default=7200, ge=0, le=604_800)
    """How long jobs may take to end or to report a checkpoint by themselves."""

    asked_wait_seconds: int = Field(default=600, ge=0, le=86_400)
    """How long they may take once they were asked for one."""

    margin_factor: float = Field(default=2.0, ge=1, le=100)
    """Keeping a node must cost this many times what its jobs would lose."""

    horizon_seconds: int = Field(default=14_400, ge=60, le=604_800)
    """How long a node would be kept where its jobs do not say when they end."""

    checkpoint_webhook: str = ""
    """URL of a service that knows about checkpoints, besides the annotations on pods."""


class ClusterSettings(Group):
    """The Kubernetes cluster, what its API may be asked, and how its nodes are read."""

    state_file: Path | None = None
    """Read the cluster from this JSON file instead of its API, for trials."""

    url: str = ""
    """The API server itself; kubeconfig or the pod's service account if left out."""

    token: SecretStr = SecretStr("")
    """Bearer token for that URL; better given by TIDECAST_CLUSTER__TOKEN."""

    kubeconfig: str = ""
    """Which kubeconfig; the service account where there is one, or the usual file, if left out."""

    context: str = ""
    """Which of its contexts; the current one if left out."""

    namespace: str = "tidecast"
    """Where Tidecast keeps its own objects."""

    request_timeout_seconds: float = Field(default=10.0, gt=0, le=300)
    """Longest time for one request."""

    requests_per_second: int = Field(default=5, ge=1, le=100)
    """Most requests in any second."""

    sync_timeout_seconds: float = Field(default=60.0, gt=0, le=3600)
    """How long a command waits until nodes and pods are listed."""

    node_pool_labels: tuple[str, ...] = NODE_POOL_LABELS
    """Node labels that hold the node pool; the first that is there counts."""

    utilisation_query: str = DEFAULT_QUERY
    """PromQL for how busy each node's GPUs are, 0 to 1, by a label that names the node; empty where
    nothing measures it."""

    warm_up: WarmUpGroup = WarmUpGroup()

    drain: DrainGroup = DrainGroup()

    @field_validator("url")
    @classmethod
    def _url_is_one(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError(f"'{url}' is not a URL; write it as https://host:6443")
        return url
