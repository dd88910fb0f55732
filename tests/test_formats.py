"""Files of every format, and the bad ones: each is refused or in quarantine with its remedy, and stops no other."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attest import contract as contracts
from attest import formats
from attest.contract import Feed
from attest.delivery import Landing, new_delivery
from attest.formats import Row
from attest.stage import FORMATS, read_files, stage
from engine import contract

WORKED = contract()
HOLDINGS = contract("holdings")
TYPED = replace(
    contract("accounts"), types={"credit_limit": "decimal(18,2)", "opened_on": "date"}, time_zone=UTC, format="parquet"
)
GOOD = '{"customer_id": "C1", "source_system": "CRM", "source_event_ts": "2026-03-01T09:00:00Z"}'
HEADER = "customer_no,account_no,changed_at,role"
Kept = Callable[..., list[Row]]


@pytest.fixture
def rows_of(tmp_path: Path) -> Kept:
    """The records of a file with these bytes, read once, and once more from what is kept of them."""

    def read(content: bytes, feed: Feed) -> list[Row]:
        file = tmp_path / f"a.{feed.format}"
        file.write_bytes(content)
        about: formats.About = {}
        rows = list(FORMATS[feed.format].records(file, feed, about))
        kept = json.loads(json.dumps(about))
        again = [FORMATS[feed.format].again(row.line, row.record, feed, kept) for row in rows]
        assert [row for row in rows if row.reason != "not_utf8"] == [
            other for row, other in zip(rows, again, strict=True) if row.reason != "not_utf8"
        ]
        return rows

    return read


def fields(rows: list[Row]) -> list[dict[str, Any] | str | None]:
    return [row.read.fields if row.read else row.reason for row in rows]


def landed(tmp_path: Path, *files: Path, feed: Feed = WORKED) -> tuple[Landing, list[str]]:
    """What landing would append, without Spark, and what it says of the files that it could not land."""
    landing = stage(tmp_path, feed, read_files(files, feed), new_delivery())
    return landing, [str(error) for error in landing.refused]


def test_every_format_of_a_contract_has_a_reader() -> None:
    assert set(contracts.FORMATS) == set(FORMATS)


# CSV.

CSV = replace(HOLDINGS, format="csv")


def test_a_csv_row_is_read_by_its_header_and_kept_as_it_was(rows_of: Kept) -> None:
    content = (
        f"\ufeff{HEADER}\r\n"
        'C1,A1,2026-03-01T09:00:00Z,"Owner, ""first""\nof two"\r\n'
        "\r\n"
        'C1,A2,2026-03-01T09:00:00Z,5" pipe\r\n'
        "C1,A3,2026-03-01T09:00:00Z,\u2028\n"
        '"C2","A4",2026-03-01T09:00:00Z,'
    )
    rows = rows_of(content.encode(), CSV)
    assert [(row.line, row.read.fields["role"] if row.read else row.detail) for row in rows] == [
        (2, 'Owner, "first"\nof two'),
        (5, '5" pipe'),
        (6, "\u2028"),
        (7, ""),
    ]
    assert rows[0].record == 'C1,A1,2026-03-01T09:00:00Z,"Owner, ""first""\nof two"\r'
    assert rows[3].read is not None
    assert rows[3].read.fields["customer_no"] == "C2"


def test_law_b5_an_empty_cell_is_empty_text_unless_the_contract_says_that_it_means_null(rows_of: Kept) -> None:
    content = f"{HEADER}\nC1,A1,2026-03-01T09:00:00Z,\n".encode()
    assert [row.read and row.read.fields["role"] for row in rows_of(content, CSV)] == [""]
    meaning_null = replace(CSV, promises={**CSV.promises, "null_text": ("",)})
    assert [row.read and row.read.fields["role"] for row in rows_of(content, meaning_null)] == [None]


def test_law_e3_a_column_that_is_not_there_is_not_spoken_of(rows_of: Kept) -> None:
    [row] = rows_of(b"customer_no,account_no,changed_at\nC1,A1,2026-03-01T09:00:00Z\n", CSV)
    assert row.read is not None
    assert "role" not in row.read.fields


@pytest.mark.parametrize(
    ("row", "reason", "says"),
    [
        ("C1,A1", "malformed_record", "has 2 cells, the header 4"),
        ("C1,A1,2026-03-01T09:00:00Z,a,b", "malformed_record", "has 5 cells, the header 4"),
        ('C1,A1,2026-03-01T09:00:00Z,"a"b', "malformed_record", "is no CSV"),
        ('C1,A1,2026-03-01T09:00:00Z,"never closed', "malformed_record", "is no CSV (unexpected end of data)"),
        (",A1,2026-03-01T09:00:00Z,Owner", "missing_key", "customer_no is missing or blank"),
        ("C1,A1,soon,Owner", "unparsable_time", "changed_at is 'soon'"),
    ],
)
def test_law_e2_a_csv_row_that_breaks_its_contract_is_in_quarantine(
    rows_of: Kept, row: str, reason: str, says: str
) -> None:
    found = rows_of(f"{HEADER}\nC1,A0,2026-03-01T09:00:00Z,Owner\n{row}".encode(), CSV)
    assert [one.reason for one in found] == [None, reason]
    assert says in (found[1].detail or "")
    assert "have the source" in (found[1].detail or "")


def test_an_unclosed_quote_keeps_what_follows_together_and_a_stray_one_does_not(rows_of: Kept) -> None:
    good = "C1,A0,2026-03-01T09:00:00Z,Owner"
    assert [row.reason for row in rows_of(f'{HEADER}\nC1,"A0\n{good}\n{good}\n'.encode(), CSV)] == ["malformed_record"]
    assert [row.reason for row in rows_of(f'{HEADER}\nC1,A"0,x\n{good}\n{good}\n'.encode(), CSV)] == [
        "malformed_record",
        None,
        None,
    ]


@pytest.mark.parametrize("header", ["a,a", "a,,b", '"a', "a,b\xff"])
def test_a_csv_without_a_header_to_rely_on_is_refused(tmp_path: Path, header: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(header.encode("latin-1") + b"\n1,2\n")
    _, refused = landed(tmp_path, file, feed=CSV)
    assert refused == [
        f"{file}, line 1 is no header: it must name each column once, in UTF-8. Nothing of the file was landed; "
        "have the source send one."
    ]


# Parquet.


def test_a_parquet_row_is_exactly_what_its_types_say(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    columns: dict[str, pa.Array] = {
        "account_no": pa.array(["A-1", "A-2"]).dictionary_encode(),
        "source_system": pa.array(["CORE", "CORE"]),
        "changed_at": pa.array([1, 1_772_000_000_000_000_001], pa.timestamp("ns")),
        "is_deleted": pa.array([False, None]),
        "credit_limit": pa.array([Decimal("1250.50"), None], pa.decimal128(18, 2)),
        "opened_on": pa.array([date(1969, 7, 20), None]),
    }
    pq.write_table(pa.table(columns), file)
    rows = list(FORMATS["parquet"].records(file, TYPED, {}))
    assert fields(rows) == [
        {
            **{"account_no": "A-1", "source_system": "CORE", "changed_at": "1970-01-01 00:00:00.000000001"},
            **{"is_deleted": "false", "credit_limit": "1250.50", "opened_on": "1969-07-20"},
        },
        {
            **{"account_no": "A-2", "source_system": "CORE", "changed_at": "2026-02-25 06:13:20.000000001"},
            **{"is_deleted": None, "credit_limit": None, "opened_on": None},
        },
    ]
    assert [(row.read.source_event_ts, row.read.source_event_finer) for row in rows if row.read] == [
        (datetime(1970, 1, 1, tzinfo=UTC), 1_000_000_000),
        (datetime(2026, 2, 25, 6, 13, 20, tzinfo=UTC), 1_000_000_000),
    ]
    assert [FORMATS["parquet"].again(row.line, row.record, TYPED, {}) for row in rows] == rows


def test_numbers_and_zones_of_parquet_are_read_as_they_stand(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    columns = {
        "big": pa.array([2**63 - 1]),
        "float": pa.array([0.1]),
        "zoned": pa.array([0], pa.timestamp("us", tz="Europe/London")),
    }
    pq.write_table(pa.table(columns), file)
    [(names, [[big], [short], [zoned]])] = list(formats.parquet_batches(file))
    assert (names, big, short) == (["big", "float", "zoned"], "9223372036854775807", "0.1")
    assert zoned is not None
    assert datetime.fromisoformat(zoned).timestamp() == 0


@pytest.mark.parametrize("column", [[[1]], [{"a": 1}], [b"\xff"]], ids=["list", "struct", "bytes"])
def test_a_parquet_column_that_is_no_single_value_is_refused(tmp_path: Path, column: list[Any]) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"odd": column}), file)
    _, [refused] = landed(tmp_path, file, feed=TYPED)
    assert refused.startswith(f"{file}: column odd is ")
    assert "have the source send its parts as columns" in refused


def test_half_a_parquet_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"account_no": ["A-1"] * 1000}), file)
    file.write_bytes(file.read_bytes()[:-20])
    _, [refused] = landed(tmp_path, file, feed=TYPED)
    assert refused.startswith(f"{file} is no whole Parquet file (")
    assert refused.endswith("Nothing of it was landed; get it again, whole.")


# Packed files, bombs, long lines, and what is no text: one of them stops no other.


def packed(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content))
    return path


def test_a_packed_file_is_read_whatever_its_name(tmp_path: Path) -> None:
    landing, refused = landed(tmp_path, packed(tmp_path / "a.jsonl", f"{GOOD}\n{GOOD}\n".encode()))
    assert (landing.records, refused) == (2, [])


def test_half_a_gzip_is_refused_and_stops_no_other(tmp_path: Path) -> None:
    """Cut in the middle, cut before its sum, and with a wrong sum; long enough to be staged before it shows."""
    whole = gzip.compress((f"{GOOD}\n".encode() * 12_000) + os.urandom(100_000).hex().encode(), mtime=0)
    bad = {"middle": whole[: len(whole) // 2], "end": whole[:-8], "sum": whole[:-8] + bytes(8)}
    files = [tmp_path / f"{name}.jsonl.gz" for name in bad]
    for file, content in zip(files, bad.values(), strict=True):
        file.write_bytes(content)
    landing, refused = landed(tmp_path, *files, packed(tmp_path / "good.jsonl.gz", f"{GOOD}\n".encode()))
    assert landing.records == 1
    assert [text.partition(" is ")[2].partition(".")[0].partition(" (")[0] for text in refused] == [
        "half a gzip: it ends too early",
        "half a gzip: it ends too early",
        "a broken gzip",
    ]
    assert [text.rpartition("). ")[2].rpartition("early. ")[2] for text in refused] == [
        "Nothing of it was landed; get it again, whole."
    ] * 3


def test_a_zip_bomb_is_refused_before_it_fills_the_machine(tmp_path: Path) -> None:
    """A quarter of a gigabyte in a quarter of a megabyte, all of one line."""
    bomb = packed(tmp_path / "bomb.jsonl.gz", bytes(256 << 20))
    landing, refused = landed(tmp_path, bomb, packed(tmp_path / "good.jsonl.gz", f"{GOOD}\n".encode()))
    assert landing.records == 1
    assert refused == [
        f"{bomb} unpacks to more than 100 times its size, as only a bomb does. Nothing of it was landed; if you trust "
        "it, unpack it yourself and land what comes out."
    ]


def test_a_line_of_100_megabytes_is_in_quarantine_whole_and_the_next_is_read(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    long = GOOD.removesuffix("}") + ', "name": "' + "x" * 100_000_000 + '"}'
    file.write_text(f"{long}\n{GOOD}\n")
    landing, refused = landed(tmp_path, file)
    assert (landing.records, dict(landing.quarantined), refused) == (2, {"too_long": 1}, [])
    [quarantined] = landing.first_quarantined
    assert quarantined.detail.startswith(f"has {len(long):,} characters, more than 67,108,864: have the source send it")
    kept = [
        row for part in landing.parts for row in pq.read_table(part, columns=["record", "source_record"]).to_pylist()
    ]
    assert [row["record"] == long for row in kept if row["source_record"] == 1] == [True]


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_KEPT", 1_000)
    file = tmp_path / "endless.jsonl"
    file.write_text(f"{GOOD}\n" + "x" * 1_001)
    _, [refused] = landed(tmp_path, file)
    assert refused.startswith(f"{file}, line 2 is longer than 1,000 bytes, so it is hardly one record.")
    opened = tmp_path / "open.csv"
    opened.write_text(f'{HEADER}\n"C1,\n' + "x\n" * 600)
    _, [refused] = landed(tmp_path, opened, feed=CSV)
    assert refused.startswith(f"{opened}, line 2 opens a double quote that nothing closes in 1,000 bytes.")


def test_what_is_no_utf_8_is_in_quarantine_in_every_format_of_text(rows_of: Kept) -> None:
    for content, feed in (
        (GOOD.replace("CRM", "José").encode("latin-1") + b"\n" + GOOD.encode(), WORKED),
        (f"{HEADER}\nC1,A1,2026-03-01T09:00:00Z,Jos\xe9\nC1,A1,2026-03-01T09:00:00Z,Owner\n".encode("latin-1"), CSV),
    ):
        rows = rows_of(content, feed)
        assert [row.reason for row in rows] == ["not_utf8", None]
        assert "Jos\xe9" in rows[0].record


def test_progress_is_said_by_files_and_by_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = []
    for number in range(2_000):
        file = tmp_path / f"{number:04}.jsonl"
        file.write_text(f"{GOOD}\n")
        files.append(file)
    said: list[str] = []
    stage(tmp_path, WORKED, read_files(files, WORKED), new_delivery(), say=said.append)
    assert said == ["worked: 1,000 files, 1,000 records read", "worked: 2,000 files, 2,000 records read"]
    monkeypatch.setattr("attest.stage.RECORDS_BETWEEN", 10_000)
    large = tmp_path / "large.jsonl"
    large.write_text(f"{GOOD}\n" * 25_000)
    said.clear()
    stage(tmp_path, WORKED, read_files([large], WORKED), new_delivery(), say=said.append)
    assert said == [f"worked: {count:,} records read, now of {large}" for count in (10_000, 20_000)]


def test_a_disk_that_fails_within_a_gzip_is_no_half_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = packed(tmp_path / "a.jsonl.gz", f"{GOOD}\n".encode())

    def fails(*_: Any) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(gzip.GzipFile, "read1", fails)
    _, [refused] = landed(tmp_path, file)
    assert refused.startswith(f"{file} could not be read to its end ([Errno 5] Input/output error).")


def test_text_is_unpacked_in_pieces() -> None:
    """Whatever the size of the reads, the bytes are those that were packed."""
    content = os.urandom(200_000)
    with io.BytesIO(gzip.compress(content)) as file:
        unpacked = formats.Unpacked(Path(__file__), file)
        assert io.BufferedReader(unpacked, 1_000).read() == content
