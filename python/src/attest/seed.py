"""Load a seed: only when its content changed, every cell checked, in one commit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.errors import SeedError
from attest.macros import home
from attest.news import Note, standing, version_at
from attest.order import Outcome
from attest.project import read_cells, read_text, read_yaml
from attest.write import Table

LINE, MISFIT = "attest_line", "attest_misfit"
TIMES = ("date", "timestamp")


def load(spark: SparkSession, order: str) -> Outcome:
    """Replace the seed's table if the file says something else than last time."""
    wanted: dict[str, Any] = json.loads(order)
    table = Table(**wanted["table"])
    path = Path(wanted["path"])
    types: dict[str, str] = wanted["column_types"] or declared_types(Path(wanted["root"]), path.stem)
    text = read(path)
    note = Note(hashlib.sha256(json.dumps([text, types], sort_keys=True).encode()).hexdigest())
    current = standing(spark, table.name)
    if current is not None and current.note == note and not wanted["full_refresh"]:
        return Outcome("unchanged")
    rows = typed(spark, path, parse(path, text, types), types)
    written = write.create(spark, table, rows, note=note, since=version_at(current))
    return Outcome(f"{written.primitive}: {written.rows} rows", written)


def declared_types(root: Path, name: str) -> dict[str, str]:
    """By the project's own YAML, else by that of attest's seed of this name."""
    for project in (root, home(root)):
        path = project / "seeds" / f"{name}.yml"
        if path.is_file():
            seeds = {declared["name"]: declared for declared in read_yaml(path)["seeds"]}
            types: dict[str, str] = seeds[name]["config"]["column_types"]
            return types
    raise SeedError(f"{name}: nothing says what types its columns have. Declare them as column_types in {name}.yml.")


def read(path: Path) -> str:
    return read_text(path, SeedError)


def parse(path: Path, text: str, types: dict[str, str]) -> list[tuple[int, list[str | None]]]:
    """Line number and cells of each row; an empty cell is null."""
    (_, header), *rows = read_cells(path, text, SeedError)
    if header != list(types):
        raise SeedError(
            f"{path}, line 1: the columns are {', '.join(header)}; the seed declares "
            f"{', '.join(types)} (column_types in its YAML), in this order. Make them the same."
        )
    return [(line, [cell if cell != "" else None for cell in cells]) for line, cells in rows]


def typed(
    spark: SparkSession, path: Path, rows: list[tuple[int, list[str | None]]], types: dict[str, str]
) -> DataFrame:
    """The cells in their declared types; the first one that does not fit is named."""
    columns = {name: pa.array([cells[i] for _, cells in rows], pa.string()) for i, name in enumerate(types)}
    cells = spark.createDataFrame(pa.table({LINE: pa.array([line for line, _ in rows], pa.int64()), **columns}))
    misfit = F.coalesce(*[F.when(is_misfit(F.col(name), sql_type), name) for name, sql_type in types.items()])
    found = cells.withColumn(MISFIT, misfit).where(F.col(MISFIT).isNotNull()).orderBy(LINE).first()
    if found is not None:
        name = found[MISFIT]
        hint = ", as in 2026-03-01" if types[name] in TIMES else ""
        raise SeedError(
            f"{path}, line {found[LINE]}: {found[name]!r} in column {name} is no {types[name]}{hint}. Correct the cell."
        )
    return cells.select(*[F.col(name).cast(sql_type).alias(name) for name, sql_type in types.items()]).coalesce(1)


def is_misfit(cell: Column, sql_type: str) -> Column:
    """No value of that type, or one that Spark would take for another: 10:30 for today's, 0.005 rounded."""
    value = cell.try_cast(sql_type)
    wrong = value.isNull()
    if sql_type in TIMES:
        wrong |= ~cell.rlike("^[0-9]{4}-[0-9]{2}-[0-9]{2}")
    if sql_type.startswith("decimal"):
        wrong |= value != cell.try_cast("decimal(38, 18)")
    return cell.isNotNull() & wrong
