"""The one writer: a table is created whole, appended to, or has keys replaced, always in one commit.

Rows are guarded before or as they are written: a repeated identity, a null key or a key that
nobody asked for stops the commit, so there is nothing to clean up.

A writer says `since` which version its rows were computed from. If another of ours has written
since, nothing is committed: newer truth is never overwritten by an older reading of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from attest.commits import bytes_written, described_by, is_empty, log_of, logged, measured
from attest.errors import (
    ColumnsChangedError,
    ModelError,
    NullKeyError,
    OvertakenError,
    RepeatedIdentityError,
    StrayKeyError,
)
from attest.failpoints import reach
from attest.kept import as_files, gathered
from attest.news import NOT_YET, Note
from attest.session import while_set

Result = TypeVar("Result")

NOTE = "spark.databricks.delta.commitInfo.userMetadata"
WRITER = "spark.databricks.delta.write.txnAppId"
TURN = "spark.databricks.delta.write.txnVersion"
# What is put in the place of other rows lies in files of ours, which do not change: Delta need not copy them first.
AS_IT_IS = {
    "spark.databricks.delta.insertReplaceOnOrUsing.materializeSource": "none",
    "spark.databricks.delta.merge.materializeSource": "none",
}
GUARDS: tuple[type[ModelError], ...] = (NullKeyError, StrayKeyError)
SUSPECTS = 1_000
EXACT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"


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


def create(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note, since: int | None = None) -> Written:
    """The whole table in one commit, with partitions, properties and comments; replaces what was there."""
    reach("before the write", table.name)
    refuse_repeats(rows, table)
    writer = commented(guard(rows, table), table).writeTo(table.name).using("delta")
    for name, value in {**table.properties, "comment": table.description}.items():
        writer = writer.tableProperty(name, value)
    if table.partition_by:
        writer = writer.partitionedBy(*[F.col(name) for name in table.partition_by])
    return commit(spark, table, writer.createOrReplace, primitive="create", note=note, since=since)


def commented(rows: DataFrame, table: Table) -> DataFrame:
    """The same rows, their columns described; in one step, since Spark looks through all of a plan at each."""
    told = {name: comment for name, comment in table.comments.items() if comment and name in rows.columns}
    if not told:
        return rows
    columns = {name: F.col(f"`{name}`") for name in rows.columns}
    columns |= {name: columns[name].alias(name, metadata={"comment": comment}) for name, comment in told.items()}
    return rows.select(*columns.values())


def append(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note, since: int | None = None) -> Written:
    """Add rows to a log; a column that is new to it is added too, null in the rows before."""
    reach("before the write", table.name)
    require_columns(spark, table, rows, new_ones_allowed=True)
    refuse_repeats(rows, table)
    writer = guard(rows, table).writeTo(table.name).option("mergeSchema", "true")
    return commit(spark, table, writer.append, primitive="append", note=note, since=since)


def confirm(spark: SparkSession, table: Table, *, note: Note, since: int) -> Written:
    """No commit, only the note, as a word on the version that there is: what was read changed nothing.

    If another writer commits meanwhile, the note is on a version that is not the newest any more, and nobody reads it.
    """
    log = log_of(spark, table.name)
    if log is None or log.newest != since:
        raise overtaken(table)
    log.say(note.to_json())
    return Written("nothing new", version_before=since, version_after=since)


def commit(
    spark: SparkSession,
    table: Table,
    action: Callable[[], None],
    *,
    primitive: str,
    note: Note,
    since: int | None,
) -> Written:
    """Do it, as one commit that carries the note; what it did, by its own account.

    Delta keeps a number with a commit of ours, and takes none whose number it has seen: it is one
    more than the version that the rows were computed from, so that of two writers who read the
    same version one commits.
    """
    settings = {NOTE: note.to_json(), **AS_IT_IS}
    if since is not None:
        settings |= {WRITER: "attest", TURN: str(since + 1)}
    before = version_of(spark, table)
    with while_set(spark, settings):
        unwrapped(action)
    reach("after the commit", table.name)
    for version, logged_actions in logged(spark, table.name):
        if before is not None and version <= before:
            break
        actions = list(logged_actions)
        told = described_by(actions)
        if told.get("userMetadata") == note.to_json():
            return Written(
                primitive,
                rows=measured(told, "numOutputRows"),
                rows_removed=measured(told, "numDeletedRows", "numTargetRowsDeleted"),
                bytes=bytes_written(actions),
                version_before=before,
                version_after=version,
            )
    raise overtaken(table)


def overtaken(table: Table) -> OvertakenError:
    return OvertakenError(
        f"{table.name}: another writer was faster, so nothing was written. Build again: what it left comes first."
    )


def version_of(spark: SparkSession, table: Table) -> int | None:
    log = log_of(spark, table.name)
    return None if log is None or log.newest == NOT_YET else log.newest


def replace_difference(spark: SparkSession, table: Table, rows: DataFrame, *, note: Note, since: int) -> Written:
    """Replace the keys whose rows are not those that the table has; `rows` is all that it should have."""
    reach("before the write", table.name)
    require_columns(spark, table, rows)
    assert table.key is not None
    if is_empty(spark, table.name) and has_none(rows):
        return confirm(spark, table, note=note, since=since)
    with staged(spark, table, guard(rows, table).select(*columns_of(spark, table))) as wanted:
        held = spark.table(table.name)
        if wanted.isEmpty() and held.isEmpty():
            return confirm(spark, table, note=note, since=since)
        # Maps cannot be compared, their text can; by itself it leaves microseconds out.
        told = [F.to_json(F.struct(*columns_of(spark, table)), {"timestampFormat": EXACT}).alias("told")]
        ours, theirs = wanted.select(table.key, *told), held.select(table.key, *told)
        changed = ours.exceptAll(theirs).union(theirs.exceptAll(ours)).select(table.key).distinct()
        with gathered(spark, table.name, changed) as keys:
            if keys.isEmpty():
                return confirm(spark, table, note=note, since=since)
            kept = wanted.join(keys, on=table.key, how="left_semi").select(*columns_of(spark, table))
            return replace_kept(spark, table, kept, keys=keys, note=note, since=since)


def replace_by_key(
    spark: SparkSession, table: Table, rows: DataFrame, *, keys: DataFrame, note: Note, since: int
) -> Written:
    """Replace all rows of `keys` by `rows`; a key without rows becomes empty; no other key is touched.

    Delta's `replaceOn` is the cheapest way but leaves the keys that have no new rows, so
    a batch that takes a key's rows away goes by MERGE. Both need a source that answers the same
    twice, hence rows are computed once and kept, without the plan that made them.
    """
    reach("before the write", table.name)
    require_columns(spark, table, rows)
    with staged(spark, table, guard(rows, table).select(*columns_of(spark, table))) as kept:
        return replace_kept(spark, table, kept, keys=keys, note=note, since=since)


def replace_kept(
    spark: SparkSession, table: Table, kept: DataFrame, *, keys: DataFrame, note: Note, since: int
) -> Written:
    assert table.key is not None
    key = table.key
    found = compare_keys(kept, keys, key)
    if found.stray is not None:
        raise StrayKeyError(
            f"{table.name}: the model returned rows of {key} = {found.stray!r}, which has no news. "
            "Restrict its inputs with with_news(...). Nothing was written."
        )
    gone = found.emptied and has_any(spark, table, without_rows(keys, kept, key))
    if not found.rows and not gone:
        return confirm(spark, table, note=note, since=since)
    note = replace(note, whole=key)
    if not gone:
        return replace(replace_on(spark, table, kept, note=note, since=since), rows=found.rows)
    removals = keys.select(key).withColumn("attest_removes", F.lit(True))
    source = removals.unionByName(kept.withColumn("attest_removes", F.lit(False)), allowMissingColumns=True)
    merge = (
        DeltaTable.forName(spark, table.name)
        .alias("t")
        .merge(source.alias("s"), f"t.{key} = s.{key} and s.attest_removes")
        .whenMatchedDelete()
        .whenNotMatchedInsert("not s.attest_removes", {name: f"s.{name}" for name in kept.columns})
    )
    written = commit(spark, table, merge.execute, primitive="merge", note=note, since=since)
    return replace(written, rows=found.rows)


def replace_on(spark: SparkSession, table: Table, kept: DataFrame, *, note: Note, since: int) -> Written:
    """Rows in the place of those of the same keys, others added; a column that is new is new to the table, too."""
    writer = kept.alias("s").write.format("delta").mode("overwrite").option("targetAlias", "t")
    writer = writer.option("mergeSchema", "true").option("replaceOn", f"t.{table.key} = s.{table.key}")
    replacing = partial(writer.saveAsTable, table.name)
    return commit(spark, table, replacing, primitive="replaceOn", note=note, since=since)


def overwrite_partitions(spark: SparkSession, table: Table, kept: DataFrame, *, note: Note, since: int) -> Written:
    """Rows in the place of all that the partitions have that they fall in; no other partition is touched."""
    writer = kept.writeTo(table.name).option("partitionOverwriteMode", "dynamic").option("mergeSchema", "true")
    return commit(spark, table, writer.overwritePartitions, primitive="overwritePartitions", note=note, since=since)


def has_none(rows: DataFrame) -> bool:
    """Whether Spark knows, before it runs anything, that there is no row."""
    most = rows._jdf.queryExecution().optimizedPlan().maxRows()
    return bool(most.isDefined() and most.get() == 0)


def has_any(spark: SparkSession, table: Table, keys: DataFrame) -> bool:
    return not is_empty(spark, table.name) and not spark.table(table.name).join(keys, table.key, "left_semi").isEmpty()


def without_rows(keys: DataFrame, kept: DataFrame, key: str) -> DataFrame:
    return keys.select(key).join(kept.select(key), on=key, how="left_anti")


@contextmanager
def staged(spark: SparkSession, table: Table, rows: DataFrame) -> Iterator[DataFrame]:
    """The rows of a write, computed once and checked."""
    with as_files(spark, table.name, rows, written_by=unwrapped) as kept:
        refuse_repeats(kept, table)
        reach("after data files", table.name)
        yield kept


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
