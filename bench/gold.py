"""What it costs to give each fact the version that covers it, beside three other ways to do it.

    attest         the project's as_of: by key and chunk of 64 versions
    range          a plain join on key and interval
    union_window   facts and versions on one line, each fact taking the last version before it
    equality       a join on a version key that the facts have already: the least that any way can cost

In each case a version in seven ends early, so that a gap follows, and one fact in fifty is before its
entity was known. Every contender's answer is compared with the right one, fact by fact, untimed.

    uniform        ten versions an entity, facts spread evenly
    skewed         5 % of the facts are of one entity
    deep           that entity has a tenth of all versions

    FACTS=1000000 VERSIONS=100000   sizes (the full run: 10000000 and 1000000)
    CASES="uniform skewed deep"     which cases
    ROUNDS=3                        how often each takes its turn; the median counts
    LIMIT=30                        a contender that takes so many times as long as ours is stopped
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from attest.macros import render
from lake import ROOT, keep, scratch_lake
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

SCHEMA = "bench_gold"
EACH = 10  # versions an entity
SPAN = 36_500 * 86_400 * 1_000_000  # microseconds that every entity's versions share among them
SINCE = -1_000_000_000_000_000  # where they begin
CONTENDERS = ("attest", "range", "union_window", "equality")
LEAST_LIMIT = 60.0


def versions_sql(versions: int, hot: int) -> str:
    """Numbered from 1; the hot entity's, which are as many as `hot`, come first."""
    return f"""
        select
            sha2(bk, 256) as sk,
            sha2(concat(bk, ':', version), 256) as version_sk,
            bk,
            version,
            timestamp_micros({SINCE} + (version - 1) * width) as effective_from,
            timestamp_micros({SINCE} + version * width - if(version % 7 = 5, width div 2, 0)) as effective_to,
            concat('value ', id % 100) as status
        from (
            select
                id,
                if(id < {hot}, 'hot', concat('C', (id - {hot}) div {EACH})) as bk,
                if(id < {hot}, id, (id - {hot}) % {EACH}) + 1 as version,
                {SPAN} div if(id < {hot}, {hot}, {EACH}) as width
            from range({versions})
        )"""


def facts_sql(facts: int, versions: int, hot: int) -> str:
    """Each with the key that it must get; one in twenty is of the hot entity, where there is one."""
    entities = (versions - hot) // EACH
    return f"""
        select
            fact_id,
            who,
            timestamp_micros({SINCE} + (version - 1) * width + within) as happened_at,
            amount,
            if(
                version = 0 or (version % 7 = 5 and within >= width - width div 2),
                null,
                sha2(concat(who, ':', version), 256)
            ) as true_version_sk
        from (
            select
                *,
                if(fact_id % 50 = 7, 0, 1 + cast(floor(place * size) as bigint)) as version,
                {SPAN} div size as width,
                cast(floor(turn * ({SPAN} div size)) as bigint) as within
            from (
                select
                    id as fact_id,
                    if({hot} > 0 and id % 20 = 0, 'hot', concat('C', pmod(xxhash64(id, 1), {entities}))) as who,
                    if({hot} > 0 and id % 20 = 0, {hot}, {EACH}) as size,
                    pmod(xxhash64(id, 2), 1000000007) / 1000000007D as place,
                    pmod(xxhash64(id, 3), 1000000007) / 1000000007D as turn,
                    cast(id % 10000 as decimal(18, 2)) as amount
                from range({facts})
            )
        )"""


def asked(contender: str, facts: str, dimension: str) -> str:
    """The contender's SQL: all columns of the facts, and the keys of the version found."""
    if contender == "attest":
        return render(ROOT, "as_of", facts=facts, dimension=dimension, found_by="who", called="found")
    if contender == "range":
        return f"""
            select fact.*, version.sk as found_sk, version.version_sk as found_version_sk
            from {facts} as fact
            left join {dimension} as version
                on fact.who = version.bk
                    and fact.happened_at >= version.effective_from
                    and fact.happened_at < version.effective_to"""
    if contender == "equality":
        return f"""
            select fact.*, version.sk as found_sk, version.version_sk as found_version_sk
            from {facts} as fact
            left join {dimension} as version on fact.true_version_sk = version.version_sk"""
    return f"""
        select
            fact.*,
            if(at < version.effective_to, version.sk, null) as found_sk,
            if(at < version.effective_to, version.version_sk, null) as found_version_sk
        from (
            select at, fact, last_value(version, true) over (
                partition by bk order by at, is_fact rows between unbounded preceding and current row
            ) as version
            from (
                select who as bk, happened_at as at, true as is_fact, struct(*) as fact, null as version from {facts}
                union all
                select bk, effective_from, false, null, struct(sk, version_sk, effective_to) from {dimension}
            )
        )
        where fact is not null"""


def within(spark: SparkSession, limit: float, rows: DataFrame) -> float | None:
    """Seconds to compute all rows; None where it was stopped at the limit."""
    context = spark.sparkContext
    context.setJobGroup("contender", "a contender's turn", interruptOnCancel=True)
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        context.cancelJobGroup("contender")

    timer = threading.Timer(limit, stop)
    timer.start()
    began = time.monotonic()
    try:
        rows.write.format("noop").mode("overwrite").save()
    except (PySparkException, Py4JJavaError):
        if not stopped.is_set():
            raise
        return None
    finally:
        timer.cancel()
    return time.monotonic() - began


def is_right(rows: DataFrame, facts: int) -> bool:
    [told] = rows.selectExpr(
        "count(*) as rows",
        "count(distinct fact_id) as facts",
        "count_if(not found_version_sk <=> true_version_sk) as wrong",
    ).collect()
    return (told.rows, told.facts, told.wrong) == (facts, facts, 0)


def measure(spark: SparkSession, case: str, facts: int, versions: int) -> list[dict[str, object]]:
    hot = {"uniform": 0, "skewed": EACH, "deep": versions // 10}[case]
    tables = f"{SCHEMA}.facts_{case}", f"{SCHEMA}.dimension_{case}"
    for table, sql in zip(tables, (facts_sql(facts, versions, hot), versions_sql(versions, hot)), strict=True):
        spark.sql(sql).write.format("delta").mode("overwrite").saveAsTable(table)
    rounds, times = int(os.environ.get("ROUNDS", "3")), float(os.environ.get("LIMIT", "30"))
    print(f"{case}: {facts:,} facts, {versions:,} versions", flush=True)
    took: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    stopped: dict[str, float] = {}
    limit = 3_600.0
    for turn in range(rounds + 1):
        for name in CONTENDERS:
            if name in stopped:
                continue
            spent = within(spark, limit, spark.sql(asked(name, *tables)))
            if name == "attest" and spent is not None:
                limit = max(LEAST_LIMIT, times * spent)
            if spent is None:
                stopped[name] = limit
                print(f"  {name:<14} stopped after {limit:.0f} s", flush=True)
            elif turn or rounds == 0:  # the first round only warms up
                took[name].append(spent)
                print(f"  {name:<14} {spent:>8.2f} s", flush=True)
    ours = statistics.median(took["attest"])
    rows: list[dict[str, object]] = []
    for name in CONTENDERS:
        seconds = stopped.get(name) or statistics.median(took[name])
        correct = None if name in stopped else is_right(spark.sql(asked(name, *tables)), facts)
        rows.append(
            {"case": f"{facts}/{versions} {case}", "contender": name, "seconds": round(seconds, 2), "bytes": 0}
            | {"ratio": round(seconds / ours, 2), "correct": correct, "stopped": name in stopped}
        )
    return rows


def main() -> None:
    facts, versions = int(os.environ.get("FACTS", "1000000")), int(os.environ.get("VERSIONS", "100000"))
    cases = os.environ.get("CASES", "uniform skewed deep").split()
    unknown = set(cases) - {"uniform", "skewed", "deep"}
    if unknown or versions < 1_000 or facts < 1_000:
        sys.exit(f"bench: {unknown or 'sizes below 1000'}: cases are uniform, skewed and deep, sizes 1000 or more.")
    with tempfile.TemporaryDirectory() as folder:
        spark = scratch_lake(Path(folder))
        spark.sql(f"create schema if not exists {SCHEMA}")
        rows = [row for case in cases for row in measure(spark, case, facts, versions)]
    keep("gold", rows)
    print("\n  ratio to ours")
    for row in rows:
        answer = "stopped" if row["stopped"] else "right" if row["correct"] else "WRONG"
        print(f"  {row['case']:<26} {row['contender']:<14} {row['seconds']:>8} s {row['ratio']:>7}   {answer}")
    if any(row["correct"] is False for row in rows):
        sys.exit("bench: a contender's answer is wrong.")


if __name__ == "__main__":
    main()
