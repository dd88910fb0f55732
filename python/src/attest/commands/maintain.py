"""`attest maintain`: upkeep of the tables."""

from __future__ import annotations

import argparse

from attest.maintain import maintain, plan
from attest.project import Project
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    spark = open_lake(project)
    tables = plan(spark, project.schema, names=options.tables, days=options.keep_days)
    for table in tables:
        print(table)
    for done in () if options.plan else maintain(spark, tables):
        print(done, flush=True)
    return 0
