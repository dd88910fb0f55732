"""The models of the strategies' page, built by dbt in a project of their own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine import ROOT
from pyspark.sql import SparkSession
from test_docs import commands, fences

PAGE = "docs/strategies.md"
SCHEMA = "small"
MODELS = ("countries", "offices", "office_versions")
FIRST = [
    (1, "rome", "IT", 2, "open", "1999-01-01"), (2, "oslo", "NO", 3, "open", "2001-01-01"),
    (3, "bonn", "DE", 4, "open", "2002-01-01"),
]  # fmt: skip
SECOND = [
    (1, "rome", "IT", 2, "open", "1999-01-01"), (2, "bergen", "NO", 3, "open", "2001-01-01"),
    (4, "kyiv", "UA", 1, "closed", "2003-01-01"),
]  # fmt: skip
Dbt = Callable[..., Any]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the macros of this one, and what the page says to write."""
    project = tmp_path_factory.mktemp("small")
    shutil.copytree(ROOT / "macros", project / "macros")
    (project / "tests/generic").mkdir(parents=True)
    for test in ("counts_add_up", "intervals_do_not_overlap"):
        shutil.copy(ROOT / f"tests/data/generic/{test}.sql", project / "tests/generic")
    declared = {"name": "attest", "version": "0.1.0", "config-version": 2, "profile": "attest"}
    declared |= {"test-paths": ["tests"], "on-run-end": "{{ record_runs(results) }}"}
    (project / "dbt_project.yml").write_text(json.dumps(declared))
    models = project / "models"
    models.mkdir()
    for block, name in zip(fences(PAGE, "sql"), MODELS, strict=False):
        assert block.startswith(f"-- models/{name}.sql:")
        (models / f"{name}.sql").write_text(block)
    (models / "storeys.sql").write_text(
        "{{ config(materialized='reference') }}\nselect label, storeys from {{ ref('offices') }} where not is_deleted\n"
    )
    tests: dict[str, list[Any]] = {name: ["counts_add_up"] for name in MODELS}
    windows = {"key": "primary_key"}
    tests["office_versions"].append({"intervals_do_not_overlap": {"arguments": windows}})
    written = [{"name": name, "description": "A *slice*.", "data_tests": asked} for name, asked in tests.items()]
    source = {"name": "extracts", "tables": [{"name": "countries"}, {"name": "offices"}]}
    (models / "models.yml").write_text(json.dumps({"models": written, "sources": [source]}))
    return project


def extract(spark: SparkSession, rows: list[tuple[Any, ...]], *more: str) -> None:
    told = "OfficeNo int, City string, Country string, Floors int, Status string, OpenedOn string"
    spark.createDataFrame(rows, told).selectExpr(
        "* except (OpenedOn)", "date(OpenedOn) as OpenedOn", "current_timestamp() as ExportedAt", *more
    ).write.format("delta").mode("overwrite").option("overwriteSchema", "true").saveAsTable("extracts.offices")


def last_run(spark: SparkSession) -> dict[str, Any]:
    runs = spark.table(f"{SCHEMA}.runs").orderBy("recorded_at").collect()
    return {row.node: row for row in runs if row.invocation_id == runs[-1].invocation_id}


def test_the_pages_models_take_their_slices_in_and_the_ledger_has_the_figures(
    spark: SparkSession, dbt: Dbt, small: Path
) -> None:
    spark.sql("create schema if not exists extracts")
    spark.sql("select 'NO' as code, 'Norway' as name").write.format("delta").saveAsTable("extracts.countries")
    extract(spark, FIRST)
    dbt("build", schema=SCHEMA, project=small)
    first = last_run(spark)
    assert first["countries"].counts == {"records": 1}
    assert (first["offices"].counts["inserted"], first["office_versions"].counts["inserted"]) == (3, 2)
    assert spark.catalog.listColumns(f"{SCHEMA}.offices")[0].name == "office_no"

    extract(spark, FIRST)
    dbt("run", "--select", "offices", "storeys", schema=SCHEMA, project=small)
    seen_again = last_run(spark)
    assert (seen_again["offices"].counts["touched"], seen_again["storeys"].message) == (3, "no news")

    extract(spark, SECOND, "if(OfficeNo = 2, '5003', null) as zip")
    dbt("build", schema=SCHEMA, project=small)
    second = last_run(spark)
    assert second["offices"].counts == {
        "records": 3, "inserted": 0, "updated": 2, "touched": 1, "deleted": 1, "inferred": 0,
    }  # fmt: skip
    assert second["office_versions"].counts == {
        "records": 2, "inserted": 1, "updated": 1, "unchanged": 0, "inferred": 1,
    }  # fmt: skip
    assert [row.primitive for row in (second["countries"], second["offices"], second["office_versions"])] == [
        "create", "replaceOn", "replaceOn",
    ]  # fmt: skip
    assert (
        second["offices"].warnings == second["office_versions"].warnings == ["SchemaDriftWarning: zip is new (string)"]
    )
    assert second["countries"].warnings is None
    assert second["storeys"].message.startswith("create: ")
    now, then = fences(PAGE, "sql")[3:5]
    asked = now.replace("{{ ref('office_versions') }}", f"{SCHEMA}.office_versions")
    assert sorted(row.city for row in spark.sql(asked).collect()) == ["bergen", "kyiv"]
    assert spark.sql(then.replace("{{ ref('office_versions') }}", f"{SCHEMA}.office_versions")).isEmpty()
    [ledger] = [block for block in fences(PAGE, "sql") if "attest.runs" in block]
    assert spark.sql(ledger.replace("attest.runs", f"{SCHEMA}.runs")).count() == 7


def test_the_pages_command_is_refused_for_being_early_and_runs_where_it_is_meant(
    spark: SparkSession, dbt: Dbt, small: Path
) -> None:
    [[_, *words]] = commands(PAGE)
    done = dbt(*words, schema=SCHEMA, project=small, fails=True)
    said = done.result.results[0].message
    assert "ProcessingTimeError: " in said
    assert "the processing time 2026-05-05T12:00:00+00:00 is earlier than " in said
    assert "--vars '{meant: [office_versions]}'" in said
    words[-1] = words[-1].replace("}", ", meant: [office_versions]}")
    dbt(*words, schema=SCHEMA, project=small)
    assert last_run(spark)["office_versions"].counts["unchanged"] == 2


def test_a_test_finds_the_run_whose_parts_do_not_add_up(spark: SparkSession, dbt: Dbt, small: Path) -> None:
    spark.sql(
        f"update {SCHEMA}.runs set counts = map_concat(map_filter(counts, (name, n) -> name <> 'records'), "
        "map('records', 9L)) where node = 'office_versions' and counts['inferred'] = 1"
    )
    asked = ("test", "--select", "counts_add_up_offices_", "counts_add_up_office_versions_")
    done = dbt(*asked, schema=SCHEMA, project=small, fails=True)
    found = {one.node.name: one.status for one in done.result.results if one.node.resource_type == "test"}
    assert found == {"counts_add_up_offices_": "pass", "counts_add_up_office_versions_": "fail"}
