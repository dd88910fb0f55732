"""Build one node: find its news, compute its rows, write them in one commit, say what was done."""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.commits import columns_if_empty, location, view_text
from attest.empty import EMPTY, read_as_empty
from attest.kept import as_files, gathered
from attest.news import (
    ARRIVAL,
    VIEW,
    Lineage,
    News,
    Standing,
    find_news,
    found_keys,
    received,
    said_before,
    standing,
    touched_keys,
    version_at,
)
from attest.states import WHOLE_STATE
from attest.write import Table, Written

FEW = 100  # keys


@dataclass(frozen=True)
class Outcome:
    """What dbt prints and the ledger of runs keeps; `wrote` is none where there was nothing to commit."""

    message: str
    wrote: Written | None = None
    keys: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    @property
    def rows(self) -> int:
        return self.wrote.rows if self.wrote else 0


def build(spark: SparkSession, order: str, compute: Callable[[], DataFrame] | None = None) -> Outcome:
    """Carry out a materialization's order (JSON); `compute` gives a Python model's rows, else its SQL does.

    A table that is derived is written whole when its definition changed, or an input was;
    else the keys with news are replaced, or those that differ. A log is only ever added to:
    what it has not read, or, a journal, what differs from what it tells.
    """
    wanted: dict[str, Any] = json.loads(order)
    began = time.monotonic()
    table = Table(**wanted["table"])
    assert table.key is not None
    target = standing(spark, table.name)
    since = version_at(target)
    is_log = wanted["materialized"] in ("append_only", "journal")
    known = None if wanted["full_refresh"] and not is_log else target
    made_from = lineage(wanted, definition="" if is_log else definition(spark, wanted))
    news = find_news(spark, made_from, target=known)
    named = wanted.get("rebuild", []) if wanted["materialized"] == "replace_by_key" else []
    if news.is_nothing and not (named and target is not None):
        return Outcome("no news")
    if target is None and wanted.get("idle_without") and is_empty(spark, wanted["idle_without"]):
        return Outcome("nothing to make")
    not_its_own = looked_up(wanted)
    wanted["code"] = spared(spark, wanted)
    if wanted["materialized"] == "by_difference" and not (target is None or news.is_everything):
        written = write.replace_difference(spark, table, spark.sql(wanted["code"]), note=news.note, since=since)
        return Outcome(f"{written.primitive}: {written.rows} rows", written)
    news, touched = with_edits(spark, wanted, news, named)
    if is_log and target is not None and target.note is not None:
        # Whatever made it read everything again, what a log has stays: its readers need not start anew.
        news = replace(news, note=replace(news.note, generation=target.note.generation))

    found_by = wanted.get("found_by", {})
    if target is not None and found_by and not news.is_everything:
        facts = spark.table(table.name)
        found = found_keys(spark, news=news, key=table.key, facts=facts, found_by=found_by)
        if found is None:
            news = replace(news, note=replace(news.note, generation=uuid.uuid4().hex), ranges=None)
        else:
            touched = found if touched is None else found.union(touched)
    if target is None or (news.is_everything and wanted["materialized"] != "append_only"):
        rows = compute() if compute is not None else spark.sql(wanted["code"].replace(wanted["only_news"], ""))
        writes = write.create if target is None or not is_log else write.append
        written = writes(spark, table, rows, note=news.note, since=since)
        return Outcome(f"{written.primitive}: everything, {written.rows} rows, {elapsed(began)}", written)
    with ExitStack() as until_written:
        cut = find_keys(spark, wanted, news.without(not_its_own), touched, until_written)
        count = cut.keys.count()
        if not count:
            written = write.confirm(spark, table, note=news.note, since=since)
            return Outcome(written.primitive, written, 0)
        cut.keys.createOrReplaceTempView(VIEW)
        rows = compute() if compute is not None else spark.sql(cut.code)
        if is_log:
            written = write.append(spark, table, rows, note=news.note, since=since)
        else:
            written = write.replace_by_key(spark, table, rows, keys=cut.keys, note=news.note, since=since)
    scope = f"{count} {table.key}"
    return Outcome(f"{written.primitive}: {scope}, {written.rows} rows, {elapsed(began)}", written, count)


def spared(spark: SparkSession, wanted: dict[str, Any]) -> str:
    """The code, without what Spark need not look at."""
    tables = (*wanted["logs"], *wanted["inputs"], *wanted["references"])
    return read_as_empty(spark, wanted["code"], tables=tables, views=wanted["views"])


def is_empty(spark: SparkSession, reference: str) -> bool:
    """Whether a reference has no row, or is not there."""
    return location(spark, reference) is None or columns_if_empty(spark, reference) is not None


def with_edits(
    spark: SparkSession, wanted: dict[str, Any], news: News, named: Sequence[str]
) -> tuple[News, DataFrame | None]:
    """The news with what edits of references add, and the keys that those concern or that somebody named."""
    key, on = wanted["table"]["key"], wanted["touched_on"]
    touched = None
    if news.edited:
        touched = touched_keys(spark, news=news, key=key, by=wanted["touched_by"], on=on)
        # Readers learn of an edit from the generation: no log of theirs tells what it did. Of a mark they learn as
        # this table does, or from its change feed.
        if touched is None or news.edited.keys() - on.keys():
            news = replace(news, note=replace(news.note, generation=uuid.uuid4().hex))
        if touched is None:
            return replace(news, ranges=None), None
    if named:
        asked = spark.createDataFrame([(one,) for one in named], f"{key} string")
        touched = asked if touched is None else asked.union(touched)
    return news, touched


@dataclass(frozen=True)
class Cut:
    """A model cut down to its news: the keys to rebuild, and its code on no more than what its inputs have of them."""

    keys: DataFrame
    code: str


def find_keys(
    spark: SparkSession, wanted: dict[str, Any], news: News, touched: DataFrame | None, until_written: ExitStack
) -> Cut:
    """The keys that the logs received or that edits concern, but for those that were only told what they had said."""
    name, key, new_by = wanted["table"]["name"], wanted["table"]["key"], wanted["new_by"]

    def keep(rows: DataFrame) -> DataFrame:
        return until_written.enter_context(gathered(spark, name, rows))

    if news.is_everything:
        # A log that this log reads was made anew: what it has of it stays, what it lacks is added.
        lacking = received(spark, news=news, columns=[key]).join(spark.table(name), on=key, how="left_anti")
        return cut_down(spark, wanted, keep(lacking), until_written)[0]
    heard = keep(received(spark, news=news, columns=[key, new_by, ARRIVAL] if new_by else [key]))
    keys = heard.select(key) if touched is None else heard.select(key).union(touched)
    cut, inputs = cut_down(spark, wanted, keep(keys.distinct()), until_written)
    if not new_by:
        return cut
    logs = [inputs.get(log, spark.table(log)) for log in news.note.read]
    suspects = keep(said_before(heard, logs, columns=[key, new_by]))
    if suspects.isEmpty():
        return cut
    # A log also has what the table does not take in, so it is the table that tells.
    repeats = said_before(suspects, [spark.table(name)], columns=[key, new_by])
    keys = heard.join(keep(repeats), on=heard.columns, how="left_anti").select(key)
    return replace(cut, keys=keep((keys if touched is None else keys.union(touched)).distinct()))


def cut_down(
    spark: SparkSession, wanted: dict[str, Any], keys: DataFrame, until_written: ExitStack
) -> tuple[Cut, dict[str, DataFrame]]:
    """Each relation that the model keeps to the news is looked through once for these keys; a few are named there,

    so that files are passed over. Gives the relations' rows, too.
    """
    key, only_news, code = wanted["table"]["key"], wanted["only_news"], wanted["code"]
    named = [row[0] for row in keys.limit(FEW + 1).collect()]
    inputs: dict[str, DataFrame] = {}
    for relation in cut_to_news(wanted):
        if relation.startswith(EMPTY):
            continue
        rows = spark.table(relation)
        if len(named) <= FEW:
            cut = rows.where(F.col(key).isin(named))
        else:
            cut = rows.join(keys, on=key, how="left_semi").select(rows.columns)
            if wanted["new_by"] or code.count(f"{relation}{only_news}") > 1:
                cut = until_written.enter_context(as_files(spark, wanted["table"]["name"], cut))
        view = f"{VIEW}_of_{len(inputs)}"
        cut.createOrReplaceTempView(view)
        code = code.replace(f"{relation}{only_news}", f"{view}{only_news}")
        inputs[relation] = cut
    return Cut(keys, code), inputs


def cut_to_news(wanted: dict[str, Any]) -> list[str]:
    """The relations that the model reads with_news."""
    return list(dict.fromkeys(re.findall(rf"(\S+){re.escape(wanted['only_news'])}", wanted["code"])))


def looked_up(wanted: dict[str, Any]) -> list[str]:
    """The logs that the model reads whole: their news are no keys of its own."""
    whole = set(wanted["logs"]) - set(cut_to_news(wanted))
    return [log for log in whole if re.search(rf"{re.escape(log)}(?![\w`])", wanted["code"])]


def elapsed(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s of work"


def build_reference(spark: SparkSession, order: str) -> Outcome:
    """A small table that counts as changed only when its content did: its generation is the sum of that.

    `turns_at` names the column of instants at which time alone changes it.
    """
    wanted: dict[str, Any] = json.loads(order)
    table = Table(**wanted["table"])
    there = standing(spark, table.name)
    target = None if wanted["full_refresh"] else there
    news = find_news(spark, lineage(wanted, definition=definition(spark, wanted)), target=target)
    began = datetime.now(UTC).isoformat()
    if target is not None and news.is_nothing and not is_due(target, began):
        return Outcome("no news")
    rows = spark.sql(spared(spark, wanted)).persist()
    try:
        content = sorted(row[0] for row in rows.select(F.to_json(F.struct("*"))).collect())
        generation = hashlib.sha256(json.dumps([content, rows.columns]).encode()).hexdigest()
        note = replace(news.note, generation=generation, due=next_turn(rows, wanted["turns_at"], began))
        if target is not None and target.note == note:
            return Outcome("unchanged")
        written = write.create(spark, table, rows.coalesce(1), note=note, since=version_at(there))
        return Outcome(f"{written.primitive}: {written.rows} rows", written)
    finally:
        rows.unpersist()


def lineage(wanted: dict[str, Any], *, definition: str) -> Lineage:
    everywhere = wanted.get("touched_by") is not None or wanted["materialized"] == "by_difference"
    somewhere = wanted["touched_on"] if wanted["materialized"] == "replace_by_key" else ()
    local = wanted["references"] if everywhere else somewhere
    return Lineage(wanted["logs"], wanted["inputs"], wanted["references"], definition, local)


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


def is_due(target: Standing, now: str) -> bool:
    """Whether time alone has changed the table since it was written."""
    return target.note is not None and target.note.due is not None and target.note.due <= now


def next_turn(rows: DataFrame, column: str | None, now: str) -> str | None:
    if column is None:
        return None
    turn = rows.where(F.col(column) > F.lit(now).cast("timestamp")).agg(F.min(column)).first()
    return None if turn is None or turn[0] is None else turn[0].replace(tzinfo=UTC).isoformat()
