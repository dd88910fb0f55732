"""The worked tables through dbt: every order of landing and every split into batches, built after each batch.

Each (order, split) is an entity of its own, so that thousands of arrival histories take as
many builds as the longest has batches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise, permutations
from typing import Any

import pytest
from cases import CUSTOMER, golden, versions_by_key
from pyspark.sql import SparkSession

SCHEMA = "orders"
WORKED = {case["name"]: case for case in golden() if case["name"].startswith("worked")}
Batches = list[list[dict[str, Any]]]


def splits(events: list[dict[str, Any]]) -> Iterator[Batches]:
    """Every way to cut a sequence into consecutive batches."""
    for cuts in range(len(events)):
        for places in combinations(range(1, len(events)), cuts):
            edges = [0, *places, len(events)]
            yield [events[a:b] for a, b in pairwise(edges)]


def histories(case: dict[str, Any]) -> Iterator[Batches]:
    for order in permutations(case["events"]):
        yield from splits(list(order))


def given(event: dict[str, Any], name: str, key: str) -> dict[str, Any]:
    """The event as itself whatever carries it: its own arrival, file and run."""
    return event | {"customer_id": key, "source_file": f"{name}.jsonl", "ingest_run_id": f"run-{name}"}


@pytest.fixture(scope="module")
def built(root_session: SparkSession, dbt: Callable[..., Any], lander: Callable[..., None]) -> dict[str, str]:
    """Land and build batch by batch; gives each entity's case."""
    landings: dict[int, list[dict[str, Any]]] = defaultdict(list)
    case_of: dict[str, str] = {}
    for name, case in WORKED.items():
        for number, batches in enumerate(histories(case)):
            key = f"{name}-{number}"
            case_of[key] = name
            for place, batch in enumerate(batches):
                landings[place] += [given(event, name, key) for event in batch]
    for place in sorted(landings):
        lander(landings[place], schema=SCHEMA)
        build = ["run"] if place else ["build", "--exclude-resource-type", "unit_test"]
        dbt(*build, *CUSTOMER, schema=SCHEMA)
    return case_of


def test_law_b1_every_order_and_split_gives_the_worked_timelines(spark: SparkSession, built: dict[str, str]) -> None:
    timelines = versions_by_key(spark.table(f"{SCHEMA}.customer_timeline"))
    assert len(timelines) == len(built) == 2304
    wrong = [key for key, name in built.items() if timelines[key] != WORKED[name]["timeline_as_known"]]
    assert wrong == []


def test_law_e5_every_order_and_split_gives_the_same_bytes(spark: SparkSession, built: dict[str, str]) -> None:
    """Only what names the landing itself may differ: its path, its line, the hash that covers them."""
    carried = ("bk", "sk", "assertion_id", "source_path", "record_hash", "source_record")
    timeline = spark.table(f"{SCHEMA}.customer_timeline")
    kept = [name for name in timeline.columns if name not in carried]
    seen: dict[str, set[Any]] = defaultdict(set)
    by_key: dict[str, list[Any]] = defaultdict(list)
    for row in timeline.select("bk", *kept).orderBy("bk", "version").collect():
        by_key[row.bk].append(str(row[1:]))
    for key, rows in by_key.items():
        seen[built[key]].add(tuple(rows))
    assert {name: len(rows) for name, rows in seen.items()} == dict.fromkeys(WORKED, 1)


@pytest.mark.parametrize("name", WORKED)
def test_laws_s1_to_s4_belief_as_of_gives_the_worked_beliefs(
    spark: SparkSession, dbt: Callable[..., Any], built: dict[str, str], name: str
) -> None:
    """Through the macro, compiled by dbt, at instants of the tables (12.4.7.5, 12.4.8.5)."""
    keys = [key for key, case in built.items() if case == name]
    for asked in asked_of_the_documents(name):
        macro = f"belief_as_of('customer', {asked['as_at']!r})"
        sql = dbt("compile", "--inline", "select * from {{ " + macro + " }}", schema=SCHEMA)
        found = {row.bk: row.asDict() for row in spark.sql(sql.result.results[0].node.compiled_code).collect()}
        assert all(found[key] == {"bk": key, **asked["belief"]} for key in keys), asked


def asked_of_the_documents(name: str) -> list[dict[str, Any]]:
    documents = {
        "worked_12_4_6": ["2026-03-02T15:00:00.000001Z"],
        "worked_12_4_7": ["2026-03-02T10:00:00.000001Z", "2026-03-02T18:00:00.000001Z", "2026-03-03T09:00:00.000001Z"],
        "worked_12_4_8": [
            "2026-03-02T10:00:00.000001Z",
            "2026-03-02T18:00:00.000001Z",
            "2026-03-03T09:00:00.000001Z",
            "2026-03-04T12:00:00.000001Z",
        ],
    }
    answers = {one["as_at"]: one for one in WORKED[name]["beliefs"] if one["known_at"] is None}
    return [answers[at] for at in documents[name]]
