"""Partial-state reconstruction on hand-made columns: wherever the batches are cut, and when the order is broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import engine
import pyarrow as pa
import pytest
from attest.errors import OutOfOrderError
from attest.states import READ, states_of
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

TYPES = {
    "entity": pa.int64(),
    "position": pa.int32(),
    "source_system": pa.string(),
    "ingest_ts": pa.timestamp("us", tz="UTC"),
    "inheritance": pa.string(),
    "mentions": pa.map_(pa.string(), pa.string()),
    "unchanged": pa.list_(pa.string()),
}
# Key, clock, position, source, arrival, inheritance, mentions, what is left unchanged; then the state it makes.
SAID: list[tuple[tuple[Any, ...], dict[str, str | None]]] = [
    (("A", "source", 1, "CRM", 1, "as_known", {"name": "Ann", "status": "on"}, []), {"name": "Ann", "status": "on"}),
    (("A", "source", 2, "CORE", 9, "as_known", {"status": "off"}, []), {"name": "Ann", "status": "off"}),
    (("A", "source", 3, "CRM", 2, "as_known", {"name": "Bea"}, []), {"name": "Bea", "status": "on"}),
    (("A", "source", 4, "VENDOR", 3, "as_known", {}, []), {"name": "Bea", "status": "on"}),
    (("A", "source", 5, "VENDOR", 3, "repaired", {}, []), {"name": "Bea", "status": "off"}),
    (("A", "source", 6, "CORE", 4, "as_known", {"name": None}, ["status"]), {"name": None, "status": "off"}),
    (("A", "source", 7, "VENDOR", 5, "as_known", {}, ["name"]), {"status": "on"}),
    (("B", "source", 1, None, 7, "as_known", {}, ["name"]), {}),
    (("B", "source", 2, None, 7, "as_known", {"address": ""}, []), {"address": ""}),
    (("B", "source", 3, "CRM", 6, "as_known", {"fax": "1"}, []), {"fax": "1"}),
    (("C", "source", 1, "CRM", 1, "as_known", {"name": "Cy"}, []), {"name": "Cy"}),
    (("C", "arrival", 1, "CRM", 2, "as_known", {"status": "on"}, []), {"status": "on"}),
]


def columns(rows: list[tuple[Any, ...]]) -> tuple[pa.Array, ...]:
    parts = zip(*[(ord(bk) if clock == "source" else -ord(bk), *said) for bk, clock, *said in rows], strict=True)
    return tuple(
        pa.array([list(cell.items()) if name == "mentions" else cell for cell in part], TYPES[name])
        for name, part in zip(READ, parts, strict=True)
    )


def answers(batches: Iterator[tuple[pa.Array, ...]]) -> list[dict[str, str | None]]:
    return [dict(state) for piece in states_of(batches) for state in piece.to_pylist()]


def test_law_b2_wherever_the_batches_are_cut() -> None:
    rows = [row for row, _ in SAID]
    expected = [state for _, state in SAID]
    for first in range(len(rows)):
        for second in range(first, len(rows)):
            cut = [rows[:first], rows[first:second], rows[second:]]
            assert answers(columns(batch) for batch in cut if batch) == expected, (first, second)
    assert (
        answers(iter([columns(rows[:4]), tuple(column.slice(0, 0) for column in columns(rows)), columns(rows[4:])]))
        == expected
    )


@pytest.mark.parametrize("order", [[0, 2, 1], [1, 2], [0, 7, 1]], ids=["swapped", "headless", "torn"])
def test_assertions_out_of_order_stop_the_build(order: list[int]) -> None:
    with pytest.raises(OutOfOrderError, match=r"came out of order: position \d where \d comes next"):
        answers(iter([columns([SAID[place][0] for place in order])]))


def test_a_mention_that_the_entity_does_not_declare_stops_the_build(spark: SparkSession) -> None:
    """Law E1: an id that did not cover what was said would take another word for a repeat."""
    landing = engine.landed(
        [{"customer_id": "C", "source_system": "S", "source_event_ts": "2026-03-01T00:00:00Z"}], feed=engine.contract()
    )
    engine.assertions(spark, landing)
    spark.table("feed").selectExpr("* except (mentions)", "map('fax', '1') as mentions").createOrReplaceTempView(
        "other"
    )
    with pytest.raises(PySparkException, match="mentions fax, which the entity does not declare"):
        spark.sql(engine.sql("evidence", feeds=["other"], attributes=engine.ATTRIBUTES)).collect()
