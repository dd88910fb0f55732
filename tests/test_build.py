"""The slice through dbt, in the order in which a team would live it: build, nothing new, one late fact, a rule edit."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attest import cli
from attest.basis import find_basis, reproduce
from attest.commits import newest
from attest.errors import UnknownBasisError, UnknownKeyError
from attest.page import Moment, page, written
from attest.page import counted as counted_in
from attest.project import Project, read_project
from attest.why import answers, bare, explain, open_case, shown
from cases import CUSTOMER, UNTESTED, messages
from engine import ATTRIBUTES, ROOT
from pyspark.sql import Row, SparkSession

SCHEMA = "life"
TABLES = ("customer_assertions", "customer_states", "customer_rules", "customer_belief")
SEEDS = ("precedence", "attribute_groups", "feeds")
BUILD = ("build", *CUSTOMER, "--exclude-resource-type", "unit_test")
REBUILD = ("build", *CUSTOMER, *UNTESTED)
OTHERS = [
    {"customer_id": f"D{n}", "source_system": "CORE", "source_event_ts": "2026-03-01T00:00:00Z"}
    | {"ingest_ts": "2026-03-01T01:00:00Z", "name": f"Name {n}", "status": "Active", "address": "it's \\ 'odd'; --"}
    for n in range(20)
]
LATE = {
    **{"customer_id": "C123", "source_system": "CRM", "source_event_ts": "2026-02-27T09:00:00Z"},
    **{"ingest_ts": "2026-02-28T09:00:00Z", "precedence_rank": 1, "address": "1 Old Road"},
}


def worked() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / "examples/worked/12_4_8.jsonl").read_text().splitlines()]


def versions(spark: SparkSession) -> dict[str, int]:
    tables = [*TABLES, *SEEDS, "landing_worked", "landing_worked_repaired"]
    return {table: newest(spark, f"{SCHEMA}.{table}")[0] for table in tables}


def spared(scratch: Path) -> set[str]:
    """The data tests whose question the last command did not ask again."""
    asked = (scratch / "target" / SCHEMA / "run" / "attest").rglob("*.sql")
    return {file.stem for file in asked if "Passed before" in file.read_text()}


def content(spark: SparkSession, table: str) -> list[str]:
    return sorted(str(row) for row in spark.table(f"{SCHEMA}.{table}").collect())


@pytest.fixture(scope="module")
def built(project: Path, dbt: Callable[..., Any], lander: Callable[..., None]) -> None:
    lander([*worked(), *OTHERS], schema=SCHEMA)
    dbt(*BUILD, schema=SCHEMA, project=project)


def test_a_build_without_news_commits_nothing_but_the_ledger(
    spark: SparkSession, dbt: Callable[..., Any], built: None, project: Path, scratch: Path
) -> None:
    before, ledger = versions(spark), newest(spark, f"{SCHEMA}.runs")[0]
    tests = dbt(*BUILD, schema=SCHEMA, project=project).result.results
    assert versions(spark) == before
    assert newest(spark, f"{SCHEMA}.runs")[0] == ledger + 1
    assert spared(scratch) == {one.node.name for one in tests if one.node.resource_type == "test"}
    dbt("test", "--select", "precedence_is_sound", schema=SCHEMA, project=project)
    assert "precedence_is_sound" not in spared(scratch), "dbt test asks always"


def test_only_the_entity_with_news_is_rebuilt_though_its_arrival_is_the_oldest(
    spark: SparkSession, dbt: Callable[..., Any], lander: Callable[..., None], built: None, project: Path
) -> None:
    """Law B1. A maximum of arrival time would miss this fact, which arrived before everything else."""
    before = versions(spark)
    lander([LATE], schema=SCHEMA)
    dbt("run", *CUSTOMER, schema=SCHEMA, project=project)
    said = messages(spark, SCHEMA)
    for table in ("customer_states", "customer_belief"):
        assert ": 1 bk, " in said[table], said[table]
        assert newest(spark, f"{SCHEMA}.{table}")[0] == before[table] + 1
        told = spark.table(f"{SCHEMA}.runs").where(f"node = '{table}'").orderBy("recorded_at").collect()[-1]
        assert (told.primitive, told["keys"], told.version_before, told.version_after) == (
            "replaceOn", 1, before[table], before[table] + 1,
        )  # fmt: skip
        assert told.bytes > 0
    first = spark.table(f"{SCHEMA}.customer_timeline").where("bk = 'C123'").orderBy("effective_from").first()
    assert first is not None
    assert (first.address, first.unknown_attributes) == ("1 Old Road", ["name", "status"])


def test_an_entity_is_rebuilt_by_name_news_or_not(
    spark: SparkSession, dbt: Callable[..., Any], built: None, project: Path
) -> None:
    before = content(spark, "customer_states")
    both = ("--select", "customer_states", "customer_belief")
    dbt("run", *both, "--vars", "{rebuild: C123}", schema=SCHEMA, project=project)
    assert ": 1 bk, " in messages(spark, SCHEMA)["customer_states"]
    assert content(spark, "customer_states") == before


def test_a_ledger_from_before_gets_the_columns_that_are_new_since(
    spark: SparkSession, dbt: Callable[..., Any], project: Path
) -> None:
    spark.sql("create schema if not exists older")
    spark.sql(
        "create table older.runs (invocation_id string, command string, started_at timestamp, recorded_at timestamp, "
        "node string, materialized string, status string, seconds double, rows bigint, message string) using delta"
    )
    spark.sql("insert into older.runs (node, rows) values ('from before', 1)")
    dbt("seed", "--select", "attribute_groups", schema="older", project=project)
    told = {row.node: row for row in spark.table("older.runs").collect()}
    assert (told["from before"].primitive, told["attribute_groups"].primitive) == (None, "create")
    assert told["attribute_groups"].version_after == 0


def test_law_b4_what_is_only_said_again_rebuilds_nothing(
    spark: SparkSession, dbt: Callable[..., Any], lander: Callable[..., None], built: None, project: Path
) -> None:
    """A full extract in which nothing changed: it is evidence, and moves when the versions were last seen."""
    before = {table: content(spark, table) for table in ("customer_states", "customer_belief")}
    lander([event | {"ingest_ts": "2026-06-01T00:00:00Z"} for event in worked()], schema=SCHEMA)
    dbt("run", *CUSTOMER, schema=SCHEMA, project=project)
    said = messages(spark, SCHEMA)
    assert (said["customer_states"], said["customer_belief"]) == ("nothing new", "no news")
    assert {table: content(spark, table) for table in before} == before
    seen = spark.table(f"{SCHEMA}.customer_timeline").where("bk = 'C123' and source_file = '12_4_8.jsonl'").collect()
    assert {f"{row.last_seen_ts:%Y-%m}" for row in seen} == {"2026-06"}


def test_a_definition_that_changed_rebuilds_its_table_and_those_after_it(
    spark: SparkSession, dbt: Callable[..., Any], built: None, project: Path, scratch: Path
) -> None:
    """Of states, and so of belief. The evidence is never rebuilt; tests of what is are asked again."""
    states = project / "models/bronze/customer/customer_states.sql"
    states.write_text(states.read_text() + "-- read anew\n")
    dbt(*BUILD, schema=SCHEMA, project=project)
    said = messages(spark, SCHEMA)
    assert {table: said[table].split(",")[0] for table in ("customer_states", "customer_belief")} == {
        "customer_states": "create: everything",
        "customer_belief": "create: everything",
    }
    assert said["customer_assertions"] == said["customer_rules"] == "no news"
    sound = {f"{seed}_are_sound" for seed in ("feeds", "attribute_groups", "snapshot_rulings")}
    assert spared(scratch) >= sound | {"precedence_is_sound"}
    assert not [name for name in spared(scratch) if "version" in name or "belief" in name or "timeline" in name]


def test_law_b1_the_incremental_tables_equal_a_full_refresh(
    spark: SparkSession, dbt: Callable[..., Any], built: None, project: Path
) -> None:
    before = {table: content(spark, table) for table in TABLES}
    dbt("run", *CUSTOMER, "--full-refresh", schema=SCHEMA, project=project)
    assert {table: content(spark, table) for table in TABLES} == before


def believed(spark: SparkSession, dbt: Callable[..., Any], project: Path, as_at: str) -> dict[str, Any]:
    macro = "{{ belief_as_of('customer', '" + as_at + "') }}"
    compiled = dbt("compile", "--inline", f"select * from {macro}", schema=SCHEMA, project=project)
    found = spark.sql(compiled.result.results[0].node.compiled_code).where("bk = 'C123'").first()
    assert found is not None
    row: dict[str, Any] = found.asDict()
    return row


def test_belief_as_of_answers_for_one_key_or_a_list(
    spark: SparkSession, dbt: Callable[..., Any], built: None, project: Path
) -> None:
    def keys_of(asked: str) -> list[str]:
        macro = "{{ belief_as_of('customer', '2026-03-04T13:00:00Z', keys=" + asked + ") }}"
        compiled = dbt("compile", "--inline", f"select * from {macro}", schema=SCHEMA, project=project)
        return sorted(row.bk for row in spark.sql(compiled.result.results[0].node.compiled_code).collect())

    assert keys_of("'C123'") == ["C123"]
    assert keys_of("['D1', 'C123', 'nobody', \"it's\"]") == ["C123", "D1"]
    assert keys_of("[]") == []


def test_a_source_that_nobody_knows_is_warned_of(
    spark: SparkSession, dbt: Callable[..., Any], built: None, project: Path
) -> None:
    seed = project / "seeds" / "precedence.csv"
    approved = seed.read_text()
    seed.write_text(
        approved + "customer,status,KORE,9,highest_rank,,,,,,,1900-01-01,,1900-01-01,,risk,governance,Odd\n"
    )
    try:
        done = dbt(*BUILD, schema=SCHEMA, project=project)
    finally:
        seed.write_text(approved)
    warned = [one.node.name for one in done.result.results if one.status == "warn"]
    assert warned == ["customer_rules_list_known_sources"]
    dbt(*REBUILD, schema=SCHEMA, project=project)


def test_law_s3_case_a_and_case_b_of_12_4_8_differ_by_one_seed_edit(
    spark: SparkSession, dbt: Callable[..., Any], built: None, project: Path
) -> None:
    seed = project / "seeds" / "precedence.csv"
    case_b = seed.read_text()
    case_a = case_b.replace("customer,deletion,CORE,2", "customer,deletion,CRM,1")
    assert case_a != case_b
    expected = {"bk": "C123", "name": "Jane Carter", "address": "18 King Street", "status": "Active"}
    current = f"select bk from {SCHEMA}.customer_current where bk = 'C123'"

    assert believed(spark, dbt, project, "2026-03-04T13:00:00Z") == expected | {"is_deleted": False}
    assert spark.sql(current).count() == 1
    seed.write_text(case_a)
    try:
        dbt(*REBUILD, schema=SCHEMA, project=project)
        assert believed(spark, dbt, project, "2026-03-04T13:00:00Z") == expected | {"is_deleted": True}
        assert spark.sql(current).count() == 0
        assert spark.sql(current.replace("_current", "_audit")).count() == 1, "the deleted are there for the auditor"
    finally:
        seed.write_text(case_b)
    dbt(*REBUILD, schema=SCHEMA, project=project)
    assert believed(spark, dbt, project, "2026-03-04T13:00:00Z") == expected | {"is_deleted": False}
    assert spark.sql(current).count() == 1


def test_an_edited_rule_rebuilds_only_who_heard_from_its_source(
    spark: SparkSession, dbt: Callable[..., Any], built: None, project: Path
) -> None:
    """Only C123 ever heard from CRM; built whole it would be the same."""
    seed = project / "seeds" / "precedence.csv"
    approved = seed.read_text()
    edited = re.sub(r"(customer,address,CRM,1.*),Either system[^\n]*", r"\1,Reworded", approved)
    assert edited != approved
    seed.write_text(edited)
    try:
        dbt(*REBUILD, schema=SCHEMA, project=project)
        assert messages(spark, SCHEMA)["customer_belief"].startswith("replaceOn: 1 bk")
        incremental = content(spark, "customer_belief")
        dbt("run", "--select", "customer_belief", "--full-refresh", schema=SCHEMA, project=project)
        assert content(spark, "customer_belief") == incremental
    finally:
        seed.write_text(approved)
    dbt(*REBUILD, schema=SCHEMA, project=project)
    assert messages(spark, SCHEMA)["customer_belief"].startswith(("create", "replaceOn: 1 bk"))


def test_law_s5_customer_why_names_winner_rule_losers_and_runner_up(spark: SparkSession, built: None) -> None:
    rows = spark.table(f"{SCHEMA}.customer_why").where("bk = 'C123'").collect()
    assert {row.attribute for row in rows} == {*ATTRIBUTES, "is_deleted"}
    at = {(row.attribute, str(row.effective_from)): row for row in rows}
    status = at["status", "2026-03-02 10:00:00"]
    assert (status.value, status.source_system, status.rule, status.rank) == ("Restricted", "CORE", "highest_rank", 2)
    assert (status.source_file, status.ingest_run_id) == ("12_4_8.jsonl", "worked-12_4_8")
    assert status.rule_reason.startswith("Core banking is the authority")
    assert [(loser.source_system, loser.value) for loser in status.losers] == [("CRM", "Active")]
    assert status.losers[0].reason == "rank 1 is below CORE's rank 2"
    assert status.runner_up.source_system == "CRM"
    address = at["address", "2026-03-03 09:00:00"]
    assert (address.value, address.source_system, address.rule) == ("18 King Street", "CRM", "most_recent")
    assert address.runner_up.value == "12 Market Street"
    deletion = at["is_deleted", "2026-03-03 09:00:00"]
    assert deletion.losers[0].reason.startswith("CRM is not listed for this attribute")


@pytest.fixture
def life(project: Path) -> Project:
    found = read_project(project)
    return Project(project, SCHEMA, found.parameters, found.entities)


def test_attest_why_answers_in_words(spark: SparkSession, built: None, life: Project) -> None:
    at = datetime(2026, 3, 2, 12, tzinfo=UTC)
    case = open_case(spark, life, entity="customer", key="C123", as_at=at, known_at=at)
    told = explain(spark, life, case)
    assert re.search(r"^  status +Restricted +CORE +2026-03-02 10:00:00 UTC", told, re.MULTILINE)
    assert "over CRM, which said Active: rank 1 is below CORE's rank 2" in told
    early = open_case(
        spark,
        life,
        entity="customer",
        key="C123",
        as_at=datetime(2020, 1, 1, tzinfo=UTC),
    )
    assert "Nobody was known to have spoken of it by then" in explain(spark, life, early)
    with pytest.raises(UnknownKeyError, match=r"'C124'\. Near it are: C123"):
        open_case(spark, life, entity="customer", key="C124")


def test_the_page_tells_why_for_every_known_at(spark: SparkSession, built: None, life: Project, tmp_path: Path) -> None:
    """Laws S4 and S5: at each instant and state of knowledge it says what `attest why` says."""
    case = open_case(spark, life, entity="customer", key="C123")
    text = page(spark, life, case)
    assert "//" not in re.sub(r"^ *//.*$|http://www.w3.org/2000/svg", "", text, flags=re.MULTILINE)
    data = json.loads(text.split('id="case">')[1].split("</script>")[0])
    assert [moment["what"].split(" by")[0] for moment in data["knowledge"]][-5:] == [
        "CRM arrived", "CORE arrived", "CRM arrived", "CRM arrived", "as best known,",
    ]  # fmt: skip
    assert [(one["source"], one["late"], one["deleted"]) for one in data["evidence"]][-5:] == [
        ("CRM", False, False), ("CORE", False, False), ("CORE", True, False),
        ("CRM", False, False), ("CRM", False, True),
    ]  # fmt: skip
    asked = datetime(2026, 3, 2, 18, tzinfo=UTC)
    place = [one["text"] for one in data["instants"]].index(f"{asked:%Y-%m-%d %H:%M:%S}")
    for known, moment in enumerate(data["knowledge"]):
        known_at = None if known == len(data["knowledge"]) - 1 else datetime.fromisoformat(moment["text"] + "+00:00")
        told = {row.attribute: row for row in answers(spark, life, case, [(asked, known_at)])}
        for attribute, changes in data["beliefs"][known].items():
            outcome = data["outcomes"][[one for at, one in changes if at <= place][-1]]
            assert outcome["assertion"] == told[attribute].assertion_id
            assert [one["reason"] for one in outcome["losers"]] == [one.reason for one in told[attribute].losers]


def test_the_page_shows_what_marks_leave_out(spark: SparkSession, built: None, life: Project) -> None:
    """Law C4: in its place with the years it counted, and in words."""
    case = open_case(spark, life, entity="customer", key="C123")
    one = case.evidence[0]
    out, back = (one.known_from + timedelta(days=days) for days in (1, 2))
    rows = [altered(one, known_until=out), altered(one, known_from=back), *case.evidence[1:]]
    mark = Row(partition="bad.jsonl", marked_by="ana", marked_at=out, reason="Test data")
    text = page(spark, life, replace(case, evidence=rows, left_out=[Row(**mark.asDict(), **one.asDict())]))
    data = json.loads(text.split('id="case">')[1].split("</script>")[0])
    [told] = [other for other in data["evidence"] if other["id"] == one.assertion_id]
    counted = [data["knowledge"][n]["text"] for span in told["counts"] for n in span if n < len(data["knowledge"])]
    assert counted == [bare(at) for at in (one.known_from, out, back)]
    newer = replace(case, evidence=[altered(one, known_from=case.basis + timedelta(days=1))])
    assert counted_in(newer, [Moment(case.basis, "", None)]) == {one.assertion_id: [(0, 1)]}
    assert "<h2>Left out by marks, as best known</h2>" in text
    assert f"<li>excluded: partition marked bad by ana at {shown(out)}: Test data. It is what" in text


def altered(row: Row, **values: object) -> Row:
    return Row(**row.asDict() | values)


def test_what_a_source_said_is_never_mark_up_in_the_page() -> None:
    hostile = "</script><script>alert(1)</script><!--"
    text = written(
        {"entity": "customer", "key": hostile, "says": hostile, "excluded": [hostile], "asked_known": None},
        basis="then",
        left_out="",
    )
    assert text.count("<script>") == 1
    assert hostile not in text
    assert json.loads(text.split('id="case">')[1].split("</script>")[0])["says"] == hostile


@pytest.mark.parametrize(("place", "said"), [(".", "is a folder"), ("nowhere/why.html", "no folder")])
def test_a_page_that_has_no_place_is_refused_before_anything_is_asked(
    place: str, said: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--project-dir", str(project), "why", "customer", "C123", "--html", str(tmp_path / place)]
    assert cli.main(words) == 1
    assert said in capsys.readouterr().err


CLICKS = """
<script>
document.getElementById("known").value = data.knowledge.length - 4
document.getElementById("known").dispatchEvent(new Event("input"))
document.querySelector('[aria-label^="status: Restricted"]').dispatchEvent(new Event("click"))
</script>
"""


@pytest.mark.skipif(
    shutil.which("chromium") is None,
    reason="draws the page in a browser, which is not here",
)
def test_a_browser_draws_the_page(spark: SparkSession, built: None, life: Project, tmp_path: Path) -> None:
    """The slider goes to an earlier knowledge, a click asks why."""
    text = page(spark, life, open_case(spark, life, entity="customer", key="C123"))
    (tmp_path / "why.html").write_text(text.replace("</html>", CLICKS + "</html>"), encoding="utf-8")
    browser = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--dump-dom",
        f"file://{tmp_path}/why.html",
    ]
    drawn = subprocess.run(browser, check=True, capture_output=True, text=True, timeout=60).stdout
    why = drawn.split('<div id="why"')[1].split("</div>")[0]
    assert "status = Restricted" in why
    assert "over CRM, which said Active: rank 1 is below CORE's rank 2" in why
    assert drawn.count('class="dot unknown') + drawn.count('class="unknown"') == 6, (
        "three not yet known, drawn and listed"
    )


def test_the_models_own_unit_tests_pass(dbt: Callable[..., Any], built: None, project: Path) -> None:
    done = dbt("test", "--select", "test_type:unit", schema=SCHEMA, project=project)
    assert [one.status for one in done.result.results if one.node.resource_type == "unit_test"] == ["pass"] * 4


def test_every_output_of_the_profile_parses_and_compiles(dbt: Callable[..., Any], project: Path) -> None:
    """Databricks is not run here: its SQL is rendered, which needs no session."""
    os.environ["ATTEST_OFFLINE"] = "1"
    try:
        for target in ("cluster", "databricks"):
            done = dbt("compile", "--target", target, schema="offline", project=project)
            why = next(result.node for result in done.result.results if result.node.name == "customer_why")
            assert "winner" in why.compiled_code
    finally:
        del os.environ["ATTEST_OFFLINE"]


def test_dbt_docs_describe_every_model_and_its_lineage(dbt: Callable[..., Any], built: None, project: Path) -> None:
    done = dbt("docs", "generate", schema=SCHEMA, project=project)
    assert done.success
    manifest = dbt("parse", schema=SCHEMA, project=project).result
    documented = [node for node in manifest.nodes.values() if node.resource_type in ("model", "seed")]
    assert [node.name for node in documented if not node.description] == []
    ancestors, frontier = set[str](), ["model.attest.customer_why"]
    while frontier:
        node = frontier.pop()
        ancestors.add(node.rpartition(".")[2])
        frontier += getattr(manifest.nodes[node].depends_on, "nodes", [])
    assert {"landing_worked", "customer_assertions", "customer_states", "customer_belief", "precedence"} <= ancestors


def test_law_s6_every_build_can_be_told_again_from_evidence_alone(
    spark: SparkSession, dbt: Callable[..., Any], lander: Callable[..., None], built: None, project: Path
) -> None:
    """After late facts, a back-fill and the edits of rules above: each stamped basis gives its own bytes."""
    lander([LATE | {"ingest_ts": "2026-02-01T00:00:00Z", "status": "Back-filled"}], schema=SCHEMA)
    dbt("run", *CUSTOMER, schema=SCHEMA, project=project)
    seed = project / "seeds" / "precedence.csv"
    edited = re.sub(r"(customer,status,CORE,2.*),1900-01-01,,(op|ri)", r"\1,1900-01-01,2026-03-05,\2", seed.read_text())
    assert edited != seed.read_text()
    added = "customer,status,CORE,2,most_recent,,,,,,,1900-01-01,,2026-03-05,,risk,data governance,The newest counts\n"
    crm = re.sub(r"(customer,status,CRM,1.*),1900-01-01,,(op|ri)", r"\1,1900-01-01,2026-03-05,\2", edited)
    seed.write_text(crm + added + added.replace("CORE,2", "CRM,1"))
    dbt(*REBUILD, schema=SCHEMA, project=project)
    asked = replace(read_project(project), schema=SCHEMA)
    stamped = spark.table(f"{SCHEMA}.customer_bases").orderBy("stamped_at").collect()
    assert stamped[-1].rule_set_hash != stamped[0].rule_set_hash
    # Case A above was written over an approved row, which no lake can tell again.
    kept = [row for row in stamped if row.rule_set_hash in (stamped[0].rule_set_hash, stamped[-1].rule_set_hash)]
    assert len({row.content for row in kept}) >= 3
    for row in kept:
        told = reproduce(spark, asked, row.basis_id)
        assert told.is_same, told.text
    with pytest.raises(UnknownBasisError, match=r"No basis is called 'x'. The newest are: \w+ \(customer, "):
        reproduce(spark, asked, "x")


def test_law_s6_a_basis_that_cannot_be_told_again_says_where_it_differs(
    spark: SparkSession, built: None, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the lake had lost a landing: the first row that differs is named."""
    asked = replace(read_project(project), schema=SCHEMA)
    newest = spark.table(f"{SCHEMA}.customer_bases").orderBy("stamped_at").collect()[-1]
    basis = find_basis(spark, asked, newest.basis_id)
    monkeypatch.setattr("attest.basis.find_basis", lambda *_: replace(basis, landings=basis.landings[:-1]))
    told = reproduce(spark, asked, newest.basis_id)
    assert not told.is_same
    assert re.search(r"the first difference, stamped then: C123 from 2026-", told.text), told.text
