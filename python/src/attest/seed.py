"""Load a seed: only when its content changed, every cell checked, in one commit."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from attest import write
from attest.build import Outcome
from attest.errors import SeedError
from attest.news import Note, standing
from attest.write import Table

LINE = "attest_line"


def load(spark: SparkSession, order: str) -> Outcome:
    """Replace the seed's table if the file says something else than last time."""
    wanted: dict[str, Any] = json.loads(order)
    table = Table(**wanted["table"])
    types: dict[str, str] = wanted["column_types"]
    path = Path(wanted["path"])
    text = read(path)
    note = Note(hashlib.sha256(json.dumps([text, types], sort_keys=True).encode()).hexdigest())
    current = standing(spark, table.name)
    if current is not None and current.note == note and not wanted["full_refresh"]:
        return Outcome("unchanged", 0)
    rows = typed(spark, path, parse(path, text, types), types)
    written = write.create(spark, table, rows, note=note)
    return Outcome(f"{written.primitive}: {written.rows} rows", written.rows)


def read(path: Path) -> str:
    raw = path.read_bytes()
    if raw.startswith(b"\xef\xbb\xbf"):
        raise SeedError(f"{path}, line 1: starts with a byte-order mark. Save it as UTF-8 without one.")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise SeedError(f"{path}, line {line}: is not UTF-8. Save the file as UTF-8.") from None
    if "\r" in text:
        line = text[: text.index("\r")].count("\n") + 1
        raise SeedError(f"{path}, line {line}: ends with a carriage return. Save it with plain line ends (LF).")
    return text


def parse(path: Path, text: str, types: dict[str, str]) -> list[tuple[int, list[str | None]]]:
    """Line number and cells of each row; an empty cell is null."""
    reader = csv.reader(io.StringIO(text), strict=True)
    rows: list[tuple[int, list[str | None]]] = []
    try:
        header = next(reader, [])
        if header != list(types):
            raise SeedError(
                f"{path}, line 1: the columns are {', '.join(header) or 'missing'}; the seed declares "
                f"{', '.join(types)} (column_types in its YAML), in this order. Make them the same."
            )
        for cells in reader:
            if len(cells) != len(header):
                raise SeedError(
                    f"{path}, line {reader.line_num}: has {len(cells)} cells, the header {len(header)}. "
                    "A comma inside a cell needs double quotes around the cell."
                )
            rows.append((reader.line_num, [cell if cell != "" else None for cell in cells]))
    except csv.Error as error:
        raise SeedError(f"{path}, line {reader.line_num}: {error}. Check its double quotes.") from None
    return rows


def typed(
    spark: SparkSession, path: Path, rows: list[tuple[int, list[str | None]]], types: dict[str, str]
) -> DataFrame:
    """The cells in their declared types; the first one that does not fit is named."""
    schema = StructType([StructField(name, StringType()) for name in (LINE, *types)])
    cells = spark.createDataFrame([(str(line), *values) for line, values in rows], schema)
    for name, sql_type in types.items():
        misfit = cells.where(F.col(name).isNotNull() & F.col(name).try_cast(sql_type).isNull()).first()
        if misfit is not None:
            raise SeedError(
                f"{path}, line {misfit[LINE]}: {misfit[name]!r} in column {name} is no {sql_type}. Correct the cell."
            )
    return cells.select(*[F.col(name).cast(sql_type).alias(name) for name, sql_type in types.items()]).coalesce(1)
