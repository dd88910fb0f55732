"""Read what is to be landed, once, into Parquet files that one commit then takes. No Spark here.

A file is staged whole or not at all: what is wrong with one is said of it, and the others go on.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from attest.captures import CAPTURE
from attest.contract import Feed
from attest.delivery import Delivery, Landing, Quarantined, Told, in_json
from attest.errors import LandingError
from attest.files import whole_name
from attest.formats import CSV, EVENTS, JSON_LINES, PARQUET, About, Format, Row, sum_of
from attest.gate import judge
from attest.landing_rows import SCHEMA, manifest_row, to_arrow
from attest.measure import Tally, frozen_landings
from attest.record import QUARANTINED

BATCH, BATCH_CHARACTERS = 5_000, 32_000_000
SHOWN = 20
FILES_BETWEEN, RECORDS_BETWEEN = 1_000, 100_000

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


class Source(NamedTuple):
    """A file, its records, and what it says of all of them."""

    path: PurePath
    rows: Iterator[Row]
    about: About
    content_sum: str | None = None  # of the bytes, where they can be read again


def read_files(paths: Iterable[Path], feed: Feed) -> Iterator[Source]:
    for path in paths:
        about: About = {}
        try:
            summed = sum_of(path)
        except OSError:
            summed = None  # reading it says what is wrong
        yield Source(path, FORMATS[feed.format].records(path, feed, about), about, summed)


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
