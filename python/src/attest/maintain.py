"""Upkeep of a lake's tables: small files put together, struck-out rows dropped, what nobody needs any more removed.

Nothing that a question can be asked of is lost: what is removed are files that no version within
the days kept has, and that no table has yet to read. Others may build meanwhile: Delta turns
away whoever comes second, and a build that was turned away reads again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest.commits import commits, file_system, location, path, remove, snapshot
from attest.errors import MaintenanceError
from attest.kept import STAGING
from attest.news import Standing, standing, version_with

SMALL = 16 * 2**20
MANY = 8
STRUCK_OUT = 0.2
LEFT_OVER_HOURS = 24
LEAST_DAYS = 7  # Delta's own bound: below it, a reader or a writer under way may lose its files
HOUR = 3600


@dataclass(frozen=True)
class Table:
    """How a table lies on disk, and what is to be done about it."""

    name: str
    files: int
    small: int
    bytes: int
    rows: int
    struck_out: int
    left_over: Sequence[str]
    keep_hours: int

    @property
    def is_scattered(self) -> bool:
        return self.small >= MANY

    @property
    def is_struck_out(self) -> bool:
        return self.struck_out > STRUCK_OUT * self.rows

    def __str__(self) -> str:
        told = [f"{self.files} files", f"{self.bytes / 2**20:,.1f} MB", f"{self.rows:,} rows"]
        if self.small:
            told.append(f"{self.small} small")
        if self.struck_out:
            told.append(f"{self.struck_out / self.rows:.0%} struck out")
        todo = []
        if self.is_scattered:
            todo.append("put small files together")
        if self.is_struck_out:
            todo.append("write anew what has struck-out rows")
        if self.left_over:
            todo.append(f"remove {len(self.left_over)} folders that killed builds left")
        todo.append(f"remove files that no version of the last {self.keep_hours // 24} days has")
        return f"{self.name}: {', '.join(told)}\n" + "\n".join(f"    {one}" for one in todo)


def plan(spark: SparkSession, schema: str, *, names: Sequence[str] = (), days: int = 30) -> list[Table]:
    """What upkeep would do to the schema's tables, or to some of them."""
    if days < LEAST_DAYS:
        raise MaintenanceError(
            f"--keep-days is {days}: below {LEAST_DAYS}, a build or a reader that is under way may lose its files. "
            f"Keep {LEAST_DAYS} or more."
        )
    there = {table: found for table in tables_of(spark, schema) if (found := standing(spark, table)) is not None}
    asked = [name if "." in name else f"{schema}.{name}" for name in names]
    unknown = sorted(set(asked) - there.keys())
    if unknown:
        raise MaintenanceError(f"There is no table {unknown[0]}. There are: {', '.join(sorted(there)) or 'none'}.")
    return [look(spark, table, there, days=days) for table in sorted(asked or there)]


def tables_of(spark: SparkSession, schema: str) -> Iterator[str]:
    if not spark.catalog.databaseExists(schema):
        raise MaintenanceError(f"There is no schema {schema}, so there is nothing to look after. Build first.")
    views = {row.viewName for row in spark.sql(f"show views in {schema}").collect()}
    for row in spark.sql(f"show tables in {schema}").collect():
        if row.tableName not in views:
            yield f"{schema}.{row.tableName}"


def look(spark: SparkSession, table: str, there: Mapping[str, Standing], *, days: int) -> Table:
    files = files_of(spark, table)
    found = files.agg(
        F.count("*").alias("files"),
        F.count_if(F.col("size") < SMALL).alias("small"),
        F.coalesce(F.sum("size"), F.lit(0)).alias("bytes"),
        F.coalesce(F.sum(F.get_json_object("stats", "$.numRecords").cast("bigint")), F.lit(0)).alias("rows"),
        F.coalesce(F.sum("deletionVector.cardinality"), F.lit(0)).alias("struck_out"),
    ).first()
    assert found is not None
    unread = unread_since(spark, table, there)
    hours = days * 24 if unread is None else max(days * 24, int((time.time() - unread) / HOUR) + 1)
    return Table(table, **found.asDict(), left_over=left_over(spark, table), keep_hours=hours)


def files_of(spark: SparkSession, table: str) -> DataFrame:
    return DataFrame(snapshot(spark, str(location(spark, table))).allFiles().toDF(), spark)


def unread_since(spark: SparkSession, table: str, there: Mapping[str, Standing]) -> float | None:
    """When the oldest commit was made that a table made from this one has yet to read; None if all have read all."""
    moments: list[float] = []
    for reader in there.values():
        if reader.note is None or table not in reader.note.seen:
            continue
        now = there[table].note
        if now is not None and now.generation != reader.note.seen[table]:
            read = version_with(spark, table, reader.note.seen[table])
        else:
            read = reader.note.read.get(table)
        made = [told["timestamp"] / 1000 for version, told in commits(spark, table) if version > (read or 0)]
        moments += made[-1:]
    return min(moments, default=None)


def left_over(spark: SparkSession, table: str) -> list[str]:
    """Folders of staged rows whose build must be dead: none takes a day."""
    place = str(location(spark, table))
    found = file_system(spark, place).globStatus(path(f"{place}/{STAGING}*")) or []
    before = (time.time() - LEFT_OVER_HOURS * HOUR) * 1000
    return [str(one.getPath().toString()) for one in found if one.getModificationTime() < before]


def maintain(spark: SparkSession, tables: Sequence[Table]) -> Iterator[str]:
    """Do what was planned, table by table; says of each what came of it."""
    spark.conf.set("spark.sql.sources.parallelPartitionDiscovery.parallelism", "4")
    for table in tables:
        done = []
        if table.is_scattered:
            spark.sql(f"optimize {table.name}")
        if table.is_struck_out:
            spark.sql(f"reorg table {table.name} apply (purge)")
        if table.is_scattered or table.is_struck_out:
            done.append(f"{table.files} files are now {files_of(spark, table.name).count()}")
        for folder in table.left_over:
            remove(spark, folder)
        if table.left_over:
            done.append(f"{len(table.left_over)} folders removed")
        spark.sql(f"vacuum {table.name} retain {table.keep_hours} hours")
        yield f"{table.name}: {', '.join(done) or 'nothing to put together'}"
