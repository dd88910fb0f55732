"""A landing's records as rows of its feed's landing table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain, repeat
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from attest.contract import MOVED_FROM, Feed
from attest.delivery import Delivery
from attest.files import whole_name
from attest.formats import Row
from attest.record import Read

SKIPPED, CONTROL = "skipped", "control"
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
