"""What must not change the tables: the same evidence told in another way, and what has nothing to do with it.

Nothing here knows a right answer. Each test tells random nasty histories twice, in two
ways that a law says are one, and compares every column; a docstring names those that the law lets differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import engine
import pyarrow as pa
import pytest
from attest.session import isolated
from cases import text
from histories import Event, random_histories, run_seed
from pyspark.sql import SparkSession

SHIFT = timedelta(days=1_000, hours=7, microseconds=1)
CARRIED = ("source_path", "source_record", "landing_id", "record_hash")
Row = dict[str, Any]
Tables = dict[str, list[Row]]


@pytest.fixture(scope="module", params=[50, pytest.param(3_000, marks=pytest.mark.prove)], ids="{} entities".format)
def histories(request: pytest.FixtureRequest) -> dict[str, list[Event]]:
    return random_histories(run_seed(), request.param)


@pytest.fixture(scope="module")
def events(histories: dict[str, list[Event]]) -> list[Event]:
    """All that was said, in an order that has nothing to do with time."""
    said = [event for history in histories.values() for event in history]
    random.Random(len(said)).shuffle(said)
    return said


@pytest.fixture(scope="module")
def plain(root_session: SparkSession, events: list[Event]) -> Tables:
    return tables(root_session, landed(events))


def landed(events: Iterable[Event], *, file: str = "events.jsonl", number: int = 1) -> pa.Table:
    return engine.landed(events, feed=engine.contract(), file=file, number=number)


def tables(root_session: SparkSession, *landings: pa.Table) -> Tables:
    """States and timeline of the evidence of these landings."""
    spark = isolated(root_session)
    timeline = engine.timeline(spark, engine.assertions(spark, pa.concat_tables(landings)))
    return {"states": rows(spark.table("states").toArrow()), "timeline": rows(timeline.toArrow())}


def rows(table: pa.Table) -> list[Row]:
    return sorted(table.to_pylist(), key=place)


def place(row: Row) -> tuple[str, int]:
    return row["bk"], row.get("position") or row["version"]


def without(names: Sequence[str], found: Tables) -> Tables:
    return {
        table: [{name: value for name, value in row.items() if name not in names} for row in kept]
        for table, kept in found.items()
    }


def test_law_e5_rows_that_arrive_in_another_order(
    root_session: SparkSession, events: list[Event], plain: Tables
) -> None:
    landing = landed(events)
    order = list(range(len(events)))
    random.Random(1).shuffle(order)
    assert tables(root_session, landing.take(order)) == plain


def test_law_e5_the_same_evidence_in_other_batches(
    root_session: SparkSession, events: list[Event], plain: Tables
) -> None:
    """Only what names the batch itself may differ: the path and the record within it, and the hash over the path."""
    chance = random.Random(2)
    batches: list[list[Event]] = [[], [], []]
    for event in events:
        chance.choice(batches).append(event)
    split = [landed(batch, file=f"batch_{n}.jsonl", number=n) for n, batch in enumerate(batches, start=1)]
    assert without(CARRIED, tables(root_session, *split)) == without(CARRIED, plain)


def test_laws_e1_and_e5_everything_landed_twice(root_session: SparkSession, events: list[Event], plain: Tables) -> None:
    """A replay is counted beside the states, and no column of them differs."""
    assert tables(root_session, landed(events), landed(events, number=2)) == plain


def test_law_b1_a_source_that_speaks_of_other_entities(
    root_session: SparkSession, events: list[Event], plain: Tables
) -> None:
    """Each of its entities lies between two of ours."""
    others = [event | {"customer_id": f"{event['customer_id']}'", "source_system": "ELSEWHERE"} for event in events]
    found = tables(root_session, landed(events), landed(others, number=2))
    assert {table: [row for row in kept if not row["bk"].endswith("'")] for table, kept in found.items()} == plain
    assert len(found["timeline"]) > len(plain["timeline"])


def test_laws_b2_and_e3_a_source_that_mentions_nothing(
    root_session: SparkSession, events: list[Event], plain: Tables
) -> None:
    """It opens versions of its own, which may part those of others, but gives no one another state."""
    silent = [
        {name: event[name] for name in ("customer_id", "source_event_ts", "ingest_ts")} | {"source_system": "SILENT"}
        for event in events
    ]
    found = tables(root_session, landed(events), landed(silent, file="silent.jsonl", number=2))
    heard = [row for row in found["states"] if row["source_system"] != "SILENT"]
    parted = ["position", *(name for name in plain["states"][0] if "version" in name and name != "hash_version")]
    assert without(parted, {"states": heard}) == without(parted, {"states": plain["states"]})


def test_law_b5_an_attribute_that_nobody_mentions(
    root_session: SparkSession, events: list[Event], plain: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is unknown everywhere; no identity, no hash and no version is another."""
    monkeypatch.setitem(engine.ATTRIBUTES, "fax", "string")
    found = tables(root_session, landed(events))
    assert {(row["fax"], "fax" in row["unknown_attributes"]) for row in found["timeline"]} == {(None, True)}
    new = ["fax", "unknown_attributes"]
    assert without(new, found) == without(new, plain)


def test_law_b1_keys_by_other_names(root_session: SparkSession, events: list[Event], plain: Tables) -> None:
    """Only the key may differ, and the hashes that cover it."""
    names = {key: f"{key[::-1]}, once {key}" for key in {event["customer_id"] for event in events}}
    found = tables(root_session, landed(event | {"customer_id": names[event["customer_id"]]} for event in events))
    back = {name: key for key, name in names.items()}
    for row in found["states"] + found["timeline"]:
        row["bk"] = back[row["bk"]]
    covering = ["sk", "assertion_id", "record_hash"]
    again = {table: sorted(kept, key=place) for table, kept in found.items()}
    assert without(covering, again) == without(covering, plain)


def test_law_b1_all_times_later_by_as_much(root_session: SparkSession, events: list[Event], plain: Tables) -> None:
    """Only the times may differ, the hashes that cover them, and whether they were before the lake's own clock."""
    later = [event | {name: shifted(event[name]) for name in ("source_event_ts", "ingest_ts")} for event in events]
    found = tables(root_session, landed(later))
    for row in found["states"] + found["timeline"]:
        row |= {name: at - SHIFT for name, at in row.items() if isinstance(at, datetime) and name != "recorded_at"}
    covering = ["assertion_id", "record_hash", "is_backfilled"]
    assert without(covering, found) == without(covering, plain)


def shifted(instant: str) -> str:
    moved: str = text(datetime.fromisoformat(instant) + SHIFT)
    return moved
