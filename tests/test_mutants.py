"""A proof that can fail: the check that the engine passes catches every mutant, by the case that tells them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import engine
import pytest
from attest import news, write
from attest.session import isolated
from cases import versions_by_key
from engine import OURS, ROOT, Engine
from mutants import (
    MARKED,
    MUTANTS,
    NEWS,
    RESOLVERS,
    TIMELINE,
    Mutant,
    UnfitMutantError,
    copied,
    file_of,
    loaded,
    made_of,
)
from packed import Case, landed, small, spoken, wrong
from pyarrow import Table
from pyspark.sql import SparkSession

pytestmark = pytest.mark.mutant

SPOKEN = spoken()
CASES = SPOKEN + small()
SCHEMA = "mutants"


@pytest.fixture(scope="module")
def landing() -> Table:
    return landed(CASES)


@pytest.fixture(scope="module")
def table_of_the_killed() -> Iterator[list[str]]:
    """Printed at the end: each mutant and what killed it."""
    lines: list[str] = []
    yield lines
    print(
        f"\n\n{len(lines)} of {len(MUTANTS)} mutants caught: the law each breaks, its killer, the cases it gets wrong"
    )
    print("\n".join(lines))


def refuted(spark: SparkSession, landing: Table, *, made_by: Engine = OURS) -> list[str]:
    """The cases whose timeline this engine gets wrong."""
    evidence = engine.assertions(spark, landing, made_by=made_by)
    return wrong(CASES, versions_by_key(engine.timeline(spark, evidence, made_by=made_by)))


def refuted_by_lateness(root_session: SparkSession, cases: Sequence[Case], finder: ModuleType, log: str) -> list[str]:
    """The cases that are wrong when their oldest arrivals come last and only the keys with news are rebuilt."""
    spark = isolated(root_session)
    oldest = {case.name: min(case.events, key=lambda event: str(event["ingest_ts"])) for case in cases}
    first = [replaced(case, [event for event in case.events if event is not oldest[case.name]]) for case in cases]
    last = [replaced(case, [oldest[case.name]]) for case in cases]
    table = write.Table(log, properties={"delta.enableChangeDataFeed": "true"})
    note = news.Note("first", {}, {})
    spark.sql(f"create schema if not exists {SCHEMA}")
    write.create(spark, table, engine.assertions(spark, landed(first)), note=note)
    before = versions_by_key(engine.timeline(spark, spark.table(log)))
    target = news.Standing(0, news.Note("target", {log: 0}, {log: "first"}))
    write.append(spark, table, engine.assertions(spark, landed(last)), note=note)
    found = finder.find_news(spark, finder.Lineage([log]), target=target)
    keys = finder.received(spark, news=found, columns=["bk"])
    rebuilt = engine.timeline(spark, spark.table(log).join(keys, on="bk", how="left_semi"))
    return wrong(cases, before | versions_by_key(rebuilt))


def replaced(case: Case, events: Sequence[dict[str, object]]) -> Case:
    return Case(case.name, case.inheritance, events, case.timeline)


def test_the_engine_gets_every_case_right(spark: SparkSession, landing: Table) -> None:
    assert refuted(spark, landing) == []


def test_a_copy_of_the_engine_gets_every_case_right(spark: SparkSession, landing: Table, tmp_path: Path) -> None:
    """So that what kills a mutant is its mistake and not the copying."""
    assert refuted(spark, landing, made_by=made_of(copied(tmp_path / "unchanged"))) == []


@pytest.mark.parametrize("mutant", [one for one in MUTANTS if one.place != NEWS], ids=lambda mutant: mutant.name)
def test_laws_e1_to_b5_a_mutant_of_the_engine_is_caught(
    spark: SparkSession, landing: Table, tmp_path: Path, table_of_the_killed: list[str], mutant: Mutant
) -> None:
    found = refuted(spark, landing, made_by=made_of(copied(tmp_path / "mutant", mutant)))
    assert mutant.killer in found
    table_of_the_killed.append(line(mutant, found, len(CASES)))


def test_law_b1_what_arrived_before_all_else_is_news_when_it_lands(root_session: SparkSession) -> None:
    assert refuted_by_lateness(root_session, SPOKEN, news, f"{SCHEMA}.log") == []


@pytest.mark.parametrize("mutant", [one for one in MUTANTS if one.place == NEWS], ids=lambda mutant: mutant.name)
def test_law_b1_a_mutant_of_the_news_is_caught(
    root_session: SparkSession, tmp_path: Path, table_of_the_killed: list[str], mutant: Mutant
) -> None:
    finder = loaded(copied(tmp_path / "mutant", mutant), NEWS)
    found = refuted_by_lateness(root_session, SPOKEN, finder, f"{SCHEMA}.mutant_log")
    assert mutant.killer in found
    table_of_the_killed.append(line(mutant, found, len(SPOKEN)))


def line(mutant: Mutant, found: Sequence[str], cases: int) -> str:
    return f"  {mutant.name:45} {mutant.law}  {mutant.killer} ({len(found)} of {cases:,})"


def test_every_mutant_has_its_place() -> None:
    """Some are tried by `make prove` alone, where one that is unfit would be known too late."""
    assert all(file_of(ROOT, mutant).exists() for mutant in [*MUTANTS, *RESOLVERS, *MARKED])


@pytest.mark.parametrize("text", ["no engine says this", "select"], ids=["gone", "not alone"])
def test_a_mutant_that_no_longer_applies_stops_the_proof(tmp_path: Path, text: str) -> None:
    mutant = Mutant("unfit", "E4", TIMELINE, text, "", killer="none")
    with pytest.raises(UnfitMutantError, match=r"Give the mutant in tests/mutants\.py the text as it reads now"):
        copied(tmp_path / "mutant", mutant)
