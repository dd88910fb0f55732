"""Why something is believed: the same decision as the models make, for one entity, in words."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from attest.errors import ContractError, UnknownKeyError
from attest.macros import render
from attest.marks import excluded, was_anything_marked
from attest.once import query
from attest.project import Project
from attest.session import while_set

WIDTH = 100
ASKED = "bk string, as_at timestamp, known_at timestamp"
# For few rows, those of one entity: nothing is to be found out on the way, and nothing to be spread.
IN_ONE_PIECE = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}
EVIDENCE, RULES, QUESTIONS = "why_evidence", "why_rules", "why_questions"


@dataclass(frozen=True)
class Case:
    """One entity and what is asked of it, with its evidence and its rules read once."""

    entity: Entity
    key: str
    as_at: datetime
    known_at: datetime | None
    basis: datetime
    evidence: Sequence[Row]
    rules: Sequence[Row]
    left_out: Sequence[Row] = ()

    @property
    def title(self) -> str:
        known = f"as known at {shown(self.known_at)}" if self.known_at else "as best known"
        return f"{self.entity.name} {self.key} as at {shown(self.as_at)}, {known} (the basis is {shown(self.basis)})"


def open_case(
    spark: SparkSession,
    project: Project,
    *,
    entity: str,
    key: str,
    as_at: datetime | None = None,
    known_at: datetime | None = None,
) -> Case:
    asked = find_entity(spark, project, entity)
    with while_set(spark, IN_ONE_PIECE):
        basis = basis_of(spark, asked)
        evidence = kept_here(spark, of_entity(spark, asked, key), EVIDENCE)
        left_out = excluded(spark, project, entity=entity, key=key, known_at=known_at)
        rules = kept_here(spark, spark.table(asked.rules), RULES)
    if not evidence:
        refuse_unknown(spark, asked, key, left_out)
    return Case(asked, key, as_at or known_at or basis, known_at, basis, evidence, rules, left_out)


def answers(
    spark: SparkSession, project: Project, case: Case, questions: Iterable[tuple[datetime, datetime | None]]
) -> list[Row]:
    """What is believed at each pair of as-at and known-at (none: as best known), and why; one row an attribute."""
    asked = [(case.key, as_at, known_at) for as_at, known_at in questions]
    spark.createDataFrame(asked, ASKED).createOrReplaceTempView(QUESTIONS)
    question = f"select * from {QUESTIONS}"
    attributes = case.entity.attributes
    sql = render(project.root, "explained", assertions=EVIDENCE, asked=question, rules=RULES, attributes=attributes)
    with while_set(spark, IN_ONE_PIECE):
        found = query(spark, sql).collect()
    return sorted(found, key=lambda row: (row.as_at, attributes.index(row.attribute)))


def explain(spark: SparkSession, project: Project, case: Case) -> str:
    """What is believed at the instant that is asked about, and why, as text: a table, then the reasons."""
    found = answers(spark, project, case, [(case.as_at, case.known_at)])
    if not found:
        return "\n".join([case.title, "", f"  {nobody_yet(case)}\n", *excluded_from(case)])
    provenance = {row.assertion_id: row for row in case.evidence}
    rules = {(row.attribute, row.rule_id): row for row in case.rules}
    reasons = [reasons_of(one, provenance, rules) for one in found]
    return "\n".join([case.title, "", *table_of(found, provenance), "", *reasons, *excluded_from(case)])


def excluded_from(case: Case) -> list[str]:
    """What was said of it and does not count, for its partition is marked bad."""
    if not case.left_out:
        return []
    lines = [line for row in case.left_out for line in told(exclusion(row))]
    return ["\n".join(["  left out", *lines]) + "\n"]


def exclusion(row: Row) -> str:
    what = "partition marked bad" if row.partition else "held, for a partition of its feed was marked bad"
    return (
        f"excluded: {what} by {row.marked_by} at {shown(row.marked_at)}: {row.reason}. It is what "
        f"{row.source_system} said at {shown(row.effective_ts)}, from {row.source_file}, record {row.source_record}"
    )


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
    known: str
    rules: str
    bases: str


def find_entity(spark: SparkSession, project: Project, name: str) -> Entity:
    if name not in project.entities:
        near = difflib.get_close_matches(name, project.entities, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(project.entities)}."
        raise ContractError(f"No entity is called {name!r} in dbt_project.yml.{hint}")
    # Where nothing was ever marked, what was known is what the states have.
    known = "as_known" if was_anything_marked(spark, project) else "states"
    tables = [f"{project.schema}.{name}_{kind}" for kind in ("states", known, "rules", "bases")]
    for table in tables[:3]:
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
    return spark.table(entity.known).where(F.col("bk") == F.lit(key))


def refuse_unknown(spark: SparkSession, entity: Entity, key: str, left_out: Sequence[Row]) -> NoReturn:
    if left_out:
        raise UnknownKeyError(f"All that was said of {entity.name} {key!r} is {exclusion(left_out[0])}.")
    distance = F.levenshtein(F.col("bk"), F.lit(key))
    near = spark.table(entity.known).select("bk").distinct().orderBy(distance, "bk").limit(3).collect()
    hint = f" Near it are: {', '.join(row.bk for row in near)}." if near else ""
    raise UnknownKeyError(f"No evidence speaks of {entity.name} {key!r}.{hint}")


def nobody_yet(case: Case) -> str:
    said = min(row.effective_ts for row in case.evidence)
    arrived = min(row.ingest_ts for row in case.evidence)
    return (
        f"Nobody was known to have spoken of it by then: the first word on it is of {shown(said)}, "
        f"and the first arrival was at {shown(arrived)}."
    )


def table_of(found: Sequence[Row], provenance: Mapping[str, Row]) -> list[str]:
    rows = [("attribute", "believed", "source", "said at", "arrived")]
    for one in found:
        origin = provenance.get(one.assertion_id or "")
        times = (shown(origin.effective_ts), shown(origin.ingest_ts)) if origin else ("", "")
        rows.append((one.attribute, held(one), one.source_system or "", *times))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in [lines[0], "  " + "  ".join("-" * width for width in widths), *lines[1:]]]


def reasons_of(answer: Row, provenance: Mapping[str, Row], rules: Mapping[tuple[str, str], Row]) -> str:
    """Of one attribute: where the word came from, the rule, the losers and who is next in line."""
    lines = [f"  {answer.attribute}"]
    if answer.assertion_id is not None:
        origin = provenance[answer.assertion_id]
        late = "back-filled, " if origin.is_backfilled else ""
        lines += told(f"{late}from {origin.source_file}, record {origin.source_record}, run {origin.ingest_run_id}")
        lines += told(f"assertion {origin.assertion_id}")
        lines += told(origin.remark) if origin.remark else []
    if answer.rule_id is not None:
        rule = rules[answer.attribute, answer.rule_id]
        rank = "" if rule.rank is None else f"rank {rule.rank} for "
        lines += told(f"by rule {rule.rule} ({rank}{rule.attribute_group}, rule {rule.rule_id}): {rule.reason}")
    for loser in answer.losers:
        lines += told(f"over {loser.source_system}, which said {plain(loser.value)}: {loser.reason}")
    if answer.runner_up is not None:
        lines += told(
            f"withdrawn, it would give way to {answer.runner_up.source_system} saying {plain(answer.runner_up.value)} "
            f"at {shown(answer.runner_up.source_event_ts)}"
        )
    return "\n".join(lines) + "\n"


def held(answer: Row) -> str:
    if answer.source_system is None:
        return "(nobody who is listed has spoken)"
    caveat = f" ({answer.caveat})" if answer.caveat else ""
    return f"{'(never spoke of it)' if answer.assertion_id is None else plain(answer.value)}{caveat}"


def plain(value: str | None) -> str:
    """A canonical value as people write it."""
    if value is None:
        return "null"
    return value[1:-1] if value.startswith('"') else value


def told(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="      ", break_long_words=False)


def shown(instant: datetime) -> str:
    """UTC, with no more digits than it has."""
    return f"{bare(instant)} UTC"


def bare(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S.%f}".rstrip("0").rstrip(".")
