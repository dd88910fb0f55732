"""The bases of Silver: what each build rested on, stamped in a ledger, and the same bytes again from evidence alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.errors import UnknownBasisError
from attest.macros import render
from attest.marks import read_marks
from attest.news import find_news, standing, version_at
from attest.order import Order, Outcome, package_sum
from attest.project import Project

STAMPED = "basis_id string, stamped_at timestamp, code_version string, belief_version bigint"


def stamp(spark: SparkSession, text: str) -> Outcome:
    """Add a row for the build at hand, unless nothing that Silver rests on is new since the last one."""
    order = Order.read(text)
    table = order.table
    target = standing(spark, table.name)
    since = version_at(target)
    news = find_news(spark, order.lineage(definition=order.definition(spark)), target=target)
    if target is not None and news.is_nothing:
        return Outcome("no news")
    note = replace(news.note, generation=target.note.generation if target and target.note else news.note.generation)
    frame = spark.sql(order.code)
    found = frame.collect()
    belief = next(name for name in order.inputs if name.endswith("_belief"))
    beliefs = standing(spark, belief)
    told = [(*identify(row, table.name, beliefs.version if beliefs else 0), *row) for row in found]
    rows = spark.createDataFrame(told, f"{STAMPED}, {ddl(frame)}")
    if target is None:
        written = write.create(spark, table, rows, note=note, since=since)
    elif stands(spark, table.name, found):
        written = write.confirm(spark, table, note=note, since=since)
    else:
        written = write.append(spark, table, rows, note=note, since=since)
    return Outcome(f"{written.primitive}: {', '.join(row[0] for row in told) or 'nothing landed yet'}", written)


def identify(row: Row, ledger: str, version: int) -> tuple[str, datetime, str, int]:
    about = [ledger, row.known_at.isoformat(), row.rule_set_hash, row.beliefs, row.content, row.landings]
    name = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]
    return name, datetime.now(UTC), package_sum()[:16], version


def stands(spark: SparkSession, ledger: str, found: list[Row]) -> bool:
    """Whether the newest basis says the same: no landing more, and the same rules and beliefs."""
    newest = spark.table(ledger).orderBy(F.desc("stamped_at")).first()
    same = ("known_at", "rule_set_hash", "beliefs", "content")
    return newest is not None and all(
        not row.landings and all(newest[name] == row[name] for name in same) for row in found
    )


def ddl(rows: DataFrame) -> str:
    return ", ".join(f"{column.name} {column.dataType.simpleString()}" for column in rows.schema)


@dataclass(frozen=True)
class Basis:
    """One row of an entity's ledger, with every landing that it rests on."""

    entity: str
    row: Row
    landings: list[str]


def find_basis(spark: SparkSession, project: Project, basis_id: str) -> Basis:
    newest: list[str] = []
    for entity in project.entities:
        ledger = f"{project.schema}.{entity}_bases"
        if not spark.catalog.tableExists(ledger):
            continue
        rows = spark.table(ledger).orderBy("stamped_at").collect()
        newest += [f"{rows[-1].basis_id} ({entity}, {rows[-1].stamped_at:%Y-%m-%d %H:%M})"] if rows else []
        for place, row in enumerate(rows):
            if row.basis_id == basis_id:
                landings = [landing for earlier in rows[: place + 1] for landing in earlier.landings]
                return Basis(entity, row, landings)
    known = f" The newest are: {', '.join(newest)}." if newest else " None is stamped yet: call `dbt build`."
    raise UnknownBasisError(f"No basis is called {basis_id!r}.{known}")


@dataclass(frozen=True)
class Reproduced:
    is_same: bool
    text: str


def reproduce(spark: SparkSession, project: Project, basis_id: str) -> Reproduced:
    """Compute the basis' beliefs anew from its evidence and rules, and compare their sum with what was stamped."""
    basis = find_basis(spark, project, basis_id)
    beliefs = recompute(spark, project, basis).localCheckpoint()
    beliefs.createOrReplaceTempView("reproduced")
    found = spark.sql(render(project.root, "content_of", rows="reproduced")).collect()[0]
    title = (
        f"basis {basis_id} of {basis.entity}, known at {basis.row.known_at} UTC: {len(basis.landings)} landings, "
        f"{basis.row.beliefs:,} beliefs"
    )
    if (found.beliefs, found.content) == (basis.row.beliefs, basis.row.content):
        return Reproduced(True, f"{title}\nthe same bytes, from evidence alone (sum {found.content})")
    lines = [title, f"differs: {found.beliefs:,} beliefs, sum {found.content}, where {basis.row.content} was stamped"]
    if package_sum()[:16] != basis.row.code_version:
        lines.append(f"the code is not what it was (version {basis.row.code_version} then, {package_sum()[:16]} now)")
    return Reproduced(False, "\n".join([*lines, first_difference(spark, project, basis, beliefs)]))


def recompute(spark: SparkSession, project: Project, basis: Basis) -> DataFrame:
    entity, root, schema = basis.entity, project.root, project.schema
    attributes = project.entities[entity]["attributes"]
    spoken_of = {**attributes, **project.entities[entity].get("untracked", {})}
    landed = spark.createDataFrame([(landing,) for landing in basis.landings], "landing_id string")
    stood_then(spark, project, basis).createOrReplaceTempView("basis_marks")
    evidence = spark.table(f"{schema}.{entity}_assertions").join(F.broadcast(landed), "landing_id", "left_semi")
    evidence.createOrReplaceTempView("basis_landed")
    unmarked = render(root, "unmarked", evidence="basis_landed", marks="basis_marks")
    spark.sql(f"select * from {unmarked}").createOrReplaceTempView("basis_evidence")
    derived: list[str] = []
    if spark.catalog.tableExists(f"{schema}.{entity}_snapshots"):
        until = F.lit(basis.row.stamped_at).cast("timestamp")
        decided = spark.table(f"{schema}.{entity}_snapshots").where(F.col("decided_at") <= until)
        if spark.catalog.tableExists(f"{schema}.{entity}_truncates"):
            emptied = spark.table(f"{schema}.{entity}_truncates").where(F.col("recorded_at") <= until)
            decided = decided.unionByName(emptied, allowMissingColumns=True)
        decided.join(F.broadcast(landed), "landing_id", "left_semi").createOrReplaceTempView("basis_decided")
        unmarked = render(root, "unmarked_snapshots", snapshots="basis_decided", marks="basis_marks")
        spark.sql(f"select * from {unmarked}").createOrReplaceTempView("basis_snapshots")
        rulings = spark.table(f"{schema}.snapshot_rulings").where(F.col("known_from") <= until)
        rulings.createOrReplaceTempView("basis_rulings")
        absences = render(
            root, "absences", evidence="basis_evidence", snapshots="basis_snapshots", rulings="basis_rulings",
            attributes=spoken_of,
        )  # fmt: skip
        spark.sql(absences).createOrReplaceTempView("basis_absences")
        derived.append("basis_absences")
    if spark.catalog.tableExists(f"{schema}.{entity}_key_changes"):
        moved = render(root, "key_changes", evidence="basis_evidence", attributes=spoken_of)
        spark.sql(moved).createOrReplaceTempView("basis_key_changes")
        derived.append("basis_key_changes")
    arrivals = render(root, "with_derived", evidence="basis_evidence", derived=derived)
    ordered = render(root, "ordered", arrivals=arrivals, attributes=spoken_of)
    known = spark.sql(ordered).withColumn("known_until", F.lit(None).cast("timestamp"))
    known.localCheckpoint().createOrReplaceTempView("basis_states")
    rules = render(
        root, "rules_of", entity=entity, precedence=f"{schema}.precedence",
        attribute_groups=f"{schema}.attribute_groups", assertions="basis_evidence",
        basis=basis.row.known_at.isoformat(sep=" "),
    )  # fmt: skip
    spark.sql(rules).localCheckpoint().createOrReplaceTempView("basis_rules")
    return spark.sql(
        render(root, "belief", entity=entity, assertions="basis_states", rules="basis_rules", attributes=attributes)
    )


def stood_then(spark: SparkSession, project: Project, basis: Basis) -> DataFrame:
    """The marks that the basis names, as if none of them had been cleared since; before there were marks, none."""
    row = basis.row.asDict()
    marks = read_marks(spark, project)
    return marks.where(F.col("mark_id").isin(row.get("marks") or [])).withColumn(
        "cleared_at", F.lit(None).cast("timestamp")
    )


def first_difference(spark: SparkSession, project: Project, basis: Basis, beliefs: DataFrame) -> str:
    """The first row that only one of the two has, where the table's files of that day are still there."""
    table = f"{project.schema}.{basis.entity}_belief"
    try:
        then = spark.read.option("versionAsOf", basis.row.belief_version).table(table)
        sides = (("stamped then", then.exceptAll(beliefs)), ("computed now", beliefs.exceptAll(then)))
        found = [(row.bk, row.effective_from, side, row) for side, rows in sides
                 for row in rows.orderBy("bk", "effective_from").limit(1).collect()]  # fmt: skip
    except PySparkException:
        return f"its rows of that day are no longer kept (version {basis.row.belief_version} of {table})"
    if not found:
        return "no row of that day differs: the ledger's row itself was changed"
    bk, at, side, row = min(found, key=lambda one: (one[0], one[1]))
    return f"the first difference, {side}: {bk} from {at} UTC: {row.asDict()}"
