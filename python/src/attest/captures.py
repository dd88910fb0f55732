"""Captures: what an API answered, kept as it came, in a folder of its own.

    <vendor>/type=<data type>/[<partition>=<value>/…]date=<day>/captured_ts=<microseconds>/
        _manifest.json            what the capture says of itself; written last
        records.jsonl.gz          the vendor's own records, or records.parquet

The first version of the format, a `.jsonl.gz` of envelopes without a manifest, is read too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attest.contract import CAPTURE_MODES, FULL, Feed
from attest.digits import canonical, read_exactly, written
from attest.errors import CaptureError, LandingError
from attest.formats import (
    BLANK,
    About,
    Format,
    Row,
    as_row,
    lines_of,
    parquet_records,
    refuse_escape,
    sum_of,
    text_of,
)
from attest.record import Read, known_fields, read_fields, read_json_object

MANIFEST = "_manifest.json"
RECORD_FORMATS = ("jsonl.gz", "parquet")
ENVELOPE = ("vendor", "dataset", "captured_at_us", "partitions", "request", "record")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# What a manifest must say, and what it may: the fields of section 3.2, in its order.
REQUIRED: dict[str, type] = {
    "schema_version": int,
    "vendor": str,
    "dataset": str,
    "data_type": str,
    "capture_mode": str,
    "record_format": str,
    "complete": bool,
    "captured_at_us": int,
    "api_endpoint": str,
    "request_params": dict,
    "record_count": int,
    "records_content_sha256": str,
    "records_file_sha256": str,
    "partitions": dict,
}
OPTIONAL: dict[str, type] = {"vendor_effective_ts_us": int, "expected_record_count": int}


@dataclass(frozen=True)
class Capture:
    """One capture, of either version, as far as it speaks of itself."""

    records: Path
    schema_version: int
    vendor: str
    dataset: str
    data_type: str
    capture_mode: str
    record_format: str
    complete: bool
    captured_at: datetime
    vendor_effective_at: datetime | None
    api_endpoint: str
    request_params: Mapping[str, Any]
    record_count: int | None
    expected_record_count: int | None
    content_sum: str | None
    file_sum: str
    partitions: Mapping[str, str]

    @property
    def effective_at(self) -> datetime:
        """From when on its records hold: as the vendor says, else when it answered. Never the start of a day."""
        return self.vendor_effective_at or self.captured_at

    @property
    def about(self) -> About:
        beside = {**self.partitions, "vendor": self.vendor}
        return {"schema_version": self.schema_version, "beside": beside, "may_be_empty": self.record_count == 0}

    def scope(self, feed: Feed) -> str | None:
        """Which part of the feed it covers, where the contract names the partition that says so."""
        name = feed.promised("scope_field")
        if name is None:
            return None
        if name not in self.partitions:
            raise CaptureError(
                f"{self.records}: the capture has no partition {name}, which {feed.name} promises as its scope. "
                "Nothing of it was landed; have it captured with that partition."
            )
        return self.partitions[name]


# Finding and reading them.


def find_captures(paths: Sequence[Path]) -> tuple[list[Capture], list[LandingError]]:
    """Every capture that is named, or lies in a folder that is, and what is wrong with the others."""
    captures: list[Capture] = []
    wrong: list[LandingError] = []
    for root in paths:
        for place in places(root):
            try:
                if root.is_dir():
                    refuse_escape(place, root=root)
                captures.append(read_capture(place))
            except LandingError as error:
                wrong.append(error)
            except OSError as error:
                wrong.append(
                    CaptureError(f"{place} cannot be read ({error}). Nothing of it was landed; land it again.")
                )
    return captures, wrong


def places(root: Path) -> list[Path]:
    """A folder for a capture with a manifest, or with records that lack theirs; a file for one of the first version."""
    if not root.is_dir():
        return [root.parent if root.name == MANIFEST or (root.parent / MANIFEST).exists() else root]
    found: list[Path] = []
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        if MANIFEST in names or any(name.startswith("captured_ts=") for name in [Path(place).name]):
            found.append(Path(place))
        else:
            found += [Path(place, name) for name in sorted(names) if name.endswith(".jsonl.gz") and name[0] not in "._"]
    return found


def read_capture(place: Path) -> Capture:
    if place.is_dir():
        envelopes = [file for file in sorted(place.glob("*.jsonl.gz")) if file.name[0] not in "._"]
        if (place / MANIFEST).exists() or len(envelopes) != 1:
            return read_manifest(place)
        return read_envelopes(envelopes[0])
    return read_envelopes(place)


def read_manifest(folder: Path) -> Capture:
    """The manifest, checked against what it says of the records and against the folder that it lies in."""
    path = folder / MANIFEST
    try:
        said = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise CaptureError(
            f"{folder} has no {MANIFEST}, so it was not finished. Nothing of it was landed; capture it again."
        ) from None
    except ValueError as error:
        raise CaptureError(f"{path} is no JSON ({error}). Nothing of it was landed; capture it again.") from None
    refuse_odd_manifest(path, said)
    records = folder / f"records.{said['record_format']}"
    if not records.exists():
        raise CaptureError(
            f"{path} speaks of {records.name}, which is not there. Nothing of it was landed; restore it, or capture it "
            "again."
        )
    refuse_escape(records, root=folder)
    refuse_other_place(path, said)
    file_sum = sum_of(records)
    if file_sum != said["records_file_sha256"]:
        raise CaptureError(
            f"{records} is not what its manifest says: the sum of its bytes is {file_sum}. Nothing of it was landed; "
            "restore the file, or capture it again."
        )
    return Capture(
        records=records,
        schema_version=2,
        **{name: said[name] for name in ("vendor", "dataset", "data_type", "capture_mode", "record_format")},
        **{name: said[name] for name in ("complete", "api_endpoint", "request_params", "record_count", "partitions")},
        captured_at=from_micros(said["captured_at_us"]),
        vendor_effective_at=from_micros(said.get("vendor_effective_ts_us")),
        expected_record_count=said.get("expected_record_count"),
        content_sum=said["records_content_sha256"],
        file_sum=file_sum,
    )


def refuse_odd_manifest(path: Path, said: Any) -> None:
    for problem in oddities(said):
        raise CaptureError(f"{path}: {problem}. Nothing of it was landed; mend the manifest, or capture it again.")


def oddities(said: Any) -> Iterator[str]:
    if not isinstance(said, dict) or said.get("schema_version") != 2:
        yield "is no JSON object with schema_version 2, the one version that has a manifest"
        return
    missing = [name for name in REQUIRED if said.get(name) is None]
    if missing:
        yield f"does not say {', '.join(missing)}"
    for name, kind in {**REQUIRED, **OPTIONAL}.items():
        value = said.get(name)
        if value is not None and (type(value) is not kind or (type(value) is int and not 0 <= value < 2**57)):
            yield f"{name} is {value!r}, which is no {kind.__name__} that it can be"
    for name, choices in (("capture_mode", CAPTURE_MODES), ("record_format", RECORD_FORMATS)):
        if said[name] not in choices:
            yield f"{name} is {said[name]!r}, not {' or '.join(choices)}"
    if not all(isinstance(value, str) for value in said["partitions"].values()):
        yield f"partitions are {said['partitions']!r}, not all of them text"


def refuse_other_place(path: Path, said: Mapping[str, Any]) -> None:
    """A capture that was copied into another's folder would speak for what it never asked about."""
    meant = {**said["partitions"], "type": said["data_type"], "captured_ts": str(said["captured_at_us"])}
    for name, _, value in (part.partition("=") for part in path.absolute().parent.parts if "=" in part):
        if name in meant and meant[name] != value:
            raise CaptureError(
                f"{path} says that {name} is {meant[name]}, and lies in {name}={value}. Nothing of it was landed; move "
                "the capture to where it belongs."
            )


def read_envelopes(path: Path) -> Capture:
    """The first version: each line repeats what its capture is, so all of them must agree."""
    first: dict[str, Any] | None = None
    for line, text in texts_in(path):
        envelope = envelope_of(path, line, text)
        facts = {name: member for name, member in envelope.items() if name != "record"}
        first = first or facts
        if facts != first:
            raise CaptureError(
                f"{path}, line {line} is of another capture than line 1. Nothing of it was landed; have each written "
                "to a file of its own."
            )
    if first is None:
        raise CaptureError(f"{path} holds no envelope. Nothing of it was landed; capture it again.")
    return Capture(
        records=path,
        schema_version=1,
        **{name: first[name] for name in ("vendor", "dataset", "partitions")},
        data_type=first["dataset"],
        capture_mode=FULL,
        record_format="jsonl.gz",
        complete=False,
        captured_at=from_micros(first["captured_at_us"]),
        vendor_effective_at=from_micros(first.get("snapshot_ts_us")),
        api_endpoint="",
        request_params=first["request"] if isinstance(first["request"], dict) else {},
        record_count=None,
        expected_record_count=None,
        content_sum=None,
        file_sum=sum_of(path),
    )


def envelope_of(path: Path, line: int, text: str | Row) -> dict[str, Any]:
    try:
        envelope = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        envelope = None
    if not isinstance(envelope, dict) or envelope.get("schema_version") != 1 or not set(ENVELOPE) <= envelope.keys():
        raise CaptureError(
            f"{path}, line {line} is no envelope of a capture: schema_version 1 and {', '.join(ENVELOPE)}. Nothing of "
            f"it was landed; a capture without envelopes needs its {MANIFEST} beside it, and what is no capture is "
            "landed by a feed whose format is jsonl."
        )
    return envelope


def from_micros(micros: int | None) -> Any:
    return None if micros is None else EPOCH + timedelta(microseconds=micros)


def to_micros(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


# Its records, as a format like any other.


def read_captured(path: Path, feed: Feed, about: About) -> Iterator[Row]:
    for line, text in texts_in(path):
        yield text if isinstance(text, Row) else read_again(line, text, feed, about)


def texts_in(path: Path) -> Iterator[tuple[int, str | Row]]:
    """Each record as landing keeps it: a line as it stands, a row of Parquet as JSON of its values' text."""
    if path.suffix == ".parquet":
        yield from enumerate(parquet_records(path), start=1)
        return
    for line, raw in lines_of(path):
        if raw.strip(BLANK):
            yield line, text_of(line, raw.removesuffix(b"\n"))


def read_again(line: int, record: str, feed: Feed, about: About) -> Row:
    return as_row(line, record, lambda: read_beside(record, feed, about))


def read_beside(record: str, feed: Feed, about: About) -> Read:
    """A record, with what its capture says of all of them where it does not say so itself and the contract asks."""
    inner = record if about["schema_version"] == 2 else record_in(record)
    fields = read_json_object(inner, only=known_fields(feed))
    beside = {name: value for name, value in about["beside"].items() if name in feed.fields}
    return read_fields({**beside, **fields}, feed)


def record_in(envelope: str) -> str:
    """The record of an envelope, digit by digit as it stands there."""
    members = read_exactly(envelope)
    return written(members["record"])


CAPTURE = Format(read_captured, read_again)


# The sum of its content: the same records have the same, however they are packed and in whichever order they came.


def content_sum(records: Iterable[str], feed: Feed) -> str:
    """Section 3.5: records as canonical JSON, ordered by their key, a line each."""
    lines = sorted(canonical_line(record, feed) for record in records)
    digest = hashlib.sha256()
    for number_of_line, (_, line) in enumerate(lines):
        digest.update(b"\n" if number_of_line else b"")
        digest.update(line.encode())
    return digest.hexdigest()


def canonical_line(record: str, feed: Feed) -> tuple[list[str], str]:
    try:
        members = read_exactly(record)
    except (ValueError, RecursionError):
        return [], record
    if not isinstance(members, dict):
        return [], record
    key = [str(members.get(name, "")) for name in feed.key_fields]
    return key, written(canonical(members))


def verified(capture: Capture, feed: Feed) -> Iterator[Row]:
    """Its rows; at their end, that they are as many as the manifest says, and those that it summed."""
    records: list[str] = []
    for row in read_captured(capture.records, feed, capture.about):
        records.append(row.record)
        yield row
    if len(records) != capture.record_count:
        raise CaptureError(
            f"{capture.records} holds {len(records)} records, its manifest says {capture.record_count}. Nothing of it "
            "was landed; capture it again."
        )
    summed = content_sum(map(record_in, records) if capture.schema_version == 1 else records, feed)
    if summed != capture.content_sum:
        raise CaptureError(
            f"{capture.records} does not hold the records that its manifest summed: theirs is {summed}. Nothing of "
            "it was landed; capture it again."
        )


def with_sums(capture: Capture, feed: Feed) -> Capture:
    """The capture with what the first version of the format does not tell: how many records, and their sum."""
    if capture.schema_version == 2:
        return capture
    records = [record_in(text) for _, text in texts_in(capture.records) if isinstance(text, str)]
    return replace(capture, record_count=len(records), content_sum=content_sum(records, feed))
