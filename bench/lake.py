"""What the benchmarks share: a scratch lake, landed rows, a build through dbt, and the report."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attest.session import isolated, start
from attest.write import NOTE
from dbt.cli.main import dbtRunner
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
FIRST_DAY = 1_767_225_600  # 2026-01-01
# All that Bronze keeps of the customer, from evidence to states.
BRONZE = (
    "customer_assertions",
    "customer_sightings",
    "customer_key_changes",
    "customer_snapshots",
    "customer_absences",
    "customer_states",
)


@contextmanager
def seconds() -> Iterator[list[float]]:
    """How long the block took, in the list when it is left."""
    took: list[float] = []
    began = time.monotonic()
    yield took
    took.append(time.monotonic() - began)


def scratch_lake(scratch: Path) -> SparkSession:
    """A session as users have it, on a lake of its own under `scratch`, for dbt too."""
    shutil.copyfile(ROOT / "profiles.yml.example", scratch / "profiles.yml")
    os.environ |= {"ATTEST_LAKE": str(scratch / "lake"), "ATTEST_TARGET": "local"}
    lake = {"spark.master": "local[2]", "spark.driver.memory": "6g", "attest.lake": str(scratch / "lake")}
    return isolated(start(lake))


def landed_rows(rows: DataFrame, *, fields: Column, said: Column, arrived: Column) -> DataFrame:
    """Records as `attest land` keeps them; `rows` has their number as `id`."""
    empty = {"scope": "string", "released_at": "timestamp", "released_from": "string", "expires_at": "timestamp"}
    empty |= {"remark": "string", "moved_from": "string", "quarantine_reason": "string", "quarantine_detail": "string"}
    same = {"landing_id": "L1", "feed": "worked", "source_type": "file", "source_path": "bench/events.jsonl"}
    same |= {"source_file": "events.jsonl", "ingest_run_id": "run", "inheritance": "as_known", "status": "accepted"}
    same |= {"verdict": "DEFENSIBLE", "clock": "source"}
    columns = {name: F.lit(value) for name, value in same.items()}
    columns |= {name: F.lit(None).cast(kind) for name, kind in empty.items()}
    columns |= {"source_record": F.col("id"), "ingest_ts": arrived, "recorded_at": F.current_timestamp()}
    columns |= {"record": F.to_json(fields), "fields": fields, "source_event_ts": said}
    columns |= {"source_event_finer": F.lit(0).cast("bigint")}
    columns |= {"source_sequence": F.lit(None).cast("array<decimal(38,10)>")}
    return rows.select(*[column.alias(name) for name, column in columns.items()])


def moved_without_logic(rows: DataFrame, table: str, *, order: str) -> float:
    """The floor: the rows shuffled by key, sorted and written to Delta."""
    rows.sparkSession.conf.unset(NOTE)
    arranged = rows.repartition("bk").sortWithinPartitions("bk", order)
    with seconds() as took:
        kept = arranged.writeTo(table).using("delta").tableProperty("delta.dataSkippingNumIndexedCols", "1")
        kept.createOrReplace()
    return took[0]


def build(*arguments: str, scratch: Path, root: Path = ROOT) -> dict[str, Any]:
    """A `dbt build` without its tests; each node's result by name. The benchmark ends where dbt fails."""
    places = ["--project-dir", root, "--profiles-dir", scratch, "--target-path", scratch / "target"]
    places += ["--log-path", scratch / "logs"]
    untested = ["--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"]
    done = dbtRunner().invoke(["--quiet", "build", "--threads", "1", *arguments, *untested, *map(str, places)])
    results: list[Any] = getattr(done.result, "results", [])
    if not done.success:
        sys.exit(f"bench: dbt failed: {done.exception or [one.message for one in results if one.status == 'error']}")
    return {one.node.name: one for one in results}


def keep(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """What was measured, with what was asked for, when and on what machine; `make bench-report` makes a page of it."""
    settings = dict.fromkeys(re.findall(r"\b([A-Z]+)=", sys.modules["__main__"].__doc__ or ""))
    asked = " ".join(f'{one}="{os.environ[one]}"' for one in settings if one in os.environ)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    on = f"{os.cpu_count()} cores, {memory:.0f} GiB, Spark {version('pyspark')}, Delta {version('delta-spark')}"
    told = {"asked": asked, "on": on, "at": f"{datetime.now(UTC):%Y-%m-%d}", "rows": rows}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
