"""A flood announcement, for tests that need one."""

from features.events import EventKind
from forecaster.announcements.announcement import Announcement

HOUR = 3_600
DAY = 24 * HOUR
FLOOD = Announcement(
    identifier="a1",
    pool="a100/whole-node",
    start_seconds=10 * HOUR,
    end_seconds=12 * HOUR,
    kind=EventKind.EXTRA,
    amount=64,
    reason="sweep",
    owner="ada",
    announced_seconds=HOUR,
)
