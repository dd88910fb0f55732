"""What is said of a landing, whichever command landed it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from attest.alerts import Alert, raise_alert
from attest.delivery import Landing
from attest.gate import DEFENSIBLE, Verdict
from attest.land import Landed
from attest.ledger import PENDING
from attest.marks import SINCE, shown, standing_marks
from attest.project import Project


def tell_held(spark: SparkSession, project: Project, feed: str, landed: Landed) -> bool:
    """Whether what landed is held because a partition of its feed is marked; then everyone is told."""
    own = {landing.landing_id for landing in landed.landings}
    standing = standing_marks(spark, project, feed) if own else []
    by_check = {f"{mark.mark_id}{SINCE}" for mark in standing if mark.partition in own}
    found = [mark for mark in standing if mark.since is not None and mark.mark_id not in by_check]
    for mark in found[:1]:
        message = (
            f"{landed.records} records landed and are held: a partition was marked bad by {mark.marked_by} at "
            f"{shown(mark.marked_at)} ({mark.reason}). See `attest marks {feed}`, "
            "then `attest resume` or `attest unmark`"
        )
        raise_alert(spark, project.schema, Alert("held", feed, landed.landings[0].landing_id, message))
    return bool(found)


def print_landing(feed: str, landed: Landed) -> None:
    """What became of each record; what needs somebody goes to the error stream."""
    for error in landed.refused:
        print(f"attest: {error}", file=sys.stderr)
    quarantined = landed.quarantined.total()
    for one in landed.first_quarantined:
        print(f"{one.file}, line {one.line}: {one.reason}: {one.detail}", file=sys.stderr)
    if quarantined > len(landed.first_quarantined):
        print(f"… and {quarantined - len(landed.first_quarantined)} more, all in quarantine", file=sys.stderr)
    for landing in landed.landings:
        print_status(feed, landing.capture)
        print_notes(feed, landing)
        bad, is_skipped = landing.quarantined, landing.capture and landing.capture["status"] != PENDING
        parts = [
            f"{landing.accepted} {'skipped' if is_skipped else 'accepted'}",
            f"{bad.total()} in quarantine{counted(bad)}",
        ]
        parts += [f"{why.total()} {status}{counted(why)}" for status, why in landing.set_aside.items() if why]
        print(f"{feed}: landed {landing.records} records in one commit ({', '.join(parts)})")


def print_status(feed: str, capture: Mapping[str, Any] | None) -> None:
    """What the ledger says of a capture; what it does not let through is evidence and feeds nothing."""
    if capture is not None and capture["status"] != PENDING:
        print(f"{feed}: {capture['path']}: {capture['status']}: {capture['why']}", file=sys.stderr)


def print_notes(feed: str, landing: Landing) -> None:
    """What somebody should look at, though it landed."""
    print_verdict(feed, landing.verdict)
    for change in landing.new_schemas:
        print(f"{feed}: its table changed: {change}. See that contract and mapping still hold", file=sys.stderr)
    for column, records in landing.told.defaulted.items():
        print(
            f"{feed}: {column} has its default in {records} records, which may stand for null. Set the converter's "
            "replace.null.with.default to false, then promise nulls as kept",
            file=sys.stderr,
        )


def print_verdict(feed: str, verdict: Verdict | None) -> None:
    """Said only where not everything landed goes its usual way."""
    if verdict is not None and verdict.name != DEFENSIBLE:
        print(f"{feed}: the gate says {verdict.name}", file=sys.stderr)
        for reason in verdict.reasons:
            print(f"  {reason}", file=sys.stderr)


def counted(reasons: Mapping[str, int]) -> str:
    return ": " + ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())) if reasons else ""
