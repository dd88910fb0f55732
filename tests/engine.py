"""The engine end to end without dbt: landed lines in, timeline and beliefs out, on temporary views."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from attest.contract import Feed, read_contracts
from attest.land import Delivery, read_line, to_arrow
from attest.macros import render
from attest.states import whole_states
from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parent.parent
ATTRIBUTES = {"name": "string", "address": "string", "status": "string"}
WHEN = datetime(2026, 6, 1, tzinfo=UTC)
DATES = ("effective_from", "effective_to", "known_from", "known_to")


@dataclass(frozen=True)
class Engine:
    """Where the SQL comes from, and what makes the states: the project's own, or a copy with a mistake."""

    root: Path = ROOT
    whole_states: Callable[[DataFrame], DataFrame] = whole_states


OURS = Engine()


def sql(macro: str, /, *, made_by: Engine = OURS, **arguments: Any) -> str:
    return render(made_by.root, macro, **arguments)


def contract(*, inheritance: str = "as_known") -> Feed:
    feeds = read_contracts(ROOT / "seeds" / "feeds.csv")
    return feeds["worked" if inheritance == "as_known" else "worked_repaired"]


def landed(events: Iterable[Mapping[str, Any]], *, feed: Feed, file: str = "events.jsonl", number: int = 1) -> pa.Table:
    """Events of the worked shape as `attest land` would keep them."""
    lines = [json.dumps(event, ensure_ascii=False).encode() for event in events]
    rows = [read_line(line, raw, feed) for line, raw in enumerate(lines, start=1)]
    delivery = Delivery(f"L{number}", f"L{number}", WHEN, WHEN)
    return to_arrow(rows, feed, Path(file), delivery)


def assertions(spark: SparkSession, landing: pa.Table, *, made_by: Engine = OURS) -> DataFrame:
    """The evidence of one landing, by the mapping that the worked feed's view has."""
    spark.createDataFrame(landing).createOrReplaceTempView("landing")
    mapping = (ROOT / "models/bronze/customer/customer_from_worked.sql").read_text()
    mapping = mapping.replace("{{ ref('landing_worked') }}", "landing")
    mapping = mapping.replace(
        "{{ mentions(fields='fields', attributes=attributes_of('customer')) | indent(4) }}",
        sql("mentions", made_by=made_by, fields="fields", attributes=ATTRIBUTES),
    ).replace("{{ provenance() | indent(4) }}", sql("provenance", made_by=made_by))
    spark.sql(mapping).createOrReplaceTempView("feed")
    return spark.sql(sql("evidence", made_by=made_by, feeds=["feed"], attributes=ATTRIBUTES))


def states(spark: SparkSession, evidence: DataFrame, *, made_by: Engine = OURS) -> DataFrame:
    evidence.createOrReplaceTempView("evidence")
    return made_by.whole_states(spark.sql(sql("ordered", made_by=made_by, arrivals="evidence", attributes=ATTRIBUTES)))


def timeline(spark: SparkSession, evidence: DataFrame, *, made_by: Engine = OURS) -> DataFrame:
    states(spark, evidence, made_by=made_by).createOrReplaceTempView("states")
    return spark.sql(sql("timeline", made_by=made_by, entity="customer", states="states", attributes=ATTRIBUTES))


def rules(spark: SparkSession, rows: Sequence[Sequence[Any]], groups: Mapping[str, str]) -> DataFrame:
    """Rules as the seeds give them; needs the view `evidence` for the basis."""
    columns = (
        "entity string, attribute_group string, source_system string, rank int, rule string, effective_from timestamp, "
        "effective_to timestamp, known_from timestamp, known_to timestamp, requested_by string, approved_by string, "
        "reason string"
    )
    spark.createDataFrame(list(rows), columns).createOrReplaceTempView("precedence")
    spark.createDataFrame(
        [("customer", attribute, group) for attribute, group in groups.items()],
        "entity string, attribute string, attribute_group string",
    ).createOrReplaceTempView("attribute_groups")
    return spark.sql(
        sql(
            "rules_of",
            entity="customer",
            precedence="precedence",
            attribute_groups="attribute_groups",
            assertions="evidence",
        )
    )


def demo_rules(spark: SparkSession) -> DataFrame:
    """The rules that the project ships, from the seed files themselves."""
    with (ROOT / "seeds" / "precedence.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            [*(row[name] for name in ("entity", "attribute_group", "source_system")), int(row["rank"]), row["rule"]]
            + [datetime.fromisoformat(row[name]) if row[name] else None for name in DATES]
            + [row[name] for name in ("requested_by", "approved_by", "reason")]
            for row in csv.DictReader(file)
        ]
    groups = {"name": "name", "address": "address", "status": "status", "is_deleted": "deletion"}
    return rules(spark, rows, groups)
