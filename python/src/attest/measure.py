"""What a landing looks like in numbers: how its keys and source times behave, for the gate to judge.

Shares are of the landing's records. Memory holds 24 bytes a record, whatever the records hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from attest.contract import SHARES

MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR = 3_600_000_000
SEEN_AS_NOW = 5 * 60 * 1_000_000  # clocks differ a little: only what is further ahead lies in the future
FIRST_YEAR = 365 * 24 * HOUR  # where a number of seconds lands that was taken for milliseconds
REASONS = {
    "missing_key": "missing_key",
    "missing_source_time": "missing_source_time",
    "unparsable_time": "unreadable_source_time",
    "no_time_zone": "unreadable_source_time",
    "time_without_unit": "wrong_unit_source_time",
}

Column = NDArray[np.int64]


class Tally:
    """Counts and times of the records of one landing, in the order they came."""

    def __init__(self) -> None:
        self.records = 0
        self.reasons: Counter[str] = Counter()
        self.keys: list[Column] = []
        self.times: list[Column] = []
        self.arrivals: list[Column] = []

    def refused(self, reason: str) -> None:
        self.records += 1
        self.reasons[reason] += 1

    def accepted(self, keys: Sequence[Hashable], times: pa.ChunkedArray, arrivals: pa.ChunkedArray) -> None:
        """Records of one batch; those without a source time count as records alone."""
        self.records += len(keys)
        self.keys.append(np.array([hash(key) for key in keys], dtype=np.int64))
        is_timed = pc.is_valid(times)
        self.times.append(times.filter(is_timed).cast(pa.int64()).to_numpy())
        self.arrivals.append(arrivals.filter(is_timed).cast(pa.int64()).to_numpy())

    def add(self, later: Tally) -> None:
        """What came after these."""
        self.records += later.records
        self.reasons.update(later.reasons)
        self.keys += later.keys
        self.times += later.times
        self.arrivals += later.arrivals

    @property
    def newest(self) -> datetime | None:
        times = joined(self.times)
        return EPOCH + int(times.max()) * MICROSECOND if len(times) else None

    def measures(self) -> dict[str, float | None]:
        keys, times, arrivals = joined(self.keys), joined(self.times), joined(self.arrivals)
        counts: Counter[str] = Counter()
        for reason, count in self.reasons.items():
            if reason in REASONS:
                counts[REASONS[reason]] += count
        counts["repeated_key"] = len(keys) - len(np.unique(keys))
        counts["wrong_unit_source_time"] += int(((times >= 0) & (times < FIRST_YEAR)).sum())
        counts["future_source_time"] = int((times > arrivals + SEEN_AS_NOW).sum())
        counts["backward_source_time"] = int((np.diff(times) < 0).sum())
        counts["one_source_time"] = int(np.unique(times, return_counts=True)[1].max()) if len(times) else 0
        lags = (arrivals - times) / HOUR
        return {
            **{name: counts[name] / self.records if self.records else None for name in SHARES},
            "median_lag_hours": float(np.median(lags)) if len(lags) else None,
            "longest_lag_hours": float(lags.max()) if len(lags) else None,
        }


def frozen_landings(newest: Sequence[datetime | None]) -> int:
    """How many of the last landings, oldest first, brought no newer source time than those before them."""
    frozen, furthest = 0, None
    for at in newest:
        if at is None or furthest is None or at > furthest:
            frozen, furthest = 0, at or furthest
        else:
            frozen += 1
    return frozen


def joined(parts: Sequence[Column]) -> Column:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
