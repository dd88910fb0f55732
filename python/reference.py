"""Write docs/reference: every command, seed and macro, from what the code says of itself."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from attest.cli import build_parser

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = "Written by `make reference`.\n"
FOLDERS = {
    "project": "Macros that know dbt: for models, hooks and questions.",
    "materializations": "How tables are written.",
    "evidence": "From landed rows to evidence.",
    "hashing": "Canonical values, hashes and keys.",
    "timeline": "From evidence to states and versions.",
    "belief": "From states to beliefs, and why.",
    "transactions": "Facts that happen once.",
    "gold": "Dimensions, their audit, and joins as of a time.",
    "strategies": "Steps of the tables that need no evidence.",
}


def pages() -> dict[str, str]:
    return {"commands.md": commands(), "seeds.md": seeds(), "macros.md": macros()}


def commands() -> str:
    parser = build_parser()
    parts = ["# Commands\n", WRITTEN, f"{parser.description}\n", *options(parser)]
    [action] = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    for name, command in action.choices.items():
        parts += [f"\n## attest {name}\n", f"{command.description}\n", *options(command)]
    return page(parts)


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    told = [one for one in parser._actions if one.help and one.dest != "help" and not isinstance(one.choices, dict)]
    if told:
        yield "| | |\n|---|---|"
    for one in told:
        needed = "; required" if one.option_strings and one.required else ""
        yield f"| `{call_of(one)}` | {cell(str(one.help))}{needed} |"


def call_of(option: argparse.Action) -> str:
    """As it is typed: `--seeds DIR`, `--plan`, `PATH`, `[FEED]`."""
    if not option.option_strings:
        return f"[{option.metavar}]" if option.nargs in ("?", "*") else f"{option.metavar}"
    return option.option_strings[-1] if option.nargs == 0 else f"{option.option_strings[-1]} {option.metavar}"


def seeds() -> str:
    parts = ["# Seeds\n", WRITTEN, "What people govern, in `seeds/`. The order of the columns is the file's.\n"]
    for file in sorted((ROOT / "seeds").glob("*.yml")):
        for seed in yaml.safe_load(file.read_text(encoding="utf-8"))["seeds"]:
            told = {column["name"]: column.get("description", "") for column in seed.get("columns", [])}
            parts += [f"\n## {seed['name']}\n", f"{seed['description']}\n", "| column | type | |\n|---|---|---|"]
            parts += [
                f"| `{name}` | {kind} | {cell(told.get(name, ''))} |"
                for name, kind in seed["config"]["column_types"].items()
            ]
    return page(parts)


def macros() -> str:
    parts = ["# Macros\n", WRITTEN, "Each file's first macro; what else it holds serves that one.\n"]
    for folder, purpose in FOLDERS.items():
        parts += [f"\n## {folder}\n", f"{purpose}\n"]
        parts += [entry(file) for file in sorted((ROOT / "macros" / folder).glob("*.sql"))]
    parts += ["\n## Tests\n", "Generic tests, for any table.\n"]
    parts += [entry(file) for file in sorted((ROOT / "tests/data/generic").glob("*.sql"))]
    return page(parts)


def entry(file: Path) -> str:
    """A file's own name, its arguments, and what its header says."""
    text = file.read_text(encoding="utf-8")
    header = re.search(r"{#-?\s*(.*?)\s*-?#}", text, re.DOTALL)
    call = re.search(r"{%-?\s*(?:macro|test)\s+(\w+)\((.*?)\)\s*-?%}", text, re.DOTALL)
    kept = re.search(r"{%-?\s*materialization\s+(\w+)", text)
    if header is None or (call is None and kept is None):
        raise SystemExit(f"{file.relative_to(ROOT)} has no header or no macro. Say above it what it is for.")
    named = kept[1] if call is None and kept is not None else ""
    if call is not None:
        named = f"{call[1]}({' '.join(call[2].split())})"
    purpose = re.split(r"\n\s*\n", header[1])[0]
    return f"- **`{named}`** {' '.join(purpose.split())}"


def page(parts: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)) + "\n"


def cell(text: str) -> str:
    return " ".join(text.replace("%%", "%").replace("|", "\\|").split())


def main() -> None:
    folder = ROOT / "docs" / "reference"
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
