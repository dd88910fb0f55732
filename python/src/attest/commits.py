"""What a Delta table's log says of its commits, read as files: no Spark job, a few milliseconds.

A build asks this of every table it comes to, and `describe history` costs a job each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession


def location(spark: SparkSession, table: str) -> str | None:
    """Where a table's files are; None where there is no such table."""
    jvm = spark._jvm
    if jvm is None or not spark.catalog.tableExists(table):
        return None
    state = spark._jsparkSession.sessionState()
    found = state.catalog().getTableMetadata(state.sqlParser().parseTableIdentifier(table))
    return str(jvm.org.apache.hadoop.fs.Path(found.location()).toString())


def commits(spark: SparkSession, table: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each version still in the log with its commit's own description, the newest first."""
    jvm = spark._jvm
    place = location(spark, table)
    if place is None or jvm is None:
        return
    none = jvm.scala.Option.empty()
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, place)
    for version in range(log.update(False, none, none).version(), -1, -1):
        path = jvm.org.apache.hadoop.fs.Path(f"{place}/_delta_log/{version:020d}.json")
        files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        if not files.exists(path):
            return
        stream = files.open(path)
        try:
            text = str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()
        described = next((line for line in text.split("\n") if line.startswith('{"commitInfo"')), "{}")
        yield version, json.loads(described).get("commitInfo", {})


def newest(spark: SparkSession, table: str) -> tuple[int, dict[str, Any]]:
    """The newest version of a table that is there, and its commit's description."""
    return next(commits(spark, table))


def rows_written(spark: SparkSession, table: str) -> int:
    """How many rows the newest commit wrote, by its own account."""
    return int(newest(spark, table)[1].get("operationMetrics", {}).get("numOutputRows", 0))
