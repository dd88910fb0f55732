"""`attest reproduce`: the beliefs of an earlier build again."""

from __future__ import annotations

import argparse

from attest.basis import reproduce
from attest.project import Project
from attest.session import open_lake


def run(project: Project, options: argparse.Namespace) -> int:
    found = reproduce(open_lake(project), project, options.basis)
    print(found.text)
    return 0 if found.is_same else 1
