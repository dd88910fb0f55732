"""What a Delta table's log says of its commits, read as files: no Spark job, a few milliseconds.

A build asks this of every table it comes to, and `describe history` costs a job each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession


def described(spark: SparkSession, table: str) -> Any:
    """The catalog's own description of a table or view; None where there is none."""
    if not spark.catalog.tableExists(table):
        return None
    state = spark._jsparkSession.sessionState()
    return state.catalog().getTableMetadata(state.sqlParser().parseTableIdentifier(table))


def view_text(spark: SparkSession, view: str) -> str | None:
    """What a view selects; None for a table, or where there is no such view."""
    found = described(spark, view)
    return str(found.viewText().get()) if found is not None and found.viewText().isDefined() else None


def location(spark: SparkSession, table: str) -> str | None:
    """Where a table's files are; None where there is no such table."""
    found = described(spark, table)
    jvm = spark._jvm
    if jvm is None or found is None:
        return None
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
        line = next((line for line in text.split("\n") if line.startswith('{"commitInfo"')), "{}")
        yield version, json.loads(line).get("commitInfo", {})


def newest(spark: SparkSession, table: str) -> tuple[int, dict[str, Any]]:
    """The newest version of a table that is there, and its commit's description."""
    return next(commits(spark, table))


def measured(commit: dict[str, Any], *names: str) -> int:
    """What a commit says of itself under any of these names; operations call the same thing differently."""
    metrics = commit.get("operationMetrics", {})
    return sum(int(metrics.get(name, 0)) for name in names)


def remove(spark: SparkSession, folder: str) -> None:
    """Delete a folder, wherever Spark keeps its files; nothing happens if it is not there."""
    jvm = spark._jvm
    if jvm is None:
        return
    path = jvm.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).delete(path, True)
