"""`attest release`: land again what was held."""

from __future__ import annotations

import argparse
import sys

from attest.commands.told import print_notes, tell_held
from attest.contract import feeds_of, find_feed
from attest.land import Landed
from attest.marks import standing_marks
from attest.project import Project
from attest.release import held_landings, release
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    feed = find_feed(feeds_of(project.root), options.feed)
    spark = open_lake(project)
    table = f"{project.schema}.landing_{feed.name}"
    held = held_landings(spark, table, landing_id=options.landing)
    if not held:
        print(f"{feed.name}: nothing is held" + (f" of landing {options.landing}" if options.landing else ""))
        return 0
    is_held = False
    bad = {mark.partition for mark in standing_marks(spark, project, feed.name)}
    for one in held:
        if one.landing_id in bad:
            print(f"{feed.name}: landing {one.landing_id} is marked bad, so nothing of it is released", file=sys.stderr)
            continue
        landing = release(spark, feed=feed, table=table, held=one)
        print(f"{feed.name}: landing {one.landing_id}: released {landing.records} of {one.records} records")
        print_notes(feed.name, landing)
        is_held |= bool(landing.records) and tell_held(spark, project, feed.name, Landed([landing]))
    return 1 if is_held else 0
