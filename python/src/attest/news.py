"""News: what a model has not read yet, found from exact table versions and never from a clock.

Every commit of ours carries a note (Delta's user metadata, atomic with the data):

    generation  renewed whenever the table is rebuilt whole
    read        per log, the version up to which this table has read it
    seen        per table that it reads, the generation it was built from; its own definition is one
    due         when time alone will change it, if it will

A log tells what changed since a version, row by row: it is append-only (landing, evidence),
or has a change feed (states). What does not tell is read through, to the logs it has read.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest.commits import commits

VIEW = "news"
DEFINITION = "definition"
ARRIVAL = "ingest_ts"
WORTH_IT = 0.5  # of a table's keys: beyond that it is written whole


@dataclass(frozen=True)
class Note:
    generation: str
    read: Mapping[str, int] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)
    due: str | None = None

    def to_json(self) -> str:
        return json.dumps({"attest": {name: value for name, value in vars(self).items() if value is not None}})


@dataclass(frozen=True)
class Standing:
    """Where a table is: its version, and the note of the last commit that left one."""

    version: int
    note: Note | None


def standing(spark: SparkSession, table: str) -> Standing | None:
    """None where there is no such table; commits of others (OPTIMIZE) carry no note and are passed over."""
    version: int | None = None
    for number, described in commits(spark, table):
        version = number if version is None else version
        note = parse(described.get("userMetadata"))
        if note is not None:
            return Standing(version, note)
    return None if version is None else Standing(version, None)


def parse(user_metadata: str | None) -> Note | None:
    try:
        written: Any = json.loads(user_metadata or "null")
        return Note(**written["attest"])
    except (ValueError, TypeError, KeyError):
        return None


@dataclass(frozen=True)
class News:
    """What to rebuild, and the note that the commit must carry. `ranges` is None where everything is news.

    `edited` are references that changed, each with the version of it that the target was built from.
    """

    note: Note
    ranges: Mapping[str, tuple[int, int]] | None
    edited: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_everything(self) -> bool:
        return self.ranges is None

    @property
    def is_nothing(self) -> bool:
        return self.ranges is not None and not self.ranges and not self.edited


@dataclass(frozen=True)
class Lineage:
    """What a table is made from. Where edits are local, an edited reference is no news of everything."""

    logs: Sequence[str]
    inputs: Sequence[str] = ()
    references: Sequence[str] = ()
    definition: str = ""
    edits_are_local: bool = False


def find_news(spark: SparkSession, made_from: Lineage, *, target: Standing | None) -> News:
    """Compare what the target's last note has read with what its logs, inputs and references hold now."""
    logs, references = made_from.logs, made_from.references
    read: dict[str, int] = {}
    seen: dict[str, str] = {DEFINITION: made_from.definition} if made_from.definition else {}
    for log in logs:
        found = standing(spark, log)
        if found is None:
            continue
        read[log] = min(found.version, read.get(log, found.version))
        if found.note is not None:
            seen[log] = found.note.generation
            # A log is read no further than the other logs, made from it, have read it.
            for other in found.note.read.keys() & set(logs):
                read[other] = min(found.note.read[other], read.get(other, found.note.read[other]))
    for table in (*made_from.inputs, *references):
        found = standing(spark, table)
        if found is None or found.note is None:
            continue
        seen[table] = found.note.generation
        if table in references:
            continue
        for log, version in found.note.read.items():
            read[log] = min(version, read.get(log, version))

    before = target.note if target is not None else None
    # A log that was never read, such as a new feed's, is news from its first version on; nothing else changes by it.
    unread = set() if before is None else set(logs) - before.seen.keys()
    known = {table: generation for table, generation in seen.items() if table not in unread}
    everything = News(Note(uuid.uuid4().hex, read, seen), None)
    if before is None or any(before.read.get(log, -1) > now for log, now in read.items()):
        return everything
    changed = {table for table in known.keys() | before.seen.keys() if known.get(table) != before.seen.get(table)}
    edited: dict[str, int] = {}
    for table in sorted(changed):
        is_local = made_from.edits_are_local and table in references
        built_from = version_of(spark, table, before.seen.get(table)) if is_local else None
        if built_from is None:
            return everything
        edited[table] = built_from
    ranges = {log: (before.read.get(log, -1) + 1, now) for log, now in read.items() if before.read.get(log, -1) < now}
    return News(Note(before.generation, read, seen), ranges, edited)


def version_of(spark: SparkSession, table: str, generation: str | None) -> int | None:
    """The newest version of a table that has this generation, if its log still tells."""
    for version, described in commits(spark, table):
        note = parse(described.get("userMetadata"))
        if note is not None and note.generation == generation:
            return version
    return None


def news_keys(
    spark: SparkSession, *, news: News, key: str, new_by: str | None = None, held: DataFrame | None = None
) -> DataFrame:
    """The keys that the logs received: in the news' ranges, or up to the versions read where all is news.

    A row is no news where `held` has its key and `new_by` from an earlier arrival: a repeat.
    """
    columns = [key] if held is None or new_by is None else [key, new_by, ARRIVAL]
    parts = []
    for log, until in news.note.read.items():
        if news.ranges is None:
            parts.append(spark.read.option("versionAsOf", until).table(log).select(columns))
        elif log in news.ranges:
            first, last = news.ranges[log]
            changes = spark.read.option("readChangeFeed", "true")
            changes = changes.option("startingVersion", first).option("endingVersion", last)
            parts.append(changes.table(log).select(columns))
    if not parts:
        return spark.createDataFrame([], f"{key} string")
    received = parts[0]
    for part in parts[1:]:
        received = received.union(part)
    if held is not None and new_by is not None:
        known = held.select(key, new_by, F.col(ARRIVAL).alias("before"))
        received = received.join(known, on=[key, new_by], how="left")
        received = received.where(F.col("before").isNull() | (F.col("before") >= F.col(ARRIVAL)))
    return received.select(key).distinct()


def touched_keys(spark: SparkSession, *, news: News, key: str, by: str) -> DataFrame | None:
    """The keys that edits concern: those whose logs share a value of `by` with a row that is not what it was.

    None where that is everyone, or nearly: a row without that value concerns all, and so does one that many share.
    """
    values: set[str | None] = set()
    for reference, version in news.edited.items():
        now = spark.table(reference)
        before = spark.read.option("versionAsOf", version).table(reference)
        if now.columns != before.columns:
            return None
        differing = now.exceptAll(before).union(before.exceptAll(now))
        values |= {row[0] for row in differing.select(by).distinct().collect()}
    if None in values:
        return None
    heard = spark.table(next(iter(news.note.read))).select(key, by)
    for log in list(news.note.read)[1:]:
        heard = heard.union(spark.table(log).select(key, by))
    concerned = heard.groupBy(key).agg(
        F.max(F.col(by).isin(sorted(one for one in values if one is not None))).alias("is_touched")
    )
    counted = concerned.agg(F.count_if("is_touched").alias("touched"), F.count("*").alias("all")).collect()[0]
    return None if counted.touched > counted.all * WORTH_IT else concerned.where("is_touched").select(key)
