"""What `tidecast backup` answers."""

from forecaster.json_shapes.base import Shape


class BackupAnswer(Shape):
    """A backup that was made."""

    place: str
    """The directory; a service that is given it as `data_directory` goes on from there."""

    parts: list[str]
    """What it holds."""

    bytes: int
    """How large it is."""

    warnings: list[str]
    """What it does not hold, a line each."""
