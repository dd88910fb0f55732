"""The dbt plugin, through dbt itself, on a project of a few models that would break without it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attest.session import JAVA_OPTIONS, THROUGHPUT
from engine import ROOT
from pyspark.sql import SparkSession

PROJECT = f"""
name: attest
version: 0.1.0
config-version: 2
profile: attest
macro-paths: ['{ROOT}/macros']
flags: {{send_anonymous_usage_stats: false}}
vars: {{entities: {{}}}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    def make(models: dict[str, str]) -> Path:
        (tmp_path / "models").mkdir()
        (tmp_path / "seeds").mkdir()
        (tmp_path / "dbt_project.yml").write_text(PROJECT)
        for name, text in models.items():
            (tmp_path / name).write_text(text)
        return tmp_path

    return make


def test_nodes_on_two_threads_never_see_each_others_views_and_settings(
    spark: SparkSession, dbt: Callable[..., Any], project: Callable[..., Path]
) -> None:
    """Each model makes a temporary view of the same name and its own setting, then reads both back slowly."""
    model = """
def model(dbt, session):
    dbt.config(materialized="replace_by_key", key="bk")
    session.range(1).selectExpr("{n} as n").createOrReplaceTempView("collides")
    session.conf.set("spark.sql.shuffle.partitions", "{n}")
    import time
    time.sleep(0.3)
    seen = session.conf.get("spark.sql.shuffle.partitions")
    return session.sql(f"select 'k' as bk, n, '{seen}' as s from collides")
"""
    models = {f"models/m{n}.py": model.replace("{n}", str(n)) for n in range(1, 7)}
    dbt("run", "--threads", "4", schema="threads", project=project(models))
    found = {n: tuple(spark.table(f"threads.m{n}").first() or ()) for n in range(1, 7)}
    assert found == {n: ("k", n, str(n)) for n in range(1, 7)}


def test_a_view_is_made_again_only_if_it_would_be_another(
    spark: SparkSession, dbt: Callable[..., Any], project: Callable[..., Path]
) -> None:
    """A property that only this test gives the view is gone once it is made again."""
    held = "{{ config(materialized='replace_by_key', key='bk') }} select 'k' as bk"
    root = project({"models/held.sql": held, "models/seen.sql": "select * from {{ ref('held') }}"})
    again = {"models/seen_again.sql": "select *, 1 as one from {{ ref('seen') }}"}
    (root / "models/seen_again.sql").write_text(again["models/seen_again.sql"])
    views = ("views.seen", "views.seen_again")

    def made_again(*arguments: str) -> list[str]:
        for view in views:
            spark.sql(f"alter view {view} set tblproperties ('mine' = 'yes')")
        dbt("run", *arguments, schema="views", project=root)
        return [
            view
            for view in views
            if "mine" not in {row.key for row in spark.sql(f"show tblproperties {view}").collect()}
        ]

    dbt("run", schema="views", project=root)
    assert made_again() == []
    (root / "models/held.sql").write_text(held + ", 2 as other")
    assert made_again() == [*views], "what a view reads has one more column"
    assert spark.table("views.seen_again").columns == ["bk", "other", "one"]
    assert made_again() == []
    spark.sql("alter view views.seen as select 'somebody else' as bk")
    assert made_again()[0] == "views.seen"
    assert spark.table("views.seen").columns == ["bk", "other"]
    (root / "models/seen.sql").write_text("select bk from {{ ref('held') }}")
    assert made_again() == [*views]
    assert made_again("--full-refresh") == [*views]


def test_a_bad_cast_is_an_error_and_not_a_null(dbt: Callable[..., Any], project: Callable[..., Path]) -> None:
    """ANSI is on although dbt-spark switches it off."""
    models = {"models/bad.sql": "{{ config(materialized='table') }} select cast('x' as int) as n"}
    done = dbt("run", schema="ansi", project=project(models), fails=True)
    assert not done.success
    assert "CAST_INVALID_INPUT" in done.result.results[0].message


def test_an_error_in_a_python_model_shows_the_models_line(
    dbt: Callable[..., Any], project: Callable[..., Path]
) -> None:
    model = 'def model(dbt, session):\n    dbt.config(materialized="replace_by_key", key="bk")\n    return 1 / 0\n'
    done = dbt("run", schema="lines", project=project({"models/broken.py": model}), fails=True)
    assert not done.success
    assert "division by zero" in str(done.result.results[0].message)


def test_a_seed_takes_empty_cells_quotes_and_jinja_as_data(
    spark: SparkSession, dbt: Callable[..., Any], project: Callable[..., Path]
) -> None:
    seed = 'a,n,t\n,1,\n"it\'s {{ this }} -- \\ ""x""",,2026-01-01\n'
    config = "seeds: [{name: s, config: {column_types: {a: string, n: int, t: timestamp}}}]"
    made = project({"seeds/s.csv": seed, "seeds/s.yml": config})
    dbt("seed", schema="seeds", project=made)
    rows = [tuple(row) for row in spark.table("seeds.s").orderBy("n").collect()]
    assert rows[0][0] == 'it\'s {{ this }} -- \\ "x"'
    assert rows[1] == (None, 1, None)
    before = spark.sql("describe history seeds.s").count()
    dbt("seed", schema="seeds", project=made)
    assert spark.sql("describe history seeds.s").count() == before, "an unchanged seed must not be written again"


def test_offline_needs_no_java(project: Callable[..., Path]) -> None:
    """`dbt compile` for the linter: no session is started, so a machine without Java can lint."""
    made = project({"models/one.sql": "select 1 as n"})
    (made / "profiles.yml").write_text((ROOT / "profiles.yml.example").read_text())
    environment = os.environ | {"ATTEST_OFFLINE": "1", "JAVA_HOME": "/nowhere", "PATH": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", "compile", "--no-version-check", "--project-dir", made],
        cwd=made,
        env=environment | {"DBT_PROFILES_DIR": str(made)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_lake_in_use_is_said_plainly_and_soon(lake: Path, root_session: SparkSession) -> None:
    """The embedded catalog admits one process: the second waits a little, then names the first."""
    code = f"from attest.session import start\nstart({{'spark.master': 'local[1]', 'attest.lake': {str(lake)!r}}})\n"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"ATTEST_LOCK_WAIT_SECONDS": "0.5"},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert done.returncode != 0
    assert f"is in use by process {os.getpid()}" in done.stderr
    assert "0.5 s were waited" in done.stderr


def test_java_takes_the_classes_that_setup_kept(lake: Path, tmp_path: Path) -> None:
    """Java is silent about an archive that it cannot use, so it is asked where Spark's classes came from."""
    loaded = tmp_path / "loaded.txt"
    settings = {"spark.master": "local[1]", "attest.lake": str(tmp_path / "lake")}
    code = f"from attest.session import start; start({settings!r}).sql('select 1').collect()"
    options = {JAVA_OPTIONS: f"{os.environ.get(JAVA_OPTIONS, THROUGHPUT)} -Xlog:class+load:file={loaded}"}
    subprocess.run([sys.executable, "-c", code], env=os.environ | options, check=True)
    kept = [
        line for line in loaded.read_text().splitlines() if "org.apache.spark." in line and "shared objects" in line
    ]
    assert len(kept) > 1_000
