"""What `make build` does: land the demo once, run `dbt build`, and ask about customer C123."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from attest.contract import find_feed, read_contracts
from attest.errors import AttestError
from attest.land import land, new_delivery
from attest.project import read_project
from attest.session import isolated, start
from attest.why import explain
from dbt.cli.main import dbtRunner

ROOT = Path(__file__).resolve().parent.parent
DEMO = Path("examples/worked/12_4_8.jsonl")
RUN = "demo"
# Unit tests prove the macros, not the data: they belong to `make test`.
BUILD = ("build", "--exclude-resource-type", "unit_test")


def main() -> int:
    project = read_project(ROOT)
    spark = isolated(start(project.parameters))
    feed = find_feed(read_contracts(ROOT / "seeds" / "feeds.csv"), "worked")
    landing = land(
        spark,
        feed=feed,
        table=f"{project.schema}.landing_worked",
        paths=[DEMO],
        delivery=new_delivery(run_id=RUN),
    )
    print(f"landed {landing.records} records of {DEMO}" if landing.records else "the demo data is landed")
    built = dbtRunner().invoke([*BUILD, "--project-dir", str(ROOT), "--profiles-dir", str(ROOT)])
    if not built.success:
        return 1
    print("\nWhat is believed of customer C123, and why\n")
    for known_at in (datetime(2026, 3, 2, 12, tzinfo=UTC), datetime(2026, 3, 3, 10, tzinfo=UTC), None):
        print(explain(spark, project, entity="customer", key="C123", known_at=known_at))
    print("Ask more:  .venv/bin/attest why customer C123 --as-at 2026-03-02T19:00:00Z")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AttestError as error:
        sys.exit(f"attest: {error}")
