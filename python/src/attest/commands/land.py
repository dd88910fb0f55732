"""`attest land`: files of a feed, as received."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from attest.commands.told import print_landing, tell_held
from attest.contract import feeds_of, find_feed
from attest.delivery import Snapshot, new_delivery
from attest.detect import inspector_of
from attest.files import found
from attest.land import land
from attest.ledger import BACKWARD
from attest.marks import standing_marks
from attest.project import Project
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    feeds = feeds_of(project.root)
    feed = find_feed(feeds, options.feed)
    found(options.paths)
    spark = open_lake(project)
    inspector = inspector_of(spark, project, feed, feeds)
    delivery = new_delivery(
        run_id=options.run_id,
        arrived_at=options.arrived_at,
        as_of=options.as_of,
        snapshot=Snapshot(complete=options.complete, expected=options.expected, scopes=tuple(options.scope)),
    )
    left_out = [mark.partition for mark in standing_marks(spark, project, feed.name) if mark.partition]
    landing = land(
        spark,
        feed=feed,
        table=f"{project.schema}.landing_{feed.name}",
        paths=options.paths,
        delivery=replace(delivery, inspect=inspector, left_out=left_out),
        say=lambda text: print(text, file=sys.stderr),
    )
    print_landing(feed.name, landing)
    if not landing.landings:
        print(f"{feed.name}: nothing new; run {delivery.run_id} landed this before")
    is_backward = any(one.capture and one.capture["status"] == BACKWARD for one in landing.landings)
    is_held = tell_held(spark, project, feed.name, landing)
    return 1 if landing.refused or is_backward or is_held or inspector.marked else 0
