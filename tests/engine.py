"""The engine end to end without dbt: landed lines in, timeline and beliefs out, on temporary views."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from attest.contract import Feed, feeds_of
from attest.delivery import Delivery
from attest.formats import read_line
from attest.landing_rows import to_arrow
from attest.macros import engine, render
from attest.states import register
from jinja2 import Environment, StrictUndefined
from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parent.parent
GROUPS = {"name": "name", "address": "address", "status": "status", "is_deleted": "deletion"}
ATTRIBUTES = {"name": "string", "address": "string", "status": "string"}
WHEN = datetime(2026, 6, 1, tzinfo=UTC)
DATES = ("effective_from", "effective_to", "known_from", "known_to")


@dataclass(frozen=True)
class Engine:
    """Where the SQL comes from, and what makes the states: the project's own, or a copy with a mistake."""

    root: Path = ROOT
    register: Callable[[SparkSession], None] = register


OURS = Engine()


def sql(macro: str, /, *, made_by: Engine = OURS, **arguments: Any) -> str:
    return render(made_by.root, macro, **arguments)


def contract(name: str = "worked", *, inheritance: str = "as_known") -> Feed:
    feeds = feeds_of(ROOT)
    return feeds[name if inheritance == "as_known" else f"{name}_repaired"]


def landed(events: Iterable[Mapping[str, Any]], *, feed: Feed, file: str = "events.jsonl", number: int = 1) -> pa.Table:
    """Events of the worked shape as `attest land` would keep them."""
    lines = [json.dumps(event, ensure_ascii=False).encode() for event in events]
    rows = [read_line(line, raw, feed) for line, raw in enumerate(lines, start=1)]
    delivery = Delivery(f"L{number}", f"L{number}", WHEN, WHEN)
    staged = to_arrow([(Path(file), rows)], feed, delivery)
    for name, value in (("verdict", "DEFENSIBLE"), ("clock", "source")):
        staged = staged.append_column(name, pa.repeat(pa.scalar(value), len(staged)))
    return staged


def assertions(
    spark: SparkSession,
    landing: pa.Table,
    *,
    model: str = "customer/customer_from_worked",
    attributes: Mapping[str, str] = ATTRIBUTES,
    made_by: Engine = OURS,
) -> DataFrame:
    """The evidence of one landing, by the mapping that the feed's view has."""
    spark.createDataFrame(landing).createOrReplaceTempView("landing")
    mapping = Environment(undefined=StrictUndefined, autoescape=False).from_string(
        (ROOT / "models/bronze" / f"{model}.sql").read_text(encoding="utf-8")
    )
    macros = vars(engine(made_by.root)) | {"ref": lambda _: "landing", "attributes_of": lambda _: attributes}
    spark.sql(mapping.render(macros)).createOrReplaceTempView("feed")
    return spark.sql(sql("evidence", made_by=made_by, feeds=["feed"], attributes=attributes))


def states(spark: SparkSession, evidence: DataFrame, *, made_by: Engine = OURS) -> DataFrame:
    """Leaves the views that a timeline reads beside the states: `evidence` and `sightings`."""
    made_by.register(spark)
    evidence.createOrReplaceTempView("evidence")
    spark.sql(sql("sightings", made_by=made_by, evidence="evidence")).createOrReplaceTempView("sightings")
    return spark.sql(sql("states", made_by=made_by, arrivals="evidence", sightings="sightings", attributes=ATTRIBUTES))


def timeline(spark: SparkSession, evidence: DataFrame, *, made_by: Engine = OURS) -> DataFrame:
    states(spark, evidence, made_by=made_by).createOrReplaceTempView("states")
    reads = {"states": "states", "sightings": "sightings"}
    return spark.sql(sql("timeline", made_by=made_by, entity="customer", **reads, attributes=ATTRIBUTES))


MARK = "mark_id string, feed string, partition string, since timestamp, marked_at timestamp, cleared_at timestamp"


def marks(spark: SparkSession, rows: Iterable[tuple[str, str, str | None, str]]) -> None:
    """Leaves the view `marks`: landings that are bad, each from when and to when, and of which feed."""
    table = [
        (str(number), feed, landing, None, *(at and datetime.fromisoformat(at) for at in times))
        for number, (landing, *times, feed) in enumerate(rows)
    ]
    spark.createDataFrame(table, MARK).createOrReplaceTempView("marks")


RULE = (
    "entity string, attribute_group string, source_system string, rank int, rule string, coupled_to string, "
    "severity_order string, may_clear boolean, quorum int, freshness_limit string, clock string, "
    "effective_from timestamp, effective_to timestamp, known_from timestamp, known_to timestamp, "
    "requested_by string, approved_by string, reason string"
)
RULE_COLUMNS = [column.split()[0] for column in RULE.split(", ")]
ALWAYS = datetime(1900, 1, 1, tzinfo=UTC)


def rules(spark: SparkSession, rows: Iterable[Mapping[str, Any]], groups: Mapping[str, str] = GROUPS) -> DataFrame:
    """Rules as the seeds give them, all that is not said left empty; needs the view `evidence` for the basis."""
    common = {"entity": "customer", "effective_from": ALWAYS, "known_from": ALWAYS}
    table = [[(common | dict(row)).get(name) for name in RULE_COLUMNS] for row in rows]
    spark.createDataFrame(table, RULE).createOrReplaceTempView("precedence")
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
        return rules(spark, [read_rule(row) for row in csv.DictReader(file)])


def read_rule(row: Mapping[str, str]) -> dict[str, Any]:
    said: dict[str, Any] = {name: cell for name, cell in row.items() if cell != ""}
    said |= {name: int(said[name]) for name in ("rank", "quorum") if name in said}
    return said | {name: datetime.fromisoformat(said[name]) for name in DATES if name in said}
