"""Tables that need no evidence: a slice of records replaces, is merged into, or adds versions to what is there.

The query compares each record of the slice with the table once, and says what happens to it and
which rows it becomes. It is computed once; what happened is counted as it passes by. Only then
are the rows committed, at once. No slice that cannot hold is written, not even in part.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.build import elapsed
from attest.errors import (
    ColumnsChangedError,
    DuplicateBusinessKeyError,
    EmptySliceError,
    NullKeyError,
    OvertakenError,
    ProcessingTimeError,
)
from attest.failpoints import reach
from attest.kept import as_files
from attest.news import Note, Standing, standing, version_at
from attest.order import Outcome
from attest.write import Table, Written

ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,6})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?", re.IGNORECASE)
AT = ":processing_time"
CHANGES = "attest_changes"
NAMED = 5  # records in an error
ACTIONS = {
    "full": ("inserted", "deleted"),
    "merge": ("inserted", "changed", "touched", "deleted", "still_deleted", "inferred"),
    "historic": ("inserted", "updated", "unchanged", "deleted", "inferred"),
}
KEYS = {"full": None, "merge": "primary_key", "historic": "version_sk"}


@dataclass(frozen=True)
class Slice:
    """What a materialization orders: the query, the table, and the time that its rows are of."""

    strategy: str
    table: Table
    changes: str
    becomes: str
    columns: Mapping[str, Mapping[str, str]]
    is_meant: bool
    at: datetime

    @property
    def meant(self) -> str:
        return f"If it is meant: --vars '{{meant: [{self.table.name.split('.')[-1].strip('`')}]}}'."


def process(spark: SparkSession, order: str) -> Outcome:
    """Carry out a strategy's order (JSON): compute, count, refuse or commit."""
    wanted: dict[str, Any] = json.loads(order)
    began = time.monotonic()
    table = Table(**wanted["table"])
    at = instant(wanted["processing_time"], table.name)
    table = replace(table, key=KEYS[wanted["strategy"]])
    ours = Slice(
        wanted["strategy"], table, at_time(wanted["changes"], at), at_time(wanted["becomes"], at), wanted["columns"],
        wanted["is_meant"], at,
    )  # fmt: skip
    target = standing(spark, table.name)
    require_same_table(spark, ours, target)
    refuse_time(ours, target, now=datetime.fromisoformat(wanted["now"]))
    changes = query(spark, ours)
    reach("before the write", table.name)
    with computed(spark, ours, changes, target) as (rows, seen):
        refuse_problems(ours, changes, seen)
        refuse_nothing(spark, ours, target, seen)
        written = put(spark, ours, rows, seen, target)
    counts = counted(ours.strategy, seen)
    message = f"{written.primitive}: {', '.join(f'{count} {name}' for name, count in counts.items())}, {elapsed(began)}"
    return Outcome(message, written, counts=counts, warnings=drift(ours.columns))


def instant(text: str, table: str) -> datetime:
    """An ISO-8601 time; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text.upper()) if ISO.fullmatch(text) else None
    except ValueError:
        at = None
    if at is None:
        raise ProcessingTimeError(
            f"{table}: the processing time {text!r} is no ISO-8601 time, such as 2026-03-01T09:00:00Z. "
            "Nothing was written; correct it."
        )
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)


def require_same_table(spark: SparkSession, ours: Slice, target: Standing | None) -> None:
    """The query was made for the table as it was: whoever changed its columns meanwhile was faster."""
    there = [] if target is None else spark.table(ours.table.name).columns
    if there != list(ours.columns["held"]):
        raise OvertakenError(f"{ours.table.name}: its columns changed since this build looked. Nothing was written.")


def refuse_time(ours: Slice, target: Standing | None, *, now: datetime) -> None:
    if ours.is_meant:
        return
    if ours.at > now:
        raise ProcessingTimeError(
            f"{ours.table.name}: the processing time {ours.at.isoformat()} is yet to come, and every later slice "
            f"would be earlier than it. Nothing was written; correct it. {ours.meant}"
        )
    before = target.note.at if target is not None and target.note is not None else None
    if ours.strategy == "historic" and before is not None and ours.at < datetime.fromisoformat(before):
        raise ProcessingTimeError(
            f"{ours.table.name}: the processing time {ours.at.isoformat()} is earlier than {before}, of a slice that "
            f"the table has taken in already. Nothing was written; give a later one. {ours.meant}"
        )


def at_time(code: str, at: datetime) -> str:
    """The code for one processing time: Spark leaves a parameter unbound in a CTE of a CTE."""
    return code.replace(AT, f"timestamp '{at.isoformat()}'")


def query(spark: SparkSession, ours: Slice) -> DataFrame:
    try:
        return spark.sql(ours.changes)
    except AnalysisException as failure:
        retyped = [line for line in drift(ours.columns) if " was " in line]
        if not retyped or "CAST" not in str(failure.getCondition()):
            raise
        raise ColumnsChangedError(
            f"{ours.table.name}: {', '.join(retyped)}, and the one cannot be read as the other. "
            "Nothing was written; cast it in the model."
        ) from None


@contextmanager
def computed(
    spark: SparkSession, ours: Slice, changes: DataFrame, target: Standing | None
) -> Iterator[tuple[DataFrame, Mapping[str, int]]]:
    """Step 12: the rows to write, computed once, and what happened to the records that they come from."""
    tallies = [F.count_if("attest_is_told").alias("records"), F.count("attest_problem").alias("problems")]
    tallies += [F.count_if(F.col("attest_action") == name).alias(name) for name in ACTIONS[ours.strategy]]
    needed = [name for name in changes.columns if name != "attest_record"]
    if target is None:
        # There is no place yet to keep files at.
        held = changes.select(*needed).persist()
        try:
            [seen] = held.agg(*tallies).collect()
            yield becoming(spark, ours, held), seen.asDict()
        finally:
            held.unpersist()
        return
    passing = Observation()
    rows = becoming(spark, ours, changes.select(*needed).observe(passing, *tallies))
    with as_files(spark, ours.table.name, rows) as kept:
        reach("after data files", ours.table.name)
        yield kept, passing.get


def becoming(spark: SparkSession, ours: Slice, changes: DataFrame) -> DataFrame:
    changes.createOrReplaceTempView(CHANGES)
    return spark.sql(ours.becomes)


def refuse_problems(ours: Slice, changes: DataFrame, seen: Mapping[str, int]) -> None:
    """Named by up to five records; only now, where something is wrong, are they looked for."""
    if not seen["problems"]:
        return
    wrong = changes.where("attest_problem is not null").groupBy("attest_problem", "attest_record")
    records = wrong.agg(F.count("*").alias("times")).orderBy("attest_problem", "attest_record").limit(NAMED).collect()
    problem = records[0].attest_problem
    records = [row for row in records if row.attest_problem == problem]
    otherwise = "all of it is null" if problem == "nameless" else "a row that the slice lacks"
    named = "; ".join(f"{told(row.attest_record, otherwise)} ({times(row.times)})" for row in records)
    raise refusal(ours, problem, named)


def refusal(ours: Slice, problem: str, named: str) -> Exception:
    name = ours.table.name
    if problem == "repeated":
        return DuplicateBusinessKeyError(
            f"{name}: records of the slice have a business key that is not theirs alone: {named}. "
            "Nothing was written; let the model select one record a key."
        )
    if problem == "nameless":
        return NullKeyError(
            f"{name}: records of the slice have no business key: {named}. "
            "Nothing was written; mend the source, or leave them out in the model."
        )
    if problem == "misfit":
        retyped = ", ".join(line for line in drift(ours.columns) if " was " in line)
        return ColumnsChangedError(
            f"{name}: {retyped}, and records have a value that does not fit what it was: {named}. "
            "Nothing was written; cast it in the model."
        )
    return ProcessingTimeError(
        f"{name}: records change a version that begins at {ours.at.isoformat()} or later, so that it would end "
        f"before it begins: {named}. Nothing was written; give a later processing time."
    )


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def told(record: str, otherwise: str) -> str:
    """A business key as `column = value`, without the columns that are null."""
    return ", ".join(f"{name} = {value}" for name, value in json.loads(record).items()) or otherwise


def refuse_nothing(spark: SparkSession, ours: Slice, target: Standing | None, seen: Mapping[str, int]) -> None:
    """A slice of no records is more often a broken extract than the end of everything."""
    if ours.is_meant or target is None or seen["records"]:
        return
    is_replaced = ours.strategy == "full" and not ours.table.partition_by
    if seen.get("inferred") or (is_replaced and not spark.table(ours.table.name).isEmpty()):
        gone = f"{seen['inferred']} rows" if seen.get("inferred") else "all rows"
        raise EmptySliceError(
            f"{ours.table.name}: the slice has no records, so {gone} would be gone. "
            f"Nothing was written; look at the source. {ours.meant}"
        )


def put(spark: SparkSession, ours: Slice, rows: DataFrame, seen: Mapping[str, int], target: Standing | None) -> Written:
    """One commit, whatever the strategy. Its generation is new if anything but a last sight is."""
    since = version_at(target)
    before = target.note if target is not None else None
    count = rows_made(ours, seen)
    is_same = ours.strategy != "full" and count == seen.get("touched", 0) + seen.get("still_deleted", 0)
    latest = max([ours.at, *([datetime.fromisoformat(before.at)] if before is not None and before.at else [])])
    generation = before.generation if before is not None and is_same else uuid.uuid4().hex
    note = Note(generation, at=latest.isoformat())
    if target is None or (ours.strategy == "full" and not ours.table.partition_by):
        whole = replace(ours.table, key=None)
        written = write.create(spark, whole, rows, note=note, since=since)
    elif not count:
        return write.confirm(spark, ours.table, note=note, since=since)
    elif ours.strategy == "full":
        written = write.overwrite_partitions(spark, ours.table, rows, note=note, since=since)
    else:
        written = write.replace_on(spark, ours.table, rows, note=note, since=since)
    return replace(written, rows=count)


def rows_made(ours: Slice, seen: Mapping[str, int]) -> int:
    """A record is a row, but in a history: there none is one where nothing changed, and two where a version ends."""
    if ours.strategy != "historic":
        return seen["records"] + seen.get("inferred", 0)
    return seen["inserted"] + seen["deleted"] + 2 * (seen["updated"] + seen["inferred"])


def counted(strategy: str, seen: Mapping[str, int]) -> dict[str, int]:
    """The figures of a run; in a merge, `touched` are those of the `updated` that are the same."""
    records = {"records": seen["records"]}
    if strategy == "full":
        return records
    if strategy == "merge":
        updated = {"updated": seen["changed"] + seen["touched"], "touched": seen["touched"]}
        deleted = {"deleted": seen["deleted"] + seen["still_deleted"]}
        return records | {"inserted": seen["inserted"], **updated, **deleted, "inferred": seen["inferred"]}
    inserted = seen["inserted"] + seen["deleted"]  # the first slice's deletions are versions, too
    updated = {"updated": seen["updated"], "unchanged": seen["unchanged"]}
    return records | {"inserted": inserted, **updated, "inferred": seen["inferred"]}


def drift(columns: Mapping[str, Mapping[str, str]]) -> list[str]:
    """How the slice's columns differ from the table's, where there is one."""
    told, held = columns["told"], columns["held"]
    if not held:
        return []
    lines = [f"{name} is new ({kind})" for name, kind in told.items() if name not in held]
    lines += [f"{name} is gone" for name in held if name not in told]
    lines += [f"{name} was {held[name]} and is {kind}" for name, kind in told.items() if held.get(name, kind) != kind]
    return [f"SchemaDriftWarning: {line}" for line in lines]
