"""Write a capture where it belongs, whole or not at all."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from attest.captures import MANIFEST, content_sum, from_micros, texts_in, to_micros
from attest.contract import Feed
from attest.digits import Digits, read_exactly, written
from attest.errors import CaptureError
from attest.formats import sum_of

PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Asked:
    """What a capture is of, and how it was asked for."""

    vendor: str
    dataset: str
    data_type: str
    capture_mode: str
    api_endpoint: str
    request_params: Mapping[str, Any] = field(default_factory=dict)
    partitions: Mapping[str, str] = field(default_factory=dict)
    record_format: str = "jsonl.gz"


def folder_of(root: Path, asked: Asked, captured_at: datetime) -> Path:
    """Where a capture belongs below the root; a name that could lead elsewhere is refused."""
    partitions = {**asked.partitions, "date": f"{captured_at:%Y-%m-%d}"}
    for name in (asked.vendor, asked.data_type, *partitions, *partitions.values()):
        if not PART.fullmatch(name):
            raise CaptureError(
                f"{name!r} cannot name a folder. Nothing was written; use letters, digits, dots, - and _, a letter or "
                "digit first."
            )
    place = root / asked.vendor / f"type={asked.data_type}"
    for name, value in partitions.items():
        place /= f"{name}={value}"
    return place / f"captured_ts={to_micros(captured_at)}"


@dataclass(frozen=True)
class Answer:
    """What came of asking: the records as JSON texts, and whether they are all."""

    records: Sequence[str]
    captured_at: datetime
    complete: bool
    expected: int | None = None
    effective_at: datetime | None = None


def write_capture(root: Path, asked: Asked, answer: Answer, *, feed: Feed) -> Path:
    """Write a capture beside its place, the manifest last, and move it there whole."""
    target = folder_of(root, asked, answer.captured_at)
    refuse_clock(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    making = target.parent / f".{target.name}-{uuid.uuid4().hex[:8]}"
    making.mkdir()
    try:
        path = making / f"records.{asked.record_format}"
        write_records(path, answer.records)
        manifest = {
            "schema_version": 2,
            **{name: getattr(asked, name) for name in ("vendor", "dataset", "data_type", "capture_mode")},
            "record_format": asked.record_format,
            "complete": answer.complete and answer.expected in (None, len(answer.records)),
            "captured_at_us": to_micros(answer.captured_at),
            "vendor_effective_ts_us": to_micros(answer.effective_at) if answer.effective_at else None,
            "api_endpoint": asked.api_endpoint,
            "request_params": dict(asked.request_params),
            "record_count": len(answer.records),
            "expected_record_count": answer.expected,
            "records_content_sha256": content_sum((text for _, text in texts_in(path) if isinstance(text, str)), feed),
            "records_file_sha256": sum_of(path),
            "partitions": {**asked.partitions, "date": f"{answer.captured_at:%Y-%m-%d}"},
        }
        (making / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        making.rename(target)
    except OSError as error:
        raise CaptureError(f"{target} cannot be written ({error}). Nothing of it is there; capture it again.") from None
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return target


def refuse_clock(target: Path) -> None:
    """A capture never replaces another, and none is older than one that is there: then a clock went backwards."""
    series = target.parent.parent
    there = [int(path.name.partition("=")[2]) for path in series.glob("date=*/captured_ts=*")]
    newest, own = max(there, default=-1), int(target.name.partition("=")[2])
    if newest >= own:
        raise CaptureError(
            f"{series} has a capture of {from_micros(newest):%Y-%m-%dT%H:%M:%S.%fZ} already, and the clock of this "
            f"machine says {from_micros(own):%Y-%m-%dT%H:%M:%S.%fZ}. Nothing was written; set the clock, then capture "
            "again."
        )


def write_records(path: Path, records: Sequence[str]) -> None:
    if path.suffix == ".parquet":
        rows = [read_exactly(record) for record in records]
        names = list(dict.fromkeys(name for row in rows for name in row))
        pq.write_table(pa.table({name: as_column([row.get(name) for row in rows]) for name in names}), path)
        return
    # Without a time in its header the same records give the same bytes.
    with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        for record in records:
            packed.write(record.encode() + b"\n")


def as_column(values: Sequence[Any]) -> pa.Array:
    """Values of one exact type if they share one, else their text; no float ever touches a number."""
    plain = [written(value) if isinstance(value, list | dict) else value for value in values]
    digits = [value for value in plain if isinstance(value, Digits)]
    kind: type = int if all(value.lstrip("-").isdigit() for value in digits) else Decimal
    try:
        return pa.array([kind(value) if isinstance(value, Digits) else value for value in plain])
    except (pa.ArrowException, OverflowError):
        told = [value if value is None or type(value) is str else written(value) for value in plain]
        return pa.array(told, pa.string())
