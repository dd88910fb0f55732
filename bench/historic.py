"""What a version history of a table costs to keep: the historic strategy beside two that people use instead.

    attest             the `historic` materialization: compare, count and close-and-insert in one commit
    dbt_snapshot       dbt's snapshot, strategy check: a staging view, then MERGE, one commit
    recipe_two_pass    the guide's type 2 (001): MERGE closes what changed, an append adds it, two commits

Each reads the same source table, whose rows change between two turns: one in a hundred has another
value, and as many again as a tenth of those are new. Contenders take turns. Seconds are those of the
dbt node, or of the recipe's own statements. Every history is compared, row for row and untimed, with
the one that follows from the extracts; versions are told by their order, since each contender takes its own time.

    extract    the source tells everything, each time
    delta      the source tells only what changed or is new

    SIZES="100000 1000000"   rows of the table
    CASES="extract delta"    which cases
    ROUNDS=5                 how often each takes its turn; the median counts
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from functools import reduce
from itertools import islice
from pathlib import Path

from attest.commits import bytes_written, logged, newest
from dbt.cli.main import dbtRunner
from delta.tables import DeltaTable
from lake import ROOT, keep, scratch_lake, seconds
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

ATTRIBUTES = ("name", "address", "status", "segment", "balance")
STRIKE_OUT = "delta.enableDeletionVectors"
CASES = ("extract", "delta")
OPEN = "9999-12-31 23:59:59"


def extract_sql(size: int, turn: int) -> str:
    """The whole source at a turn: `told_at` is the last turn at which a row changed or was new."""
    return f"""
        select
            concat('C', id) as bk,
            concat('name ', id) as name,
            concat(id % 9973, ' High Street') as address,
            concat('status ', told_at) as status,
            concat('segment ', id % 7) as segment,
            cast(id % 100000 + told_at as decimal(18, 2)) as balance,
            told_at
        from (
            select
                id,
                greatest(
                    if(id < {size}, 0, 1 + cast(floor((id - {size}) / {max(size // 1000, 1)}) as int)),
                    if({turn} > 0 and id < {size}, {turn} - pmod({turn} - pmod(id, 100), 100), 0)
                ) as told_at
            from range({size + turn * max(size // 1000, 1)})
        )"""


class Contender:
    """Keeps the history of a source table in a table of its own."""

    def __init__(self, spark: SparkSession, schema: str, name: str) -> None:
        self.spark, self.name, self.source, self.table = spark, name, f"{schema}.customers", f"{schema}.{name}"

    def begin(self) -> None:
        self.bring()
        self.spark.sql(f"alter table {self.table} set tblproperties ('{STRIKE_OUT}' = 'true')")

    def take(self) -> tuple[float, int, int]:
        """Seconds, bytes and commits of one turn."""
        before = newest(self.spark, self.table)[0]
        took = self.bring()
        made = newest(self.spark, self.table)[0] - before
        wrote = [bytes_written(actions) for _, actions in islice(logged(self.spark, self.table), made)]
        return took, sum(wrote), made

    def bring(self) -> float:
        raise NotImplementedError

    def history(self) -> DataFrame:
        raise NotImplementedError


class Dbt(Contender):
    """One node of a dbt project of its own, the project's macros with it."""

    def __init__(self, spark: SparkSession, schema: str, name: str, scratch: Path) -> None:
        super().__init__(spark, schema, name)
        self.scratch, self.root, self.schema = scratch, scratch / schema / name, schema
        (self.root / "models").mkdir(parents=True)
        project = {"name": name, "version": "0.1.0", "config-version": 2, "profile": "attest"}
        (self.root / "dbt_project.yml").write_text(json.dumps(project))
        source = {"sources": [{"name": "bench", "schema": schema, "tables": [{"name": "customers"}]}]}
        (self.root / "models" / "sources.yml").write_text(json.dumps(source))

    def invoke(self, command: str) -> float:
        os.environ["ATTEST_SCHEMA"] = self.schema
        places = ["--project-dir", self.root, "--profiles-dir", self.scratch, "--log-path", self.scratch / "logs"]
        done = dbtRunner().invoke(["--quiet", command, "--threads", "1", *map(str, places)])
        if not done.success:
            sys.exit(f"bench: dbt failed: {done.exception or [one.message for one in done.result.results]}")
        return float(done.result.results[0].execution_time)


class Attest(Dbt):
    def __init__(self, spark: SparkSession, schema: str, name: str, scratch: Path) -> None:
        super().__init__(spark, schema, name, scratch)
        (self.root / "macros").symlink_to(ROOT / "macros")
        (self.root / "models" / f"{name}.sql").write_text(
            "{{ config(materialized='historic', business_key=['bk'], untracked=['told_at']) }}\n"
            "select * from {{ source('bench', 'customers') }}\n"
        )

    def bring(self) -> float:
        return self.invoke("run")

    def history(self) -> DataFrame:
        return shown(self.spark.table(self.table), "effective_from", "effective_to")


class Snapshot(Dbt):
    def __init__(self, spark: SparkSession, schema: str, name: str, scratch: Path) -> None:
        super().__init__(spark, schema, name, scratch)
        config = {"unique_key": "bk", "strategy": "check", "check_cols": list(ATTRIBUTES)}
        shot = {"name": name, "relation": "source('bench', 'customers')", "config": config | {"file_format": "delta"}}
        (self.root / "snapshots").mkdir()
        (self.root / "snapshots" / "it.yml").write_text(json.dumps({"snapshots": [shot]}))

    def bring(self) -> float:
        return self.invoke("snapshot")

    def history(self) -> DataFrame:
        return shown(self.spark.table(self.table), "dbt_valid_from", "dbt_valid_to")


class Recipe(Contender):
    """As the guide writes it, its surrogate key left out."""

    def bring(self) -> float:
        with seconds() as took:
            texts = [F.coalesce(F.col(one).cast("string"), F.lit("")) for one in ATTRIBUTES]
            incoming = self.spark.table(self.source).withColumn("_hash", F.sha2(F.concat_ws("|", *texts), 256))
            begun = {"effective_from": F.current_timestamp(), "effective_to": F.lit(OPEN).cast("timestamp")}
            begun |= {"current_flag": F.lit(True)}
            if not self.spark.catalog.tableExists(self.table):
                incoming.withColumns(begun | {"version": F.lit(1)}).writeTo(self.table).using("delta").create()
            else:
                self.close_and_append(incoming, begun)
        return took[0]

    def close_and_append(self, incoming: DataFrame, begun: dict[str, Column]) -> None:
        held = self.spark.table(self.table)
        current = held.where("current_flag").select("bk", F.col("_hash").alias("_hash_current"))
        changes = incoming.join(current, "bk", "left").where("_hash_current is null or _hash <> _hash_current")
        closing = DeltaTable.forName(self.spark, self.table).alias("t").merge(
            changes.where("_hash_current is not null").select("bk").alias("s"), "t.bk = s.bk and t.current_flag"
        )  # fmt: skip
        closing.whenMatchedUpdate(set={"effective_to": "current_timestamp()", "current_flag": "false"}).execute()
        newest_version = held.groupBy("bk").agg(F.max("version").alias("max_version"))
        versions = changes.withColumns(begun).join(newest_version, "bk", "left")
        versions = versions.withColumn("version", F.coalesce(F.col("max_version") + 1, F.lit(1)))
        versions.drop("max_version", "_hash_current").write.format("delta").mode("append").saveAsTable(self.table)

    def history(self) -> DataFrame:
        rows = self.spark.table(self.table).withColumn("effective_to", F.expr(f"nullif(effective_to, '{OPEN}')"))
        return shown(rows, "effective_from", "effective_to")


def shown(rows: DataFrame, begins: str, ends: str) -> DataFrame:
    """The versions that a history has of each key, by their order."""
    number = F.row_number().over(Window.partitionBy("bk").orderBy(begins))
    return rows.select("bk", *ATTRIBUTES, number.alias("number"), F.col(ends).isNull().alias("is_open"))


def right_history(spark: SparkSession, size: int, turns: int) -> DataFrame:
    """What follows from the extracts: a version for each turn at which a row was told anew."""
    told = reduce(DataFrame.union, [spark.sql(extract_sql(size, turn)) for turn in range(turns + 1)]).distinct()
    in_order = Window.partitionBy("bk").orderBy("told_at")
    number, is_open = F.row_number().over(in_order), F.lead("told_at").over(in_order).isNull()
    return told.select("bk", *ATTRIBUTES, number.alias("number"), is_open.alias("is_open"))


def measure(spark: SparkSession, scratch: Path, case: str, size: int) -> list[dict[str, object]]:
    schema, turns = f"bench_{case}_{size}", int(os.environ.get("ROUNDS", "5"))
    spark.sql(f"create schema {schema}")
    contenders = [
        Attest(spark, schema, "attest", scratch),
        Snapshot(spark, schema, "dbt_snapshot", scratch),
        Recipe(spark, schema, "recipe_two_pass"),
    ]
    print(f"{case}: {size:,} rows", flush=True)
    took: dict[str, list[tuple[float, int, int]]] = {one.name: [] for one in contenders}
    for turn in range(turns + 1):
        rows = spark.sql(extract_sql(size, turn))
        told = rows if case == "extract" or not turn else rows.where(F.col("told_at") == turn)
        told.writeTo(f"{schema}.customers").using("delta").createOrReplace()
        for one in contenders[turn % 3 :] + contenders[: turn % 3]:
            if turn:
                took[one.name].append(one.take())
                print(f"  {one.name:<16} {took[one.name][-1][0]:>7.2f} s", flush=True)
            else:
                one.begin()
    right = right_history(spark, size, turns).localCheckpoint()
    middle = {name: statistics.median(one[0] for one in turns_of) for name, turns_of in took.items()}
    rows_told: list[dict[str, object]] = []
    for one in contenders:
        mine = one.history().localCheckpoint()
        differing = mine.exceptAll(right).count() + right.exceptAll(mine).count()
        rows_told.append(
            {"case": f"{case} {size}", "contender": one.name, "seconds": round(middle[one.name], 2)}
            | {"bytes": took[one.name][-1][1], "ratio": round(middle[one.name] / middle["attest"], 2)}
            | {"correct": differing == 0, "commits": took[one.name][-1][2]}
        )
    spark.sql(f"drop schema {schema} cascade")
    return rows_told


def main() -> None:
    cases, sizes = os.environ.get("CASES", " ".join(CASES)).split(), os.environ.get("SIZES", "100000 1000000").split()
    if set(cases) - set(CASES) or any(not one.isdigit() or int(one) < 1_000 for one in sizes):
        sys.exit(f"bench: cases are {' and '.join(CASES)}, sizes 1000 or more.")
    with tempfile.TemporaryDirectory() as folder:
        spark = scratch_lake(Path(folder))
        rows = [row for case in cases for size in sizes for row in measure(spark, Path(folder), case, int(size))]
    keep("historic", rows)
    print("\n  ratio to ours, bytes and commits of the last turn")
    for row in rows:
        answer = "right" if row["correct"] else "WRONG"
        print(
            f"  {row['case']:<18} {row['contender']:<16} {row['seconds']:>7} s {row['ratio']:>6} "
            f"{row['bytes']:>12,} {row['commits']:>2}   {answer}"
        )
    if not all(row["correct"] for row in rows):
        sys.exit("bench: a contender's history is wrong.")


if __name__ == "__main__":
    main()
