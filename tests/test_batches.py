"""Every history of three events, an event a batch, in every order of the batches, built after each."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import oracle
import pytest
from attest.delivery import new_delivery
from attest.land import land
from cases import TIMELINE, versions_by_key
from engine import contract
from histories import KINDS, every_history, key_of, told
from pyspark.sql import DataFrame, SparkSession

Dbt = Callable[..., Any]
ORDERS = list(permutations(range(3)))


@pytest.fixture(scope="module")
def batches(scratch: Path) -> list[Path]:
    """The first event of every history, the second, the third: each is itself whenever it lands (law E5)."""
    files = [scratch / f"event_{place}.jsonl" for place in range(3)]
    for place, file in enumerate(files):
        events = (told(history)[place] for history in every_history(3))
        file.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return files


def built(spark: SparkSession, dbt: Dbt, files: list[Path], schema: str) -> DataFrame:
    """The timeline after each file has landed and been built in its turn."""
    for file in files:
        land(spark, feed=contract(), table=f"{schema}.landing_worked", paths=[file], delivery=new_delivery())
        dbt(*TIMELINE, schema=schema)
    return spark.table(f"{schema}.customer_timeline")


@pytest.mark.prove
def test_laws_b1_and_e5_every_order_of_three_batches_gives_the_same_bytes(
    spark: SparkSession, dbt: Dbt, batches: list[Path]
) -> None:
    """46,656 histories in six orders: every column of every version is equal, and as the oracle has it."""
    timelines = {}
    for order in ORDERS:
        schema = "order_" + "".join(map(str, order))
        timelines[order] = built(spark, dbt, [batches[place] for place in order], schema)
        different = difference(timelines[ORDERS[0]], timelines[order])
        print(f"batches in order {order}: {different} rows differ from those in order {ORDERS[0]}", flush=True)
        assert different == 0
    found = versions_by_key(timelines[ORDERS[0]])
    wrong = [key_of(one) for one in every_history(3) if found.pop(key_of(one), None) != oracle.timeline(told(one))]
    print(f"{len(ORDERS)} orders of batches, {len(KINDS) ** 3:,} histories in each, {len(wrong)} wrong", flush=True)
    assert (wrong, found) == ([], {})


def difference(one: DataFrame, other: DataFrame) -> int:
    """How many rows only one of the two has; a row is all of its columns."""
    return one.exceptAll(other).count() + other.exceptAll(one).count()
