"""What the README and the how-tos tell a newcomer to type and to write, typed and written."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attest import cli
from cases import CUSTOMER, UNTESTED, WHOLE, messages
from engine import ROOT
from pyspark.sql import SparkSession

SCHEMA = "newcomer"
OFFICE = (
    "--select",
    "+office_timeline",
    "+office_why",
    "+office_current",
    "feeds",
    "customer_rules",
    "customer_belief",
)
Dbt = Callable[..., Any]
Typed = Callable[..., None]


def fences(document: str, language: str = "") -> list[str]:
    """The blocks of code of a document, without their indentation."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, tag, block in found if tag == language]


def commands(document: str) -> list[list[str]]:
    """Every shell command of a document, without what runs in jobs of its own (`make`, and a cluster's)."""
    lines = [line for block in fences(document, "bash") for line in block.splitlines()]
    typed = [shlex.split(line, comments=True) for line in lines if line.startswith(".venv/bin/")]
    return [[Path(words[0]).name, *words[1:]] for words in typed]


def add_to_landings(project: Path, landing: str) -> None:
    landings = project / "models/landing/landings.sql"
    landings.write_text(landings.read_text().replace("landed([\n", f"landed([\n    ref('{landing}'),\n"))


def add_feed(project: Path, feed: str, how_to: str) -> str:
    """What the how-to says to write before the rules, written; its row of `precedence.csv`."""
    contract_row, promises, rule_row = (block for block in fences(how_to) if "," in block)
    bronze, landing = project / "models/bronze/customer", project / "models/landing/feeds"
    (project / f"examples/{feed}.jsonl").write_text(fences(how_to, "json")[0])
    for name, block in (("feeds", contract_row), ("promises", promises)):
        with (project / f"seeds/{name}.csv").open("a") as seed:
            seed.write(block)
    add_to_landings(project, f"landing_{feed}")
    (landing / f"landing_{feed}.sql").write_text("-- Written by `attest land`.\n")
    for block in fences(how_to, "yaml"):
        (landing / f"landing_{feed}.yml").write_text(block)
    (bronze / f"customer_from_{feed}.sql").write_text(fences(how_to, "sql")[0])
    evidence = bronze / "customer_assertions.sql"
    evidence.write_text(
        evidence.read_text().replace("    ]", f"        with_news(ref('customer_from_{feed}')),\n    ]")
    )
    counted = bronze / "customer_assertions.yml"
    counted.write_text(
        counted.read_text().replace("landings:\n", f"landings:\n              - ref('landing_{feed}')\n")
    )
    return rule_row


@pytest.fixture(scope="module")
def typed(project: Path, dbt: Dbt) -> Typed:
    """Type a command in that project, on the tests' lake; a build may be cut down to what is asked about."""

    def run(words: list[str], *cut_down: str) -> None:
        os.environ["ATTEST_SCHEMA"] = SCHEMA
        if words[0] == "attest":
            here = Path.cwd()
            os.chdir(project)
            try:
                assert cli.main(words[1:]) == 0, words
            finally:
                os.chdir(here)
        else:
            more = [*cut_down, "--exclude-resource-type", "unit_test"] if words[1] == "build" else []
            dbt(*words[1:], *more, schema=SCHEMA, project=project)

    return run


def test_every_command_of_the_readme_runs(
    spark: SparkSession, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for feed in ("accounts", "holdings", "programs", "payments", "payment_review"):
        typed(["attest", "land", feed, f"examples/{feed}.jsonl"])
    typed(["attest", "land", "worked", "examples/worked/12_4_8.jsonl"])
    asked = commands("README.md")
    assert len(asked) >= 7
    landing = [words for words in asked if words[1] in ("land", "build")]
    for words in landing + [words for words in asked if words not in landing]:
        typed(words)
    assert re.search(r"^  status +Restricted +CORE", capsys.readouterr().out, re.MULTILINE)
    is_shown("why_customer_C123.html", (project / "why_C123.html").read_text(encoding="utf-8"))


def is_shown(example: str, now: str) -> None:
    """What `docs/examples` keeps is what comes out; REWRITE_EXAMPLES=1 keeps what comes out."""
    kept = ROOT / "docs" / "examples" / example
    if os.environ.get("REWRITE_EXAMPLES"):
        kept.write_text(now, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == now, f"{example} is out of date: run this test with REWRITE_EXAMPLES=1"


def test_the_reference_says_what_the_code_says() -> None:
    for name, now in runpy.run_path(str(ROOT / "python/reference.py"))["pages"]().items():
        assert (ROOT / "docs/reference" / name).read_text(encoding="utf-8") == now, f"{name}: run `make reference`"


def test_the_preview_that_is_shown_is_what_comes_out(
    typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case A of 12.4.8.5: the CRM may delete."""
    edited = project / "edited"
    shutil.copytree(project / "seeds", edited)
    with (edited / "precedence.csv").open("a") as seed:
        seed.write(
            "customer,deletion,CRM,3,highest_rank,,,,,,,1900-01-01,,2026-03-05,,operations,data governance,Case A\n"
        )
    capsys.readouterr()
    typed(["attest", "preview", "customer", "--seeds", "edited"])
    is_shown("preview_crm_may_delete.md", capsys.readouterr().out)


def test_the_entities_and_facts_that_are_shipped_come_out_as_told(spark: SparkSession) -> None:
    """An account, a holding (its key has two fields) and a payment, each from its example."""
    [account] = spark.table(f"{SCHEMA}.account_current").collect()
    assert (account.bk, account.product, str(account.credit_limit), account.status) == (
        "A-001", "Current", "1250.50", "Open",
    )  # fmt: skip
    [closed] = spark.table(f"{SCHEMA}.account_timeline").where("bk = 'A-002' and is_current").collect()
    assert (closed.is_deleted, closed.product, f"{closed.opened_on}") == (True, "Savings", "2026-03-02")
    held = spark.table(f"{SCHEMA}.holding_timeline").where("customer_no = 'C200'").orderBy("version").collect()
    assert [(row.bk, row.account_no, row.role, row.is_current) for row in held] == [
        ("C200|A-001", "A-001", "Signatory", False),
        ("C200|A-001", "A-001", "Owner", True),
    ]
    assert spark.table(f"{SCHEMA}.holding_current").where("account_no = 'A-001'").count() == 2
    paid = {row.bk: row for row in spark.table(f"{SCHEMA}.payment").collect()}
    assert {key: (f"{row.amount:.2f}", row.replay_count, row.corrects) for key, row in paid.items()} == {
        "P-1001": ("250.00", 1, None),
        "P-1002": ("9800.00", 0, None),
        "P-1003": ("205.00", 0, "P-1001"),
    }


def test_section_11_3_what_happened_what_we_believed_and_what_changed_is_one_query(
    spark: SparkSession, dbt: Dbt, project: Path
) -> None:
    [query] = fences("docs/transactions.md", "sql")
    done = dbt("compile", "--inline", query, schema=SCHEMA, project=project)
    rows = spark.sql(done.result.results[0].node.compiled_code).where("bk = 'P-1002'").collect()
    assert [(f"{row.amount:.2f}", row.believed_then, row.believed_later, row.on_the_word_of) for row in rows] == [
        ("9800.00", "Suspicious", "Normal", "DESK")
    ]


def test_law_b7_a_build_names_what_is_left_to_people_and_moves_what_was_told_again(
    spark: SparkSession, dbt: Dbt, typed: Typed, project: Path
) -> None:
    """A conflict that nobody corrected and a correction without an original warn; they stop no build."""
    rows = {row.bk: row for row in spark.table(f"{SCHEMA}.payment").collect()}
    told = [json.loads(line) for line in (project / "examples/payments.jsonl").read_text().splitlines()]
    again = told[0] | {"ingest_ts": "2026-03-09T00:00:00Z"}
    orphan = told[3] | {"payment_id": "P-1005", "corrects": "P-1004"}
    events = [again, told[1] | {"amount": 9800.01}, orphan]
    (project / "examples/more.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    typed(["attest", "land", "payments", "examples/more.jsonl"])
    done = dbt("build", "--select", "landing_payments+", schema=SCHEMA, project=project)
    warned = {one.node.name: one.failures for one in done.result.results if one.status == "warn"}
    assert warned == {"payments_of_one_identity_agree": 2, "corrections_of_payments_have_an_original": 1}
    assert ": 3 bk, 4 rows" in messages(spark, SCHEMA)["payment"]
    after = {(row.bk, row.event_hash): row.asDict() for row in spark.table(f"{SCHEMA}.payment").collect()}
    moved = {
        key: {name for name, value in row.asDict().items() if after[key, row.event_hash][name] != value}
        for key, row in rows.items()
    }
    assert moved == {"P-1001": {"last_seen_ts", "replay_count"}, "P-1002": {"is_conflicting"}, "P-1003": set()}


def test_the_how_to_adds_an_entity_to_a_lake_that_is_built(
    spark: SparkSession, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps 1 to 8 of the how-to, from its own blocks; what the file says comes out, and nothing else is news."""
    how_to = "docs/add_an_entity.md"
    attributes, bronze, silver = fences(how_to, "yaml")
    settings = project / "dbt_project.yml"
    text = settings.read_text().replace("  entities:\n", f"  entities:\n{attributes}")
    text = text.replace("\n    silver:\n", f"{bronze}\n    silver:\n")
    settings.write_text(text.replace("\n    # Dimensions tell", f"{silver}\n    # Dimensions tell"))
    for seed, rows in zip(("feeds", "promises", "attribute_groups", "precedence"), fences(how_to), strict=True):
        with (project / f"seeds/{seed}.csv").open("a") as file:
            file.write(rows)
    landing, mapping, _ = fences(how_to, "sql")
    add_to_landings(project, "landing_offices")
    (project / "models/landing/feeds/landing_offices.sql").write_text(landing)
    subprocess.run(["sh", "-e", "-c", *fences(how_to, "sh")], cwd=project, check=True)
    (project / "models/bronze/office/office_from_offices.sql").write_text(mapping)
    (project / "examples/offices.jsonl").write_text(fences(how_to, "json")[0])
    for words in commands(how_to):
        typed(words, *(OFFICE if words == ["dbt", "build"] else ()))
    assert re.search(r"^  phone +0113 496 0999 +PROPERTY", capsys.readouterr().out, re.MULTILINE)
    said = messages(spark, SCHEMA)
    assert (said["customer_belief"], said["office_belief"].split(",")[0]) == ("no news", "create: everything")
    versions = spark.table(f"{SCHEMA}.office_timeline").where("bk = 'O-7'").orderBy("version").collect()
    assert [(row.city, row.phone, row.is_current) for row in versions] == [
        ("Leeds", "0113 496 0000", False),
        ("Leeds", "0113 496 0999", True),
    ]
    now = {row.bk: (row.city, row.phone) for row in spark.table(f"{SCHEMA}.office_current").collect()}
    assert now == {"O-7": ("Leeds", "0113 496 0999"), "O-9": ("York", "01904 496 000")}
    written = [file.name for file in (project / "models").rglob("office_*") if "account" in file.read_text()]
    assert written == [], "what is copied from another entity speaks of this one alone"


def test_the_how_to_changes_a_schema_and_no_version_opens(
    spark: SparkSession, typed: Typed, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The desk's new file is held until the contract knows it; old hashes stay, and so do old versions."""
    how_to = "docs/change_a_schema.md"
    versions = "select bk, version, attr_hash, effective_from from {}.office_timeline order by bk, version".format
    before = spark.sql(versions(SCHEMA)).collect()
    (project / "examples/offices_2.jsonl").write_text(fences(how_to, "json")[0])
    land, *rest = commands(how_to)
    typed(land)
    assert "unknown" in capsys.readouterr().out
    settings, mapping = project / "dbt_project.yml", project / "models/bronze/office/office_from_offices.sql"
    last = "        phone: string\n"
    assert settings.read_text().count(last) == 1
    settings.write_text(settings.read_text().replace(last, f"{last}{fences(how_to, 'yaml')[0]}"))
    contract_row, groups = (block for block in fences(how_to) if "," in block)
    feeds = project / "seeds/feeds.csv"
    feeds.write_text(re.sub(r"^offices,.*\n", lambda _: contract_row, feeds.read_text(), flags=re.MULTILINE))
    with (project / "seeds/attribute_groups.csv").open("a") as seed:
        seed.write(groups)
    mentions = r"{{ mentions\(.*\) \| indent\(4\) }},\n"
    mapping.write_text(re.sub(mentions, lambda _: fences(how_to, "sql")[0], mapping.read_text()))
    typed(["attest", "release", "offices"])
    for words in rest:
        typed(words, *(OFFICE if words == ["dbt", "build"] else ()))
    told = capsys.readouterr().out
    for line in ("manager +R. Amin", "phone +0113 496 0555", "floors +3", "city +Leeds"):
        assert re.search(rf"^  {line} +PROPERTY", told, re.MULTILINE), line
    after = spark.sql(versions(SCHEMA)).collect()
    assert [row for row in after if row in before] == before
    assert [(row.bk, row.version) for row in after if row not in before] == [("O-7", 3)]


def test_the_how_to_adds_a_feed_to_a_lake_that_is_built(spark: SparkSession, typed: Typed, project: Path) -> None:
    """Steps 1 to 5 of the how-to, from its own blocks; then what the file says, and nothing else, is news."""
    assert spark.catalog.tableExists(f"{SCHEMA}.customer_timeline"), "the README's commands go first"
    rule_row = add_feed(project, "vendor", "docs/add_a_feed.md")
    before = spark.table(f"{SCHEMA}.customer_assertions").count()

    steps = commands("docs/add_a_feed.md")
    for words in steps:
        typed(words, *CUSTOMER)
    assert spark.table(f"{SCHEMA}.customer_assertions").count() == before + 1
    assert ": 1 bk, " in messages(spark, SCHEMA)["customer_states"]
    name = f"select name from {SCHEMA}.customer_timeline where bk = 'C123' and is_current"
    assert [row.name for row in spark.sql(name).collect()] == ["Jane C. Carter"]
    assert spark.table(f"{SCHEMA}.customer_current").where("bk = 'C123' and name = 'Jane C. Carter'").count() == 0

    with (project / "seeds/precedence.csv").open("a") as seed:
        seed.write(rule_row)
    typed(["dbt", "build"], *CUSTOMER)
    assert spark.table(f"{SCHEMA}.customer_current").where("bk = 'C123' and name = 'Jane C. Carter'").count() == 1


def test_the_how_to_overrules_by_a_decision_until_it_ends(
    spark: SparkSession, typed: Typed, dbt: Dbt, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two more that no contract lets in, and one that rests on nothing, which is warned of."""
    rule_row = add_feed(project, "decisions", "docs/decide.md")
    with (project / "seeds/precedence.csv").open("a") as seed:
        seed.write(rule_row)
    decision = json.loads(fences("docs/decide.md", "json")[0])
    alone, endless = decision | {"reviewer": " M.Osei"}, decision | {"expires_at": None}
    baseless = decision | {"customer_id": "C999", "evidence": "hearsay"}
    more = "".join(json.dumps(one) + "\n" for one in (alone, endless, baseless))
    (project / "examples/more_decisions.jsonl").write_text(more)
    typed(["attest", "land", "decisions", "examples/more_decisions.jsonl"])
    refused = spark.table(f"{SCHEMA}.landing_decisions").where("quarantine_reason is not null").orderBy("source_record")
    assert [row.quarantine_reason for row in refused.collect()] == ["same_person", "missing_field"]
    for words in commands("docs/decide.md"):
        typed(words, *CUSTOMER, *UNTESTED)
    told = capsys.readouterr().out
    assert re.search(r"^  status +Restricted +STEWARD", told, re.MULTILINE)
    assert "reason: Court order 17/26" in " ".join(told.split())
    after = spark.table(f"{SCHEMA}.customer_belief").where("bk = 'C123' and effective_from = '2026-09-05'").collect()
    assert [(row.status, row.status_source) for row in after] == [("Active", "CORE")]
    done = dbt("test", "--select", "landing_decisions", schema=SCHEMA, project=project)
    warned = [(one.node.name, one.failures) for one in done.result.results if one.status == "warn"]
    assert [(name.startswith("decisions_rest_on_evidence"), failures) for name, failures in warned] == [(True, 1)]


def test_every_command_of_the_gates_page_runs(typed: Typed, spark: SparkSession) -> None:
    for words in commands("docs/gate.md"):
        typed(words)
    landed = spark.table(f"{SCHEMA}.landing_registry").where("status = 'accepted'")
    assert landed.count() == 4


def test_every_command_of_the_pages_of_files_and_captures_runs(
    typed: Typed, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """One feed of each kind of delivery: a folder of CSV, Parquet, captures of which one is incomplete."""
    for page in ("docs/files.md", "docs/captures.md"):
        for words in commands(page):
            typed(words, "--select", "+instrument_timeline", "+instrument_current", "+captures", *WHOLE)
    assert "terms: nothing new; run terms-drop landed this before" in capsys.readouterr().out
    ledger = spark.table(f"{SCHEMA}.captures").orderBy("captured_at").collect()
    assert [(row.status, row.new, row.modified, row.delisted, row.unchanged) for row in ledger] == [
        ("success", 3, 0, 0, 0),
        ("skipped_incomplete", None, None, None, None),
        ("success", 1, 1, 1, 1),
    ]
    now = {row.bk: row for row in spark.table(f"{SCHEMA}.instrument_current").collect()}
    assert {key: (f"{float(row.tick_size):g}", row.margin_class, row.issuer) for key, row in now.items()} == {
        "XAMS|FEUA": ("0.01", "A, daily", None),
        "XAMS|NRDX": ("0.005", "C", "Nordex AG, Hamburg"),
        "XAMS|OPAL": ("0.01", None, "Opal NV, Delft"),
    }


def test_every_command_of_the_rules_page_runs(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    asked = commands("docs/rules.md")
    assert [words[:2] for words in asked] == [["attest", "preview"], ["dbt", "show"]]
    for words in asked:
        typed(words)
    assert "# What these rules would change" in capsys.readouterr().out


def test_every_command_of_the_streams_page_runs(
    typed: Typed, spark: SparkSession, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the demo's stream tells comes out: states, a change of key, a delete, and each message accounted for."""
    for words in commands("docs/stream.md"):
        typed(words, *CUSTOMER, *UNTESTED)
    told = capsys.readouterr().out
    assert "landed 12 records in one commit (8 accepted, 0 in quarantine, 4 notice: 2 tombstone, 2 transaction)" in told
    assert "core_customers: nothing new" in told, "the second stream goes on from the first"
    versions = spark.table(f"{SCHEMA}.customer_timeline").where("bk in ('C300', 'C301', 'C302', 'C401')")
    now = {
        row.bk: (row.name, row.address, row.status, row.is_deleted) for row in versions.where("is_current").collect()
    }
    assert now == {
        "C300": ("Ines Roth", "Hafenweg 4, 20457 Hamburg", "Restricted", False),
        "C301": ("Tom Okafor", "9 Quay Street, Bristol", "Active", True),
        "C302": ("Lea Blanc", "3 rue des Lilas, Lyon", None, True),
        "C401": ("Tom Okafor", "9 Quay Street, Bristol", "Active", False),
    }
    moved = spark.table(f"{SCHEMA}.customer_key_changes").collect()
    assert [(row.bk, row.remark) for row in moved] == [("C401", "Carried over when the key changed from C301")]


def test_a_truncate_deletes_nobody_until_a_person_says_so(typed: Typed, spark: SparkSession, project: Path) -> None:
    event = json.loads((project / "examples/core_customers/2026_03.jsonl").read_text().splitlines()[4])["value"]
    source = event["source"] | {"ts_us": event["source"]["ts_us"] + 7 * 86_400_000_000, "lsn": 27_000_000}
    truncate = event | {"op": "t", "after": None, "source": source}
    (project / "examples/core_customers/truncate.jsonl").write_text(json.dumps({"key": None, "value": truncate}) + "\n")
    typed([*["attest", "stream", "core_customers", "examples/core_customers", "--available-now", "--then-build"]])
    alive = spark.table(f"{SCHEMA}.customer_timeline").where("bk in ('C300', 'C401') and is_current and not is_deleted")
    assert alive.count() == 2
    [held] = spark.table(f"{SCHEMA}.customer_truncates").collect()
    _, ruling = fences("docs/stream.md")[1:]
    with (project / "seeds/snapshot_rulings.csv").open("a") as seed:
        seed.write(ruling.replace(ruling.partition(",")[0], held.landing_id))
    typed(["dbt", "build"], *CUSTOMER, *UNTESTED)
    assert alive.count() == 0
    gone = spark.table(f"{SCHEMA}.customer_timeline").where("is_current and is_inferred and is_deleted")
    told = gone.where("source_system = 'CORE'").orderBy("bk").collect()
    assert [(row.bk, row.effective_from) for row in told] == [("C300", held.as_of), ("C401", held.as_of)]


def test_a_landing_table_made_anew_takes_nothing_from_the_evidence(
    spark: SparkSession, dbt: Dbt, typed: Typed, project: Path
) -> None:
    """Law E2. The evidence keeps what the lost table gave, a test says that it is lost, and new landings count."""
    before = spark.table(f"{SCHEMA}.customer_assertions").count()
    spark.sql(f"drop table {SCHEMA}.landing_worked")
    spoiled = dbt("build", "--select", "landing_worked+", schema=SCHEMA, project=project, fails=True)
    results = spoiled.result.results
    wrong = [one.node.name for one in results if one.status not in ("success", "pass", "skipped", "warn")]
    assert wrong == ["customer_evidence_is_conserved"]
    assert spark.table(f"{SCHEMA}.customer_assertions").count() == before
    typed(["attest", "land", "worked", "examples/worked/12_4_7.jsonl"])
    dbt("run", *CUSTOMER, schema=SCHEMA, project=project)
    assert spark.table(f"{SCHEMA}.customer_assertions").count() == before + 4


def test_every_command_of_the_page_of_marks_runs(
    spark: SparkSession, typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the bad drop to its correction, and what is believed after each build."""
    names = f"select bk, name from {SCHEMA}.customer_current where bk in ('C500', 'C501')"
    believed, told = [], []
    for words in commands("docs/marks.md"):
        capsys.readouterr()
        typed(words, "--select", "+customer_current", *UNTESTED)
        told.append(capsys.readouterr().out)
        if words == ["dbt", "build"]:
            believed.append(dict(map(tuple, spark.sql(names).collect())))
    wrong = {"C500": "Test Test", "C501": "Foo Bar"}
    assert believed == [wrong, {}, {"C500": "Ada Berg"}, wrong | {"C500": "Ada Berg"}]
    [affected] = [text for text in told if "entity customer C501" in text]
    assert "published day customer_days 2026-03-05" in affected
    assert "model customer_belief" in affected
