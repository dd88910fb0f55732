"""One Spark session a process for all its tests, on a scratch lake of its own; dbt runs on it in process."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from attest.delivery import new_delivery
from attest.land import land
from attest.session import isolated, start
from dbt.cli.main import dbtRunner
from engine import ROOT, contract
from histories import run_seed
from pyspark.sql import SparkSession


def pytest_configure() -> None:
    run_seed()


def pytest_report_header() -> str:
    return f"ATTEST_SEED={run_seed()}"


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("attest")


@pytest.fixture(scope="session")
def is_long(request: pytest.FixtureRequest) -> bool:
    """Whether a long proof was asked for: then Spark and Java compile as they do for users."""
    return any(item.get_closest_marker("prove") for item in request.session.items)


@pytest.fixture(scope="session")
def lake(scratch: Path, is_long: bool) -> Path:
    """A lake that no user has: every dbt command and every session of the tests works here."""
    os.environ["ATTEST_LAKE"] = str(scratch / "lake")
    os.environ["ATTEST_TARGET"] = "local"
    # Two processes share the machine: one thread each to collect garbage, room for the code of a long run, and only
    # what is very hot is compiled again to run faster, for at first Java spends more on compiling than on the tests.
    hot = {"InvocationThreshold": 25_000, "MinInvocationThreshold": 3_000}
    hot |= {"CompileThreshold": 75_000, "BackEdgeThreshold": 200_000}
    small = ["-XX:ReservedCodeCacheSize=512m", "-XX:+UseSerialGC"]
    small += [f"-XX:Tier4{name}={value}" for name, value in hot.items()]
    if not is_long:
        os.environ["ATTEST_JAVA_OPTIONS"] = " ".join(small)
    return scratch / "lake"


TINY = {
    # A query over a handful of rows is done before Spark has written and compiled Java for it. The cluster's
    # test and the benchmarks run as users do, with all of it on.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",  # the tasks of a VACUUM, else ten thousand
    # Nor is there anything to adapt to, nor a catalog to keep.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
}


@pytest.fixture(scope="session")
def root_session(lake: Path, is_long: bool) -> SparkSession:
    settings = {"spark.master": "local[2]", "spark.driver.memory": "3g", "attest.lake": str(lake)}
    return start(settings if is_long else settings | TINY)


@pytest.fixture
def spark(root_session: SparkSession) -> SparkSession:
    """An isolated session a test, so that temporary views never meet."""
    return isolated(root_session)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, so that a test can edit it."""
    copy = tmp_path_factory.mktemp("project")
    for folder in ("models", "macros", "seeds", "tests/data", "examples"):
        shutil.copytree(ROOT / folder, copy / folder)
    shutil.copyfile(ROOT / "dbt_project.yml", copy / "dbt_project.yml")
    shutil.copyfile(ROOT / "profiles.yml.example", copy / "profiles.yml")
    return copy


def failures(result: Any) -> str:
    failed = [one for one in getattr(result, "results", []) if one.status not in ("success", "pass", "no-op")]
    return "\n".join(f"{one.node.name}: {one.status}: {one.message}" for one in failed)


Dbt = Callable[..., Any]


@pytest.fixture(scope="session")
def dbt(root_session: SparkSession, scratch: Path) -> Dbt:
    """Run dbt on the tests' session: `dbt("build", schema="one")`. Gives dbt's result; fails if dbt does."""
    profiles = scratch / "profiles"
    profiles.mkdir()
    shutil.copyfile(ROOT / "profiles.yml.example", profiles / "profiles.yml")

    def run(*arguments: str, schema: str, project: Path = ROOT, fails: bool = False) -> Any:
        os.environ["ATTEST_SCHEMA"] = schema
        places = ["--project-dir", project, "--profiles-dir", profiles, "--log-path", scratch / "logs"]
        places += ["--target-path", scratch / "target" / schema]
        told = [] if arguments[0] == "docs" else ["--no-write-json"]  # the manifest, at every command, for nobody
        done = dbtRunner().invoke(["--quiet", *told, *arguments, *map(str, places)])
        if not fails:
            assert done.exception is None, done.exception
            assert done.success, failures(done.result)
        return done

    return run


@pytest.fixture(scope="session")
def lander(root_session: SparkSession, scratch: Path) -> Callable[..., None]:
    """Land events of the worked shape: `lander(events, schema="one")`."""
    count = 0

    def run(events: Iterable[dict[str, Any]], *, schema: str, inheritance: str = "as_known") -> None:
        nonlocal count
        count += 1
        file = scratch / f"landed_{count}.jsonl"
        file.write_text("".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events), encoding="utf-8")
        feed = contract(inheritance=inheritance)
        table = f"{schema}.landing_{feed.name}"
        landing = land(isolated(root_session), feed=feed, table=table, paths=[file], delivery=new_delivery())
        assert not landing.quarantined, landing.first_quarantined

    return run
