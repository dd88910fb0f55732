"""What Bronze costs: landed assertions to evidence, states and versions, beside the same rows moved without logic.

The floor reads the same landed rows, shuffles them by key, sorts them and writes them to
Delta, in the same session; contenders take turns. Ten assertions an entity; in `late` one
entity in a hundred has a late fact, in `skewed` one has 100,000 assertions, in `wide` each
has forty attributes, as tables at work have. Then two more builds on the lake that is there:
`news` lands one more assertion on each of 1,000 entities, `again` lands everything once
more, as a full extract does in which nothing changed.

    SIZES="1000000"  how many assertions, by spaces (the full run: "1000000 10000000")
    SHAPES="in_order late skewed"  (and wide)
    ROUNDS=1         how often each takes its turn
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

from attest.commits import newest
from attest.logs import PROPERTIES
from attest.news import Note
from attest.project import read_yaml
from attest.write import Table, append, create
from lake import BRONZE, FIRST_DAY, ROOT, build, keep, landed_rows, moved_without_logic, scratch_lake
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

SKEWED = 100_000
NEWS = 1_000
MORE = [f"attribute_{number:02}" for number in range(37)]  # what a customer has in `wide` beside its three


def landed(spark: SparkSession, size: int, shape: str) -> DataFrame:
    """Assertions as `attest land` keeps them: ten an entity, two sources, partials of one to three attributes."""
    number = F.col("id")
    entity = F.floor(number / 10)
    if shape == "skewed":
        entity = F.when(number < SKEWED, 0).otherwise(entity)
    place = F.when(entity == 0, number).otherwise(number % 10)
    key = F.concat(F.lit("C"), entity.cast("string"))
    source = F.when(number % 2 == 0, "CRM").otherwise("CORE")
    said = F.timestamp_seconds(F.lit(FIRST_DAY) + place * 3600 + entity % 3600)
    is_late = (entity % 100 == 0) & (place == 4) if shape == "late" else F.lit(False)
    arrived = said + F.when(is_late, F.expr("interval 30 days")).otherwise(F.expr("interval 5 minutes"))
    text: Column = F.concat(F.lit("value "), number.cast("string"))
    more = [F.struct(F.lit(name), F.concat(F.lit(f"{name} "), place)) for name in MORE if shape == "wide"]
    fields = F.map_from_entries(
        F.array_compact(
            F.array(
                F.struct(F.lit("customer_id"), key),
                F.struct(F.lit("source_system"), source),
                F.struct(F.lit("status"), F.when(number % 3 == 0, "Active").otherwise("Restricted")),
                F.when(place % 5 == 0, F.struct(F.lit("name"), text)),
                F.when(place % 3 == 0, F.struct(F.lit("address"), text)),
                *more,
            )
        )
    )
    return landed_rows(spark.range(size), fields=fields, said=said, arrived=arrived)


def landed_again(rows: DataFrame, landing: str) -> DataFrame:
    """The same records in another landing, a day later."""
    later = F.col("ingest_ts") + F.expr("interval 60 days")
    return rows.withColumns({"landing_id": F.lit(landing), "ingest_ts": later, "recorded_at": F.current_timestamp()})


def moved_on(rows: DataFrame) -> DataFrame:
    """One more word on each of some entities, later than all others."""
    first = rows.where(F.col("source_record") % 10 == 0).orderBy("source_record").limit(NEWS)
    return landed_again(first, "L2").withColumn("source_event_ts", F.col("ingest_ts"))


def declared(shape: str) -> list[str]:
    """The arguments that declare what a customer has."""
    if shape != "wide":
        return []
    entities = read_yaml(ROOT / "dbt_project.yml")["vars"]["entities"]
    entities["customer"]["attributes"] |= dict.fromkeys(MORE, "string")
    return ["--vars", json.dumps({"entities": entities})]


def attest(schema: str, scratch: Path, shape: str) -> dict[str, float]:
    """Bronze through dbt, each table with the seconds that its node took."""
    os.environ["ATTEST_SCHEMA"] = schema
    results = build("--select", "+customer_timeline", *declared(shape), scratch=scratch)
    return {stage: results[stage].execution_time for stage in BRONZE}


def measure(spark: SparkSession, scratch: Path, size: int, shape: str, rounds: int) -> list[dict[str, Any]]:
    schema = f"bronze_{size}_{shape}"
    spark.sql(f"create schema if not exists {schema}")
    table = Table(f"{schema}.landing_worked", properties=PROPERTIES)
    create(spark, table, landed(spark, size, shape), note=Note("bench"))
    floors: list[float] = []
    ours: list[dict[str, float]] = []
    for _ in range(rounds):
        rows = spark.table(table.name).withColumn("bk", F.col("fields")["customer_id"])
        floors.append(moved_without_logic(rows, f"{schema}.floor", order="source_event_ts"))
        for stage in BRONZE:
            spark.sql(f"drop table if exists {schema}.{stage}")
        ours.append(attest(schema, scratch, shape))
    took = {stage: statistics.median(one[stage] for one in ours) for stage in BRONZE}
    took["attest"] = statistics.median(sum(one.values()) for one in ours)
    right = {contender: is_right(spark, schema, size) for contender in took} | {"floor": True}
    rows = landed(spark, size, shape)
    for contender, more, count in (("news", moved_on(rows), NEWS), ("again", landed_again(rows, "L3"), 0)):
        append(spark, table, more, note=Note("bench"))
        before = newest(spark, f"{schema}.customer_states")[0]
        took[contender] = sum(attest(schema, scratch, shape).values())
        rewritten = newest(spark, f"{schema}.customer_states")[0] > before
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
        spark = scratch_lake(scratch)
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
    keep("bronze", results)


if __name__ == "__main__":
    main()
