"""Land files: every line of them, as received, in one commit, or none.

A landing table has one row a record: the record itself, its fields, where it came from
and when. What breaks the contract is in the same row's `quarantine_reason`.
"""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.build import Outcome
from attest.contract import Feed
from attest.errors import LandingError
from attest.news import Note, standing
from attest.record import Read, UnreadableError, read_record
from attest.write import Table

BATCH = 20_000
SHOWN = 20
SCHEMA = pa.schema(
    [
        ("landing_id", pa.string()),
        ("feed", pa.string()),
        ("source_type", pa.string()),
        ("source_path", pa.string()),
        ("source_file", pa.string()),
        ("source_record", pa.int64()),
        ("ingest_run_id", pa.string()),
        ("ingest_ts", pa.timestamp("us", tz="UTC")),
        ("recorded_at", pa.timestamp("us", tz="UTC")),
        ("inheritance", pa.string()),
        ("record", pa.string()),
        ("fields", pa.map_(pa.string(), pa.string())),
        ("source_event_ts", pa.timestamp("us", tz="UTC")),
        ("source_event_finer", pa.int64()),
        ("source_sequence", pa.list_(pa.decimal128(38, 10))),
        ("quarantine_reason", pa.string()),
        ("quarantine_detail", pa.string()),
    ]
)
DDL = """
    landing_id string, feed string, source_type string, source_path string, source_file string,
    source_record bigint, ingest_run_id string, ingest_ts timestamp, recorded_at timestamp,
    inheritance string, record string, fields map<string, string>, source_event_ts timestamp,
    source_event_finer bigint, source_sequence array<decimal(38, 10)>, quarantine_reason string,
    quarantine_detail string
"""
PROPERTIES = {
    "delta.appendOnly": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.logRetentionDuration": "interval 3650 days",
}


class Quarantined(NamedTuple):
    file: str
    line: int
    reason: str
    detail: str


@dataclass(frozen=True)
class Landing:
    """What one call landed."""

    landing_id: str
    records: int
    quarantined: Counter[str]
    first_quarantined: Sequence[Quarantined]


@dataclass(frozen=True)
class Delivery:
    """One landing's provenance: who carries it, when it arrived, and when the lake writes it."""

    landing_id: str
    run_id: str
    arrived_at: datetime
    recorded_at: datetime


def new_delivery(*, run_id: str | None = None, arrived_at: datetime | None = None) -> Delivery:
    """Names of ours begin with their UTC time, so that they sort as they came."""
    now = datetime.now(UTC)
    landing_id = f"{now:%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:8]}"
    return Delivery(landing_id, run_id or landing_id, arrived_at or now, now)


def ensure_table(spark: SparkSession, name: str, *, description: str = "One row a received record.") -> Outcome:
    """An empty landing table where there is none; what is there is left alone."""
    if spark.catalog.tableExists(name):
        return Outcome("there", 0)
    spark.sql(f"create schema if not exists {name.rpartition('.')[0]}")
    table = Table(name, description=description, properties=PROPERTIES)
    write.create(spark, table, spark.createDataFrame([], DDL), note=Note(uuid.uuid4().hex))
    return Outcome("made, empty", 0)


def land(spark: SparkSession, *, feed: Feed, table: str, paths: Sequence[Path], delivery: Delivery) -> Landing:
    """Land the files in one commit. Files that the same run landed before are left out: that is a retry."""
    refuse_bad_files(paths)
    ensure_table(spark, table)
    landed_before = paths_of_run(spark, table, delivery)
    paths = [path for path in paths if str(path) not in landed_before]
    staged = staging_folder(spark, table) / delivery.landing_id
    staged.mkdir(parents=True)
    try:
        landing = stage(staged / "rows.parquet", feed, paths, delivery)
        if landing.records:
            current = standing(spark, table)
            note = current.note if current and current.note else Note(uuid.uuid4().hex)
            write.append(spark, Table(table), spark.read.parquet(str(staged)), note=note)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return landing


def refuse_bad_files(paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.exists():
            raise LandingError(f"{path} is not there. Nothing was landed; check the name.")
        if path.is_dir():
            raise LandingError(f"{path} is a folder. Nothing was landed; name its files, as in {path}/*.jsonl.")
        if path.stat().st_size == 0:
            raise LandingError(f"{path} is empty. Nothing was landed; if its source had nothing to say, leave it out.")


def paths_of_run(spark: SparkSession, table: str, delivery: Delivery) -> set[str]:
    """What this run landed already; a run that was not named is new and has landed nothing."""
    if delivery.run_id == delivery.landing_id:
        return set()
    of_run = spark.table(table).where(F.col("ingest_run_id") == F.lit(delivery.run_id))
    return {row[0] for row in of_run.select("source_path").distinct().collect()}


def staging_folder(spark: SparkSession, table: str) -> Path:
    place = DeltaTable.forName(spark, table).detail().select("location").first()
    assert place is not None
    return Path(str(place[0]).removeprefix("file:")).parent / "_staging"


def stage(target: Path, feed: Feed, paths: Sequence[Path], delivery: Delivery) -> Landing:
    """Read every file once into one Parquet file; memory holds one batch of records, whatever their number."""
    reasons: Counter[str] = Counter()
    first: list[Quarantined] = []
    records = 0
    with pq.ParquetWriter(target, SCHEMA) as writer:
        for path in paths:
            for batch in batched(read_lines(path, feed), BATCH):
                writer.write_table(to_arrow(batch, feed, path, delivery))
                records += len(batch)
                for row in batch:
                    if row.reason is not None:
                        reasons[row.reason] += 1
                        if len(first) < SHOWN:
                            first.append(Quarantined(str(path), row.line, row.reason, row.detail or ""))
    return Landing(delivery.landing_id, records, reasons, first)


class Row(NamedTuple):
    """A record, and what was read of it or why nothing was."""

    line: int
    record: str
    read: Read | None = None
    reason: str | None = None
    detail: str | None = None


def read_lines(path: Path, feed: Feed) -> Iterator[Row]:
    """Each line that is not blank. Lines end at \\n only: values may hold U+2028 and its kin."""
    try:
        with path.open("rb") as file:
            for line, raw in enumerate(file, start=1):
                if raw.strip():
                    yield read_line(line, raw.removesuffix(b"\n"), feed)
    except OSError as error:
        raise LandingError(
            f"{path} could not be read to its end ({error}). Nothing was landed; land it again."
        ) from None


def read_line(line: int, raw: bytes, feed: Feed) -> Row:
    try:
        record = raw.decode()
    except UnicodeDecodeError:
        remedy = "is not UTF-8: have the source send UTF-8 (its bytes are kept here as Latin-1)"
        return Row(line, raw.decode("latin-1"), reason="not_utf8", detail=remedy)
    try:
        return Row(line, record, read_record(record.removeprefix("\ufeff") if line == 1 else record, feed))
    except UnreadableError as error:
        return Row(line, record, reason=error.reason, detail=error.detail)


def batched(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while batch := list(islice(rows, size)):
        yield batch


def to_arrow(batch: Sequence[Row], feed: Feed, path: Path, delivery: Delivery) -> pa.Table:
    same = {
        "landing_id": delivery.landing_id,
        "feed": feed.name,
        "source_type": feed.source_type,
        "source_path": str(path),
        "source_file": path.name,
        "ingest_run_id": delivery.run_id,
        "recorded_at": delivery.recorded_at,
        "inheritance": feed.inheritance,
    }
    columns: dict[str, list[Any]] = {name: [value] * len(batch) for name, value in same.items()}
    columns["source_record"] = [row.line for row in batch]
    columns["record"] = [row.record for row in batch]
    columns["quarantine_reason"] = [row.reason for row in batch]
    columns["quarantine_detail"] = [row.detail for row in batch]
    read = [row.read for row in batch]
    columns["ingest_ts"] = [(one.ingest_ts if one else None) or delivery.arrived_at for one in read]
    columns["fields"] = [list(one.fields.items()) if one else None for one in read]
    for name in ("source_event_ts", "source_event_finer", "source_sequence"):
        columns[name] = [getattr(one, name) if one else None for one in read]
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)
