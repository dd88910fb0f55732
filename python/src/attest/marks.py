"""Marks: whose word it is that a partition is bad, since when, and until when (laws B9 and C4).

A mark is knowledge with a time of its own, added to a log; nothing of the partition is touched. It has two halves:
one leaves the partition out of all that is derived, the other holds what its feed lands since. `resume` clears
the second, `unmark` clears both.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path, PurePath
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from attest import seed
from attest.commits import commits
from attest.contract import Feed, feeds_of, find_feed
from attest.errors import ContractError, MarkError, SeedError
from attest.files import whole_name
from attest.logs import MARKS, add_rows
from attest.macros import render
from attest.project import Project, read_cells
from attest.write import Table

SEED = "marked_partitions"
SINCE = " since"
NEAR = 5
BY_COMMAND, BY_CHECK = "command", "check"
RELATION = "attest_marks"


@dataclass(frozen=True)
class Target:
    """What can be marked: a feed, or a table of published days."""

    name: str
    feed: Feed | None = None

    @property
    def is_published(self) -> bool:
        return self.feed is None


@dataclass(frozen=True)
class Word:
    """Who says so, and why."""

    by: str
    reason: str
    set_by: str = BY_COMMAND


def log_of(project: Project) -> str:
    return f"{project.schema}.mark_log"


def read_marks(spark: SparkSession, project: Project) -> DataFrame:
    """Every mark there ever was, as the model `marks` has them, of this very moment; leaves the view `attest_marks`."""
    log = log_of(project)
    if not spark.catalog.tableExists(log):
        spark.createDataFrame([], MARKS).createOrReplaceTempView("attest_mark_log")
        log = "attest_mark_log"
    types = seed.declared_types(project.root, SEED)
    path = project.root / "seeds" / f"{SEED}.csv"
    seed.typed(spark, path, seed.parse(path, seed.read(path), types), types).createOrReplaceTempView("attest_mark_seed")
    found = spark.sql(render(project.root, "marks_of", log=log, seed="attest_mark_seed"))
    marks = spark.createDataFrame(found.collect(), found.schema)
    marks.createOrReplaceTempView(RELATION)
    return marks


def was_anything_marked(spark: SparkSession, project: Project) -> bool:
    """Asked of files alone, since most landings have no mark to mind."""
    path = project.root / "seeds" / f"{SEED}.csv"
    in_seed = len(read_cells(path, seed.read(path), SeedError)) > 1
    return in_seed or next((version for version, _ in commits(spark, log_of(project))), 0) > 0


def standing_marks(spark: SparkSession, project: Project, name: str) -> list[Row]:
    """What stands against a feed or published table, the oldest first."""
    if not was_anything_marked(spark, project):
        return []
    marks = read_marks(spark, project).where((F.col("feed") == name) & F.col("cleared_at").isNull())
    return sorted(marks.collect(), key=lambda mark: (mark.marked_at, mark.mark_id))


def find_target(spark: SparkSession, project: Project, name: str) -> Target:
    published = published_tables(spark, project)
    if name in published:
        return Target(name)
    try:
        return Target(name, find_feed(feeds_of(project.root), name))
    except ContractError as unknown:
        also = f" Published days are in: {', '.join(published)}." if published else ""
        raise MarkError(f"{unknown}{also} Nothing was marked.") from None


def published_tables(spark: SparkSession, project: Project) -> list[str]:
    names = [f"{entity}_days" for entity in project.entities]
    return [name for name in names if spark.catalog.tableExists(f"{project.schema}.{name}")]


def partitions_named(spark: SparkSession, project: Project, target: Target, text: str) -> list[str]:
    """The partitions that a user names, as marks name them: landings or files, or a published day.

    A run stands for its landings, a landing also for what was released from it. What is a snapshot is marked as a
    whole, for without one of its files it would prove that whoever is in that is gone.
    """
    if target.feed is None:
        return [published_day(spark, project, target.name, text)]
    table = f"{project.schema}.landing_{target.name}"
    if not spark.catalog.tableExists(table):
        raise MarkError(f"Nothing of {target.name} is landed yet, so nothing can be marked. Check the feed's name.")
    columns = ("landing_id", "ingest_run_id", "source_path", "released_from")
    landed = spark.table(table).select(*columns).distinct().collect()
    of_landing = {row.landing_id for row in landed if text in (row.landing_id, row.ingest_run_id)}
    if of_landing:
        return with_released(of_landing, landed)
    files = {row.source_path for row in landed if is_named(row.source_path, text)}
    if len(files) > 1:
        raise MarkError(
            f"{text} names {len(files)} files of {target.name}. Nothing was marked; name one by its whole path: "
            f"{', '.join(sorted(files)[:NEAR])}."
        )
    if not files:
        raise MarkError(unknown_partition(target.name, text, landed))
    if is_whole(target.feed):
        return with_released({row.landing_id for row in landed if row.source_path in files}, landed)
    return sorted(files)


def is_whole(feed: Feed) -> bool:
    return feed.promised("load_type") == "snapshot" or feed.format == "capture"


def with_released(landings: set[str], landed: Sequence[Row]) -> list[str]:
    return sorted(landings | {row.landing_id for row in landed if row.released_from in landings})


def is_named(source: str | None, text: str) -> bool:
    """Whether a file is meant: by its path, its folder's where it is a capture's, or its name alone."""
    if source is None or not source.startswith("/"):
        return False
    place = PurePath(source)
    return whole_name(Path(text)) in (source, str(place.parent)) or text == place.name


def unknown_partition(feed: str, text: str, landed: Sequence[Row]) -> str:
    newest = sorted({row.landing_id for row in landed}, reverse=True)[:NEAR]
    files = sorted({PurePath(row.source_path).name for row in landed if row.source_path})[:NEAR]
    return (
        f"{feed} has no partition {text!r}: a landing, a run or a file is one. Nothing was marked. "
        f"Its newest landings are: {', '.join(newest)}; files are: {', '.join(files)}."
    )


def published_day(spark: SparkSession, project: Project, table: str, text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise MarkError(f"{text!r} is no day such as 2026-03-01. Nothing was marked; correct it.") from None
    days = {row[0] for row in spark.table(f"{project.schema}.{table}").select("published_on").distinct().collect()}
    if day not in days:
        newest = ", ".join(f"{one}" for one in sorted(days, reverse=True)[:NEAR])
        raise MarkError(f"{table} has no day {day}. Nothing was marked. The newest are: {newest or 'none'}.")
    return f"{day}"


def require_word(word: Word) -> None:
    if not word.reason.strip():
        raise MarkError("The reason is empty. Nothing was recorded; say with --reason why.")
    if not word.by.strip():
        raise MarkError("Nobody says so. Nothing was recorded; say with --by who does.")


def set_marks(
    spark: SparkSession,
    project: Project,
    name: str,
    partitions: Sequence[str],
    word: Word,
    *,
    stops_landing: bool,
) -> None:
    """Mark partitions, in one commit; each stops its feed too, unless it is said to go on."""
    require_word(word)
    for mark in standing_marks(spark, project, name):
        if mark.partition in partitions:
            raise MarkError(
                f"{name} {mark.partition} is marked already, by {mark.marked_by} at {shown(mark.marked_at)}: "
                f"{mark.reason}. Nothing was marked again; `attest unmark` clears it."
            )
    now = datetime.now(UTC)
    rows: list[tuple[object, ...]] = []
    for partition in partitions:
        mark_id = f"{now:%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:8]}"
        said = (word.reason, word.by, now, word.set_by)
        rows.append((mark_id, "mark", name, partition, None, *said))
        if stops_landing:
            rows.append((f"{mark_id}{SINCE}", "mark", name, None, now, *said))
    record(spark, project, rows)


def clear_marks(
    spark: SparkSession, project: Project, name: str, partitions: Collection[str], word: Word, *, landing_only: bool
) -> None:
    """Clear both halves of these partitions' marks, or only the one that holds what is landed since."""
    require_word(word)
    standing = standing_marks(spark, project, name)
    found = [mark for mark in standing if mark.partition in partitions]
    if not found:
        others = ", ".join(mark.partition for mark in standing if mark.partition) or "nothing"
        raise MarkError(
            f"{name} {', '.join(partitions)} is not marked, so there is nothing to clear. Marked of it: {others}."
        )
    if any(mark.set_by == "seed" for mark in found):
        raise MarkError(
            f"{name} {found[0].partition} is marked by seeds/{SEED}.csv. Nothing was cleared; fill in the row's "
            f"{'resumed_at' if landing_only else 'cleared_at, cleared_by and cleared_because'}, and build."
        )
    ids = {mark.mark_id for mark in found}
    halves = [mark for mark in standing if mark.mark_id.removesuffix(SINCE) in ids]
    if landing_only:
        halves = [mark for mark in halves if mark.since is not None]
        if not halves:
            raise MarkError(f"{name} {', '.join(partitions)} does not stop landing, so there is nothing to resume.")
    now = datetime.now(UTC)
    record(
        spark,
        project,
        [
            (mark.mark_id, "clear", name, mark.partition, mark.since, word.reason, word.by, now, word.set_by)
            for mark in halves
        ],
    )


def record(spark: SparkSession, project: Project, rows: list[tuple[object, ...]]) -> None:
    add_rows(spark, Table(log_of(project), description="One row a mark, and one when it was cleared."), MARKS, rows)


def shown(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


# What a mark concerns.


@dataclass(frozen=True)
class Affected:
    """What is to be looked at, and made anew elsewhere, because of a mark."""

    entity: str
    keys: Sequence[str]
    more_keys: int
    held: int
    models: Sequence[str]
    days: Sequence[str]


MOST_KEYS = 1_000


def affected(spark: SparkSession, project: Project, mark: Row, models: Sequence[str]) -> Affected:
    """The entities of which a partition speaks, the models that are made of it, and the days published with it."""
    feed = find_feed(feeds_of(project.root), mark.feed)
    evidence = f"{project.schema}.{feed.entity}_assertions"
    if not spark.catalog.tableExists(evidence):
        return Affected(feed.entity, (), 0, 0, models, ())
    read_marks(spark, project).where(F.col("mark_id") == mark.mark_id).createOrReplaceTempView("attest_mark")
    covered = spark.sql(
        f"select log.bk, log.known_from from {evidence} as log inner join attest_mark as mark "
        f"on {render(project.root, 'covers', mark='mark', log='log')}"
    ).persist()
    try:
        counted: Any = covered.agg(
            F.count("*").alias("rows"),
            F.count_distinct("bk").alias("keys"),
            F.unix_micros(F.min("known_from")).alias("first"),
        ).first()
        keys = [row.bk for row in covered.select("bk").distinct().orderBy("bk").limit(MOST_KEYS).collect()]
    finally:
        covered.unpersist()
    days: list[str] = []
    table = f"{project.schema}.{feed.entity}_days"
    if counted.rows and spark.catalog.tableExists(table):
        told = spark.table(table).where(F.unix_micros("known_at") >= counted.first)
        days = [f"{row[0]}" for row in told.select("published_on").distinct().orderBy("published_on").collect()]
    return Affected(feed.entity, keys, counted["keys"] - len(keys), counted.rows, models, days)


def excluded(spark: SparkSession, project: Project, *, entity: str, key: str, known_at: datetime | None) -> list[Row]:
    """What is said of one entity and left out by marks, as known at an instant (none: now), each with its mark."""
    if not was_anything_marked(spark, project):
        return []
    read_marks(spark, project)
    at = "current_timestamp()" if known_at is None else f"timestamp '{known_at.isoformat(sep=' ')}'"
    said = spark.table(f"{project.schema}.{entity}_assertions").where(F.col("bk") == F.lit(key))
    said.createOrReplaceTempView("attest_said")
    found = spark.sql(
        "select log.source_system, log.effective_ts, log.source_file, log.source_record, log.assertion_id, mark.* "
        f"from attest_said as log inner join {RELATION} as mark "
        f"on {render(project.root, 'covers', mark='mark', log='log')} "
        f"and {render(project.root, 'stood', mark='mark', at=at)} and log.known_from <= {at}"
    ).collect()
    first: dict[tuple[str, str, int], Row] = {}
    for row in sorted(found, key=lambda one: (one.effective_ts, one.partition is None, one.marked_at)):
        first.setdefault((row.assertion_id, row.source_file, row.source_record), row)
    return list(first.values())
