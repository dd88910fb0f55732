"""Rows that are computed once and kept for as long as they are needed, here or as files beside a table's own.

A frame kept in memory drags its plan through every later query, which costs seconds
each, and is lost with the executor that holds it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from attest.commits import location, remove

STAGING = "_staging_"
HERE = 100_000  # rows that this process takes in


@contextmanager
def gathered(spark: SparkSession, table: str, rows: DataFrame) -> Iterator[DataFrame]:
    """A few narrow rows. So long as they are not too many they are here, and of a size that Spark knows:

    then they are sent to the rows that they are looked for among, and none of those is sent anywhere.
    """
    few = here(spark, rows)
    if few is not None:
        yield few
    else:
        with as_files(spark, table, rows) as kept:
            yield kept


def here(spark: SparkSession, rows: DataFrame) -> DataFrame | None:
    """The same rows, in this process; none if they are too many."""
    taken = rows.limit(HERE + 1).toArrow()
    return spark.createDataFrame(taken, rows.schema) if len(taken) <= HERE else None


def at_once(write: Callable[[], None]) -> None:
    write()


@contextmanager
def as_files(
    spark: SparkSession, table: str, rows: DataFrame, *, written_by: Callable[[Callable[[], None]], None] = at_once
) -> Iterator[DataFrame]:
    folder = f"{location(spark, table)}/{STAGING}{uuid.uuid4().hex}"
    try:
        written_by(lambda: rows.write.parquet(folder))
        yield spark.read.schema(rows.schema).parquet(folder)
    finally:
        remove(spark, folder)
