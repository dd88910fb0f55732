"""`attest marks`: what is marked bad, and what that concerns."""

from __future__ import annotations

import argparse
import contextlib
import io
from typing import Any

from pyspark.sql import SparkSession

from attest import marks
from attest.commands.by_dbt import dbt
from attest.errors import ContractError
from attest.project import Project
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    spark = open_lake(project)
    if options.feed is not None:
        marks.find_target(spark, project, options.feed)
    ever = sorted(marks.read_marks(spark, project).collect(), key=lambda one: (one.marked_at, one.mark_id))
    found = [
        mark
        for mark in ever
        if mark.partition is not None and options.feed in (None, mark.feed) and (options.all or mark.cleared_at is None)
    ]
    stops = [mark for mark in ever if mark.since is not None and mark.cleared_at is None]
    stopped = {mark.mark_id.removesuffix(marks.SINCE) for mark in stops}
    for mark in found:
        print(f"{mark.feed} {mark.partition}")
        print(f"  marked bad by {mark.marked_by} ({mark.set_by}) at {marks.shown(mark.marked_at)}: {mark.reason}")
        if mark.mark_id in stopped:
            print("  its feed is stopped: what lands is held")
        if mark.cleared_at is not None:
            print(f"  cleared by {mark.cleared_by} at {marks.shown(mark.cleared_at)}: {mark.cleared_because}")
        if options.affected:
            print_affected(spark, project, mark, target=options.target)
    if not found:
        print("nothing is marked" + (f" of {options.feed}" if options.feed else ""))
    return 0


def print_affected(spark: SparkSession, project: Project, mark: Any, *, target: str | None) -> None:
    if mark.feed in marks.published_tables(spark, project):
        print(f"  published day {mark.feed} {mark.partition}")
        return
    found = marks.affected(spark, project, mark, models_of(project, mark.feed, target=target))
    print(f"  {found.held} rows of evidence are left out")
    for key in found.keys:
        print(f"  entity {found.entity} {key}")
    if found.more_keys:
        print(f"  … and {found.more_keys:,} more; {found.entity}_assertions has them by landing_id and source_path")
    for model in found.models:
        print(f"  model {model}")
    for published in found.days:
        print(f"  published day {found.entity}_days {published}")


def models_of(project: Project, feed: str, *, target: str | None) -> list[str]:
    """The models that are made of what a feed lands, by dbt's own graph."""
    asked = ("ls", "--select", f"landing_{feed}+", "--resource-type", "model", "--output", "name")
    with contextlib.redirect_stdout(io.StringIO()):
        done = dbt(project, "--quiet", *asked, target=target)
    if not done.success:
        raise ContractError("dbt cannot read the project, so nobody knows its models. Mend what `dbt parse` says.")
    return sorted(str(name) for name in done.result if name != f"landing_{feed}")
