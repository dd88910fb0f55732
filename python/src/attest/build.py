"""Build one node: find its news, compute its rows, write them in one commit, say what was done."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.commits import view_text
from attest.news import VIEW, Lineage, Standing, find_news, news_keys, standing, touched_keys
from attest.states import WHOLE_STATE
from attest.write import Table, Written


@dataclass(frozen=True)
class Outcome:
    """What dbt prints and the ledger of runs keeps; `wrote` is none where there was nothing to commit."""

    message: str
    wrote: Written | None = None
    keys: int | None = None

    @property
    def rows(self) -> int:
        return self.wrote.rows if self.wrote else 0


def build(spark: SparkSession, order: str, compute: Callable[[], DataFrame] | None = None) -> Outcome:
    """Carry out a materialization's order (JSON); `compute` gives a Python model's rows, else its SQL does.

    A table that is derived is written whole when its definition changed, or an input was;
    else the keys with news are replaced, or those that differ. A log is only ever added to.
    """
    wanted: dict[str, Any] = json.loads(order)
    began = time.monotonic()
    table = Table(**wanted["table"])
    assert table.key is not None
    target = standing(spark, table.name)
    is_log = wanted["materialized"] == "append_only"
    known = None if wanted["full_refresh"] and not is_log else target
    made_from = lineage(wanted, definition="" if is_log else definition(spark, wanted))
    news = find_news(spark, made_from, target=known)
    if news.is_nothing:
        return Outcome("no news")
    touched = touched_keys(spark, news=news, key=table.key, by=wanted["touched_by"]) if news.edited else None
    if news.edited:
        # Readers learn of it from the generation: no log of theirs tells what an edit did.
        note = replace(news.note, generation=uuid.uuid4().hex)
        news = replace(news, note=note, ranges=None if touched is None else news.ranges)
    if is_log and target is not None and target.note is not None:
        # Whatever made it read everything again, what a log has stays: its readers need not start anew.
        news = replace(news, note=replace(news.note, generation=target.note.generation))

    if wanted["materialized"] == "by_difference" and not (target is None or news.is_everything):
        written = write.replace_difference(spark, table, spark.sql(wanted["code"]), note=news.note)
        return Outcome(f"{written.primitive}: {written.rows} rows", written)
    keys = None
    if target is not None and (is_log or not news.is_everything):
        held = spark.table(table.name) if wanted["new_by"] and not news.is_everything else None
        keys = news_keys(spark, news=news, key=table.key, new_by=wanted["new_by"], held=held)
        if touched is not None:
            keys = keys.union(touched).distinct()
        if news.is_everything:
            # A log that it reads was made anew: what it has of it stays, what it lacks is added.
            keys = keys.join(spark.table(table.name), on=table.key, how="left_anti")
        keys = keys.localCheckpoint()
        if keys.isEmpty():
            written = write.confirm(spark, table, note=news.note)
            return Outcome(written.primitive, written, 0)
        keys.createOrReplaceTempView(VIEW)
    rows = compute() if compute is not None else spark.sql(sql_of(wanted, restricted=keys is not None))
    if keys is None:
        written = write.create(spark, table, rows, note=news.note)
    elif is_log:
        written = write.append(spark, table, rows, note=news.note)
    else:
        written = write.replace_by_key(spark, table, rows, keys=keys, note=news.note)
    count = None if keys is None else keys.count()
    scope = "everything" if count is None else f"{count} {table.key}"
    seconds = time.monotonic() - began
    return Outcome(f"{written.primitive}: {scope}, {written.rows} rows, {seconds:.1f} s of work", written, count)


def build_reference(spark: SparkSession, order: str) -> Outcome:
    """A small table that counts as changed only when its content did: its generation is the sum of that.

    `turns_at` names the column of instants at which time alone changes it.
    """
    wanted: dict[str, Any] = json.loads(order)
    table = Table(**wanted["table"])
    target = None if wanted["full_refresh"] else standing(spark, table.name)
    news = find_news(spark, lineage(wanted, definition=definition(spark, wanted)), target=target)
    began = datetime.now(UTC).isoformat()
    if target is not None and news.is_nothing and not is_due(target, began):
        return Outcome("no news")
    rows = spark.sql(wanted["code"]).persist()
    try:
        content = sorted(row[0] for row in rows.select(F.to_json(F.struct("*"))).collect())
        generation = hashlib.sha256(json.dumps([content, rows.columns]).encode()).hexdigest()
        note = replace(news.note, generation=generation, due=next_turn(rows, wanted["turns_at"], began))
        if target is not None and target.note == note:
            return Outcome("unchanged")
        written = write.create(spark, table, rows.coalesce(1), note=note)
        return Outcome(f"{written.primitive}: {written.rows} rows", written)
    finally:
        rows.unpersist()


def lineage(wanted: dict[str, Any], *, definition: str) -> Lineage:
    return Lineage(
        wanted["logs"], wanted["inputs"], wanted["references"], definition, wanted.get("touched_by") is not None
    )


def definition(spark: SparkSession, wanted: dict[str, Any]) -> str:
    """What a table is computed by: its code, this package's where that has a part, and the views that it reads."""
    parts = [wanted["code"], [view_text(spark, view) for view in wanted["views"]]]
    if wanted["is_python"] or f"{WHOLE_STATE}(" in wanted["code"]:
        parts.append(package_sum())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@cache
def package_sum() -> str:
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def sql_of(wanted: dict[str, Any], *, restricted: bool) -> str:
    """The model's SQL; where everything is rebuilt, without the join that keeps to the news."""
    code: str = wanted["code"]
    return code if restricted else code.replace(wanted["only_news"], "")


def is_due(target: Standing, now: str) -> bool:
    """Whether time alone has changed the table since it was written."""
    return target.note is not None and target.note.due is not None and target.note.due <= now


def next_turn(rows: DataFrame, column: str | None, now: str) -> str | None:
    if column is None:
        return None
    turn = rows.where(F.col(column) > F.lit(now).cast("timestamp")).agg(F.min(column)).first()
    return None if turn is None or turn[0] is None else turn[0].replace(tzinfo=UTC).isoformat()
