"""Partial-state reconstruction: each assertion's whole state, from what was mentioned before it.

States in, states out: the same rows, with a column `state` that maps each known
attribute to its canonical value. An attribute nobody has mentioned yet is not in it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import MapType, StringType, StructField, StructType

READ = ("bk", "source_system", "ingest_ts", "inheritance", "mentions", "unchanged")
STATE = pa.map_(pa.string(), pa.string())

Mentions = Sequence[tuple[str, str | None]]
Value = tuple[str | None]


def whole_states(ordered: DataFrame) -> DataFrame:
    """Add `state` to assertions that carry their `position` in the total order (law B2).

    Each entity is read once in order, one batch at a time, so that an entity of any
    length fits in memory; only the columns that matter are turned into Python values.
    """
    schema = StructType([*ordered.schema.fields, StructField("state", MapType(StringType(), StringType()))])
    arranged = ordered.repartition("bk").sortWithinPartitions("bk", "position")
    return arranged.mapInArrow(add_states, schema)


def add_states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    entity: str | None = None
    memory = Memory()
    for batch in batches:
        columns = [batch.column(name) for name in READ]
        arrivals = columns[2].cast(pa.int64()).to_pylist()
        states = []
        for bk, source, arrival, inheritance, mentions, unchanged in zip(
            columns[0].to_pylist(),
            columns[1].to_pylist(),
            arrivals,
            *(column.to_pylist() for column in columns[3:]),
            strict=True,
        ):
            if bk != entity:
                entity, memory = bk, Memory()
            repaired = inheritance == "repaired"
            states.append(memory.state(source, mentions, unchanged, known_at=None if repaired else arrival))
            memory.learn(source, mentions, arrival)
        state = pa.array(states, STATE)
        yield pa.RecordBatch.from_arrays([*batch.columns, state], names=[*batch.schema.names, "state"])


class Memory:
    """What has been mentioned of one entity so far, by each source and by any."""

    def __init__(self) -> None:
        self.by_source: defaultdict[tuple[str | None, str], Mentioned] = defaultdict(Mentioned)
        self.by_any: defaultdict[str, Mentioned] = defaultdict(Mentioned)

    def state(
        self, source: str | None, mentions: Mentions, unchanged: Sequence[str], *, known_at: int | None
    ) -> list[tuple[str, str | None]]:
        """Law B2, attribute by attribute; `known_at` None lets every mention count, whenever it arrived."""
        state = dict(mentions)
        for attribute in self.by_any:
            if attribute in state:
                continue
            own = self.by_source.get((source, attribute))
            if attribute in unchanged:
                # Law E3: as the same source last said, whenever that arrived; never another's word.
                value = own.latest(None) if own else None
            else:
                value = own.latest(known_at) if own else None
                value = value or self.by_any[attribute].latest(known_at)
            if value is not None:
                state[attribute] = value[0]
        return sorted(state.items())

    def learn(self, source: str | None, mentions: Mentions, arrival: int) -> None:
        for attribute, value in mentions:
            self.by_source[source, attribute].add(arrival, (value,))
            self.by_any[attribute].add(arrival, (value,))


class Mentioned:
    """The mentions of one attribute, newest in the order last, by arrival.

    A mention that arrived no earlier than a newer one can never be the answer again, so
    it is dropped: arrivals then rise along the list, and the newest mention known at an
    instant is found by bisection. Usually the list has one element.
    """

    __slots__ = ("arrivals", "values")

    def __init__(self) -> None:
        self.arrivals: list[int] = []
        self.values: list[Value] = []

    def add(self, arrival: int, value: Value) -> None:
        while self.arrivals and self.arrivals[-1] >= arrival:
            self.arrivals.pop()
            self.values.pop()
        self.arrivals.append(arrival)
        self.values.append(value)

    def latest(self, known_at: int | None) -> Value | None:
        """The newest mention, or the newest that had arrived by then; a mentioned null is a value too."""
        if not self.values:
            return None
        found = len(self.values) if known_at is None else bisect_right(self.arrivals, known_at)
        return self.values[found - 1] if found else None
