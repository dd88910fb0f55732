"""News: what a model has not read yet, found from exact table versions and never from a clock.

Every commit of ours carries a note (Delta's user metadata, atomic with the data); where news changed nothing, there is
no commit, and the newer note lies beside the table, as a word on its newest version:

    generation  renewed whenever the table is rebuilt whole
    read        per log, the version up to which this table has read it
    seen        per table that it reads, the generation it was built from; its own definition is one
    due         when time alone will change it, if it will
    at          the latest processing time of the slices that it was written from, where it is written so
    idle        no log that it read ever had a row of the kind that it comes of

A log tells what changed since a version, row by row: it is append-only (landing, evidence),
or has a change feed (states). What does not tell is read through, to the logs it has read.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from attest.commits import commits, log_of

VIEW = "news"
DEFINITION = "definition"
ARRIVAL = "ingest_ts"
NOT_YET = -1  # the version of a table that is not there
WORTH_IT = 0.5  # of a table's keys: beyond that it is written whole
COLUMNS_OF_CHANGES = ("_change_type", "_commit_version", "_commit_timestamp")
WINDOW = ("bk", "version_sk", "effective_from", "effective_to")  # what a fact takes from a dimension


@dataclass(frozen=True)
class Note:
    generation: str
    read: Mapping[str, int] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)
    due: str | None = None
    at: str | None = None
    idle: bool | None = None
    whole: str | None = None

    def to_json(self) -> str:
        return json.dumps({"attest": {name: value for name, value in vars(self).items() if value is not None}})


@dataclass(frozen=True)
class Standing:
    """Where a table is: its version, and the note of the last commit that left one."""

    version: int
    note: Note | None


def version_at(target: Standing | None) -> int:
    """The version that whoever read the table then computes from."""
    return NOT_YET if target is None else target.version


def standing(spark: SparkSession, table: str) -> Standing | None:
    """None where there is no such table; commits of others (OPTIMIZE) carry no note and are passed over.

    A table that was restored stands where it stood at that version; if that is not told, nobody knows.
    Of a commit that nothing had to follow, the newest note is the one beside it.
    """
    log = log_of(spark, table)
    if log is None or log.newest == NOT_YET:
        return None
    confirmed = parse(log.said_since())
    if confirmed is not None:
        return Standing(log.newest, confirmed)
    restored: int | None = None
    for version, described in log.back(log.told):
        if restored is not None and version > restored:
            continue
        if described.get("operation") == "RESTORE":
            to = described.get("operationParameters", {}).get("version")
            if to is None:
                break
            restored = int(to)
            continue
        note = parse(described.get("userMetadata"))
        if note is not None:
            return Standing(log.newest, note)
    return Standing(log.newest, None)


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

    def without(self, logs: Collection[str]) -> News:
        """The same news, as if these logs were not read: their keys are another's."""
        read = {log: version for log, version in self.note.read.items() if log not in logs}
        return replace(self, note=replace(self.note, read=read))

    @property
    def is_nothing(self) -> bool:
        return self.ranges is not None and not self.ranges and not self.edited


@dataclass(frozen=True)
class Lineage:
    """What a table is made from. An edit of a reference that is local is no news of everything."""

    logs: Sequence[str]
    inputs: Sequence[str] = ()
    references: Sequence[str] = ()
    definition: str = ""
    local: Collection[str] = ()


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
        built_from = version_with(spark, table, before.seen.get(table)) if table in made_from.local else None
        if built_from is None:
            return everything
        edited[table] = built_from
    ranges = {log: (before.read.get(log, -1) + 1, now) for log, now in read.items() if before.read.get(log, -1) < now}
    return News(Note(before.generation, read, seen), ranges, edited)


def version_with(spark: SparkSession, table: str, generation: str | None) -> int | None:
    """The newest version of a table that has this generation, if its log still tells."""
    for version, described in commits(spark, table):
        note = parse(described.get("userMetadata"))
        if note is not None and note.generation == generation:
            return version
    return None


def received(spark: SparkSession, *, news: News, columns: Sequence[str]) -> DataFrame:
    """What the logs received, told apart by these columns: in the news' ranges, or all that was read."""
    parts = []
    for log, until in news.note.read.items():
        if news.ranges is None:
            parts.append(spark.read.option("versionAsOf", until).table(log).select(*columns))
        elif log in news.ranges:
            parts.append(changes(spark, log, news.ranges[log]).select(*columns))
    if not parts:
        return spark.createDataFrame([], ", ".join(f"{column} string" for column in columns))
    return reduce(DataFrame.union, parts).distinct()


def said_before(rows: DataFrame, within: Iterable[DataFrame], *, columns: Sequence[str]) -> DataFrame:
    """Those rows that one of these has too, by these columns, from an earlier arrival."""
    known = reduce(DataFrame.union, [one.select(*columns, F.col(ARRIVAL).alias("before")) for one in within])
    found = known.join(rows, on=list(columns)).where(F.col("before") < F.col(ARRIVAL))
    return found.select(*columns, ARRIVAL).distinct()


def changes(spark: SparkSession, log: str, versions: tuple[int, int]) -> DataFrame:
    first, last = versions
    feed = spark.read.option("readChangeFeed", "true").option("startingVersion", first).option("endingVersion", last)
    return feed.table(log)


def came() -> Column:
    """Whether a row of a change feed came, or else left."""
    return F.col("_change_type").isin("insert", "update_postimage")


def sign() -> Column:
    """What a row of a change feed counts: one that left takes back one that came."""
    return F.when(came(), 1).otherwise(-1)


def of_whole_keys(spark: SparkSession, log: str, versions: tuple[int, int], key: str) -> DataFrame | None:
    """All rows of the keys that the log has news of, from its change feed alone: what it cost to write, not the table.

    None where a commit may have left rows of such a key as they were.
    """
    found = log_of(spark, log)
    first, last = versions
    for version in range(first, last + 1):
        note = parse((found.told(version) or {}).get("userMetadata")) if found is not None else None
        if note is None or note.whole != key:
            return None
    changed = changes(spark, log, versions)
    if first < last:
        newest = F.max("_commit_version").over(Window.partitionBy(key))
        changed = changed.withColumn("newest", newest).where("_commit_version = newest").drop("newest")
    return changed.where(came()).drop(*COLUMNS_OF_CHANGES)


def found_keys(
    spark: SparkSession, *, news: News, key: str, facts: DataFrame, found_by: Mapping[str, str]
) -> DataFrame | None:
    """The facts whose dimensions have news: those that hold, in the dimension's column, a key whose windows moved.

    None where that is more than half of all facts. A dimension that changed in other columns alone concerns none.
    """
    assert news.ranges is not None
    concerned: Column | None = None
    joined = facts
    for number, (dimension, column) in enumerate(found_by.items()):
        if dimension not in news.ranges:
            continue
        windows = changes(spark, dimension, news.ranges[dimension]).groupBy(*WINDOW).agg(F.sum(sign()).alias("net"))
        moved = windows.where("net <> 0").select(F.col(WINDOW[0]).alias(f"moved_{number}")).distinct()
        joined = joined.join(moved, on=F.col(column) == F.col(f"moved_{number}"), how="left")
        is_concerned = F.col(f"moved_{number}").isNotNull()
        concerned = is_concerned if concerned is None else concerned | is_concerned
    if concerned is None:
        return facts.select(key).limit(0)
    counted = joined.agg(F.count_if(concerned).alias("found"), F.count("*").alias("all")).collect()[0]
    return None if counted.found > counted.all * WORTH_IT else joined.where(concerned).select(key).distinct()


def touched_keys(
    spark: SparkSession, *, news: News, key: str, by: str | None, on: Mapping[str, str]
) -> DataFrame | None:
    """The keys that edits concern: those whose logs have something to do with a row that is not what it was.

    That is a value of `by` that they share or, for the references that `on` names, its condition on `edited`, the
    row, and `log`. None where that is everyone, or nearly: a row without that value concerns all, and so does one
    that many share.
    """
    logs = [spark.table(log) for log in news.note.read]
    touched: list[DataFrame] = []
    for reference, version in news.edited.items():
        now = spark.table(reference)
        before = spark.read.option("versionAsOf", version).table(reference)
        if now.columns != before.columns:
            return None
        differing = now.exceptAll(before).union(before.exceptAll(now))
        if reference in on:
            edited, condition = F.broadcast(differing).alias("edited"), F.expr(on[reference])
            touched += [log.alias("log").join(edited, condition, "left_semi").select(f"log.{key}") for log in logs]
        else:
            assert by is not None
            values = {row[0] for row in differing.select(by).distinct().collect()}
            if None in values:
                return None
            touched += [log.where(F.col(by).isin(sorted(values))).select(key) for log in logs]
    concerned = reduce(DataFrame.union, touched).distinct()
    everyone = reduce(DataFrame.union, [log.select(key) for log in logs]).distinct()
    return None if concerned.count() > everyone.count() * WORTH_IT else concerned
