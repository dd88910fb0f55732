"""The one writer: a table is created whole, appended to, or has keys replaced, always in one commit.

Rows are guarded as they are written: a null key, a repeated identity or a key that nobody
asked for stops the commit, so there is nothing to clean up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from delta.tables import DeltaTable
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from attest.commits import rows_written
from attest.errors import ColumnsChangedError, ModelError, NullKeyError, RepeatedIdentityError, StrayKeyError
from attest.news import Note

Result = TypeVar("Result")

NOTE = "spark.databricks.delta.commitInfo.userMetadata"
GUARDS: tuple[type[ModelError], ...] = (NullKeyError, RepeatedIdentityError, StrayKeyError)


@dataclass(frozen=True)
class Table:
    """A table as its model declares it. Without `key` or `identity`, rows are not checked for them."""

    name: str
    key: str | None = None
    identity: Sequence[str] = ()
    partition_by: Sequence[str] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    comments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Written:
    rows: int
    primitive: str


def create(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note) -> Written:
    """The whole table in one commit, with partitions, properties and comments; replaces what was there."""
    guarded = guard(rows, table)
    for name, comment in table.comments.items():
        if comment and name in guarded.columns:
            guarded = guarded.withMetadata(name, {"comment": comment})
    writer = guarded.writeTo(table.name).using("delta")
    for name, value in {**table.properties, "comment": table.description}.items():
        writer = writer.tableProperty(name, value)
    if table.partition_by:
        writer = writer.partitionedBy(*[F.col(name) for name in table.partition_by])
    with_note(spark, note)
    unwrapped(writer.createOrReplace)
    return Written(rows_written(spark, table.name), "create")


def append(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note) -> Written:
    """Add rows to a log."""
    require_same_columns(spark, table, rows)
    with_note(spark, note)
    unwrapped(guard(rows, table).select(*columns_of(spark, table)).writeTo(table.name).append)
    return Written(rows_written(spark, table.name), "append")


def overwrite(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note) -> Written:
    """Every row anew, the table itself kept: its history and its properties stay."""
    require_same_columns(spark, table, rows)
    with_note(spark, note)
    unwrapped(lambda: guard(rows, table).select(*columns_of(spark, table)).writeTo(table.name).overwrite(F.lit(True)))
    return Written(rows_written(spark, table.name), "overwrite")


def replace_by_key(spark: SparkSession, table: Table, rows: DataFrame, *, keys: DataFrame, note: Note) -> Written:
    """Replace all rows of `keys` by `rows`; a key without rows becomes empty; no other key is touched.

    Delta's `replaceOn` is the cheapest way but leaves the keys that have no new rows, so
    a batch that empties a key goes by MERGE. Both need a source that answers the same
    twice, hence the rows are kept while they are written.
    """
    assert table.key is not None
    key = table.key
    require_same_columns(spark, table, rows)
    kept = guard(rows, table).select(*columns_of(spark, table)).persist(StorageLevel.DISK_ONLY)
    try:
        wanted = keys.select(key).persist(StorageLevel.DISK_ONLY)
        refuse_stray_keys(table.name, key, kept, wanted)
        count = unwrapped(kept.count)
        emptied = wanted.join(kept, on=key, how="left_anti")
        with_note(spark, note)
        if emptied.isEmpty():
            writer = kept.alias("s").write.format("delta").mode("overwrite").option("targetAlias", "t")
            unwrapped(lambda: writer.option("replaceOn", f"t.{key} = s.{key}").saveAsTable(table.name))
            return Written(count, "replaceOn")
        removals = wanted.withColumn("attest_removes", F.lit(True))
        source = removals.unionByName(kept.withColumn("attest_removes", F.lit(False)), allowMissingColumns=True)
        merge = (
            DeltaTable.forName(spark, table.name)
            .alias("t")
            .merge(source.alias("s"), f"t.{key} = s.{key} and s.attest_removes")
            .whenMatchedDelete()
            .whenNotMatchedInsert("not s.attest_removes", {name: f"s.{name}" for name in kept.columns})
        )
        unwrapped(merge.execute)
        return Written(count, "merge")
    finally:
        kept.unpersist()
        wanted.unpersist()


def guard(rows: DataFrame, table: Table) -> DataFrame:
    """The same rows; writing one with a null key or a repeated identity raises instead."""
    if table.key is None:
        return rows
    key = F.col(table.key)
    checked = F.when(key.isNull(), refusal(NullKeyError, f"{table.name}: a row has no {table.key}"))
    if table.identity:
        identity = ", ".join(table.identity)
        rows = rows.withColumn("attest_copies", F.count("*").over(Window.partitionBy(*table.identity)))
        values = F.concat_ws(", ", *[F.coalesce(F.col(name).cast("string"), F.lit("null")) for name in table.identity])
        found = refusal(RepeatedIdentityError, f"{table.name}: more than one row with {identity} = ", values)
        checked = checked.when(F.col("attest_copies") > 1, found)
    return rows.withColumn(table.key, checked.otherwise(key)).drop("attest_copies")


def refuse_stray_keys(table: str, key: str, rows: DataFrame, keys: DataFrame) -> None:
    stray = unwrapped(rows.join(keys, on=key, how="left_anti").select(key).first)
    if stray is not None:
        raise StrayKeyError(
            f"{table}: the model returned rows of {key} = {stray[0]!r}, which has no news. "
            "Restrict its inputs with with_news(...). Nothing was written."
        )


def refusal(error: type[ModelError], what: str, *values: Column) -> Column:
    return F.raise_error(F.concat(F.lit(f"{error.__name__}: {what}"), *values))


def unwrapped(action: Callable[[], Result]) -> Result:
    """Do it, and raise a guard's refusal as the error it names rather than as Spark's."""
    try:
        return action()
    except PySparkException as failure:
        for error in GUARDS:
            refused = re.search(rf"{error.__name__}: ([^\n]*)", str(failure))
            if refused:
                raise error(f"{refused.group(1)}. Nothing was written; mend the model or its inputs.") from None
        raise


def require_same_columns(spark: SparkSession, table: Table, rows: DataFrame) -> None:
    expected, found = set(columns_of(spark, table)), set(rows.columns)
    if expected != found:
        added = ", ".join(sorted(found - expected)) or "none"
        gone = ", ".join(sorted(expected - found)) or "none"
        raise ColumnsChangedError(
            f"{table.name}: the model's columns changed (new: {added}; gone: {gone}). Nothing was written; "
            "build it once with --full-refresh, together with what reads it."
        )


def columns_of(spark: SparkSession, table: Table) -> list[str]:
    return spark.table(table.name).columns


def with_note(spark: SparkSession, note: Note) -> None:
    spark.conf.set(NOTE, note.to_json())
