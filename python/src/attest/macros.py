"""The engine's SQL without dbt: its macros are pure, so plain Jinja renders them.

The command line asks its questions with the very macros that the models are made of,
and the tests run them by the thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from attest.errors import ContractError

ENGINE = ("hashing", "evidence", "timeline", "belief", "transactions", "gold", "strategies")


def render(root: Path, macro: str, /, **arguments: Any) -> str:
    """The SQL that a macro writes for these arguments."""
    return str(getattr(engine(root), macro)(**arguments))


def home(root: Path) -> Path:
    """Where attest's own macros, seeds and tests are: where `dbt deps` put them, or in the project itself."""
    installed = root / "dbt_packages" / "attest"
    return installed if installed.is_dir() else root


@cache
def engine(root: Path) -> Any:
    """All of the engine's macros as one module, since they call each other."""
    files = engine_files(home(root))
    if not files:
        raise ContractError(f"{root} has no macros of attest. If its packages.yml names attest, call `dbt deps`.")
    return module_of(template_of(files))


def engine_files(root: Path) -> list[Path]:
    return [file for folder in ENGINE for file in sorted((root / "macros" / folder).glob("*.sql"))]


def template_of(files: Sequence[Path], *more: str) -> Template:
    texts = [*(file.read_text(encoding="utf-8") for file in files), *more]
    environment = Environment(undefined=StrictUndefined, extensions=["jinja2.ext.do"], autoescape=False)
    return environment.from_string("\n".join(texts))


def module_of(template: Template, **known: Any) -> Any:
    """A template's macros; as in dbt, each finds the others under their package's name."""
    attest = SimpleNamespace(**known)
    module = template.make_module({**known, "attest": attest})
    vars(attest).update({name: macro for name, macro in vars(module).items() if not name.startswith("_")})
    return module
