"""How a report tells the time: the cluster's own clock, or days since a trace began.

Plots know no time zones, so instants are handed to them as the wall time that people there read.
In the hour that a clock repeats in autumn, two steps share a place on the axis.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from features.calendar import ClusterCalendar
from features.calendar_zone import local_seconds
from features.series import FloatArray

_DAY_SECONDS = 86_400


@dataclass(frozen=True)
class ReportClock:
    """Turns instants into places on an axis and into words.

    Attributes:
        zone: IANA name of the zone, or None where times are not dates.
    """

    zone: str | None

    @classmethod
    def of(cls, has_calendar: bool, calendar: ClusterCalendar) -> "ReportClock":
        """The clock of a history that has dates, or of one that has none."""
        return cls(calendar.settings.time_zone if has_calendar else None)

    @property
    def name(self) -> str:
        """What the times are, for a caption."""
        return f"{self.zone} time" if self.zone else "days since the trace began"

    def places(self, seconds: ArrayLike) -> FloatArray:
        """Places on a plot's time axis, any shape: wall time in milliseconds, or days."""
        times = np.asarray(seconds, dtype=np.int64)
        if self.zone is None:
            return np.asarray(times / _DAY_SECONDS, dtype=np.float64)
        return np.asarray(local_seconds(times, self.zone) * 1000, dtype=np.float64)

    def axis(self) -> dict[str, Any]:
        """The plot's time axis."""
        if self.zone is None:
            return {"type": "linear", "title": {"text": "day"}}
        return {"type": "date", "hoverformat": "%a %-d %b, %H:%M"}

    def text(self, seconds: int) -> str:
        """An instant in words, to the minute."""
        if self.zone is None:
            days, rest = divmod(int(seconds), _DAY_SECONDS)
            return f"day {days}, {rest // 3600:02d}:{rest % 3600 // 60:02d}"
        local = int(local_seconds(np.array(seconds), self.zone))
        moment = datetime.fromtimestamp(local, tz=UTC)
        return f"{moment:%a} {moment.day} {moment:%b %Y, %H:%M}"
