"""The group of settings that says where the service listens, and whom it answers."""

from ipaddress import ip_address

from pydantic import Field, model_validator

from forecaster.settings.groups import Group


class ServiceSettings(Group):
    """Where `tidecast serve` listens, and what a caller may take."""

    host: str = "127.0.0.1"
    """Address to listen on; beyond the loopback interface only with `require_token`."""

    port: int = Field(default=8080, ge=0, le=65_535)
    """Port to listen on; 0 for any that is free."""

    require_token: bool = False
    """True answers nobody without a token of `tidecast token create`."""

    cluster_audience: str = ""
    """Also answer accounts of the cluster, by TokenReview, whose tokens are for this audience.
    A role's `read`, `announce` or `operate` on `services.tidecast.io` says what they may do."""

    allowed_hosts: tuple[str, ...] = ()
    """Names that browsers may call the service by, besides the loopback's and `host`."""

    requests_per_second: int = Field(default=1_000, ge=1, le=100_000)
    """Most requests of one caller in a second, reading."""

    writes_per_minute: int = Field(default=120, ge=1, le=100_000)
    """Most requests of one caller in a minute that change something."""

    cycle_every_seconds: int = Field(default=60, ge=10, le=3600)
    """How often a plan is made."""

    @model_validator(mode="after")
    def _open_only_with_tokens(self) -> "ServiceSettings":
        if not self.require_token and not _is_loopback(self.host):
            raise ValueError(
                f"host '{self.host}' is reached from other machines; set require_token, or listen "
                "on 127.0.0.1"
            )
        return self


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
