"""What a Delta table's log says of its commits, read as files: no Spark job, a few milliseconds.

A build asks this of every table it comes to, and `describe history` costs a job each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType


def described(spark: SparkSession, table: str) -> Any:
    """The catalog's own description of a table or view; None where there is none."""
    state = spark._jsparkSession.sessionState()
    name = state.sqlParser().parseTableIdentifier(table)
    # The public catalog's tableExists costs ten times as much, for it loads the table.
    return state.catalog().getTableMetadata(name) if state.catalog().tableExists(name) else None


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
    for version, actions in logged(spark, table):
        yield version, described_by(actions)


def described_by(actions: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A commit's own description, which is one of its actions."""
    return next((action["commitInfo"] for action in actions if "commitInfo" in action), {})


def logged(spark: SparkSession, table: str) -> Iterator[tuple[int, Iterator[dict[str, Any]]]]:
    """Each version still in the log with its actions, the newest first; only those that are looked at are parsed."""
    jvm = spark._jvm
    place = location(spark, table)
    if place is None or jvm is None:
        return
    files = file_system(spark, place)
    for version in range(snapshot(spark, place).version(), -1, -1):
        path = jvm.org.apache.hadoop.fs.Path(f"{place}/_delta_log/{version:020d}.json")
        if not files.exists(path):
            return
        stream = files.open(path)
        try:
            text = str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()
        yield version, (json.loads(line) for line in text.split("\n") if line)  # values may hold U+2028


def newest(spark: SparkSession, table: str) -> tuple[int, dict[str, Any]]:
    """The newest version of a table that is there, and its commit's description."""
    return next(commits(spark, table))


def measured(commit: dict[str, Any], *names: str) -> int:
    """What a commit says of itself under any of these names; operations call the same thing differently."""
    metrics = commit.get("operationMetrics", {})
    return sum(int(metrics.get(name, 0)) for name in names)


def bytes_written(actions: Iterable[dict[str, Any]]) -> int:
    """Of the files that a commit added; one that it only struck rows out of counts with its list of those.

    The commit's own metrics count such a file whole, as if it had been written again.
    """
    added: dict[str, Any] = {}
    removed: set[str] = set()
    for action in actions:
        if "add" in action:
            added[action["add"]["path"]] = action["add"]
        elif "remove" in action:
            removed.add(action["remove"]["path"])
    struck_out = (int(added[path].get("deletionVector", {}).get("sizeInBytes", 0)) for path in added.keys() & removed)
    return sum(struck_out) + sum(int(file["size"]) for path, file in added.items() if path not in removed)


def remove(spark: SparkSession, folder: str) -> None:
    """Delete a folder, wherever Spark keeps its files; nothing happens if it is not there."""
    jvm = spark._jvm
    if jvm is None:
        return
    file_system(spark, folder).delete(jvm.org.apache.hadoop.fs.Path(folder), True)


def columns_if_empty(spark: SparkSession, table: str) -> StructType | None:
    """The columns of a table that had no file when it was last asked for its commits; none for any other.

    Nor for one of which only its whole log would tell that.
    """
    place = location(spark, table)
    if place is None:
        return None
    seen = delta_log(spark, place).unsafeVolatileSnapshot()
    summed = seen.checksumOpt()
    if not summed.isDefined() or summed.get().numFiles():
        return None
    return StructType.fromJson(json.loads(seen.schema().json()))


def is_empty(spark: SparkSession, table: str) -> bool:
    """Whether a table is known to have no row, or is not there."""
    return location(spark, table) is None or columns_if_empty(spark, table) is not None


def snapshot(spark: SparkSession, place: str) -> Any:
    """Delta's own view of the table at a place, as it is now."""
    jvm = spark._jvm
    assert jvm is not None
    none = jvm.scala.Option.empty()
    return delta_log(spark, place).update(False, none, none)


def delta_log(spark: SparkSession, place: str) -> Any:
    """Delta's own hold on the table at a place, the same for all who ask."""
    jvm = spark._jvm
    assert jvm is not None
    return jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, place)


def file_system(spark: SparkSession, place: str) -> Any:
    """What holds the files there: this machine, or a store in the cloud."""
    jvm = spark._jvm
    assert jvm is not None
    return jvm.org.apache.hadoop.fs.Path(place).getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
