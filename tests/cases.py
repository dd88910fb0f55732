"""The golden cases, and how rows of ours are told in their shape."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

# What dbt builds of one entity; the others would only take time from a test that does not ask about them.
WHOLE = ("--indirect-selection", "buildable")  # of the tests, those whose every table is there
CUSTOMER = (
    "--select",
    "+customer_timeline",
    "+customer_as_known",
    "+customer_why",
    "+customer_current",
    "feeds",
    *WHOLE,
)

# Bronze of one entity, with the seeds it reads and no test.
UNTESTED = ("--exclude-resource-type", "test", "--exclude-resource-type", "unit_test")
TIMELINE = ("build", "--select", "+customer_timeline", *UNTESTED)

GOLDEN = Path(__file__).parent / "golden.jsonl"
SHOWN = (
    "source_system",
    "effective_from",
    "effective_to",
    "name",
    "address",
    "status",
    "is_deleted",
    "is_current",
    "first_seen_ts",
    "last_seen_ts",
)


def golden() -> list[dict[str, Any]]:
    return [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").split("\n") if line]


def text(value: Any) -> Any:
    """Timestamps as the cases write them: UTC, to the microsecond."""
    return f"{value:%Y-%m-%dT%H:%M:%S.%fZ}" if isinstance(value, datetime) else value


def version(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: text(row[name]) for name in SHOWN} | {"unknown": row["unknown_attributes"]}


def versions_by_key(timeline: DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Each entity's versions in their order."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    rows = timeline.select("bk", "version", *SHOWN, "unknown_attributes").toArrow().to_pylist()
    for row in sorted(rows, key=lambda row: (row["bk"], row["version"])):
        found[row["bk"]].append(version(row))
    return dict(found)


def by_question(rows: Iterable[Row]) -> dict[tuple[str, str, str | None], Row]:
    return {(row.bk, text(row.as_at), text(row.known_at)): row for row in rows}


def messages(spark: SparkSession, schema: str) -> dict[str, str]:
    """What the last build's ledger says of each node."""
    runs = spark.table(f"{schema}.runs").collect()
    last = max(runs, key=lambda run: run.recorded_at).invocation_id
    return {run.node: run.message for run in runs if run.invocation_id == last}
