"""What `make build` does: land the demo once, run `dbt build`, and ask about customer C123.

Arguments go to `dbt build`.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from attest.contract import feeds_of, find_feed
from attest.delivery import new_delivery
from attest.errors import AttestError
from attest.land import land
from attest.project import read_project
from attest.session import open_lake
from attest.why import explain, open_case
from dbt.cli.main import dbtRunner

ROOT = Path(__file__).resolve().parent.parent
DEMO = {
    "worked": Path("examples/worked/12_4_8.jsonl"),
    "core_customers": Path("examples/core_customers/2026_03.jsonl"),
    "accounts": Path("examples/accounts.jsonl"),
    "holdings": Path("examples/holdings.jsonl"),
    "programs": Path("examples/programs.jsonl"),
    "payments": Path("examples/payments.jsonl"),
    "payment_review": Path("examples/payment_review.jsonl"),
    "listings": Path("examples/captures"),
    "terms": Path("examples/terms"),
    "issuers": Path("examples/issuers.parquet"),
}
RUN = "demo"
# Unit tests prove the macros, not the data: they belong to `make test`.
BUILD = ("build", "--exclude-resource-type", "unit_test")


def main() -> int:
    project = read_project(ROOT)
    spark = open_lake(project)
    contracts = feeds_of(ROOT)
    for name, path in DEMO.items():
        landing = land(
            spark,
            feed=find_feed(contracts, name),
            table=f"{project.schema}.landing_{name}",
            paths=[path],
            delivery=new_delivery(run_id=RUN),
        )
        print(f"landed {landing.records} records of {path}" if landing.records else f"{path} is landed")
    built = dbtRunner().invoke([*BUILD, *sys.argv[1:], "--project-dir", str(ROOT), "--profiles-dir", str(ROOT)])
    if not built.success:
        return 1
    print("\nWhat is believed of customer C123, and why\n")
    for known_at in (datetime(2026, 3, 2, 12, tzinfo=UTC), datetime(2026, 3, 3, 10, tzinfo=UTC), None):
        print(explain(spark, project, open_case(spark, project, entity="customer", key="C123", known_at=known_at)))
    print("Ask more:  .venv/bin/attest why customer C123 --as-at 2026-03-02T19:00:00Z")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AttestError as error:
        sys.exit(f"attest: {error}")
