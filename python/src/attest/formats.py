"""How files of each format are read: one function a format, from a file to its records, and one to read a record again.

A format knows nothing of landing: it yields every record as it was received, with what its feed's
contract reads in it or why nothing was. `attest.stage` lists all of them.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from attest.contract import Feed
from attest.errors import LandingError
from attest.event import read_event
from attest.record import ACCEPTED, QUARANTINED, Read, UnreadableError, known_fields, read_fields, read_json_object

BLANK = b" \t\r\n"
GZIP = b"\x1f\x8b"
# A record longer than this is in quarantine; a line longer than that is no line of any source.
LONGEST, MOST_KEPT = 64 << 20, 256 << 20
# What packed files may unpack to: text packs ten- or thirtyfold, a bomb a thousandfold.
MOST_EXPANSION, UNSUSPECTED = 100, 64 << 20
PARQUET_BATCH = 5_000
csv.field_size_limit(LONGEST)

# What a file says of all of its records, which each needs to be read again: kept with the landing.
About = dict[str, Any]


class Row(NamedTuple):
    """A record, and what was read of it, or why it was set aside and where."""

    line: int
    record: str
    read: Read | None = None
    reason: str | None = None
    detail: str | None = None
    aside: str = QUARANTINED

    @property
    def status(self) -> str:
        return ACCEPTED if self.reason is None else self.aside


class Format(NamedTuple):
    """`records` yields a file's records, whatever they are; `again` reads one that is landed. Both may use `about`."""

    records: Callable[[Path, Feed, About], Iterator[Row]]
    again: Callable[[int, str, Feed, About], Row]


def as_row(line: int, record: str, read: Callable[[], Read]) -> Row:
    """The record as it is read, or in quarantine."""
    try:
        if len(record) > LONGEST:
            raise UnreadableError(
                "too_long",
                f"has {len(record):,} characters, more than {LONGEST:,}: have the source send it in parts, "
                "or without what nobody reads",
            )
        return Row(line, record, read())
    except UnreadableError as error:
        return Row(line, record, error.read, error.reason, error.detail, error.status)


# Bytes.


def refuse_escape(path: Path, *, root: Path) -> None:
    """A link may not bring in what lies elsewhere: who fills a folder need not be allowed to read that."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise LandingError(
            f"{path} leads out of {root}. Nothing of it was landed; copy it into the folder, or name the file itself."
        )


def sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where it is a gzip; what is wrong with it is said of it."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == GZIP
            file.seek(0)
            if packed:
                with io.BufferedReader(Unpacked(path, file)) as unpacked:
                    yield unpacked
            else:
                yield file
    except EOFError:
        raise LandingError(
            f"{path} is half a gzip: it ends too early. Nothing of it was landed; get it again, whole."
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise LandingError(
            f"{path} is a broken gzip ({error}). Nothing of it was landed; get it again, whole."
        ) from None
    except OSError as error:
        raise LandingError(
            f"{path} could not be read to its end ({error}). Nothing of it was landed; land it again."
        ) from None


class Unpacked(io.RawIOBase):
    """A gzip's content, as long as it is in proportion to what was sent."""

    def __init__(self, path: Path, packed: BinaryIO) -> None:
        self.path = path
        self.unpacked = gzip.GzipFile(fileobj=packed)
        self.most = max(UNSUSPECTED, MOST_EXPANSION * path.stat().st_size)
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = self.unpacked.read1(len(buffer))
        self.count += len(got)
        if self.count > self.most:
            raise LandingError(
                f"{self.path} unpacks to more than {MOST_EXPANSION} times its size, as only a bomb does. Nothing of it "
                "was landed; if you trust it, unpack it yourself and land what comes out."
            )
        buffer[: len(got)] = got
        return len(got)


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, its end included. Lines end at \\n only: values may hold U+2028 and its kin."""
    with opened(path) as file:
        number = 0
        while line := file.readline(MOST_KEPT + 1):
            number += 1
            if len(line) > MOST_KEPT:
                raise LandingError(
                    f"{path}, line {number} is longer than {MOST_KEPT:,} bytes, so it is hardly one record. Nothing of "
                    "the file was landed; have the source end each record with a line feed."
                )
            yield number, line


def text_of(line: int, raw: bytes) -> str | Row:
    """A line as text, without the mark that some put before the first; what is no UTF-8 is a row in quarantine."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        remedy = "is not UTF-8: have the source send UTF-8 (its bytes are kept here as Latin-1)"
        return Row(line, raw.decode("latin-1"), reason="not_utf8", detail=remedy)
    return text


def unmarked(line: int, text: str) -> str:
    return text.removeprefix("\ufeff") if line == 1 else text


# JSON lines: a record a line.


def read_lines(path: Path, feed: Feed, _about: About) -> Iterator[Row]:
    """Each line that is not blank, of a format that has a record a line."""
    for line, raw in lines_of(path):
        if raw.strip(BLANK):
            yield read_line(line, raw.removesuffix(b"\n"), feed)


def read_line(line: int, raw: bytes, feed: Feed) -> Row:
    text = text_of(line, raw)
    return text if isinstance(text, Row) else read_text_line(line, text, feed, {})


def read_text_line(line: int, record: str, feed: Feed, _about: About) -> Row:
    read = read_event if feed.format == "debezium" else read_json_fields
    return as_row(line, record, lambda: read_fields(read(unmarked(line, record), feed), feed))


def read_json_fields(text: str, feed: Feed) -> dict[str, str | None]:
    return read_json_object(text, only=known_fields(feed))


# CSV: a header, then a record a row; a cell in double quotes may hold commas and lines.

# The row so far ends within a cell that a double quote opened.
CELL = r'(?:"(?:[^"]++|"")*+"|[^",\n]*+)'
STILL_OPEN = re.compile(rf'(?:{CELL},)*+"(?:[^"]++|"")*+')


def read_csv(path: Path, feed: Feed, about: About) -> Iterator[Row]:
    """Each row under the file's header, which names fields of the contract; an empty cell is an empty text."""
    rows = csv_rows(path)
    header = next(rows, None)
    if header is None:
        return
    about["header"] = read_header(path, *header)
    for line, raw in rows:
        text = text_of(line, raw.removesuffix(b"\n"))
        yield text if isinstance(text, Row) else read_csv_row(line, text, feed, about)


def csv_rows(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each row's bytes with the line where it starts. A quote that never closes keeps the rest of the file together."""
    begun: list[bytes] = []
    started = quotes = length = 0
    for line, raw in lines_of(path):
        if not begun and not raw.strip(BLANK):
            continue
        started = started if begun else line
        begun.append(raw)
        quotes += raw.count(b'"')
        length += len(raw)
        if length > MOST_KEPT:
            raise LandingError(
                f"{path}, line {started} opens a double quote that nothing closes in {MOST_KEPT:,} bytes. Nothing of "
                "the file was landed; have the source close it."
            )
        if quotes % 2 == 0 or (len(begun) == 1 and not is_open(raw)):
            yield started, b"".join(begun)
            begun, quotes, length = [], 0, 0
    if begun:
        yield started, b"".join(begun)


def is_open(raw: bytes) -> bool:
    """Whether an odd quote opened a cell; one within a bare cell, as in 5" pipe, opens nothing."""
    return STILL_OPEN.fullmatch(raw.decode("latin-1")) is not None


def read_header(path: Path, line: int, raw: bytes) -> list[str]:
    try:
        names = cells_of(unmarked(line, raw.decode()))
    except (UnicodeDecodeError, csv.Error):
        names = []
    if not names or len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise LandingError(
            f"{path}, line {line} is no header: it must name each column once, in UTF-8. Nothing of the file was "
            "landed; have the source send one."
        )
    return names


def cells_of(text: str) -> list[str]:
    if '"' not in text:
        return text.rstrip("\r\n").split(",")
    return next(csv.reader(io.StringIO(text, newline=""), strict=True))


def read_csv_row(line: int, record: str, feed: Feed, about: About) -> Row:
    return as_row(line, record, lambda: read_fields(cells_by_name(record, about["header"]), feed))


def cells_by_name(record: str, header: list[str]) -> dict[str, str | None]:
    try:
        cells = cells_of(record)
    except csv.Error as error:
        raise UnreadableError(
            "malformed_record", f"is no CSV ({error}): have the source double each quote within quotes"
        ) from None
    if len(cells) != len(header):
        raise UnreadableError(
            "malformed_record",
            f"has {len(cells)} cells, the header {len(header)}: have the source send all, and quote what holds a comma",
        )
    return dict(zip(header, cells, strict=True))


# Parquet: a record a row; a column that is not there is not spoken of.


def read_parquet(path: Path, feed: Feed, about: About) -> Iterator[Row]:
    for line, record in enumerate(parquet_records(path), start=1):
        yield read_text_line(line, record, feed, about)


def parquet_records(path: Path) -> Iterator[str]:
    """Each row as JSON of its values' text: exact for all types but floats, which stand in their shortest form."""
    for names, columns in parquet_batches(path):
        for cells in zip(*columns, strict=True):
            yield json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False)


def parquet_batches(path: Path) -> Iterator[tuple[list[str], list[list[str | None]]]]:
    try:
        with pq.ParquetFile(path) as file:
            refuse_unreadable_columns(path, file.schema_arrow)
            for batch in file.iter_batches(PARQUET_BATCH):
                yield batch.schema.names, [texts(column) for column in batch.columns]
    except (pa.ArrowException, OSError) as error:
        why = " ".join(str(error).split())[:200]
        raise LandingError(
            f"{path} is no whole Parquet file ({why}). Nothing of it was landed; get it again, whole."
        ) from None


def refuse_unreadable_columns(path: Path, schema: pa.Schema) -> None:
    if len(set(schema.names)) < len(schema.names):
        raise LandingError(f"{path} has two columns of one name. Nothing of it was landed; have the source rename one.")
    for column in schema:
        if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            raise LandingError(
                f"{path}: column {column.name} is {column.type}, which is no single value. Nothing of the file was "
                "landed; have the source send its parts as columns, or as JSON text."
            )


def texts(column: pa.Array) -> list[str | None]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    found: list[str | None] = pc.cast(column, pa.string()).to_pylist()
    return found


JSON_LINES = EVENTS = Format(read_lines, read_text_line)
CSV = Format(read_csv, read_csv_row)
PARQUET = Format(read_parquet, read_text_line)
