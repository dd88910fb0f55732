"""Build one node: find its news, compute its rows, write them in one commit, say what was done."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.commits import is_empty
from attest.empty import read_as_empty
from attest.keys import concerned, find_keys
from attest.news import VIEW, News, Standing, changes, find_news, standing, version_at
from attest.once import query
from attest.order import Order, Outcome


def build(spark: SparkSession, text: str, compute: Callable[[], DataFrame] | None = None) -> Outcome:
    """Carry out a materialization's order (JSON); `compute` gives a Python model's rows, else its SQL does.

    A table that is derived is written whole when its definition changed, or an input was;
    else the keys with news are replaced, or those that differ. A log is only ever added to:
    what it has not read, or, a journal, what differs from what it tells.
    """
    began = time.monotonic()
    order = Order.read(text)
    target = standing(spark, order.table.name)
    since = version_at(target)
    made_from = order.lineage(definition="" if order.is_log else order.definition(spark))
    news = find_news(spark, made_from, target=None if order.full_refresh and not order.is_log else target)
    if news.is_nothing and not (order.named and target is not None):
        return Outcome("no news")
    if target is None and order.idle_without and not any(shares_rows(spark, order, one) for one in order.idle_without):
        return Outcome("nothing to make")
    not_its_own = order.looked_up
    order = spared(spark, order)
    if order.is_compared and target is not None and not news.is_everything:
        return build_where_it_differs(spark, order, news, target)
    news, touched = concerned(spark, order, news, target)
    if target is None or (news.is_everything and order.materialized != "append_only"):
        rows = compute() if compute is not None else query(spark, order.whole_code)
        note = news.note
        if lacks_its_kind(order, map(spark.table, order.logs)):
            rows, note = rows.limit(0), replace(note, idle=True)
        writes = write.append if order.is_log and target is not None else write.create
        written = writes(spark, order.table, rows, note=note, since=since)
        return Outcome(f"{written.primitive}: everything, {written.rows} rows, {elapsed(began)}", written)
    with ExitStack() as until_written:
        cut = find_keys(spark, order, news.without(not_its_own), touched, until_written)
        count = cut.keys.count()
        if not count:
            written = write.confirm(spark, order.table, note=news.note, since=since)
            return Outcome(written.primitive, written, 0)
        cut.keys.createOrReplaceTempView(VIEW)
        rows = compute() if compute is not None else query(spark, cut.code)
        if order.is_log:
            written = write.append(spark, order.table, rows, note=news.note, since=since)
        else:
            written = write.replace_by_key(spark, order.table, rows, keys=cut.keys, note=news.note, since=since)
    message = f"{written.primitive}: {count} {order.key}, {written.rows} rows, {elapsed(began)}"
    return Outcome(message, written, count)


def build_reference(spark: SparkSession, text: str) -> Outcome:
    """A small table that counts as changed only when its content did: its generation is the sum of that.

    `turns_at` names the column of instants at which time alone changes it.
    """
    order = Order.read(text)
    there = standing(spark, order.table.name)
    target = None if order.full_refresh else there
    news = find_news(spark, order.lineage(definition=order.definition(spark)), target=target)
    began = datetime.now(UTC).isoformat()
    if target is not None and news.is_nothing and not is_due(target, began):
        return Outcome("no news")
    rows = spark.sql(spared(spark, order).code).persist()
    try:
        content = sorted(row[0] for row in rows.select(F.to_json(F.struct("*"))).collect())
        generation = hashlib.sha256(json.dumps([content, rows.columns]).encode()).hexdigest()
        note = replace(news.note, generation=generation, due=next_turn(rows, order.turns_at, began))
        if target is not None and target.note == note:
            return Outcome("unchanged")
        written = write.create(spark, order.table, rows.coalesce(1), note=note, since=version_at(there))
        return Outcome(f"{written.primitive}: {written.rows} rows", written)
    finally:
        rows.unpersist()


def spared(spark: SparkSession, order: Order) -> Order:
    """The order, its code without what Spark need not look at."""
    tables = (*order.logs, *order.inputs, *order.references)
    return replace(order, code=read_as_empty(spark, order.code, tables=tables, views=order.views))


def build_where_it_differs(spark: SparkSession, order: Order, news: News, target: Standing) -> Outcome:
    if is_empty(spark, order.table.name) and lacks_its_kind(order, unseen(spark, order, news, target)):
        written = write.confirm(spark, order.table, note=replace(news.note, idle=True), since=target.version)
    else:
        rows = query(spark, order.code)
        written = write.replace_difference(spark, order.table, rows, note=news.note, since=target.version)
    return Outcome(f"{written.primitive}: {written.rows} rows", written)


def shares_rows(spark: SparkSession, order: Order, reference: str) -> bool:
    """Whether a row of the reference has the value of its column that a row of some log has."""
    column = order.idle_without[reference]
    if is_empty(spark, reference):
        return False
    rows = F.broadcast(spark.table(reference).select(column))
    logs = [log for log in map(spark.table, order.logs) if column in log.columns]
    return any(not log.join(rows, column, "left_semi").isEmpty() for log in logs)


def lacks_its_kind(order: Order, said: Iterable[DataFrame]) -> bool:
    """Whether none of these rows is of the kind that the table comes of: then it has none, and is not computed."""
    return order.only_with is not None and all(rows.where(order.only_with).isEmpty() for rows in said)


def unseen(spark: SparkSession, order: Order, news: News, target: Standing) -> list[DataFrame]:
    """What the logs have, but for what was looked through before and found to be of another kind."""
    if news.ranges is None or target.note is None or not target.note.idle:
        return [spark.table(log) for log in order.logs]
    return [changes(spark, log, versions) for log, versions in news.ranges.items()]


def elapsed(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s of work"


def is_due(target: Standing, now: str) -> bool:
    """Whether time alone has changed the table since it was written."""
    return target.note is not None and target.note.due is not None and target.note.due <= now


def next_turn(rows: DataFrame, column: str | None, now: str) -> str | None:
    if column is None:
        return None
    turn = rows.where(F.col(column) > F.lit(now).cast("timestamp")).agg(F.min(column)).first()
    return None if turn is None or turn[0] is None else turn[0].replace(tzinfo=UTC).isoformat()
