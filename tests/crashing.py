"""A process of its own that lands news and builds, and dies where it is told to: `tests/test_crash.py` runs it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from attest import write
from attest.commits import newest
from attest.delivery import new_delivery
from attest.land import land
from attest.logs import PROPERTIES
from attest.news import Note
from attest.session import isolated, start
from attest.write import Table
from conftest import TINY
from dbt.cli.main import dbtRunner
from engine import ROOT, contract
from pyspark.sql import SparkSession

BUILT = ("customer_assertions", "customer_sightings", "customer_snapshots", "customer_absences", "customer_states")
LANDING = "landing_worked"
IN_FLIGHT = "while data files are written"


def run(schema: str, scratch: Path) -> dict[str, str]:
    """Build Bronze; what each table's node said."""
    os.environ["ATTEST_SCHEMA"] = schema
    untested = ["--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"]
    places = ["--project-dir", ROOT, "--profiles-dir", scratch, "--target-path", scratch / "target" / schema]
    places += ["--log-path", scratch / "logs"]
    done = dbtRunner().invoke(["--quiet", "build", "--select", "+customer_states", *untested, *map(str, places)])
    assert done.success, [one.message for one in getattr(done.result, "results", [])] or done.exception
    return {one.node.name: one.message for one in done.result.results}


def rows(spark: SparkSession, schema: str) -> dict[str, list[str]]:
    return {table: sorted(str(row) for row in spark.table(f"{schema}.{table}").collect()) for table in BUILT}


def versions(spark: SparkSession, schema: str) -> dict[str, int]:
    return {table: newest(spark, f"{schema}.{table}")[0] for table in (*BUILT, "runs")}


def die_in_flight(scratch: Path) -> None:
    """Kill this process as soon as a data file of the states appears: Delta is writing, and has not committed."""
    folder = scratch / "lake" / "warehouse" / "killed.db" / "customer_states"
    before = set(folder.glob("*.parquet"))

    def watch() -> None:
        while set(folder.glob("*.parquet")) <= before:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Finish what the last process left; then, with news, land and build it, and die there; else compare."""
    scratch, news = Path(sys.argv[1]), sys.argv[2]
    point = os.environ.pop("ATTEST_KILL_AT", "")
    settings = {"spark.master": "local[2]", "spark.driver.memory": "1g", "attest.lake": str(scratch / "lake")}
    spark = isolated(start(settings | TINY | {"spark.sql.catalogImplementation": "hive"}))
    said: dict[str, Any] = {}
    if spark.catalog.databaseExists("killed"):
        said["finished"] = run("killed", scratch)
    if news != "none":
        spark.sql("create schema if not exists killed")
        feed = contract()
        landing = land(
            spark, feed=feed, table=f"killed.{LANDING}", paths=[Path(news)], delivery=new_delivery(run_id=news)
        )
        assert not landing.quarantined, landing.first_quarantined
        (scratch / "said.json").write_text(json.dumps(said))
        if point == IN_FLIGHT:
            die_in_flight(scratch)
        else:
            os.environ["ATTEST_KILL_AT"] = point
        run("killed", scratch)
        sys.exit(f"nothing killed the build at {point!r}")
    before = versions(spark, "killed")
    said |= {"replayed": run("killed", scratch), "before": before, "after": versions(spark, "killed")}
    spark.sql("create schema whole")
    table = Table(f"whole.{LANDING}", properties=PROPERTIES)
    write.create(spark, table, spark.table(f"killed.{LANDING}"), note=Note("copied"))
    run("whole", scratch)
    said |= {"killed": rows(spark, "killed"), "whole": rows(spark, "whole")}
    (scratch / "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main()
