"""Schema evolution (section 6.6, law B5): what changes about attributes changes no old hash and opens no version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import engine
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

OLD = {"name": "string", "status": "string"}
TOLD: list[dict[str, Any]] = [
    {"name": "12.50", "status": "on"},
    {"name": "12.50"},
    {"status": None},
    {"name": "x", "address": "1"},
]
SAID = [
    {"source_event_ts": f"2026-03-0{day}T00:00:00Z", "ingest_ts": f"2026-03-0{day}T01:00:00Z"} | told
    for day, told in enumerate(TOLD, start=1)
]
PACKED = [
    {"source_event_ts": "2026-03-01T00:00:00Z", "ingest_ts": "2026-03-01T01:00:00Z", "name": '{"risk": {"score": 7}}'},
    {
        "source_event_ts": "2026-03-02T00:00:00Z",
        "ingest_ts": "2026-03-09T01:00:00Z",
        "name": "<risk><score>8</score></risk>",
    },
]


def versions(spark: SparkSession, said: list[dict[str, Any]], attributes: Mapping[str, str], **asked: Any) -> list[Row]:
    """The timeline of one customer of whom this is said, by the project's own mapping and macros."""
    events = [{"customer_id": "C", "source_system": "S"} | event for event in said]
    spoken_of = dict(attributes) | asked.get("untracked", {})
    told = engine.assertions(spark, engine.landed(events, feed=engine.contract()), attributes=spoken_of)
    told.createOrReplaceTempView("evidence")
    spark.sql(engine.sql("sightings", evidence="evidence")).createOrReplaceTempView("sightings")
    spark.sql(
        engine.sql("states", arrivals="evidence", sightings="sightings", attributes=attributes, **asked)
    ).createOrReplaceTempView("s")
    sql = engine.sql("timeline", entity="customer", states="s", sightings="sightings", attributes=attributes)
    spark.sql(sql).createOrReplaceTempView("timeline")
    return spark.table("timeline").orderBy("version").collect()


def hashes(rows: list[Row]) -> list[str]:
    return [row.attr_hash for row in rows]


def test_an_attribute_that_is_added_changes_no_hash_until_it_is_spoken_of(spark: SparkSession) -> None:
    before = versions(spark, SAID[:3], OLD)
    after = versions(spark, SAID, OLD | {"address": "string", "fax": "string"})
    assert hashes(after)[: len(before)] == hashes(before)
    assert len(after) == len(before) + 1
    assert [row.unknown_attributes for row in after] == [["address", "fax"]] * 2 + [["fax"]]


def test_an_attribute_that_is_no_longer_declared_stops_the_build_and_says_to_keep_it(spark: SparkSession) -> None:
    versions(spark, SAID, OLD)
    with pytest.raises(PySparkException, match=r"mentions name, which the entity does not declare\..*leave it"):
        spark.sql(
            engine.sql("states", arrivals="evidence", sightings="sightings", attributes={"status": "string"})
        ).collect()


def test_another_type_is_another_reading_of_the_same_evidence(spark: SparkSession) -> None:
    before = versions(spark, SAID, OLD)
    after = versions(spark, SAID, OLD | {"name": "string as decimal(18, 2)"})
    assert hashes(after) == hashes(before)
    assert [str(row.name) for row in after] == ["12.50", "12.50", "None"], "what cannot be read so is null, not lost"


def test_strategy_b_a_higher_hash_version_rehashes_the_evidence_and_opens_no_version(spark: SparkSession) -> None:
    first, second, third = (versions(spark, SAID, OLD, hash_version=number) for number in (1, 2, 3))
    assert [[row.hash_version for row in rows] for rows in (first, second, third)] == [
        [n] * len(first) for n in (1, 2, 3)
    ]
    told = [[(row.version, row.effective_from, row.effective_to, row.name) for row in rows] for rows in (first, second)]
    assert told[0] == told[1]
    assert len({*hashes(first), *hashes(second), *hashes(third)}) == 3 * len({*hashes(first)})


def test_strategy_b_the_hash_says_what_of_the_schema_was_unknown(spark: SparkSession) -> None:
    narrow = versions(spark, SAID[:3], OLD, hash_version=2)
    wide = versions(spark, SAID[:3], OLD | {"fax": "string"}, hash_version=2)
    assert len(narrow) == len(wide)
    assert not {*hashes(narrow)} & {*hashes(wide)}


def test_law_e3_untracked_attributes_are_evidence_and_open_no_version(spark: SparkSession) -> None:
    said = [*SAID[:3], SAID[2] | {"source_event_ts": "2026-03-04T00:00:00Z", "address": "9"}]
    tracked = versions(spark, said[:3], OLD)
    found = versions(spark, said, OLD, untracked={"address": "string"})
    assert hashes(found) == hashes(tracked)
    assert spark.table("evidence").where("mentions['address'] = '\"9\"'").count() == 1
    assert spark.table("s").where("map_contains_key(state, 'address')").count() == 0


def test_section_6_6_7_unpacking_a_payload_changes_no_hash_and_dates_no_knowledge_back(spark: SparkSession) -> None:
    before = versions(spark, PACKED, OLD)
    fields = {"from_json": "$.risk.score", "from_xml": "/risk/score"}
    for number, path in enumerate(fields.values(), start=1):
        interpreted = engine.sql(
            "interpreted",
            versions=f"(select * from timeline where version = {number})",
            payload="name",
            fields={"score": path},
            interpretation="risk-1",
            known_from="2026-03-05T00:00:00Z",
        )
        [row] = spark.sql(interpreted).collect()
        assert (row.score, row.attr_hash, row.interpretation) == (
            str(6 + number),
            before[number - 1].attr_hash,
            "risk-1",
        )
        assert row.first_seen_ts == before[number - 1].first_seen_ts
        assert f"{row.interpretation_known_from:%m-%d}" == ("03-05", "03-09")[number - 1]
