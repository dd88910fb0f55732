"""A build that was killed, anywhere, and run again ends in the same rows as one that never was."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from crashing import BUILT, IN_FLIGHT
from engine import ROOT

STATES = "killed.customer_states"
POINTS = (
    f"before the write of {STATES}",
    f"after data files of {STATES}",
    IN_FLIGHT,
    f"after the commit of {STATES}",
    "between two models of customer_assertions",
    "before the ledger row of killed.runs",
)
SHORT = (IN_FLIGHT,)


def word(round: int, name: str, day: int) -> dict[str, Any]:
    at = f"2026-03-{day:02}T00:00:00Z"
    return {"customer_id": name, "source_system": "CRM", "source_event_ts": at, "name": f"Name {round}"}


def process(scratch: Path, news: str, *, kill_at: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"ATTEST_LAKE": str(scratch / "lake"), "ATTEST_TARGET": "local"}
    environment |= {"ATTEST_KILL_AT": kill_at, "PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, str(ROOT / "tests" / "crashing.py"), str(scratch), news]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)


def test_law_b1_a_build_killed_in_its_write_and_run_again_leaves_what_one_build_would(tmp_path: Path) -> None:
    die_and_finish(tmp_path, SHORT)


@pytest.mark.prove
def test_law_b1_a_build_killed_at_every_point_and_run_again_leaves_what_one_build_would(tmp_path: Path) -> None:
    die_and_finish(tmp_path, POINTS)


def die_and_finish(scratch: Path, points: Sequence[str]) -> None:
    """Each round lands news, of a new entity and of one that grows, late too, and dies at its point."""
    shutil.copyfile(ROOT / "profiles.yml.example", scratch / "profiles.yml")
    for round, point in enumerate(points):
        news = scratch / f"news_{round}.jsonl"
        words = [word(round, "C1", 20 - round), word(round, "C1", 21 + round), word(round, f"N{round}", 1)]
        news.write_text("".join(json.dumps(one) + "\n" for one in words))
        killed = process(scratch, str(news), kill_at=point)
        assert killed.returncode == -signal.SIGKILL, (point, killed.stdout[-2000:], killed.stderr[-2000:])
    last = process(scratch, "none")
    assert last.returncode == 0, (last.stdout[-2000:], last.stderr[-2000:])
    said = json.loads((scratch / "said.json").read_text())
    assert len(said["whole"]["customer_states"]) == 3 * len(points)
    assert said["killed"] == said["whole"]
    # What was finished once is not written again; the ledger alone tells that somebody asked.
    assert {said["replayed"][table] for table in BUILT} == {"no news"}, said["replayed"]
    assert {table: said["after"][table] - said["before"][table] for table in (*BUILT, "runs")} == {
        **dict.fromkeys(BUILT, 0),
        "runs": 1,
    }
