"""Build one node: find its news, compute its rows, write them in one commit, say what was done."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.news import VIEW, Note, find_news, news_keys, standing
from attest.write import Table


@dataclass(frozen=True)
class Outcome:
    """What dbt prints and the ledger of runs keeps."""

    message: str
    rows: int


def build(spark: SparkSession, order: str, compute: Callable[[], DataFrame] | None = None) -> Outcome:
    """Carry out a materialization's order (JSON); `compute` gives a Python model's rows, else its SQL does."""
    wanted: dict[str, Any] = json.loads(order)
    began = time.monotonic()
    table = Table(**wanted["table"])
    target = standing(spark, table.name)
    is_rebuild = target is None or wanted["full_refresh"]
    news = find_news(spark, target=None if is_rebuild else target, logs=wanted["logs"], inputs=wanted["inputs"])
    if news.is_nothing:
        return Outcome("no news", 0)

    appends = wanted["materialized"] == "append_only"
    restricted = appends or not is_rebuild
    keys = None
    if restricted and table.key is not None:
        keys = news_keys(spark, news=news, key=table.key).persist()
        keys.createOrReplaceTempView(VIEW)
    rows = compute() if compute is not None else spark.sql(wanted["sql"])
    if is_rebuild:
        written = write.create(spark, table, rows, note=news.note)
    elif news.is_everything:
        written = write.overwrite(spark, table, rows, note=news.note)
    elif appends:
        written = write.append(spark, table, rows, note=news.note)
    else:
        assert keys is not None
        written = write.replace_by_key(spark, table, rows, keys=keys, note=news.note)
    scope = "everything" if keys is None or news.is_everything else f"{keys.count()} {table.key}"
    seconds = time.monotonic() - began
    return Outcome(f"{written.primitive}: {scope}, {written.rows} rows, {seconds:.1f} s of work", written.rows)


def build_reference(spark: SparkSession, order: str, *, full_refresh: bool) -> Outcome:
    """Rewrite a small table if its content changed; its generation is the sum of its content."""
    wanted: dict[str, Any] = json.loads(order)
    table = Table(**wanted["table"])
    rows = spark.sql(wanted["sql"]).persist()
    try:
        content = sorted(row[0] for row in rows.select(F.to_json(F.struct("*"))).collect())
        note = Note(hashlib.sha256(json.dumps([content, rows.columns]).encode()).hexdigest())
        current = standing(spark, table.name)
        if current is not None and current.note == note and not full_refresh:
            return Outcome("unchanged", 0)
        written = write.create(spark, table, rows.coalesce(1), note=note)
        return Outcome(f"{written.primitive}: {written.rows} rows", written.rows)
    finally:
        rows.unpersist()
