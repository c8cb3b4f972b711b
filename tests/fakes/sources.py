"""A source of history that is held in memory and remembers what it was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from features.errors import TidecastError
from features.series import DemandSeries
from features.sources.protocol import SourceAnswer


@dataclass
class RecordedSource:
    """Knows what it is given, and answers with the part that lies in the span asked for.

    Attributes:
        series: what it knows.
        warnings: what it says with every answer.
        name: what it calls itself.
        failures: errors to raise instead of the next answers, the first first; None answers.
        asked: the spans it was asked for so far.
    """

    series: Sequence[DemandSeries]
    warnings: tuple[str, ...] = ()
    name: str = "recorded"
    failures: list[TidecastError | None] = field(default_factory=list)
    asked: list[tuple[int, int]] = field(default_factory=list)

    def demand(self, start_seconds: int, end_seconds: int, step_seconds: int) -> SourceAnswer:
        """The rows that lie wholly inside [start, end)."""
        self.asked.append((start_seconds, end_seconds))
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        cut = (series.between(start_seconds, end_seconds) for series in self.series)
        return SourceAnswer(tuple(one for one in cut if len(one)), self.warnings)
