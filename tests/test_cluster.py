"""The slice on a Spark standalone cluster that loses a worker while it builds: the same tables as on one machine."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
import pytest
from attest.delivery import new_delivery
from attest.land import land
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
    return subprocess.Popen(
        command, env=environment, stdout=log.open("wb"), stderr=subprocess.STDOUT, start_new_session=True
    )


def wait_for(log: Path, words: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not re.search(words, log.read_text(errors="replace")):
        assert time.monotonic() < deadline, f"{words!r} never came:\n{log.read_text(errors='replace')[-2000:]}"
        time.sleep(0.2)


@dataclass(frozen=True)
class Cluster:
    address: str
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A master and two workers, each with its executors in a process group of its own, by which they are ended."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    local = ["--host", "127.0.0.1", "--webui-port", "0"]
    started = [launch(tmp_path / "master.log", f"{DEPLOY}.master.Master", *local, "--port", str(port))]
    try:
        wait_for(tmp_path / "master.log", "I have been elected leader")
        for number in range(2):
            log = tmp_path / f"worker_{number}.log"
            worker = [f"{DEPLOY}.worker.Worker", address, *local, "--cores", "1", "--memory", "1g"]
            started.append(launch(log, *worker, "--work-dir", str(tmp_path / f"work_{number}")))
            wait_for(log, "Successfully registered with master")
        yield Cluster(address, started[1:])
    finally:
        for process in reversed(started):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=PATIENCE)


def kill_when(there: Path, victim: subprocess.Popen[bytes], build: subprocess.Popen[str]) -> None:
    """End a worker and its executor at once, as soon as a file is there and while the build goes on."""
    while not there.exists():
        assert build.poll() is None, f"the build ended before {there.name} was there"
        time.sleep(0.05)
    os.killpg(victim.pid, signal.SIGKILL)
    assert build.poll() is None, "the build had ended"


@pytest.mark.prove
def test_a_build_on_a_cluster_that_loses_a_worker_gives_the_tables_of_a_local_build(
    cluster: Cluster, spark: SparkSession, dbt: Callable[..., Any], tmp_path: Path
) -> None:
    """`make build`'s own steps for one entity, Python included; all that a second landing repeats is compared."""
    home = tmp_path / "cluster_lake"
    environment = os.environ | {
        "ATTEST_TARGET": "cluster",
        "ATTEST_MASTER": cluster.address,
        "ATTEST_LAKE": str(home),
        "ATTEST_SCHEMA": "attest",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "DBT_TARGET_PATH": str(tmp_path / "target"),
        "DBT_LOG_PATH": str(tmp_path / "logs"),
    }
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), *CUSTOMER, *UNTESTED]
    out = tmp_path / "said.txt"
    with out.open("w") as said:
        demo = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=said, stderr=said, text=True)
        first_commit = home / "warehouse/attest.db/customer_assertions/_delta_log/00000000000000000000.json"
        kill_when(first_commit, cluster.workers[0], demo)
        assert demo.wait() == 0, out.read_text()[-3000:]
    assert re.search(r"^  status +Active +CORE", out.read_text(), re.MULTILINE)
    assert re.search(r"Registered app|Launching executor", (tmp_path / "master.log").read_text()), "it ran elsewhere"

    events = Path("examples/worked/12_4_8.jsonl")
    land(spark, feed=contract(), table="twin.landing_worked", paths=[events], delivery=new_delivery(run_id="demo"))
    dbt("build", *CUSTOMER, *UNTESTED, schema="twin")
    for table in ("customer_states", "customer_belief"):
        here = spark.table(f"twin.{table}").drop(*OF_A_LANDING)
        there = spark.read.format("delta").load(str(home / "warehouse" / "attest.db" / table)).drop(*OF_A_LANDING)
        there = there.join(here.select("bk").distinct(), on="bk", how="left_semi").select(here.columns)
        assert sorted(map(str, there.collect())) == sorted(map(str, here.collect()))
        assert here.count() > 0
