"""The bases of Silver: what each build rested on, stamped in a ledger, and the same bytes again from evidence alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.errors import UnknownBasisError
from attest.macros import render
from attest.marks import read_marks
from attest.news import (
    COLUMNS_OF_CHANGES,
    NOT_YET,
    News,
    Standing,
    changes,
    find_news,
    sign,
    standing,
    version_at,
)
from attest.once import query
from attest.order import Order, Outcome, package_sum
from attest.project import Project

STAMPED = """
    basis_id string, stamped_at timestamp, code_version string, belief_version bigint, known_at timestamp,
    rule_set_hash string, landings array<string>, marks array<string>, beliefs bigint, content string
"""
BYTES = 2**64 - 1


@dataclass(frozen=True)
class Content:
    """How many rows there are, and two sums over every column of all of them, whatever their order."""

    rows: int
    sums: tuple[int, int]

    @staticmethod
    def of(rows: DataFrame, counts: Column | None = None) -> Content:
        """Of all rows; or of a change feed, whose rows count as they came or left: a sum takes a row back that way."""
        told = F.struct("*").dropFields(*COLUMNS_OF_CHANGES)
        pairs = rows.select((F.lit(1) if counts is None else counts).alias("counts"), told.alias("told"))
        sums = [F.bit_xor(F.xxhash64("told.*", *extra)) for extra in ((), (F.lit(1),))]
        count, one, other = pairs.agg(F.sum("counts"), *sums).na.fill(0).collect()[0]
        return Content(count, (one & BYTES, other & BYTES))

    @staticmethod
    def stamped(row: Row) -> Content:
        one, other = row.content.split("-")
        return Content(row.beliefs, (int(one, 16), int(other, 16)))

    def __str__(self) -> str:
        return f"{self.sums[0]:X}-{self.sums[1]:X}"

    def after(self, change: Content) -> Content:
        (one, other), (more, also) = self.sums, change.sums
        return Content(self.rows + change.rows, (one ^ more, other ^ also))


def stamp(spark: SparkSession, text: str) -> Outcome:
    """Add a row for the build at hand, unless nothing that Silver rests on is new since the last one."""
    order = Order.read(text)
    table = order.table
    target = standing(spark, table.name)
    since = version_at(target)
    news = find_news(spark, order.lineage(definition=order.definition(spark)), target=target)
    if target is not None and news.is_nothing:
        return Outcome("no news")
    stamped = spark.table(table.name).orderBy("stamped_at").collect() if target else []
    newest = stamped[-1] if stamped else None
    told = []
    for row in spark.sql(order.code).collect():
        version, content = summed(spark, row.belief, news, target, newest)
        told.append(identified(row, table.name, version, content, earlier=stamped))
    note = replace(news.note, generation=target.note.generation if target and target.note else news.note.generation)
    rows = spark.createDataFrame(told, STAMPED)
    if target is None:
        written = write.create(spark, table, rows, note=note, since=since)
    elif newest is not None and all(stands(newest, row) for row in told):
        written = write.confirm(spark, table, note=note, since=since)
    else:
        written = write.append(spark, table, rows, note=note, since=since)
    return Outcome(f"{written.primitive}: {', '.join(row.basis_id for row in told) or 'nothing landed yet'}", written)


def summed(
    spark: SparkSession, belief: str, news: News, target: Standing | None, newest: Row | None
) -> tuple[int, Content]:
    """The sum of what is believed, and the version summed: by what changed since the last one, where that is told."""
    before = target.note if target is not None else None
    now = news.note.read.get(belief)
    if now is None:
        now = version_at(standing(spark, belief))
    elif newest is not None and before is not None and before.seen.get(belief) == news.note.seen.get(belief):
        until = before.read.get(belief, NOT_YET)
        if until == now:
            return now, Content.stamped(newest)
        if NOT_YET < until < now:
            return now, Content.stamped(newest).after(Content.of(changes(spark, belief, (until + 1, now)), sign()))
    return now, Content.of(spark.read.option("versionAsOf", now).table(belief))


def identified(row: Row, ledger: str, version: int, content: Content, *, earlier: list[Row]) -> Row:
    """A row of the ledger, which names the landings that no earlier one does."""
    named = {landing for one in earlier for landing in one.landings}
    added = [landing for landing in row.landings if landing not in named]
    about = [ledger, row.known_at.isoformat(), row.rule_set_hash, content.rows, str(content), added]
    return Row(
        basis_id=hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16],
        stamped_at=datetime.now(UTC),
        code_version=package_sum()[:16],
        belief_version=version,
        known_at=row.known_at,
        rule_set_hash=row.rule_set_hash,
        landings=added,
        marks=row.marks,
        beliefs=content.rows,
        content=str(content),
    )


def stands(newest: Row, row: Row) -> bool:
    """Whether the newest basis says the same: no landing more, and the same rules and beliefs."""
    same = ("known_at", "rule_set_hash", "beliefs", "content")
    return not row.landings and all(newest[name] == row[name] for name in same)


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
    found = Content.of(beliefs)
    title = (
        f"basis {basis_id} of {basis.entity}, known at {basis.row.known_at} UTC: {len(basis.landings)} landings, "
        f"{basis.row.beliefs:,} beliefs"
    )
    if found == Content.stamped(basis.row):
        return Reproduced(True, f"{title}\nthe same bytes, from evidence alone (sum {found})")
    lines = [title, f"differs: {found.rows:,} beliefs, sum {found}, where {basis.row.content} was stamped"]
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
    believed = render(
        root, "belief", entity=entity, assertions="basis_states", rules="basis_rules", attributes=attributes
    )
    return query(spark, believed)


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
