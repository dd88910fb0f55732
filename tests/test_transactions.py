"""Transactions are facts (law B7): told once or often, corrected by another fact, never versioned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import engine
import pyarrow as pa
import pytest
from attest.project import read_yaml
from pyspark.sql import Row, SparkSession

FEED = engine.contract("payments")
ATTRIBUTES: dict[str, str] = read_yaml(engine.ROOT / "dbt_project.yml")["vars"]["transactions"]["payment"]["attributes"]
Event = dict[str, Any]
PAID: Event = {
    **{"payment_id": "P", "source_system": "WIRES", "booked_at": "2026-03-02T09:15:00Z"},
    **{"ingest_ts": "2026-03-02T09:16:00Z", "amount": 250, "currency": "EUR", "debtor_account": "A-001"},
}
REPEAT = PAID | {"ingest_ts": "2026-03-05T00:00:00Z"}
OTHER_AMOUNT = PAID | {"ingest_ts": "2026-03-03T00:00:00Z", "amount": 205}
CORRECTED = OTHER_AMOUNT | {"corrects": "P"}
CORRECTION = CORRECTED | {"payment_id": "P-2", "booked_at": "2026-03-03T08:00:00Z"}


def payments(spark: SparkSession, *landings: Sequence[Event]) -> list[Row]:
    """The payments that these landings tell, by the project's own mapping and macros."""
    landed = [engine.landed(events, feed=FEED, number=number) for number, events in enumerate(landings, start=1)]
    landing = pa.concat_tables(landed)
    evidence = engine.assertions(spark, landing, model="payment/payment_from_payments", attributes=ATTRIBUTES)
    evidence.createOrReplaceTempView("evidence")
    sql = engine.sql(
        "transactions", entity="payment", assertions="evidence", attributes=ATTRIBUTES, corrects="corrects"
    )
    return sorted(spark.sql(sql).collect(), key=lambda row: (row.bk, row.first_seen_ts, row.is_conflicting))


def changed(before: Row, after: Row) -> set[str]:
    return {name for name in before.asDict() if before[name] != after[name]}


def test_law_b7_a_repeat_moves_last_seen_and_the_count_and_nothing_else(spark: SparkSession) -> None:
    [once] = payments(spark, [PAID])
    [twice] = payments(spark, [PAID, REPEAT])
    assert changed(once, twice) == {"last_seen_ts", "replay_count"}
    assert (f"{twice.first_seen_ts:%m-%d}", f"{twice.last_seen_ts:%m-%d}", twice.replay_count) == ("03-02", "03-05", 1)
    assert (once.entity_type, once.is_current, once.is_conflicting) == ("TRANSACTION", None, False)


def test_law_b7_a_correction_is_another_fact_and_leaves_the_original_as_it_was(spark: SparkSession) -> None:
    [alone] = payments(spark, [PAID])
    original, correction = payments(spark, [PAID, CORRECTION])
    assert original == alone
    assert (correction.corrects, f"{correction.amount:.2f}", correction.is_conflicting) == (
        original.bk,
        "205.00",
        False,
    )


def test_a_correction_may_come_before_its_original(spark: SparkSession) -> None:
    [alone] = payments(spark, [CORRECTION])
    _, after = payments(spark, [PAID, CORRECTION])
    assert alone == after


def test_one_identity_with_two_contents_is_kept_twice_and_flagged(spark: SparkSession) -> None:
    """Law B7 says nothing of it: what happened cannot have happened in two ways, and nobody's word is lost."""
    rows = payments(spark, [PAID, OTHER_AMOUNT, REPEAT])
    assert [(f"{row.amount:.2f}", row.replay_count, row.is_conflicting) for row in rows] == [
        ("250.00", 1, True),
        ("205.00", 0, True),
    ]
    assert rows[0].sk == rows[1].sk
    assert rows[0].event_hash != rows[1].event_hash


def test_a_correction_under_the_same_identity_is_no_conflict(spark: SparkSession) -> None:
    [alone] = payments(spark, [PAID])
    original, correction = payments(spark, [PAID, CORRECTED])
    assert original == alone
    assert (correction.bk, correction.corrects, correction.is_conflicting) == ("P", "P", False)


SAME = {
    "a null for what was absent": {"corrects": None, "value_date": None},
    "an amount in other digits": {"amount": 250.00},
    "spaces around": {"currency": " EUR "},
    "another source": {"source_system": "CARDS"},
}
OTHER = {
    "another time": {"booked_at": "2026-03-02T09:15:00.000001Z"},
    "a finer time": {"booked_at": "2026-03-02T09:15:00.0000000001Z"},
    "a blank for what was absent": {"creditor_account": ""},
    "another case": {"currency": "eur"},
}


@pytest.mark.parametrize(
    ("said", "tells"), [(SAME, [(1, "WIRES", False)]), (OTHER, [(0, "WIRES", True)] * 2)], ids=["repeat", "other"]
)
def test_what_tells_the_same_is_a_repeat_and_what_tells_anything_else_is_another_event(
    spark: SparkSession, said: dict[str, Event], tells: list[Any]
) -> None:
    pairs = [({"payment_id": case}, {"payment_id": f" {case}"} | again) for case, again in said.items()]
    events = [event for key, again in pairs for event in (PAID | key, REPEAT | again)]
    by_key: dict[str, list[Any]] = defaultdict(list)
    for row in payments(spark, events):
        by_key[row.bk].append((row.replay_count, row.source_system, row.is_conflicting))
    assert by_key == dict.fromkeys(said, tells)


HISTORY = [PAID, REPEAT, OTHER_AMOUNT, CORRECTED]


def test_laws_b7_and_e5_every_order_and_every_cut_give_the_same_facts(spark: SparkSession) -> None:
    """Each order, cut in two landings, is a payment of its own."""
    cases = [(order, cut) for order in permutations(HISTORY) for cut in range(len(HISTORY))]
    landings: tuple[list[Event], list[Event]] = ([], [])
    for number, (order, cut) in enumerate(cases):
        for place, event in enumerate(order):
            own = {"payment_id": f"P{number}"} | ({"corrects": f"P{number}"} if "corrects" in event else {})
            landings[place >= cut].append(event | own)
    named = {"bk", "sk", "event_hash", "record_hash", "assertion_id", "corrects", "ingest_run_id"}
    by_key: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in payments(spark, *landings):
        by_key[row.bk].append({name: value for name, value in row.asDict().items() if name not in named})
    assert len(by_key) == len(cases)
    assert {len(rows) for rows in by_key.values()} == {3}
    assert all(rows == by_key["P0"] for rows in by_key.values())
