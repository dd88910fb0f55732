"""Publish what was believed at the end of a day: a snapshot that stays as it is, whatever is learnt later."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.errors import PublishError
from attest.logs import ensure_log, standing_note
from attest.macros import render
from attest.project import Project
from attest.why import basis_of, find_entity
from attest.write import Table

TABLE = "One row an entity and published day: what was believed at its end."


def publish(spark: SparkSession, project: Project, *, entity: str, day: date | None) -> str:
    """Add a day's beliefs, in one commit; in words, what was published."""
    of = find_entity(spark, project, entity)
    basis_of(spark, of)
    now = datetime.now(UTC)
    wanted = day or (now - timedelta(days=1)).date()
    until = datetime.combine(wanted + timedelta(days=1), time(), UTC) - timedelta(microseconds=1)
    if until >= now:
        raise PublishError(f"{wanted} is not over yet (UTC), so nothing was published. Publish it tomorrow.")
    table = f"{project.schema}.{entity}_days"
    if spark.catalog.tableExists(table) and not spark.table(table).where(F.col("published_on") == wanted).isEmpty():
        raise PublishError(
            f"{wanted} of {entity} is published already, and stays as it is. If it is wrong, mark it: "
            f"`attest mark {entity}_days {wanted} --reason …`."
        )
    asked = (
        f"select distinct bk, timestamp '{until:%Y-%m-%d %H:%M:%S.%f}' as as_at, "
        f"timestamp '{until:%Y-%m-%d %H:%M:%S.%f}' as known_at from {of.known}"
    )
    attributes = project.entities[entity]["attributes"]
    answers = render(
        project.root, "answers", assertions=of.known, asked=asked, rules=of.rules, attributes=of.attributes
    )
    beliefs = spark.sql(render(project.root, "belief_at", answers=f"({answers})", attributes=attributes))
    rows = beliefs.select(
        F.lit(wanted).alias("published_on"), *beliefs.columns, F.lit(now).alias("published_at")
    ).localCheckpoint()
    count = rows.count()
    if not count:
        raise PublishError(f"Nothing was known of any {entity} by the end of {wanted}, so nothing was published.")
    columns = ", ".join(f"{column.name} {column.dataType.simpleString()}" for column in rows.schema)
    ensure_log(spark, Table(table, description=TABLE), columns)
    write.append(spark, Table(table), rows, note=standing_note(spark, table))
    return f"published {count:,} beliefs of {entity} at the end of {wanted}"
