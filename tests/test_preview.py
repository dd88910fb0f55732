"""What an edit of the rules would change, before anyone approves it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engine
import pytest
from attest.errors import ContractError, SeedError
from attest.preview import preview
from attest.project import Project
from attest.session import isolated
from engine import ATTRIBUTES, ROOT
from pyspark.sql import SparkSession

SCHEMA = "previewed"
OTHERS: dict[str, Any] = {
    name: {"attributes": {}} for name in ("account", "holding", "instrument", "program", "payment_interpretation")
}
PROJECT = Project(ROOT, SCHEMA, {}, {"customer": {"attributes": ATTRIBUTES}, **OTHERS})
CRM_DELETES = (
    "customer,deletion,CRM,3,highest_rank,,,,,,,1900-01-01,,2026-06-01,,operations,data governance,Case A of 12.4.8.5\n"
)
Edit = Callable[..., str]


@pytest.fixture(scope="module")
def small_lake(root_session: SparkSession) -> SparkSession:
    """The customer of 12.4.8, and one whose name would break a table."""
    spark = isolated(root_session)
    events = [json.loads(line) for line in (ROOT / "examples/worked/12_4_8.jsonl").read_text().splitlines()]
    odd = events[0] | {"customer_id": "K|1 `x`\n"}
    evidence = engine.assertions(spark, engine.landed([*events, odd], feed=engine.contract()))
    spark.sql(f"create schema if not exists {SCHEMA}")
    states = engine.states(spark, evidence)
    states.write.format("delta").mode("overwrite").saveAsTable(f"{SCHEMA}.customer_states")
    engine.demo_rules(spark).write.format("delta").mode("overwrite").saveAsTable(f"{SCHEMA}.customer_rules")
    return spark


@pytest.fixture
def edited(small_lake: SparkSession, tmp_path: Path) -> Edit:
    """Preview the shipped seeds with rows of the customer replaced, and rows added."""

    def run(*, without: str = "-", add: str = "", group: str = "") -> str:
        rows = (ROOT / "seeds/precedence.csv").read_text().splitlines(keepends=True)
        (tmp_path / "precedence.csv").write_text("".join(row for row in rows if not row.startswith(without)) + add)
        (tmp_path / "attribute_groups.csv").write_text((ROOT / "seeds/attribute_groups.csv").read_text() + group)
        return preview(small_lake, PROJECT, entities=["customer"], seeds=tmp_path)

    return run


def test_seeds_as_they_are_change_nothing(edited: Edit) -> None:
    assert "Nothing changes, now or in all of history." in edited()


def test_law_s3_letting_the_crm_delete_deletes_one_customer_from_that_day_on(edited: Edit) -> None:
    told = edited(add=CRM_DELETES)
    assert "## customer: 2 known, as at 2026-06-01 00:00:00 UTC" in told
    assert "| deletion (is\\_deleted) | 1 | 1 | 0 | 0 | 1 | 1 | 0 | 0 |" in told
    assert "| status | 2 | 0 | 0 | 0 | 2 | 0 | 0 | 0 |" in told
    assert "| C123 | is\\_deleted | 2026-03-04 12:00:00 UTC | open | false (CORE) | true (CRM) |" in told


def test_a_source_that_is_listed_no_more_makes_beliefs_vanish_and_no_key_breaks_the_table(edited: Edit) -> None:
    told = edited(without="customer,name,CRM")
    assert "| name | 0 | 0 | 0 | 2 | 0 | 0 | 0 | 2 |" in told
    assert "| K\\|1 \\`x\\`  | name | 2026-03-01 09:00:00 UTC | open | Jane Carter (CRM) | nobody's word |" in told


def test_rows_on_which_no_belief_rests_are_named(edited: Edit) -> None:
    """CORE never spoke of an address in 12.4.8; with a rule that lets the CRM delete, CORE's is idle too."""
    told = edited().split("No belief rests on these rows")[1]
    assert "| address | CORE | 2 | most\\_recent |" in told
    assert "deletion" not in told
    assert "status" not in told
    silent = CRM_DELETES.replace("CRM,3", "CMR,3")
    assert "| deletion | CMR | 3 | highest\\_rank |" in edited(add=silent)


def test_rules_that_a_build_would_stop_at_are_not_previewed(edited: Edit) -> None:
    with pytest.raises(SeedError, match=r"customer, deletion, CRM: Asked for and approved by the same person"):
        edited(add=CRM_DELETES.replace("data governance", "operations"))
    added = len((ROOT / "seeds" / "precedence.csv").read_text().splitlines()) + 1
    with pytest.raises(SeedError, match=rf"precedence.csv, line {added}: has 2 cells, the header 18"):
        edited(add="customer,name\n")


def test_an_entity_that_does_not_exist_is_named(small_lake: SparkSession) -> None:
    with pytest.raises(ContractError, match=r"No entity is called 'costumer'.*Did you mean customer\?"):
        preview(small_lake, PROJECT, entities=["costumer"], seeds=ROOT / "seeds")
