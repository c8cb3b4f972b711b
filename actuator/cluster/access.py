"""Where the Kubernetes API is and who we are to it: a URL, a kubeconfig or a service account.

Only here is the `kubernetes` client read; it is slow to import, so that happens inside functions.
It must never show a token.
"""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from features.errors import BadInput, SourceUnavailable

if TYPE_CHECKING:
    from urllib3 import PoolManager


@dataclass(frozen=True)
class ClusterAccess:
    """Where the API server is and what it may cost us.

    Attributes:
        url: the server itself; empty to look into the kubeconfig or the pod's service account.
        token: bearer token for that URL; empty for none.
        kubeconfig: file to read; empty for the service account where there is one, and the usual
            kubeconfig where there is none.
        context: which context of the kubeconfig; empty for its current one.
        request_timeout_seconds: longest time for one request, its body included.
        requests_per_second: most requests in any second, over all threads.
        attempts: how often a request is tried that may be repeated.
    """

    url: str = ""
    token: str = field(default="", repr=False)
    kubeconfig: str = ""
    context: str = ""
    request_timeout_seconds: float = 10.0
    requests_per_second: int = 5
    attempts: int = 4

    def __post_init__(self) -> None:
        for name in ("request_timeout_seconds", "requests_per_second", "attempts"):
            if getattr(self, name) <= 0:
                raise BadInput(f"Kubernetes: {name} must be positive")


class Identity:
    """A server found, and the proof of who we are to it."""

    def __init__(self, access: ClusterAccess) -> None:
        """Find the server; it is not asked anything.

        Raises:
            BadInput: no way to a server is configured.
        """
        self._configuration = _configuration(access)

    @property
    def url(self) -> str:
        """Where the server is."""
        return str(self._configuration.host)

    def pool(self) -> "PoolManager":
        """Connections with the library's TLS and proxy settings."""
        from kubernetes.client.rest import RESTClientObject

        self._configuration.connection_pool_maxsize = 8
        pool: PoolManager = RESTClientObject(self._configuration).pool_manager
        return pool

    def headers(self) -> dict[str, str]:
        """The header that says who we are, read anew each time because tokens rotate.

        Raises:
            SourceUnavailable: the token cannot be read.
        """
        from kubernetes.config import ConfigException

        try:
            setting = self._configuration.auth_settings().get("BearerToken")
        except (ConfigException, OSError) as error:
            raise SourceUnavailable(
                f"no token for {self.url} ({error}); check the service account or kubeconfig"
            ) from error
        return {"Authorization": setting["value"]} if setting else {}


def _configuration(access: ClusterAccess) -> Any:
    """How to reach the server, as the library keeps it."""
    from kubernetes.client import Configuration

    configuration = Configuration()
    if not access.url:
        _fill_in(configuration, access)
        return configuration
    configuration.host = access.url.rstrip("/")
    if access.token:
        configuration.api_key["BearerToken"] = f"Bearer {access.token}"
    return configuration


def _fill_in(configuration: Any, access: ClusterAccess) -> None:
    """Take server and proof from the service account or the kubeconfig."""
    import yaml
    from kubernetes.config import ConfigException, incluster_config, kube_config

    from_account: Any = incluster_config.load_incluster_config
    from_file: Any = kube_config.load_kube_config
    try:
        if not access.kubeconfig and incluster_config.SERVICE_HOST_ENV_NAME in os.environ:
            from_account(configuration)
        else:
            file, context = access.kubeconfig or None, access.context or None
            from_file(file, context, configuration, persist_config=False)
    except (ConfigException, OSError, ValueError, TypeError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())
        raise BadInput(
            f"no way to a Kubernetes API ({why}); give a kubeconfig, or run inside the cluster"
        ) from error
