"""Changes of key: what is carried over is what was known of the old key, whenever it arrived (laws B1, E3 and S6)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import engine
import pytest
from engine import OURS, Engine
from histories import run_seed
from mutants import EVIDENCE, Mutant, copied, made_of
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

DAY = datetime(2026, 3, 1, tzinfo=UTC)
KNOWN = datetime(2026, 4, 1, tzinfo=UTC)


class Word(NamedTuple):
    """What is said of a key at a place in the log, and when it arrives; `came_from` is the key that its row had."""

    key: str
    place: int
    arrives: int
    mentions: Mapping[str, str]
    came_from: str | None = None
    source: str = "CORE"


History = Sequence[Word]


def carried(history: History, move: Word, by: int) -> dict[str, str]:
    """What the row's source last said of it under its earlier keys, as known by then: walked back, key by key."""
    before = [
        word
        for word in history
        if word.key == move.came_from and word.place < move.place and word.arrives <= by and word.source == move.source
    ]
    before.sort(key=lambda word: word.place)
    moves = [number for number, word in enumerate(before) if word.came_from is not None]
    said = carried(history, before[moves[-1]], by) if moves else {}
    for word in before[moves[-1] if moves else 0 :]:
        said |= word.mentions
    return said


def told(history: History) -> dict[tuple[str, int], list[tuple[int, dict[str, str]]]]:
    """For each move, what was carried over at each time that it became another, less what proved to be another's.

    What was carried over once stands until something else is, though its path was not known for a while.
    """
    found: dict[tuple[str, int], list[tuple[int, dict[str, str]]]] = {}
    for move in (word for word in history if word.came_from is not None):
        steps: list[tuple[int, dict[str, str]]] = []
        in_the_end = carried(history, move, 20)
        for by in range(move.arrives, 20):
            before = steps[-1][1] if steps else {}
            said = before | {name: text for name, text in carried(history, move, by).items() if name in in_the_end}
            if said != before:
                steps.append((by, said))
        found[move.key, move.place] = steps
    return found


SPOKEN: dict[str, History] = {
    "what was left out comes from the old key": [
        Word("A", 1, 1, {"name": "Ann", "address": "long"}),
        Word("B", 2, 2, {"name": "Ann"}, "A"),
    ],
    "a key may change again and again": [
        Word("A", 1, 1, {"address": "long"}),
        Word("B", 2, 2, {"name": "Ann"}, "A"),
        Word("C", 3, 3, {}, "B"),
    ],
    "an earlier life of the key is another's": [
        Word("B", 1, 1, {"address": "other", "status": "other"}),
        Word("A", 2, 2, {"address": "long"}),
        Word("B", 3, 3, {}, "A"),
        Word("C", 4, 4, {}, "B"),
    ],
    "what arrives late is known late": [
        Word("B", 2, 1, {}, "A"),
        Word("A", 1, 5, {"address": "long"}),
    ],
    "a move that arrives late ends an earlier life late": [
        Word("B", 1, 1, {"address": "other"}),
        Word("C", 4, 2, {}, "B"),
        Word("B", 3, 6, {}, "A"),
        Word("A", 2, 3, {"address": "long"}),
    ],
    "another source's words are not carried": [
        Word("A", 1, 1, {"address": "crm"}, None, "CRM"),
        Word("A", 2, 2, {"name": "Ann"}),
        Word("B", 3, 3, {}, "A"),
    ],
    "what comes after the change stays with the old key": [
        Word("A", 1, 1, {"name": "Ann"}),
        Word("B", 2, 2, {}, "A"),
        Word("A", 3, 3, {"name": "new"}),
    ],
}


def at_random(draw: random.Random) -> History:
    size = draw.randrange(2, 8)
    words = []
    for place, arrives in enumerate(draw.sample(range(1, 10), size), start=1):
        key = draw.choice("ABC")
        came_from = draw.choice([None, *(other for other in "ABC" if other != key)])
        mentions = {name: f"{name} {place}" for name in ("name", "address", "status") if draw.random() < 0.4}
        words.append(Word(key, place, arrives, mentions, came_from, draw.choice(["CORE", "CORE", "CORE", "CRM"])))
    return words


def histories() -> dict[str, History]:
    draw = random.Random(run_seed())
    return SPOKEN | {f"random {number}": at_random(draw) for number in range(120)}


def evidence(spark: SparkSession, all_of: Mapping[str, History]) -> None:
    columns = engine.assertions(spark, engine.landed([], feed=engine.contract())).schema
    shape = StructType([StructField(column.name, column.dataType) for column in columns])
    rows = []
    for name, history in all_of.items():
        for word in history:
            arrival = KNOWN + timedelta(days=word.arrives)
            said: dict[str, Any] = {
                "bk": f"{name}/{word.key}",
                "moved_from": None if word.came_from is None else f"{name}/{word.came_from}",
                "assertion_id": f"{name}/{word.place}",
                "source_system": word.source,
                "is_deleted": False,
                "verdict": "DEFENSIBLE",
                "clock": "source",
                "feed": "core",
                "effective_ts": DAY,
                "source_event_ts": DAY,
                "source_event_finer": 0,
                "source_sequence": [Decimal(0), Decimal(word.place), Decimal(0)],
                "ingest_ts": arrival,
                "known_from": arrival,
                "recorded_at": arrival,
                "mentions": dict(word.mentions),
                "unchanged": [],
            }
            rows.append([said.get(column) for column in shape.names])
    spark.createDataFrame(rows, shape).createOrReplaceTempView("evidence")


Steps = dict[tuple[str, str, int], list[tuple[int, dict[str, str]]]]


def derived(spark: SparkSession, made_by: Engine = OURS) -> Steps:
    """The project's own answer, without the steps that say what the one before them said."""
    found: Steps = {}
    query = engine.sql("key_changes", made_by=made_by, evidence="evidence", attributes=engine.ATTRIBUTES)
    for row in spark.sql(query).orderBy("bk", "known_from").collect():
        name, _, key = row.bk.rpartition("/")
        by = (row.known_from.replace(tzinfo=UTC) - KNOWN).days
        assert len(row.source_sequence) == 2, "shorter than the sequence of the word that it goes before"
        assert (row.is_inferred, row.is_deleted, row.moved_from) == (True, False, None)
        steps = found.setdefault((name, key, int(row.source_sequence[1])), [])
        said = steps[-1][1] | row.mentions if steps else row.mentions
        if not steps or steps[-1][1] != said:
            steps.append((by, said))
    return found


def expected(all_of: Mapping[str, History]) -> Steps:
    steps = {(name, *move): found for name, history in all_of.items() for move, found in told(history).items()}
    return {move: found for move, found in steps.items() if found}


def test_what_is_carried_over_is_what_was_known_of_the_old_keys_at_each_time(spark: SparkSession) -> None:
    all_of = histories()
    evidence(spark, all_of)
    found, true = derived(spark), expected(all_of)
    wrong = [move for move in found.keys() | true.keys() if found.get(move) != true.get(move)]
    assert [(move, found.get(move), true.get(move), all_of[move[0]]) for move in wrong[:3]] == []
    assert len(true) > 60


MUTANTS = [
    Mutant("words after the change count", "E3", EVIDENCE, "    and origins.until_place > told.place\n", "", ""),
    Mutant(
        "another source's words count", "E3", EVIDENCE, "and origins.source_system <=> told.source_system\n", "", ""
    ),
    Mutant("only the last key counts", "B1", EVIDENCE, "where before.moved_from is not null\n", "where false\n", ""),
    Mutant(
        "an earlier life counts", "B1", EVIDENCE, "coalesce(times.known_from < word.outdated_from, true)", "true", ""
    ),
    Mutant(
        "what is known late is known at once",
        "S6",
        EVIDENCE,
        "(origins.known_from, told.known_from)",
        "(origins.known_from, origins.known_from)",
        "",
    ),
]


@pytest.mark.prove
@pytest.mark.mutant
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_key_changes_is_caught(spark: SparkSession, tmp_path: Path, mutant: Mutant) -> None:
    evidence(spark, SPOKEN)
    assert derived(spark, made_by=made_of(copied(tmp_path / "mutant", mutant))) != expected(SPOKEN)
