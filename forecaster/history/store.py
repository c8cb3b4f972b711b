"""The store itself: what is asked for, kept, given out and thrown away.

Each file is replaced as a whole, so whoever reads sees a pool's 28 days as they were before or as
they are after. Nothing that is known may be lost: not to a gap in a later answer, not to one
damaged file among others, and not to a mistake that could have been seen before the first write.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from features.errors import BadInput
from features.pool import Pool
from features.series import CALENDAR_BEGINS_SECONDS, DemandSeries
from features.sources.protocol import Source, SourceAnswer
from forecaster.history.answered import Answered, Span, source_key
from forecaster.history.holdings import Holdings, PoolHoldings
from forecaster.history.locking import only_writer
from forecaster.history.merging import joined, merged, same
from forecaster.history.partitions import (
    DamagedFile,
    Partition,
    key_of,
    partition_named,
    partitions_in,
    read_about,
    read_partition,
    split,
    write_partition,
)

SETTLES_SECONDS = 3600  # samples may arrive this late; until then an answer is asked for again
_RETRIED_SECONDS = 86400  # how long a gap is asked for again if the source warned


@dataclass(frozen=True)
class PullReport:
    """What a pull asked for, and what came.

    Attributes:
        asked_spans: stretches (start, end) that the source was asked for.
        pools: the pools it told of, in order.
        observed_steps: steps with known demand in its answers, over all pools.
        warnings: what the source wants the reader to know, a line each.
    """

    asked_spans: tuple[Span, ...]
    pools: tuple[Pool, ...]
    observed_steps: int
    warnings: tuple[str, ...]


class HistoryStore:
    """Demand history on local disk; many may read it, one at a time may write.

    Attributes:
        directory: where the files lie; made when first written to.
        keep_days: how long history that was pulled is kept. What was imported stays until a pull
            brings the same pool.
    """

    def __init__(self, directory: Path, keep_days: int = 90) -> None:
        self.directory = directory
        self.keep_days = keep_days

    def pull(self, source: Source, now_seconds: int, days: int, step_seconds: int) -> PullReport:
        """Ask a source for what is missing of the last days, and keep it.

        Asked for is what it did not answer yet, and always the newest hour, whose samples may
        still change. Each answer is kept before the next question, so an error loses nothing.

        Args:
            source: whom to ask.
            now_seconds: Unix time; only steps that have closed by then are asked for.
            days: how far back.
            step_seconds: the grid.

        Raises:
            BadInput: the store cannot be written, is being written by another, holds one of the
                pools at another step, or has a damaged file; or days are not between 1 and
                `keep_days`.
            SourceUnavailable: the source did not answer, or only in part.
        """
        if not 0 < days <= self.keep_days:
            raise BadInput(
                f"a pull of {days} days: take 1 to {self.keep_days}, which is how long history "
                "is kept; raise history.keep_days to keep more"
            )
        end = now_seconds // step_seconds * step_seconds
        key = source_key(source.name, step_seconds)
        with only_writer(self.directory):
            answered = self._still_there(Answered.read(self.directory))
            asked = answered.missing(key, (end - days * 86400, end))
            answers = []
            for span in asked:
                answer = source.demand(*span, step_seconds)
                files = self._keep([one.between(*span) for one in answer.series])
                settled = (span[0], _settled_until(answer, span, now_seconds))
                known = answered.plus(key, settled, files)
                if known != answered:
                    known.write(self.directory)
                answered = known
                answers.append(answer)
            self._throw_away(answered, now_seconds - self.keep_days * 86400)
        series = [one for answer in answers for one in answer.series]
        return PullReport(
            asked_spans=tuple(asked),
            pools=tuple(sorted({one.pool for one in series})),
            observed_steps=sum(int(np.count_nonzero(one.observed)) for one in series),
            warnings=tuple(dict.fromkeys(line for answer in answers for line in answer.warnings)),
        )

    def import_series(self, series: Sequence[DemandSeries]) -> None:
        """Lay series over what is kept; a later one over an earlier one of the same pool.

        Raises:
            BadInput: the store cannot be written, is being written by another, holds one of the
                pools at another step or in another kind of time, or has a damaged file.
        """
        with only_writer(self.directory):
            self._keep(series)

    def pools(self) -> tuple[Pool, ...]:
        """The pools that the store holds, in order; those with nothing but damage are left out."""
        held, _ = self._held()
        return tuple(sorted(held))

    def series(
        self,
        pools: Sequence[Pool] | None = None,
        since_seconds: int | None = None,
        until_seconds: int | None = None,
    ) -> list[DemandSeries]:
        """The history of pools, ordered as asked for; pools with no row in that time are left out.

        Args:
            pools: which; all of them, in order, if None.
            since_seconds: rows that begin earlier are left out.
            until_seconds: rows that close later are left out.

        Raises:
            BadInput: a pool is not there, or one of its files is damaged.
        """
        held, damage = self._held()
        if pools is None:
            if damage:
                raise damage[0]
            pools = sorted(held)
        unknown = [str(pool) for pool in pools if pool not in held]
        if unknown:
            raise BadInput(
                f"the history holds no pool '{unknown[0]}'; it has "
                f"{', '.join(str(pool) for pool in sorted(held)) or 'none'}"
            )
        found = [_rows_between(held[pool], since_seconds, until_seconds) for pool in pools]
        return [series for series in found if series is not None]

    def describe(self) -> Holdings:
        """What the store holds, damaged files named and left out."""
        pools, problems = [], []
        for partitions in partitions_in(self.directory).values():
            parts = []
            for partition in partitions:
                try:
                    parts.append(read_partition(partition))
                except DamagedFile as damaged:
                    problems.append(str(damaged))
            if parts:
                pools.append(PoolHoldings.of(joined(parts)))
        return Holdings(tuple(sorted(pools, key=lambda held: held.pool)), tuple(problems))

    def _held(self) -> tuple[dict[Pool, list[Partition]], list[DamagedFile]]:
        """The partitions of each pool, and the damage of those pools that have nothing else."""
        held: dict[Pool, list[Partition]] = {}
        damage: list[DamagedFile] = []
        for partitions in partitions_in(self.directory).values():
            about = _first_readable(partitions)
            if isinstance(about, DamagedFile):
                damage.append(about)
            else:
                held[about[0]] = partitions
        return held, damage

    def _keep(self, series: Sequence[DemandSeries]) -> list[str]:
        """Lay series over what is kept; the names of the files they belong to."""
        self._refuse_unlike(series)
        files: list[str] = []
        damage: list[DamagedFile] = []
        for one in (one for one in series if len(one)):
            for partition, rows in split(self.directory, one):
                files.append(partition.path.name)
                try:
                    _lay(partition, rows)
                except DamagedFile as damaged:
                    damage.append(damaged)
        if damage:  # raised only now, so that all other pools have what is theirs
            raise damage[0]
        return files

    def _refuse_unlike(self, series: Sequence[DemandSeries]) -> None:
        """Refuse, before the first write, what cannot be one history with what is there."""
        held = partitions_in(self.directory)
        like: dict[Pool, tuple[int, bool]] = {}
        for one in series:
            partitions = held.get(key_of(one.pool), [])
            about = _first_readable(partitions) if partitions else None
            if isinstance(about, tuple):
                calendar = partitions[-1].end_seconds > CALENDAR_BEGINS_SECONDS
                like.setdefault(one.pool, (about[1], calendar))
            step_seconds, has_calendar = like.setdefault(
                one.pool, (one.step_seconds, one.has_calendar)
            )
            if step_seconds != one.step_seconds:
                raise BadInput(
                    f"{one.pool}: the history has a step of {step_seconds} s, this has "
                    f"{one.step_seconds} s; take the same step, or another data directory"
                )
            if has_calendar != one.has_calendar:
                raise BadInput(
                    f"{one.pool}: dates and times since a trace began cannot be one history; "
                    "take another data directory, or another name for the GPU type"
                )

    def _still_there(self, answered: Answered) -> Answered:
        """The record without the time of files that someone has taken away."""
        gone = [name for name in answered.files if not (self.directory / name).exists()]
        partitions = [partition_named(self.directory, name) for name in gone]
        holes = [(one.begin_seconds, one.end_seconds) for one in partitions if one is not None]
        return answered.forgetting(holes, gone)

    def _throw_away(self, answered: Answered, before_seconds: int) -> None:
        """Remove files that were pulled and whose time is over."""
        partitions = [partition_named(self.directory, name) for name in sorted(answered.files)]
        over = [
            one.path for one in partitions if one is not None and one.end_seconds <= before_seconds
        ]
        try:
            for path in over:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise BadInput(
                f"{self.directory}: old history cannot be removed ({error.strerror or error}); "
                "make it writable"
            ) from error
        if over:
            kept = answered.forgetting([(0, before_seconds)], (path.name for path in over))
            kept.write(self.directory)


def _lay(partition: Partition, rows: DemandSeries) -> None:
    """Put rows over what a partition holds; nothing is written if they say nothing new."""
    if not partition.path.exists():
        write_partition(partition, rows)
        return
    kept = read_partition(partition)
    both = merged(kept, rows)
    if not same(kept, both):
        write_partition(partition, both)


def _first_readable(partitions: Sequence[Partition]) -> tuple[Pool, int] | DamagedFile:
    """Whose the partitions are and on which step; the damage, if not one can say."""
    damage: list[DamagedFile] = []
    for partition in partitions:
        try:
            return read_about(partition)
        except DamagedFile as damaged:
            damage.append(damaged)
    return damage[0]


def _rows_between(
    partitions: Sequence[Partition], since_seconds: int | None, until_seconds: int | None
) -> DemandSeries | None:
    since = 0 if since_seconds is None else since_seconds
    touched = [
        partition
        for partition in partitions
        if partition.end_seconds > since
        and (until_seconds is None or partition.begin_seconds < until_seconds)
    ]
    if not touched:
        return None
    whole = joined([read_partition(partition) for partition in touched])
    until = whole.end_seconds if until_seconds is None else until_seconds
    cut = whole.between(since, until)
    return cut if len(cut) else None


def _settled_until(answer: SourceAnswer, span: Span, now_seconds: int) -> int:
    """Up to when an answer is final: not the newest hour, nor a recent gap with a warning."""
    settled = min(span[1], now_seconds - SETTLES_SECONDS)
    if answer.warnings:
        for series in answer.series:
            gaps = series.times_seconds[~series.observed]
            recent = gaps[gaps >= now_seconds - _RETRIED_SECONDS]
            settled = min([settled, *recent[:1].tolist()])
    return settled
