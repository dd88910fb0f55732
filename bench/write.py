"""What a change costs: attest beside what people use instead, the same news each, every result compared.

`write`: finished rows of 1,000 entities to a committed table: ours, MERGE with delete rows, overwrite.
`end_to_end`: landed news to a new timeline: ours (its dbt nodes, evidence and all), the rebuild recipe of
the design paper (12.1.5), MERGE that closes and inserts (Delta's own SCD2 example), a full rebuild.
`snapshot`: ours beside dbt's snapshots, by timestamp and by check.
One change in a hundred is late. Contenders take turns; each is tuned as its own documents advise, with
deletion vectors on. A contender is correct if its timeline of every entity with news is the oracle's;
`wrong` counts the entities where it is not, and `lost` the changes that it does not show at all.

    SIZES="1000000 10000000"   rows of the timeline, ten an entity
    ROUNDS=3                   how often each takes its turn
    NEWS="1000" LATE="1"       entities with news, and how many in a hundred are late
    CASES="write end_to_end snapshot"
    FULL=1                     NEWS="100 1000 10000" LATE="0 1 10", uniform and recent
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from attest import write
from attest.commits import bytes_written, logged, newest
from attest.logs import PROPERTIES
from attest.news import Note
from attest.write import Table, append, create
from dbt.cli.main import dbtRunner
from delta.tables import DeltaTable
from lake import BRONZE, FIRST_DAY, build, keep, landed_rows, scratch_lake, seconds
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

EACH = 10
ATTRIBUTES = ("name", "address", "status")
STRIKE_OUT = {"delta.enableDeletionVectors": "true", "delta.dataSkippingNumIndexedCols": "1"}
SHOWN = ("bk", "effective_from", "effective_to", *ATTRIBUTES)


@dataclass
class Took:
    """One contender in one case: its seconds by round, and what its last round wrote."""

    seconds: list[float] = field(default_factory=list)
    bytes: int = 0
    files: int = 0
    wrong: int = 0
    lost: int = 0


def told(rows: DataFrame, entity: Column, place: Column, at: Column) -> DataFrame:
    """Whole rows of an entity: what it is called, where it is and how it stands, as of an instant."""
    text = F.concat_ws(" ", entity.cast("string"), place.cast("string"))
    return rows.select(
        F.concat(F.lit("C"), entity.cast("string")).alias("bk"),
        F.timestamp_seconds(F.lit(FIRST_DAY) + at).alias("source_event_ts"),
        F.concat(F.lit("Name "), F.floor(place / 3).cast("string")).alias("name"),
        F.concat(F.lit("Street "), text).alias("address"),
        F.when(place % 2 == 0, "Active").otherwise("Restricted").alias("status"),
    )


def history(spark: SparkSession, size: int, each: int) -> DataFrame:
    """Ten words an entity, an hour apart, each of another state than the one before."""
    number = F.col("id")
    return told(spark.range(size), F.floor(number / each), number % each, (number % each) * 3600)


def news(spark: SparkSession, entities: int, *, changed: int, late: int, shape: str, turn: int) -> DataFrame:
    """One word on each of some entities, half of them the same at every turn; two turns say the same, later.

    Of a hundred words some are older than what is known already.
    """
    number = F.col("id")
    stride = max(entities // changed, 1)
    moved = F.when(number % 2 == 0, 0).otherwise(turn % stride)
    entity = number * stride + moved if shape == "uniform" else entities - 1 - number
    is_late = number % 100 < late
    at = F.when(is_late, 1800 + turn * 60).otherwise((EACH + turn) * 3600 + 86_400)
    return told(spark.range(changed), entity, F.lit(100 + turn // 2 * 2), at)


def oracle(spark: SparkSession, events: DataFrame, keys: DataFrame) -> DataFrame:
    """The timeline of these keys by the definition, from everything that was ever said."""
    events.join(F.broadcast(keys), "bk", "left_semi").createOrReplaceTempView("said")
    return spark.sql(
        """
        with marked as (
            select *, struct(name, address, status) <=> lag(struct(name, address, status)) over entity as is_same
            from said
            window entity as (partition by bk order by source_event_ts)
        )
        select
            bk, source_event_ts as effective_from,
            lead(source_event_ts) over (partition by bk order by source_event_ts) as effective_to,
            name, address, status
        from marked
        where not is_same
        """
    )


def arrived(rows: DataFrame, landing: str) -> DataFrame:
    """The same rows as `attest land` keeps them."""
    numbered = rows.withColumn("id", F.monotonically_increasing_id())
    told_of = F.map_from_arrays(
        F.array(*[F.lit(name) for name in ("customer_id", "source_system", *ATTRIBUTES)]),
        F.array("bk", F.lit("CRM"), *ATTRIBUTES),
    )
    said = F.col("source_event_ts")
    landed = landed_rows(numbered, fields=told_of, said=said, arrived=said + F.expr("interval 5 minutes"))
    return landed.withColumn("landing_id", F.lit(landing))


def scd2(rows: DataFrame) -> DataFrame:
    """Events as the timeline that the recipes keep."""
    state = F.sha2(F.concat_ws("||", *ATTRIBUTES), 256)
    in_time = Window.partitionBy("bk").orderBy("source_event_ts")
    marked = rows.withColumn("attr_hash", state).withColumn("before", F.lag("attr_hash").over(in_time))
    versions = marked.where(~F.col("before").eqNullSafe(F.col("attr_hash"))).drop("before")
    end = F.lead("source_event_ts").over(in_time)
    return versions.select(
        "bk", "attr_hash", "source_event_ts", F.col("source_event_ts").alias("ingest_ts"),
        F.col("source_event_ts").alias("effective_from"),
        end.alias("effective_to"), end.isNull().alias("is_current"), *ATTRIBUTES,
    )  # fmt: skip


class Contender:
    """Keeps a table of its own; `take` brings one batch of news into it."""

    def __init__(self, spark: SparkSession, schema: str, name: str) -> None:
        self.spark, self.name, self.table = spark, name, f"{schema}.{name}"

    def begin(self, rows: DataFrame) -> None:
        writer = scd2(rows).writeTo(self.table).using("delta")
        for name, value in STRIKE_OUT.items():
            writer = writer.tableProperty(name, value)
        writer.createOrReplace()

    def take(self, batch: DataFrame) -> float:
        before = newest(self.spark, self.table)[0]
        with seconds() as took:
            self.bring(batch)
        self.commits = newest(self.spark, self.table)[0] - before
        return took[0]

    def bring(self, batch: DataFrame) -> None:
        raise NotImplementedError

    def timeline(self) -> DataFrame:
        return self.spark.table(self.table).select(*SHOWN)


class RecipeDocument(Contender):
    """Section 12.1.5: the impacted keys' rows and the batch, windows over both, replaced by key."""

    def bring(self, batch: DataFrame) -> None:
        keys = batch.select("bk").distinct()
        existing = self.spark.table(self.table).join(F.broadcast(keys), "bk")
        state = F.sha2(F.concat_ws("||", *ATTRIBUTES), 256)
        both = existing.drop("effective_from", "effective_to", "is_current").unionByName(
            batch.withColumns({"attr_hash": state, "ingest_ts": F.current_timestamp()})
        )
        both.createOrReplaceTempView("both")
        rows = self.spark.sql(
            """
            with marked as (
                select *, not (attr_hash <=> lag(attr_hash) over (partition by bk order by source_event_ts)) as is_new
                from both
            ),
            grouped as (
                select *, sum(int(is_new)) over (partition by bk order by source_event_ts) as version_grp from marked
            ),
            collapsed as (
                select
                    *,
                    min(source_event_ts) over (partition by bk, version_grp) as effective_from,
                    row_number() over (partition by bk, version_grp order by ingest_ts desc) as newest
                from grouped
            )
            select
                * except (is_new, version_grp, newest),
                lead(effective_from) over (partition by bk order by effective_from) as effective_to,
                lead(effective_from) over (partition by bk order by effective_from) is null as is_current
            from collapsed
            where newest = 1
            """
        )
        writer = rows.localCheckpoint().alias("s").write.format("delta").mode("overwrite").option("targetAlias", "t")
        writer.option("replaceOn", "t.bk = s.bk").saveAsTable(self.table)


class RecipeMergeClose(Contender):
    """Delta's documented SCD2 MERGE: a change closes the current row and is inserted, in one statement."""

    def bring(self, batch: DataFrame) -> None:
        state = F.sha2(F.concat_ws("||", *ATTRIBUTES), 256)
        batch = batch.withColumn("attr_hash", state)
        current = self.spark.table(self.table).where("is_current")
        changed = batch.alias("u").join(current.alias("t"), "bk").where("u.attr_hash <> t.attr_hash").select("u.*")
        staged = changed.withColumn("merge_key", F.lit(None).cast("string"))
        staged = staged.unionByName(batch.withColumn("merge_key", F.col("bk")))
        told_of = {name: f"s.{name}" for name in ("bk", "attr_hash", "source_event_ts", *ATTRIBUTES)}
        told_of |= {"ingest_ts": "current_timestamp()"}
        (
            DeltaTable.forName(self.spark, self.table)
            .alias("t")
            .merge(staged.alias("s"), "t.bk = s.merge_key and t.is_current")
            .whenMatchedUpdate(
                "t.attr_hash <> s.attr_hash", {"is_current": "false", "effective_to": "s.source_event_ts"}
            )
            .whenNotMatchedInsert(
                values=told_of | {"effective_from": "s.source_event_ts", "effective_to": "null", "is_current": "true"}
            )
            .execute()
        )


class Rebuild(Contender):
    """Everything ever said, again, and the table overwritten."""

    def begin(self, rows: DataFrame) -> None:
        rows.writeTo(f"{self.table}_said").using("delta").createOrReplace()
        super().begin(rows)

    def bring(self, batch: DataFrame) -> None:
        batch.writeTo(f"{self.table}_said").append()
        rows = scd2(self.spark.table(f"{self.table}_said"))
        rows.write.format("delta").mode("overwrite").saveAsTable(self.table)


class Attest(Contender):
    """Ours: what was landed goes through evidence and states; the seconds are those of its dbt nodes."""

    def __init__(self, spark: SparkSession, schema: str, scratch: Path) -> None:
        super().__init__(spark, f"{schema}_attest", "customer_states")
        self.schema, self.scratch = f"{schema}_attest", scratch
        self.landing = Table(f"{self.schema}.landing_worked", properties=PROPERTIES)
        spark.sql(f"create schema if not exists {self.schema}")

    def begin(self, rows: DataFrame) -> None:
        create(self.spark, self.landing, arrived(rows, "L"), note=Note("bench"))
        self.run()

    def run(self) -> float:
        os.environ["ATTEST_SCHEMA"] = self.schema
        results = build("--select", "+customer_timeline", scratch=self.scratch)
        return float(sum(results[stage].execution_time for stage in BRONZE))

    def take(self, batch: DataFrame) -> float:
        append(
            self.spark, self.landing, arrived(batch, f"N{newest(self.spark, self.landing.name)[0]}"), note=Note("bench")
        )
        before = newest(self.spark, self.table)[0]
        took = self.run()
        self.commits = newest(self.spark, self.table)[0] - before
        return took

    def timeline(self) -> DataFrame:
        return self.spark.table(f"{self.schema}.customer_timeline").select(*SHOWN)


class Snapshot(Contender):
    """dbt's snapshot of a table that shows how things are now; the seconds are those of its node."""

    def __init__(self, spark: SparkSession, schema: str, strategy: str, scratch: Path) -> None:
        super().__init__(spark, schema, f"dbt_snapshot_{strategy}")
        self.scratch, self.schema, self.source = scratch, schema, f"{schema}.customers_{strategy}"
        self.root = scratch / schema / self.name
        (self.root / "snapshots").mkdir(parents=True)
        by = {"updated_at": "source_event_ts"} if strategy == "timestamp" else {"check_cols": list(ATTRIBUTES)}
        (self.root / "dbt_project.yml").write_text(
            "{name: snaps, version: 0.1.0, config-version: 2, profile: attest}\n"
        )
        source = {"name": "bench", "schema": schema, "tables": [{"name": f"customers_{strategy}"}]}
        config = {"unique_key": "bk", "strategy": strategy, "file_format": "delta"} | by
        shot = {"name": self.name, "relation": f"source('bench', 'customers_{strategy}')", "config": config}
        declared = json.dumps({"sources": [source], "snapshots": [shot]})
        (self.root / "snapshots" / "it.yml").write_text(declared)

    def begin(self, rows: DataFrame) -> None:
        rows.writeTo(self.source).using("delta").createOrReplace()
        self.run()

    def take(self, batch: DataFrame) -> float:
        newer = DeltaTable.forName(self.spark, self.source).alias("t").merge(batch.alias("s"), "t.bk = s.bk")
        newer.whenMatchedUpdateAll("s.source_event_ts > t.source_event_ts").execute()
        before = newest(self.spark, self.table)[0]
        took = self.run()
        self.commits = newest(self.spark, self.table)[0] - before
        return took

    def run(self) -> float:
        os.environ["ATTEST_SCHEMA"] = self.schema
        places = ["--project-dir", self.root, "--profiles-dir", self.scratch, "--log-path", self.scratch / "logs"]
        done = dbtRunner().invoke(["--quiet", "snapshot", "--threads", "1", *map(str, places)])
        assert done.success, done.exception or [one.message for one in done.result.results]
        return float(done.result.results[0].execution_time)

    def timeline(self) -> DataFrame:
        window = {"dbt_valid_from": "effective_from", "dbt_valid_to": "effective_to"}
        return self.spark.table(self.table).withColumnsRenamed(window).select(*SHOWN)


def compare(mine: DataFrame, right: DataFrame, keys: DataFrame) -> tuple[int, int]:
    """Entities whose timeline is not the oracle's, and the changes of the oracle's that are nowhere in ours."""
    mine = mine.join(F.broadcast(keys), "bk", "left_semi").localCheckpoint()
    differing = mine.exceptAll(right).select("bk").union(right.exceptAll(mine).select("bk")).distinct().count()
    lost = right.select("bk", *ATTRIBUTES).exceptAll(mine.select("bk", *ATTRIBUTES)).count()
    return differing, lost


def compete(
    contenders: Sequence[Contender], first: DataFrame, batches: Sequence[DataFrame], *, spark: SparkSession
) -> dict[str, Took]:
    """Each contender's table is made, then they take the batches in turn; then each is compared with the oracle."""
    took = {one.name if not isinstance(one, Attest) else "attest": Took() for one in contenders}
    for one in contenders:
        one.begin(first)
    for batch in batches:
        for name, one in zip(took, contenders, strict=True):
            took[name].seconds.append(one.take(batch))
            wrote = [
                list(actions) for _, (_, actions) in zip(range(one.commits), logged(spark, one.table), strict=False)
            ]
            took[name].bytes = sum(map(bytes_written, wrote))
            took[name].files = sum("add" in action for actions in wrote for action in actions)
            print(f"    {name:<24} {took[name].seconds[-1]:>8.1f} s", flush=True)
    keys = batches[0].select("bk")
    for batch in batches[1:]:
        keys = keys.union(batch.select("bk"))
    keys = keys.distinct().localCheckpoint()
    said = first
    for batch in batches:
        said = said.unionByName(batch)
    right = oracle(spark, said, keys).localCheckpoint()
    for name, one in zip(took, contenders, strict=True):
        took[name].wrong, took[name].lost = compare(one.timeline(), right, keys)
    return took


class Writer(Contender):
    """Finished rows of the keys to a committed table, and nothing else."""

    def __init__(self, spark: SparkSession, schema: str, name: str, put: Callable[[Writer, DataFrame], None]) -> None:
        super().__init__(spark, schema, name)
        self.put = put

    def take(self, batch: DataFrame) -> float:
        keys = batch.select("bk").distinct()
        held = self.spark.table(self.table).join(F.broadcast(keys), "bk").select("bk", "source_event_ts", *ATTRIBUTES)
        place = f"{self.table}_finished"
        scd2(held.unionByName(batch)).writeTo(place).using("delta").createOrReplace()
        return super().take(self.spark.table(place))

    def bring(self, batch: DataFrame) -> None:
        self.put(self, batch)


def ours(writer: Writer, rows: DataFrame) -> None:
    table = Table(writer.table, key="bk", identity=["bk", "effective_from"])
    keys = rows.select("bk").distinct()
    since = newest(writer.spark, writer.table)[0]
    write.replace_by_key(writer.spark, table, rows, keys=keys, note=Note("bench"), since=since)


def merge_rows(writer: Writer, rows: DataFrame) -> None:
    removals = rows.select("bk").distinct().withColumn("is_removal", F.lit(True))
    source = removals.unionByName(rows.withColumn("is_removal", F.lit(False)), allowMissingColumns=True)
    merging = DeltaTable.forName(writer.spark, writer.table).alias("t")
    merging.merge(source.alias("s"), "t.bk = s.bk and s.is_removal").whenMatchedDelete().whenNotMatchedInsert(
        "not s.is_removal", {name: f"s.{name}" for name in rows.columns}
    ).execute()


def overwrite(writer: Writer, rows: DataFrame) -> None:
    kept = writer.spark.table(writer.table).join(F.broadcast(rows.select("bk").distinct()), "bk", "left_anti")
    kept.unionByName(rows).write.format("delta").mode("overwrite").saveAsTable(writer.table)


def contenders_of(case: str, spark: SparkSession, schema: str, scratch: Path) -> list[Contender]:
    if case == "write":
        puts = {"attest": ours, "merge_rows": merge_rows, "overwrite": overwrite}
        return [Writer(spark, schema, name, put) for name, put in puts.items()]
    if case == "end_to_end":
        others = {"recipe_document": RecipeDocument, "recipe_merge_close": RecipeMergeClose, "rebuild": Rebuild}
        return [Attest(spark, schema, scratch), *(kind(spark, schema, name) for name, kind in others.items())]
    return [Attest(spark, schema, scratch), *(Snapshot(spark, schema, by, scratch) for by in ("timestamp", "check"))]


def report(case: str, took: dict[str, Took]) -> list[dict[str, Any]]:
    middle = {name: statistics.median(one.seconds) for name, one in took.items()}
    print(f"  {case}: median seconds, ratio to ours, bytes, files, entities wrong, changes lost", flush=True)
    rows = []
    for name, one in took.items():
        ratio = round(middle[name] / middle["attest"], 2)
        counts = f"{one.bytes:>14,} {one.files:>5} {one.wrong:>6} {one.lost:>6}"
        print(f"    {name:<24} {middle[name]:>8.1f} {ratio:>7.2f} {counts}", flush=True)
        rows.append(
            {"case": case, "contender": name, "seconds": round(middle[name], 2), "bytes": one.bytes, "ratio": ratio}
            | {"correct": not one.wrong, "files": one.files, "wrong": one.wrong, "lost": one.lost}
        )
    return rows


def setups() -> Iterator[tuple[str, int, int, int, str]]:
    """Each case with its rows, how many entities have news, how many in a hundred are late, and which they are."""
    full = bool(os.environ.get("FULL"))
    sizes = numbers("SIZES", "1000000 10000000")
    changes = numbers("NEWS", "100 1000 10000" if full else "1000")
    lates = numbers("LATE", "0 1 10" if full else "1")
    shapes = ("uniform", "recent") if full else ("uniform",)
    for case in os.environ.get("CASES", "write end_to_end snapshot").split():
        if case == "snapshot":
            yield from ((case, sizes[0], max(sizes[0] // 100, 1), late, "uniform") for late in lates)
        else:
            yield from ((case, *setup) for setup in product(sizes, changes, lates, shapes))


def numbers(name: str, default: str) -> list[int]:
    return [int(one) for one in os.environ.get(name, default).split()]


def measure(
    spark: SparkSession, scratch: Path, schema: str, setup: tuple[str, int, int, int, str]
) -> list[dict[str, Any]]:
    case, size, changed, late, shape = setup
    each = 1 if case == "snapshot" else EACH
    batches = [
        news(spark, size // each, changed=changed, late=late, shape=shape, turn=turn)
        for turn in range(int(os.environ.get("ROUNDS", "3")))
    ]
    spark.sql(f"create schema {schema}")
    contenders = contenders_of(case, spark, schema, scratch)
    took = compete(contenders, history(spark, size, each), batches, spark=spark)
    for made in (schema, f"{schema}_attest"):
        spark.sql(f"drop schema if exists {made} cascade")
    return report(f"{case} {size}/{changed}" + (f" late {late} {shape}" if os.environ.get("FULL") else ""), took)


def main() -> None:
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        spark = scratch_lake(scratch)
        for number, setup in enumerate(setups()):
            results += measure(spark, scratch, f"bench_{number}", setup)
            keep("write", results)


if __name__ == "__main__":
    main()
