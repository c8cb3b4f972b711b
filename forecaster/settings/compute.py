"""The group of settings that says where fits and replays run."""

from pydantic import Field, model_validator

from forecaster.fan_out import REACHES_OUT, Backend
from forecaster.settings.groups import Group


class ComputeSettings(Group):
    """Where fits and replays run, and how many at a time; their answers do not depend on it."""

    backend: Backend = Backend.LOKY
    """Who does the work: `loky` (processes on this machine), `threading`, `sequential` (one thing
    after the other), `dask` (needs `tidecast[dask]`) or `ray` (needs `tidecast[ray]`)."""

    workers: int | None = Field(default=None, ge=1, le=1024)
    """Processes on this machine; each needs some 400 MB and the history again. As many as the CPU
    quota has whole CPUs if left out. A cluster that runs already has its own."""

    scheduler: str | None = Field(default=None, min_length=1)
    """Address of a Dask or Ray cluster that runs already, such as `tcp://dask:8786` or
    `ray://ray:10001`; without one, `dask` and `ray` start workers on this machine."""

    @model_validator(mode="after")
    def _scheduler_has_its_backend(self) -> "ComputeSettings":
        if self.scheduler is not None and self.backend not in REACHES_OUT:
            raise ValueError(
                f"scheduler is set but backend is '{self.backend.value}'; set backend to 'dask' or "
                "'ray', or leave scheduler out"
            )
        return self
