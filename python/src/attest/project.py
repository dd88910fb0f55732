"""What the command line reads of the project itself: its profile's output, its entities, its CSV files."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined, TemplateError

from attest.errors import AttestError, ContractError

LAKE = "attest.lake"


@dataclass(frozen=True)
class Project:
    root: Path
    schema: str
    parameters: dict[str, Any]
    entities: dict[str, dict[str, Any]]


def read_project(root: Path, *, target: str | None = None) -> Project:
    """The project as dbt sees it, without starting dbt; a relative lake is taken from the project's root.

    Only the chosen output is filled in: another's `env_var` need not be set here.
    """
    settings = read_yaml(root / "dbt_project.yml")
    name = settings.get("profile")
    where = Path(os.environ.get("DBT_PROFILES_DIR", root)) / "profiles.yml"
    profile = read_yaml(where, remedy=f"Copy {root / 'profiles.yml.example'} to it.").get(str(name))
    outputs = profile.get("outputs") if isinstance(profile, dict) else None
    if not isinstance(profile, dict) or not isinstance(outputs, dict):
        raise ContractError(f"{where} has no profile called {name!r} with outputs, which dbt_project.yml asks for.")
    chosen = target or render(profile.get("target", "default"), where)
    if chosen not in outputs:
        raise ContractError(f"{where} has no output called {chosen!r}, only {', '.join(map(str, outputs))}.")
    output = render(outputs[chosen], where)
    if not isinstance(output, dict) or not output.get("schema"):
        raise ContractError(f"{where}: output {chosen} has no schema. Name the one that dbt builds in.")
    entities = (settings.get("vars") or {}).get("entities") or {}
    parameters = dict(output.get("server_side_parameters") or {})
    if LAKE in parameters:
        parameters[LAKE] = str(root / str(parameters[LAKE]))
    return Project(root, output["schema"], parameters, entities)


def read_yaml(
    path: Path, *, remedy: str = "Call attest from the project's root, or name it with --project-dir."
) -> dict[str, Any]:
    if not path.is_file():
        raise ContractError(f"{path} is not there. {remedy}")
    try:
        parsed = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ContractError(f"{path} is not YAML: {' '.join(str(error).split())}. Correct it.") from None
    if not isinstance(parsed, dict):
        raise ContractError(f"{path} holds no settings. Correct it.")
    return parsed


def render(value: Any, path: Path) -> Any:
    """Fill in env_var(...) in a profile's values, as dbt does."""
    if isinstance(value, dict):
        return {key: render(member, path) for key, member in value.items()}
    if isinstance(value, list):
        return [render(member, path) for member in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    environment = Environment(undefined=StrictUndefined, autoescape=False)
    environment.globals["env_var"] = env_var
    try:
        return environment.from_string(value).render()
    except TemplateError as error:
        raise ContractError(f"{path}: {value!r} cannot be filled in: {error}. Only env_var is known here.") from None


def env_var(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, default)
    if value is None:
        raise ContractError(f"The environment variable {name} is not set, and the profile needs it.")
    return value


def read_text(path: Path, error: type[AttestError]) -> str:
    """A file that people edit: UTF-8 without a byte-order mark, lines that end in LF."""
    try:
        raw = path.read_bytes()
    except OSError as failure:
        raise error(f"{path} cannot be read ({failure.strerror}). Check its name and who may read it.") from None
    if raw.startswith(b"\xef\xbb\xbf"):
        raise error(f"{path}, line 1: starts with a byte-order mark. Save it as UTF-8 without one.")
    try:
        text = raw.decode()
    except UnicodeDecodeError as failure:
        line = raw[: failure.start].count(b"\n") + 1
        raise error(f"{path}, line {line}: is not UTF-8. Save the file as UTF-8.") from None
    if "\r" in text:
        line = text[: text.index("\r")].count("\n") + 1
        raise error(f"{path}, line {line}: ends with a carriage return. Save it with plain line ends (LF).")
    return text


def read_cells(path: Path, text: str, error: type[AttestError]) -> list[tuple[int, list[str]]]:
    """The header and each row, with the line where it starts; every row as wide as the header."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for cells in reader:
            rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as failure:
        raise error(f"{path}, line {line}: {failure}. Check the double quotes from there on.") from None
    if not rows or not rows[0][1]:
        raise error(f"{path}, line 1: the columns' names are missing. Write them there, separated by commas.")
    width = len(rows[0][1])
    for line, cells in rows:
        if not cells:
            raise error(f"{path}, line {line}: is blank. Remove the line.")
        if len(cells) != width:
            raise error(
                f"{path}, line {line}: has {len(cells)} cells, the header {width}. "
                "A comma inside a cell needs double quotes around the cell."
            )
    return rows
