"""Which instants to ask Prometheus for, and in how many requests.

A row [t, t + step) is known when it closes, so it is asked for at t + step. Requests share no
instant, or the samples at their edges would come twice. Nothing here talks to anyone.
"""

from dataclasses import dataclass

from features.errors import BadInput


@dataclass(frozen=True)
class InstantRange:
    """Evenly spaced instants, both ends included, as `query_range` takes them.

    Attributes:
        first_seconds: Unix time of the first instant.
        last_seconds: Unix time of the last instant.
        step_seconds: spacing.
    """

    first_seconds: int
    last_seconds: int
    step_seconds: int

    def __len__(self) -> int:
        return (self.last_seconds - self.first_seconds) // self.step_seconds + 1

    def chunks(self, max_points: int) -> tuple["InstantRange", ...]:
        """The same instants in order, at most so many per range, none twice and none left out."""
        width = max_points * self.step_seconds
        return tuple(
            InstantRange(
                first,
                min(first + width - self.step_seconds, self.last_seconds),
                self.step_seconds,
            )
            for first in range(self.first_seconds, self.last_seconds + 1, width)
        )

    def inside_steps(self, resolution_seconds: int) -> "InstantRange":
        """What lies inside the steps that close at these instants, openings and closes included."""
        opening = self.first_seconds - self.step_seconds
        return InstantRange(opening, self.last_seconds, resolution_seconds)

    def halves(self) -> tuple["InstantRange", "InstantRange"]:
        """The same instants in two ranges; needs at least two of them."""
        first, second = self.chunks((len(self) + 1) // 2)
        return first, second


def closing_instants(start_seconds: int, end_seconds: int, step_seconds: int) -> InstantRange:
    """The instants at which the rows that lie wholly inside [start, end) close.

    Raises:
        BadInput: the step is not positive, or no whole step fits between start and end.
    """
    if step_seconds <= 0:
        raise BadInput(f"a step of {step_seconds} s; it must be positive")
    first_row = -(-start_seconds // step_seconds)
    rows = end_seconds // step_seconds - first_row
    if rows < 1:
        raise BadInput(
            f"no whole step of {step_seconds} s between {start_seconds} and {end_seconds}; "
            "the end must lie at least one step after the start"
        )
    return InstantRange(
        (first_row + 1) * step_seconds, (first_row + rows) * step_seconds, step_seconds
    )
