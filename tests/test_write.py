"""The writer: one commit whatever it does, and nothing written when rows break what the model declares."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from attest import write
from attest.commits import logged, newest
from attest.errors import ColumnsChangedError, NullKeyError, RepeatedIdentityError, StrayKeyError
from attest.news import Note, Standing, standing
from attest.write import Table
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

NAME = "writer.versions"
TABLE = Table(
    NAME,
    key="bk",
    identity=["bk", "n"],
    partition_by=["part"],
    properties={"delta.enableDeletionVectors": "true"},
    description="It's a table.",
    comments={"bk": "The entity's key", "gone": "no such column"},
)
SCHEMA = "bk string, n int, value string, part int"
FIRST = [("a", 1, "a1", 0), ("a", 2, "a2", 0), ("b", 1, "b1", 1), ("c'\\", 1, "c1", 1)]


def frame(spark: SparkSession, rows: Sequence[tuple[Any, ...]]) -> DataFrame:
    return spark.createDataFrame(list(rows), SCHEMA)


def keys(spark: SparkSession, *names: str) -> DataFrame:
    return spark.createDataFrame([(name,) for name in names], "bk string")


def content(spark: SparkSession) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.table(NAME).collect())


def version(spark: SparkSession) -> int:
    found = standing(spark, NAME)
    assert found is not None
    return found.version


@pytest.fixture
def table(spark: SparkSession) -> Iterator[int]:
    """The table as first written; gives its version."""
    spark.sql("create schema if not exists writer")
    write.create(spark, TABLE, frame(spark, FIRST), note=Note("g"))
    yield version(spark)
    spark.sql(f"drop table {NAME}")


def test_the_first_write_makes_the_table_whole_in_one_commit(spark: SparkSession, table: int) -> None:
    assert table == 0
    detail = spark.sql(f"describe detail {NAME}").first()
    assert detail is not None
    assert detail.partitionColumns == ["part"]
    assert detail.properties["delta.enableDeletionVectors"] == "true"
    assert detail.description == "It's a table."
    assert {c.name: c.description for c in spark.catalog.listColumns(NAME)}["bk"] == "The entity's key"
    assert content(spark) == sorted(FIRST)


@pytest.mark.parametrize(
    ("names", "rows", "first", "again"),
    [
        (["a"], [("a", 9, "new", 1)], "replaceOn", "replaceOn"),
        (["a", "d"], [("a", 1, "new", 0), ("d", 1, "added", 0)], "replaceOn", "replaceOn"),
        (["a", "b"], [("b", 1, "new", 1)], "merge", "replaceOn"),
        (["c'\\"], [], "merge", "nothing new"),
        (["c'\\"], [("c'\\", 1, "it's", 1)], "replaceOn", "replaceOn"),
    ],
    ids=["shrinks_a_key", "adds_a_key", "empties_one_of_two", "empties_an_odd_key", "replaces_an_odd_key"],
)
def test_law_b1_exactly_the_impacted_keys_are_replaced_in_one_commit(
    spark: SparkSession, table: int, names: list[str], rows: list[tuple[Any, ...]], first: str, again: str
) -> None:
    for repeat, primitive in enumerate((first, again), start=1):
        written = write.replace_by_key(
            spark,
            TABLE,
            frame(spark, rows),
            keys=keys(spark, *names),
            note=Note("g", {"log": repeat}),
            since=table + repeat - 1,
        )
        made = repeat if primitive != "nothing new" else repeat - 1
        assert (written.primitive, written.version_before, written.version_after) == (
            primitive, table + repeat - 1, table + made,
        )  # fmt: skip
        assert written.rows == (len(rows) if primitive != "nothing new" else 0)
        assert (written.bytes > 0) == bool(written.rows or written.rows_removed)
        if repeat == 1:
            assert written.rows_removed == sum(row[0] in names for row in FIRST)
        assert content(spark) == sorted([row for row in FIRST if row[0] not in names] + rows)
        # Emptying a key that is empty changes no row: no commit, and yet it was read.
        whole = None if primitive == "nothing new" else "bk"
        assert standing(spark, NAME) == Standing(table + made, Note("g", {"log": repeat}, whole=whole))


def test_a_repeated_identity_stops_the_write_and_is_named(spark: SparkSession, table: int) -> None:
    twice = frame(spark, [("a", 1, "x", 0), ("a", 1, "y", 0)])
    actions: list[Callable[[], object]] = [
        lambda: write.replace_by_key(spark, TABLE, twice, keys=keys(spark, "a"), note=Note("g"), since=table),
        lambda: write.create(spark, TABLE, twice, note=Note("g")),
    ]
    for action in actions:
        with pytest.raises(RepeatedIdentityError, match=r"writer.versions: more than one row with bk, n = a, 1"):
            action()
        assert (version(spark), content(spark)) == (table, sorted(FIRST))


def test_a_null_key_stops_the_write_and_is_named(spark: SparkSession, table: int) -> None:
    nameless = frame(spark, [(None, 1, "x", 0)])
    with pytest.raises(NullKeyError, match=r"writer.versions: a row has no bk"):
        write.replace_by_key(spark, TABLE, nameless, keys=keys(spark, "a"), note=Note("g"), since=table)
    assert (version(spark), content(spark)) == (table, sorted(FIRST))


def test_a_key_that_nobody_asked_for_stops_the_write(spark: SparkSession, table: int) -> None:
    with pytest.raises(StrayKeyError, match="'b'"):
        write.replace_by_key(spark, TABLE, frame(spark, FIRST[:3]), keys=keys(spark, "a"), note=Note("g"), since=table)
    assert (version(spark), content(spark)) == (table, sorted(FIRST))


def test_changed_columns_stop_the_write_and_are_named(spark: SparkSession, table: int) -> None:
    other = frame(spark, FIRST[:1]).withColumnRenamed("value", "worth")
    with pytest.raises(ColumnsChangedError, match=r"value is gone, worth is new.*--full-refresh"):
        write.replace_by_key(spark, TABLE, other, keys=keys(spark, "a"), note=Note("g"), since=table)
    assert version(spark) == table


def test_the_source_is_evaluated_once_even_if_it_would_answer_differently(spark: SparkSession, table: int) -> None:
    """replaceOn and MERGE read their source more than once; rows that change between would be torn."""
    random = frame(spark, [("a", n, "", 0) for n in range(50)]).withColumn("value", F.uuid())
    write.replace_by_key(spark, TABLE, random, keys=keys(spark, "a"), note=Note("g"), since=table)
    rows = [row for row in content(spark) if row[0] == "a"]
    assert len(rows) == len({row[2] for row in rows}) == 50


def test_rows_that_differ_in_a_microsecond_or_in_a_map_alone_are_written(spark: SparkSession) -> None:
    spark.sql("create schema if not exists writer")
    told = "select * from values ('a', timestamp '2026-01-01 00:00:00.000001', map('k', 1)), ('b', null, map())"
    table = Table("writer.differing", key="bk")
    write.create(spark, table, spark.sql(f"{told} as rows (bk, at, held)"), note=Note("g"))
    for turn, (old, new) in enumerate([("000001'", "000002'"), ("map('k', 1)", "map('k', 2)")]):
        told = told.replace(old, new)
        rows = spark.sql(f"{told} as rows (bk, at, held)")
        for primitive in ("replaceOn", "nothing new"):
            since = newest(spark, table.name)[0]
            written = write.replace_difference(spark, table, rows, note=Note("g"), since=since)
            assert (written.primitive, written.rows) == (primitive, primitive == "replaceOn"), turn
    spark.sql("drop table writer.differing")


def plans(spark: SparkSession) -> dict[int, str]:
    """Every physical plan that ran, in words, by the number of its execution."""
    session: Any = spark._jsparkSession
    session.sparkContext().listenerBus().waitUntilEmpty()
    ran = session.sharedState().statusStore().executionsList()
    found = [ran.apply(number) for number in range(ran.size())]
    return {int(one.executionId()): str(one.physicalPlanDescription()) for one in found}


@pytest.mark.parametrize(("kept", "primitive"), [(("k1", "k2", "k3"), "replaceOn"), (("k1", "k2"), "merge")])
def test_a_change_of_few_keys_compares_no_row_with_all_and_leaves_the_others_files_as_they_are(
    spark: SparkSession, kept: Sequence[str], primitive: str
) -> None:
    """A nested loop or a table that is written whole would pass every other test here, slowly."""
    wide = Table("writer.wide", key="bk", identity=["bk", "n"], properties=TABLE.properties)
    spark.sql("create schema if not exists writer")
    rows = spark.range(1_000).selectExpr("concat('k', id % 100) as bk", "int(id) as n", "'x' as value", "0 as part")
    write.create(spark, wide, rows, note=Note("g"))
    before = plans(spark).keys()
    told = frame(spark, [(key, 9, "new", 0) for key in kept])
    asked = keys(spark, "k1", "k2", "k3")
    assert write.replace_by_key(spark, wide, told, keys=asked, note=Note("g"), since=0).primitive == primitive
    ran = [plan for number, plan in plans(spark).items() if number not in before]
    assert any("HashJoin" in plan or "SortMergeJoin" in plan for plan in ran)
    assert not any("NestedLoopJoin" in plan or "CartesianProduct" in plan for plan in ran)
    actions = list(next(actions for _, actions in logged(spark, wide.name)))
    removed = {action["remove"]["path"] for action in actions if "remove" in action}
    new = [action["add"] for action in actions if "add" in action and action["add"]["path"] not in removed]
    assert sum(json.loads(file["stats"])["numRecords"] for file in new) == len(kept)
    spark.sql(f"drop table {wide.name}")
