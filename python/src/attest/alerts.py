"""Alerts: a line on the error stream, a row in `alerts`, and a command of the operator's choice.

`ATTEST_ON_ALERT` names the command; it is given the alert as JSON on its standard input.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from attest.logs import ALERTS, add_rows
from attest.write import Table

HOOK = "ATTEST_ON_ALERT"
PATIENCE = 60  # seconds
SHOWN = 300


@dataclass(frozen=True)
class Alert:
    """`kind` is what happened: marked, held, check, resumed, cleared, or hook (the command itself failed)."""

    kind: str
    feed: str
    partition: str | None
    message: str


def raise_alert(spark: SparkSession, schema: str, alert: Alert) -> bool:
    """Tell everyone. False where the operator's command could not be told; what was recorded stays recorded."""
    print(f"attest: alert: {alert.feed}: {alert.message}", file=sys.stderr)
    problem = tell_hook(alert)
    told = [alert]
    if problem is not None:
        told.append(replace(alert, kind="hook", message=problem))
        print(f"attest: alert: {problem}", file=sys.stderr)
    now = datetime.now(UTC)
    add_rows(
        spark,
        Table(f"{schema}.alerts"),
        ALERTS,
        [(now, one.kind, one.feed, one.partition, one.message) for one in told],
    )
    return problem is None


def tell_hook(alert: Alert) -> str | None:
    """Run the operator's command; in words, why it did not take the alert."""
    command = os.environ.get(HOOK, "").strip()
    if not command:
        return None
    try:
        words = shlex.split(command)
        done = subprocess.run(
            words, input=json.dumps(asdict(alert)), capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except ValueError as error:
        return f"{HOOK} cannot be read ({error}). Nobody was told; correct the quotes in it."
    except OSError as error:
        return f"{HOOK} could not be run ({error.strerror}: {words[0]}). Nobody was told; correct it."
    except subprocess.TimeoutExpired:
        return (
            f"{HOOK} did not end within {PATIENCE} seconds and was stopped. Perhaps nobody was told; make it quicker."
        )
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[:SHOWN]
        return f"{HOOK} ended with exit code {done.returncode}{f': {said}' if said else ''}. Perhaps nobody was told."
    return None
