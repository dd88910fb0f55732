"""Rows that are computed once and kept for as long as they are needed, here or as files beside a table's own.

A frame kept in memory drags its plan through every later query, which costs seconds
each, and is lost with the executor that holds it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession

from attest.commits import location, remove

Result = TypeVar("Result")

STAGING = "_staging_"
HERE = 100_000  # narrow rows that this process takes in
WHOLE_HERE = 20_000  # rows with all their columns
FEW_KEYS = 5_000


def at_once(work: Callable[[], Result]) -> Result:
    return work()


@contextmanager
def gathered(
    spark: SparkSession, table: str, rows: DataFrame, *, most: int | None = None, by: Callable[..., Any] = at_once
) -> Iterator[DataFrame]:
    """So long as they are few, the rows are here, and of a size that Spark knows:

    then they are sent to the rows that they are looked for among, and none of those is sent anywhere.
    """
    few: DataFrame | None = None if most == 0 else by(lambda: here(spark, rows, most))
    if few is not None:
        yield few
    else:
        with as_files(spark, table, rows, by=by) as kept:
            yield kept


def room_for(keys: DataFrame) -> int:
    """How many whole rows of these keys are worth a try; of many keys none, for then all would be computed twice."""
    return WHOLE_HERE if keys.limit(FEW_KEYS + 1).count() <= FEW_KEYS else 0


def here(spark: SparkSession, rows: DataFrame, most: int | None = None) -> DataFrame | None:
    """The same rows, in this process; none if they are more than that."""
    most = HERE if most is None else most
    taken = rows.limit(most + 1).toArrow()
    return spark.createDataFrame(taken, rows.schema) if len(taken) <= most else None


@contextmanager
def as_files(
    spark: SparkSession, table: str, rows: DataFrame, *, by: Callable[..., Any] = at_once
) -> Iterator[DataFrame]:
    folder = f"{location(spark, table)}/{STAGING}{uuid.uuid4().hex}"
    try:
        by(lambda: rows.write.parquet(folder))
        yield spark.read.schema(rows.schema).parquet(folder)
    finally:
        remove(spark, folder)
