"""The golden cases and the oracle: every case lands in one frame, each its own business key."""

from __future__ import annotations

from typing import Any

import engine
import oracle
import pytest
from attest.session import isolated
from cases import by_question, golden, versions_by_key
from pyspark.sql import DataFrame, SparkSession

CASES = golden()
NAMES = [case["name"] for case in CASES]
EVENTS = [event for case in CASES for event in case["events"]]


def states_of(root_session: SparkSession, inheritance: str) -> DataFrame:
    spark = isolated(root_session)
    landing = engine.landed(EVENTS, feed=engine.contract(inheritance=inheritance))
    states = engine.states(spark, engine.assertions(spark, landing)).localCheckpoint()
    states.createOrReplaceTempView("states")
    return states


@pytest.fixture(scope="module")
def as_known(root_session: SparkSession) -> DataFrame:
    return states_of(root_session, "as_known")


@pytest.fixture(scope="module")
def timelines(root_session: SparkSession, as_known: DataFrame) -> dict[str, dict[str, Any]]:
    sql = engine.sql(
        "timeline", entity="customer", states="states", sightings="sightings", attributes=engine.ATTRIBUTES
    )
    repaired = states_of(root_session, "repaired").sparkSession
    return {
        "timeline_as_known": versions_by_key(as_known.sparkSession.sql(sql)),
        "timeline_repaired": versions_by_key(repaired.sql(sql)),
    }


@pytest.fixture(scope="module")
def answers(as_known: DataFrame) -> dict[tuple[str, str, str | None], Any]:
    spark = as_known.sparkSession
    spark.createDataFrame(
        [
            (case["events"][0]["customer_id"], asked["as_at"], asked["known_at"])
            for case in CASES
            for asked in case["beliefs"]
        ],
        "bk string, as_at string, known_at string",
    ).selectExpr(
        "bk", "cast(as_at as timestamp) as as_at", "cast(known_at as timestamp) as known_at"
    ).distinct().createOrReplaceTempView("asked")
    engine.demo_rules(spark).localCheckpoint().createOrReplaceTempView("rules")
    asked = engine.sql(
        "answers",
        assertions="states",
        asked="select * from asked",
        rules="rules",
        attributes=[*engine.ATTRIBUTES, "is_deleted"],
    )
    return by_question(spark.sql(asked).collect())


@pytest.mark.parametrize("inheritance", ["timeline_as_known", "timeline_repaired"])
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_laws_e1_to_b5_the_golden_timelines(
    timelines: dict[str, dict[str, Any]], case: dict[str, Any], inheritance: str
) -> None:
    key = case["events"][0]["customer_id"]
    assert timelines[inheritance][key] == case[inheritance]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_laws_s1_to_s7_the_golden_beliefs(answers: dict[Any, Any], case: dict[str, Any]) -> None:
    key = case["events"][0]["customer_id"]
    for asked in case["beliefs"]:
        answer = answers.get((key, asked["as_at"], asked["known_at"]))
        if asked["belief"] is None:
            assert answer is None, asked
            continue
        assert answer is not None, asked
        held = {name: plain(answer[name].value) if answer[name] else None for name in engine.ATTRIBUTES}
        held["is_deleted"] = bool(answer.is_deleted and answer.is_deleted.value == "true")
        assert held == asked["belief"], asked
        winners = {name: answer[name].source_system if answer[name] else None for name in asked["winner"]}
        assert winners == asked["winner"], asked


def plain(canonical: str | None) -> Any:
    return None if canonical is None else canonical.removeprefix('"').removesuffix('"')


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_oracle_agrees_with_the_golden_cases(case: dict[str, Any]) -> None:
    assert oracle.timeline(case["events"]) == case["timeline_as_known"]
    assert oracle.timeline(case["events"], repaired=True) == case["timeline_repaired"]
    for asked in case["beliefs"]:
        believed = oracle.belief(case["events"], as_at=asked["as_at"], known_at=asked["known_at"])
        assert (believed[0] if believed else None) == asked["belief"]
        assert (believed[1] if believed else None) == asked["winner"]


@pytest.mark.parametrize("inheritance", ["as_known", "repaired"])
def test_law_b2_timeline_as_of_is_the_timeline_of_what_was_known(root_session: SparkSession, inheritance: str) -> None:
    """At a spread of the golden questions: the version that the oracle derives from the evidence known then."""
    spark = states_of(root_session, inheritance).sparkSession
    questions = {(asked["as_at"], asked["known_at"]) for case in CASES for asked in case["beliefs"]}
    for as_at, known_at in sorted(questions, key=str)[5::60]:
        sql = engine.sql("state_at", assertions="states", as_at=as_at, known_at=known_at, attributes=engine.ATTRIBUTES)
        found = {row.bk: row.asDict() for row in spark.sql(sql).collect()}
        for case in CASES:
            key = case["events"][0]["customer_id"]
            known = [e for e in case["events"] if known_at is None or e["ingest_ts"] <= known_at]
            past = [e for e in known if e["source_event_ts"] <= as_at]
            if not past:
                assert key not in found, (key, as_at, known_at)
                continue
            last = oracle.timeline(past, repaired=inheritance == "repaired")[-1]
            expected = {name: last[name] for name in (*engine.ATTRIBUTES, "is_deleted")}
            assert found[key] == {"bk": key, **expected}, (key, as_at, known_at)
