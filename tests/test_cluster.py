"""The slice on a Spark standalone cluster: a master and a worker on loopback, the same tables as on one machine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from attest.land import land, new_delivery
from cases import CUSTOMER, UNTESTED
from engine import ROOT, contract
from pyspark.sql import SparkSession

SPARK_HOME = Path(pyspark.__file__).parent
DEPLOY = "org.apache.spark.deploy"
PATIENCE = 90
OF_A_LANDING = ("landing_id", "ingest_ts", "known_from", "recorded_at")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def launch(log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [str(SPARK_HOME / "bin" / "spark-class"), *arguments]
    return subprocess.Popen(command, env=environment, stdout=log.open("wb"), stderr=subprocess.STDOUT)


def wait_for(log: Path, words: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not re.search(words, log.read_text(errors="replace")):
        assert time.monotonic() < deadline, f"{words!r} never came:\n{log.read_text(errors='replace')[-2000:]}"
        time.sleep(0.2)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The address of a cluster of one worker; both processes are ended by their own pids."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    logs = tmp_path / "master.log", tmp_path / "worker.log"
    local = ["--host", "127.0.0.1", "--webui-port", "0"]
    started = [launch(logs[0], f"{DEPLOY}.master.Master", *local, "--port", str(port))]
    try:
        wait_for(logs[0], "I have been elected leader")
        worker = [f"{DEPLOY}.worker.Worker", address, *local, "--cores", "2", "--memory", "1g"]
        started.append(launch(logs[1], *worker, "--work-dir", str(tmp_path / "work")))
        wait_for(logs[1], "Successfully registered with master")
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=PATIENCE)


def test_a_build_on_a_cluster_gives_the_tables_of_a_local_build(
    cluster: str, spark: SparkSession, dbt: Callable[..., Any], tmp_path: Path
) -> None:
    """`make build`'s own steps for one entity, Python included; all that a second landing repeats is compared."""
    home = tmp_path / "cluster_lake"
    environment = os.environ | {
        "ATTEST_TARGET": "cluster",
        "ATTEST_MASTER": cluster,
        "ATTEST_LAKE": str(home),
        "ATTEST_SCHEMA": "attest",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "DBT_TARGET_PATH": str(tmp_path / "target"),
        "DBT_LOG_PATH": str(tmp_path / "logs"),
    }
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py", *CUSTOMER, *UNTESTED],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(r"^  status +Active +CORE", done.stdout, re.MULTILINE)
    assert re.search(r"Registered app|Launching executor", (tmp_path / "master.log").read_text()), "it ran elsewhere"

    events = Path("examples/worked/12_4_8.jsonl")
    land(spark, feed=contract(), table="twin.landing_worked", paths=[events], delivery=new_delivery(run_id="demo"))
    dbt("build", *CUSTOMER, *UNTESTED, schema="twin")
    for table in ("customer_states", "customer_belief"):
        there = spark.read.format("delta").load(str(home / "warehouse" / "attest.db" / table)).drop(*OF_A_LANDING)
        here = spark.table(f"twin.{table}").drop(*OF_A_LANDING)
        assert sorted(map(str, there.collect())) == sorted(map(str, here.collect()))
        assert here.count() > 0
