"""The one writer: a table is created whole, appended to, or has keys replaced, always in one commit.

Rows are guarded before or as they are written: a repeated identity, a null key or a key that
nobody asked for stops the commit, so there is nothing to clean up.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from attest.commits import commits, location, measured, newest, remove
from attest.errors import ColumnsChangedError, ModelError, NullKeyError, RepeatedIdentityError, StrayKeyError
from attest.news import Note

Result = TypeVar("Result")

NOTE = "spark.databricks.delta.commitInfo.userMetadata"
GUARDS: tuple[type[ModelError], ...] = (NullKeyError, StrayKeyError)
SUSPECTS = 1_000


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
    """What one write did, by the table's own account."""

    primitive: str
    rows: int = 0
    rows_removed: int = 0
    bytes: int = 0
    version_before: int | None = None
    version_after: int | None = None


def create(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note) -> Written:
    """The whole table in one commit, with partitions, properties and comments; replaces what was there."""
    refuse_repeats(rows, table)
    guarded = guard(rows, table)
    for name, comment in table.comments.items():
        if comment and name in guarded.columns:
            guarded = guarded.withMetadata(name, {"comment": comment})
    writer = guarded.writeTo(table.name).using("delta")
    for name, value in {**table.properties, "comment": table.description}.items():
        writer = writer.tableProperty(name, value)
    if table.partition_by:
        writer = writer.partitionedBy(*[F.col(name) for name in table.partition_by])
    before = version_of(spark, table)
    with_note(spark, note)
    unwrapped(writer.createOrReplace)
    return account(spark, table, "create", before=before)


def append(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note) -> Written:
    """Add rows to a log; a column that is new to it is added too, null in the rows before."""
    require_columns(spark, table, rows, new_ones_allowed=True)
    refuse_repeats(rows, table)
    before = version_of(spark, table)
    with_note(spark, note)
    unwrapped(guard(rows, table).writeTo(table.name).option("mergeSchema", "true").append)
    if version_of(spark, table) == before:
        return confirm(spark, table, note=note)
    return account(spark, table, "append", before=before)


def confirm(spark: SparkSession, table: Table, *, note: Note) -> Written:
    """A commit of the note alone: what was read brought nothing, and need not be read again."""
    before = version_of(spark, table)
    with_note(spark, note)
    spark.sql(f"alter table {table.name} set tblproperties ('attest.read' = '{uuid.uuid4().hex}')")
    return account(spark, table, "nothing new", before=before)


def account(
    spark: SparkSession, table: Table, primitive: str, *, before: int | None, rows: int | None = None
) -> Written:
    """What the newest commit says of itself; `rows` where it also counts those that it only moved."""
    after, commit = newest(spark, table.name)
    return Written(
        primitive,
        rows=measured(commit, "numOutputRows") if rows is None else rows,
        rows_removed=measured(commit, "numDeletedRows", "numTargetRowsDeleted"),
        bytes=measured(commit, "numOutputBytes", "numAddedBytes", "numTargetBytesAdded"),
        version_before=before,
        version_after=after,
    )


def version_of(spark: SparkSession, table: Table) -> int | None:
    return next((version for version, _ in commits(spark, table.name)), None)


def replace_difference(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note) -> Written:
    """Replace the keys whose rows are not those that the table has; `rows` is all that it should have."""
    require_columns(spark, table, rows)
    assert table.key is not None
    with staged(spark, table, guard(rows, table).select(*columns_of(spark, table))) as wanted:
        held = spark.table(table.name)
        # Maps cannot be compared, their text can.
        told = [F.to_json(F.struct(*columns_of(spark, table))).alias("told")]
        ours, theirs = wanted.select(table.key, *told), held.select(table.key, *told)
        changed = ours.exceptAll(theirs).union(theirs.exceptAll(ours)).select(table.key).distinct()
        keys = changed.localCheckpoint()
        if keys.isEmpty():
            return confirm(spark, table, note=note)
        kept = wanted.join(keys, on=table.key, how="left_semi").select(*columns_of(spark, table))
        return replace_kept(spark, table, kept, keys=keys, note=note)


def replace_by_key(spark: SparkSession, table: Table, rows: DataFrame, *, keys: DataFrame, note: Note) -> Written:
    """Replace all rows of `keys` by `rows`; a key without rows becomes empty; no other key is touched.

    Delta's `replaceOn` is the cheapest way but leaves the keys that have no new rows, so
    a batch that takes a key's rows away goes by MERGE. Both need a source that answers the same
    twice, hence rows are computed once and kept, without the plan that made them.
    """
    require_columns(spark, table, rows)
    with staged(spark, table, guard(rows, table).select(*columns_of(spark, table))) as kept:
        return replace_kept(spark, table, kept, keys=keys, note=note)


def replace_kept(spark: SparkSession, table: Table, kept: DataFrame, *, keys: DataFrame, note: Note) -> Written:
    assert table.key is not None
    key = table.key
    found = compare_keys(kept, keys, key)
    if found.stray is not None:
        raise StrayKeyError(
            f"{table.name}: the model returned rows of {key} = {found.stray!r}, which has no news. "
            "Restrict its inputs with with_news(...). Nothing was written."
        )
    gone = found.emptied and not spark.table(table.name).join(without_rows(keys, kept, key), key, "left_semi").isEmpty()
    if not found.rows and not gone:
        return confirm(spark, table, note=note)
    before = version_of(spark, table)
    with_note(spark, note)
    if not gone:
        writer = kept.alias("s").write.format("delta").mode("overwrite").option("targetAlias", "t")
        writer.option("replaceOn", f"t.{key} = s.{key}").saveAsTable(table.name)
        return account(spark, table, "replaceOn", before=before, rows=found.rows)
    removals = keys.select(key).withColumn("attest_removes", F.lit(True))
    source = removals.unionByName(kept.withColumn("attest_removes", F.lit(False)), allowMissingColumns=True)
    (
        DeltaTable.forName(spark, table.name)
        .alias("t")
        .merge(source.alias("s"), f"t.{key} = s.{key} and s.attest_removes")
        .whenMatchedDelete()
        .whenNotMatchedInsert("not s.attest_removes", {name: f"s.{name}" for name in kept.columns})
        .execute()
    )
    return account(spark, table, "merge", before=before, rows=found.rows)


def without_rows(keys: DataFrame, kept: DataFrame, key: str) -> DataFrame:
    return keys.select(key).join(kept.select(key), on=key, how="left_anti")


@contextmanager
def staged(spark: SparkSession, table: Table, rows: DataFrame) -> Iterator[DataFrame]:
    """The rows as files beside the table's own, computed once, to be read as often as the write needs.

    A frame kept in memory drags its plan through every later query, which costs seconds
    each, and is lost with the executor that holds it.
    """
    folder = f"{location(spark, table.name)}/_staging_{uuid.uuid4().hex}"
    try:
        unwrapped(lambda: rows.write.parquet(folder))
        kept = spark.read.schema(rows.schema).parquet(folder)
        refuse_repeats(kept, table)
        yield kept
    finally:
        remove(spark, folder)


def compare_keys(rows: DataFrame, keys: DataFrame, key: str) -> Row:
    """How many rows there are, how many keys have none, and one key, if any, that nobody asked for."""
    held = rows.groupBy(key).agg(F.count("*").alias("held"))
    found = (
        held.join(keys.select(key).withColumn("asked", F.lit(True)), on=key, how="full_outer")
        .agg(
            F.coalesce(F.sum("held"), F.lit(0)).alias("rows"),
            F.count_if(F.col("held").isNull()).alias("emptied"),
            F.min(F.when(F.col("asked").isNull(), F.col(key))).alias("stray"),
        )
        .first()
    )
    assert found is not None
    return found


def guard(rows: DataFrame, table: Table) -> DataFrame:
    """The same rows; writing one with a null key raises instead."""
    if table.key is None:
        return rows
    key = F.col(table.key)
    refused = refusal(NullKeyError, f"{table.name}: a row has no {table.key}")
    return rows.withColumn(table.key, F.when(key.isNull(), refused).otherwise(key))


def refuse_repeats(rows: DataFrame, table: Table) -> None:
    """Two rows of one identity stop the write. Sums of eight bytes are compared first, for they cost no sort."""
    if not table.identity:
        return
    summed = F.xxhash64(*table.identity)
    copies = rows.groupBy(summed.alias("sum")).agg(F.count("*").alias("copies")).where("copies > 1").limit(SUSPECTS)
    suspects = [row["sum"] for row in copies.collect()]
    if not suspects:
        return
    copies = rows.where(summed.isin(suspects)).groupBy(*table.identity).agg(F.count("*").alias("copies"))
    found = copies.where("copies > 1").select(*table.identity).first()
    if found is not None:
        raise RepeatedIdentityError(
            f"{table.name}: more than one row with {', '.join(table.identity)} = {', '.join(map(str, found))}. "
            "Nothing was written; mend the model or its inputs."
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


def require_columns(spark: SparkSession, table: Table, rows: DataFrame, *, new_ones_allowed: bool = False) -> None:
    expected = {field.name: field.dataType.simpleString() for field in spark.table(table.name).schema}
    found = {field.name: field.dataType.simpleString() for field in rows.schema}
    kept = "a log keeps its columns: give the old ones too." if new_ones_allowed else "build it with --full-refresh."
    wrong = [f"{name} is gone" for name in expected.keys() - found.keys()]
    wrong += [f"{name} is new" for name in found.keys() - expected.keys() if not new_ones_allowed]
    wrong += [
        f"{name} was {expected[name]} and is {found[name]}"
        for name in expected.keys() & found.keys()
        if expected[name] != found[name]
    ]
    if wrong:
        raise ColumnsChangedError(
            f"{table.name}: the columns changed: {', '.join(sorted(wrong))[:500]}. Nothing was written; {kept}"
        )


def columns_of(spark: SparkSession, table: Table) -> list[str]:
    return spark.table(table.name).columns


def with_note(spark: SparkSession, note: Note) -> None:
    spark.conf.set(NOTE, note.to_json())
