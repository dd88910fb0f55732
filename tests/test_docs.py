"""What the README and the how-tos tell a newcomer to type and to write, typed and written."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attest import cli
from cases import messages
from engine import ROOT
from pyspark.sql import SparkSession

SCHEMA = "newcomer"
Dbt = Callable[..., Any]


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


@pytest.fixture(scope="module")
def typed(project: Path, dbt: Dbt) -> Callable[[list[str]], None]:
    """Type a command in that project, on the tests' lake."""

    def run(words: list[str]) -> None:
        os.environ["ATTEST_SCHEMA"] = SCHEMA
        if words[0] == "attest":
            here = Path.cwd()
            os.chdir(project)
            try:
                assert cli.main(words[1:]) == 0, words
            finally:
                os.chdir(here)
        else:
            unit_tests = ["--exclude-resource-type", "unit_test"] if words[1] == "build" else []
            dbt(*words[1:], *unit_tests, schema=SCHEMA, project=project)

    return run


def test_every_command_of_the_readme_runs(
    spark: SparkSession, typed: Callable[[list[str]], None], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = commands("README.md")
    assert len(asked) >= 7
    landing = [words for words in asked if words[1] in ("land", "build")]
    for words in landing + [words for words in asked if words not in landing]:
        typed(words)
    assert 'status = "Restricted"' in capsys.readouterr().out


def test_the_how_to_adds_a_feed_to_a_lake_that_is_built(
    spark: SparkSession, typed: Callable[[list[str]], None], project: Path
) -> None:
    """Steps 1 to 5 of the how-to, from its own blocks; then what the file says, and nothing else, is news."""
    assert spark.catalog.tableExists(f"{SCHEMA}.customer_timeline"), "the README's commands go first"
    contract_row, rule_row = (block for block in fences("docs/add_a_feed.md") if "," in block)
    bronze = project / "models/bronze/customer"
    (project / "examples/vendor.jsonl").write_text(fences("docs/add_a_feed.md", "json")[0])
    with (project / "seeds/feeds.csv").open("a") as seed:
        seed.write(contract_row)
    (project / "models/landing/landing_vendor.sql").write_text("-- Written by `attest land vendor FILE…`.\n")
    (bronze / "customer_from_vendor.sql").write_text(fences("docs/add_a_feed.md", "sql")[0])
    evidence = bronze / "customer_assertions.sql"
    evidence.write_text(evidence.read_text().replace("    ]", "        with_news(ref('customer_from_vendor')),\n    ]"))
    counted = bronze / "customer_assertions.yml"
    counted.write_text(counted.read_text().replace("landings:\n", "landings:\n              - ref('landing_vendor')\n"))
    before = spark.table(f"{SCHEMA}.customer_assertions").count()

    steps = commands("docs/add_a_feed.md")
    for words in steps:
        typed(words)
    assert spark.table(f"{SCHEMA}.customer_assertions").count() == before + 1
    assert ": 1 bk, " in messages(spark, SCHEMA)["customer_states"]
    name = f"select name from {SCHEMA}.customer_timeline where bk = 'C123' and is_current"
    assert [row.name for row in spark.sql(name).collect()] == ["Jane C. Carter"]
    assert spark.table(f"{SCHEMA}.customer_current").where("bk = 'C123' and name = 'Jane C. Carter'").count() == 0

    with (project / "seeds/precedence.csv").open("a") as seed:
        seed.write(rule_row)
    typed(["dbt", "build"])
    assert spark.table(f"{SCHEMA}.customer_current").where("bk = 'C123' and name = 'Jane C. Carter'").count() == 1


def test_a_landing_table_made_anew_takes_nothing_from_the_evidence(
    spark: SparkSession, dbt: Dbt, typed: Callable[[list[str]], None], project: Path
) -> None:
    """Law E2. The evidence keeps what the lost table gave, a test says that it is lost, and new landings count."""
    before = spark.table(f"{SCHEMA}.customer_assertions").count()
    spark.sql(f"drop table {SCHEMA}.landing_worked")
    spoiled = dbt("build", "--select", "landing_worked+", schema=SCHEMA, project=project, fails=True)
    results = spoiled.result.results
    wrong = [one.node.name for one in results if one.status not in ("success", "pass", "skipped")]
    assert wrong == ["customer_evidence_is_conserved"]
    assert spark.table(f"{SCHEMA}.customer_assertions").count() == before
    typed(["attest", "land", "worked", "examples/worked/12_4_7.jsonl"])
    dbt("run", schema=SCHEMA, project=project)
    assert spark.table(f"{SCHEMA}.customer_assertions").count() == before + 4
