"""The values of a Debezium event, each read by its schema.

The same number is a count, a date or microseconds, and the same text a name or a decimal: only the schema tells.
An event that brings none is read by the one that its contract names, or not at all.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from binascii import Error as NoBase64Error
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from attest.contract import Feed
from attest.digits import Digits, compact
from attest.record import UNCHANGED, UnreadableError, refuse_constant, shown

Decoder = Callable[[Any], str | None]
EPOCH = datetime(1970, 1, 1)  # a database's timestamp has no zone
FIRST_DAY = date(1970, 1, 1).toordinal()
# What PostgreSQL's driver gives for a timestamp that is infinite.
INFINITE = {9223372036825200000: "infinity", -9223372036832400000: "-infinity"}
DECODER = json.JSONDecoder(parse_float=Digits, parse_constant=refuse_constant)


class Shape(NamedTuple):
    """What a schema says of a row: how to read each column, and how to know it again."""

    decoders: Mapping[str, Decoder]
    defaults: Mapping[str, Any]
    fingerprint: str
    columns: Mapping[str, str]


def decode(row: Mapping[str, Any], shape: Shape, unchanged: frozenset[str]) -> dict[str, str | None]:
    decoders = shape.decoders
    fields: dict[str, str | None] = {}
    for name, value in row.items():
        if value is None:
            fields[name] = None
        elif value.__class__ is str and value in unchanged:
            fields[name] = UNCHANGED
        elif name in decoders:
            try:
                fields[name] = decoders[name](value)
            except (ValueError, TypeError, KeyError, OverflowError, NoBase64Error):
                if compact(value) in unchanged:
                    fields[name] = UNCHANGED
                    continue
                raise UnreadableError(
                    "unreadable_value",
                    f"{name} is {shown(compact(value))}, which its schema calls {shape.columns[name]}: "
                    "see that the event and its schema belong together",
                ) from None
        elif value.__class__ is str:
            fields[name] = value
        elif value is True or value is False:
            fields[name] = "true" if value else "false"
        elif isinstance(value, (dict, list)):
            text = compact(value)
            fields[name] = UNCHANGED if text in unchanged else text
        else:
            fields[name] = str(value)
    return fields


@lru_cache
def placeholders(text: str) -> frozenset[str]:
    """Every form in which a connector says "unchanged": as the text, as bytes, in an array, in a map."""
    raw = text.encode()
    forms: tuple[Any, ...] = ([text], list(raw), {text: text})
    return frozenset((text, b64encode(raw).decode(), raw.hex(), raw.hex().upper(), *map(compact, forms)))


def decimal(unscaled: str, scale: int) -> str:
    """Big-endian two's complement in base64, and the scale that only the schema knows."""
    number = int.from_bytes(b64decode(unscaled, validate=True), "big", signed=True)
    if scale <= 0:
        return str(number * 10**-scale)
    digits = str(abs(number)).rjust(scale + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"


def variable_decimal(value: dict[str, Any]) -> str:
    return decimal(value["value"], value["scale"])


def day(count: int) -> str:
    return date.fromordinal(FIRST_DAY + count).isoformat()


def timestamp(count: int, per_second: int) -> str:
    """A time without a zone; it keeps the digits that its type has."""
    if count in INFINITE:
        return INFINITE[count]
    seconds, rest = divmod(count, per_second)
    return f"{second(seconds)}{fraction(rest, per_second)}"


@lru_cache(maxsize=10_000)
def second(count: int) -> str:
    return (EPOCH + timedelta(seconds=count)).isoformat()


def time_of_day(count: int, per_second: int) -> str:
    seconds, rest = divmod(count, per_second)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction(rest, per_second)}"


def fraction(rest: int, per_second: int) -> str:
    return f".{per_second + rest}".replace(".1", ".", 1) if rest else ""


def per(reader: Callable[[int, int], str], per_second: int) -> Decoder:
    return lambda count: reader(count, per_second)


MEANT: Mapping[str, Decoder] = {
    "io.debezium.data.VariableScaleDecimal": variable_decimal,
    "io.debezium.time.Date": day,
    "org.apache.kafka.connect.data.Date": day,
    "io.debezium.time.Timestamp": per(timestamp, 10**3),
    "io.debezium.time.MicroTimestamp": per(timestamp, 10**6),
    "io.debezium.time.NanoTimestamp": per(timestamp, 10**9),
    "org.apache.kafka.connect.data.Timestamp": per(timestamp, 10**3),
    "io.debezium.time.Time": per(time_of_day, 10**3),
    "io.debezium.time.MicroTime": per(time_of_day, 10**6),
    "io.debezium.time.NanoTime": per(time_of_day, 10**9),
    "org.apache.kafka.connect.data.Time": per(time_of_day, 10**3),
}
DECIMAL = "org.apache.kafka.connect.data.Decimal"


def decoder_of(column: dict[str, Any]) -> Decoder | None:
    """How a column's values are read; None where they mean what they say."""
    name = column.get("name")
    if name == DECIMAL:
        scale = int(column["parameters"]["scale"])
        return lambda value: decimal(value, scale)
    return MEANT.get(str(name))


def shape_of(schema: str | None, side: str, feed: Feed) -> Shape:
    """What the event's schema says of its row, or else the schema that the contract names."""
    found = schema or feed.event_schema
    if found is None:
        raise UnreadableError(
            "no_schema",
            "brings no schema, so nobody can tell its dates from its numbers: have the connector send schemas "
            "(schemas.enable), or promise event_schema in seeds/promises.csv",
        )
    return shape_in(found, side)


@lru_cache(maxsize=1000)
def shape_in(schema: str, side: str) -> Shape:
    """The shape of one side of an envelope; of a schema that is no envelope's, its own."""
    try:
        parsed = DECODER.decode(schema)
        sides = [one for one in parsed["fields"] if one.get("field") == side and one.get("type") == "struct"]
        fields = sides[0]["fields"] if sides else parsed["fields"]
        columns = {one["field"]: describe(one) for one in fields}
        decoders = {one["field"]: decoder for one in fields if (decoder := decoder_of(one)) is not None}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UnreadableError(
            "no_schema",
            f"brings {shown(schema)} for a schema, which lists no fields: use the connector's JSON converter, "
            "or promise event_schema in seeds/promises.csv",
        ) from None
    defaults = {
        one["field"]: one["default"] for one in fields if one.get("optional") and one.get("default") is not None
    }
    told = json.dumps(columns, sort_keys=True).encode()
    fingerprint = hashlib.sha256(told).hexdigest()[:16]
    COLUMNS[fingerprint] = columns
    return Shape(decoders, defaults, fingerprint, columns)


COLUMNS: dict[str, Mapping[str, str]] = {}


def columns_of(fingerprint: str) -> Mapping[str, str]:
    """The columns, and their types, of a schema that this process has read."""
    return COLUMNS[fingerprint]


def what_changed(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    added = [f"{name} is new ({after[name]})" for name in after if name not in before]
    gone = [f"{name} is gone" for name in before if name not in after]
    altered = [
        f"{name} was {before[name]} and is {after[name]}"
        for name in after
        if before.get(name, after[name]) != after[name]
    ]
    return ", ".join(added + gone + altered)


def describe(column: dict[str, Any]) -> str:
    """A column's type in one line; what differs here is another schema."""
    words = [str(column.get("name") or column.get("type")).rpartition(".")[2]]
    words += [f"{name}={value}" for name, value in sorted((column.get("parameters") or {}).items())]
    words += ["optional"] if column.get("optional") else []
    words += (
        [f"default={json.dumps(column['default'], ensure_ascii=False)}"] if column.get("default") is not None else []
    )
    return " ".join(words)


def taken_defaults(row: Mapping[str, Any], shape: Shape) -> str:
    """Columns that may be null and hold their default, which stands for null unless the contract promises otherwise."""
    return " ".join(name for name, default in shape.defaults.items() if row.get(name) == default)
