"""What an edit of the rules would change, before anyone approves it: as Markdown, fit for a pull request.

The lake is only read. The seeds' files stand for rules that are known: a row whose `known_from`
lies ahead counts as if that day had come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as F

from attest import seed
from attest.errors import SeedError
from attest.macros import home, render
from attest.once import query
from attest.project import Project
from attest.why import Entity, find_entity, shown

SEEDS = ("precedence", "attribute_groups")
EXAMPLES = 10
KINDS = ("stay", "change", "appear", "vanish")


@dataclass(frozen=True)
class Counted:
    """Of one attribute group: entities by what becomes of them now, and intervals of all history that differ."""

    group: str
    now: dict[str, int]
    history: dict[str, int]


def preview(spark: SparkSession, project: Project, *, entities: Sequence[str], seeds: Path) -> str:
    for name in SEEDS:
        load(spark, project, name, seeds)
    refuse_unsound(spark, project)
    parts = ["# What these rules would change\n"]
    parts += [of_entity(spark, project, find_entity(spark, project, name)) for name in entities or project.entities]
    return "\n".join(parts)


def load(spark: SparkSession, project: Project, name: str, seeds: Path) -> None:
    """The seed's file as a view, each cell checked as a build would."""
    types = seed.declared_types(project.root, name)
    path = seeds / f"{name}.csv"
    rows = seed.typed(spark, path, seed.parse(path, seed.read(path), types), types)
    rows.localCheckpoint().createOrReplaceTempView(f"preview_{name}")


def refuse_unsound(spark: SparkSession, project: Project) -> None:
    """The very test that a build would stop at, on the files."""
    text = (home(project.root) / "tests" / "data" / "precedence_is_sound.sql").read_text(encoding="utf-8")
    template = Environment(undefined=StrictUndefined, autoescape=False).from_string(text)
    sql = template.render(ref="preview_{}".format, var=lambda _: project.entities)
    found = spark.sql(sql).collect()
    if found:
        rows = "\n".join(f"  {row.entity}, {row.attribute_group}, {row.source_system}: {row.problem}" for row in found)
        raise SeedError(f"these rows of precedence.csv cannot stand, so nothing is previewed:\n{rows}")


def of_entity(spark: SparkSession, project: Project, entity: Entity) -> str:
    basis = latest(spark, entity)
    render_view(
        spark, project, "rules_of", "preview_rules",
        entity=entity.name, precedence="preview_precedence", attribute_groups="preview_attribute_groups",
        assertions=entity.states, basis=basis.isoformat(sep=" "),
    )  # fmt: skip
    before, after = (
        render(project.root, "history", assertions=entity.states, rules=rules, attributes=entity.attributes)
        for rules in (entity.rules, "preview_rules")
    )
    render_view(
        spark, project, "differences", "preview_differences",
        before=before, after=after, attributes=entity.attributes,
    )  # fmt: skip
    groups = {
        row.attribute: row.attribute_group
        for row in spark.table("preview_attribute_groups").where(F.col("entity") == entity.name).collect()
    }
    known = spark.table(entity.states).agg(F.count_distinct("bk")).collect()[0][0]
    differing = spark.table("preview_differences").withColumns(
        {"kind": kind_of_difference(), "is_now": is_now(basis), "lasts": lasts()}
    )
    counts = differing.groupBy("attribute", "kind").agg(
        F.count("*").alias("intervals"), F.count_if("is_now").alias("now"), F.count_distinct("bk").alias("entities")
    )
    touched = {row.attribute: row.keys for row in differing.groupBy("attribute").agg(
        F.count_distinct("bk").alias("keys")).collect()}  # fmt: skip
    examples = differing.orderBy(F.desc("lasts"), "bk", "attribute", "effective_from").limit(EXAMPLES).collect()
    found = counts.collect()
    counted = [count_group(attribute, groups[attribute], known, touched.get(attribute, 0), found)
               for attribute in entity.attributes]  # fmt: skip
    return markdown(entity, known, basis, counted, examples) + idle(rows_that_decide_nothing(spark, entity, after))


def rows_that_decide_nothing(spark: SparkSession, entity: Entity, history: str) -> list[Row]:
    """Rows in force on which no belief in all of history rests.

    A vote of a quorum counts without winning, and so does a word that clears: neither is among them.
    """
    rules = ", ".join(f"{attribute}.rule_id" for attribute in entity.attributes)
    deciding = query(spark, f"select distinct explode(array({rules})) as rule_id from ({history})")
    silent = spark.table("preview_rules").where("is_in_basis and rule <> 'quorum' and not coalesce(may_clear, false)")
    told = silent.join(deciding, on="rule_id", how="left_anti").select(
        "attribute_group", "source_system", "rank", "rule"
    )
    return told.distinct().orderBy("attribute_group", "source_system", "rank").collect()


def idle(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    lines = [
        "\nNo belief rests on these rows. Correct or remove them, unless their evidence is still to come:\n",
        "| group | source | rank | rule |",
        "|---|---|---:|---|",
    ]
    for row in rows:
        cells = [
            row.attribute_group,
            row.source_system or "",
            "" if row["rank"] is None else str(row["rank"]),
            row.rule,
        ]
        lines.append("| " + " | ".join(escaped(cell) for cell in cells) + " |")
    return "\n".join([*lines, ""])


def render_view(spark: SparkSession, project: Project, macro: str, view: str, /, **arguments: object) -> None:
    query(spark, render(project.root, macro, **arguments)).localCheckpoint().createOrReplaceTempView(view)


def latest(spark: SparkSession, entity: Entity) -> datetime:
    """When all is known: every arrival, and every row of the file."""
    arrival = spark.table(entity.states).agg(F.max("known_from")).collect()[0][0]
    ruled = spark.table("preview_precedence").agg(F.max("known_from")).collect()[0][0]
    found: datetime = max(instant for instant in (arrival, ruled) if instant is not None)
    return found


def kind_of_difference() -> Column:
    return (
        F.when(F.col("before.value").isNull(), "appear")
        .when(F.col("after.value").isNull(), "vanish")
        .otherwise("change")
    )


def is_now(basis: datetime) -> Column:
    at = F.lit(basis).cast("timestamp")
    return (F.col("effective_from") <= at) & (F.col("effective_to").isNull() | (F.col("effective_to") > at))


def lasts() -> Column:
    """How long a difference lasts; one that is still open the longest of all."""
    end = F.coalesce("effective_to", F.lit("9999-12-31").cast("timestamp"))
    return F.unix_micros(end) - F.unix_micros("effective_from")


def count_group(attribute: str, group: str, known: int, touched: int, found: Sequence[Row]) -> Counted:
    of_it = {row.kind: row for row in found if row.attribute == attribute}
    now = {kind: of_it[kind].now if kind in of_it else 0 for kind in KINDS[1:]}
    history = {kind: of_it[kind].intervals if kind in of_it else 0 for kind in KINDS[1:]}
    title = group if group == attribute else f"{group} ({attribute})"
    return Counted(title, {"stay": known - sum(now.values()), **now}, {"stay": known - touched, **history})


def markdown(entity: Entity, known: int, basis: datetime, counted: Sequence[Counted], examples: Sequence[Row]) -> str:
    lines = [f"## {entity.name}: {known:,} known, as at {shown(basis)}\n"]
    if not examples:
        return "\n".join([*lines, "Nothing changes, now or in all of history.\n"])
    lines += [
        "Now: entities whose belief stays, changes, appears or vanishes. In history: entities of which nothing ever",
        "changes, and intervals that change, appear or vanish.\n",
        "| group | " + " | ".join(f"now: {kind}" for kind in KINDS) + " | "
        + " | ".join(f"history: {kind}" for kind in KINDS) + " |",
        "|---|" + "---:|" * (2 * len(KINDS)),
    ]  # fmt: skip
    for one in counted:
        cells = [f"{numbers[kind]:,}" for numbers in (one.now, one.history) for kind in KINDS]
        lines.append(f"| {escaped(one.group)} | " + " | ".join(cells) + " |")
    lines += ["\nThe largest:\n", "| key | attribute | from | to | believed | would be |", "|---|---|---|---|---|---|"]
    for row in examples:
        until = shown(row.effective_to) if row.effective_to else "open"
        cells = [row.bk, row.attribute, shown(row.effective_from), until, told(row.before), told(row.after)]
        lines.append("| " + " | ".join(escaped(cell) for cell in cells) + " |")
    return "\n".join([*lines, ""])


def told(held: Row) -> str:
    if held.source_system is None:
        return "nobody's word" if held.value is None else f"{held.value} (nobody)"
    return f"{'null' if held.value is None else held.value} ({held.source_system})"


def escaped(cell: str) -> str:
    """A value is text: it neither ends a cell nor a row, and no mark-up in it takes effect."""
    for mark in "\\|`*_<>[]":
        cell = cell.replace(mark, f"\\{mark}")
    return cell.replace("\r", " ").replace("\n", " ")
