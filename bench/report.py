"""Make `docs/performance.md` of what the benchmarks kept: a table each, with when and where it was measured.

A benchmark that was not run here keeps the table that the page has.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from lake import RESULTS, ROOT

PAGE = ROOT / "docs" / "performance.md"
BENCHES = ("bronze", "silver", "write", "land", "gold", "historic", "build")
INTRODUCTION = """# What it costs

Every table is one run of a benchmark: contenders take turns in one session on the same rows, and what each made is
compared with the right answer, untimed. Machines are shared and noisy, so read the ratios, not the seconds; a ratio
is to the contender that has 1.0. `make bench` runs all of them and writes this page; a single one is run by the
command over its table, and `make bench-report` puts it here.
"""
SHOWN = {
    "case": "case", "contender": "contender", "seconds": "seconds", "ratio": "ratio", "to_no_news": "to no news",
    "rows_per_second": "rows/s", "events_per_second": "events/s", "bytes": "bytes", "files": "files",
    "commits": "commits", "wrong": "wrong", "lost": "lost", "peak_gib": "peak GiB",
}  # fmt: skip


def section(name: str, kept: dict[str, Any]) -> str:
    module = ast.parse((ROOT / "bench" / f"{name}.py").read_text(encoding="utf-8"))
    title = (ast.get_docstring(module) or "").splitlines()[0].rstrip(".")
    command = f"{kept['asked']} make bench-{name}".strip()
    columns = [one for one in SHOWN if any(one in row for row in kept["rows"])]
    lines = ["| " + " | ".join(SHOWN[one] for one in columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(shown(row, one) for one in columns) + " |" for row in kept["rows"]]
    where = f"{kept['at']}, {kept['on']}."
    return f"## {title}\n\n{where}\n\n```sh\n{command}\n```\n\n" + "\n".join(lines) + "\n"


def shown(row: dict[str, Any], column: str) -> str:
    value = row.get(column, "")
    text = f"{value:,}" if isinstance(value, int | float) else str(value)
    return f"{text}, wrong" if column == "contender" and row.get("correct") is False else text


def sections(page: str) -> dict[str, str]:
    """What the page has of each benchmark, by the command that repeats it."""
    parts = re.split(r"(?m)^(?=## )", page)[1:]
    return {found[1]: part for part in parts if (found := re.search(r"make bench-(\w+)\n", part))}


def main() -> None:
    has = sections(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    for name in BENCHES:
        results = RESULTS / f"{name}.json"
        if results.exists():
            has[name] = section(name, json.loads(results.read_text(encoding="utf-8")))
    text = "\n".join([INTRODUCTION, *(has[name].rstrip() + "\n" for name in BENCHES if name in has)])
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {', '.join(name for name in BENCHES if name in has) or 'nothing measured yet'}")


if __name__ == "__main__":
    main()
