"""`attest resume` and `attest unmark`: landing goes on, or the partition was good after all."""

from __future__ import annotations

import argparse

from attest import marks
from attest.alerts import Alert, raise_alert
from attest.commands.mark import whoever
from attest.project import Project
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    word = marks.Word(whoever(options.by), options.reason)
    marks.require_word(word)
    spark = open_lake(project)
    target = marks.find_target(spark, project, options.feed)
    standing = {mark.partition for mark in marks.standing_marks(spark, project, target.name)}
    # A check marks a landing before it is there; if it never came, only the mark knows its name.
    named = [options.partition] if options.partition in standing else None
    partitions = named or marks.partitions_named(spark, project, target, options.partition)
    marks.clear_marks(spark, project, target.name, partitions, word, landing_only=options.landing_only)
    kind, what = ("resumed", "landing goes on beside") if options.landing_only else ("cleared", "the mark is gone of")
    message = f"{what} {', '.join(partitions)}, by {word.by}: {word.reason}"
    told = raise_alert(spark, project.schema, Alert(kind, target.name, partitions[0], message))
    if not target.is_published:
        print(f"{target.name}: the next `dbt build` has what was held")
    return 0 if told else 1
