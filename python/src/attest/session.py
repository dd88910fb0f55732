"""The Spark session: one builder for dbt, for the command line and for the tests.

A process has one Spark context and one embedded catalog. Whoever needs SQL gets a
session of its own from `isolated`, so that temporary views and `SET` never leak.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import IO, Any

from pyspark.sql import SparkSession

from attest import states
from attest.errors import LakeInUseError, MachineError
from attest.project import LAKE, Project

LOCK_WAIT = "ATTEST_LOCK_WAIT_SECONDS"
JAVA_OPTIONS = "ATTEST_JAVA_OPTIONS"
THROUGHPUT = "-XX:+UseParallelGC"  # a build is one long batch: pauses cost nothing
ARCHIVE = "classes.jsa"  # beside the jars: Spark's classes as Java had loaded them, made by `make setup`

# What every session of ours must have. dbt-spark switches ANSI off, so that a bad
# cast becomes null; here a bad cast is an error.
EVERYWHERE = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # A key or a reason that reads ${…} is text, not a setting of Spark's to be told.
    "spark.sql.variable.substitute": "false",
    # Why asks in one query what takes many steps; the analyzer takes one or two rounds for each.
    "spark.sql.analyzer.maxIterations": "1000",
    # How often in a row one row's key may change.
    "spark.sql.cteRecursionLevelLimit": "1000",
    "spark.sql.cteRecursionRowLimit": "-1",
    # Java does not compile a method above this: with forty attributes a hash took ten times as long in one method.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # pyspark 4.2.0 can hang on a plain Python function over a Delta scan with this on.
    "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false",
}

# What makes Spark a lake on this machine; left out where the platform brings its own.
OWN_SPARK = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.shuffle.partitions": "4",
    # Whole files of 128 MB leave one core idle while the other reads the last.
    "spark.sql.files.maxPartitionBytes": "32m",
    # A large build is cut finer, so that a piece can be sorted in memory; small ones are put together again.
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum": "48",
    # Where each part of the smaller side fits in memory, a join looks up instead of sorting both sides.
    "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "64MB",
    # A third of the bytes of Spark's default, and other readers understand it too.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.databricks.delta.snapshotPartitions": "2",
    # Code that Spark wrote for a step is found again at the next build, and with it what Java made of it.
    "spark.sql.codegen.cache.maxEntries": "2000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # The embedded catalog keeps no statistics that we read: fewer writes to it.
    "spark.sql.statistics.size.autoUpdate.enabled": "false",
    "spark.hadoop.hive.stats.autogather": "false",
    "spark.hadoop.datanucleus.autoStartMechanismMode": "ignored",
    "spark.hadoop.hive.metastore.schema.verification": "false",
}

_starting = threading.Lock()
_held_locks: dict[Path, IO[str]] = {}


def start(parameters: Mapping[str, Any]) -> SparkSession:
    """The process's root session, from a dbt profile's `server_side_parameters`.

    With `attest.lake` the catalog and the warehouse live in that folder and the jars
    in the environment are used; without it (Databricks) the platform's session is.
    """
    with _starting:
        running = SparkSession._instantiatedSession
        if running is not None and running.sparkContext._jsc is not None:
            return running
        return create(parameters)


def create(parameters: Mapping[str, Any]) -> SparkSession:
    settings = {key: str(value) for key, value in parameters.items() if key != LAKE} | EVERYWHERE
    if LAKE in parameters:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        lake = Path(str(parameters[LAKE])).resolve()
        require_java()
        hold(lake)
        settings = OWN_SPARK | lake_settings(lake) | delta_jars(settings) | settings
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True  # a page of JSON for each error that is raised anyway
    builder = SparkSession.builder.appName("attest")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def isolated(root: SparkSession) -> SparkSession:
    """A session with temporary views and settings of its own. Never stop it: that stops the context."""
    session = root.newSession()
    for key, value in EVERYWHERE.items():
        session.conf.set(key, value)
    states.register(session)
    return session


@contextmanager
def while_set(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """The session with these settings; after it, they are as they were."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, was in before.items():
            if was is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, was)


def open_lake(project: Project) -> SparkSession:
    """A session of its own on the lake that the project's profile names."""
    return isolated(start(project.parameters))


def lake_settings(lake: Path) -> dict[str, str]:
    """Absolute places, or Derby and Hive leave their folders wherever the command was typed."""
    catalog = lake / "catalog"
    log_settings = resources.files("attest") / "log4j2.properties"
    return {
        "spark.sql.warehouse.dir": str(lake / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={catalog};create=true",
        # Checking the catalog's own tables costs seconds at each start: only where they must be made.
        "spark.hadoop.datanucleus.schema.autoCreateAll": str(not catalog.exists()).lower(),
        "spark.driver.extraJavaOptions": (
            f'"-Dderby.stream.error.file={lake / "derby.log"}" "-Dlog4j2.configurationFile={log_settings}" '
            + java_options()
        ),
    }


def java_options() -> str:
    """Those asked for, and where loaded classes are found; Java passes over an archive that another Java made."""
    asked = os.environ.get(JAVA_OPTIONS, THROUGHPUT)
    archive = Path(sys.prefix) / "jars" / ARCHIVE
    return f'{asked} "-XX:SharedArchiveFile={archive}" -Xlog:cds*=off' if archive.is_file() else asked


def delta_jars(settings: Mapping[str, str]) -> dict[str, str]:
    """Those of the environment, unless the profile says where others are."""
    if "spark.jars" in settings or "spark.jars.packages" in settings:
        return {}
    jars = sorted((Path(sys.prefix) / "jars").glob("*.jar"))
    if not jars:
        raise MachineError(
            f"No Delta jars in {Path(sys.prefix) / 'jars'}. Call `make setup` in attest's own folder: it fetches them; "
            "or name others in the profile, as spark.jars."
        )
    return {"spark.jars": ",".join(str(jar) for jar in jars)}


def require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    if shutil.which(java) is None:
        raise MachineError(
            f"No Java at {java}. Spark needs Java 17 or 21 (Debian: apt-get install openjdk-17-jre-headless)."
        )


def hold(lake: Path) -> None:
    """Take the lake for this process, waiting a little; the lock goes when the process does.

    The embedded catalog admits one process. Without this the second one dies after 25
    seconds in a stack trace; with it, it waits a few seconds and says who is there.
    """
    if lake in _held_locks:
        return
    lake.mkdir(parents=True, exist_ok=True)
    lock = open(lake / "in_use_by", "a+")  # noqa: SIM115 (held until the process ends)
    patience = float(os.environ.get(LOCK_WAIT, "10"))
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= deadline:
                lock.seek(0)
                raise LakeInUseError(
                    f"The lake {lake} is in use by {lock.read().strip() or 'another process'}.\n"
                    f"Its embedded catalog admits one process at a time; {patience:g} s were waited. "
                    f"Wait for that process, or set {LOCK_WAIT} to wait longer."
                ) from None
            time.sleep(0.2)
    lock.truncate(0)
    lock.write(f"process {os.getpid()} ({' '.join([Path(sys.argv[0]).name, *sys.argv[1:]])[:120]})\n")
    lock.flush()
    _held_locks[lake] = lock
