"""What landing costs: attest beside Spark's bare read-and-append of the same bytes, in turns.

`drop` many small files at once, `file` one large one, `stream` the large one's events in files of a batch each.
Bare takes each line as text into a Delta table and looks at nothing: no contract, no quarantine, no provenance but
its path. What attest landed is counted: every event accepted, none twice.

`debezium` has no contender: change events of ten to a key are landed and built up to what is believed, by steps, with
the most memory that this process and Spark's ever held. Every key's last state is compared with what was written.

    FILES=1000      small files of the drop, EACH=100 events in each
    EVENTS=100000   events of the large file and of the stream
    BATCHES=4       files that the stream comes in
    CHANGES=100000  Debezium events, ten a key
    ROUNDS=3        how often each takes its turn
    CASES="drop file stream debezium"
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from attest.contract import feeds_of
from attest.delivery import new_delivery
from attest.land import land
from attest.stream import Stream, follow
from attest.write import NOTE
from lake import BRONZE, ROOT, build, keep, scratch_lake, seconds
from pyspark.sql import SparkSession

FEEDS = feeds_of(ROOT)
FEED, CHANGES = FEEDS["worked"], FEEDS["core_customers"]
STATES = ("Active", "Restricted", "Closed")
SCHEMA = "bench_land"


def event(number: int) -> str:
    minute, day = number % 60, number // 60 % 28 + 1
    said = {
        "customer_id": f"C{number % 100_000}",
        "source_system": "CRM" if number % 2 else "CORE",
        "source_event_ts": f"2026-03-{day:02}T09:{minute:02}:00.{number % 1_000_000:06}Z",
        "source_sequence_id": number,
        "load_type": "PARTIAL",
        "name": f"Customer number {number}",
        "address": f"{number % 900} Market Street",
        "status": "Active" if number % 3 else "Restricted",
    }
    return json.dumps(said)


def change(number: int, keys: int) -> str:
    """A row of the core's table as Debezium tells it: read once by the snapshot, then updated nine times."""
    turn, key = divmod(number, keys)
    micros = 1_772_330_400_000_000 + number * 1_000
    row = {"customer_no": f"K{key}", "full_name": f"Customer {key}", "address": f"{turn} Market Street"}
    after = row | {"status": STATES[(turn + key) % len(STATES)], "since": 17_987}
    lsn = 26_000_000 + number * 8
    source = {"version": "3.6.0.Final", "connector": "postgresql", "name": "core", "ts_ms": micros // 1_000}
    source |= {"snapshot": "false" if turn else "true", "db": "core", "sequence": json.dumps([None, str(lsn)])}
    source |= {"ts_us": micros, "schema": "public", "table": "customers", "txId": 700 + number, "lsn": lsn}
    op, told_at = "u" if turn else "r", micros // 1_000
    value = {"before": None, "after": after, "source": source, "transaction": None, "op": op, "ts_ms": told_at}
    return json.dumps({"topic": "core.public.customers", "key": {"customer_no": f"K{key}"}, "value": value})


def write_files(folder: Path, files: int, each: int, told: Callable[[int], str] = event) -> None:
    folder.mkdir(parents=True)
    for file in range(files):
        lines = (f"{told(number)}\n" for number in range(file * each, (file + 1) * each))
        (folder / f"{file:06}.jsonl").write_text("".join(lines), encoding="utf-8")


class Contest:
    """Two ways to land the same files, each into a table of its own at every turn."""

    def __init__(self, spark: SparkSession, scratch: Path) -> None:
        self.spark, self.scratch, self.turn = spark, scratch, 0

    def table(self, name: str) -> str:
        self.turn += 1
        return f"{SCHEMA}.{name}_{self.turn}"

    def attest_files(self, folder: Path) -> str:
        table = self.table("landing_worked")
        land(self.spark, feed=FEED, table=table, paths=[folder], delivery=new_delivery())
        return table

    def bare_files(self, folder: Path) -> str:
        table = self.table("bare")
        rows = self.spark.read.text(str(folder)).selectExpr("value", "_metadata.file_path as path")
        rows.write.format("delta").mode("append").saveAsTable(table)
        return table

    def attest_stream(self, folder: Path) -> str:
        table = self.table("landing_worked")
        checkpoint = str(self.scratch / "checkpoints" / table)
        one_each = {"maxFilesPerTrigger": "1"}
        stream = Stream(FEED, table, checkpoint, path=str(folder), options=one_each)
        follow(self.spark, stream, after=lambda _: None)
        return table

    def bare_stream(self, folder: Path) -> str:
        table = self.table("bare")
        rows = self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder))
        writer = rows.writeStream.option("checkpointLocation", str(self.scratch / "checkpoints" / table))
        writer.trigger(availableNow=True).toTable(table, format="delta").awaitTermination()
        return table


def counted(spark: SparkSession, table: str) -> int:
    rows = spark.table(table)
    if "status" not in rows.columns:
        return rows.count()
    return rows.where("status = 'accepted'").select("source_path", "source_record").distinct().count()


def measured(spark: SparkSession, case: str, events: int, rounds: int, ways: dict[str, Callable[[], str]]) -> list[Any]:
    took: dict[str, list[float]] = {name: [] for name in ways}
    correct = dict.fromkeys(ways, True)
    for turn in range(rounds + 1):
        for name, way in ways.items():
            spark.conf.unset(NOTE)
            with seconds() as spent:
                table = way()
            if turn:  # the first turn warms both up
                took[name] += spent
            correct[name] &= counted(spark, table) == events
            spark.sql(f"drop table {table}")
    ours = statistics.median(took["attest"])
    rows = []
    for name, spent in took.items():
        middle = statistics.median(spent)
        rows.append(
            {
                "case": case, "contender": name, "seconds": round(middle, 3), "events": events,
                "events_per_second": round(events / middle), "ratio": round(middle / ours, 3), "correct": correct[name],
            }
        )  # fmt: skip
        spread = f"{min(spent):.2f} to {max(spent):.2f}"
        print(
            f"{case:20} {name:8} {middle:7.2f} s ({spread})  {events / middle:10,.0f} events/s  "
            f"{middle / events * 1e6:6.1f} µs/event  {'' if correct[name] else 'WRONG'}",
            flush=True,
        )
    print(f"{case:20} attest lands at {statistics.median(took['bare']) / ours:.2f} of bare's speed; the goal is 0.50")
    return rows


def peak_gib(spark: SparkSession) -> float:
    """The most memory that this process and Spark's held at any time."""
    spark_process = spark._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
    peaks = (Path(f"/proc/{one}/status").read_text() for one in ("self", spark_process))
    return round(sum(int(text.split("VmHWM:")[1].split()[0]) for text in peaks) / 2**20, 1)


def to_belief(spark: SparkSession, scratch: Path, changes: int) -> list[Any]:
    """Change events of a table, landed and built until they are believed; the seconds of each step."""
    keys, folder = changes // 10, scratch / "changes"
    write_files(folder, 10, keys, told=partial(change, keys=keys))
    schema = f"{SCHEMA}_changes"
    os.environ["ATTEST_SCHEMA"] = schema
    spark.sql(f"create schema {schema}")
    with seconds() as landing:
        table = f"{schema}.landing_{CHANGES.name}"
        land(spark, feed=CHANGES, table=table, paths=[folder], delivery=new_delivery(), say=print)
    nodes = build("--select", "+customer_belief", scratch=scratch)
    bronze = sum(nodes[one].execution_time for one in BRONZE)
    believed = spark.table(f"{schema}.customer_belief").where("effective_to is null").select("bk", "address", "status")
    expected = spark.range(keys).selectExpr(
        "concat('K', id) as bk",
        "'9 Market Street' as address",
        f"element_at(array{STATES}, cast((9 + id) % {len(STATES)} as int) + 1) as status",
    )
    is_right = believed.count() == keys and believed.exceptAll(expected).isEmpty()
    peak = peak_gib(spark)
    steps = {"land": landing[0], "bronze": bronze, "silver": nodes["customer_belief"].execution_time}
    rows = [
        {"case": f"debezium {changes}", "contender": step, "seconds": round(spent, 1), "correct": is_right}
        | {"events_per_second": round(changes / spent), "peak_gib": peak}
        for step, spent in steps.items()
    ]
    for row in rows:
        print(
            f"{row['case']:20} {row['contender']:8} {row['seconds']:7.1f} s  {row['events_per_second']:10,} events/s  "
            f"peak {peak} GiB  {'' if is_right else 'WRONG'}",
            flush=True,
        )
    shutil.rmtree(folder)
    return rows


def cases(spark: SparkSession, scratch: Path) -> Iterator[list[Any]]:
    files, each = int(os.environ.get("FILES", "1000")), int(os.environ.get("EACH", "100"))
    events, batches = int(os.environ.get("EVENTS", "100000")), int(os.environ.get("BATCHES", "4"))
    rounds = int(os.environ.get("ROUNDS", "3"))
    wanted = os.environ.get("CASES", "drop file stream debezium").split()
    contest = Contest(spark, scratch)
    shapes = {"drop": (files, each), "file": (1, events), "stream": (batches, events // batches)}
    for case in wanted:
        if case == "debezium":
            yield to_belief(spark, scratch, int(os.environ.get("CHANGES", "100000")))
            continue
        count, in_each = shapes[case]
        folder = scratch / case
        write_files(folder, count, in_each)
        ours, bare = (
            (contest.attest_stream, contest.bare_stream)
            if case == "stream"
            else (contest.attest_files, contest.bare_files)
        )
        ways: dict[str, Callable[[], str]] = {"attest": partial(ours, folder), "bare": partial(bare, folder)}
        yield measured(spark, f"{case} {count}x{in_each}", count * in_each, rounds, ways)
        shutil.rmtree(folder)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as place:
        scratch = Path(place)
        spark = scratch_lake(scratch)
        spark.sql(f"create schema if not exists {SCHEMA}")
        keep("land", [row for rows in cases(spark, scratch) for row in rows])
        spark.stop()


if __name__ == "__main__":
    main()
