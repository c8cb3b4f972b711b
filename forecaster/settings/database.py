"""The group of settings that says where policies, audit and announcements are kept."""

from pydantic import Field, SecretStr, field_validator

from forecaster.settings.groups import Group

DATABASES = ("sqlite:///", "postgresql://")


class DatabaseSettings(Group):
    """Where policy versions, audit, announcements and the memory between cycles are kept."""

    url: SecretStr | None = None
    """`postgresql://USER:PASSWORD@HOST/DATABASE` (needs `tidecast[postgres]`) or
    `sqlite:///FILE`; `tidecast.db` of the data directory if left out. Better given by
    TIDECAST_DATABASE__URL than written in a file."""

    busy_timeout_seconds: float = Field(default=10.0, gt=0, le=300)
    """Longest wait for another process that writes."""

    keep_audit_days: int = Field(default=90, ge=15, le=3650)
    """Days for which decisions stay on record."""

    @field_validator("url")
    @classmethod
    def _url_is_one(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not url.get_secret_value().startswith(DATABASES):
            raise ValueError(
                "it is neither sqlite:///FILE nor postgresql://USER:PASSWORD@HOST/DATABASE; write "
                "it as one of them, or leave it out"
            )
        return url
