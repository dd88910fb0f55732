"""One received record: what is read of it, or why it is in quarantine (laws E2, E3, E4). No Spark."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from attest.contract import Feed
from attest.delivery import Delivery
from attest.formats import Row, read_line, read_lines
from attest.landing_rows import to_arrow
from attest.record import UnreadableError, read_record
from engine import contract

WORKED = contract()
LONDON = replace(WORKED, time_zone=ZoneInfo("Europe/London"))
ZONELESS = replace(WORKED, time_zone=None)
GOOD = {"customer_id": '"C1"', "source_system": '"CRM"', "source_event_ts": '"2026-03-01T09:00:00Z"'}
WHEN = datetime(2026, 6, 1, tzinfo=UTC)


RowsOf = Callable[[str], list[Row]]


def line(**said: str | None) -> str:
    """A record of the worked shape; each value is JSON as the source wrote it, None leaves the field out."""
    members = {name: value for name, value in (GOOD | said).items() if value is not None}
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in members.items()) + "}"


def quarantined(text: str, feed: Feed = WORKED) -> UnreadableError:
    with pytest.raises(UnreadableError) as refused:
        read_record(text, feed)
    return refused.value


def source_time(text: str, feed: Feed = WORKED) -> tuple[datetime | None, int]:
    read = read_record(line(source_event_ts=json.dumps(text)), feed)
    return read.source_event_ts, read.source_event_finer


def text_of(row: Row) -> dict[str, str | None]:
    assert row.read is not None, row.detail
    return row.read.fields


@pytest.fixture
def rows_of(tmp_path: Path) -> RowsOf:
    """The records of a file with this content."""
    file = tmp_path / "a.jsonl"

    def read(content: str) -> list[Row]:
        file.write_bytes(content.encode())
        return list(read_lines(file, WORKED, {}))

    return read


def test_a_record_of_the_worked_shape_is_read() -> None:
    read = read_record(line(source_sequence_id="7", ingest_ts='"2026-03-01T09:05:00Z"', name='"Jane"'), WORKED)
    assert read.fields == {
        "customer_id": "C1",
        "source_system": "CRM",
        "source_event_ts": "2026-03-01T09:00:00Z",
        "source_sequence_id": "7",
        "ingest_ts": "2026-03-01T09:05:00Z",
        "name": "Jane",
    }
    assert read.source_event_ts == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert read.source_sequence == [Decimal(7)]
    assert read.ingest_ts == datetime(2026, 3, 1, 9, 5, tzinfo=UTC)


def test_law_e3_null_is_mentioned_and_absent_is_not() -> None:
    assert read_record(line(name="null"), WORKED).fields["name"] is None
    assert "name" not in read_record(line(), WORKED).fields


NOT_JSON = {
    "half a line": line()[:-5],
    "two objects": line() + line(),
    "a comma too many": line()[:-1] + ",}",
    "a raw control character": line(name='"a\tb"'),
    "a null byte": line() + "\0",
    "single quotes": "{'customer_id': 'C1'}",
    "a number with a leading nought": line(name="01"),
    "digits of another script": line(name="١٢"),
    "plain text": "customer C1 moved",
    "a hundred thousand open lists": "[" * 100_000,
}


@pytest.mark.parametrize("text", NOT_JSON.values(), ids=NOT_JSON)
def test_law_e2_what_is_no_json_is_quarantined(text: str) -> None:
    refused = quarantined(text)
    assert refused.reason == "malformed_record"
    assert "have the source send" in refused.detail


@pytest.mark.parametrize("text", ["[]", "[1, 2]", '"C1"', "1", "null", "true"])
def test_law_e2_json_that_is_no_object_is_quarantined(text: str) -> None:
    refused = quarantined(text)
    assert (refused.reason, "no object" in refused.detail) == ("malformed_record", True)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_quarantined(text: str) -> None:
    refused = quarantined(line(name=text))
    assert (refused.reason, f"holds {text}" in refused.detail) == ("malformed_record", True)


@pytest.mark.parametrize("text", [line(name='"a", "name": "b"'), line(name='{"a": 1, "a": 1}')])
def test_a_member_said_twice_is_quarantined_for_nobody_knows_which_counts(text: str) -> None:
    refused = quarantined(text)
    assert refused.reason == "repeated_field"
    assert "'name'" in refused.detail or "'a'" in refused.detail
    assert "send it once" in refused.detail


@pytest.mark.parametrize("value", ['{"first": "Jane"}', '["Jane"]', "[]", "{}"])
def test_a_nested_value_is_quarantined(value: str) -> None:
    refused = quarantined(line(name=value))
    assert refused.reason == "nested_value"
    assert refused.detail.startswith("'name' holds")
    assert "have the source send one value" in refused.detail


@pytest.mark.parametrize("half", ["\\ud83d", "\\ude00", "\\ude00\\ud83d"])
def test_half_of_a_surrogate_pair_is_quarantined_and_a_whole_one_is_a_character(half: str) -> None:
    refused = quarantined(line(name=f'"{half}"'))
    assert (refused.reason, refused.detail.startswith("'name' holds half")) == ("malformed_record", True)
    assert read_record(line(name='"\\ud83d\\ude00"'), WORKED).fields["name"] == "😀"


@pytest.mark.parametrize("value", [None, "null", '""', '"  "'])
@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("customer_id", "missing_key"),
        ("source_system", "missing_source"),
        ("source_event_ts", "missing_source_time"),
    ],
)
def test_laws_e1_and_e4_no_key_no_source_or_no_source_time_is_quarantined(
    field: str, reason: str, value: str | None
) -> None:
    refused = quarantined(line(**{field: value}))
    assert refused.reason == reason
    assert refused.detail.startswith(f"{field} is missing or blank")
    assert "have the source send" in refused.detail


@pytest.mark.parametrize("missing", ["customer_no", "account_no"])
@pytest.mark.parametrize("value", [None, "null", '"  "'])
def test_a_key_of_several_fields_needs_every_one(missing: str, value: str | None) -> None:
    held = {"customer_no": '"C1"', "account_no": '"A1"', "changed_at": '"2026-03-01"', "role": '"Owner"'} | {
        missing: value
    }
    text = "{" + ", ".join(f'"{name}": {said}' for name, said in held.items() if said is not None) + "}"
    refused = quarantined(text, contract("holdings"))
    assert (refused.reason, refused.detail.split()[0]) == ("missing_key", missing)


def test_a_feed_whose_contract_has_no_source_field_needs_none() -> None:
    one_source = replace(WORKED, fields=WORKED.fields - {"source_system"})
    assert read_record(line(source_system=None), one_source).fields["customer_id"] == "C1"


def test_a_field_that_the_contract_lacks_is_quarantined() -> None:
    refused = quarantined(line(nickname='"J"'))
    assert refused.reason == "unknown_field"
    assert "'nickname'" in refused.detail
    assert "seeds/feeds.csv" in refused.detail


def test_law_e5_recorded_at_cannot_be_given() -> None:
    assert quarantined(line(recorded_at='"2020-01-01T00:00:00Z"')).reason == "unknown_field"


def test_a_message_quotes_no_more_than_the_start_of_a_long_value() -> None:
    assert len(quarantined(line(source_event_ts=json.dumps("9" * 1_000_000))).detail) < 300


NO_TIME = {
    "words": "yesterday",
    "a date alone": "2026-03-01",
    "the basic form": "20260301T090000Z",
    "a week date": "2026-W09-7T09:00:00Z",
    "American order": "03/01/2026 09:00:00",
    "no such day": "2026-02-30T09:00:00Z",
    "no such month": "2026-13-01T09:00:00Z",
    "the year nought": "0000-01-01T00:00:00Z",
    "hour 24": "2026-03-01T24:00:00Z",
    "minute 60": "2026-03-01T09:60:00Z",
    "a leap second": "2026-06-30T23:59:60Z",
    "a fraction of a minute": "2026-03-01T09:00.5Z",
    "nineteen digits": "2026-03-01T09:00:00.1234567890123456789Z",
    "a point without digits": "2026-03-01T09:00:00.Z",
    "an offset of 75 minutes": "2026-03-01T09:00:00+01:75",
    "an offset of 25 hours": "2026-03-01T09:00:00+25:00",
    "a zone's name": "2026-03-01T09:00:00 Europe/London",
    "digits of another script": "٢٠٢٦-03-01T09:00:00Z",
    "a line separator before the zone": "2026-03-01T09:00:00\u2028Z",
    "before the first year in UTC": "0001-01-01T00:00:00+01:00",
    "after the last year in UTC": "9999-12-31T23:59:59-01:00",
}


@pytest.mark.parametrize("text", NO_TIME.values(), ids=NO_TIME)
@pytest.mark.parametrize("field", ["source_event_ts", "ingest_ts"])
def test_a_time_that_cannot_be_read_is_quarantined(field: str, text: str) -> None:
    refused = quarantined(line(**{field: json.dumps(text)}))
    assert refused.reason == "unparsable_time"
    assert refused.detail.startswith(f"{field} is {text!r}")
    assert "have the source" in refused.detail


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T09:00:00Z",
        "2026-03-01t09:00:00z",
        "2026-03-01 09:00:00Z",
        "2026-03-01T09:00Z",
        "2026-03-01T09:00:00.000Z",
        "2026-03-01T09:00:00,000Z",
        "2026-03-01T10:00:00+01:00",
        "2026-03-01T10:00:00+0100",
        "2026-03-01 10:00:00+01",
        "2026-03-01 10:00:00 +01",
        "2026-03-01T03:30:00-05:30",
        "2026-02-28T23:00:00-10",
        "  2026-03-01T09:00:00Z ",
        "2026-03-01T09:00:00",
    ],
)
def test_one_instant_may_be_written_in_many_ways(text: str) -> None:
    assert source_time(text) == (datetime(2026, 3, 1, 9, tzinfo=UTC), 0)


def test_a_time_without_a_zone_takes_the_contracts_summer_time_included() -> None:
    assert source_time("2026-01-15T09:00:00", LONDON)[0] == datetime(2026, 1, 15, 9, tzinfo=UTC)
    assert source_time("2026-07-15T09:00:00.25", LONDON)[0] == datetime(2026, 7, 15, 8, 0, 0, 250_000, tzinfo=UTC)
    assert source_time("2026-07-15T09:00:00+02:00", LONDON)[0] == datetime(2026, 7, 15, 7, tzinfo=UTC)


def test_a_time_without_a_zone_is_quarantined_where_the_contract_has_none() -> None:
    refused = quarantined(line(source_event_ts='"2026-03-01T09:00:00"'), ZONELESS)
    assert refused.reason == "no_time_zone"
    assert refused.detail.startswith("source_event_ts is '2026-03-01T09:00:00'")
    assert "set its time_zone in seeds/feeds.csv" in refused.detail
    assert source_time("2026-03-01T09:00:00Z", ZONELESS)[0] == datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_of_an_hour_that_happens_twice_the_first_is_meant() -> None:
    assert source_time("2026-10-25T01:30:00", LONDON)[0] == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert source_time("2026-10-25T02:00:00", LONDON)[0] == datetime(2026, 10, 25, 2, 0, tzinfo=UTC)


def test_an_hour_that_the_contracts_zone_skips_is_quarantined() -> None:
    refused = quarantined(line(source_event_ts='"2026-03-29T01:30:00"'), LONDON)
    assert refused.reason == "unparsable_time"
    assert "source_event_ts is '2026-03-29T01:30:00'" in refused.detail
    assert "Europe/London" in refused.detail
    assert "time_zone" in refused.detail
    assert source_time("2026-03-29T01:30:00Z", LONDON)[0] == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


def test_a_zone_far_from_utc_may_not_leave_the_calendar() -> None:
    tokyo = replace(WORKED, time_zone=ZoneInfo("Asia/Tokyo"))
    assert quarantined(line(source_event_ts='"0001-01-01T00:00:00"'), tokyo).reason == "unparsable_time"


@pytest.mark.parametrize(
    ("fraction", "microsecond", "finer"),
    [
        ("1", 100_000, 0),
        ("123456", 123_456, 0),
        ("1234567", 123_456, 700_000_000_000),
        ("123456789", 123_456, 789_000_000_000),
        ("000000000001", 0, 1_000_000),
        ("123456789012345678", 123_456, 789_012_345_678),
        ("000000000000000001", 0, 1),
        ("999999999999999999", 999_999, 999_999_999_999),
    ],
)
def test_digits_beyond_the_microsecond_are_kept_and_padded(fraction: str, microsecond: int, finer: int) -> None:
    at = datetime(2026, 3, 1, 9, 0, 0, microsecond, tzinfo=UTC)
    assert source_time(f"2026-03-01T09:00:00.{fraction}Z") == (at, finer)
    assert source_time(f"2026-03-01T09:00:00.{fraction}", LONDON) == (at, finer)


def test_law_e5_an_arrival_that_is_not_given_is_left_to_landing() -> None:
    assert read_record(line(), WORKED).ingest_ts is None
    assert read_record(line(ingest_ts="null"), WORKED).ingest_ts is None
    assert read_record(line(ingest_ts='" "'), WORKED).ingest_ts is None


@pytest.mark.parametrize("flag", ["true", "false", '"true"', '"false"'])
def test_a_delete_flag_is_json_true_or_false_or_the_same_as_text(flag: str) -> None:
    assert read_record(line(is_deleted=flag), WORKED).fields["is_deleted"] == flag.strip('"')


def test_law_e3_a_null_flag_is_as_good_as_an_absent_one() -> None:
    assert read_record(line(is_deleted="null", load_type="null", precedence_rank="null"), WORKED)


@pytest.mark.parametrize("flag", ["1", "0", '"1"', '"True"', '"TRUE"', '"yes"', '"Y"', '""', '" true"', "1.0"])
def test_any_other_delete_flag_is_quarantined(flag: str) -> None:
    refused = quarantined(line(is_deleted=flag))
    assert refused.reason == "unreadable_flag"
    assert refused.detail.startswith("is_deleted is ")
    assert "send true or false" in refused.detail


@pytest.mark.parametrize("load_type", ['"FULL"', '"PARTIAL"'])
def test_a_load_type_is_full_or_partial(load_type: str) -> None:
    assert read_record(line(load_type=load_type), WORKED)


@pytest.mark.parametrize("load_type", ['"full"', '"DELTA"', '""', "1", "true", '"FULL "'])
def test_any_other_load_type_is_quarantined(load_type: str) -> None:
    refused = quarantined(line(load_type=load_type))
    assert refused.reason == "unreadable_load_type"
    assert refused.detail.startswith("load_type is ")
    assert "send FULL or PARTIAL" in refused.detail


@pytest.mark.parametrize("rank", ["1", "0", "-1", '"7"', "999999999"])
def test_a_rank_is_a_whole_number(rank: str) -> None:
    assert read_record(line(precedence_rank=rank), WORKED).fields["precedence_rank"] == rank.strip('"')


@pytest.mark.parametrize("rank", ["1.0", "1e2", '""', '"first"', "true", "1000000000", '"+1"', '"١"', '" 1"', '"1\\n"'])
def test_any_other_rank_is_quarantined(rank: str) -> None:
    refused = quarantined(line(precedence_rank=rank))
    assert refused.reason == "unreadable_rank"
    assert refused.detail.startswith("precedence_rank is ")
    assert "have the source send a whole number" in refused.detail


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("7", "7"),
        ('"007"', "7"),
        ("-7", "-7"),
        ('" 7 "', "7"),
        ('"+7"', "7"),
        ("0", "0"),
        ("-0", "0"),
        ("1.5", "1.5"),
        ("1.50000000000000", "1.5"),
        ("1e3", "1000"),
        ("1E-10", "0.0000000001"),
        ("0e9999", "0"),
        ("20260301090000000001", "20260301090000000001"),
        ("9" * 28, "9" * 28),
        (f"-{'9' * 28}.{'9' * 10}", f"-{'9' * 28}.{'9' * 10}"),
    ],
)
def test_law_e4_a_sequence_is_the_number_that_was_written_to_its_last_digit(written: str, number: str) -> None:
    sequence = read_record(line(source_sequence_id=written), WORKED).source_sequence
    assert sequence == [Decimal(number)]


@pytest.mark.parametrize("written", [None, "null", '""', '"  "'])
def test_a_sequence_may_be_absent(written: str | None) -> None:
    assert read_record(line(source_sequence_id=written), WORKED).source_sequence is None


@pytest.mark.parametrize(
    "written",
    [
        '"NaN"',
        '"sNaN"',
        '"Infinity"',
        '"-inf"',
        '"12a"',
        '"1_000"',
        '"1,000"',
        '"0x10"',
        '"."',
        '"١٢"',
        '"1 2"',
        '"0/16B374D848"',
        "true",
        "1" + "0" * 28,
        "1e28",
        "1e9999",
        '"1e99999999"',
        "0.00000000001",
        "1e-11",
        f"1.{'0' * 10}1",
        "9" * 5000,
    ],
)
def test_law_e4_a_sequence_that_does_not_parse_or_fit_is_quarantined(written: str) -> None:
    refused = quarantined(line(source_sequence_id=written))
    assert refused.reason == "unparsable_sequence"
    assert refused.detail.startswith("source_sequence_id is ")
    assert "have the source send" in refused.detail


@pytest.mark.parametrize(
    "digits",
    ["12345678901234567890.123456789012345678901234567890", "1e400", "-0", "1.10", "0.1", "9" * 5000, "1E+2"],
)
def test_a_number_keeps_the_digits_that_were_written(digits: str) -> None:
    assert read_record(line(name=digits), WORKED).fields["name"] == digits


def test_true_and_false_are_kept_by_name() -> None:
    fields = read_record(line(name="true", address="false"), WORKED).fields
    assert (fields["name"], fields["address"]) == ("true", "false")


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085"])
def test_only_a_line_feed_ends_a_line(rows_of: RowsOf, separator: str) -> None:
    street = line(name=f'"12{separator}Street"')
    first, second = rows_of(street + "\n" + line() + "\n")
    assert text_of(first)["name"] == f"12{separator}Street"
    assert (first.record, second.line) == (street, 2)


def test_a_file_with_crlf_line_ends_is_read_and_kept_as_it_is(rows_of: RowsOf) -> None:
    first, second = rows_of(line() + "\r\n" + line(name='"x"') + "\r\n")
    assert first.record == line() + "\r"
    assert text_of(second)["name"] == "x"


def test_blank_lines_are_no_records_but_count_as_lines(rows_of: RowsOf) -> None:
    assert [row.line for row in rows_of(f"\n{line()}\n\n \t\r\n{line()}\n\n")] == [2, 5]


def test_law_e2_a_line_of_unprintable_characters_is_a_record_and_not_blank(rows_of: RowsOf) -> None:
    rows = rows_of("\f\n\0\n\u0085\n\u00a0\n")
    assert [(row.line, row.reason) for row in rows] == [(number, "malformed_record") for number in (1, 2, 3, 4)]


def test_the_last_line_needs_no_line_feed(rows_of: RowsOf) -> None:
    *_, last = rows_of(line() + "\n" + line(name='"last"'))
    assert text_of(last)["name"] == "last"


def test_a_byte_order_mark_is_passed_over_where_a_file_begins_and_nowhere_else(rows_of: RowsOf) -> None:
    first, second = rows_of(f"\ufeff{line()}\n\ufeff{line()}\n")
    assert text_of(first)["customer_id"] == "C1"
    assert first.record == "\ufeff" + line()
    assert second.reason == "malformed_record"


@pytest.mark.parametrize(
    "raw", [line(name='"José"').encode("latin-1"), line().encode("utf-16"), b"\xff", b"\xed\xa0\x80", bytes(range(256))]
)
def test_law_e2_bytes_that_are_not_utf8_are_kept_so_that_they_can_be_had_back(raw: bytes) -> None:
    row = read_line(1, raw, WORKED)
    assert row.reason == "not_utf8"
    assert row.detail is not None
    assert "have the source send UTF-8" in row.detail
    assert row.record.encode("latin-1") == raw


def test_law_e2_no_line_is_lost_and_none_stops_a_landing_whatever_its_bytes() -> None:
    """Lines damaged at random, by a fixed seed: each is read or quarantined, kept byte for byte, and fits the table."""
    chance = random.Random(20260301)
    whole = line(
        source_sequence_id="12.5",
        ingest_ts='"2026-03-01T09:05:00.1234567+01:00"',
        is_deleted="false",
        name='"é\\u00e9"',
    ).encode()
    alphabet = b'{}[]",:\\u0019.-+eETZ \t\r\x00\x85\xa0\xff' + bytes(range(48, 58))
    damaged = [whole]
    for _ in range(3000):
        mangled = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(mangled))
            mangled[place : place + chance.choice([0, 1, 1, 2])] = bytes(
                chance.choices(alphabet, k=chance.choice([0, 1, 2]))
            )
        damaged.append(bytes(mangled))
    rows = [read_line(number, raw, WORKED) for number, raw in enumerate(damaged, start=2)]
    assert all((row.read is None) == (row.reason is not None) == (row.detail is not None) for row in rows)
    assert 0 < sum(row.reason is None for row in rows) < len(rows)
    kept = to_arrow([(Path("a.jsonl"), rows)], WORKED, Delivery("L", "L", WHEN, WHEN))
    assert kept.num_rows == len(damaged)
    for raw, record, reason in zip(
        damaged, kept["record"].to_pylist(), kept["quarantine_reason"].to_pylist(), strict=True
    ):
        assert record.encode("latin-1" if reason == "not_utf8" else "utf-8") == raw
