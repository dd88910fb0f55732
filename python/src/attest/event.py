"""One Debezium change event as the fields of a record: the row that it shows, and what the log says of the change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from attest.contract import COMMITTED_AT, DEFAULTED, MOVED_FROM, OP, POSITION, SCHEMA, SNAPSHOT, Feed
from attest.digits import compact
from attest.event_values import DECODER, Shape, decode, placeholders, shape_in, shape_of, taken_defaults, timestamp
from attest.record import (
    UNCHANGED,
    HeldError,
    NoticeError,
    UnreadableError,
    object_in,
    read_place,
    refuse_half_characters,
    shown,
)

NOWHERE = 10**27  # law E4, nulls last: beyond every position in a log
SEQUENCE = re.compile(r' *\[ *(?:null|"([0-9]+)") *, *(?:null|"([0-9]+)") *\] *')
LAST_DIGITS = re.compile(r"[0-9]+$")


def read_event(text: str, feed: Feed) -> dict[str, str | None]:
    """The fields of the row that an event shows; NoticeError or HeldError where it shows none."""
    key, value, headers = unwrap(parse(text))
    if value.payload is None:
        raise NoticeError("tombstone", "ends the messages of a key: the delete before it says all")
    payload = value.payload
    refuse_what_is_no_change(payload)
    source = payload.get("source")
    if not isinstance(source, dict):
        raise UnreadableError(
            "malformed_event", "has no source, so nobody knows where and when it happened: land the whole envelope"
        )
    table = f"{source.get('schema') or source.get('db')}.{source.get('table')}"
    if table != feed.promised("table"):
        raise NoticeError("other_table", f"is about {shown(table)}, and {feed.name} is {feed.promised('table')}")
    op = payload["op"]
    if op == "t":
        log: dict[str, str | None] = {}
        add_log(log, payload, source, feed)
        remedy = f"{table} was emptied: a person must say whether all of it is gone (docs/stream.md)"
        raise HeldError("truncate", remedy, read_place(log, feed))
    row, side = image(payload, op, feed)
    shape = shape_of(value.schema, side, feed)
    fields = decode(row, shape, placeholders(feed.promised("unchanged_text") or UNCHANGED))
    add_key(fields, key, shape, feed)
    add_log(fields, payload, source, feed)
    fields[SCHEMA] = shape.fingerprint
    defaulted = taken_defaults(row, shape) if op != "d" and feed.promised("nulls") is None else ""
    if defaulted:
        fields[DEFAULTED] = defaulted
    old = headers.get("__debezium.oldkey") if op == "c" else None
    if old is not None:
        fields[MOVED_FROM] = moved_from(old, key, shape, feed)
    if "\\u" in text:
        refuse_half_characters(fields)
    return fields


# The envelope.


class Part(NamedTuple):
    """A key or a value of a message: what it says, and the schema that came along, if any."""

    payload: Any
    schema: str | None


NO_PART = Part(None, None)


def unwrap(root: dict[str, Any]) -> tuple[Part, Part, dict[str, Any]]:
    """Key, value and headers: of a whole message ({"key": …, "value": …, "headers": …}) or of a value alone."""
    if "value" in root and "op" not in root and "payload" not in root:
        headers = root.get("headers") or {}
        if not isinstance(headers, dict):
            raise UnreadableError(
                "malformed_event", "has headers that are no object: have the sink write {name: value}"
            )
        return part(root.get("key"), "key"), part(root["value"], "value"), headers
    return NO_PART, part(root, "value"), {}


def part(said: Any, name: str) -> Part:
    """A part as an object, or as JSON in a text, with its schema or without."""
    if said is None:
        return NO_PART
    if isinstance(said, str):
        said = parse(said)
    if not isinstance(said, dict):
        raise UnreadableError("malformed_event", f"has a {name} that is no object: use the connector's JSON converter")
    if len(said) == 2 and "schema" in said and "payload" in said:
        schema, payload = said["schema"], said["payload"]
        if payload is not None and not isinstance(payload, dict):
            raise UnreadableError(
                "malformed_event", f"has a {name} whose payload is no object: land the envelope whole"
            )
        return Part(payload, schema if schema is None or isinstance(schema, str) else compact(schema))
    return Part(said, None)


def refuse_what_is_no_change(payload: dict[str, Any]) -> None:
    """Messages that share the stream and speak of no row."""
    op = payload.get("op")
    if op in ROW_OPS or op == "t":
        return
    if op == "m":
        raise NoticeError("message", "is a message that an application wrote into the log, about no row")
    if op is not None:
        raise UnreadableError(
            "unknown_op", f"has op {shown(str(op))}, not one of c, u, d, r, t and m: see what the connector means by it"
        )
    if payload.get("status") in ("BEGIN", "END") and "id" in payload:
        raise NoticeError("transaction", f"{payload['status']} of transaction {payload['id']}")
    if "ddl" in payload:
        raise NoticeError("ddl", "tells of a change of tables; what it changes shows in the schema of the next event")
    if payload.keys() <= {"ts_ms", "ts_us", "ts_ns"} and payload:
        raise NoticeError("heartbeat", "says only that the connector lives")
    raise UnreadableError(
        "malformed_event",
        "is no change event: it has no op. Land the envelope as the connector sends it, not flattened",
    )


ROW_OPS = frozenset("cudr")


def image(payload: dict[str, Any], op: str, feed: Feed) -> tuple[dict[str, Any], str]:
    """The row after the change; of a delete the one before, whose key alone is true unless the identity is full."""
    side = "before" if op == "d" else "after"
    row = payload.get(side)
    if row is None and op == "d":
        return {}, side
    if isinstance(row, dict) and op == "d" and feed.promised("replica_identity") != "full":
        return {name: row[name] for name in feed.key_fields if name in row}, side
    if not isinstance(row, dict):
        raise UnreadableError(
            "malformed_event", f"has op {op} and no row {side} it: have the connector send the whole envelope"
        )
    return row, side


def add_key(fields: dict[str, str | None], key: Part, row: Shape, feed: Feed) -> None:
    """The key's own fields go before those of the row: of some deletes they are all there is."""
    if key.payload is None:
        return
    for name, text in decode(key.payload, key_shape(key, row), frozenset()).items():
        if name in feed.key_fields:
            if fields.get(name, text) != text:
                raise UnreadableError(
                    "two_keys", f"its key says {name} is {shown(text)}, its row {shown(fields[name])}: see its source"
                )
            fields[name] = text


def key_shape(key: Part, row: Shape) -> Shape:
    """A key that brings no schema is read as the row that it names."""
    return row if key.schema is None else shape_in(key.schema, "key")


def moved_from(old: Any, key: Part, row: Shape, feed: Feed) -> str:
    """The key that the row had before its key was changed, as `business_key` writes it."""
    said = part(old, "header __debezium.oldkey")
    if said.payload is None:
        raise UnreadableError("malformed_event", "has an empty header __debezium.oldkey: have the sink keep headers")
    fields = decode(said.payload, key_shape(said if said.schema is not None else key, row), frozenset())
    parts = [(fields.get(name) or "").strip(" ") for name in feed.key_fields]
    if not all(parts):
        raise UnreadableError(
            "missing_key",
            f"its header __debezium.oldkey lacks {' or '.join(feed.key_fields)}, so nobody knows whose row moved: "
            "have the connector's message key be the contract's",
        )
    return parts[0] if len(parts) == 1 else "|".join(one.replace("~", "~0").replace("|", "~1") for one in parts)


# Where and when it happened.


def add_log(fields: dict[str, str | None], payload: dict[str, Any], source: dict[str, Any], feed: Feed) -> None:
    """What the log says of the change. `source.ts_*` is when it was committed; the outer one, when it was handled."""
    fields[OP] = payload["op"]
    fields[COMMITTED_AT] = committed_at(source)
    fields[POSITION] = position(payload, source, feed)
    snapshot = source.get("snapshot")
    if snapshot not in (None, "false", False):
        fields[SNAPSHOT] = "true" if snapshot is True else str(snapshot)


CLOCKS = (("ts_ns", 10**9), ("ts_us", 10**6), ("ts_ms", 10**3))


def committed_at(source: dict[str, Any]) -> str | None:
    for name, per_second in CLOCKS:
        count = source.get(name)
        if isinstance(count, int):
            return f"{timestamp(count, per_second)}Z"
    return None


def position(payload: dict[str, Any], source: dict[str, Any], feed: Feed) -> str | None:
    """Epoch, commit position, position and order in the transaction, as whole numbers; None where the log has none.

    The order in a transaction counts anew after a crash, so it is asked only where nothing else tells two events apart.
    """
    found = POSITIONS.get(str(source.get("connector")), nowhere)(source)
    if found == (None, None, 0):
        order = (payload.get("transaction") or {}).get("total_order")
        if not isinstance(order, int):
            return None
        found = (None, None, order)
    return "/".join(str(NOWHERE if part is None else part) for part in (feed.promised("epoch") or "0", *found))


Place = tuple[int | None, int | None, int]


def nowhere(_: dict[str, Any]) -> Place:
    return None, None, 0


def postgresql(source: dict[str, Any]) -> Place:
    """`sequence` is a text that holds an array of texts: the commit before this one, and the event's own position."""
    sequence = source.get("sequence")
    match = SEQUENCE.fullmatch("[null,null]" if sequence is None else str(sequence))
    if match is None:
        raise UnreadableError(
            "unparsable_sequence",
            f"its source.sequence is {shown(str(sequence))}, not two log positions: see the connector's version",
        )
    commit, own = (None if part is None else int(part) for part in match.groups())
    lsn = source.get("lsn")
    return commit, lsn if isinstance(lsn, int) else own, 0


def mysql(source: dict[str, Any]) -> Place:
    file = LAST_DIGITS.search(str(source.get("file") or ""))
    return int(file[0]) if file else None, source.get("pos"), source.get("row") or 0


def sqlserver(source: dict[str, Any]) -> Place:
    commit, change = (hexadecimal(source.get(name)) for name in ("commit_lsn", "change_lsn"))
    return commit, change, source.get("event_serial_no") or 0


def hexadecimal(position: str | None) -> int | None:
    return None if position in (None, "NULL") else int(str(position).replace(":", ""), 16)


POSITIONS: Mapping[str, Callable[[dict[str, Any]], Place]] = {
    "postgresql": postgresql,
    "mysql": mysql,
    "mariadb": mysql,
    "sqlserver": sqlserver,
}


# JSON, without reading the same schema a million times.


def parse(text: str) -> Any:
    """The object in a text, its schemas as texts: most of what an event is made of, and not read again when known."""
    short, cut = without_schemas(text)
    root = object_in(short, DECODER)
    if not cut:
        return root
    return root if restore(root, cut) == len(cut) else object_in(text, DECODER)


SCHEMA_MEMBER = '"schema":{'
KNOWN: dict[str, int] = {}  # in a dictionary, for its order
MOST_KNOWN = 1000


def without_schemas(text: str) -> tuple[str, list[str]]:
    """The text with each schema cut out of it, its number in its place; and the schemas."""
    cut: list[str] = []
    pieces: list[str] = []
    start = 0
    while (found := text.find(SCHEMA_MEMBER, start)) >= 0:
        begin = found + len(SCHEMA_MEMBER) - 1
        schema = next((one for one in KNOWN if text.startswith(one, begin)), None)
        if schema is None:
            try:
                schema = text[begin : DECODER.raw_decode(text, begin)[1]]
            except (ValueError, RecursionError, UnreadableError):
                return text, []
            if len(KNOWN) == MOST_KNOWN:
                KNOWN.clear()
            KNOWN[schema] = len(KNOWN)
        pieces += (text[start:begin], str(len(cut)))
        cut.append(schema)
        start = begin + len(schema)
    return "".join((*pieces, text[start:])) if cut else text, cut


def restore(root: dict[str, Any], cut: list[str]) -> int:
    """Put schemas where an envelope has them, and count them: what a row calls a schema is none."""
    count = 0
    for holder in (root, root.get("key"), root.get("value")):
        if isinstance(holder, dict) and holder.keys() == {"schema", "payload"} and isinstance(holder["schema"], int):
            holder["schema"] = cut[holder["schema"]]
            count += 1
    return count
