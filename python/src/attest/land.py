"""Land files: every line of them, as received, in one commit, or none.

A landing table has one row a record: the record itself, its fields as its contract reads
them, where it came from and when, and what became of it (`status`). One more row a landing
(`control`) holds its manifest: counts, measures, and the gate's verdict on all of it.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
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
from attest.gate import REJECTED, Verdict, judge
from attest.measure import Tally, frozen_landings
from attest.news import Note, standing
from attest.record import Read, UnreadableError, read_record
from attest.write import Table

BATCH, BATCH_CHARACTERS = 5_000, 32_000_000
BLANK = b" \t\r\n"
SHOWN = 20
STAGING = "ATTEST_STAGING"
ACCEPTED, QUARANTINED, CONTROL = "accepted", "quarantined", "control"
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
        ("status", pa.string()),
        ("scope", pa.string()),
        ("released_at", pa.timestamp("us", tz="UTC")),
        ("released_from", pa.string()),
        ("record", pa.string()),
        ("fields", pa.map_(pa.string(), pa.string())),
        ("source_event_ts", pa.timestamp("us", tz="UTC")),
        ("source_event_finer", pa.int64()),
        ("source_sequence", pa.list_(pa.decimal128(38, 10))),
        ("expires_at", pa.timestamp("us", tz="UTC")),
        ("remark", pa.string()),
        ("quarantine_reason", pa.string()),
        ("quarantine_detail", pa.string()),
    ]
)
DDL = """
    landing_id string, feed string, source_type string, source_path string, source_file string,
    source_record bigint, ingest_run_id string, ingest_ts timestamp, recorded_at timestamp,
    inheritance string, status string, scope string, released_at timestamp, released_from string,
    record string, fields map<string, string>, source_event_ts timestamp,
    source_event_finer bigint, source_sequence array<decimal(38, 10)>, expires_at timestamp,
    remark string, quarantine_reason string, quarantine_detail string, verdict string, clock string
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
    tally: Tally
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Snapshot:
    """What a delivery claims of itself as a snapshot; nothing is proved by one that is not complete."""

    complete: bool = False
    expected: int | None = None
    scopes: Sequence[str] = ()


@dataclass(frozen=True)
class Delivery:
    """One landing's provenance: who carries it, when it arrived, and when the lake writes it."""

    landing_id: str
    run_id: str
    arrived_at: datetime
    recorded_at: datetime
    as_of: datetime | None = None
    snapshot: Snapshot = field(default_factory=Snapshot)
    released_from: str | None = None


def new_delivery(
    *,
    run_id: str | None = None,
    arrived_at: datetime | None = None,
    as_of: datetime | None = None,
    snapshot: Snapshot | None = None,
) -> Delivery:
    """Names of ours begin with their UTC time, so that they sort as they came."""
    now = datetime.now(UTC)
    landing_id = f"{now:%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:8]}"
    return Delivery(landing_id, run_id or landing_id, arrived_at or now, now, as_of, snapshot or Snapshot())


def ensure_table(spark: SparkSession, table: Table) -> Outcome:
    """An empty landing table where there is none; one that is there gets the columns that are new since."""
    if spark.catalog.tableExists(table.name):
        return Outcome(add_new_columns(spark, table.name))
    spark.sql(f"create schema if not exists {table.name.rpartition('.')[0]}")
    declared = replace(table, properties={**PROPERTIES, **table.properties})
    write.create(spark, declared, spark.createDataFrame([], DDL), note=Note(uuid.uuid4().hex))
    return Outcome("made, empty")


def add_new_columns(spark: SparkSession, table: str) -> str:
    held = set(spark.table(table).columns)
    new = [field for field in spark.createDataFrame([], DDL).schema if field.name not in held]
    if not new:
        return "there"
    added = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in new)
    spark.sql(f"alter table {table} add columns ({added})")
    return f"there; added {added}"


def land(spark: SparkSession, *, feed: Feed, table: str, paths: Sequence[Path], delivery: Delivery) -> Landing:
    """Land the files in one commit. Files that the same run landed before are left out: that is a retry."""
    refuse_bad_files(paths)
    refuse_idle_claims(feed, delivery)
    ensure_table(spark, Table(table, description="One row a received record, as received."))
    before = landed_by_run(spark, table, delivery)
    with staging_folder(spark, table, delivery) as folder:
        again = [path for path in paths if whole_name(path) in before]
        if again:
            repeated = folder / "again.parquet"
            stage(repeated, feed, read_files(again, feed), delivery)
            refuse_other_content(again, before, contents(spark.read.schema(DDL).parquet(str(repeated))))
        staged = folder / "rows.parquet"
        records = read_files([path for path in paths if path not in again], feed)
        earlier = newest_times(spark, table, feed)
        landing = stage(staged, feed, records, delivery, earlier=earlier)
        if landing.verdict is not None:
            commit(spark, table, staged, landing.verdict)
    return landing


class Held(NamedTuple):
    """A landing of which some records reached no timeline."""

    landing_id: str
    arrived_at: datetime
    as_of: datetime
    records: int


def held_landings(spark: SparkSession, table: str, *, landing_id: str | None = None) -> list[Held]:
    """The landings, oldest first, with records that are held and were not released yet."""
    if not spark.catalog.tableExists(table):
        raise LandingError(f"{table} is not there, so nothing is held. Land the feed first, or check its name.")
    landed = spark.table(table)
    if landing_id is not None:
        landed = landed.where(F.col("landing_id") == landing_id)
    manifests = landed.where(F.col("status") == CONTROL).select(
        "landing_id", F.unix_micros("ingest_ts").alias("arrived"), F.unix_micros("source_event_ts").alias("as_of")
    )
    counted = held_records(spark, landed, table).groupBy("landing_id").agg(F.count("*").alias("records"))
    found = counted.join(manifests, on="landing_id").orderBy("landing_id").collect()
    return [Held(row.landing_id, from_micros(row.arrived), from_micros(row.as_of), row.records) for row in found]


def release(spark: SparkSession, *, feed: Feed, table: str, held: Held) -> Landing:
    """Land again, with their own arrival, the records of one landing that its contract did not let through.

    Only what can be read now is landed, and only if the gate lets it through: the rest stays where it is.
    """
    delivery = replace(new_delivery(arrived_at=held.arrived_at), released_from=held.landing_id)
    if feed.promised("source_time") == "as_of":
        delivery = replace(delivery, as_of=held.as_of)
    with staging_folder(spark, table, delivery) as folder:
        staged = folder / "rows.parquet"
        landing = stage(staged, feed, read_held(spark, table, held, feed), delivery)
        if landing.verdict is None or landing.verdict.name == REJECTED:
            return replace(landing, records=0)
        commit(spark, table, staged, landing.verdict)
    return landing


def read_held(spark: SparkSession, table: str, held: Held, feed: Feed) -> Iterator[tuple[Path, Iterator[Row]]]:
    """What is held of a landing, by file, less what still cannot be read."""
    landed = spark.table(table).where(F.col("landing_id") == held.landing_id)
    readable = ~F.col("quarantine_reason").eqNullSafe(F.lit("not_utf8"))  # what was kept of those is not what was meant
    rows = held_records(spark, landed, table).where(readable).orderBy("source_path", "source_record").toLocalIterator()
    for path, of_file in groupby(rows, key=lambda row: row["source_path"]):
        again = (read_text_line(row["source_record"], row["record"], feed) for row in of_file)
        yield Path(path), (row for row in again if row.reason is None)


def held_records(spark: SparkSession, landed: DataFrame, table: str) -> DataFrame:
    """Records in quarantine, or landed while the gate rejected the feed, that were not released since."""
    is_held = (F.col("status") == QUARANTINED) | ((F.col("status") == ACCEPTED) & (F.col("verdict") == REJECTED))
    place = ["source_path", "source_record"]
    released = spark.table(table).where(F.col("released_from").isNotNull() & (F.col("status") != CONTROL))
    released = released.select(F.col("released_from").alias("landing_id"), *place)
    columns = ("landing_id", *place, "record", "quarantine_reason")
    return landed.where(is_held).select(*columns).join(released, on=["landing_id", *place], how="left_anti")


def from_micros(micros: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=micros)


def commit(spark: SparkSession, table: str, staged: Path, verdict: Verdict) -> None:
    current = standing(spark, table)
    note = current.note if current and current.note else Note(uuid.uuid4().hex)
    rows = spark.read.schema(DDL).parquet(str(staged))
    judged = rows.withColumns({"verdict": F.lit(verdict.name), "clock": F.lit(verdict.clock)})
    write.append(spark, Table(table), judged, note=note)


def refuse_idle_claims(feed: Feed, delivery: Delivery) -> None:
    """A claim that the contract gives no meaning would be a claim in vain."""
    is_snapshot = feed.promised("load_type") == "snapshot"
    if delivery.snapshot != Snapshot() and not is_snapshot:
        raise LandingError(
            f"{feed.name} promises no snapshots, so nothing can be a complete one. Nothing was landed; "
            "leave --complete, --expected and --scope out, or promise load_type snapshot in seeds/promises.csv."
        )
    if delivery.as_of is not None and feed.promised("source_time") != "as_of":
        raise LandingError(
            f"The records of {feed.name} have times of their own. Nothing was landed; leave --as-of out, "
            "or promise source_time as_of in seeds/promises.csv."
        )
    if delivery.snapshot.scopes and feed.promised("scope_field") is None:
        raise LandingError(
            f"{feed.name} has no scope_field, so --scope means nothing. Nothing was landed; "
            "leave it out, or promise scope_field in seeds/promises.csv."
        )


def newest_times(spark: SparkSession, table: str, feed: Feed) -> list[datetime | None]:
    """The newest source time of each earlier landing, oldest first; asked only where the contract limits it."""
    if feed.promised("most_frozen_landings") is None:
        return []
    manifests = spark.table(table).where(F.col("status") == CONTROL).orderBy("recorded_at")
    found = manifests.select(F.get_json_object("record", "$.newest_source_time")).collect()
    return [datetime.fromisoformat(row[0]) if row[0] else None for row in found]


@contextmanager
def staging_folder(spark: SparkSession, table: str, delivery: Delivery) -> Iterator[Path]:
    folder = staging_place(spark, table) / f"_staging_{delivery.landing_id}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    own = (F.col("ingest_run_id") == F.lit(delivery.run_id)) & (F.col("status") != CONTROL)
    return contents(spark.table(table).where(own))


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


def read_files(paths: Sequence[Path], feed: Feed) -> Iterator[tuple[Path, Iterator[Row]]]:
    return ((path, read_lines(path, feed)) for path in paths)


def stage(
    target: Path,
    feed: Feed,
    files: Iterable[tuple[Path, Iterator[Row]]],
    delivery: Delivery,
    *,
    earlier: Sequence[datetime | None] = (),
) -> Landing:
    """Read every record once into one Parquet file, its manifest last; memory holds one batch of them."""
    reasons: Counter[str] = Counter()
    first: list[Quarantined] = []
    tally = Tally()
    names: list[str] = []
    with pq.ParquetWriter(target, SCHEMA) as writer:
        for path, rows in files:
            before = tally.records
            for batch in batched(rows):
                columns = to_arrow(batch, feed, path, delivery)
                writer.write_table(columns)
                count(tally, batch, columns, feed)
                for row in batch:
                    if row.reason is not None:
                        reasons[row.reason] += 1
                        if len(first) < SHOWN:
                            first.append(Quarantined(str(path), row.line, row.reason, row.detail or ""))
            if tally.records == before and delivery.released_from is None:
                raise LandingError(
                    f"{path} holds no record, only blank lines. Nothing was landed; "
                    "if its source had nothing to say, leave it out."
                )
            names.append(whole_name(path))
        if not tally.records:
            return Landing(delivery.landing_id, 0, reasons, first, tally)
        measures = tally.measures() | {"frozen_landings": frozen_landings([*earlier, tally.newest])}
        verdict = judge(feed, measures)
        manifest = {
            "files": names,
            "records": tally.records,
            "quarantined": dict(reasons),
            "newest_source_time": tally.newest.isoformat() if tally.newest else None,
            "measures": measures,
            "promises": {name: list(values) for name, values in feed.promises.items()},
            "verdict": verdict.name,
            "reasons": list(verdict.reasons),
            "snapshot": asdict(delivery.snapshot) if feed.promised("load_type") == "snapshot" else None,
        }
        writer.write_table(manifest_row(manifest, feed, delivery))
    return Landing(delivery.landing_id, tally.records, reasons, first, tally, verdict)


def count(tally: Tally, batch: Sequence[Row], columns: pa.Table, feed: Feed) -> None:
    for row in batch:
        if row.reason is not None:
            tally.refused(row.reason)
    is_read = [row.read is not None for row in batch]
    accepted = columns.select(["source_event_ts", "ingest_ts"]).filter(pa.array(is_read))
    keys = [tuple(map(row.read.fields.get, feed.key_fields)) for row in batch if row.read is not None]
    tally.accepted(keys, accepted["source_event_ts"], accepted["ingest_ts"])


def manifest_row(manifest: dict[str, Any], feed: Feed, delivery: Delivery) -> pa.Table:
    """The row that speaks of the landing itself."""
    row = provenance(feed, delivery) | {
        "source_path": "",
        "source_record": 0,
        "ingest_ts": clock(delivery.arrived_at),
        "status": CONTROL,
        "record": json.dumps(manifest, ensure_ascii=False),
        "source_event_ts": clock(delivery.as_of or delivery.arrived_at),
    }
    return pa.Table.from_pylist([row], schema=SCHEMA)


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
    return read_text_line(line, record, feed)


def read_text_line(line: int, record: str, feed: Feed) -> Row:
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
    same = provenance(feed, delivery) | {"source_path": whole_name(path), "source_file": path.name}
    columns: dict[str, pa.Array] = {
        name: pa.repeat(pa.scalar(value, SCHEMA.field(name).type), len(batch)) for name, value in same.items()
    }
    read = [row.read for row in batch]
    as_of = delivery.as_of or delivery.arrived_at if feed.promised("source_time") == "as_of" else None
    scope = feed.promised("scope_field")
    varying: dict[str, list[Any]] = {
        "source_record": [row.line for row in batch],
        "ingest_ts": [clock((one and one.ingest_ts) or delivery.arrived_at) for one in read],
        "status": [ACCEPTED if one else QUARANTINED for one in read],
        "scope": [trimmed(one.fields.get(scope)) if one and scope else None for one in read],
        "record": [row.record for row in batch],
        "source_event_ts": [clock(as_of or one.source_event_ts) if one else None for one in read],
        "source_event_finer": [one.source_event_finer if one else None for one in read],
        "source_sequence": [one.source_sequence if one else None for one in read],
        "expires_at": [clock(one.expires_at) if one else None for one in read],
        "remark": [remark(one, feed) if one else None for one in read],
        "quarantine_reason": [row.reason for row in batch],
        "quarantine_detail": [row.detail for row in batch],
    }
    columns |= {name: pa.array(values, SCHEMA.field(name).type) for name, values in varying.items()}
    columns["fields"] = as_maps([one.fields if one else None for one in read])
    return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def provenance(feed: Feed, delivery: Delivery) -> dict[str, Any]:
    """What every row of a landing shares."""
    return {
        "landing_id": delivery.landing_id,
        "feed": feed.name,
        "source_type": feed.source_type,
        "ingest_run_id": delivery.run_id,
        "recorded_at": delivery.recorded_at,
        "inheritance": feed.inheritance,
        "released_at": delivery.recorded_at if delivery.released_from else None,
        "released_from": delivery.released_from,
    }


def remark(read: Read, feed: Feed) -> str | None:
    """What the contract says people are to know of the record, in its own words."""
    named = feed.all_promised("remark_field")
    return "; ".join(f"{name}: {read.fields[name]}" for name in named) if named else None


def trimmed(text: str | None) -> str | None:
    return text.strip(" ") if text else None


def clock(at: datetime | None) -> datetime | None:
    """The same instant as Arrow takes it fastest: UTC, without saying so."""
    if at is None:
        return None
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
