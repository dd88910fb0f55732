"""Change events: every trap of real ones, and every form that a value or an envelope can have. No Spark."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import capture
import pytest
from attest.contract import Feed
from attest.event import read_event
from attest.formats import Row, read_line
from attest.record import Read, UnreadableError, read_fields
from capture import ACCOUNTS, CUSTOMERS, PAYMENTS, WEB_LOG, Table

UNCHANGED = "__debezium_unavailable_value"
COLUMNS = "name notes:json balance:decimal(18,4) born:date"
LOG = {"connector": "postgresql", "name": "bank", "db": "bank", "schema": "public", "table": "people"}
AT = 1795006250515299


def column(field: str, of: str, meant: str | None = None, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": of, "optional": True, **({"name": meant} if meant else {}), **more}


def schema(*columns: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": [column("id", "int64"), *columns]}


def envelope(row: dict[str, Any]) -> dict[str, Any]:
    sides = [{**row, "field": side} for side in ("before", "after")]
    return {"type": "struct", "fields": [*sides, column("op", "string")]}


NAMED = schema(column("name", "string"))


def source(**more: Any) -> dict[str, Any]:
    return LOG | {"ts_us": AT, "ts_ms": AT // 1000, "txId": 7, "lsn": 90, "sequence": '["80","90"]', **more}


def value(op: str = "u", after: Any = None, before: Any = None, **more: Any) -> dict[str, Any]:
    return {"before": before, "after": after, "source": source(), "op": op, "ts_ms": AT // 1000 + 17_000, **more}


def message(said: Any, *, key: Any = None, of: dict[str, Any] = NAMED, **headers: Any) -> str:
    """A whole message, as a sink that keeps keys and headers writes it, with its schemas."""
    keys = {"type": "struct", "fields": [column("id", "int64")]}
    told = {
        "key": None if key is None else {"schema": keys, "payload": key},
        "value": None if said is None else {"schema": envelope(of), "payload": said},
        "headers": headers,
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def people(columns: str = "name", **promises: str) -> Feed:
    return capture.feed("public.people", "id", columns, **promises)


PEOPLE = people()


def read(text: str, feed: Feed = PEOPLE) -> Read:
    return read_fields(read_event(text, feed), feed)


def place(text: str, feed: Feed = PEOPLE) -> list[int]:
    return [int(part) for part in read(text, feed).source_sequence or ()]


def told(text: str, feed: Feed = PEOPLE) -> Mapping[str, str | None]:
    """What an event says of the row, without what it says of itself."""
    return {name: text for name, text in read(text, feed).fields.items() if not name.startswith("__")}


def one_value(said: Any, column: dict[str, Any], feed: Feed | None = None) -> str | None:
    named = message(value(after={"id": 1, column["field"]: said}), key={"id": 1}, of=schema(column))
    return told(named, feed or people(column["field"]))[column["field"]]


def aside(text: str, feed: Feed = PEOPLE) -> UnreadableError:
    with pytest.raises(UnreadableError) as found:
        read(text, feed)
    return found.value


def rows(table: Table) -> list[Row]:
    return [read_line(number, line.encode(), table.feed) for number, line in enumerate(capture.lines(), start=1)]


# The traps, by their numbers.


def test_trap_1_a_default_that_may_stand_for_null_is_marked_unless_the_contract_promises_that_nulls_are_kept() -> None:
    segment = column("segment", "string", default="standard")
    text = message(value(after={"id": 1, "segment": "standard"}), key={"id": 1}, of=schema(segment))
    assert read(text, people("segment")).fields["__defaulted"] == "segment"
    assert "__defaulted" not in read(text, people("segment", nulls="kept")).fields
    gold = message(value(after={"id": 1, "segment": "gold"}), key={"id": 1}, of=schema(segment))
    assert "__defaulted" not in read(gold, people("segment")).fields


def test_trap_2_a_delete_tells_of_its_key_alone_unless_the_identity_is_full() -> None:
    text = message(value("d", before={"id": 1, "name": ""}), key={"id": 1})
    assert told(text) == {"id": "1"}
    assert told(text, people(replica_identity="full")) == {"id": "1", "name": ""}
    assert read(text).fields["__op"] == "d"


def test_trap_2_before_is_never_the_state_of_an_update() -> None:
    assert told(message(value(before={"id": 1, "name": "old"}, after={"id": 1}), key={"id": 1})) == {"id": "1"}


FORMS = {
    "as it is": (UNCHANGED, "string", None),
    "in an array": ([UNCHANGED], "array", None),
    "as bytes": (b64encode(UNCHANGED.encode()).decode(), "bytes", None),
    "as hexadecimal": (UNCHANGED.encode().hex(), "string", None),
    "as an array of bytes": (list(UNCHANGED.encode()), "array", None),
    "in a map": ({UNCHANGED: UNCHANGED}, "map", None),
    "where a decimal stands": (
        b64encode(UNCHANGED.encode()).decode(),
        "bytes",
        "org.apache.kafka.connect.data.Decimal",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_trap_3_every_form_of_the_placeholder_says_unchanged(form: str) -> None:
    said, of, meant = FORMS[form]
    more = {"parameters": {"scale": "2"}} if meant else {}
    assert one_value(said, column("notes", of, meant, **more)) == UNCHANGED


def test_trap_3_the_placeholder_may_be_another_text() -> None:
    other = people("notes", unchanged_text="<same>")
    assert one_value("<same>", column("notes", "string"), other) == UNCHANGED
    assert one_value(b64encode(b"<same>").decode(), column("notes", "bytes"), other) == UNCHANGED


def test_trap_4_a_change_of_key_is_known_by_its_headers() -> None:
    created = value("c", after={"id": 2, "name": "Ann"})
    text: dict[str, Any] = {"__debezium.oldkey": '{"id":1}'}
    assert read(message(created, key={"id": 2}, **text)).fields["__moved_from"] == "1"
    assert "__moved_from" not in read(message(created, key={"id": 2})).fields
    keys = {"type": "struct", "fields": [column("id", "int64")]}
    whole: dict[str, Any] = {"__debezium.oldkey": {"schema": keys, "payload": {"id": 1}}}
    assert read(message(created, key={"id": 2}, **whole)).fields["__moved_from"] == "1"
    [(_, moved)] = [
        (row.line, row.read.fields["__moved_from"])
        for row in rows(CUSTOMERS)
        if row.read and "__moved_from" in row.read.fields
    ]
    assert moved == "4"


def test_trap_4_a_key_of_several_fields_moves_as_business_key_writes_it() -> None:
    feed = capture.feed("public.people", "id part", "name")
    old: dict[str, Any] = {"__debezium.oldkey": json.dumps({"id": 1, "part": "a|b~c"})}
    text = message(value("c", after={"id": 2, "part": "x"}), key={"id": 2}, of=schema(column("part", "string")), **old)
    assert read(text, feed).fields["__moved_from"] == "1|a~1b~0c"


def test_traps_5_and_6_one_position_may_have_several_rows_and_positions_may_run_backwards() -> None:
    texts = [message(value("c", after={"id": number, "name": "x"}), key={"id": number}) for number in range(6)]
    assert len({(read(text).fields["id"], tuple(read(text).source_sequence or ())) for text in texts}) == 6
    earlier = value("c", after={"id": 9}, source=source(lsn=10, sequence='["80","10"]', ts_us=AT + 5))
    assert place(message(earlier, key={"id": 9})) == [0, 80, 10, 0]


def test_traps_7_8_and_9_what_a_repeat_after_a_crash_says_otherwise_is_no_part_of_its_identity() -> None:
    first = value(after={"id": 1, "name": "Ann"}, transaction={"id": "7:90", "total_order": 3})
    again = first | {"ts_ms": 99, "ts_us": 99_000, "transaction": {"id": "7:91", "total_order": 1}}
    headers: Iterator[dict[str, Any]] = ({"__debezium.context.runId": f'"{run}"'} for run in "ab")
    one, other = (read(message(said, key={"id": 1}, **next(headers))) for said in (first, again))
    assert one == other


def test_trap_10_the_sequence_is_a_text_of_two_numbers_and_null_comes_last() -> None:
    texts = [f'[{commit},"90"]' for commit in ('"9"', '"10"', '"47397600"', "null")]
    said = [message(value(after={"id": 1}, source=source(sequence=one, lsn=90)), key={"id": 1}) for one in texts]
    places = [place(one) for one in said]
    assert places == sorted(places)
    assert places[0] == [0, 9, 90, 0]
    assert aside(message(value(after={"id": 1}, source=source(sequence="80,90")), key={"id": 1})).reason == (
        "unparsable_sequence"
    )


def test_an_epoch_goes_before_every_position() -> None:
    text = message(value(after={"id": 1}), key={"id": 1})
    assert place(text, people(epoch="2")) == [2, 80, 90, 0]


def test_trap_11_a_snapshot_read_while_streaming_has_no_position_and_the_time_of_its_reading() -> None:
    log = source(lsn=None, txId=None, sequence=None, snapshot="incremental")
    found = read(message(value("r", after={"id": 1, "name": "Ann"}, source=log, transaction=None), key={"id": 1}))
    assert (found.source_sequence, found.fields["__snapshot"]) == (None, "incremental")
    assert found.source_event_ts == datetime(2026, 11, 18, 12, 50, 50, 515299, tzinfo=UTC)


def test_trap_12_another_schema_has_another_fingerprint_and_the_same_bytes_are_another_number() -> None:
    def balance(scale: int) -> dict[str, Any]:
        return column("balance", "bytes", "org.apache.kafka.connect.data.Decimal", parameters={"scale": str(scale)})

    text, other = (
        message(value(after={"id": 1, "balance": "E5NNGsQ="}), key={"id": 1}, of=schema(balance(scale)))
        for scale in (4, 2)
    )
    feed = people("balance:decimal(18,4)")
    assert (told(text, feed)["balance"], told(other, feed)["balance"]) == ("8407568.2500", "840756825.00")
    assert read(text, feed).fields["__schema"] != read(other, feed).fields["__schema"]
    prints = Counter(row.read.fields["__schema"] for row in rows(CUSTOMERS) if row.read)
    assert len(prints) == 3, "the capture's table changed twice"


DECIMAL: dict[str, Any] = {"meant": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": "2"}}
VARIABLE = "io.debezium.data.VariableScaleDecimal"
TIMES = "io.debezium.time."
VALUES = [
    ("AQ==", column("v", "bytes", **DECIMAL), "0.01"),
    ("/v5j", column("v", "bytes", **DECIMAL), "-659.49"),
    ("AA==", column("v", "bytes", **DECIMAL), "0.00"),
    ("gA==", column("v", "bytes", **DECIMAL), "-1.28"),
    ("12.30", column("v", "string"), "12.30"),
    ({"scale": 0, "value": "WqbS"}, column("v", "struct", VARIABLE), "5940946"),
    ({"scale": -2, "value": "AQ=="}, column("v", "struct", VARIABLE), "100"),
    ("NAN", column("v", "string"), "NAN"),
    ("NaN", column("v", "double"), "NaN"),
    ("-Infinity", column("v", "double"), "-Infinity"),
    ("infinity", column("v", "string", f"{TIMES}ZonedTimestamp"), "infinity"),
    (9223372036825200000, column("v", "int64", f"{TIMES}MicroTimestamp"), "infinity"),
    (1656432137123456, column("v", "int64", f"{TIMES}MicroTimestamp"), "2022-06-28T16:02:17.123456"),
    (-1, column("v", "int64", f"{TIMES}MicroTimestamp"), "1969-12-31T23:59:59.999999"),
    (1770650920852, column("v", "int64", f"{TIMES}Timestamp"), "2026-02-09T15:28:40.852"),
    (1656432137123456789, column("v", "int64", f"{TIMES}NanoTimestamp"), "2022-06-28T16:02:17.123456789"),
    (-10791, column("v", "int32", f"{TIMES}Date"), "1940-06-16"),
    (73815000000, column("v", "int64", f"{TIMES}MicroTime"), "20:30:15"),
    (30615250000, column("v", "int64", f"{TIMES}MicroTime"), "08:30:15.250000"),
    (86400000000, column("v", "int64", f"{TIMES}MicroTime"), "24:00:00"),
    ("2026-01-05T17:14:20.000001Z", column("v", "string", f"{TIMES}ZonedTimestamp"), "2026-01-05T17:14:20.000001Z"),
    ("BRANCH", column("v", "string"), "BRANCH"),
    ("ATM   ", column("v", "string"), "ATM   "),
    ('{"x": [1, null]}', column("v", "string", "io.debezium.data.Json"), '{"x": [1, null]}'),
    (9007199254740993, column("v", "int64"), "9007199254740993"),
    (True, column("v", "boolean"), "true"),
    (["a", None, 1], column("v", "array"), '["a",null,1]'),
    (
        {"wkb": "AQ==", "srid": None},
        column("v", "struct", "io.debezium.data.geometry.Point"),
        '{"wkb":"AQ==","srid":null}',
    ),
]


@pytest.mark.parametrize(
    ("said", "column", "meant"), VALUES, ids=lambda one: str(one)[:40] if one.__class__ is str else ""
)
def test_traps_13_to_15_a_value_is_read_by_its_schema(said: Any, column: dict[str, Any], meant: str) -> None:
    assert one_value(said, column) == meant


def test_trap_15_digits_are_never_read_through_a_float() -> None:
    text = message(value(after={"id": 1, "v": "X"}), key={"id": 1}, of=schema(column("v", "double")))
    for digits in ("0.1000000000000000055511151231257827", "1e400", "1.10"):
        assert told(text.replace('"X"', digits), people("v"))["v"] == digits
        nested = told(text.replace('"X"', f"[{digits}]"), people("v"))["v"]
        assert nested == f"[{digits}]"


def test_trap_16_source_time_is_the_commit_and_not_the_handling_of_it() -> None:
    assert read(message(value(after={"id": 1}), key={"id": 1})).source_event_ts == datetime(
        2026, 11, 18, 12, 50, 50, 515299, tzinfo=UTC
    )
    finer = value(after={"id": 1}, source=source(ts_ns=AT * 1000 + 7))
    assert read(message(finer, key={"id": 1})).source_event_finer == 7_000_000_000
    coarse = source()
    del coarse["ts_us"]
    assert read(message(value(after={"id": 1}, source=coarse), key={"id": 1})).source_event_ts == datetime(
        2026, 11, 18, 12, 50, 50, 515000, tzinfo=UTC
    )


def test_trap_17_a_truncate_is_about_the_table_and_waits_for_a_person() -> None:
    found = aside(message(value("t", transaction={"id": "7:90", "total_order": 1})))
    assert (found.status, found.reason) == ("held", "truncate")
    assert found.read is not None
    assert found.read.source_event_ts is not None
    assert found.read.source_sequence == [Decimal(part) for part in (0, 80, 90, 0)]
    held = [row for row in rows(WEB_LOG) if row.status == "held"]
    assert [(row.line, row.reason) for row in held] == [(64, "truncate")]


def test_trap_18_no_key_no_entity() -> None:
    reasons = Counter((row.status, row.reason) for row in rows(WEB_LOG))
    assert (reasons["quarantined", "missing_key"], reasons["accepted", None]) == (5, 0)
    assert aside(message(value(after={"name": "Ann"}))).reason == "missing_key"


NOTICES = {
    "tombstone": message(None, key={"id": 1}),
    "transaction": message({"status": "BEGIN", "id": "7:90", "event_count": None, "ts_ms": 1}, key={"id": "7:90"}),
    "message": message(value("m", message={"prefix": "app", "content": "aGk="}), key={"prefix": "app"}),
    "other_table": message(value("c", after={"id": 1}, source=source(table="debezium_signal")), key={"id": 1}),
    "heartbeat": json.dumps({"ts_ms": 1}),
    "ddl": json.dumps({"source": LOG, "ddl": "alter table people add x int", "tableChanges": []}),
}


@pytest.mark.parametrize("reason", NOTICES)
def test_trap_19_what_shares_the_stream_is_kept_and_counted_apart(reason: str) -> None:
    found = aside(NOTICES[reason])
    assert (found.status, found.reason) == ("notice", reason)


def test_trap_20_values_hold_other_line_ends() -> None:
    assert told(message(value(after={"id": 1, "name": "a\u2028b\u2029c"}), key={"id": 1}))["name"] == "a\u2028b\u2029c"


def test_every_record_of_the_capture_is_accounted_for() -> None:
    """Law E2, for each of its four tables."""
    expected = {CUSTOMERS: (17, 0, 0), ACCOUNTS: (8, 0, 0), PAYMENTS: (11, 0, 0), WEB_LOG: (0, 5, 1)}
    for table, (accepted, quarantined, held) in expected.items():
        found = Counter(row.status for row in rows(table))
        assert (found["accepted"], found["quarantined"], found["held"]) == (accepted, quarantined, held)
        assert found.total() == 68


# Envelopes.


def test_an_event_may_be_a_value_alone_with_its_schema_or_without() -> None:
    said = value(after={"id": 1, "name": "Ann"})
    alone = json.dumps({"schema": envelope(NAMED), "payload": said})
    assert told(alone) == {"id": "1", "name": "Ann"}
    assert aside(json.dumps(said)).reason == "no_schema"
    promised = replace(PEOPLE, event_schema=json.dumps(NAMED))
    assert told(json.dumps(said), promised) == {"id": "1", "name": "Ann"}


def test_keys_and_values_may_be_texts_that_hold_json() -> None:
    whole = json.loads(message(value(after={"id": 1, "name": "Ann"}), key={"id": 1}))
    texts = json.dumps({name: json.dumps(whole[name]) for name in ("key", "value")})
    assert told(texts) == {"id": "1", "name": "Ann"}


def test_a_column_that_is_called_schema_is_a_column() -> None:
    columns = schema(column("schema", "map"), column("payload", "map"), column("value", "string"))
    row = {"id": 1, "schema": {"a": 1}, "payload": {"b": 2}, "value": "v"}
    text = message(value(after=row), key={"id": 1}, of=columns)
    expected = {"id": "1", "schema": '{"a":1}', "payload": '{"b":2}', "value": "v"}
    assert told(text, people("schema payload value")) == expected
    assert told(text, people("schema payload value")) == expected, "and again, when its text is known"


def test_positions_of_other_databases_order_as_numbers() -> None:
    def at(**log: Any) -> list[int]:
        said = value(after={"id": 1}, source=LOG | {"ts_ms": AT // 1000, **log}, transaction={"total_order": 5})
        return place(message(said, key={"id": 1}))

    assert at(connector="mysql", file="binlog.000012", pos=154, row=1) == [0, 12, 154, 1]
    assert at(connector="sqlserver", commit_lsn="0000000a:00000001:0002", change_lsn="NULL", event_serial_no=1) == [
        0, 0x0000000A000000010002, 10**27, 1,
    ]  # fmt: skip
    assert at(connector="other") == [0, 10**27, 10**27, 5]


MALFORMED = {
    "[1]": "malformed_record",
    "{": "malformed_record",
    '{"value": NaN}': "malformed_record",
    '{"value": {"schema": 5, "payload": {}}}': "malformed_event",
    '{"value": {"id": 1}}': "malformed_event",
    '{"value": [1]}': "malformed_event",
    '{"value": {"schema": {"fields": 3}, "payload": {"op": "c"}}}': "malformed_event",
    '{"value": ' + json.dumps(value("x")) + "}": "unknown_op",
    '{"value": ' + json.dumps(value("u")) + "}": "malformed_event",
    '{"headers": [1], "value": ' + json.dumps(value("u", after={"id": 1})) + "}": "malformed_event",
    message(value(after={"id": 1, "name": "\ud800"}), key={"id": 1}).encode("ascii", "backslashreplace").decode(): (
        "malformed_record"
    ),
    "[" * 100_000: "malformed_record",
    message(value(after={"id": 1, "born": "x"}), key={"id": 1}, of=schema(column("born", "int32", f"{TIMES}Date"))): (
        "unreadable_value"
    ),
    message(value(after={"id": 1, "born": 10**9}), key={"id": 1}, of=schema(column("born", "int32", f"{TIMES}Date"))): (
        "unreadable_value"
    ),
    message(value(after={"id": 1}), key={"id": 2}): "two_keys",
    message(value(after={"id": 1, "age": 3}), key={"id": 1}): "unknown_field",
    message(value(after={"id": 1}, source=LOG), key={"id": 1}): "missing_source_time",
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.items(), ids=lambda one: str(one)[:30])
def test_what_is_no_event_is_quarantined_with_what_to_do(text: str, reason: str) -> None:
    found = aside(text, people("name born"))
    assert (found.status, found.reason) == ("quarantined", reason)
    assert ": " in found.detail
