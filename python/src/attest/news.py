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
    """What to rebuild, and the note that the commit must carry. `ranges` is None where everything is news."""

    note: Note
    ranges: Mapping[str, tuple[int, int]] | None

    @property
    def is_everything(self) -> bool:
        return self.ranges is None

    @property
    def is_nothing(self) -> bool:
        return self.ranges is not None and not self.ranges


def find_news(
    spark: SparkSession,
    *,
    target: Standing | None,
    logs: Sequence[str],
    inputs: Sequence[str] = (),
    references: Sequence[str] = (),
    definition: str = "",
) -> News:
    """Compare what the target's last note has read with what its logs, inputs and references hold now."""
    read: dict[str, int] = {}
    seen: dict[str, str] = {DEFINITION: definition} if definition else {}
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
    for table in (*inputs, *references):
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
    if before is None or before.seen != known or any(before.read.get(log, -1) > now for log, now in read.items()):
        return News(Note(uuid.uuid4().hex, read, seen), None)
    ranges = {log: (before.read.get(log, -1) + 1, now) for log, now in read.items() if before.read.get(log, -1) < now}
    return News(Note(before.generation, read, seen), ranges)


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
