"""Captures: their format in both versions, their sums, the bad ones, and what the ledger says of them at landing."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from attest import captures
from attest.capture_writing import Answer, Asked, write_capture
from attest.captures import (
    OPTIONAL,
    REQUIRED,
    Capture,
    content_sum,
    find_captures,
    read_capture,
    read_captured,
    verified,
    with_sums,
)
from attest.contract import CAPTURE_MODES, Authority
from attest.delivery import new_delivery
from attest.errors import CaptureError, LandingError
from attest.formats import Row, sum_of
from attest.land import stage_capture
from attest.ledger import Accepted, decide
from engine import contract
from histories import run_seed

LISTINGS = contract("listings")
WHEN = datetime(2026, 3, 1, 10, 30, tzinfo=UTC)
ASKED = Asked(
    vendor="marketdata",
    dataset="instrument",
    data_type="instrument_listings",
    capture_mode="full_snapshot",
    api_endpoint="https://api.example.com/v1/listings",
    request_params={"exchange": "XAMS", "token": "{{ env_var('LISTINGS_TOKEN') }}"},
    partitions={"exchange": "XAMS"},
)
RECORDS = [
    '{"symbol": "ABC", "tick_size": 0.010, "lot_size": 1, "name": "Ab\\u00e9 \\"C\\"", "extra": {"deep": [1.50]}}',
    '{"symbol": "DEF", "tick_size": 12345678901234567890.12, "lot_size": null, "name": null}',
]
Made = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A capture of these records, in a root of its own."""

    def make(*records: str, at: datetime = WHEN, asked: Asked = ASKED, complete: bool = True, **answer: Any) -> Path:
        answered = Answer(records or RECORDS, at, complete, **answer)
        return write_capture(tmp_path / "bronze", asked, answered, feed=LISTINGS)

    return make


def edited(folder: Path, **changes: Any) -> Path:
    """The same capture with another manifest; a field that becomes None is left out."""
    path = folder / "_manifest.json"
    said = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: value for name, value in said.items() if value is not None}))
    return folder


def rows_of(capture: Capture) -> list[Row]:
    return list(verified(capture, LISTINGS))


def why_refused(place: Path) -> str:
    """What is wrong with a capture, wherever it shows."""
    found, wrong = find_captures([place])
    if wrong:
        return str(wrong[0])
    with pytest.raises(LandingError) as refused:
        rows_of(found[0])
    return str(refused.value)


# The format.


def test_a_capture_says_every_field_of_its_format(made: Made) -> None:
    folder = made()
    assert folder.relative_to(folder.parents[4]) == Path(
        "marketdata/type=instrument_listings/exchange=XAMS/date=2026-03-01/captured_ts=1772361000000000"
    )
    assert sorted(path.name for path in folder.iterdir()) == ["_manifest.json", "records.jsonl.gz"]
    manifest = json.loads((folder / "_manifest.json").read_text())
    assert manifest.keys() == {**REQUIRED, **OPTIONAL}.keys()
    sums = {name: manifest.pop(name) for name in ("records_content_sha256", "records_file_sha256")}
    assert all(len(text) == 64 for text in sums.values())
    assert manifest == {
        "schema_version": 2,
        "vendor": "marketdata",
        "dataset": "instrument",
        "data_type": "instrument_listings",
        "capture_mode": "full_snapshot",
        "record_format": "jsonl.gz",
        "complete": True,
        "captured_at_us": 1772361000000000,
        "vendor_effective_ts_us": None,
        "api_endpoint": "https://api.example.com/v1/listings",
        "request_params": {"exchange": "XAMS", "token": "{{ env_var('LISTINGS_TOKEN') }}"},
        "record_count": 2,
        "expected_record_count": None,
        "partitions": {"exchange": "XAMS", "date": "2026-03-01"},
    }


def test_records_are_kept_as_the_vendor_wrote_them_and_read_under_the_contract(made: Made) -> None:
    """Digits as they stand; what the contract does not name stays in the record; the partition is read with it."""
    rows = rows_of(read_capture(made()))
    assert [row.record for row in rows] == RECORDS
    assert [row.read.fields if row.read else row.detail for row in rows] == [
        {
            **{"exchange": "XAMS", "symbol": "ABC", "name": 'Abé "C"', "tick_size": "0.0100000000"},
            **{"lot_size": "1.0000000000", "vendor": "marketdata"},
        },
        {
            **{"exchange": "XAMS", "symbol": "DEF", "name": None, "tick_size": "12345678901234567890.1200000000"},
            **{"lot_size": None, "vendor": "marketdata"},
        },
    ]
    kept = json.loads(json.dumps(read_capture(made(at=WHEN + timedelta(1))).about))
    assert [captures.read_again(row.line, row.record, LISTINGS, kept) for row in rows] == rows


def test_parquet_holds_the_same_in_columns_of_exact_types(made: Made) -> None:
    records = ['{"symbol": "A", "tick_size": 0.01, "n": 1}', '{"symbol": "B", "tick_size": 5, "n": 2, "odd": [1]}']
    folder = made(*records, asked=replace(ASKED, record_format="parquet"))
    schema = pq.read_schema(folder / "records.parquet")
    assert {field.name: str(field.type) for field in schema} == {
        **{"symbol": "string", "tick_size": "decimal128(3, 2)", "n": "int64", "odd": "string"}
    }
    rows = rows_of(read_capture(folder))
    assert [row.read and row.read.fields["tick_size"] for row in rows] == ["0.0100000000", "5.0000000000"]


def test_the_first_version_is_read_too(tmp_path: Path) -> None:
    """Envelopes: each line repeats what the capture is. It says nothing of whether it is complete."""
    file = envelopes(tmp_path / "snapshot.jsonl.gz", RECORDS)
    for place in (file, tmp_path):
        [capture], wrong = find_captures([place])
        assert wrong == []
        whole = with_sums(capture, LISTINGS)
        assert (capture.schema_version, capture.complete, whole.record_count) == (1, False, 2)
        assert capture.effective_at == datetime(2026, 3, 1, 10, tzinfo=UTC), "snapshot_ts_us, where it is told"
        assert whole.content_sum == content_sum(RECORDS, LISTINGS)
        rows = rows_of(whole)
        assert [row.read and row.read.fields["exchange"] for row in rows] == ["XAMS", "XAMS"]
        assert [row.read and row.read.fields["tick_size"] for row in rows] == [
            "0.0100000000",
            "12345678901234567890.1200000000",
        ]


def envelopes(path: Path, records: list[str], **changes: Any) -> Path:
    facts = {
        **{"schema_version": 1, "vendor": "marketdata", "dataset": "instrument"},
        **{"captured_at_us": 1772361000000000, "snapshot_ts_us": 1772359200000000},
        **{"partitions": {"exchange": "XAMS"}, "request": {"exchange": "XAMS"}},
    }
    lines = [json.dumps(facts | changes).removesuffix("}") + f', "record": {record}}}\n' for record in records]
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return path


# The sum of its content.


def test_3_canonical_dedup_works_whatever_the_order_and_the_packing(made: Made) -> None:
    """Section 10, test 3: other gzip levels and headers, other orders of records and members, other spelling."""
    first = read_capture(made(*RECORDS))
    again = [json.dumps(dict(reversed(json.loads(one, parse_float=str).items()))) for one in RECORDS]
    random.Random(run_seed()).shuffle(again)
    again = [
        one.replace('"0.010"', "1.0e-2").replace('"12345678901234567890.12"', "12345678901234567890.120")
        for one in again
    ]
    again = [one.replace('"1.50"', "1.5") for one in again]
    folder = made(*again, at=WHEN + timedelta(days=1))
    second = read_capture(folder)
    assert second.content_sum == first.content_sum
    assert second.file_sum != first.file_sum
    for level in (1, 9):
        records = folder / "records.jsonl.gz"
        records.write_bytes(gzip.compress("\n".join(again).encode(), level))
        packed = read_capture(edited(folder, records_file_sha256=sum_of(records)))
        rows_of(packed)
        status = decide(packed, AUTHORIZED, scope="XAMS", previous=Accepted("L1", WHEN, first.content_sum))
        assert (status.name, status.prior) == ("skipped_duplicate", "L1")


def test_4_different_content_is_not_taken_for_the_same(made: Made) -> None:
    """Section 10, test 4: one field, a member more, a null, or a digit that a float would lose."""
    first = content_sum(RECORDS, LISTINGS)
    for old, new in (
        ('"lot_size": 1', '"lot_size": 2'),
        ('"lot_size": 1', '"lot_size": 1, "more": null'),
        ("567890.12", "567890.13"),
        ("1.50", "1.51"),
        ('"name": null', '"name": "null"'),
    ):
        other = [one.replace(old, new) for one in RECORDS]
        assert other != RECORDS
        assert content_sum(other, LISTINGS) != first
    changed = read_capture(made(RECORDS[0], at=WHEN + timedelta(1)))
    assert decide(changed, AUTHORIZED, scope="XAMS", previous=Accepted("L1", WHEN, first)).name == "pending"


def test_the_canonical_form_of_ordinary_records_is_pythons_own(made: Made) -> None:
    """Section 3.5: json.dumps with sorted keys, a line each."""
    records = [{"symbol": "B", "x": 0.1, "y": [1, True, None]}, {"symbol": "A", "x": 1e-7, "z": {"b": 1, "a": "é"}}]
    lines = "\n".join(json.dumps(one, sort_keys=True) for one in reversed(records))
    own = content_sum([json.dumps(one, indent=1) for one in records], LISTINGS)
    assert own == hashlib.sha256(lines.encode()).hexdigest()


# Bad ones: each is refused with its remedy, and stops no other.


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"complete": None}, "does not say complete"),
        ({"vendor": None, "record_count": None}, "does not say vendor, record_count"),
        ({"schema_version": 3}, "is no JSON object with schema_version 2"),
        ({"complete": "yes"}, "complete is 'yes', which is no bool"),
        ({"captured_at_us": True}, "captured_at_us is True, which is no int"),
        ({"captured_at_us": -1}, "captured_at_us is -1, which is no int that it can be"),
        ({"capture_mode": "delta"}, "capture_mode is 'delta', not full_snapshot or incremental_append"),
        ({"record_format": "../../../secret"}, "record_format is '../../../secret', not jsonl.gz or parquet"),
        ({"partitions": {"exchange": 1}}, "not all of them text"),
        ({"records_file_sha256": "0" * 64}, "is not what its manifest says: the sum of its bytes is "),
        ({"records_content_sha256": "0" * 64}, "does not hold the records that its manifest summed"),
        ({"record_count": 3}, "holds 2 records, its manifest says 3"),
        ({"partitions": {"exchange": "XPAR"}}, "says that exchange is XPAR, and lies in exchange=XAMS"),
        ({"captured_at_us": 1772361000000001}, "says that captured_ts is 1772361000000001, and lies in"),
        ({"data_type": "other"}, "says that type is other, and lies in type=instrument_listings"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_a_manifest_that_is_wrong_is_refused(made: Made, changes: dict[str, Any], says: str) -> None:
    told = why_refused(edited(made(), **changes))
    assert says in told
    assert "Nothing of it was landed; " in told


def test_a_capture_that_was_not_finished_is_refused(made: Made) -> None:
    folder = made()
    (folder / "records.jsonl.gz").rename(folder / "elsewhere")
    assert "speaks of records.jsonl.gz, which is not there" in why_refused(folder)
    (folder / "_manifest.json").write_text('{"schema_version": 2,')
    assert "is no JSON (" in why_refused(folder)
    (folder / "_manifest.json").unlink()
    assert f"{folder} has no _manifest.json, so it was not finished" in why_refused(folder.parent)


def test_half_a_gzip_is_refused_whether_or_not_its_manifest_knows(made: Made) -> None:
    folder = made(*[f'{{"symbol": "S{number}"}}' for number in range(7_000)])
    records = folder / "records.jsonl.gz"
    records.write_bytes(records.read_bytes()[:-100])
    assert "is not what its manifest says" in why_refused(folder)
    edited(folder, records_file_sha256=sum_of(records))
    assert "is half a gzip: it ends too early" in why_refused(folder)


def test_a_bomb_is_refused(made: Made) -> None:
    folder = made()
    records = folder / "records.jsonl.gz"
    records.write_bytes(gzip.compress(bytes(128 << 20)))
    told = why_refused(edited(folder, records_file_sha256=sum_of(records)))
    assert "unpacks to more than 100 times its size, as only a bomb does" in told


def test_what_leads_out_of_its_place_is_refused(made: Made, tmp_path: Path) -> None:
    """Records that are a link to elsewhere, a capture that is one, and a name that would write elsewhere."""
    folder = made()
    secret = tmp_path / "secret.gz"
    shutil.move(folder / "records.jsonl.gz", secret)
    (folder / "records.jsonl.gz").symlink_to(secret)
    assert "leads out of" in why_refused(folder)
    other = made(at=WHEN + timedelta(1))
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "link.jsonl.gz").symlink_to(envelopes(tmp_path / "outside.jsonl.gz", RECORDS))
    _, [wrong] = find_captures([inbox])
    assert str(wrong).startswith(f"{inbox}/link.jsonl.gz leads out of {inbox}. Nothing of it was landed; ")
    for asked in (
        replace(ASKED, vendor="../../etc"),
        replace(ASKED, partitions={"exchange": "../../../.."}),
        replace(ASKED, data_type="a/b"),
        replace(ASKED, partitions={"..": "x"}),
    ):
        with pytest.raises(CaptureError, match=r"cannot name a folder\. Nothing was written"):
            made(asked=asked, at=WHEN + timedelta(2))
    assert other.is_dir()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"symbol": "A"}\n', "line 1 is no envelope of a capture"),
        (b'{"schema_version": 7, "record": {}}\n', "line 1 is no envelope of a capture"),
        (b"\xff\n", "line 1 is no envelope of a capture"),
        (b"\n", "holds no envelope"),
    ],
)
def test_an_unknown_envelope_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(content))
    told = why_refused(tmp_path)
    assert says in told
    assert "Nothing of it was landed; " in told


def test_envelopes_of_two_captures_in_one_file_are_refused(tmp_path: Path) -> None:
    first = envelopes(tmp_path / "one.jsonl.gz", RECORDS[:1])
    other = envelopes(tmp_path / "two.jsonl.gz", RECORDS[1:], captured_at_us=1772361000000001)
    both = tmp_path / "both"
    both.mkdir()
    (both / "a.jsonl.gz").write_bytes(first.read_bytes() + other.read_bytes())
    assert "line 2 is of another capture than line 1" in why_refused(both)


def test_what_is_no_record_of_a_good_capture_is_in_quarantine(made: Made) -> None:
    """Its sum is that of what is there, readable or not."""
    folder = made(RECORDS[0], "[]", '{"symbol": 1', '{"tick_size": 1}', '{"symbol": "A", "tick_size": "big"}')
    rows = rows_of(read_capture(folder))
    assert [row.reason for row in rows] == [
        None,
        "malformed_record",
        "malformed_record",
        "missing_key",
        "unreadable_value",
    ]


def test_a_bad_capture_stops_no_other(made: Made, tmp_path: Path) -> None:
    good = [made(at=WHEN + timedelta(days)) for days in range(3)]
    edited(good[1], record_count=None)
    found, wrong = find_captures([tmp_path / "bronze"])
    assert [capture.records.parent for capture in found] == [good[0], good[2]]
    assert len(wrong) == 1


def test_two_captures_of_one_instant_and_a_clock_that_goes_back_write_nothing(made: Made) -> None:
    folder = made()
    before = sorted(folder.parents[4].rglob("*"))
    for at in (WHEN, WHEN - timedelta(microseconds=1), WHEN - timedelta(days=400)):
        with pytest.raises(CaptureError, match=r"has a capture of 2026-03-01T10:30:00\.000000Z already, and the clock"):
            made(at=at)
    assert sorted(folder.parents[4].rglob("*")) == before
    made(at=WHEN, asked=replace(ASKED, partitions={"exchange": "XPAR"}))


# What the ledger says of a capture at landing.

AUTHORIZED = replace(LISTINGS, authorities={("instrument", ""): Authority("marketdata", "full_snapshot")})


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    answer = Answer(RECORDS, WHEN, True, len(RECORDS))
    return read_capture(write_capture(tmp_path_factory.mktemp("ledger"), ASKED, answer, feed=LISTINGS))


def status(capture: Capture, *, feed: Any = AUTHORIZED, previous: Accepted | None = None) -> tuple[str, str | None]:
    found = decide(capture, feed, scope="XAMS", previous=previous)
    return found.name, found.why


def test_5_an_incomplete_capture_is_skipped_whatever_else_it_is(capture: Capture) -> None:
    """Section 10, test 5, and 3.6: by its own word, or because more was announced."""
    assert status(capture) == ("pending", None)
    half = replace(capture, complete=False, record_count=1, vendor="other")
    assert status(half) == (
        "skipped_incomplete",
        "It does not say that it is complete (1 records of 2). Capture it again.",
    )
    short = replace(capture, expected_record_count=3)
    assert status(short) == (
        "skipped_incomplete",
        "It has 2 records where 3 were announced. Capture it again.",
    )


def test_authority_is_one_vendors_in_one_way(capture: Capture) -> None:
    """Sections 9.4 and 4.8: who provides a history of changes is not believed by snapshots."""
    assert status(capture, feed=replace(LISTINGS, authorities={}))[0] == "skipped_not_authoritative"
    assert status(replace(capture, vendor="other")) == (
        "skipped_not_authoritative",
        "It is a full_snapshot of other, and for instrument XAMS the full_snapshot of marketdata counts. It is kept to "
        "compare; seeds/authorities.csv says whose word counts.",
    )
    changes = {("instrument", "XAMS"): Authority("marketdata", "incremental_append")}
    for_one_scope = replace(LISTINGS, authorities={**AUTHORIZED.authorities, **changes})
    assert status(capture, feed=for_one_scope)[0] == "skipped_not_authoritative"


def test_2_a_snapshot_that_is_not_forward_is_rejected(capture: Capture) -> None:
    """Section 10, test 2: by its effective time, the vendor's if there is one."""
    before, after = (WHEN + timedelta(microseconds=offset) for offset in (-1, 1))
    for at, name in ((before, "pending"), (WHEN, "rejected_not_forward"), (after, "rejected_not_forward")):
        assert status(capture, previous=Accepted("L1", at, "other"))[0] == name
    late = replace(capture, vendor_effective_at=before)
    assert status(late, previous=Accepted("L1", before, "other"))[0] == "rejected_not_forward"
    _, why = status(capture, previous=Accepted("L1", WHEN, "other"))
    assert why is not None
    assert "Set the clock of the machine that captures, or land the vendor's history" in why


def test_law_c5_a_duplicate_repeats_the_one_before_it_and_none_before_that(capture: Capture) -> None:
    same, other = capture.content_sum, "other"
    assert status(capture, previous=Accepted("L1", WHEN, same))[0] == "skipped_duplicate", "the same one again"
    assert status(capture, previous=Accepted("L1", WHEN - timedelta(1), same))[0] == "skipped_duplicate"
    assert status(capture, previous=Accepted("L1", WHEN - timedelta(1), other))[0] == "pending", "A, B, A: three states"
    assert status(capture, previous=Accepted("L1", WHEN + timedelta(1), same))[0] == "rejected_not_forward"


def test_changes_need_not_go_forward(capture: Capture) -> None:
    """Late changes are repaired by the engine: only what a snapshot lacks depends on its place."""
    changes = replace(capture, capture_mode="incremental_append")
    feed = replace(LISTINGS, authorities={("instrument", ""): Authority("marketdata", "incremental_append")})
    assert status(changes, feed=feed, previous=Accepted("L1", WHEN + timedelta(1), "other"))[0] == "pending"


def test_every_mode_of_a_capture_is_one_of_the_two() -> None:
    assert CAPTURE_MODES == ("full_snapshot", "incremental_append")


def test_captured_rows_are_read_without_their_sums(made: Made) -> None:
    folder = made()
    capture = read_capture(folder)
    assert list(read_captured(capture.records, LISTINGS, capture.about)) == rows_of(capture)


def test_captured_changes_are_staged_as_they_come_with_times_of_their_own(tmp_path: Path) -> None:
    """Section 3.3: a capture of changes is no snapshot, so nothing is deleted for not being in it."""
    promises = {name: told for name, told in LISTINGS.promises.items() if name not in ("deletes", "load_type")}
    promises |= {"load_type": ("partial",), "source_time": ("event",), "deletes": ("never",)}
    authorities = {("instrument", "XAMS"): Authority("marketdata", "incremental_append")}
    fields = LISTINGS.fields | {"changed"}
    feed = replace(LISTINGS, source_time_field="changed", fields=fields, promises=promises, authorities=authorities)
    asked = replace(ASKED, capture_mode="incremental_append")
    records = [f'{{"symbol": "A", "changed": "2026-02-0{day}T00:00:00Z", "lot_size": {day}}}' for day in (3, 1)]
    folder = write_capture(tmp_path / "bronze", asked, Answer(records, WHEN, True), feed=feed)
    landing = stage_capture(tmp_path, feed, read_capture(folder), new_delivery(), {})
    rows = [row for part in landing.parts for row in pq.read_table(part).to_pylist()]
    assert [(row["status"], f"{row['source_event_ts']:%d %H}", row["scope"]) for row in rows] == [
        ("accepted", "03 00", "XAMS"),
        ("accepted", "01 00", "XAMS"),
        ("control", "01 10", None),
    ]
    manifest = json.loads(rows[-1]["record"])
    assert (manifest["snapshot"], manifest["capture"]["status"]) == (None, "pending")
    other = stage_capture(tmp_path, LISTINGS, read_capture(folder), new_delivery(), {})
    assert "by its load_type listings has full_snapshot" in str(other.refused[0])
