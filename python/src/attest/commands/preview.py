"""`attest preview`: what edited rules would change."""

from __future__ import annotations

import argparse

from attest.preview import preview
from attest.project import Project
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    seeds = options.seeds or project.root / "seeds"
    print(preview(open_lake(project), project, entities=options.entities, seeds=seeds))
    return 0
