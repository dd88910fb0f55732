"""What the catalog says of tables and views, and Delta's logs of their commits: no Spark job, a few milliseconds.

A build asks this of every table it comes to, and `describe history` costs a job each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

Read = TypeVar("Read")

ASIDE = "_attest_said.json"

_told: dict[tuple[str, int], dict[str, Any]] = {}  # what a commit says of itself never changes


def described(spark: SparkSession, table: str) -> Any:
    """The catalog's own description of a table or view; None where there is none.

    Asked of what holds the catalog: Spark's own ways to ask load the table, or come back to it four times.
    """
    state = spark._jsparkSession.sessionState()
    name = state.catalog().qualifyIdentifier(state.sqlParser().parseTableIdentifier(table))
    kept, database = state.catalog().externalCatalog(), name.database().get()
    return kept.getTable(database, name.table()) if kept.tableExists(database, name.table()) else None


def view_text(spark: SparkSession, view: str) -> str | None:
    """What a view selects; None for a table, or where there is no such view."""
    return text_of(described(spark, view))


def text_of(found: Any) -> str | None:
    return str(found.viewText().get()) if found is not None and found.viewText().isDefined() else None


def location(spark: SparkSession, table: str) -> str | None:
    """Where a table's files are; None where there is no such table."""
    return location_of(described(spark, table))


def location_of(found: Any) -> str | None:
    return None if found is None else str(path(found.location()).toString())


@dataclass(frozen=True)
class Log:
    """A table's log as it is now."""

    place: str
    table_id: str
    newest: int
    files: Any

    @property
    def aside(self) -> str:
        """A file beside the table's own, which neither Delta nor its VACUUM looks at."""
        return f"{self.place}/{ASIDE}"

    def actions(self, version: int) -> Iterator[dict[str, Any]] | None:
        """What a commit did; none where the log no longer tells. Only what is looked at is parsed."""
        text = self.read(f"{self.place}/_delta_log/{version:020d}.json")
        if text is None:
            return None
        return (json.loads(line) for line in text.split("\n") if line)  # values may hold U+2028

    def told(self, version: int) -> dict[str, Any] | None:
        """A commit's own description."""
        key = (self.table_id, version)
        if key not in _told:
            actions = self.actions(version)
            if actions is None:
                return None
            _told[key] = described_by(actions)
        return _told[key]

    def read(self, file: str) -> str | None:
        if not self.files.exists(path(file)):
            return None
        stream = self.files.open(path(file))
        try:
            return str(java("org.apache.commons.io.IOUtils").toString(stream, "UTF-8"))
        finally:
            stream.close()

    def said_since(self) -> str | None:
        """What was said of the newest commit after it was made: nothing, once there is a newer one."""
        try:
            said: Any = json.loads(self.read(self.aside) or "null")
            return str(said["text"]) if said["of"] == [self.table_id, self.newest] else None
        except (ValueError, TypeError, KeyError, Py4JJavaError):  # it is being written, or was when somebody died
            return None

    def say(self, text: str) -> None:
        stream = self.files.create(path(self.aside), True)
        try:
            stream.write(bytearray(json.dumps({"of": [self.table_id, self.newest], "text": text}), "utf-8"))
        finally:
            stream.close()

    def back(self, read: Callable[[int], Read | None]) -> Iterator[tuple[int, Read]]:
        """What is read of each version, the newest first, for as long as the log tells."""
        for version in range(self.newest, -1, -1):
            found = read(version)
            if found is None:
                return
            yield version, found


def log_of(spark: SparkSession, table: str) -> Log | None:
    place = location(spark, table)
    if place is None:
        return None
    now = snapshot(spark, place)
    return Log(place, str(now.metadata().id()), now.version(), file_system(spark, place))


def commits(spark: SparkSession, table: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each version still in the log with its commit's own description, the newest first."""
    log = log_of(spark, table)
    return log.back(log.told) if log else iter(())


def described_by(actions: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A commit's own description, which is one of its actions."""
    return next((action["commitInfo"] for action in actions if "commitInfo" in action), {})


def logged(spark: SparkSession, table: str) -> Iterator[tuple[int, Iterator[dict[str, Any]]]]:
    """Each version still in the log with its actions, the newest first."""
    log = log_of(spark, table)
    return log.back(log.actions) if log else iter(())


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
    file_system(spark, folder).delete(path(folder), True)


def columns_if_empty(spark: SparkSession, table: str) -> StructType | None:
    """The columns of a table that had no file when it was last asked for its commits; none for any other.

    Nor for one of which only its whole log would tell that.
    """
    place = location(spark, table)
    if place is None:
        return None
    seen = seen_last(spark, place)
    return columns_of(seen) if has_no_file(seen) else None


def columns_of(seen: Any) -> StructType:
    return StructType.fromJson(json.loads(seen.schema().json()))


def is_empty(spark: SparkSession, table: str) -> bool:
    """Whether a table is known to have no row, or is not there."""
    place = location(spark, table)
    return place is None or has_no_file(seen_last(spark, place))


def has_no_file(seen: Any) -> bool:
    summed = seen.checksumOpt()
    return bool(summed.isDefined() and summed.get().numFiles() == 0)


def seen_last(spark: SparkSession, place: str) -> Any:
    """Delta's view of the table at a place, as it was when this process last asked."""
    return delta_log(spark, place).unsafeVolatileSnapshot()


def snapshot(spark: SparkSession, place: str) -> Any:
    """Delta's own view of the table at a place, as it is now."""
    none = java("scala.Option").empty()
    return delta_log(spark, place).update(False, none, none)


def delta_log(spark: SparkSession, place: str) -> Any:
    """Delta's own hold on the table at a place, the same for all who ask."""
    return java("org.apache.spark.sql.delta.DeltaLog").forTable(spark._jsparkSession, place)


def file_system(spark: SparkSession, place: str) -> Any:
    """What holds the files there: this machine, or a store in the cloud."""
    return path(place).getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())


def path(place: Any) -> Any:
    return java("org.apache.hadoop.fs.Path")(place)


@cache
def java(name: str) -> Any:
    """A class of the JVM, of which a process has one; py4j asks it for each part of the name."""
    jvm = SparkContext._jvm
    assert jvm is not None
    return reduce(getattr, name.split("."), jvm)
