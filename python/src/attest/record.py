"""One received record, read once: its fields as text, its technical values typed, or why it cannot be read.

A record that breaks its contract is not dropped: it lands with a reason, in quarantine.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any

from attest.contract import Feed

TIME = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})[T ](?P<clock>\d{2}:\d{2}(?::\d{2})?)"
    r"(?:[.,](?P<fraction>\d{1,18}))?\s*(?P<zone>Z|z|[+-]\d{2}:?\d{2})?"
)
FINER_DIGITS = 12
SEQUENCE_LIMIT = Decimal(10) ** 28


class UnreadableError(Exception):
    """Why a record is in quarantine: a code to count by, and what to do about it."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class Instant:
    """A time to the microsecond, and the digits that go beyond."""

    at: datetime
    finer: int


@dataclass(frozen=True)
class Read:
    fields: dict[str, str | None]
    source_event_ts: datetime
    source_event_finer: int
    source_sequence: list[Decimal] | None
    ingest_ts: datetime | None


def read_record(text: str, feed: Feed) -> Read:
    """The record under its feed's contract; UnreadableError where it breaks it."""
    fields = read_json_object(text)
    unknown = sorted(fields.keys() - feed.fields)
    if unknown:
        raise UnreadableError(
            "unknown_field",
            f"the contract of feed {feed.name} has no field {unknown[0]!r}: add it to seeds/feeds.csv, "
            "or have the source leave it out",
        )
    if not (fields.get(feed.key_field) or "").strip(" "):
        raise UnreadableError("missing_key", f"{feed.key_field} is missing or empty: no entity can be named")
    source_time = read_time(fields, feed.source_time_field, feed.time_zone)
    if source_time is None:
        raise UnreadableError("missing_source_time", f"{feed.source_time_field} is missing: have the source send it")
    arrival = read_time(fields, "ingest_ts", feed.time_zone) if "ingest_ts" in feed.fields else None
    for flag in ("is_deleted",):
        if fields.get(flag) not in (None, "true", "false"):
            raise UnreadableError("unreadable_flag", f"{flag} is {fields[flag]!r}: it takes true or false")
    if not re.fullmatch(r"-?\d{1,9}", fields.get("precedence_rank") or "0"):
        raise UnreadableError("unreadable_rank", f"precedence_rank is {fields['precedence_rank']!r}: no whole number")
    return Read(
        fields=fields,
        source_event_ts=source_time.at,
        source_event_finer=source_time.finer,
        source_sequence=read_sequence(fields, feed.sequence_field),
        ingest_ts=arrival.at if arrival else None,
    )


def read_json_object(text: str) -> dict[str, str | None]:
    """A JSON object's members as text: exact digits, nested values as JSON, null as None."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=without_repeats,
            parse_int=Digits,
            parse_float=Digits,
            parse_constant=refuse_constant,
        )
    except ValueError as error:
        raise UnreadableError("malformed_record", f"is not JSON ({error}): have the source send it again") from None
    except RecursionError:
        raise UnreadableError("malformed_record", "is nested too deeply to be read") from None
    if not isinstance(value, dict):
        raise UnreadableError("malformed_record", "is JSON but no object: each line holds one {…}")
    fields = {name: as_text(name, member) for name, member in value.items()}
    try:
        "".join([*fields, *[member for member in fields.values() if member is not None]]).encode()
    except UnicodeEncodeError:
        raise UnreadableError("malformed_record", "holds half of a surrogate pair, which is no character") from None
    return fields


class Digits(str):
    """A JSON number as its digits were written; no float ever touches it."""

    __slots__ = ()


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise UnreadableError("repeated_field", f"says {repeated!r} twice: which one counts cannot be known")
    return members


def refuse_constant(name: str) -> None:
    raise UnreadableError("malformed_record", f"holds {name}, which JSON does not have")


def as_text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    raise UnreadableError("nested_value", f"{name!r} holds a list or an object where one value is expected")


def read_time(fields: dict[str, str | None], name: str, zone: tzinfo | None) -> Instant | None:
    """An ISO-8601 time in UTC; one without a zone takes the contract's."""
    text = fields.get(name)
    if text is None or not text.strip(" "):
        return None
    match = TIME.fullmatch(text.strip(" "))
    if match is None:
        raise UnreadableError("unparsable_time", f"{name} is {text!r}: write it like 2026-03-01T09:00:00Z")
    try:
        local = datetime.fromisoformat(f"{match['date']}T{match['clock']}")
        written = match["zone"]
        at = local.replace(tzinfo=offset(written) if written else zone)
        if at.tzinfo is None:
            raise UnreadableError(
                "no_time_zone", f"{name} is {text!r}, without a zone, and the contract names none: set its time_zone"
            )
        digits = (match["fraction"] or "").ljust(6 + FINER_DIGITS, "0")
        at = at.astimezone(UTC) + timedelta(microseconds=int(digits[:6]))
    except (ValueError, OverflowError) as error:
        raise UnreadableError("unparsable_time", f"{name} is {text!r}: {error}") from None
    return Instant(at, int(digits[6:]))


def offset(written: str) -> timezone:
    if written in "Zz":
        return UTC
    hours, minutes = int(written[1:3]), int(written[-2:])
    return timezone((timedelta(hours=hours, minutes=minutes)) * (-1 if written[0] == "-" else 1))


def read_sequence(fields: dict[str, str | None], name: str | None) -> list[Decimal] | None:
    """A sequence as the numbers that it compares by, part by part."""
    text = fields.get(name) if name else None
    if text is None or not text.strip(" "):
        return None
    try:
        number = Decimal(text.strip(" "))
    except InvalidOperation:
        raise UnreadableError("unparsable_sequence", f"{name} is {text!r}: the contract says it is a number") from None
    if not number.is_finite() or abs(number) >= SEQUENCE_LIMIT or number != round(number, 10):
        raise UnreadableError("unparsable_sequence", f"{name} is {text!r}: more digits than 28 before and 10 after")
    return [number]
