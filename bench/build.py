"""What a build costs: without news, with one changed entity, and an empty dbt project of as many nodes.

Each is a `dbt build` in a process of its own, as a scheduler calls it; contenders take
turns, and only their ratios mean anything on a shared machine.

Unit tests prove macros, not data, so they take no part, as in a scheduled build.

    ROUNDS=3   how often each takes its turn
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lake import ROOT, keep

BIN = Path(sys.prefix) / "bin"
NODES = ("model", "seed", "test")


def command(project: Path, scratch: Path, *arguments: str) -> list[str]:
    places = ["--project-dir", project, "--profiles-dir", scratch, "--log-path", scratch / "logs"]
    places += ["--target-path", scratch / project.name]
    return [str(part) for part in (BIN / "dbt", "--quiet", *arguments, *places)]


def seconds(arguments: list[str], environment: dict[str, str]) -> float:
    began = time.monotonic()
    subprocess.run(arguments, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def count_nodes(scratch: Path) -> dict[str, int]:
    manifest = json.loads((scratch / ROOT.name / "manifest.json").read_text())
    kinds = [node["resource_type"] for node in manifest["nodes"].values()]
    return {kind: kinds.count(kind) for kind in NODES}


def empty_project(scratch: Path, nodes: dict[str, int]) -> Path:
    """As many nodes that do nothing: a view for each model and seed, a test for each test."""
    project = scratch / "empty"
    for folder in ("models", "tests"):
        (project / folder).mkdir(parents=True)
    (project / "dbt_project.yml").write_text("{name: empty, version: 0.1.0, config-version: 2, profile: attest}\n")
    for number in range(nodes["model"] + nodes["seed"]):
        (project / "models" / f"empty_{number}.sql").write_text("select 1 as nothing\n")
    for number in range(nodes["test"]):
        test = f"select * from {{{{ ref('empty_0') }}}} where nothing > {number + 1}\n"
        (project / "tests" / f"test_{number}.sql").write_text(test)
    return project


def main() -> None:
    rounds = int(os.environ.get("ROUNDS", "3"))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shutil.copyfile(ROOT / "profiles.yml.example", scratch / "profiles.yml")
        environment = os.environ | {"ATTEST_LAKE": str(scratch / "lake"), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        environment |= {"ATTEST_TARGET": "local"}
        land = [str(BIN / "attest"), "--project-dir", str(ROOT), "land", "worked"]
        build = command(ROOT, scratch, "build", "--exclude-resource-type", "unit_test")
        subprocess.run([*land, str(ROOT / "examples/worked/12_4_8.jsonl")], check=True, env=environment)
        print(f"first build: {seconds(build, environment):.1f} s", flush=True)
        nodes = count_nodes(scratch)
        empty = command(empty_project(scratch, nodes), scratch, "build")
        seconds(empty, environment | {"ATTEST_SCHEMA": "empty"})
        took: dict[str, list[float]] = {"empty_project": [], "no_news": [], "one_entity": []}
        for number in range(rounds):
            took["empty_project"].append(seconds(empty, environment | {"ATTEST_SCHEMA": "empty"}))
            took["no_news"].append(seconds(build, environment))
            news = scratch / f"news_{number}.jsonl"
            event = {"customer_id": "C123", "source_system": "CRM", "address": f"{number} New Street"}
            event["source_event_ts"] = f"2026-03-06T0{number % 10}:00:00Z"
            news.write_text(json.dumps(event) + "\n")
            subprocess.run([*land, str(news)], check=True, env=environment, stdout=subprocess.DEVNULL)
            took["one_entity"].append(seconds(build, environment))
    medians = {name: statistics.median(times) for name, times in took.items()}
    rows = [
        {"case": f"{sum(nodes.values())} nodes", "contender": name, "seconds": round(value, 2)}
        | {"ratio": round(value / medians["empty_project"], 2), "correct": True}
        for name, value in medians.items()
    ]
    keep("build", rows)
    print(f"{sum(nodes.values())} nodes, median of {rounds}; ratio to the empty project")
    for row in rows:
        print(f"  {row['contender']:<14} {row['seconds']:>7.1f} s   {row['ratio']:>5.2f}")


if __name__ == "__main__":
    main()
