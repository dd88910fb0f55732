"""`attest stream`: land what comes, batch by batch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from attest.commands.by_dbt import dbt
from attest.commands.told import print_landing, tell_held
from attest.contract import feeds_of, find_feed
from attest.detect import inspector_of
from attest.errors import StreamError
from attest.project import LAKE, Project
from attest.session import open_lake
from attest.stream import Batch, Stream, follow, read_options


def run(project: Project, options: argparse.Namespace) -> int:
    feeds = feeds_of(project.root)
    feed = find_feed(feeds, options.feed)
    spark = open_lake(project)
    inspector = inspector_of(spark, project, feed, feeds)
    stream = Stream(
        feed=feed,
        table=f"{project.schema}.landing_{feed.name}",
        checkpoint=options.checkpoint or checkpoint_of(project, feed.name),
        path=options.path,
        source=options.source,
        options=read_options(options.options) if options.options else {},
        watermark=options.watermark,
        every=None if options.available_now else options.every,
        inspect=inspector,
    )
    landed: list[int] = []
    refused: list[str] = []
    held: list[bool] = []

    def after(batch: Batch) -> None:
        refused.extend(map(str, batch.landed.refused))
        landed.append(batch.landed.records)
        print_landing(feed.name, batch.landed)
        held.append(tell_held(spark, project, feed.name, batch.landed))
        if options.then_build:
            build_what_it_reaches(project, feed.name, target=options.target)
        sys.stdout.flush()

    try:
        follow(spark, stream, after=after)
    except KeyboardInterrupt:
        print(f"{feed.name}: stopped; the next start goes on from here")
    if not any(landed):
        print(f"{feed.name}: nothing new")
    return 1 if refused or any(held) or inspector.marked else 0


def checkpoint_of(project: Project, feed: str) -> str:
    """Beside the tables, one a feed and schema; where the lake is not ours, somebody must say."""
    if LAKE not in project.parameters:
        raise StreamError("There is no lake of ours to keep a checkpoint in. Name a folder with --checkpoint.")
    return str(Path(project.parameters[LAKE]) / "streams" / project.schema / feed)


def build_what_it_reaches(project: Project, feed: str, *, target: str | None) -> None:
    asked = ("build", "--select", f"landing_{feed}+", "--exclude-resource-type", "unit_test")
    built = dbt(project, *asked, target=target)
    if not built.success:
        raise StreamError(
            f"{feed}: the batch is landed, but dbt build failed. Mend what it says and start the stream again."
        )
