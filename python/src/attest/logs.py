"""The logs that commands write: a build only makes them, empty, where they are missing, and gives them new columns."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from attest import write
from attest.commits import columns_of, location, snapshot
from attest.news import NOT_YET, Note, standing
from attest.order import Outcome
from attest.retry import retried
from attest.write import Table

LANDING = """
    landing_id string, feed string, source_type string, source_path string, source_file string,
    source_record bigint, ingest_run_id string, ingest_ts timestamp, recorded_at timestamp,
    inheritance string, status string, scope string, released_at timestamp, released_from string,
    record string, fields map<string, string>, source_event_ts timestamp,
    source_event_finer bigint, source_sequence array<decimal(38, 10)>, expires_at timestamp,
    remark string, moved_from string, quarantine_reason string, quarantine_detail string, verdict string, clock string
"""
MARKS = """
    mark_id string, action string, feed string, partition string, since timestamp, reason string,
    recorded_by string, recorded_at timestamp, set_by string
"""
ALERTS = "raised_at timestamp, kind string, feed string, partition string, message string"
ROWS = {"landing": LANDING, "marks": MARKS, "alerts": ALERTS}
PROPERTIES = {
    "delta.appendOnly": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.logRetentionDuration": "interval 3650 days",
}


def ensure_log(spark: SparkSession, table: Table, columns: str) -> Outcome:
    """An empty log where there is none; one that is there gets the columns that are new since.

    Of several callers who find none, one makes it and the others find it: a table that is made is never made anew.
    """
    made, _ = retried(lambda: make_or_extend(spark, table, columns), of=table.name)
    return made


def make_or_extend(spark: SparkSession, table: Table, columns: str) -> Outcome:
    place = location(spark, table.name)
    if place is not None:
        return Outcome(add_new_columns(spark, table.name, columns, held=columns_of(snapshot(spark, place)).names))
    spark.sql(f"create schema if not exists {table.name.rpartition('.')[0]}")
    declared = replace(table, properties={**PROPERTIES, **table.properties})
    nothing = spark.createDataFrame([], columns)
    made = write.create(spark, declared, nothing, note=Note(uuid.uuid4().hex), since=NOT_YET)
    return Outcome("made, empty", made)


def add_new_columns(spark: SparkSession, table: str, columns: str, *, held: Collection[str]) -> str:
    declared = StructType.fromDDL(columns)
    assert isinstance(declared, StructType)
    new = [field for field in declared if field.name not in held]
    if not new:
        return "there"
    added = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in new)
    spark.sql(f"alter table {table} add columns ({added})")
    return f"there; added {added}"


def add_rows(spark: SparkSession, table: Table, columns: str, rows: list[tuple[object, ...]]) -> None:
    """Add rows to a log in one commit; the log is made where it is missing."""
    ensure_log(spark, table, columns)
    found = standing_note(spark, table.name)
    write.append(spark, Table(table.name), spark.createDataFrame(rows, columns), note=found)


def standing_note(spark: SparkSession, table: str) -> Note:
    """The note that the log's next commit carries on: its generation stays."""
    found = standing(spark, table)
    return found.note if found is not None and found.note is not None else Note(uuid.uuid4().hex)
