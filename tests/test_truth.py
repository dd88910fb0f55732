"""A real capture, replayed: every row after every commit is what PostgreSQL's own history says, however it arrives."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import capture
import engine
import pyarrow as pa
import pytest
from attest.delivery import new_delivery
from attest.formats import read_line
from attest.landing_rows import to_arrow
from attest.states import register
from attest.stream import Batch, Stream, follow
from capture import ACCOUNTS, CUSTOMERS, PAYMENTS, Table
from histories import run_seed
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


class KilledError(Exception):
    """As if the process had ended here."""


States = dict[str, list[dict[str, Any]]]
START = datetime(2026, 11, 19, tzinfo=UTC)
Batches = Sequence[Sequence[int]]
# What no reader can know, and nothing else may differ. Trap 1: a null arrived as the default of its column. Trap 12:
# a column that was added with a default tells no event, so its rows are told when somebody touches them.
CANNOT_BE_KNOWN = {
    ("3", "segment"),
    *((key, "loyalty") for key in ("1", "2", "5", "6", "8008", "2000", "103", "4004", "7")),
}


def landed(table: Table, batches: Batches, arrangement: str) -> list[pa.Table]:
    """The capture's lines, as so many landings one after the other."""
    lines = capture.lines()
    parts = []
    for number, batch in enumerate(batches):
        rows = [read_line(line + 1, lines[line].encode(), table.feed) for line in batch]
        delivery = replace(new_delivery(arrived_at=START + timedelta(minutes=number)), landing_id=f"L{number:03}")
        part = to_arrow([(PurePath(f"batch_{number:03}.jsonl"), rows)], table.feed, delivery)
        part = part.set_column(part.column_names.index("scope"), "scope", pa.repeat(pa.scalar(arrangement), len(part)))
        parts.append(part.filter(pa.compute.equal(part["status"], "accepted")))
    return parts


def arranged(spark: SparkSession, table: Table, arrangements: Mapping[str, Batches]) -> States:
    """The states of every arrangement, each with keys of its own, in one run of the engine."""
    landing = pa.concat_tables(
        [part for name, batches in arrangements.items() for part in landed(table, batches, name)]
    )
    for name, value in (("verdict", "DEFENSIBLE"), ("clock", "source")):
        landing = landing.append_column(name, pa.repeat(pa.scalar(value), len(landing)))
    return states(spark, table, spark.createDataFrame(landing), list(arrangements))


def states(spark: SparkSession, table: Table, landing: DataFrame, names: Sequence[str]) -> States:
    """What the engine makes of what landed; `scope` says to which arrangement a record belongs."""
    landing.createOrReplaceTempView("landing")
    register(spark)
    key = engine.sql("business_key", fields="fields", parts=table.key.split())
    mentions = engine.sql("mentions", fields="fields", attributes=table.attributes)
    view(spark, "feed", f"""
        select
            concat(scope, ':', {key}) as bk, 'BANK' as source_system, source_file, ingest_run_id,
            0 as precedence_rank, 'FULL' as load_type, fields['__op'] = 'd' as is_deleted, {mentions},
            source_event_ts, source_event_finer, source_sequence, feed, source_type, source_path, source_record,
            landing_id, ingest_ts, recorded_at, released_at, verdict, clock, scope, expires_at, remark,
            concat(scope, ':', moved_from) as moved_from, false as is_backfilled, inheritance
        from landing
    """)  # fmt: skip
    about: dict[str, Any] = {"attributes": table.attributes}
    spark.sql(engine.sql("evidence", feeds=["feed"], **about)).localCheckpoint().createOrReplaceTempView("evidence")
    view(spark, "sightings", engine.sql("sightings", evidence="evidence"))
    view(spark, "key_changes", engine.sql("key_changes", evidence="evidence", **about))
    arrivals = engine.sql("with_derived", evidence="evidence", derived=["key_changes"])
    found = spark.sql(engine.sql("states", arrivals=arrivals, sightings="sightings", **about)).toArrow().to_pylist()
    by_arrangement: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for row in found:
        name, _, bk = row["bk"].partition(":")
        by_arrangement[name].append(row | {"bk": bk, "state": {key: unquoted(text) for key, text in row["state"]}})
    return by_arrangement


def view(spark: SparkSession, name: str, query: str) -> None:
    spark.sql(query).createOrReplaceTempView(name)


def unquoted(text: str | None) -> str | None:
    """A text as it was said, of the form that evidence keeps."""
    return None if text is None else text[1:-1]


def as_told(rows: Iterable[dict[str, Any]], at: datetime) -> dict[str, dict[str, str | None]]:
    """The living, and what is held of them, at an instant."""
    last: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["effective_ts"] <= at and (row["bk"] not in last or last[row["bk"]]["position"] < row["position"]):
            last[row["bk"]] = row
    return {bk: row["state"] for bk, row in last.items() if not row["is_deleted"]}


def differences(table: Table, rows: Sequence[dict[str, Any]]) -> set[tuple[int, str, str]]:
    """Where what is held after a commit is not what PostgreSQL held, by commit, key and column."""
    found = set()
    for commit, true in capture.truth(table).items():
        told = as_told(rows, capture.committed()[commit])
        found |= {(commit, key, "") for key in told.keys() ^ true.keys()}
        for key in told.keys() & true.keys():
            for column, value in true[key].items():
                if not capture.is_same(told[key].get(column), value):
                    found.add((commit, key, column))
    return found


def in_order() -> list[int]:
    return list(range(len(capture.lines())))


def cut(order: Sequence[int], size: int) -> Batches:
    return [order[start : start + size] for start in range(0, len(order), size)]


def shuffled(draw: random.Random) -> list[int]:
    return draw.sample(in_order(), len(in_order()))


def test_every_row_after_every_commit_is_what_postgresql_says_however_its_events_arrive(spark: SparkSession) -> None:
    draw = random.Random(run_seed())
    arrangements: dict[str, Batches] = {
        "in one batch": [in_order()],
        "in micro-batches": cut(in_order(), 7),
        "every event twice": [batch for batch in cut(in_order(), 9) for _ in range(2)],
        "again from the middle, as after a crash": [in_order(), in_order()[30:]],
        "backwards": cut(in_order()[::-1], 5),
    }
    for number in range(4):
        arrangements[f"shuffled {number}"] = cut(shuffled(draw), 1 + draw.randrange(9))
        order = shuffled(draw)
        arrangements[f"shuffled with repeats {number}"] = cut(order + order[:20], 4)
    for name, rows in arranged(spark, CUSTOMERS, arrangements).items():
        wrong = differences(CUSTOMERS, rows)
        assert {(key, column) for _, key, column in wrong} <= CANNOT_BE_KNOWN, (name, sorted(wrong))


@pytest.mark.parametrize("table", [ACCOUNTS, PAYMENTS], ids=lambda table: table.name)
def test_tables_of_other_identities_and_keys_are_as_true(spark: SparkSession, table: Table) -> None:
    draw = random.Random(run_seed())
    arrangements: dict[str, Batches] = {"in order": [in_order()], "shuffled": cut(shuffled(draw), 6)}
    for name, rows in arranged(spark, table, arrangements).items():
        assert differences(table, rows) == set(), name


def test_a_stream_that_is_killed_after_every_batch_tells_what_postgresql_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Each batch lands, the process ends before the checkpoint knows, and the next start does the batch again."""
    folder = tmp_path / "come"
    folder.mkdir()
    lines = capture.lines()
    for number, batch in enumerate(cut(shuffled(random.Random(run_seed())), 23)):
        (folder / f"{number}.jsonl").write_text("".join(f"{lines[line]}\n" for line in batch), encoding="utf-8")
    table = "truth_test.landing_customers"
    stream = Stream(
        CUSTOMERS.feed, table, str(tmp_path / "checkpoint"), str(folder), options={"maxFilesPerTrigger": "1"}
    )

    def kill(batch: Batch, at: int) -> None:
        if batch.number == at:
            raise KilledError

    for at in range(3):
        with pytest.raises(KilledError):
            follow(spark, stream, after=partial(kill, at=at))
    follow(spark, stream, after=lambda _: None)
    rows = spark.table(table).where("status <> 'control'")
    assert sorted(row.record for row in rows.select("record").collect()) == sorted(lines)
    accepted = rows.where("status = 'accepted'").withColumn("scope", F.lit("streamed"))
    wrong = differences(CUSTOMERS, states(spark, CUSTOMERS, accepted, ["streamed"])["streamed"])
    assert {(key, column) for _, key, column in wrong} <= CANNOT_BE_KNOWN, sorted(wrong)
