"""Land files: every line of them, as received, in one commit, or none.

A landing table has one row a record: the record itself, its fields, where it came from
and when. What breaks the contract is in the same row's `quarantine_reason`.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.build import Outcome
from attest.commits import location
from attest.contract import Feed
from attest.errors import LandingError
from attest.news import Note, standing
from attest.record import Read, UnreadableError, read_record
from attest.write import Table

BATCH, BATCH_CHARACTERS = 5_000, 32_000_000
BLANK = b" \t\r\n"
SHOWN = 20
STAGING = "ATTEST_STAGING"
Content = tuple[int, int]
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


def ensure_table(spark: SparkSession, table: Table) -> Outcome:
    """An empty landing table where there is none; what is there is left alone."""
    if spark.catalog.tableExists(table.name):
        return Outcome("there", 0)
    spark.sql(f"create schema if not exists {table.name.rpartition('.')[0]}")
    declared = replace(table, properties={**PROPERTIES, **table.properties})
    write.create(spark, declared, spark.createDataFrame([], DDL), note=Note(uuid.uuid4().hex))
    return Outcome("made, empty", 0)


def land(spark: SparkSession, *, feed: Feed, table: str, paths: Sequence[Path], delivery: Delivery) -> Landing:
    """Land the files in one commit. Files that the same run landed before are left out: that is a retry."""
    refuse_bad_files(paths)
    ensure_table(spark, Table(table, description="One row a received record, as received."))
    before = landed_by_run(spark, table, delivery)
    folder = staging_place(spark, table) / f"_staging_{delivery.landing_id}"
    folder.mkdir()
    try:
        again = [path for path in paths if whole_name(path) in before]
        if again:
            repeated = folder / "again.parquet"
            stage(repeated, feed, again, delivery)
            refuse_other_content(again, before, contents(spark.read.schema(DDL).parquet(str(repeated))))
        staged = folder / "rows.parquet"
        landing = stage(staged, feed, [path for path in paths if path not in again], delivery)
        if landing.records:
            current = standing(spark, table)
            note = current.note if current and current.note else Note(uuid.uuid4().hex)
            write.append(spark, Table(table), spark.read.schema(DDL).parquet(str(staged)), note=note)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return landing


def refuse_bad_files(paths: Sequence[Path]) -> None:
    """What cannot be landed is refused before anything is read."""
    named: set[Path] = set()
    for path in paths:
        try:
            about = path.stat()
            str(path).encode()
        except FileNotFoundError:
            raise LandingError(f"{path} is not there. Nothing was landed; check the name.") from None
        except (OSError, ValueError) as error:
            raise LandingError(
                f"{str(path)!r} cannot be looked at ({error}). Nothing was landed; check its name and who may read it."
            ) from None
        if S_ISDIR(about.st_mode):
            raise LandingError(f"{path} is a folder. Nothing was landed; name its files, as in {path}/*.jsonl.")
        if not S_ISREG(about.st_mode):
            raise LandingError(
                f"{path} is no file, so it cannot be read again. Nothing was landed; save what it says to a file first."
            )
        if about.st_size == 0:
            raise LandingError(f"{path} is empty. Nothing was landed; if its source had nothing to say, leave it out.")
        if not os.access(path, os.R_OK):
            raise LandingError(f"{path} may not be read by this user. Nothing was landed; change who may read it.")
        if path.resolve() in named:
            raise LandingError(f"{path} is named twice. Nothing was landed; name it once.")
        named.add(path.resolve())


def whole_name(path: Path) -> str:
    """A file's name from the root on, so that a retry finds it wherever it is called from."""
    return os.path.abspath(path)


def landed_by_run(spark: SparkSession, table: str, delivery: Delivery) -> dict[str, Content]:
    """What this run landed already; a run that was not named is new and has landed nothing."""
    if delivery.run_id == delivery.landing_id:
        return {}
    return contents(spark.table(table).where(F.col("ingest_run_id") == F.lit(delivery.run_id)))


def contents(rows: DataFrame) -> dict[str, Content]:
    """How many records each file brought, and all of them, with their lines, in one number."""
    by_file = rows.groupBy("source_path").agg(F.count("*"), F.bit_xor(F.xxhash64("source_record", "record")))
    return {path: (records, together) for path, records, together in by_file.collect()}


def refuse_other_content(paths: Sequence[Path], before: Mapping[str, Content], now: Mapping[str, Content]) -> None:
    """A retry brings what its run brought before; a file that grew since would otherwise be lost in silence."""
    for path in paths:
        if before[whole_name(path)] != now[whole_name(path)]:
            raise LandingError(
                f"{path} changed since this run landed it. Nothing was landed; land it again as another run."
            )


def staging_place(spark: SparkSession, table: str) -> Path:
    """A folder that this process and Spark's workers both see: beside the table, unless the environment names one."""
    named = os.environ.get(STAGING)
    if named:
        if not Path(named).is_dir():
            raise LandingError(
                f"{STAGING} is {named!r}, which is no folder. Nothing was landed; name one that is there."
            )
        return Path(named)
    place = str(location(spark, table))
    if urlsplit(place).scheme not in ("", "file"):
        raise LandingError(
            f"{table} is at {place}, no folder of this machine. Nothing was landed; "
            f"name a folder that Spark's workers see too in {STAGING}."
        )
    return Path(place.removeprefix("file:")).parent


def stage(target: Path, feed: Feed, paths: Sequence[Path], delivery: Delivery) -> Landing:
    """Read every file once into one Parquet file; memory holds one batch of records, whatever their number."""
    reasons: Counter[str] = Counter()
    first: list[Quarantined] = []
    records = 0
    with pq.ParquetWriter(target, SCHEMA) as writer:
        for path in paths:
            before = records
            for batch in batched(read_lines(path, feed)):
                writer.write_table(to_arrow(batch, feed, path, delivery))
                records += len(batch)
                for row in batch:
                    if row.reason is not None:
                        reasons[row.reason] += 1
                        if len(first) < SHOWN:
                            first.append(Quarantined(str(path), row.line, row.reason, row.detail or ""))
            if records == before:
                raise LandingError(
                    f"{path} holds no record, only blank lines. Nothing was landed; "
                    "if its source had nothing to say, leave it out."
                )
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
                if raw.strip(BLANK):
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


def batched(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Batches that fit in memory, however long the records are."""
    batch: list[Row] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += len(row.record)
        if len(batch) == BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def to_arrow(batch: Sequence[Row], feed: Feed, path: Path, delivery: Delivery) -> pa.Table:
    same = {
        "landing_id": delivery.landing_id,
        "feed": feed.name,
        "source_type": feed.source_type,
        "source_path": whole_name(path),
        "source_file": path.name,
        "ingest_run_id": delivery.run_id,
        "recorded_at": delivery.recorded_at,
        "inheritance": feed.inheritance,
    }
    columns: dict[str, pa.Array] = {
        name: pa.repeat(pa.scalar(value, SCHEMA.field(name).type), len(batch)) for name, value in same.items()
    }
    read = [row.read for row in batch]
    varying: dict[str, list[Any]] = {
        "source_record": [row.line for row in batch],
        "ingest_ts": [clock((one and one.ingest_ts) or delivery.arrived_at) for one in read],
        "record": [row.record for row in batch],
        "source_event_ts": [clock(one.source_event_ts) if one else None for one in read],
        "source_event_finer": [one.source_event_finer if one else None for one in read],
        "source_sequence": [one.source_sequence if one else None for one in read],
        "quarantine_reason": [row.reason for row in batch],
        "quarantine_detail": [row.detail for row in batch],
    }
    columns |= {name: pa.array(values, SCHEMA.field(name).type) for name, values in varying.items()}
    columns["fields"] = as_maps([one.fields if one else None for one in read])
    return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def clock(at: datetime) -> datetime:
    """The same instant as Arrow takes it fastest: UTC, without saying so."""
    return (at if at.tzinfo is UTC else at.astimezone(UTC)).replace(tzinfo=None)


def as_maps(fields: Sequence[dict[str, str | None] | None]) -> pa.Array:
    """One map a record, built column-wise: ten times fewer Python objects than a list of pairs each."""
    names: list[str] = []
    values: list[str | None] = []
    starts: list[int | None] = []
    for one in fields:
        starts.append(None if one is None else len(names))
        if one is not None:
            names.extend(one)
            values.extend(one.values())
    offsets = pa.array([*starts, len(names)], pa.int32())
    return pa.MapArray.from_arrays(offsets, pa.array(names, pa.string()), pa.array(values, pa.string()))
