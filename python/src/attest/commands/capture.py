"""`attest capture`: what an HTTP endpoint answers, kept to be landed."""

from __future__ import annotations

import argparse
import sys

from attest.contract import feeds_of, find_feed
from attest.errors import ContractError
from attest.fetch import Tools, capture, read_endpoint
from attest.project import Project


def run(project: Project, options: argparse.Namespace) -> int:
    feed = find_feed(feeds_of(project.root), options.feed)
    if feed.format != "capture":
        raise ContractError(f"The format of {feed.name} is {feed.format}, so it is not captured. Land its files.")
    tools = Tools(say=lambda text: print(text, file=sys.stderr))
    folder, why = capture(read_endpoint(project.root, feed.name), feed, tools=tools, restart=options.restart)
    if why is not None:
        print(f"attest: {feed.name}: {why}. {folder} says that it is incomplete.", file=sys.stderr)
        return 1
    print(folder)
    return 0
