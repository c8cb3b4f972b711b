"""All announcements together: what they mean for a forecast, and what for a plan.

How those that overlap combine: extras add up; of several absolutes the highest counts, and of
several factors the highest; and the largest of the three results wins. One that is not certain
counts for a plan when it is likelier than what the plan's quantile already leaves out, and for a
forecast when it is likelier than not. Nothing is told of an announcement before it was made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from actuator.floors import AnnouncedDemand, AnnouncedKind
from actuator.policy import PoolPolicy
from features.events import KnownEvent
from features.pool import Pool
from forecaster.announcements.announcement import Announcement

LIKELIER_THAN_NOT = 0.5


@dataclass(frozen=True)
class Occurrence:
    """One time that an announcement comes.

    Attributes:
        announcement: which one.
        start_seconds: Unix time at which it begins.
        end_seconds: when it is over.
    """

    announcement: Announcement
    start_seconds: int
    end_seconds: int


@dataclass(frozen=True)
class AnnouncementBoard:
    """The announcements there are; answers as `features.events.KnownEvents`.

    Attributes:
        announcements: all of them, cancelled ones included.
        is_holiday: whether a local date is a public holiday.
    """

    announcements: Sequence[Announcement]
    is_holiday: Callable[[date], bool] = lambda _: False

    def occurrences(
        self, known_seconds: int, since_seconds: int, until_seconds: int
    ) -> Iterator[Occurrence]:
        """Each time that what was known at a moment touches [since, until)."""
        for one in self.announcements:
            if one.known_at(known_seconds):
                for start in self._starts(one, since_seconds, until_seconds):
                    yield Occurrence(one, start, start + one.lasts_seconds)

    def known_at(self, pool: Pool, origin_seconds: int, until_seconds: int) -> list[KnownEvent]:
        """Events of the pool known at the origin that touch [origin, until)."""
        return [
            KnownEvent(
                pool=pool,
                start_seconds=each.start_seconds,
                end_seconds=each.end_seconds,
                known_since_seconds=each.announcement.announced_seconds,
                kind=each.announcement.kind,
                amount=each.announcement.amount,
                reason=described(each.announcement),
            )
            for each in self.occurrences(origin_seconds, origin_seconds, until_seconds)
            if each.announcement.certainty > LIKELIER_THAN_NOT
            and each.announcement.pool in (None, str(pool))
        ]

    def floors(
        self, pools: Sequence[PoolPolicy], now_seconds: int, until_seconds: int
    ) -> Mapping[str, tuple[AnnouncedDemand, ...]]:
        """What a plan must have ready, by pool, for what touches [now, until)."""
        coming = list(self.occurrences(now_seconds, now_seconds, until_seconds))
        return {
            pool.pool: tuple(
                AnnouncedDemand(
                    start_seconds=each.start_seconds,
                    end_seconds=each.end_seconds,
                    kind=AnnouncedKind(each.announcement.kind),
                    amount=each.announcement.amount,
                    reason=described(each.announcement),
                    identifier=each.announcement.identifier,
                )
                for each in coming
                if each.announcement.pool in (None, pool.pool)
                and each.announcement.certainty > 1 - pool.strategy.quantile
            )
            for pool in pools
        }

    def _starts(self, one: Announcement, since_seconds: int, until_seconds: int) -> Sequence[int]:
        earliest = since_seconds - one.lasts_seconds + 1
        if one.recurrence is None:
            return (one.start_seconds,) if earliest <= one.start_seconds < until_seconds else ()
        return one.recurrence.starts(one.start_seconds, earliest, until_seconds, self.is_holiday)


def described(announcement: Announcement) -> str:
    """Who announced what, in a few words."""
    reason = f": {announcement.reason}" if announcement.reason else ""
    return f"announced by {announcement.owner}{reason}"
