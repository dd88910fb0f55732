"""`attest publish`: what was believed at the end of a day, to stay."""

from __future__ import annotations

import argparse

from attest.project import Project
from attest.publish import publish
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    print(publish(open_lake(project), project, entity=options.entity, day=options.day))
    return 0
