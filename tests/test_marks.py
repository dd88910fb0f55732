"""Marks: what is bad leaves everything derived, and comes back; and nobody's earlier answer changes (laws C4 and S6).

A partition is a landing here, and each run lands by itself.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

import engine
import oracle
import pyarrow as pa
import pytest
from attest.session import isolated
from cases import text
from engine import ATTRIBUTES
from histories import run_seed
from oracle import Held, Mark
from pyspark.sql import DataFrame, SparkSession
from rulesets import GROUPS, RULE_SETS, seed_row
from test_belief import BELIEVED, START, at_random, held, question_of

RULES = "ranks_and_recency"
RUNS = [f"run_{number}" for number in range(6)]
MOMENT = timedelta(microseconds=1)
Event = dict[str, Any]


def day(number: float) -> datetime:
    return START + timedelta(days=20 + number)


MARKS = (
    Mark("run_1", text(day(7))),
    Mark("run_2", text(day(8)), text(day(10))),
    Mark("run_3", text(day(3.5)), text(day(9))),
    Mark("run_3", text(day(11))),
)


def landings(events: Sequence[Event]) -> pa.Table:
    """Each run's events as a landing of its own, which bears the run's name."""
    by_run = sorted(events, key=lambda event: str(event["ingest_run_id"]))
    staged = []
    for run, of_run in groupby(by_run, key=lambda event: event["ingest_run_id"]):
        table = engine.landed(of_run, feed=engine.contract(), file=f"{run}.jsonl")
        place = table.schema.get_field_index("landing_id")
        staged.append(table.set_column(place, "landing_id", pa.repeat(pa.scalar(run), len(table))))
    return pa.concat_tables(staged)


@pytest.fixture(scope="module")
def histories() -> dict[str, list[Event]]:
    return {key: [dict(event) for event in events] for key, events in at_random(run_seed() + 17, 60).items()}


@pytest.fixture(scope="module")
def marked(root_session: SparkSession, histories: dict[str, list[Event]]) -> SparkSession:
    """The views `evidence`, `marks`, `states` of what is not marked now, `as_known` and `rules`."""
    spark = isolated(root_session)
    everything = [event for events in histories.values() for event in events]
    evidence = engine.assertions(spark, landings(everything)).localCheckpoint()
    evidence.createOrReplaceTempView("everything")
    engine.marks(spark, [(mark.run, mark.marked_at, mark.cleared_at) for mark in MARKS])
    kept = spark.sql(f"select * from {engine.sql('unmarked', evidence='everything', marks='marks')}")
    engine.states(spark, kept).localCheckpoint().createOrReplaceTempView("states")
    known = engine.sql(
        "as_known", states="states", evidence="everything", marks="marks", attributes=ATTRIBUTES, carries_keys=True
    )
    spark.sql(known).localCheckpoint().createOrReplaceTempView("as_known")
    rules = engine.rules(spark, [seed_row(rule) for rule in RULE_SETS[RULES]], GROUPS)
    rules.localCheckpoint().createOrReplaceTempView("rules")
    return spark


def test_laws_c4_and_s6_every_answer_leaves_out_what_was_marked_then(
    marked: SparkSession, histories: dict[str, list[Event]]
) -> None:
    """At each turn of what is known, of marks too, and the moment before it; against the oracle."""
    chance = random.Random(run_seed())
    turns = [day(number) for number in (0, 1, 2, 3, 3.5, 4, 5, 7, 8, 9, 10, 11)]
    known = [None, *[text(at - off) for at in turns for off in (timedelta(0), MOMENT)]]
    asked = [(key, text(START + timedelta(days=chance.randrange(9))), when) for key in histories for when in known]
    marked.createDataFrame(asked, "bk string, as_at string, known_at string").selectExpr(
        "bk", "cast(as_at as timestamp) as as_at", "cast(known_at as timestamp) as known_at"
    ).createOrReplaceTempView("asked")
    sql = engine.sql("answers", assertions="as_known", asked="select * from asked", rules="rules", attributes=BELIEVED)
    found = {question_of(row): {name: held(name, row[name]) for name in BELIEVED} for row in marked.sql(sql).collect()}
    wrong = [(one, told, found.get(one)) for one in asked if (told := expected(histories, *one)) != found.get(one)]
    print(f"{len(asked):,} questions, {len(wrong)} wrong", flush=True)
    assert wrong[:1] == []


def expected(histories: dict[str, list[Event]], key: str, as_at: str, known_at: str | None) -> dict[str, Held] | None:
    return oracle.held_at(histories[key], as_at=as_at, known_at=known_at, rules=RULE_SETS[RULES], marks=MARKS)


def test_law_c4_what_is_marked_might_as_well_never_have_landed(
    marked: SparkSession, histories: dict[str, list[Event]]
) -> None:
    left = [
        event
        for events in histories.values()
        for event in events
        if event["ingest_run_id"] not in {mark.run for mark in MARKS if mark.cleared_at is None}
    ]
    elsewhere = isolated(marked)
    without = engine.states(elsewhere, engine.assertions(elsewhere, landings(left)))
    assert 0 < len(left) < sum(map(len, histories.values()))
    assert rows(marked.table("states")) == rows(without)


def test_what_is_known_now_is_what_the_states_have(marked: SparkSession) -> None:
    columns = [name for name in marked.table("as_known").columns if name not in ("known_from", "position")]
    now = marked.table("as_known").where("known_until is null").select(columns)
    assert rows(now) == rows(marked.table("states").select(columns))


def rows(frame: DataFrame) -> list[Event]:
    found: list[Event] = frame.toArrow().to_pylist(maps_as_pydicts="strict")
    return sorted(found, key=lambda row: str(sorted(row.items(), key=lambda one: one[0])))
