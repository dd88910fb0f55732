"""What Bronze costs: landed assertions to evidence, states and versions, beside the same rows moved without logic.

The floor reads the same landed rows, shuffles them by key, sorts them and writes them to
Delta, in the same session; contenders take turns. Ten assertions an entity; in `late` one
entity in a hundred has a late fact, in `skewed` one has 100,000 assertions. Then two more
builds on the lake that is there: `news` lands one more assertion on each of 1,000 entities,
`again` lands everything once more, as a full extract does in which nothing changed.

    SIZES="1000000"  how many assertions, by spaces (the full run: "1000000 10000000")
    SHAPES="in_order late skewed"
    ROUNDS=1         how often each takes its turn
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from attest.commits import newest
from attest.land import PROPERTIES
from attest.news import Note
from attest.session import isolated, start
from attest.write import NOTE, Table, append, create
from dbt.cli.main import dbtRunner
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "bronze.json"
SKEWED = 100_000
STAGES = ("customer_assertions", "customer_sightings", "customer_snapshots", "customer_absences", "customer_states")
NEWS = 1_000


def landed(spark: SparkSession, size: int, shape: str) -> DataFrame:
    """Assertions as `attest land` keeps them: ten an entity, two sources, partials of one to three attributes."""
    number = F.col("id")
    entity = F.floor(number / 10)
    if shape == "skewed":
        entity = F.when(number < SKEWED, 0).otherwise(entity)
    place = F.when(entity == 0, number).otherwise(number % 10)
    key = F.concat(F.lit("C"), entity.cast("string"))
    source = F.when(number % 2 == 0, "CRM").otherwise("CORE")
    said = F.timestamp_seconds(F.lit(1_767_225_600) + place * 3600 + entity % 3600)
    is_late = (entity % 100 == 0) & (place == 4) if shape == "late" else F.lit(False)
    arrived = said + F.when(is_late, F.expr("interval 30 days")).otherwise(F.expr("interval 5 minutes"))
    text: Column = F.concat(F.lit("value "), number.cast("string"))
    fields = F.map_from_entries(
        F.array_compact(
            F.array(
                F.struct(F.lit("customer_id"), key),
                F.struct(F.lit("source_system"), source),
                F.struct(F.lit("status"), F.when(number % 3 == 0, "Active").otherwise("Restricted")),
                F.when(place % 5 == 0, F.struct(F.lit("name"), text)),
                F.when(place % 3 == 0, F.struct(F.lit("address"), text)),
            )
        )
    )
    return spark.range(size).select(
        F.lit("L1").alias("landing_id"),
        F.lit("worked").alias("feed"),
        F.lit("file").alias("source_type"),
        F.lit("bench/events.jsonl").alias("source_path"),
        F.lit("events.jsonl").alias("source_file"),
        number.alias("source_record"),
        F.lit("run").alias("ingest_run_id"),
        arrived.alias("ingest_ts"),
        F.current_timestamp().alias("recorded_at"),
        F.lit("as_known").alias("inheritance"),
        F.lit("accepted").alias("status"),
        F.lit(None).cast("string").alias("scope"),
        F.lit(None).cast("timestamp").alias("released_at"),
        F.lit(None).cast("string").alias("released_from"),
        F.to_json(fields).alias("record"),
        fields.alias("fields"),
        said.alias("source_event_ts"),
        F.lit(0).cast("bigint").alias("source_event_finer"),
        F.lit(None).cast("array<decimal(38,10)>").alias("source_sequence"),
        F.lit(None).cast("timestamp").alias("expires_at"),
        F.lit(None).cast("string").alias("remark"),
        F.lit(None).cast("string").alias("quarantine_reason"),
        F.lit(None).cast("string").alias("quarantine_detail"),
        F.lit("DEFENSIBLE").alias("verdict"),
        F.lit("source").alias("clock"),
    )


def landed_again(rows: DataFrame, landing: str) -> DataFrame:
    """The same records in another landing, a day later."""
    later = F.col("ingest_ts") + F.expr("interval 60 days")
    return rows.withColumns({"landing_id": F.lit(landing), "ingest_ts": later, "recorded_at": F.current_timestamp()})


def moved_on(rows: DataFrame) -> DataFrame:
    """One more word on each of some entities, later than all others."""
    first = rows.where(F.col("source_record") % 10 == 0).orderBy("source_record").limit(NEWS)
    return landed_again(first, "L2").withColumn("source_event_ts", F.col("ingest_ts"))


def floor(spark: SparkSession, schema: str) -> float:
    began = time.monotonic()
    rows = spark.table(f"{schema}.landing_worked").withColumn("bk", F.col("fields")["customer_id"])
    spark.conf.unset(NOTE)
    arranged = rows.repartition("bk").sortWithinPartitions("bk", "source_event_ts")
    kept = arranged.writeTo(f"{schema}.floor").using("delta")
    kept.tableProperty("delta.dataSkippingNumIndexedCols", "1").createOrReplace()
    return time.monotonic() - began


def attest(schema: str, scratch: Path) -> dict[str, float]:
    """Bronze through dbt, each table with the seconds that its node took."""
    os.environ["ATTEST_SCHEMA"] = schema
    places = ["--project-dir", ROOT, "--profiles-dir", scratch, "--target-path", scratch / "target"]
    places += ["--log-path", scratch / "logs"]
    untested = ["--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"]
    done = dbtRunner().invoke(
        ["--quiet", "build", "--threads", "1", "--select", "+customer_timeline", *untested, *map(str, places)]
    )
    results: list[Any] = getattr(done.result, "results", [])
    if not done.success:
        sys.exit(f"bench: dbt failed: {done.exception or [one.message for one in results if one.status == 'error']}")
    return {one.node.name: one.execution_time for one in results if one.node.name in STAGES}


def measure(spark: SparkSession, scratch: Path, size: int, shape: str, rounds: int) -> list[dict[str, Any]]:
    schema = f"bronze_{size}_{shape}"
    spark.sql(f"create schema if not exists {schema}")
    table = Table(f"{schema}.landing_worked", properties=PROPERTIES)
    create(spark, table, landed(spark, size, shape), note=Note("bench"))
    floors: list[float] = []
    ours: list[dict[str, float]] = []
    for _ in range(rounds):
        floors.append(floor(spark, schema))
        for stage in STAGES:
            spark.sql(f"drop table if exists {schema}.{stage}")
        ours.append(attest(schema, scratch))
    took = {stage: statistics.median(one[stage] for one in ours) for stage in STAGES}
    took["attest"] = statistics.median(sum(one.values()) for one in ours)
    right = {contender: is_right(spark, schema, size) for contender in took} | {"floor": True}
    rows = landed(spark, size, shape)
    for contender, more, count in (("news", moved_on(rows), NEWS), ("again", landed_again(rows, "L3"), 0)):
        append(spark, table, more, note=Note("bench"))
        took[contender] = sum(attest(schema, scratch).values())
        rewritten = newest(spark, f"{schema}.customer_states")[1].get("operation") != "SET TBLPROPERTIES"
        right[contender] = is_right(spark, schema, size + NEWS) and rewritten == (count > 0)
    least = statistics.median(floors)
    spark.sql(f"drop schema {schema} cascade")
    return [
        {
            "case": f"{size} {shape}",
            "contender": contender,
            "seconds": round(seconds, 1),
            "rows_per_second": round(size / seconds),
            "ratio": round(seconds / least, 2),
            "correct": right[contender],
        }
        for contender, seconds in {"floor": least, **took}.items()
    ]


def is_right(spark: SparkSession, schema: str, assertions: int) -> bool:
    """Every assertion has one state, and every entity one current version."""
    states, versions = spark.table(f"{schema}.customer_states"), spark.table(f"{schema}.customer_timeline")
    current = versions.where("is_current").select("bk")
    return (states.count(), current.count()) == (assertions, current.distinct().count())


def main() -> None:
    sizes = [int(size) for size in os.environ.get("SIZES", "1000000").split()]
    shapes = os.environ.get("SHAPES", "in_order late skewed").split()
    rounds = int(os.environ.get("ROUNDS", "1"))
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shutil.copyfile(ROOT / "profiles.yml.example", scratch / "profiles.yml")
        os.environ |= {"ATTEST_LAKE": str(scratch / "lake"), "ATTEST_TARGET": "local"}
        lake = {"spark.master": "local[2]", "spark.driver.memory": "6g", "attest.lake": str(scratch / "lake")}
        spark = isolated(start(lake))
        for shape in shapes:
            for size in sizes:
                print(f"{size} assertions, {shape}", flush=True)
                for row in measure(spark, scratch, size, shape, rounds):
                    results.append(row)
                    print(
                        f"  {row['contender']:<20} {row['seconds']:>8.1f} s {row['rows_per_second']:>10,} rows/s"
                        f"   {row['ratio']:>6.2f} of the floor{'' if row['correct'] else '   WRONG'}",
                        flush=True,
                    )
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"rows": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
