"""`attest mark`: a partition is bad."""

from __future__ import annotations

import argparse
import getpass

from attest import marks
from attest.alerts import Alert, raise_alert
from attest.project import Project
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    word = marks.Word(whoever(options.by), options.reason)
    marks.require_word(word)
    spark = open_lake(project)
    target = marks.find_target(spark, project, options.feed)
    partitions = marks.partitions_named(spark, project, target, options.partition)
    stops = not (options.keep_landing or target.is_published)
    marks.set_marks(spark, project, target.name, partitions, word, stops_landing=stops)
    told = True
    for partition in partitions:
        message = f"{partition} was marked bad by {word.by}: {word.reason}"
        told &= raise_alert(spark, project.schema, Alert("marked", target.name, partition, message))
    if not target.is_published:
        print(f"{target.name}: the next `dbt build` leaves out {', '.join(partitions)}")
    if stops:
        print(f"{target.name}: what lands from now on is held, until `attest resume` or `attest unmark`")
    return 0 if told else 1


def whoever(named: str | None) -> str:
    """Who calls, where nobody else is named."""
    if named is not None:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
