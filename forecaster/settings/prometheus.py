"""How to reach Prometheus, and which of its series say what demand is."""

from pydantic import Field, SecretStr, field_validator, model_validator

from features.sources.pod_settings import MIG_RESOURCES
from features.sources.query_plan import Profile
from forecaster.settings.groups import Group


class SharedResourceGroup(Group):
    """A resource whose unit is a part of a GPU."""

    name_pattern: str
    """Regular expression on the resource as kube-state-metrics writes it."""

    gpus: float = Field(gt=0, le=1)
    """The part of a GPU that one unit is."""


class PodGroup(Group):
    """What the cluster calls its GPUs, and which pods are no demand."""

    selector: str = ""
    """Label matchers for every series, such as `cluster="prod"`, where one Prometheus holds
    several clusters."""

    gpu_resources: tuple[str, ...] = ("nvidia_com_gpu",)
    """Resources whose unit is a GPU, as kube-state-metrics writes them."""

    shared_resources: tuple[SharedResourceGroup, ...] = tuple(
        SharedResourceGroup(name_pattern=one.name_pattern, gpus=one.gpus) for one in MIG_RESOURCES
    )
    """Resources whose unit is a part of a GPU; the first pattern that fits counts."""

    type_labels: tuple[str, ...] = ("nvidia_com_gpu_product",)
    """Kubernetes labels that hold the GPU type, as Prometheus writes them; looked for on nodes, in
    node selectors and on pods, in this order."""

    dcgm_metric: str = "DCGM_FI_DEV_GPU_UTIL"
    """DCGM series whose `modelName` names the type of nodes without such a label, or nothing."""

    default_gpu_type: str = ""
    """Type of pending pods that do not say; else the type that the cluster has most nodes of."""

    gpus_per_node: dict[str, int] = Field(default_factory=dict)
    """GPUs of a node by type, where the cluster's nodes do not show it."""

    default_gpus_per_node: int = Field(default=8, ge=1)
    """GPUs of a node of a type that has no node yet."""

    node_shape_label: str = ""
    """Node label that holds `whole-node` or `fragment`, as Prometheus writes it, where nodes are
    kept apart; empty where every node serves both shapes."""

    placeholder_pods: str = "tidecast-placeholder-.+"
    """Regular expression on the names of pods that only hold nodes ready; they are no demand."""

    placeholder_priority_classes: str = "tidecast-placeholder.*"
    """The same on the name of their priority class."""


class CustomPoolGroup(Group):
    """PromQL of your own for one pool; each expression gives one series."""

    pool: str
    """The pool, such as `a100/whole-node`."""

    demand_gpus: str
    """GPUs that running and pending jobs ask for; the highest of each step is taken."""

    running_gpus: str | None = None
    """GPUs of running jobs, at the close of a step."""

    pending_gpus: str | None = None
    """GPUs of waiting jobs, at the close of a step."""

    queued_jobs: str | None = None
    """Waiting jobs, at the close of a step."""

    submitted_jobs: str | None = None
    """Jobs submitted inside a step."""

    submitted_gpus: str | None = None
    """GPUs of the jobs submitted inside a step."""

    demand_nodes: str | None = None
    """Nodes that the demand needs once packed."""

    capacity_gpus: str | None = None
    """Allocatable GPUs of ready, schedulable nodes."""

    capped: str | None = None
    """Above 0 while a quota keeps jobs out of `demand_gpus`, such as how many; 0 while it does not.
    A step in which it was above 0, or is not known, counts in no statistics of errors."""


class CustomGroup(Group):
    """The profile `custom`: any PromQL."""

    pools: tuple[CustomPoolGroup, ...] = ()
    """The pools and their expressions."""

    presence: str = ""
    """A plain series that is there whenever the others were scraped, such as `kube_node_created`.
    With it, a pool without samples has no demand; without it, its demand is not known."""


class PrometheusSettings(Group):
    """Where Prometheus (or Thanos, Mimir, VictoriaMetrics) is, and what it may cost."""

    url: str | None = None
    """Base URL, such as `http://prometheus.monitoring:9090`, without `/api/v1`."""

    profile: Profile = Profile.KUBE_STATE_METRICS
    """Which series it has: `kube-state-metrics`, `recording-rules`
    (deploy/prometheus/rules.yaml) or `custom`."""

    token: SecretStr = SecretStr("")
    """Bearer token; better given by TIDECAST_PROMETHEUS__TOKEN than written in a file."""

    username: str = ""
    """User name, where Prometheus asks for one."""

    password: SecretStr = SecretStr("")
    """Its password; better given by TIDECAST_PROMETHEUS__PASSWORD."""

    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """More headers, such as `X-Scope-OrgID` for Mimir."""

    ca_file: str = ""
    """Certificate authority to trust beside the system's."""

    verify_tls: bool = True
    """False accepts any certificate."""

    request_timeout_seconds: float = Field(default=30.0, gt=0)
    """Longest time for one request."""

    attempts: int = Field(default=3, ge=1, le=10)
    """How often a request is tried when the server cannot be reached, is overloaded or fails."""

    max_series: int = Field(default=5_000, ge=1)
    """Most series that one answer may hold; a query that matches more is refused."""

    max_bytes: int = Field(default=32_000_000, ge=1)
    """Most bytes that one answer may hold."""

    max_points: int = Field(default=10_500, ge=2, le=11_000)
    """Most instants in one request; Prometheus itself allows 11,000."""

    stale_after_seconds: int = Field(default=150, ge=1)
    """Age of the newest scrape from which on the cluster's state is not known; it must exceed the
    scrape interval."""

    pods: PodGroup = PodGroup()

    custom: CustomGroup = CustomGroup()

    @field_validator("url")
    @classmethod
    def _url_is_one(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("http://", "https://")):
            raise ValueError(f"'{url}' is not a URL; write it as http://host:9090")
        return url

    @model_validator(mode="after")
    def _parts_fit(self) -> "PrometheusSettings":
        if self.token.get_secret_value() and self.username:
            raise ValueError("both token and username are set; keep one of them")
        if self.profile is Profile.CUSTOM and not self.custom.pools:
            raise ValueError("profile is 'custom' but prometheus.custom.pools has no pool")
        return self
