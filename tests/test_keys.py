"""Business keys of several fields: as many keys as there are entities, whatever the sources put in them (law B5)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import engine
from histories import NASTY
from pyspark.sql import SparkSession

FIELDS = "fields map<string, string>"
ODD = (*NASTY, "a|", "|b", "||", "~", "~1", "~0", "a~", "1|", None)


def keys(spark: SparkSession, *rows: Mapping[str, str | None], parts: list[str]) -> list[str | None]:
    spark.createDataFrame([(dict(row),) for row in rows], FIELDS).createOrReplaceTempView("records")
    key = engine.sql("business_key", fields="fields", parts=parts)
    return [row.bk for row in spark.sql(f"select {key} as bk from records").collect()]


def name(part: str | None) -> str | None:
    """What a part names: its text without outer spaces; nothing else names anything."""
    return (part or "").strip(" ") or None


def test_law_b5_two_pairs_of_parts_have_one_key_only_if_they_are_equal(spark: SparkSession) -> None:
    pairs = list(product(ODD, repeat=2))
    found = keys(spark, *({"a": a, "b": b} for a, b in pairs), parts=["a", "b"])
    told = [(name(a), name(b)) for a, b in pairs]
    assert [key is None for key in found] == [None in pair for pair in told]
    whole = {(key, pair) for key, pair in zip(found, told, strict=True) if key is not None}
    assert len({key for key, _ in whole}) == len({pair for _, pair in whole}) == len(whole)
    assert len(whole) == len({name(part) for part in ODD} - {None}) ** 2


def test_a_key_of_several_parts_can_be_read_and_one_part_alone_stays_as_it_is(spark: SparkSession) -> None:
    rows = [{"a": " C123 ", "b": "A-001"}, {"a": "a|", "b": "b"}, {"a": "a", "b": "|b"}, {"a": "a~1", "b": "b"}]
    assert keys(spark, *rows, parts=["a", "b"]) == ["C123|A-001", "a~1|b", "a|~1b", "a~01|b"]
    assert keys(spark, *rows, parts=["a"]) == ["C123", "a|", "a", "a~1"]


def test_a_part_that_is_absent_leaves_no_key(spark: SparkSession) -> None:
    assert keys(spark, {"a": "C123"}, {"b": "A-001"}, {}, parts=["a", "b"]) == [None, None, None]
