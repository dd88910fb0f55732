"""One received record, read once: its fields as text, its technical values typed, or why it cannot be read.

A record that breaks its contract is not dropped: it lands with a reason, in quarantine.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, tzinfo
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any, NamedTuple

from attest.contract import Feed
from attest.values import NUMBER, is_value, on_grid

# ASCII digits only: other scripts' digits pass for \d, and Spark cannot cast them.
TIME = re.compile(
    r"(?P<upto>[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ](?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,6})?)?)"
    r"(?:(?<=[.,][0-9]{6})(?P<finer>[0-9]{1,12}))?"
    r" *(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-5][0-9])?)?"
)
FINER_DIGITS = 12
SEQUENCE_WHOLE, SEQUENCE_SCALE = 28, 10
SEQUENCE_GRID = Decimal(1).scaleb(-SEQUENCE_SCALE)
LOSSLESS = Context(prec=SEQUENCE_WHOLE + SEQUENCE_SCALE, traps=[Inexact, InvalidOperation])
# Law E4: sequences compare as what the contract says they are, a log position part by part.
SEQUENCES = {
    "number": NUMBER,
    "parts": re.compile(r"[0-9]+([.:/-][0-9]+)*"),
    "lsn": re.compile(r"[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}"),
}
MEANT = {
    "number": "a number",
    "parts": "whole numbers with . : / or - between them",
    "lsn": "a PostgreSQL log position such as 0/16B3748",
}
RANK = re.compile(r"-?[0-9]{1,9}")
CHOICES = {"is_deleted": (None, "true", "false"), "load_type": (None, "FULL", "PARTIAL")}
REASONS = {"is_deleted": "unreadable_flag", "load_type": "unreadable_load_type"}
JSON_SPACE = " \t\r\n"
SHOWN = 60
ACCEPTED, QUARANTINED, NOTICE, HELD = "accepted", "quarantined", "notice", "held"
UNCHANGED = "__debezium_unavailable_value"
EPOCH = re.compile(r"[+-]?[0-9]{8,}([.][0-9]*)?")
# Fields that speak of the record itself, and of no attribute of the entity.
TECHNICAL = frozenset(
    ("source_system", "ingest_ts", "precedence_rank", "load_type", "is_deleted", "source_file", "ingest_run_id")
)


class UnreadableError(Exception):
    """Why a record is in quarantine: a code to count by, and what to do about it."""

    status = QUARANTINED

    def __init__(self, reason: str, detail: str, read: Read | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.read = read


class NoticeError(UnreadableError):
    """A record that is as it should be and speaks of no entity, such as a tombstone: kept, and counted apart."""

    status = NOTICE


class HeldError(UnreadableError):
    """A record that only a person can decide on, such as a truncate; it has its time and place, and no key."""

    status = HELD


class Instant(NamedTuple):
    """A time to the microsecond, and the digits that go beyond."""

    at: datetime
    finer: int


class Read(NamedTuple):
    fields: dict[str, str | None]
    source_event_ts: datetime | None
    source_event_finer: int
    source_sequence: list[Decimal] | None
    ingest_ts: datetime | None
    expires_at: datetime | None = None


def read_record(text: str, feed: Feed) -> Read:
    """The record under its feed's contract; UnreadableError where it breaks it."""
    return read_fields(read_json_object(text, only=known_fields(feed)), feed)


def known_fields(feed: Feed) -> frozenset[str] | None:
    """The fields to read, where the contract says that others stay in the record, unread."""
    return feed.fields if feed.promised("unknown_fields") == "kept" else None


def read_fields(fields: dict[str, str | None], feed: Feed) -> Read:
    """A record's fields under its feed's contract, whatever format they were written in."""
    known = known_fields(feed)
    if known is not None:
        fields = {name: text for name, text in fields.items() if name in known}
    refuse_unknown_or_missing(fields, feed)
    source_time = read_source_time(fields, feed)
    arrival = read_time(fields, "ingest_ts", feed.time_zone)
    refuse_odd_choices(fields)
    sequence = read_sequence(fields, feed)
    expiry = read_expiry(fields, feed, source_time)
    interpret(fields, feed)
    refuse_odd_values(fields, feed)
    return Read(
        fields,
        source_time.at if source_time else None,
        source_time.finer if source_time else 0,
        sequence,
        arrival.at if arrival else None,
        expiry.at if expiry else None,
    )


def read_place(fields: dict[str, str | None], feed: Feed) -> Read:
    """The time and the sequence of a record that is about no one entity."""
    source_time = read_source_time(fields, feed)
    at, finer = source_time or (None, 0)
    return Read(fields, at, finer, read_sequence(fields, feed), None)


def read_expiry(fields: dict[str, str | None], feed: Feed, source_time: Instant | None) -> Instant | None:
    """Until when the record counts, where its contract says that it must end."""
    name = feed.promised("expiry_field")
    expiry = read_time(fields, name, feed.time_zone) if name else None
    if expiry is not None and source_time is not None and expiry.at <= source_time.at:
        raise UnreadableError(
            "expired_before_it_began",
            f"{name} is {shown(fields.get(name or ''))}, no later than {feed.source_time_field}: have it corrected",
        )
    return expiry


def read_source_time(fields: dict[str, str | None], feed: Feed) -> Instant | None:
    """The record's own time; where the contract promises none, one that cannot be read is no fault of the record."""
    name = feed.source_time_field
    if name is None or feed.promised("source_time") == "as_of":
        return None
    if feed.promised("source_time") is None:
        try:
            return read_time(fields, name, feed.time_zone)
        except UnreadableError:
            return None
    source_time = read_time(fields, name, feed.time_zone)
    if source_time is None:
        raise UnreadableError("missing_source_time", f"{name} is missing or blank: have the source send it")
    return source_time


def interpret(fields: dict[str, str | None], feed: Feed) -> None:
    """Read the fields as the contract says they are meant; the record itself stays as it came.

    Law B5: no text means null unless the contract says so. Law E3: absent is unmentioned
    unless it means null. Law B3: blanking is no delete unless it means one.
    """
    nulls, omits = feed.all_promised("null_text"), feed.promised("omitted_fields") == "null"
    blanks = "blank" in feed.all_promised("deletes")
    attributes: frozenset[str] = frozenset()
    if nulls or omits or blanks:
        technical = {*feed.key_fields, *feed.required_fields, feed.source_time_field, feed.sequence_field}
        attributes = feed.fields - TECHNICAL - technical
    if nulls:
        for name in attributes & fields.keys():
            if (fields[name] or "").strip(" ") in nulls:
                fields[name] = None
    for name, of in feed.types.items():
        text = fields.get(name)
        if text is not None:
            fields[name] = on_grid(text, of)
    if omits and fields.get("load_type") != "PARTIAL":
        fields.update(dict.fromkeys(attributes - fields.keys()))
    if blanks:
        spoken = [fields[name] for name in attributes & fields.keys()]
        if spoken and all(is_blank(text) for text in spoken):
            fields["is_deleted"] = "true"


def refuse_unknown_or_missing(fields: dict[str, str | None], feed: Feed) -> None:
    if not feed.fields.issuperset(fields):
        unknown = min(fields.keys() - feed.fields)
        raise UnreadableError(
            "unknown_field",
            f"the contract of feed {feed.name} has no field {shown(unknown)}: add it to seeds/feeds.csv, "
            "or have the source leave it out",
        )
    for name in feed.key_fields:
        if is_blank(fields.get(name)):
            raise UnreadableError(
                "missing_key", f"{name} is missing or blank, so no entity is named: have the source send it"
            )
    for name in feed.required_fields:
        if is_blank(fields.get(name)):
            raise UnreadableError(
                "missing_field", f"{name} is missing or blank, and the contract promises it: have the source send it"
            )
    maker, checker = (fields.get(feed.promised(who) or "") for who in ("maker_field", "checker_field"))
    if maker is not None and checker is not None and maker.strip().casefold() == checker.strip().casefold():
        raise UnreadableError(
            "same_person",
            f"{feed.promised('checker_field')} is {shown(checker)}, who is {feed.promised('maker_field')} too: "
            "have someone else review it",
        )
    if "source_system" in feed.fields and is_blank(fields.get("source_system")):
        raise UnreadableError(
            "missing_source", "source_system is missing or blank, so nobody says this: have the source send its name"
        )


def refuse_odd_choices(fields: dict[str, str | None]) -> None:
    """Null is as good as absent: neither chooses anything."""
    for name, choices in CHOICES.items():
        if fields.get(name) not in choices:
            wanted = " or ".join(choice for choice in choices if choice)
            raise UnreadableError(
                REASONS[name], f"{name} is {shown(fields[name])}: have the source send {wanted}, or leave it out"
            )
    rank = fields.get("precedence_rank")
    if rank is not None and not RANK.fullmatch(rank):
        raise UnreadableError(
            "unreadable_rank",
            f"precedence_rank is {shown(rank)}: have the source send a whole number of at most 9 digits, "
            "or leave it out",
        )


def refuse_odd_values(fields: dict[str, str | None], feed: Feed) -> None:
    """What is not of its type would stop the mapping, and with it every record beside it."""
    for name, of in feed.types.items():
        text = fields.get(name)
        if text is not None and text != UNCHANGED and not is_value(text, of):
            raise UnreadableError(
                "unreadable_value",
                f"{name} is {shown(text)}, no {of}: have the source send one, null or nothing, "
                "or correct its type in seeds/feeds.csv",
            )


def is_blank(text: str | None) -> bool:
    return text is None or not text.strip(" ")


def shown(text: str | None) -> str:
    """A value as a message quotes it: enough to find it by, however long it is."""
    return repr(text) if text is None or len(text) <= SHOWN else f"{text[:SHOWN]!r}…"


def object_in(text: str, decoder: json.JSONDecoder) -> dict[str, Any]:
    """The one JSON object that a text is, with its numbers as the decoder gives them."""
    inner = text.strip(JSON_SPACE)
    try:
        value, end = decoder.raw_decode(inner)
        if end < len(inner):
            raise json.JSONDecodeError("text after the end", inner, end)
    except json.JSONDecodeError as error:
        raise UnreadableError(
            "malformed_record",
            f"is not JSON at character {error.pos + 1} ({error.msg}): have the source send it again, whole",
        ) from None
    except RecursionError:
        raise UnreadableError(
            "malformed_record", "is nested too deeply to be read: have the source send one flat {…}"
        ) from None
    if not isinstance(value, dict):
        raise UnreadableError("malformed_record", "is JSON but no object: have the source send one {…} a line")
    return value


def read_json_object(text: str, *, only: frozenset[str] | None = None) -> dict[str, str | None]:
    """A JSON object's members as text: digits as they were written, true and false by name, null as None.

    `only` names those to read, whatever the others hold.
    """
    value = object_in(text, DECODER)
    members: dict[str, Any] = value if only is None else {name: value[name] for name in value if name in only}
    fields: dict[str, str | None] = members
    for name, member in members.items():
        if member.__class__ is str or member is None:
            continue
        if member is True or member is False:
            fields[name] = "true" if member else "false"
        else:
            raise UnreadableError(
                "nested_value",
                f"{shown(name)} holds a list or an object: have the source send one value, or the JSON as text",
            )
    if "\\u" in text:
        refuse_half_characters(fields)
    return fields


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise UnreadableError(
            "repeated_field",
            f"says {shown(repeated)} twice, so which one counts cannot be known: have the source send it once",
        )
    return members


def refuse_constant(name: str) -> None:
    raise UnreadableError(
        "malformed_record", f"holds {name}, which JSON does not have: have the source send null, or leave it out"
    )


def refuse_half_characters(fields: dict[str, str | None]) -> None:
    """An escaped half of a surrogate pair is no character, and no table can hold it."""
    for name, member in fields.items():
        try:
            name.encode()
            (member or "").encode()
        except UnicodeEncodeError:
            raise UnreadableError(
                "malformed_record",
                f"{shown(name)} holds half of a surrogate pair, which is no character: have the source send whole ones",
            ) from None


# Numbers stay the digits that were written; no float ever touches them.
DECODER = json.JSONDecoder(
    object_pairs_hook=without_repeats, parse_int=str, parse_float=str, parse_constant=refuse_constant
)


def read_time(fields: dict[str, str | None], name: str, zone: tzinfo | None) -> Instant | None:
    """An ISO-8601 time in UTC; one without a zone takes the contract's.

    Where clocks go back, an hour happens twice and the first is meant; where they go forward, an
    hour never happens, and a time in it shows that the contract names the wrong zone.
    """
    text = fields.get(name)
    if text is None or is_blank(text):
        return None
    match = TIME.fullmatch(text.strip(" "))
    if match is None and EPOCH.fullmatch(text.strip(" ")):
        raise UnreadableError(
            "time_without_unit",
            f"{name} is {shown(text)}, a bare number: nobody can tell seconds from milliseconds, so have the source "
            "send it like 2026-03-01T09:00:00Z",
        )
    if match is None:
        raise UnreadableError(
            "unparsable_time",
            f"{name} is {shown(text)}: have the source send it like 2026-03-01T09:00:00Z, "
            "with at most 18 digits after the second",
        )
    upto, finer, written = match.groups()
    try:
        if written:
            at = datetime.fromisoformat(upto + written.upper())
            at = at if at.tzinfo is UTC else at.astimezone(UTC)
        else:
            at = in_zone(datetime.fromisoformat(upto), zone, f"{name} is {shown(text)}")
    except (ValueError, OverflowError) as error:
        raise UnreadableError(
            "unparsable_time", f"{name} is {shown(text)}, which no calendar has ({error}): have the source correct it"
        ) from None
    return Instant(at, int(finer.ljust(FINER_DIGITS, "0")) if finer else 0)


def in_zone(local: datetime, zone: tzinfo | None, said: str) -> datetime:
    if zone is None:
        raise UnreadableError(
            "no_time_zone", f"{said}, without a zone, and the contract names none: set its time_zone in seeds/feeds.csv"
        )
    at = local.replace(tzinfo=zone).astimezone(UTC)
    if at.astimezone(zone).replace(tzinfo=None) != local:
        raise UnreadableError(
            "unparsable_time",
            f"{said}, an hour that the clocks of {zone} skip: correct the contract's time_zone in seeds/feeds.csv, "
            "or have the source send the offset",
        )
    return at


def read_sequence(fields: dict[str, str | None], feed: Feed) -> list[Decimal] | None:
    """A sequence as the numbers that it compares by, part by part; one that is not promised orders nothing."""
    name, kind = feed.sequence_field, feed.promised("sequence")
    text = fields.get(name) if name and kind else None
    if text is None or is_blank(text):
        return None
    text = text.strip(" ")
    parts = text.split("/") if kind == "parts" else [text]
    if kind != "lsn" and all(len(one) <= SEQUENCE_WHOLE and one.isascii() and one.isdigit() for one in parts):
        return [Decimal(one) for one in parts]
    if not SEQUENCES[kind or ""].fullmatch(text):
        raise UnreadableError(
            "unparsable_sequence",
            f"{name} is {shown(text)}, and the contract promises {MEANT[kind or '']}: have the source send one, "
            "or correct the promise in seeds/promises.csv",
        )
    if kind == "lsn":
        return [Decimal(int(part, 16)) for part in text.split("/")]
    try:
        return [fitted(part) for part in (re.split(r"[^0-9]", text) if kind == "parts" else [text])]
    except (Inexact, InvalidOperation):
        raise UnreadableError(
            "unparsable_sequence",
            f"{name} is {shown(text)}, more than {SEQUENCE_WHOLE} digits before the point "
            f"or {SEQUENCE_SCALE} after it: have the source send fewer",
        ) from None


def fitted(number: str) -> Decimal:
    return Decimal(number).quantize(SEQUENCE_GRID, context=LOSSLESS)
