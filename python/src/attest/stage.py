"""Read what is to be landed, once, into Parquet files that one commit then takes. No Spark here.

A file is staged whole or not at all: what is wrong with one is said of it, and the others go on.
"""

from __future__ import annotations

import json
import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, repeat
from pathlib import Path, PurePath
from stat import S_ISDIR, S_ISREG
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from attest.captures import CAPTURE
from attest.contract import DEFAULTED, MOVED_FROM, Feed
from attest.contract import SCHEMA as EVENT_SCHEMA
from attest.errors import LandingError
from attest.event import columns_of
from attest.formats import CSV, EVENTS, JSON_LINES, PARQUET, About, Format, Row, refuse_escape, sum_of
from attest.gate import Verdict, judge
from attest.ledger import PENDING
from attest.measure import Tally, frozen_landings
from attest.record import HELD, NOTICE, QUARANTINED, Read

BATCH, BATCH_CHARACTERS = 5_000, 32_000_000
SHOWN = 20
SKIPPED, CONTROL = "skipped", "control"
FILES_BETWEEN, RECORDS_BETWEEN = 1_000, 100_000
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
        ("moved_from", pa.string()),
        ("quarantine_reason", pa.string()),
        ("quarantine_detail", pa.string()),
    ]
)

# The formats that a contract may name: how each is read.
FORMATS: Mapping[str, Format] = {
    "jsonl": JSON_LINES,
    "csv": CSV,
    "parquet": PARQUET,
    "capture": CAPTURE,
    "debezium": EVENTS,
}

Say = Callable[[str], None]


def silent(_: str) -> None:
    """Nobody listens."""


class Quarantined(NamedTuple):
    file: str
    line: int
    reason: str
    detail: str


@dataclass(frozen=True)
class Snapshot:
    """What a delivery claims of itself as a snapshot; nothing is proved by one that is not complete."""

    complete: bool = False
    expected: int | None = None
    scopes: Sequence[str] = ()


def trusted(_: Landing) -> None:
    """Nobody looks at what was staged."""


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
    not_before: datetime | None = None  # a stream's watermark
    capture: Mapping[str, Any] | None = None  # what it says of itself, where it is one, and its ledger's status
    inspect: Callable[[Landing], None] = trusted  # looks at what is staged, before it is committed
    left_out: Sequence[str] = ()  # landings that are marked bad: nothing is compared with them

    @property
    def is_skipped(self) -> bool:
        """Whether its records are kept and feed nothing."""
        return self.capture is not None and self.capture["status"] != PENDING


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


class Source(NamedTuple):
    """A file, its records, and what it says of all of them."""

    path: PurePath
    rows: Iterator[Row]
    about: About
    content_sum: str | None = None  # of the bytes, where they can be read again


@dataclass
class Told:
    """What records say beside their rows: those that are about none, and how events were written."""

    notices: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    schemas: Counter[str] = field(default_factory=Counter)
    since: dict[str, datetime | None] = field(default_factory=dict)
    defaulted: Counter[str] = field(default_factory=Counter)

    def take(self, row: Row) -> None:
        if row.status == NOTICE:
            self.notices[row.reason or ""] += 1
        elif row.status == HELD:
            self.held[row.reason or ""] += 1
        elif row.read is not None and EVENT_SCHEMA in row.read.fields:
            name = row.read.fields[EVENT_SCHEMA] or ""
            self.schemas[name] += 1
            self.since.setdefault(name, row.read.source_event_ts)
            self.defaulted.update((row.read.fields.get(DEFAULTED) or "").split())

    def add(self, other: Told) -> None:
        for mine, others in ((self.notices, other.notices), (self.held, other.held), (self.schemas, other.schemas)):
            mine.update(others)
        self.since = other.since | self.since
        self.defaulted.update(other.defaulted)

    def in_manifest(self) -> dict[str, Any]:
        schemas = {
            name: {"records": records, "since": in_json(self.since[name]), "columns": columns_of(name)}
            for name, records in self.schemas.items()
        }
        return {"notices": self.notices, "held": self.held, "schemas": schemas, "defaulted": self.defaulted}


def in_json(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


@dataclass(frozen=True)
class Landing:
    """What was staged of one landing: its files, and what became of their records."""

    landing_id: str
    quarantined: Counter[str]
    first_quarantined: Sequence[Quarantined]
    tally: Tally
    parts: Sequence[Path] = ()
    refused: Sequence[LandingError] = ()
    verdict: Verdict | None = None
    capture: Mapping[str, Any] | None = None
    told: Told = field(default_factory=Told)
    new_schemas: Sequence[str] = ()

    @property
    def records(self) -> int:
        return self.tally.records

    @property
    def set_aside(self) -> dict[str, Counter[str]]:
        """What is kept of notices and for people to decide on, by its status and why."""
        return {NOTICE: self.told.notices, HELD: self.told.held}

    @property
    def accepted(self) -> int:
        return self.records - sum(one.total() for one in (self.quarantined, *self.set_aside.values()))


# What there is to land.


def found(paths: Sequence[Path]) -> tuple[list[Path], list[LandingError]]:
    """The files that are named, and those of folders that are named, with what is wrong with any of the latter."""
    files: list[Path] = []
    refused: list[LandingError] = []
    refuse_bad_files([path for path in paths if not path.is_dir()])
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        for file in files_in(path):
            try:
                refuse_escape(file, root=path)
                refuse_bad_files([file])
            except LandingError as error:
                refused.append(LandingError(str(error).replace("Nothing was", "Nothing of it was")))
            else:
                files.append(file)
    return files, refused


def files_in(folder: Path) -> list[Path]:
    """All files below a folder, in one order. A name that begins with . or _ says that it is not meant."""
    inside = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        inside += [Path(place, name) for name in names if name[0] not in "._"]
    return sorted(inside)


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
            raise LandingError(f"{path} is a folder, not a file. Nothing was landed; name the files in it.")
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


def whole_name(path: PurePath) -> str:
    """A file's name from the root on, so that a retry finds it wherever it is called from; a topic's as it is."""
    return os.path.abspath(path) if isinstance(path, Path) else str(path)


def read_files(paths: Iterable[Path], feed: Feed) -> Iterator[Source]:
    for path in paths:
        about: About = {}
        try:
            summed = sum_of(path)
        except OSError:
            summed = None  # reading it says what is wrong
        yield Source(path, FORMATS[feed.format].records(path, feed, about), about, summed)


# Staging.


@dataclass
class Stage:
    """Rows on their way into Parquet files: those of small files together, a large file's by themselves."""

    folder: Path
    feed: Feed
    delivery: Delivery
    say: Say = silent
    tally: Tally = field(default_factory=Tally)
    files: list[dict[str, Any]] = field(default_factory=list)
    parts: list[Path] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    first: list[Quarantined] = field(default_factory=list)
    told: Told = field(default_factory=Told)
    waiting: list[tuple[PurePath, list[Row]]] = field(default_factory=list)
    waiting_size: int = 0
    together: pq.ParquetWriter | None = None


def stage(
    folder: Path,
    feed: Feed,
    sources: Iterable[Source],
    delivery: Delivery,
    *,
    earlier: Sequence[datetime | None] = (),
    say: Say = silent,
) -> Landing:
    """Read every record once, and judge the landing; memory holds one batch of records."""
    at = Stage(folder, feed, delivery, say)
    refused: list[LandingError] = []
    for number, source in enumerate(sources, start=1):
        try:
            take(at, source)
        except LandingError as error:
            refused.append(error)
        if number % FILES_BETWEEN == 0:
            say(f"{feed.name}: {number:,} files, {at.tally.records + waiting_records(at):,} records read")
    flush(at)
    if at.together is not None:
        at.together.close()
    if not at.files or (not at.tally.records and delivery.released_from is not None):
        return Landing(delivery.landing_id, at.reasons, at.first, at.tally, refused=refused)
    measures = at.tally.measures() | {"frozen_landings": frozen_landings([*earlier, at.tally.newest])}
    verdict = judge(feed, measures)
    is_snapshot = feed.promised("load_type") == "snapshot"
    manifest = {
        "files": at.files,
        "refused": [str(error) for error in refused],
        "records": at.tally.records,
        "quarantined": dict(at.reasons),
        "newest_source_time": in_json(at.tally.newest),
        "measures": measures,
        "promises": {name: list(values) for name, values in feed.promises.items()},
        "verdict": verdict.name,
        "reasons": list(verdict.reasons),
        "snapshot": asdict(delivery.snapshot) if is_snapshot and not delivery.is_skipped else None,
        "capture": delivery.capture,
        **at.told.in_manifest(),
    }
    of_landing = part(at)
    pq.write_table(manifest_row(manifest, feed, delivery), of_landing)
    found = Landing(delivery.landing_id, at.reasons, at.first, at.tally, at.parts, refused, verdict)
    return replace(found, told=at.told)


def take(at: Stage, source: Source) -> None:
    """Stage a file: its rows wait for those of other small files, unless there are more than a batch."""
    batches = batched(too_late(source.rows, at.delivery.not_before))
    first = next(batches, [])
    second = next(batches, None)
    if not first and at.delivery.released_from is None and not source.about.get("may_be_empty"):
        raise LandingError(
            f"{source.path} holds no record, only blank lines. Nothing of it was landed; "
            "if its source had nothing to say, leave it out."
        )
    if second is None:
        refuse_changed(source)
        at.waiting.append((source.path, first))
        at.waiting_size += sum(len(row.record) for row in first)
        records = len(first)
        if waiting_records(at) >= BATCH or at.waiting_size >= BATCH_CHARACTERS:
            flush(at)
    else:
        records = take_large(at, source, chain([first, second], batches))
    at.files.append(
        {"path": whole_name(source.path), "sha256": source.content_sum, "records": records, "about": source.about}
    )


def take_large(at: Stage, source: Source, batches: Iterator[list[Row]]) -> int:
    """A file of its own, which goes if what comes later in it shows that it must not be landed."""
    flush(at)
    place, own = (
        part(at),
        replace(at, tally=Tally(), reasons=Counter(), first=list(at.first), told=Told(), waiting=[], files=[]),
    )
    try:
        with pq.ParquetWriter(place, SCHEMA) as writer:
            for batch in batches:
                write(own, writer, [(source.path, batch)])
        refuse_changed(source)
    except LandingError:
        place.unlink()
        at.parts.remove(place)
        raise
    at.tally.add(own.tally)
    at.reasons.update(own.reasons)
    at.first = own.first
    at.told.add(own.told)
    return own.tally.records


def part(at: Stage) -> Path:
    place = at.folder / f"{at.delivery.landing_id}-{len(at.parts):06}-{uuid.uuid4().hex[:8]}.parquet"
    at.parts.append(place)
    return place


def waiting_records(at: Stage) -> int:
    return sum(len(rows) for _, rows in at.waiting)


def flush(at: Stage) -> None:
    if at.waiting:
        if at.together is None:
            at.together = pq.ParquetWriter(part(at), SCHEMA)
        write(at, at.together, at.waiting)
        at.waiting, at.waiting_size = [], 0


def write(at: Stage, writer: pq.ParquetWriter, rows_of: Sequence[tuple[PurePath, list[Row]]]) -> None:
    rows = [row for _, of_file in rows_of for row in of_file]
    columns = to_arrow(rows_of, at.feed, at.delivery)
    writer.write_table(columns)
    for path, of_file in rows_of:
        for row in of_file:
            at.told.take(row)
            if row.reason is not None:
                at.tally.refused(row.reason)
            if row.reason is not None and row.status == QUARANTINED:
                at.reasons[row.reason] += 1
                if len(at.first) < SHOWN:
                    at.first.append(Quarantined(str(path), row.line, row.reason, row.detail or ""))
    is_accepted = pa.array([row.reason is None for row in rows], pa.bool_())
    accepted = columns.select(["source_event_ts", "ingest_ts"]).filter(is_accepted)
    keys = [tuple(map(row.read.fields.get, at.feed.key_fields)) for row in rows if row.read and row.reason is None]
    before = at.tally.records // RECORDS_BETWEEN
    at.tally.accepted(keys, accepted["source_event_ts"], accepted["ingest_ts"])
    if at.tally.records // RECORDS_BETWEEN > before:
        at.say(f"{at.feed.name}: {at.tally.records:,} records read, now of {rows_of[-1][0]}")


def refuse_changed(source: Source) -> None:
    """What was read must be what is there: a file that is still being written is not ready to be landed."""
    if source.content_sum is not None and sum_of(Path(source.path)) != source.content_sum:
        raise LandingError(
            f"{source.path} changed while it was read. Nothing of it was landed; land it again when it is whole. "
            "Whoever writes it should write under another name, and rename it at the end."
        )


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


def too_late(rows: Iterator[Row], not_before: datetime | None) -> Iterator[Row]:
    """Section 12.4.9.3: what an operator's watermark passes is never dropped, it waits in quarantine."""
    for row in rows:
        at = row.read.source_event_ts if row.read and row.reason is None else None
        if not_before is None or at is None or at >= not_before:
            yield row
        else:
            detail = (
                f"happened at {at.isoformat()}, before the watermark {not_before.isoformat()}: "
                "see why it is late, then let it in with attest release"
            )
            yield Row(row.line, row.record, reason="past_watermark", detail=detail)


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


def to_arrow(rows_of: Sequence[tuple[PurePath, Sequence[Row]]], feed: Feed, delivery: Delivery) -> pa.Table:
    batch = [row for _, of_file in rows_of for row in of_file]
    columns: dict[str, pa.Array] = {
        name: pa.repeat(pa.scalar(value, SCHEMA.field(name).type), len(batch))
        for name, value in provenance(feed, delivery).items()
    }
    read = [row.read for row in batch]
    as_of = delivery.as_of or delivery.arrived_at if feed.promised("source_time") == "as_of" else None
    scope = feed.promised("scope_field")
    covered = delivery.capture["scope"] if delivery.capture else None
    varying: dict[str, Iterable[Any]] = {
        "source_path": chain.from_iterable(repeat(whole_name(path), len(rows)) for path, rows in rows_of),
        "source_file": chain.from_iterable(repeat(path.name, len(rows)) for path, rows in rows_of),
        "source_record": [row.line for row in batch],
        "ingest_ts": [clock((one and one.ingest_ts) or delivery.arrived_at) for one in read],
        "status": [SKIPPED if delivery.is_skipped else row.status for row in batch],
        "scope": [covered or trimmed(one.fields.get(scope)) if one and scope else None for one in read],
        "record": [row.record for row in batch],
        "source_event_ts": [clock(as_of or one.source_event_ts) if one else None for one in read],
        "source_event_finer": [one.source_event_finer if one else None for one in read],
        "source_sequence": [one.source_sequence if one else None for one in read],
        "expires_at": [clock(one.expires_at) if one else None for one in read],
        "remark": [remark(one, feed) if one else None for one in read],
        "moved_from": [one.fields.get(MOVED_FROM) if one else None for one in read],
        "quarantine_reason": [row.reason for row in batch],
        "quarantine_detail": [row.detail for row in batch],
    }
    columns |= {name: pa.array(list(values), SCHEMA.field(name).type) for name, values in varying.items()}
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
    return "; ".join(f"{name}: {read.fields.get(name)}" for name in named) if named else None


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
