"""The history store: demand on local disk, so that it is asked for once and outlives its source.

One file per pool and 28 days, replaced as a whole. What is known is never lost to an answer that
knows less, to a process that is killed, or to a disk that is full.
"""

from forecaster.history.holdings import Holdings, PoolHoldings
from forecaster.history.store import HistoryStore, PullReport

__all__ = ["HistoryStore", "Holdings", "PoolHoldings", "PullReport"]
