"""Commands that ask dbt, in this process, about the project that they are called for."""

from __future__ import annotations

import os
from typing import Any

from attest.project import Project


def dbt(project: Project, *words: str, target: str | None) -> Any:
    from dbt.cli.main import dbtRunner  # noqa: PLC0415 (a second that only these commands need)

    profiles = os.environ.get("DBT_PROFILES_DIR", str(project.root))
    places = ["--project-dir", str(project.root), "--profiles-dir", profiles]
    return dbtRunner().invoke([*words, *places, *(["--target", target] if target else [])])
