"""Upkeep: says what it would do, does that, and loses nothing that anybody can still ask for."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attest import cli, maintain, write
from attest.commits import commits, location, newest
from attest.errors import MaintenanceError
from attest.maintain import HOUR, MANY, plan, unread_since
from attest.news import Note, standing
from attest.write import Table
from pyspark.sql import SparkSession

NAME, READER = "upkeep.told", "upkeep.reader"
TABLE = Table(NAME, key="bk", properties={"delta.enableDeletionVectors": "true"})


def told(spark: SparkSession) -> list[tuple[str, int]]:
    return sorted((row.bk, row.n) for row in spark.table(NAME).collect())


def folder(spark: SparkSession, table: str = NAME) -> Path:
    return Path(str(location(spark, table)).removeprefix("file:"))


@pytest.fixture
def scattered(spark: SparkSession) -> Iterator[list[tuple[str, int]]]:
    """A table of many small files, half of whose first rows are struck out, and one that has read it once."""
    spark.sql("create schema if not exists upkeep")
    schema = "bk string, n int"
    first = spark.createDataFrame([(f"k{n}", 0) for n in range(20)], schema).coalesce(1)
    write.create(spark, TABLE, first, note=Note("g"))
    write.create(spark, Table(READER), first, note=Note("r", {NAME: 0}, {NAME: "g"}))
    for turn in range(1, MANY + 1):
        rows = spark.createDataFrame([(f"k{turn}", turn)], schema)
        since = newest(spark, NAME)[0]
        write.replace_by_key(spark, TABLE, rows, keys=rows.select("bk"), note=Note("g"), since=since)
    yield told(spark)
    spark.sql("drop schema upkeep cascade")


def test_the_plan_says_how_tables_lie_and_changes_nothing(
    spark: SparkSession, scattered: list[tuple[str, int]]
) -> None:
    before = newest(spark, NAME)[0]
    reader, table = plan(spark, "upkeep")
    assert (table.files, table.small, table.struck_out) == (MANY + 1, MANY + 1, MANY)
    assert "put small files together" in str(table)
    assert "struck-out rows" in str(table)
    assert not reader.is_scattered
    assert "put small" not in str(reader)
    assert newest(spark, NAME)[0] == before


def test_upkeep_leaves_the_rows_the_standing_and_every_version_within_the_days_kept(
    spark: SparkSession, scattered: list[tuple[str, int]]
) -> None:
    stood = standing(spark, NAME)
    assert stood is not None
    left = folder(spark) / "_staging_of_a_killed_build"
    fresh = folder(spark) / "_staging_of_a_build_under_way"
    for one, age in ((left, 25 * HOUR), (fresh, 0)):
        one.mkdir()
        os.utime(one, (time.time() - age,) * 2)
    (said,) = maintain.maintain(spark, plan(spark, "upkeep", names=["told"]))
    assert f"{MANY + 1} files are now 1" in said
    assert "1 folders removed" in said
    assert (left.exists(), fresh.exists()) == (False, True)
    assert told(spark) == scattered
    (after,) = plan(spark, "upkeep", names=[NAME])
    assert (after.files, after.struck_out, after.is_scattered, after.is_struck_out) == (1, 0, False, False)
    now = standing(spark, NAME)
    assert now is not None
    assert (now.note, now.version > stood.version) == (stood.note, True)
    for version, _ in commits(spark, NAME):
        assert spark.read.option("versionAsOf", version).table(NAME).count() == 20


def test_what_a_reader_has_yet_to_read_is_kept_however_old(
    spark: SparkSession, scattered: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {name: found for name in (NAME, READER) if (found := standing(spark, name)) is not None}
    first_unread = next(told["timestamp"] for version, told in commits(spark, NAME) if version == 1) / 1000
    assert unread_since(spark, NAME, there) == first_unread
    assert unread_since(spark, READER, there) is None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 100 * 24 * HOUR)
    reader, table = plan(spark, "upkeep")
    assert reader.keep_hours == 30 * 24
    assert table.keep_hours > 100 * 24 - 1
    everything = Note("r", {NAME: newest(spark, NAME)[0]}, {NAME: "g"})
    write.append(spark, Table(READER), spark.table(READER), note=everything)
    assert plan(spark, "upkeep", names=[NAME])[0].keep_hours == 30 * 24


def test_files_that_no_kept_version_has_are_removed(
    spark: SparkSession, scattered: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    spark.sql(f"drop table {READER}")
    monkeypatch.setattr(maintain, "LEAST_DAYS", 0)
    before = len(list(folder(spark).glob("*.parquet")))
    list(maintain.maintain(spark, plan(spark, "upkeep", days=0)))
    assert before > 1
    assert len(list(folder(spark).glob("*.parquet"))) == 1
    assert told(spark) == scattered


@pytest.mark.usefixtures("scattered")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--keep-days", "6"], "below 7"),
        (["nowhere"], "There is no table upkeep.nowhere. There are: upkeep.reader, upkeep.told."),
    ],
)
def test_upkeep_that_would_do_harm_or_nothing_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    monkeypatch.setenv("ATTEST_SCHEMA", "upkeep")
    assert cli.main(["--project-dir", str(project), "maintain", *words]) == 1
    assert said in capsys.readouterr().err
    assert cli.main(["--project-dir", str(project), "maintain", "--plan", "told"]) == 0
    assert "put small files together" in capsys.readouterr().out


def test_a_schema_that_is_not_there_is_refused(spark: SparkSession) -> None:
    with pytest.raises(MaintenanceError, match="no schema nowhere"):
        plan(spark, "nowhere")
