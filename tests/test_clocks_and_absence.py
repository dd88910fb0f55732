"""What the gate and the snapshots do to a lake: two clocks, held feeds, inferred deletes (laws B6, B8, B9, E2)."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from attest import cli
from cases import WHOLE
from pyspark.sql import SparkSession

SCHEMA = "clocks"
Dbt = Callable[..., Any]
Attest = Callable[..., str]
BRONZE = (
    *("--select", "+customer_timeline", "+customer_fallback_timeline", "+feed_verdicts", "quarantine", "feeds"),
    *(*WHOLE, "--exclude-resource-type", "unit_test"),
)
# What each table must be is checked after the first build, and where it is what the test is about.
FEEDS = ("--exclude", "test_type:generic")


@pytest.fixture(scope="module")
def attest(project: Path, dbt: Dbt) -> Attest:
    """Call `attest` in that project, on the tests' lake; gives what it says on both streams."""

    def run(*arguments: str) -> str:
        os.environ["ATTEST_SCHEMA"] = SCHEMA
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            assert cli.main(["--project-dir", str(project), *arguments]) == 0, said.getvalue()
        return said.getvalue()

    return run


@pytest.fixture(scope="module")
def build(project: Path, dbt: Dbt) -> Callable[..., list[str]]:
    """Build Bronze; gives the tests that did not pass, of feeds alone or of all."""

    def run(*, whole: bool = False, fails: bool = False) -> list[str]:
        done = dbt("build", *BRONZE, *(() if whole else FEEDS), schema=SCHEMA, project=project, fails=fails)
        return [one.node.name for one in done.result.results if one.status in ("fail", "warn", "error")]

    return run


Land = Callable[..., str]


@pytest.fixture(scope="module")
def register(attest: Attest, project: Path) -> Land:
    """Land a snapshot of the register that lists these customers of the north, a letter each."""

    def run(day: int, keys: str, *claims: str, region: str = "north") -> str:
        file = project / f"register_{day}.jsonl"
        listed = [{"customer_id": key, "region": region, "full_name": f"Name of {key}"} for key in keys]
        file.write_text("".join(json.dumps(one) + "\n" for one in listed))
        at = ("--as-of", f"2026-03-{day:02}T00:00:00Z", "--arrived-at", f"2026-03-{day:02}T06:00:00Z")
        return attest("land", "registry", str(file), *at, *(claims or ("--complete",)))

    return run


def deleted(spark: SparkSession) -> dict[str, list[tuple[str, str]]]:
    """Each inferred delete: since when it holds and is known, as days of the month."""
    rows = spark.table(f"{SCHEMA}.customer_states").where("is_inferred").collect()
    return {row.bk: [(f"{row.effective_ts:%d}", f"{row.ingest_ts:%d}")] for row in rows}


def decisions(spark: SparkSession) -> list[str]:
    rows = spark.table(f"{SCHEMA}.customer_snapshots").orderBy("as_of", "decided_at").collect()
    return [row.decision for row in rows]


def rule(project: Path, spark: SparkSession, *, day: int, ruling: str) -> None:
    snapshot = spark.table(f"{SCHEMA}.customer_snapshots").where(f"day(as_of) = {day}").first()
    assert snapshot is not None
    with (project / "seeds/snapshot_rulings.csv").open("a") as seed:
        seed.write(f"{snapshot.landing_id},{ruling},2026-11-01,operations,data governance,checked by hand\n")


def promise(project: Path, feed: str, *, without: Sequence[str] = (), made: Sequence[str] = ()) -> None:
    seed = project / "seeds/promises.csv"
    lines = seed.read_text().splitlines()
    kept = [line for line in lines if not any(line.startswith(f"{feed},{name},") for name in without)]
    seed.write_text("\n".join([*kept, *(f"{feed},{one}" for one in made)]) + "\n")


def test_law_b8_absence_is_a_delete_only_within_its_scope_and_from_a_trusted_snapshot(
    spark: SparkSession, register: Land, build: Callable[..., list[str]]
) -> None:
    register(1, "ABCD", "--complete", "--expected", "4")
    register(2, "S", "--complete", "--scope", "south", region="south")
    assert build(whole=True) == []
    assert (decisions(spark), deleted(spark)) == (["passed", "passed"], {})

    register(3, "ABC", "--expected", "3")
    register(4, "ABC", "--complete", "--expected", "4")
    assert build() == []
    assert (decisions(spark)[2:], deleted(spark)) == (["untrusted", "untrusted"], {})

    register(5, "ABC", "--complete", "--scope", "north")
    assert build() == []
    assert decisions(spark)[4:] == ["passed"]
    assert deleted(spark) == {"D": [("05", "05")]}, "S is of the south, which this snapshot does not cover"
    assert spark.table(f"{SCHEMA}.customer_timeline").where("bk = 'D' and is_current and is_deleted").count() == 1


def test_law_b8_who_is_listed_again_lives_and_late_evidence_is_considered_again(
    spark: SparkSession, register: Land, build: Callable[..., list[str]]
) -> None:
    register(7, "ABCD", "--complete", "--scope", "north")
    register(6, "E", "--expected", "9")
    assert build() == []
    late = {"E": [("07", "07")], "D": [("05", "05")]}
    assert deleted(spark) == late, "E was listed on the 6th, in evidence that came after the 7th's snapshot"
    assert spark.table(f"{SCHEMA}.customer_timeline").where("bk = 'D' and is_current and not is_deleted").count() == 1


def test_law_b8_the_breaker_holds_until_a_person_releases_and_a_withdrawal_takes_back(
    spark: SparkSession, register: Land, build: Callable[..., list[str]], project: Path
) -> None:
    before = deleted(spark)
    register(8, "A", "--complete", "--scope", "north")
    assert build() == []
    assert decisions(spark)[-1] == "held"
    assert deleted(spark) == before

    rule(project, spark, day=8, ruling="release")
    assert build() == []
    released = before | {"B": [("08", "08")], "C": [("08", "08")], "D": [("08", "08")]}
    assert deleted(spark).keys() == released.keys()
    known = spark.table(f"{SCHEMA}.customer_states").where("bk = 'B' and is_inferred").first()
    assert known is not None
    assert f"{known.known_from:%Y-%m-%d}" == "2026-11-01", "law S6: a release is known from its own time"

    rule(project, spark, day=8, ruling="withdraw")
    assert build() == []
    assert deleted(spark) == before
    assert decisions(spark)[-1] == "held", "law B9: the breaker's decision is recorded once"


def test_law_e2_a_held_build_is_no_news(spark: SparkSession, build: Callable[..., list[str]]) -> None:
    def versions() -> dict[str, int]:
        tables = ("assertions", "snapshots", "absences", "states", "sightings")
        history = {name: spark.sql(f"describe history {SCHEMA}.customer_{name}") for name in tables}
        return {name: commits.count() for name, commits in history.items()}

    before = versions()
    assert build() == []
    assert versions() == before


def test_law_b9_rejected_rows_are_evidence_and_reach_no_timeline_until_released(
    spark: SparkSession, attest: Attest, build: Callable[..., list[str]], project: Path
) -> None:
    file = project / "said.jsonl"
    said = {"customer_id": "R", "source_system": "CRM", "source_event_ts": "2026-03-01T09:00:00Z", "name": "Ro"}
    said |= {"ingest_ts": "2026-03-01T10:00:00Z"}
    file.write_text(json.dumps(said) + "\n" + json.dumps(said | {"nickname": "R"}) + "\n")
    attest("land", "worked", str(file))
    file.write_text(json.dumps(said | {"customer_id": "Q"}) + "\n")
    promise(project, "worked", without=["deletes"])
    assert "REJECT_FOR_AUTHORITATIVE_BRONZE" in attest("land", "worked", str(file))
    assert build(fails=True) == ["no_feed_got_worse"]
    dbt_rows = spark.table(f"{SCHEMA}.customer_timeline").where("bk in ('Q', 'R')").collect()
    assert [row.bk for row in dbt_rows] == ["R"]
    assert spark.table(f"{SCHEMA}.customer_assertions").where("bk = 'Q'").count() == 1

    promise(project, "worked", made=["deletes,flag,mended"])
    feeds = project / "seeds/feeds.csv"
    feeds.write_text(feeds.read_text().replace("name address status,as_known", "name address status nickname,as_known"))
    assert "released 1 of 1 records" in attest("release", "worked")
    assert "nothing is held" in attest("release", "worked")
    assert build() == []
    found = spark.table(f"{SCHEMA}.customer_timeline").where("bk in ('Q', 'R')").collect()
    assert {row.bk: f"{row.first_seen_ts:%Y-%m-%d}" for row in found} == {"R": "2026-03-01", "Q": "2026-03-01"}
    states = spark.table(f"{SCHEMA}.customer_states").where("bk = 'Q'").collect()
    assert [row.known_from > row.ingest_ts for row in states] == [True], "law S6: known from the release"
    quarantine = spark.table(f"{SCHEMA}.quarantine").where("feed = 'worked'").collect()
    assert [(row.reason, row.records, row.released, row.remaining) for row in quarantine] == [
        ("unknown_field", 1, 1, 0)
    ]


def test_law_b6_a_limited_feed_goes_to_the_fallback_timeline_by_arrival(
    spark: SparkSession, attest: Attest, build: Callable[..., list[str]], project: Path
) -> None:
    """A, A, B, A by arrival: only adjacent repeats collapse, whatever source time they claim."""
    promise(
        project, "worked", without=["source_time"], made=["fallback,arrival,only ops use it", "on_worse,warn,known"]
    )
    for hour, name in enumerate("AABA"):
        said = {"customer_id": "R", "source_system": "CRM", "name": name, "source_event_ts": f"2026-03-0{9 - hour}"}
        file = project / f"said_{hour}.jsonl"
        file.write_text(json.dumps(said) + "\n")
        assert "LIMITED_FALLBACK_ONLY" in attest(
            "land", "worked", str(file), "--arrived-at", f"2026-04-01T0{hour}:00:00Z"
        )
    before = spark.table(f"{SCHEMA}.customer_timeline").where("bk = 'R'").drop("last_seen_ts").collect()
    assert build() == ["feeds_that_got_worse"]
    versions = spark.table(f"{SCHEMA}.customer_fallback_timeline").orderBy("version").collect()
    assert [(v.bk, v.name, v.clock, f"{v.effective_from:%H}") for v in versions] == [
        ("R", "A", "arrival", "00"),
        ("R", "B", "arrival", "02"),
        ("R", "A", "arrival", "03"),
    ]
    assert spark.table(f"{SCHEMA}.customer_timeline").where("bk = 'R'").drop("last_seen_ts").collect() == before


def test_law_b6_what_would_mix_two_clocks_in_one_timeline_fails_the_build(
    spark: SparkSession, build: Callable[..., list[str]], project: Path, dbt: Dbt
) -> None:
    fallback = project / "models/bronze/customer/customer_fallback_timeline.sql"
    settings = project / "dbt_project.yml"
    model, declared = fallback.read_text(), settings.read_text()
    fallback.write_text(model.replace("clock='arrival'", "clock='source'"))
    assert "a_customer_fallback_timeline_goes_by_arrival" in build(whole=True, fails=True)
    fallback.write_text(model)

    settings.write_text(
        declared.replace("    customer:\n      attributes", "    customer:\n      clock: arrival\n      attributes")
    )
    assert "feeds_are_sound" in build(fails=True), "its feeds in source time would be mixed with those without"
    settings.write_text(declared)

    fallback.unlink()
    fallback.with_suffix(".yml").unlink()
    select = ("--select", "feeds_are_sound")
    done = dbt("test", *select, schema=SCHEMA, project=project, fails=True)
    tests = [one.status for one in done.result.results if one.node.resource_type == "test"]
    assert tests == ["fail"], "a feed without source time has nowhere to go"
