"""Why something is believed: the same decision as the models make, for one entity, in words."""

from __future__ import annotations

import difflib
import textwrap
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from attest.errors import ContractError, UnknownKeyError
from attest.macros import render
from attest.project import Project

WIDTH = 100
ASKED = "bk string, as_at timestamp, known_at timestamp"


def explain(
    spark: SparkSession,
    project: Project,
    *,
    entity: str,
    key: str,
    as_at: datetime | None = None,
    known_at: datetime | None = None,
) -> str:
    """What is believed of one entity at an instant, as known at an instant, and why, as text."""
    asked = find_entity(spark, project, entity)
    basis = basis_of(spark, asked)
    at = as_at or known_at or basis
    title = f"{entity} {key} as at {shown(at)}, " + (
        f"as known at {shown(known_at)}" if known_at else f"as best known (the basis is {shown(basis)})"
    )
    evidence = kept_here(spark, of_entity(spark, asked, key), "of_one_entity")
    rules = kept_here(spark, spark.table(asked.rules), "its_rules")
    spark.createDataFrame([(key, at, known_at)], ASKED).createOrReplaceTempView("asked_once")
    answers = spark.sql(asked.explained(project.root)).collect()
    if not answers:
        return f"{title}\n\n  {nothing_known(spark, asked, key)}"
    provenance = {row.assertion_id: row for row in evidence}
    reasons = {(row.attribute, row.rule_id): row for row in rules}
    return "\n".join([f"{title}\n", *[describe(one, provenance, reasons) for one in answers]])


def kept_here(spark: SparkSession, rows: DataFrame, view: str) -> list[Row]:
    """A few rows that are asked about many times: read once, and a view of what was read."""
    found = rows.collect()
    spark.createDataFrame(found, rows.schema).createOrReplaceTempView(view)
    return found


@dataclass(frozen=True)
class Entity:
    """An entity as its tables hold it."""

    name: str
    attributes: tuple[str, ...]
    states: str
    rules: str
    bases: str

    def explained(self, root: Path) -> str:
        return render(
            root,
            "explained",
            assertions="of_one_entity",
            asked="select * from asked_once",
            rules="its_rules",
            attributes=self.attributes,
        )


def find_entity(spark: SparkSession, project: Project, name: str) -> Entity:
    if name not in project.entities:
        near = difflib.get_close_matches(name, project.entities, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(project.entities)}."
        raise ContractError(f"No entity is called {name!r} in dbt_project.yml.{hint}")
    tables = [f"{project.schema}.{name}_{kind}" for kind in ("states", "rules", "bases")]
    for table in tables[:2]:
        require(spark, table)
    return Entity(name, (*project.entities[name]["attributes"], "is_deleted"), *tables)


def require(spark: SparkSession, table: str) -> None:
    if not spark.catalog.tableExists(table):
        raise ContractError(f"The table {table} is not there yet. Call `dbt build` first.")


def basis_of(spark: SparkSession, entity: Entity) -> datetime:
    """The instant up to which the tables know: what the last build stamped."""
    require(spark, entity.bases)
    known = spark.table(entity.bases).agg(F.max_by("known_at", "stamped_at")).collect()[0][0]
    if known is None:
        raise ContractError("Nothing is landed yet, so nothing is believed. Call `attest land`, then `dbt build`.")
    basis: datetime = known
    return basis


def of_entity(spark: SparkSession, entity: Entity, key: str) -> DataFrame:
    # Not a SQL parameter: with Delta's parser in place Spark 4.2 leaves those unbound.
    return spark.table(entity.states).where(F.col("bk") == F.lit(key))


def nothing_known(spark: SparkSession, entity: Entity, key: str) -> str:
    first = of_entity(spark, entity, key).select(F.min("source_event_ts").alias("said"), F.min("ingest_ts")).first()
    if first is not None and first.said is not None:
        return (
            f"Nobody was known to have spoken of it by then: the first word on it is of {shown(first.said)}, "
            f"and the first arrival was at {shown(first[1])}."
        )
    distance = F.levenshtein(F.col("bk"), F.lit(key))
    near = spark.table(entity.states).select("bk").distinct().orderBy(distance, "bk").limit(3).collect()
    hint = f" Near it are: {', '.join(row.bk for row in near)}." if near else ""
    raise UnknownKeyError(f"No evidence speaks of {entity.name} {key!r}.{hint}")


def describe(answer: Row, provenance: dict[str, Row], rules: dict[tuple[str, str], Row]) -> str:
    """One attribute: its value, who said so, the rule, the losers and who is next in line."""
    lines = [f"  {answer.attribute} = {held(answer)}"]
    if answer.assertion_id is not None:
        origin = provenance[answer.assertion_id]
        late = ", back-filled" if origin.is_backfilled else ""
        lines += told(
            f"{answer.source_system} said so at {shown(origin.effective_ts)}; arrived {shown(origin.ingest_ts)}"
            f"{late} in {origin.source_file}, record {origin.source_record}, run {origin.ingest_run_id}"
        )
        lines += told(origin.remark) if origin.remark else []
    if answer.rule_id is not None:
        rule = rules[answer.attribute, answer.rule_id]
        rank = "" if rule.rank is None else f"rank {rule.rank} for "
        lines += told(f"by rule {rule.rule} ({rank}{rule.attribute_group}, rule {rule.rule_id}): {rule.reason}")
    for loser in answer.losers:
        lines += told(f"over {loser.source_system}, which said {loser.value}: {loser.reason}")
    if answer.runner_up is not None:
        lines += told(
            f"withdrawn, it would give way to {answer.runner_up.source_system} saying {answer.runner_up.value} "
            f"at {shown(answer.runner_up.source_event_ts)}"
        )
    return "\n".join(lines) + "\n"


def held(answer: Row) -> str:
    if answer.source_system is None:
        return "nobody who is listed has spoken"
    caveat = f" ({answer.caveat})" if answer.caveat else ""
    value = f"{answer.source_system} never spoke of it" if answer.assertion_id is None else answer.value
    return f"{value}{caveat}"


def told(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="      ", subsequent_indent="        ", break_long_words=False)


def shown(instant: datetime) -> str:
    """UTC, with no more digits than it has."""
    text = f"{instant:%Y-%m-%d %H:%M:%S.%f}".rstrip("0").rstrip(".")
    return f"{text} UTC"
