"""Where the command line finds the project: its folder, its profile's output, its entities."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined, TemplateError

from attest.errors import ContractError


@dataclass(frozen=True)
class Project:
    root: Path
    schema: str
    parameters: dict[str, Any]
    entities: dict[str, dict[str, Any]]


def read_project(root: Path, *, target: str | None = None) -> Project:
    """The project as dbt sees it, without starting dbt; a relative lake is taken from the project's root."""
    settings = read_yaml(root / "dbt_project.yml")
    profile = read_yaml(root / "profiles.yml").get(settings.get("profile", ""))
    if profile is None:
        raise ContractError(f"{root / 'profiles.yml'} has no profile called {settings.get('profile')!r}.")
    outputs = profile["outputs"]
    chosen = target or profile["target"]
    if chosen not in outputs:
        raise ContractError(f"{root / 'profiles.yml'} has no output called {chosen!r}, only {', '.join(outputs)}.")
    output = outputs[chosen]
    entities = settings.get("vars", {}).get("entities", {})
    return Project(root, output["schema"], dict(output.get("server_side_parameters", {})), entities)


def read_yaml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ContractError(f"{path} is not there. Call attest from the project's root, or name it with --project-dir.")
    parsed = yaml.safe_load(path.read_text(encoding="utf-8"))
    rendered: dict[str, Any] = render(parsed, path)
    return rendered


def render(value: Any, path: Path) -> Any:
    """Fill in env_var(...) in a profile's values, as dbt does."""
    if isinstance(value, dict):
        return {key: render(member, path) for key, member in value.items()}
    if isinstance(value, list):
        return [render(member, path) for member in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 (text, no page)
    environment.globals["env_var"] = env_var
    try:
        return environment.from_string(value).render()
    except TemplateError as error:
        raise ContractError(f"{path}: {value!r} cannot be filled in: {error}") from None


def env_var(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, default)
    if value is None:
        raise ContractError(f"The environment variable {name} is not set, and the profile needs it.")
    return value
