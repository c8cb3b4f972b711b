"""Compares the champion with its peers on traces of your own.

python -m benchmarks.peers --jobs FILE... [--since TIME] [--until TIME] [--days N]
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.peers.replaying import Replay, sparse_replay
from benchmarks.peers.roster import PEERS
from benchmarks.peers.scoring import Comparison, Course, compared
from benchmarks.peers.traces import Trace, traces
from features.baselines import DAY_SECONDS
from features.errors import BadInput
from models.combined import Combined
from models.targets import targets_of

LEVEL = 0.9
RECORD_DAYS = 7
"""Days replayed beforehand, so that a peer has a record of its own errors when scoring begins."""
FOOTNOTE = """\
combined / peer: pinball loss of the peak, geometric mean over pools; below 1, combined is ahead.
95 % interval: of that mean, over resampled days. worst pool: where the peer does best.
read: pools on which the peer does better with the quantiles of its own past errors than with its
prediction intervals; the better counts, pool by pool.
Peers are refitted daily (the FFT twice a day) and told of every step in between. Seconds are the
processor's, over the scored days and the 7 before."""


def main() -> None:
    """Print one table per trace."""
    parser = _arguments()
    chosen = parser.parse_args()
    peers = chosen.peers.split(",")
    for name in peers:
        if name not in PEERS:
            parser.error(f"no peer '{name}'; choose from {', '.join(PEERS)}")
    if not chosen.jobs and not chosen.demand:
        parser.error("no trace; name job tables by --jobs or demand tables by --demand")
    try:
        for trace in traces(chosen):
            _compare(trace, peers, chosen.days, chosen.every_minutes)
            print(FOOTNOTE)
    except BadInput as problem:
        sys.exit(str(problem))


def _compare(trace: Trace, peers: list[str], days: float, every_minutes: int) -> None:
    course = _course(trace, days, every_minutes)
    stride = int(np.diff(course.origins).min()) * trace.panel.step_seconds
    print(
        f"\n{trace.name}: {len(trace.panel.pools)} pools, the last {days:g} days, an origin every "
        f"{stride // 60} min, pinball of the peak at {LEVEL}"
    )
    champion = sparse_replay(trace.panel, Combined(), trace.context, course.origins)
    print(_line("", "combined / peer", "95 % interval", "worst pool", "read", "fit s", "predict s"))
    print(_line("combined", *["-"] * 4, *_times(champion)), flush=True)
    for name in peers:
        model = PEERS[name]()
        replay = sparse_replay(trace.panel, model, trace.context, course.origins)
        print(_row(model.name, compared(champion, replay, course, LEVEL), replay), flush=True)


def _course(trace: Trace, days: float, every_minutes: int) -> Course:
    """The origins to forecast from, and what came after them.

    Raises:
        BadInput: the trace is too short.
    """
    panel, horizon = trace.panel, trace.context.horizon
    rows_per_day = DAY_SECONDS // panel.step_seconds
    scored_from = len(panel) - int(days * rows_per_day)
    first = scored_from - RECORD_DAYS * rows_per_day
    if first < RECORD_DAYS * rows_per_day:
        raise BadInput(
            f"{trace.name}: {len(panel) / rows_per_day:.0f} days are too few to replay {days:g} "
            f"and still have {2 * RECORD_DAYS} before them; give fewer --days"
        )
    stride = max(1, every_minutes * 60 // panel.step_seconds)
    origins = np.arange(first, len(panel) - horizon.peak_steps + 1, stride, dtype=np.int64)
    came = targets_of(panel, origins, horizon).peak
    return Course(panel, horizon, origins, origins >= scored_from, came)


def _row(name: str, one: Comparison, replay: Replay) -> str:
    return _line(
        name,
        f"{one.ratio:.3f}",
        f"{one.low:.3f} to {one.high:.3f}",
        f"{one.worst_ratio:.3f} {one.worst_pool}",
        f"{one.from_errors} of {one.pools}",
        *_times(replay),
    )


def _times(replay: Replay) -> tuple[str, str]:
    return f"{replay.fit_seconds:.1f} ({replay.fits} x)", f"{replay.predict_seconds:.1f}"


def _line(*cells: str) -> str:
    widths = (28, 15, 14, 29, 7, 13, 9)
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description="Pinball loss of the champion over that of its peers; below 1 it is ahead.",
    )
    add = parser.add_argument
    add("--jobs", nargs="+", type=Path, default=[], metavar="FILE", help="job tables")
    add("--demand", nargs="+", type=Path, default=[], metavar="FILE", help="demand tables")
    add("--gpu-type-column", default="gpu_type", help="of a job table, what names the pools")
    add("--pool-columns", default="", help="of a wide demand table, comma-separated")
    add("--since", help="leave out what lies before")
    add("--until", help="leave out what lies at or after")
    add("--days", type=float, default=14, help="the newest days are scored (14)")
    add("--every-minutes", type=int, default=30, help="spacing of the origins (30)")
    add("--minimum-gpus", type=float, default=8, help="least mean demand of a pool (8)")
    add("--peers", default=",".join(PEERS), help="comma-separated; all by default")
    return parser


if __name__ == "__main__":
    main()
