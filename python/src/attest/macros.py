"""The engine's SQL without dbt: its macros are pure, so plain Jinja renders them.

The command line asks its questions with the very macros that the models are made of,
and the tests run them by the thousand.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

ENGINE = ("hashing", "evidence", "timeline", "belief", "transactions", "gold", "strategies")


def render(root: Path, macro: str, /, **arguments: Any) -> str:
    """The SQL that a macro writes for these arguments."""
    return str(getattr(engine(root), macro)(**arguments))


@cache
def engine(root: Path) -> Any:
    """All of the engine's macros as one Jinja module, since they call each other by name."""
    files = [file for folder in ENGINE for file in sorted((root / "macros" / folder).glob("*.sql"))]
    environment = Environment(undefined=StrictUndefined, extensions=["jinja2.ext.do"], autoescape=False)
    return environment.from_string("\n".join(file.read_text(encoding="utf-8") for file in files)).module
