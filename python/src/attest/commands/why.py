"""`attest why`: what is believed of one entity, and why."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from attest.errors import OutputError
from attest.page import page
from attest.project import Project
from attest.session import open_lake
from attest.why import explain, open_case


def run(project: Project, options: argparse.Namespace) -> int:
    if options.html is not None:
        refuse_bad_place(options.html)
    spark = open_lake(project)
    case = open_case(
        spark, project, entity=options.entity, key=options.key, as_at=options.as_at, known_at=options.known_at
    )
    if options.html is None:
        print(explain(spark, project, case))
        return 0
    options.html.write_text(page(spark, project, case), encoding="utf-8")
    print(f"wrote {options.html}: open it in a browser; it needs nothing else")
    return 0


def refuse_bad_place(file: Path) -> None:
    """Said before anything is computed."""
    if file.is_dir():
        raise OutputError(f"{file} is a folder. Name the file in it.")
    if not file.parent.is_dir():
        raise OutputError(f"There is no folder {file.parent} to write {file.name} to. Make it first.")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise OutputError(f"{file} may not be written. Name another, or change who may.")
