"""Seeds: a table holds what its file says, cell by cell, or what it held before."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from attest.errors import SeedError
from attest.news import standing
from attest.order import Outcome
from attest.seed import load
from attest.session import isolated
from pyspark.sql import SparkSession

TYPES = {"name": "string", "rank": "int", "since": "timestamp", "day": "date", "share": "decimal(10, 2)"}
HEADER = ",".join(TYPES)
GOOD = f"{HEADER}\nCRM,1,1900-01-01,2026-03-01,0.25\n,,,,\n"
TABLE = "seeds_test.rules"

Load = Callable[..., Outcome]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seeds") / "rules.csv"


@pytest.fixture(scope="module")
def seed(root_session: SparkSession, file: Path) -> Load:
    """Load the seed with this content, as dbt orders it."""
    root_session.sql("create schema if not exists seeds_test")

    def run(content: str | bytes, *, full_refresh: bool = False) -> Outcome:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        table = {"name": TABLE, "properties": {}, "description": "Rules."}
        order = {"path": str(file), "column_types": TYPES, "full_refresh": full_refresh, "table": table}
        return load(isolated(root_session), json.dumps(order))

    return run


def version(spark: SparkSession) -> int:
    found = standing(spark, TABLE)
    assert found is not None
    return found.version


def rows(spark: SparkSession) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spark.table(TABLE).toArrow().to_pylist()
    return found


def test_cells_have_their_declared_types_and_empty_ones_are_null(spark: SparkSession, seed: Load) -> None:
    seed(GOOD)
    assert [field.dataType.simpleString() for field in spark.table(TABLE).schema] == [
        "string",
        "int",
        "timestamp",
        "date",
        "decimal(10,2)",
    ]
    crm = ("CRM", 1, datetime(1900, 1, 1, tzinfo=UTC), datetime(2026, 3, 1).date(), Decimal("0.25"))
    assert [tuple(row.values()) for row in rows(spark)] == [crm, (None,) * 5]


def test_unchanged_content_makes_no_commit_and_changed_content_makes_one(spark: SparkSession, seed: Load) -> None:
    seed(GOOD)
    before = version(spark)
    assert seed(GOOD) == Outcome("unchanged")
    assert version(spark) == before
    assert seed(f"{GOOD}CORE,2,,,\n").rows == 3
    assert version(spark) == before + 1
    assert seed(f"{HEADER}\n").rows == 0
    assert (version(spark), rows(spark)) == (before + 2, [])
    assert seed(f"{HEADER}\n", full_refresh=True).message.startswith("create")


CELLS = [
    "a comma, inside",
    'a "quoted" word',
    "it's",
    "back\\slash \\n \\",
    "-- no comment",
    "/* no comment */",
    "# no comment",
    "{{ this }} {% raw %} {# no #}",
    "${spark.master} $1",
    "line\nfeed",
    "tab\there",
    " outer spaces ",
    "null",
    "None",
    "=1+1",
    "é 😀 \u2028 \u0085",
    "'; drop table rules; --",
]


def test_quotes_backslashes_comment_marks_and_jinja_in_cells_are_data(spark: SparkSession, seed: Load) -> None:
    quoted = ['"' + cell.replace('"', '""') + '",,,,' for cell in CELLS]
    seed("\n".join([HEADER, *quoted]))
    assert [row["name"] for row in rows(spark)] == CELLS


WRONG: dict[str, tuple[str | bytes, int, str]] = {
    "a byte-order mark": ("\ufeff" + GOOD, 1, "Save it as UTF-8 without one"),
    "CRLF": (GOOD.replace("\n", "\r\n"), 1, "Save it with plain line ends"),
    "one carriage return": (GOOD.replace(",,,,\n", ",,,,\r\n"), 3, "Save it with plain line ends"),
    "not UTF-8": (GOOD.encode() + "José,,,,\n".encode("latin-1"), 4, "Save the file as UTF-8"),
    "a cell missing": (f"{GOOD}CORE,2,,\n", 4, "has 4 cells, the header 5"),
    "a cell too many": (f"{GOOD}CORE,2,,,,\n", 4, "A comma inside a cell needs double quotes"),
    "a blank line": (f"{GOOD}\nCORE,2,,,\n", 4, "is blank. Remove the line"),
    "a blank last line": (f"{GOOD}\n", 4, "is blank. Remove the line"),
    "an open quote": (f'{GOOD}"CORE,2,,,\nCRM,1,,,\n', 4, "Check the double quotes"),
    "text after a quote": (f'{GOOD}"CORE"x,2,,,\n', 4, "Check the double quotes"),
    "an empty file": ("", 1, "the columns' names are missing"),
    "a column missing": ("name,rank,since,day\n", 1, "the columns are name, rank, since, day; the seed declares"),
    "columns in another order": ("rank,name,since,day,share\n", 1, "in this order. Make them the same"),
    "a column of another name": (GOOD.replace("rank", "Rank"), 1, "Make them the same"),
    "no such day": (f"{GOOD}CORE,2,,2026-02-30,\n", 4, "'2026-02-30' in column day is no date, as in 2026-03-01"),
    "a year alone": (f"{GOOD}CORE,2,,2026,\n", 4, "'2026' in column day is no date"),
    "an hour alone": (f"{GOOD}CORE,2,10:30,,\n", 4, "'10:30' in column since is no timestamp"),
    "words for a time": (f"{GOOD}CORE,2,now,,\n", 4, "'now' in column since is no timestamp"),
    "words for a number": (f"{GOOD}CORE,two,,,\n", 4, "'two' in column rank is no int. Correct the cell"),
    "a fraction for a whole number": (f"{GOOD}CORE,1.5,,,\n", 4, "'1.5' in column rank is no int"),
    "a number too large": (f"{GOOD}CORE,2147483648,,,\n", 4, "'2147483648' in column rank is no int"),
    "a number that would be rounded": (f"{GOOD}CORE,2,,,0.005\n", 4, "'0.005' in column share is no decimal"),
    "a wrong cell below one of several lines": (f'{HEADER}\n"C\nR",1,,,\nCRM,x,,,\n', 4, "'x' in column rank"),
    "the first of several": (f"{HEADER}\nCRM,1,,,x\nCRM,x,,,\n", 2, "'x' in column share"),
}


def test_a_file_with_a_mistake_names_the_line_and_the_table_keeps_what_it_held(
    spark: SparkSession, seed: Load, file: Path
) -> None:
    seed(GOOD)
    before = version(spark), rows(spark)
    for name, (content, line, says) in WRONG.items():
        with pytest.raises(SeedError) as refused:
            seed(content)
        message = str(refused.value)
        assert message.startswith(f"{file}, line {line}: "), (name, message)
        assert says in message, (name, message)
    assert (version(spark), rows(spark)) == before
    assert seed(GOOD) == Outcome("unchanged")


def test_a_seed_that_is_not_there_is_named(spark: SparkSession, file: Path) -> None:
    file.unlink(missing_ok=True)
    order = {"path": str(file), "column_types": TYPES, "full_refresh": False, "table": {"name": TABLE}}
    with pytest.raises(SeedError, match=rf"{file} cannot be read \(No such file"):
        load(spark, json.dumps(order))
