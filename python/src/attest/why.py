"""Why something is believed: the same decision as the models make, for one entity, in words."""

from __future__ import annotations

import difflib
import textwrap
from datetime import datetime

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
    states, rules = tables_of(spark, project, entity)
    basis = basis_of(spark, states, rules)
    at = as_at or known_at or basis
    title = f"{entity} {key} as at {shown(at)}, " + (
        f"as known at {shown(known_at)}" if known_at else f"as best known (the basis is {shown(basis)})"
    )
    decision = decide(spark, project, entity, states, rules, key=key, as_at=at, known_at=known_at)
    if decision is None:
        return f"{title}\n\n  {nothing_known(spark, states, entity, key)}"
    attributes = [*project.entities[entity]["attributes"], "is_deleted"]
    provenance = provenance_of(spark, states, key)
    reasons = {row.rule_id: row for row in spark.table(rules).collect()}
    parts = [f"{title}\n"]
    parts += [describe(name, decision[name], provenance, reasons) for name in attributes]
    return "\n".join(parts)


def tables_of(spark: SparkSession, project: Project, entity: str) -> tuple[str, str]:
    if entity not in project.entities:
        near = difflib.get_close_matches(entity, project.entities, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(project.entities)}."
        raise ContractError(f"No entity is called {entity!r} in dbt_project.yml.{hint}")
    states, rules = (f"{project.schema}.{entity}_{name}" for name in ("states", "rules"))
    for table in (states, rules):
        if not spark.catalog.tableExists(table):
            raise ContractError(f"The table {table} is not there yet. Call `dbt build` first.")
    return states, rules


def basis_of(spark: SparkSession, states: str, rules: str) -> datetime:
    """The instant up to which the tables know: the newest arrival or rule, unless the build set it."""
    found = spark.sql(render_basis(states, rules)).first()
    basis = found[0] if found else None
    if not isinstance(basis, datetime):
        raise ContractError("Nothing has been landed yet, so nothing is believed. Call `attest land`, then `dbt build`.")
    return basis


def render_basis(states: str, rules: str) -> str:
    return (
        f"select coalesce((select max(basis_set) from {rules}), greatest((select max(ingest_ts) from {states}), "
        f"(select max(known_from) from {rules} where is_in_basis)))"
    )


def decide(
    spark: SparkSession,
    project: Project,
    entity: str,
    states: str,
    rules: str,
    *,
    key: str,
    as_at: datetime,
    known_at: datetime | None,
) -> Row | None:
    of_entity(spark, states, key).createOrReplaceTempView("of_one_entity")
    spark.createDataFrame([(key, as_at, known_at)], ASKED).createOrReplaceTempView("asked_once")
    sql = render(
        project.root,
        "decisions",
        assertions="of_one_entity",
        asked="select * from asked_once",
        rules=rules,
        attributes=[*project.entities[entity]["attributes"], "is_deleted"],
    )
    return spark.sql(sql).first()


def nothing_known(spark: SparkSession, states: str, entity: str, key: str) -> str:
    first = of_entity(spark, states, key).select(F.min("source_event_ts").alias("said"), F.min("ingest_ts")).first()
    if first is not None and first.said is not None:
        return (
            f"Nobody was known to have spoken of it by then: the first word on it is of {shown(first.said)}, "
            f"and the first arrival was at {shown(first[1])}."
        )
    distance = F.levenshtein(F.col("bk"), F.lit(key))
    near = spark.table(states).select("bk").distinct().orderBy(distance, "bk").limit(3).collect()
    hint = f" Near it are: {', '.join(row.bk for row in near)}." if near else ""
    raise UnknownKeyError(f"No evidence speaks of {entity} {key!r}.{hint}")


def provenance_of(spark: SparkSession, states: str, key: str) -> dict[str, Row]:
    return {row.assertion_id: row for row in of_entity(spark, states, key).collect()}


def of_entity(spark: SparkSession, states: str, key: str) -> DataFrame:
    # Not a SQL parameter: with Delta's parser in place Spark 4.2 leaves those unbound.
    return spark.table(states).where(F.col("bk") == F.lit(key))


def describe(name: str, decision: Row, provenance: dict[str, Row], rules: dict[str, Row]) -> str:
    """One attribute: its value, who said so, the rule, the losers and who is next in line."""
    lines = [f"  {name} = {'nobody who is listed has spoken' if decision.source_system is None else decision.value}"]
    if decision.source_system is not None:
        origin = provenance[decision.assertion_id]
        rule = rules[decision.rule_id]
        late = ", back-filled" if origin.is_backfilled else ""
        lines += told(
            f"{decision.source_system} said so at {shown(decision.source_event_ts)}; arrived {shown(origin.ingest_ts)}"
            f"{late} in {origin.source_file}, record {origin.source_record}, run {origin.ingest_run_id}"
        )
        lines += told(
            f"by rule {decision.rule} (rank {decision.rank} for {rule.attribute_group}, rule {rule.rule_id}): "
            f"{rule.reason}"
        )
    for loser in decision.losers:
        lines += told(f"over {loser.source_system}, which said {loser.value}: {loser.reason}")
    if decision.runner_up is not None:
        next_one = decision.runner_up
        lines += told(
            f"withdrawn, it would give way to {next_one.source_system} saying {next_one.value} "
            f"at {shown(next_one.source_event_ts)}"
        )
    return "\n".join(lines) + "\n"


def told(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="      ", subsequent_indent="        ", break_long_words=False)


def shown(instant: datetime) -> str:
    """UTC, with no more digits than it has."""
    text = f"{instant:%Y-%m-%d %H:%M:%S.%f}".rstrip("0").rstrip(".")
    return f"{text} UTC"
