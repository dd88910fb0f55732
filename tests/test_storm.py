"""Thousands of files at once, concurrently, and while more appear (section 1.3): none missed, none twice."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from attest import land as landing
from attest.delivery import new_delivery
from attest.errors import LandingError
from attest.land import Landed, land
from attest.session import isolated
from engine import OURS, assertions, contract, timeline
from histories import run_seed
from pyspark.sql import DataFrame, SparkSession

WORKED = contract()
FILES, CUSTOMERS = 2_000, 20
Drop = Callable[..., Path]


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    """Many words on few customers, each of its own minute; every fifth is told twice."""
    told = [
        {
            "customer_id": f"C{number % CUSTOMERS}",
            "source_system": "CRM",
            "source_event_ts": f"2026-03-01T{number // 60 % 24:02}:{number % 60:02}:{number // 1440:02}Z",
            "ingest_ts": f"2026-03-02T{number // 60 % 24:02}:{number % 60:02}:{number // 1440:02}Z",
            "name": f"Name {number // CUSTOMERS % 7}",
            "source_file": f"file {number}",
            "ingest_run_id": "storm",
        }
        for number in range(FILES)
    ]
    return told + told[::5]


def dropped(folder: Path, events: Sequence[dict[str, Any]], *, first: int = 0) -> Path:
    """A file an event, as a framework drops them: its name says nothing of its order."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, event in enumerate(events, start=first):
        (folder / f"{number * 7919 % 10_007:05}_{number}.jsonl").write_text(json.dumps(event) + "\n")
    return folder


def put(spark: SparkSession, table: str, *paths: Path, run_id: str | None = None, say: Any = print) -> Landed:
    delivery = new_delivery(run_id=run_id)
    return land(isolated(spark), feed=WORKED, table=table, paths=paths, delivery=delivery, say=say)


def accepted(spark: SparkSession, table: str) -> DataFrame:
    return spark.table(table).where("status = 'accepted'")


def versions(spark: SparkSession, table: str) -> list[str]:
    """The timeline that the evidence of a landing table gives, without how it was landed."""
    evidence = assertions(spark, accepted(spark, table).toArrow(), made_by=OURS)
    rows = timeline(spark, evidence).drop("source_path", "record_hash").collect()
    return sorted(map(str, rows))


@pytest.fixture(scope="module")
def calm(
    root_session: SparkSession, events: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> list[str]:
    """What comes of the same events, in their order, from one file, each once."""
    file = tmp_path_factory.mktemp("calm") / "all.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in events[:FILES]))
    put(root_session, "storm.calm", file)
    return versions(isolated(root_session), "storm.calm")


def test_thousands_of_files_land_at_once_and_repeats_are_kept_and_open_no_version(
    spark: SparkSession, events: list[dict[str, Any]], calm: list[str], tmp_path: Path
) -> None:
    shuffled = random.Random(run_seed()).sample(events, len(events))
    said: list[str] = []
    landed = put(spark, "storm.folder", dropped(tmp_path / "drop", shuffled), say=said.append)
    assert (landed.records, len(landed.landings), landed.refused) == (len(events), 1, [])
    assert said == ["worked: 1,000 files, 1,000 records read", "worked: 2,000 files, 2,000 records read"]
    assert accepted(spark, "storm.folder").count() == len(events) == FILES * 6 // 5
    assert versions(spark, "storm.folder") == calm


def test_callers_that_land_concurrently_lose_nothing(
    root_session: SparkSession, spark: SparkSession, events: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Four at once, each with its own folder, into one table that none of them finds there."""
    drops = [dropped(tmp_path / f"drop_{part}", events[part:400:4]) for part in range(4)]
    with ThreadPoolExecutor(4) as callers:
        landed = list(callers.map(lambda drop: put(root_session, "storm.concurrent", drop), drops))
    assert [one.records for one in landed] == [100] * 4
    kept = accepted(spark, "storm.concurrent").collect()
    assert sorted(row.record for row in kept) == sorted(json.dumps(event) for event in events[:400])
    assert spark.table("storm.concurrent").where("status = 'control'").count() == 4


def test_files_that_appear_during_the_run_are_read_once(
    spark: SparkSession, events: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some appear before each commit; the last call of all finds nothing new, and a changed file is noticed."""
    drop = dropped(tmp_path / "drop", events[:20])
    batches = [events[20:30], events[30:37]]
    commit = landing.commit

    def while_it_commits(*arguments: Any) -> None:
        if batches:
            late = batches.pop(0)
            dropped(drop, late, first=events.index(late[0]))
        commit(*arguments)

    monkeypatch.setattr(landing, "commit", while_it_commits)
    landed = put(spark, "storm.appearing", drop, run_id="watch")
    assert [one.records for one in landed.landings] == [20, 10, 7]
    counted = Counter(row.source_path for row in accepted(spark, "storm.appearing").collect())
    assert counted == {os.path.abspath(file): 1 for file in drop.iterdir()}
    assert put(spark, "storm.appearing", drop, run_id="watch").landings == []
    changed = min(drop.iterdir())
    changed.write_text(changed.read_text() + changed.read_text())
    with pytest.raises(LandingError, match=f"{changed} changed since this run landed it. Nothing of it was landed"):
        put(spark, "storm.appearing", drop, run_id="watch")
    dropped(drop, events[40:41], first=40)
    landed = put(spark, "storm.appearing", drop, run_id="watch")
    assert (landed.records, len(landed.refused)) == (1, 1), "the changed one stops no other"
