"""What Gold refuses and warns of: each bad row and each bad declaration, named, with what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import engine
import pytest
from attest.macros import engine_files, module_of, template_of
from pyspark.sql import SparkSession

GENERIC = engine.ROOT / "tests/data/generic"
VERSION = (
    "version_sk string, bk string, effective_from timestamp, effective_to timestamp, current_flag boolean, "
    "end_reason string, status string"
)
OPEN = "9999-12-31 23:59:59"
FACT = "bk string, who string, happened_at timestamp, ingest_ts timestamp, key string, corrects string"


class Relation(str):
    """A relation as dbt gives it to a generic test."""

    __slots__ = ()

    @property
    def identifier(self) -> str:
        return str(self)


def failing(spark: SparkSession, test: str, **arguments: Any) -> list[dict[str, Any]]:
    """The rows that a generic test of the project finds, by its own text."""
    own = (GENERIC / f"{test}.sql").read_text(encoding="utf-8")
    own = re.sub(r"{%-? endtest -?%}", "{% endmacro %}", re.sub(r"{%-? test ", "{% macro ", own))
    named = {name: Relation(value) if name in ("model", "dimension") else value for name, value in arguments.items()}
    sql = getattr(module_of(template_of(engine_files(engine.ROOT), own)), test)(**named)
    return [row.asDict() for row in spark.sql(sql).collect()]


def versions(spark: SparkSession, *rows: Mapping[str, Any], named: str = "versions") -> None:
    common = {"version_sk": "v1", "bk": "K", "effective_from": "2026-03-01", "effective_to": OPEN, "current_flag": True}
    view(spark, VERSION, [common | dict(row) for row in rows], named)


def facts(spark: SparkSession, *rows: Mapping[str, Any]) -> None:
    common = {"bk": "F", "who": "K", "happened_at": "2026-03-02", "ingest_ts": "2026-03-03", "key": "v1"}
    view(spark, FACT, [common | dict(row) for row in rows], "facts")


def view(spark: SparkSession, columns: str, rows: list[dict[str, Any]], named: str) -> None:
    names = [column.split()[0] for column in columns.split(", ")]
    text = spark.createDataFrame(
        [[None if row.get(name) is None else str(row[name]) for name in names] for row in rows],
        ", ".join(f"{name} string" for name in names),
    )
    typed = [
        f"cast({name} as {column.split()[1]}) as {name}"
        for name, column in zip(names, columns.split(", "), strict=True)
    ]
    text.selectExpr(*typed).createOrReplaceTempView(named)


SECOND = {"version_sk": "v2", "effective_from": "2026-03-05"}
CLOSED = {"effective_to": "2026-03-05", "current_flag": False}
ONE_CURRENT = {"current": "current_flag", "open_end": OPEN, "none_allowed": True}


@pytest.mark.parametrize(
    ("test", "arguments", "rows", "said"),
    [
        ("exactly_one_current_version", ONE_CURRENT, [{}, SECOND], "Has 2 current versions"),
        ("exactly_one_current_version", ONE_CURRENT, [{"current_flag": False}], "The current version has an end"),
        ("exactly_one_current_version", {"current": "current_flag"}, [CLOSED], "Has 0 current versions"),
        ("intervals_do_not_overlap", {}, [{}, SECOND], "Still in force when the next one begins, at 2026-03-05"),
        ("windows_are_sound", {"open_end": OPEN}, [{"effective_to": None}], "an open window ends at 9999-12-31"),
        ("windows_are_sound", {}, [{"effective_from": None}], "Has no start"),
        ("windows_are_sound", {}, [{"bk": None}], "Has no key"),
        ("windows_are_sound", {}, [{"effective_to": "2026-02-01"}], "Ends before it begins"),
        ("windows_are_sound", {}, [{"effective_to": "2026-03-01"}], "Is empty"),
        ("windows_leave_no_gap", {}, [CLOSED, SECOND | {"effective_from": "2026-03-06"}], "begins only at 2026-03-06"),
        ("keys_are_not_recycled", {}, [CLOSED, {"bk": "L"}], "Names 2 things, told apart by bk, effective_from"),
        ("keys_are_not_recycled", {"once": True}, [{}, {}], "Is the key of 2 rows"),
        ("keys_are_not_recycled", {}, [{"version_sk": None}], "Has no key"),
        (
            "versions_stay_few",
            {"attributes": ["status"], "most": 2},
            [SECOND | {"effective_from": f"2026-03-{day:02}", "status": str(day)} for day in range(1, 5)],
            "FastChangingAttributeWarning: status opened 3.0 of 4.0 versions an entity: 4 rows for 1 entities. Declare",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "_" in value else "",
)
def test_a_bad_version_says_what_is_wrong_with_it(
    spark: SparkSession, test: str, arguments: dict[str, Any], rows: list[dict[str, Any]], said: str
) -> None:
    versions(spark, *rows)
    found = failing(spark, test, model="versions", **arguments)
    assert found
    assert said in found[0]["problem"]


@pytest.mark.parametrize("open_end", [OPEN, None])
def test_sound_versions_fail_no_test(spark: SparkSession, open_end: str | None) -> None:
    """Two that follow each other, a deletion with its gap, and one that has begun again."""
    rows: list[dict[str, Any]] = [
        CLOSED,
        SECOND | {"effective_to": "2026-03-07", "current_flag": False, "end_reason": "deleted"},
        {"version_sk": "v3", "effective_from": "2026-03-09", "effective_to": open_end},
        {"bk": "L", "version_sk": "v4", **CLOSED, "end_reason": "deleted"},
    ]
    versions(spark, *rows)
    asked: dict[str, dict[str, Any]] = {
        "exactly_one_current_version": ONE_CURRENT | {"open_end": open_end},
        "intervals_do_not_overlap": {},
        "windows_are_sound": {"open_end": open_end},
        "windows_leave_no_gap": {"unless": "end_reason = 'deleted'"},
        "keys_are_not_recycled": {"once": True},
        "versions_stay_few": {"attributes": ["status"], "most": 1},
    }
    for test, arguments in asked.items():
        assert failing(spark, test, model="versions", **arguments) == [], test


RESOLVES = {"model": "facts", "dimension": "versions", "row_key": "key", "found_by": "who"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"key": "v9"}, "Names a version that versions does not have. Build facts again"),
        ({"who": "L"}, "Names a version of K"),
        ({"happened_at": "2026-03-05"}, "Names a version that holds from 2026-03-01 00:00:00 and does not cover it"),
        ({"happened_at": "2026-02-28"}, "does not cover it"),
        ({"key": None}, "Has no version, and one covers it since 2026-03-01"),
    ],
    ids=["no version", "another's", "at its end", "before it", "none though there is one"],
)
def test_a_fact_that_does_not_resolve_says_why(spark: SparkSession, row: dict[str, Any], said: str) -> None:
    versions(spark, CLOSED)
    facts(spark, row)
    [found] = failing(spark, "facts_resolve", **RESOLVES)
    assert said in found["problem"]


def test_facts_that_resolve_or_fall_in_a_gap_fail_no_test(spark: SparkSession) -> None:
    versions(spark, CLOSED)
    facts(
        spark, {}, {"happened_at": "2026-03-01"}, {"happened_at": "2026-03-05", "key": None}, {"who": None, "key": None}
    )
    assert failing(spark, "facts_resolve", **RESOLVES) == []


def test_a_fact_without_a_time_or_of_the_future_is_named_until_it_is_corrected(spark: SparkSession) -> None:
    facts(
        spark,
        {},
        {"bk": "N", "happened_at": None},
        {"bk": "L", "happened_at": "2026-03-03 00:05:01"},
        {"bk": "M", "happened_at": "2026-03-03 00:05:00"},
        {"bk": "C", "happened_at": "2027-01-01"},
        {"bk": "D", "corrects": "C"},
    )
    found = {
        row["bk"]: row["problem"] for row in failing(spark, "facts_have_a_time", model="facts", corrects="corrects")
    }
    assert found.keys() == {"N", "L"}
    assert found["N"].startswith("NullFactTimeError: has no instant, so it finds no version. Have its source send")
    assert found["L"].startswith("FutureFactError: says that it happened 2026-03-03 00:05:01, after it arrived at")


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ({"nme": 2}, "UnknownAttributeError: dim: customer has no attribute nme. It has: name, address, status"),
        ({"name": 8}, "UnknownTypeError: dim: name is declared as type 8. There are 0 to 7"),
        ({"name": "2"}, "UnknownTypeError: dim: name is declared as type 2"),
        ({"name": [1, 9]}, "UnknownTypeError: dim: name is declared as type 9"),
        ({}, "NoTypeError: dim: no attribute of customer has a type"),
        ({"version": 2}, "RepeatedColumnError: dim: the dimension would have two columns version"),
        ({"current_name": 1, "name": 6}, "RepeatedColumnError: dim: the dimension would have two columns current_name"),
    ],
    ids=str,
)
def test_a_type_that_cannot_stand_is_refused_before_anything_is_built(types: dict[str, Any], said: str) -> None:
    attributes = dict.fromkeys(("name", "address", "status"), "string")
    attributes |= {name: "string" for name in types if name in ("version", "current_name")}

    def refuse(message: str) -> None:
        raise ValueError(message)

    files = ["gold/columns_shown", "project/types_declared"]
    known = {
        "attributes_of": lambda _: attributes,
        "exceptions": SimpleNamespace(raise_compiler_error=refuse),
        "model": SimpleNamespace(name="dim"),
        "execute": True,
        "return": str,
    }
    module = module_of(template_of([engine.ROOT / "macros" / f"{file}.sql" for file in files]), **known)
    with pytest.raises(ValueError, match=re.escape(said)):
        module.types_declared("customer", types)
