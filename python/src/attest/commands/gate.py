"""`attest gate`: what promises let each feed become."""

from __future__ import annotations

import argparse

from attest.contract import feeds_of, find_feed
from attest.gate import judge
from attest.project import Project


def run(project: Project, options: argparse.Namespace) -> int:
    feeds = feeds_of(project.root)
    for feed in [find_feed(feeds, options.feed)] if options.feed else feeds.values():
        verdict = judge(feed, {})
        print(f"{feed.name}: {verdict.name}")
        for reason in verdict.reasons:
            print(f"  {reason}")
    return 0
