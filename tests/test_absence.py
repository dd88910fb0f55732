"""Deletes by absence (law B8) against a walk through time, and the mistakes that it must notice.

Every history of three days of one entity, in which a day brings a word on it, a snapshot that lacks it,
both or nothing; each is a feed of its own, all of them one frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import engine
import pytest
from engine import OURS, Engine
from mutants import EVIDENCE, Mutant, copied, made_of
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import StructField, StructType

START = datetime(2026, 3, 1, tzinfo=UTC)
LATE = timedelta(days=60)


class Day(NamedTuple):
    """What a feed brings on a day: a word on the entity, and whether a snapshot without it, of what."""

    word: str | None
    lacks: str | None


WORDS = (None, "lives in the north", "lives in the south", "deleted")
SNAPSHOTS = (None, "all", "north", "held")
DAYS = [Day(*parts) for parts in product(WORDS, SNAPSHOTS)]
History = tuple[Day, ...]
HISTORIES = list(product(DAYS, repeat=3))


def at(day: int) -> datetime:
    return START + timedelta(days=day)


def arrival(day: int, what: str) -> datetime:
    """Words of the first day come last; the others as they happen."""
    return at(day) + (LATE if day == 0 and what == "word" else timedelta(hours=1))


def walked(history: History) -> list[tuple[datetime, datetime]]:
    """When the feed deletes by leaving out, and when that arrived: one step a day."""
    found: list[tuple[datetime, datetime]] = []
    lives_in, heard = None, START
    for day, (word, lacks) in enumerate(history):
        if word is not None:
            lives_in = word.rpartition(" ")[2] if word != "deleted" else None
            heard = arrival(day, "word")
        elif lacks in ("all", lives_in) and lives_in is not None:
            found.append((at(day), max(heard, arrival(day, "snapshot"))))
            lives_in = None
    return found


def said(number: int, day: int, word: str) -> dict[str, Any]:
    when = arrival(day, "word")
    return {
        **{
            "landing_id": f"{number}/{day} word",
            "bk": "E",
            "feed": f"F{number}",
            "source_system": f"F{number}",
            "assertion_id": f"{number}/{day}",
        },
        **{"is_deleted": word == "deleted", "scope": word.rpartition(" ")[2], "verdict": "DEFENSIBLE"},
        **{"clock": "source", "effective_ts": at(day), "source_event_ts": at(day), "source_event_finer": 0},
        **{"ingest_ts": when, "known_from": when, "recorded_at": when, "mentions": {}, "unchanged": []},
    }


def snapshot(number: int, day: int, lacks: str) -> dict[str, Any]:
    return {
        **{"landing_id": f"{number}/{day}", "feed": f"F{number}", "ingest_run_id": "run", "as_of": at(day)},
        **{"arrival": arrival(day, "snapshot"), "recorded_at": arrival(day, "snapshot")},
        **{"scopes": [lacks] if lacks == "north" else [], "decision": "held" if lacks == "held" else "passed"},
    }


SNAPSHOT = (
    "landing_id string, feed string, ingest_run_id string, as_of timestamp, arrival timestamp, "
    "recorded_at timestamp, scopes array<string>, decision string"
)
RULING = "snapshot string, ruling string, known_from timestamp"


def frames(spark: SparkSession, rulings: Sequence[tuple[str, str, datetime]] = ()) -> dict[str, str]:
    """The histories as views, by what a macro calls them."""
    numbered = list(enumerate(HISTORIES))
    words = [said(n, day, one.word) for n, days in numbered for day, one in enumerate(days) if one.word]
    snapshots = [snapshot(n, day, one.lacks) for n, days in numbered for day, one in enumerate(days) if one.lacks]
    columns = engine.assertions(spark, engine.landed([], feed=engine.contract())).schema
    shape = StructType([StructField(column.name, column.dataType) for column in columns])
    rows = [[word.get(name) for name in shape.names] for word in words]
    spark.createDataFrame(rows, shape).createOrReplaceTempView("evidence")
    spark.createDataFrame([list(one.values()) for one in snapshots], SNAPSHOT).createOrReplaceTempView("snapshots")
    spark.createDataFrame(list(rulings), RULING).createOrReplaceTempView("rulings")
    return {"evidence": "evidence", "snapshots": "snapshots", "rulings": "rulings"}


def inferred(
    spark: SparkSession, *, rulings: Sequence[tuple[str, str, datetime]] = (), made_by: Engine = OURS
) -> dict[str, list[tuple[datetime, datetime]]]:
    """Each feed's inferred deletes, as the project's own macros give them."""
    sql = engine.sql("absences", made_by=made_by, **frames(spark, rulings), attributes=engine.ATTRIBUTES)
    return deletes_of(spark.sql(sql).collect())


def deletes_of(rows: Iterable[Row]) -> dict[str, list[tuple[datetime, datetime]]]:
    found: dict[str, list[tuple[datetime, datetime]]] = {f"F{number}": [] for number, _ in enumerate(HISTORIES)}
    for row in rows:
        found[row.feed].append((row.effective_ts.replace(tzinfo=UTC), row.ingest_ts.replace(tzinfo=UTC)))
    return {feed: sorted(deletes) for feed, deletes in found.items()}


def wrong(found: dict[str, list[tuple[datetime, datetime]]], histories: Sequence[History] = HISTORIES) -> list[History]:
    return [history for n, history in enumerate(histories) if found[f"F{n}"] != walked(history)]


def test_law_b8_every_history_of_three_days(spark: SparkSession) -> None:
    """4,096 of them, hundreds of which delete by absence."""
    assert wrong(inferred(spark)) == []
    assert sum(bool(walked(history)) for history in HISTORIES) > 300


def test_law_b8_a_release_counts_as_if_it_had_passed_and_a_withdrawal_as_if_it_were_not_there(
    spark: SparkSession,
) -> None:
    held = [f"{n}/{day}" for n, days in enumerate(HISTORIES) for day, one in enumerate(days) if one.lacks == "held"]
    of_all = [f"{n}/{day}" for n, days in enumerate(HISTORIES) for day, one in enumerate(days) if one.lacks == "all"]
    rulings = [(one, "release", at(90)) for one in held] + [(one, "withdraw", at(90)) for one in of_all]
    turned = {"held": "all", "all": "held"}
    as_ruled = [
        tuple(replace_lacks(day, turned.get(day.lacks or "", day.lacks)) for day in history) for history in HISTORIES
    ]
    assert wrong(inferred(spark, rulings=rulings), as_ruled) == []


def replace_lacks(day: Day, lacks: str | None) -> Day:
    return day._replace(lacks=lacks)


SCOPE = "    and (size(snapshot.scopes) = 0 or array_contains(snapshot.scopes, said.scope))\n"
ABSENCE = [
    Mutant("absence outside its scope", "B8", EVIDENCE, SCOPE, "", killer=""),
    Mutant("a deleted entity deleted again", "B8", EVIDENCE, "where not said.is_deleted\n", "", killer=""),
    Mutant("a snapshot lacks whom it lists", "B8", EVIDENCE, "effective_ts < snapshot", "effective_ts <= snapshot", ""),
    Mutant("every snapshot deletes anew", "B8", EVIDENCE, "    where place = 1\n", "", killer=""),
    Mutant("held snapshots delete", "B8", EVIDENCE, "where snapshot.decision = 'passed'", "where true", killer=""),
    Mutant(
        "arrival of the snapshot alone", "B8", EVIDENCE, "(arrival, last_said_arrival) as", "(arrival, arrival) as", ""
    ),
]


@pytest.fixture(scope="module")
def table_of_the_killed() -> Iterator[list[str]]:
    lines: list[str] = []
    yield lines
    print("\n".join(["", *lines]))


@pytest.mark.mutant
@pytest.mark.parametrize("mutant", ABSENCE, ids=lambda mutant: mutant.name)
def test_law_b8_a_mutant_of_absence_is_caught(
    spark: SparkSession, tmp_path: Path, table_of_the_killed: list[str], mutant: Mutant
) -> None:
    found = wrong(inferred(spark, made_by=made_of(copied(tmp_path / "mutant", mutant))))
    assert found
    table_of_the_killed.append(f"  {mutant.name:45} {mutant.law}  {len(found):,} of {len(HISTORIES):,} histories")
