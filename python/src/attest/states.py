"""Partial-state reconstruction: each assertion's whole state, from what was mentioned before it.

States in, states out: the same rows, with a column `state` that maps each known
attribute to its canonical value. An attribute nobody has mentioned yet is not in it.

Entities whose assertions arrived in their order are done by whole arrays; only those with
a late fact, whose partials must not know of it, are walked assertion by assertion.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import MapType, StringType

from attest.errors import OutOfOrderError

READ = ("entity", "position", "source_system", "ingest_ts", "inheritance", "mentions", "unchanged")
WHOLE_STATE = "whole_state"
NOTHING = -1
ROWS_A_BATCH = 10_000

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]


def register(spark: SparkSession) -> None:
    """Make `whole_state` known to the session's SQL: a row's arguments are READ, its answer is its state (law B2).

    Assertions come as the macro `ordered` leaves them, each entity in one piece and in its
    order, which costs no sort; if they ever do not, the build stops.
    """
    state = arrow_udf(states_of, MapType(StringType(), StringType()))  # type: ignore[call-overload]  # stubs lack maps
    spark.udf.register(WHOLE_STATE, state.asNondeterministic())


def states_of(columns: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
    """Spark keeps the rows and sends the columns that matter; it takes back one state a row, in any pieces."""
    batches = (pa.RecordBatch.from_arrays(list(batch), names=list(READ)) for batch in columns)
    for rows in whole_entities(batch for batch in batches if batch.num_rows):
        heard = Heard.of(rows)
        require_order(rows, heard.entity)
        whole = states(heard, rows["mentions"].chunk(0).items)
        for start in range(0, len(whole), ROWS_A_BATCH):
            yield whole.slice(start, ROWS_A_BATCH)


def whole_entities(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The same rows, cut where one entity ends and the next begins; each cut in one piece."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if held and held[-1]["entity"][-1] != batch["entity"][0]:
            yield in_one_piece(held)
            held = []
        last = int(entity_starts(batch["entity"])[-1])
        if last:
            yield in_one_piece([*held, batch.slice(0, last)])
            held = []
        held.append(batch.slice(last))
    if held:
        yield in_one_piece(held)


def require_order(rows: pa.Table, entity: Rows) -> None:
    """Positions count from 1 within each entity: so no entity is torn, and none out of order."""
    position = rows["position"].chunk(0).to_numpy()
    wrong = np.flatnonzero(position != np.arange(len(position)) - entity + 1)
    if len(wrong):
        row = int(wrong[0])
        raise OutOfOrderError(
            f"Assertions came out of order: position {position[row]} where {row - entity[row] + 1} comes next. "
            "Pass the entity's ordered model as it is, with nothing but with_news(...) around it."
        )


def in_one_piece(batches: list[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches).combine_chunks()


def entity_starts(entity: pa.Array) -> Rows:
    """The rows at which another entity begins, or the same one by its other clock (law B6)."""
    number = entity.to_numpy()
    return np.flatnonzero(np.concatenate([[True], number[1:] != number[:-1]]))


@dataclass(frozen=True)
class Heard:
    """Assertions of whole entities, in order, as arrays of one row an assertion."""

    entity: Rows  # the row at which the entity begins
    source: Rows  # a number for each source
    arrival: Rows
    repaired: Flags
    attributes: pa.Array  # by name
    said: Rows  # per attribute, where its mentioned value is; NOTHING where it is not mentioned
    unchanged: Flags  # per attribute, whether it was left as last said

    @staticmethod
    def of(rows: pa.Table) -> Heard:
        mentions, unchanged = rows["mentions"].chunk(0), rows["unchanged"].chunk(0)
        starts = entity_starts(rows["entity"].chunk(0))
        keys, left = mentions.keys.dictionary_encode(), unchanged.values.dictionary_encode()
        names = sorted({*keys.dictionary.to_pylist(), *left.dictionary.to_pylist()})
        said = np.full((rows.num_rows, len(names)), NOTHING, dtype=np.int64)
        place, row, name = spread(mentions.offsets, keys, names)
        said[row, name] = place
        is_unchanged = np.zeros(said.shape, dtype=np.bool_)
        _, row, name = spread(unchanged.offsets, left, names)
        is_unchanged[row, name] = True
        return Heard(
            entity=np.repeat(starts, np.diff(np.append(starts, rows.num_rows))),
            source=numbers(rows["source_system"].chunk(0)),
            arrival=rows["ingest_ts"].chunk(0).cast(pa.int64()).to_numpy(zero_copy_only=False),
            repaired=pc.equal(rows["inheritance"].chunk(0), "repaired").to_numpy(zero_copy_only=False),
            attributes=pa.array(names, pa.string()),
            said=said,
            unchanged=is_unchanged,
        )


def spread(offsets: pa.Array, values: pa.DictionaryArray, names: list[str]) -> tuple[Rows, Rows, Rows]:
    """Of a column of lists of names: each element's place, its row, and the number of its name."""
    edges = offsets.to_numpy().astype(np.int64)
    place = np.arange(edges[0], edges[-1])
    row = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    known = {name: number for number, name in enumerate(names)}
    renumbered = np.array([known[name] for name in values.dictionary.to_pylist()], dtype=np.int64)
    name = values.indices.to_numpy()[edges[0] : edges[-1]]
    return place, row, renumbered[name] if len(name) else name.astype(np.int64)


def numbers(column: pa.Array) -> Rows:
    """A number for each distinct value; null is one of them."""
    encoded: Rows = column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
    return encoded.astype(np.int64)


def states(heard: Heard, values: pa.Array) -> pa.Array:
    found = last_mentions(heard)
    correct_what_was_not_known(found, heard)
    known = found != NOTHING
    _, name = np.nonzero(known)
    offsets = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    return pa.MapArray.from_arrays(offsets, heard.attributes.take(pa.array(name)), values.take(pa.array(found[known])))


def last_mentions(heard: Heard) -> Rows:
    """Per assertion and attribute: its own mention, else its source's last one, else anyone's.

    Law E3: what was left unchanged is as the same source last said, never another's word.
    """
    by_source = np.lexsort((heard.source, heard.entity))
    first_of_source = starts_of_runs(heard.entity[by_source], heard.source[by_source])
    own = np.empty_like(heard.said)
    own[by_source] = carried(heard.said[by_source], first_of_source)
    anyone = carried(heard.said, heard.entity)
    return np.where((own != NOTHING) | heard.unchanged, own, anyone)


def starts_of_runs(*columns: Rows) -> Rows:
    """For each row, the first row of the run of equal values that it is in."""
    changes = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = np.concatenate([[True], changes])
    return np.maximum.accumulate(np.where(starts, np.arange(len(starts)), 0))


def carried(said: Rows, first: Rows) -> Rows:
    """Each column's last mention at or before the row, back to the row `first`."""
    row = np.arange(len(said))[:, np.newaxis]
    last = np.maximum.accumulate(np.where(said != NOTHING, row, NOTHING), axis=0)
    last[last < first[:, np.newaxis]] = NOTHING
    return np.where(last != NOTHING, np.take_along_axis(said, np.maximum(last, 0), axis=0), NOTHING)


def correct_what_was_not_known(found: Rows, heard: Heard) -> None:
    """Law B2, `as_known`: redo the assertions that arrived before one that is earlier in the order."""
    is_first = heard.entity == np.arange(len(heard.entity))
    number = np.cumsum(is_first) - 1
    _, rank = np.unique(heard.arrival, return_inverse=True)
    arrival = number * len(rank) + rank  # rises from entity to entity, so that one running maximum serves all
    newest_before = np.concatenate([[NOTHING], np.maximum.accumulate(arrival)[:-1]])
    redone = ~heard.repaired & (newest_before > arrival)
    for start in np.unique(heard.entity[redone]):
        end = np.searchsorted(heard.entity, start, side="right")
        walk(found, heard, int(start), start + np.flatnonzero(redone[start:end]))


def walk(found: Rows, heard: Heard, start: int, redone: Rows) -> None:
    """Go through an entity's assertions in order, up to the last to be redone, remembering what was mentioned."""
    wanted = set(redone.tolist())
    memory = Memory()
    for row in range(start, int(redone[-1]) + 1):
        source, arrival = int(heard.source[row]), int(heard.arrival[row])
        said = heard.said[row]
        if row in wanted:
            for name in np.flatnonzero(said == NOTHING):
                found[row, name] = memory.recall(source, int(name), arrival, as_left=bool(heard.unchanged[row, name]))
        for name in np.flatnonzero(said != NOTHING):
            memory.learn(source, int(name), arrival, int(said[name]))


class Memory:
    """Where what has been mentioned of one entity so far is, by each source and by any."""

    def __init__(self) -> None:
        self.by_source: defaultdict[tuple[int, int], Mentioned] = defaultdict(Mentioned)
        self.by_any: defaultdict[int, Mentioned] = defaultdict(Mentioned)

    def recall(self, source: int, name: int, known_at: int, *, as_left: bool) -> int:
        own = self.by_source[source, name]
        if as_left:
            return own.latest(None)
        found = own.latest(known_at)
        return found if found != NOTHING else self.by_any[name].latest(known_at)

    def learn(self, source: int, name: int, arrival: int, place: int) -> None:
        self.by_source[source, name].add(arrival, place)
        self.by_any[name].add(arrival, place)


class Mentioned:
    """The mentions of one attribute, newest in the order last, by arrival.

    A mention that arrived no earlier than a newer one can never be the answer again, so
    it is dropped: arrivals then rise along the list, and the newest mention known at an
    instant is found by bisection. Usually the list has one element.
    """

    __slots__ = ("arrivals", "places")

    def __init__(self) -> None:
        self.arrivals: list[int] = []
        self.places: list[int] = []

    def add(self, arrival: int, place: int) -> None:
        while self.arrivals and self.arrivals[-1] >= arrival:
            self.arrivals.pop()
            self.places.pop()
        self.arrivals.append(arrival)
        self.places.append(place)

    def latest(self, known_at: int | None) -> int:
        """The newest mention, or the newest that had arrived by then."""
        found = len(self.arrivals) if known_at is None else bisect_right(self.arrivals, known_at)
        return self.places[found - 1] if found else NOTHING
