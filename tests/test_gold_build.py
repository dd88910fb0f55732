"""Gold through dbt, as a team would live it: load, nothing new, late evidence, repaired facts, audits that add up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from attest.commits import newest
from attest.delivery import new_delivery
from attest.land import land
from attest.session import isolated
from cases import UNTESTED, WHOLE, messages
from engine import ROOT, contract
from pyspark.sql import SparkSession

SCHEMA = "gold"
GOLD = (
    "--select", "+fct_payment_repairs", "+dim_customer_audit", "dim_customer_crosswalk", "dim_customer_current", *WHOLE,
)  # fmt: skip
DIMENSIONS = ("dim_customer", "dim_account", "dim_compliance_threshold")
TABLES = (*DIMENSIONS, "dim_customer_audit", "fct_payment", "fct_payment_audit")
Dbt = Callable[..., Any]
Deliver = Callable[..., None]


def example(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / "examples" / name).read_text().splitlines()]


KNOWN = {"customer_id": "D8", "source_system": "CORE", "source_event_ts": "2026-04-01T00:00:00Z", "status": "Active"}
CLEARED = 4  # the event of 12.4.8 that arrives late: CORE clears the restriction


@pytest.fixture(scope="module")
def deliver(root_session: SparkSession, scratch: Path) -> Deliver:
    count = 0

    def run(feed: str, events: Iterable[dict[str, Any]]) -> None:
        nonlocal count
        count += 1
        file = scratch / f"gold_{count}.jsonl"
        file.write_text("".join(json.dumps(event) + "\n" for event in events))
        landing = land(
            isolated(root_session),
            feed=contract(feed),
            table=f"{SCHEMA}.landing_{feed}",
            paths=[file],
            delivery=new_delivery(),
        )
        assert not landing.quarantined, landing.first_quarantined

    return run


@pytest.fixture(scope="module")
def built(dbt: Dbt, project: Path, deliver: Deliver) -> None:
    """What was known before the restriction of C123 was cleared, and before the gazette's notice arrived."""
    worked = example("worked/12_4_8.jsonl")
    deliver("worked", [*worked[:CLEARED], KNOWN])
    deliver("accounts", example("accounts.jsonl"))
    known, _, *others = example("programs.jsonl")
    deliver("programs", [known, *others])
    more = {"P-2001": "2026-03-02T20:00:00Z", "P-2002": "2026-02-01T00:00:00Z"}
    [first, *_] = example("payments.jsonl")
    extra = [first | {"payment_id": bk, "booked_at": at, "ingest_ts": at} for bk, at in more.items()]
    later = {"booked_at": "2026-04-02T12:00:00Z", "ingest_ts": "2026-04-02T12:00:00Z"}
    of_others = [
        first | later | {"payment_id": bk, "debtor": key} for bk, key in {"P-2004": "D9", "P-2005": "D8"}.items()
    ]
    deliver("payments", [*example("payments.jsonl"), *extra, *of_others])
    dbt("build", *GOLD, *UNTESTED, schema=SCHEMA, project=project)


def versions(spark: SparkSession) -> dict[str, int]:
    return {table: newest(spark, f"{SCHEMA}.{table}")[0] for table in TABLES}


def content(spark: SparkSession, table: str) -> list[str]:
    return sorted(str(row) for row in spark.table(f"{SCHEMA}.{table}").collect())


def status_paid_under(spark: SparkSession) -> dict[str, str | None]:
    rows = spark.sql(
        f"select fact.bk, version.status from {SCHEMA}.fct_payment as fact "
        f"left join {SCHEMA}.dim_customer as version on fact.customer_version_sk = version.version_sk"
    ).collect()
    return {row.bk: row.status for row in rows}


def test_law_c2_a_fact_snapshots_the_version_that_covers_it(spark: SparkSession, built: None) -> None:
    """P-2002 was before anyone knew of the customer: a gap."""
    assert status_paid_under(spark) == {
        "P-1001": "Active", "P-1002": "Restricted", "P-1003": "Restricted", "P-2001": "Restricted", "P-2002": None,
        "P-2004": None, "P-2005": "Active",
    }  # fmt: skip
    told = spark.table(f"{SCHEMA}.fct_payment_audit").groupBy("change_type").count().collect()
    assert [(row.change_type, row["count"]) for row in told] == [("INSERT", 7)]


def test_a_build_without_news_commits_nothing_in_gold(
    spark: SparkSession, dbt: Dbt, project: Path, built: None
) -> None:
    before = versions(spark)
    dbt("build", *GOLD, *UNTESTED, schema=SCHEMA, project=project)
    assert versions(spark) == before


def test_late_evidence_splits_a_version_and_the_facts_in_the_new_part_are_repaired(
    spark: SparkSession, dbt: Dbt, project: Path, deliver: Deliver, built: None
) -> None:
    """Law C2: the untouched keys stay, the crosswalk says which became which, the repair names its facts."""
    keys = {row.version_sk: row for row in spark.table(f"{SCHEMA}.dim_customer").collect()}
    paid = {row.bk: row for row in spark.table(f"{SCHEMA}.fct_payment").collect()}
    deliver("worked", example("worked/12_4_8.jsonl")[CLEARED:])
    deliver("programs", [example("programs.jsonl")[1]])
    dbt("build", *GOLD, *UNTESTED, schema=SCHEMA, project=project)
    said = messages(spark, SCHEMA)
    assert ": 1 bk, " in said["dim_customer"]
    assert said["fct_payment"].startswith(("replaceOn", "merge", "create"))
    after = {row.version_sk: row for row in spark.table(f"{SCHEMA}.dim_customer").collect()}
    assert keys.keys() <= after.keys()
    [new] = after.keys() - keys.keys()
    assert (after[new].status, f"{after[new].effective_from:%m-%d %H}") == ("Active", "03-02 18")
    [split] = [key for key in keys if after[key].effective_to != keys[key].effective_to]
    [moved] = spark.table(f"{SCHEMA}.dim_customer_crosswalk").collect()
    assert (moved.old_version_sk, moved.new_version_sk, moved.effective_from) == (split, new, after[new].effective_from)
    assert status_paid_under(spark) == {
        "P-1001": "Active", "P-1002": "Restricted", "P-1003": "Active", "P-2001": "Active", "P-2002": None,
        "P-2004": None, "P-2005": "Active",
    }  # fmt: skip
    repairs = spark.table(f"{SCHEMA}.fct_payment_repairs").collect()
    of_customer = {row.bk: row for row in repairs if row.key_column == "customer_version_sk"}
    assert of_customer.keys() == {"P-1003", "P-2001"}
    for key, repair in of_customer.items():
        assert (repair.old_version_sk, repair.new_version_sk) == (paid[key].customer_version_sk, new)
    # The gazette's notice is in force from 11:00, between the first two payments.
    assert {row.bk for row in repairs if row.key_column == "threshold_version_sk"} == {
        "P-1002", "P-1003", "P-2001", "P-2004", "P-2005",
    }  # fmt: skip
    audited = spark.table(f"{SCHEMA}.dim_customer_audit").where("entry > 1 or change_type <> 'INSERT'").collect()
    [closed] = [row for row in audited if row.version_sk == split]
    assert (closed.change_type, closed.old_values["current_flag"], closed.new_values["current_flag"]) == (
        "UPDATE", "true", "false",
    )  # fmt: skip
    assert closed.actor == "CORE"


def test_a_late_fact_a_late_dimension_and_a_deletion_are_told_from_each_other(
    spark: SparkSession, dbt: Dbt, project: Path, deliver: Deliver, built: None
) -> None:
    """Laws C2 and C3. P-2004 came before its customer; the other customer was deleted before P-2005."""
    assert status_paid_under(spark)["P-2004"] is None
    [first, *_] = example("payments.jsonl")
    late = {"payment_id": "P-2003", "booked_at": "2026-03-02T12:00:00Z", "ingest_ts": "2026-06-01T00:00:00Z"}
    deliver("payments", [first | late])
    gone = KNOWN | {"source_event_ts": "2026-04-02T00:00:00Z", "is_deleted": True}
    deliver("worked", [KNOWN | {"customer_id": "D9"}, gone])
    dbt("build", *GOLD, *UNTESTED, schema=SCHEMA, project=project)
    assert ": 3 bk, " in messages(spark, SCHEMA)["fct_payment"], "the new fact and those of the two customers"
    paid = status_paid_under(spark)
    assert (paid["P-2003"], paid["P-2004"], paid["P-2005"]) == ("Restricted", "Active", None)
    of_customer = spark.table(f"{SCHEMA}.fct_payment_repairs").where("key_column = 'customer_version_sk'")
    repairs = {row.bk: row.because for row in of_customer.collect()}
    assert repairs["P-2004"].startswith("The dimension came late")
    assert repairs["P-2005"].startswith("Nothing covers the fact any more")
    assert "P-2003" not in repairs
    [version] = spark.table(f"{SCHEMA}.dim_customer").where("bk = 'D8'").collect()
    assert (version.end_reason, version.current_flag) == ("deleted", False)
    assert spark.table(f"{SCHEMA}.dim_customer_current").where("bk = 'D8'").count() == 0
    entry = spark.table(f"{SCHEMA}.dim_customer_audit").where("bk = 'D8'").orderBy("entry").collect()[-1]
    assert (entry.change_type, entry.change_reason, entry.actor) == ("LOGICAL_DELETE", "deleted", "CORE")
    assert entry.evidence == [version.evidence["effective_to"].assertion_id]


def test_gold_equals_a_full_refresh_and_the_journals_stay(
    spark: SparkSession, dbt: Dbt, project: Path, built: None
) -> None:
    """Laws B1 and C2: the keys are what they were, so nothing is repaired and no entry is added; the tests agree."""
    before = {table: content(spark, table) for table in TABLES}
    dbt("build", "--select", *TABLES, *WHOLE, "--full-refresh", schema=SCHEMA, project=project)
    assert {table: content(spark, table) for table in TABLES} == before
