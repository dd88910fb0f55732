"""Which keys a model must be computed for, and the model cut down to them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest.commits import is_empty
from attest.empty import EMPTY
from attest.kept import as_files, gathered
from attest.news import (
    ARRIVAL,
    VIEW,
    News,
    Standing,
    found_keys,
    of_whole_keys,
    received,
    said_before,
    touched_keys,
)
from attest.order import Order

FEW = 100  # keys


@dataclass(frozen=True)
class Cut:
    """A model cut down to its news: the keys to rebuild, and its code on no more than what its inputs have of them."""

    keys: DataFrame
    code: str


def concerned(spark: SparkSession, order: Order, news: News, target: Standing | None) -> tuple[News, DataFrame | None]:
    """The news with what its readers must learn of it, and the keys that it concerns beside those that logs received:

    those that an edit of a reference concerns, that somebody named, or whose facts rest on what changed elsewhere.
    """
    news, touched = with_edits(spark, order, news)
    if order.named and not news.is_everything:
        touched = both(touched, spark.createDataFrame([(one,) for one in order.named], f"{order.key} string"))
    if order.is_log and target is not None and target.note is not None:
        # Whatever made it read everything again, what a log has stays: its readers need not start anew.
        news = replace(news, note=replace(news.note, generation=target.note.generation))
    if order.found_by and target is not None and not news.is_everything:
        facts = spark.table(order.table.name)
        found = found_keys(spark, news=news, key=order.key, facts=facts, found_by=order.found_by)
        if found is None:
            return everything(news), touched
        touched = both(found, touched)
    return news, touched


def with_edits(spark: SparkSession, order: Order, news: News) -> tuple[News, DataFrame | None]:
    if not news.edited:
        return news, None
    touched = touched_keys(spark, news=news, key=order.key, by=order.touched_by, on=order.touched_on)
    if touched is None:
        return everything(news), None
    # Without a change feed, readers learn of an edit from the generation; of a mark they learn as this table does.
    if news.edited.keys() - order.touched_on.keys() and not order.tells_changes:
        news = replace(news, note=replace(news.note, generation=uuid.uuid4().hex))
    return news, touched


def everything(news: News) -> News:
    """All of it is news, to readers too."""
    return replace(news, note=replace(news.note, generation=uuid.uuid4().hex), ranges=None)


def both(some: DataFrame | None, others: DataFrame | None) -> DataFrame | None:
    if some is None or others is None:
        return some if others is None else others
    return some.union(others)


def find_keys(
    spark: SparkSession, order: Order, news: News, touched: DataFrame | None, until_written: ExitStack
) -> Cut:
    """The keys that the logs received or that edits concern, but for those that were only told what they had said."""
    name, key, new_by = order.table.name, order.key, order.new_by

    def keep(rows: DataFrame) -> DataFrame:
        return until_written.enter_context(gathered(spark, name, rows))

    if news.is_everything:
        # A log that this log reads was made anew: what it has of it stays, what it lacks is added.
        lacking = received(spark, news=news, columns=[key]).join(spark.table(name), on=key, how="left_anti")
        return cut_down(spark, order, keep(lacking), until_written, {})[0]
    heard = keep(received(spark, news=news, columns=[key, new_by, ARRIVAL] if new_by else [key]))
    keys = heard.select(key) if touched is None else heard.select(key).union(touched)
    told_whole = rows_told(spark, order, news) if touched is None else {}
    cut, inputs = cut_down(spark, order, keep(keys.distinct()), until_written, told_whole)
    told = [log for log in news.note.read if not is_empty(spark, log)]
    if not new_by or not told:
        return cut
    logs = [inputs.get(log, spark.table(log)) for log in told]
    suspects = keep(said_before(heard, logs, columns=[key, new_by]))
    if suspects.isEmpty():
        return cut
    # A log also has what the table does not take in, so it is the table that tells.
    repeats = said_before(suspects, [spark.table(name)], columns=[key, new_by])
    keys = heard.join(keep(repeats), on=heard.columns, how="left_anti").select(key)
    return replace(cut, keys=keep((keys if touched is None else keys.union(touched)).distinct()))


def rows_told(spark: SparkSession, order: Order, news: News) -> dict[str, DataFrame]:
    """Where all news is one log's, which is written by key: all rows of those keys, the table unread."""
    assert news.ranges is not None
    ranges = {log: versions for log, versions in news.ranges.items() if log in news.note.read}
    if len(ranges) != 1:
        return {}
    [(log, versions)] = ranges.items()
    rows = of_whole_keys(spark, log, versions, order.key)
    return {} if rows is None else {log: rows}


def cut_down(
    spark: SparkSession,
    order: Order,
    keys: DataFrame,
    until_written: ExitStack,
    told_whole: Mapping[str, DataFrame],
) -> tuple[Cut, dict[str, DataFrame]]:
    """Each relation that the model keeps to the news is looked through once for these keys; a few are named there,

    so that files are passed over. Gives the relations' rows, too.
    """
    named = [row[0] for row in keys.limit(FEW + 1).collect()]
    code = order.code
    inputs: dict[str, DataFrame] = {}
    for relation in order.cut_to_news:
        if relation.startswith(EMPTY):
            continue
        told = told_whole.get(relation)
        cut = looked_for(spark.table(relation), order.key, named, keys) if told is None else told
        # A query reads a change feed anew, row by row, wherever it names it, and a part of a query likewise.
        if told is not None or (len(named) > FEW and (order.new_by or code.count(f"{relation}{order.only_news}") > 1)):
            cut = until_written.enter_context(as_files(spark, order.table.name, cut))
        view = f"{VIEW}_of_{len(inputs)}"
        cut.createOrReplaceTempView(view)
        code = code.replace(f"{relation}{order.only_news}", f"{view}{order.only_news}")
        inputs[relation] = cut
    return Cut(keys, code), inputs


def looked_for(rows: DataFrame, key: str, named: list[str], keys: DataFrame) -> DataFrame:
    if len(named) <= FEW:
        return rows.where(F.col(key).isin(named))
    return rows.join(keys, on=key, how="left_semi").select(rows.columns)
