"""Marks: what is bad leaves everything derived, and comes back; and nobody's earlier answer changes (laws C4 and S6).

A partition is a landing here, and each run lands by itself.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import engine
import oracle
import pyarrow as pa
import pytest
import test_absence as absence
from attest.once import query
from attest.session import isolated
from cases import text
from engine import ATTRIBUTES, OURS, Engine
from histories import run_seed
from jinja2 import Environment, StrictUndefined
from mutants import MARKED, Mutant, copied
from oracle import Held, Mark
from pyspark.sql import DataFrame, SparkSession
from rulesets import GROUPS, RULE_SETS, seed_row
from test_belief import BELIEVED, START, at_random, held, question_of

RULES = "ranks_and_recency"
TURNS = (0, 1, 2, 3, 3.5, 4, 5, 7, 8, 9, 10, 11)
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


@dataclass(frozen=True)
class Marked:
    """Histories of which some runs are marked: what they became, on views `states`, `as_known` and `rules`."""

    spark: SparkSession
    histories: dict[str, list[Event]]

    def derive(self, *, made_by: Engine = OURS) -> None:
        unmarked = engine.sql("unmarked", made_by=made_by, evidence="everything", marks="marks")
        kept = self.spark.sql(f"select * from {unmarked}")
        engine.states(self.spark, kept).localCheckpoint().createOrReplaceTempView("states")
        lived = engine.sql(
            "lived", made_by=made_by, evidence="everything", marks="marks", attributes=ATTRIBUTES, carries_keys=True
        )
        # As a table would have them: Spark cannot plan a union of two checkpoints with one origin.
        self.spark.createDataFrame(query(self.spark, lived).toArrow()).createOrReplaceTempView("worlds")
        self.spark.sql(
            engine.sql("as_known", made_by=made_by, states="states", worlds="worlds")
        ).localCheckpoint().createOrReplaceTempView("as_known")

    def wrong(self) -> list[Any]:
        """Answers that are not the oracle's, at each turn of what is known, of marks too, and the moment before it."""
        chance = random.Random(run_seed())
        known = [None, *[text(at - off) for at in map(day, TURNS) for off in (timedelta(0), MOMENT)]]
        asked = [
            (key, text(START + timedelta(days=chance.randrange(9))), when) for key in self.histories for when in known
        ]
        self.spark.createDataFrame(asked, "bk string, as_at string, known_at string").selectExpr(
            "bk", "cast(as_at as timestamp) as as_at", "cast(known_at as timestamp) as known_at"
        ).createOrReplaceTempView("asked")
        sql = engine.sql(
            "answers", assertions="as_known", asked="select * from asked", rules="rules", attributes=BELIEVED
        )
        rows = self.spark.sql(sql).collect()
        found = {question_of(row): {name: held(name, row[name]) for name in BELIEVED} for row in rows}
        return [(one, told, found.get(one)) for one in asked if (told := self.expected(*one)) != found.get(one)]

    def expected(self, key: str, as_at: str, known_at: str | None) -> dict[str, Held] | None:
        return oracle.held_at(self.histories[key], as_at=as_at, known_at=known_at, rules=RULE_SETS[RULES], marks=MARKS)

    def without(self) -> DataFrame:
        """The states as if what is marked now had never landed."""
        bad = {mark.run for mark in MARKS if mark.cleared_at is None}
        everything = [event for events in self.histories.values() for event in events]
        left = [event for event in everything if event["ingest_run_id"] not in bad]
        assert 0 < len(left) < len(everything)
        elsewhere = isolated(self.spark)
        return engine.states(elsewhere, engine.assertions(elsewhere, landings(left)))


@pytest.fixture(scope="module")
def marked(root_session: SparkSession) -> Marked:
    spark = isolated(root_session)
    histories = {key: [dict(event) for event in events] for key, events in at_random(run_seed() + 17, 60).items()}
    everything = [event for events in histories.values() for event in events]
    engine.assertions(spark, landings(everything)).localCheckpoint().createOrReplaceTempView("everything")
    bad = [(mark.run, mark.marked_at, mark.cleared_at, "worked") for mark in MARKS]
    engine.marks(spark, [*bad, ("run_4", text(day(1)), None, "another_feed")])
    found = Marked(spark, histories)
    found.derive()
    spark.table("everything").createOrReplaceTempView("evidence")
    rules = engine.rules(spark, [seed_row(rule) for rule in RULE_SETS[RULES]], GROUPS)
    rules.localCheckpoint().createOrReplaceTempView("rules")
    return found


def test_laws_c4_and_s6_every_answer_leaves_out_what_was_marked_then(marked: Marked) -> None:
    assert marked.wrong()[:1] == []


def test_law_c4_what_is_marked_might_as_well_never_have_landed(marked: Marked) -> None:
    assert rows(marked.spark.table("states")) == rows(marked.without())


def test_what_is_known_now_is_what_the_states_have(marked: Marked) -> None:
    known = marked.spark.table("as_known")
    columns = [name for name in known.columns if name != "known_from"]
    now = known.where("known_until is null").select(columns)
    assert rows(now) == rows(marked.spark.table("states").select(columns))


def test_laws_b8_and_s6_what_a_bad_day_deleted_or_kept_is_told_as_it_was_known(spark: SparkSession) -> None:
    """Of every history of three days, the second is marked for ten days: its word and its snapshot."""
    views = absence.frames(spark)
    numbers = range(len(absence.HISTORIES))
    times = (text(absence.at(100)), text(absence.at(110)))
    bad = [(f"{number}/1{of}", *times, f"F{number}") for number in numbers for of in ("", " word")]
    engine.marks(spark, bad)
    lived = engine.sql("lived", made_by=OURS, marks="marks", attributes=ATTRIBUTES, **views)
    query(spark, lived).where("is_inferred").localCheckpoint().createOrReplaceTempView("inferred")
    nothing = absence.Day(None, None)
    without = [(first, nothing, last) for first, _, last in absence.HISTORIES]
    for day_known, told in ((99, absence.HISTORIES), (100, without), (109, without), (110, absence.HISTORIES)):
        at = f"timestamp '{absence.at(day_known):%Y-%m-%d}'"
        then = spark.table("inferred").where(f"known_from <= {at} and coalesce(known_until > {at}, true)")
        assert absence.wrong(absence.deletes_of(then.collect()), told)[:1] == [], day_known
    assert (
        sum(absence.walked(one) != absence.walked(other) for one, other in zip(absence.HISTORIES, without, strict=True))
        > 100
    )


WRONG_SEED = {
    (None, "L1", True, "2026-03-06", "ana", "Bad", None, None, None, None): "feed, partition or stops_landing is empty",
    ("worked", "L9", True, "2026-03-06", "ana", "Bad", None, None, None, None): "has no such partition",
    ("registry", "/r.jsonl", True, "2026-03-06", "ana", "Bad", None, None, None, None): "A snapshot is bad as a whole",
    ("customer_days", "2026-03-07", False, "2026-03-08", None, "Bad", None, None, None, None): "marked_by or reason",
    ("worked", "L2", True, "2026-03-06", "ana", "Bad", None, "2026-03-07", None, None): "cleared_by or cleared_because",
    ("worked", "L3", True, "2999-03-06", "ana", "Bad", None, None, None, None): "at a time to come",
    ("worked", "L4", True, "2026-03-06", "ana", "Bad", "2026-03-01", None, None, None): "not in order",
    (
        "worked",
        "L5",
        False,
        "2026-03-06",
        "ana",
        "Bad",
        "2026-03-07",
        None,
        None,
        None,
    ): "Resumes what it does not stop",
    ("worked", "L6", True, "2026-03-06", "ana", "Bad", None, None, None, None): "Is marked twice",
    ("worked", "L6", True, "2026-03-07", "ben", "Bad", None, None, None, None): "Is marked twice",
}
RIGHT_SEED = [
    ("worked", "L1", True, "2026-03-06", "ana", "Bad", "2026-03-07", "2026-03-08", "ben", "Good after all"),
    ("customer_days", "2026-03-04", False, "2026-03-08", "ana", "Bad", None, None, None, None),
]
SEED = (
    "feed string, partition string, stops_landing boolean, marked_at string, marked_by string, reason string, "
    "resumed_at string, cleared_at string, cleared_by string, cleared_because string"
)


def test_each_wrong_row_of_the_seed_is_named_with_what_to_do(spark: SparkSession) -> None:
    marks = spark.createDataFrame([*WRONG_SEED, *RIGHT_SEED], SEED)
    for name in ("marked_at", "resumed_at", "cleared_at"):
        marks = marks.withColumn(name, marks[name].cast("timestamp"))
    marks.createOrReplaceTempView("marked_partitions")
    landed = [("worked", f"L{number}", f"/{number}.jsonl") for number in range(1, 7)]
    spark.createDataFrame(
        [*landed, ("registry", "R1", "/r.jsonl")], "feed string, landing_id string, source_path string"
    ).createOrReplaceTempView("landings")
    spark.createDataFrame([("2026-03-04",), ("2026-03-07",)], "published_on string").createOrReplaceTempView(
        "customer_days"
    )
    spark.createDataFrame(
        [("registry", "load_type", "snapshot")], "feed string, promise string, value string"
    ).createOrReplaceTempView("promises")
    text_of = (engine.ROOT / "tests" / "data" / "marked_partitions_are_sound.sql").read_text(encoding="utf-8")
    sql = Environment(undefined=StrictUndefined, autoescape=False).from_string(text_of).render(ref=str)
    found = [(row.feed, row.partition, row.problem) for row in spark.sql(sql).collect()]
    assert len(found) == len(WRONG_SEED)
    for row, says in WRONG_SEED.items():
        assert any((feed, partition) == row[:2] and says in problem for feed, partition, problem in found), (row, found)


@pytest.mark.prove
@pytest.mark.parametrize("mutant", MARKED, ids=lambda mutant: mutant.name)
def test_laws_c4_and_s6_a_mutant_of_marks_is_caught(marked: Marked, tmp_path: Path, mutant: Mutant) -> None:
    marked.derive(made_by=Engine(copied(tmp_path / "mutant", mutant)))
    try:
        if mutant.killer == "as_known":
            assert marked.wrong()
        else:
            assert rows(marked.spark.table("states")) != rows(marked.without())
    finally:
        marked.derive()


def rows(frame: DataFrame) -> list[Event]:
    found: list[Event] = frame.toArrow().to_pylist(maps_as_pydicts="strict")
    return sorted(found, key=lambda row: str(sorted(row.items(), key=lambda one: one[0])))
