"""A feed's contract: what landing must find in each record. One row of `seeds/feeds.csv` a feed."""

from __future__ import annotations

import csv
import difflib
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from attest.errors import ContractError

FORMATS = ("jsonl",)
INHERITANCES = ("as_known", "repaired")


@dataclass(frozen=True)
class Feed:
    name: str
    entity: str
    format: str
    source_type: str
    key_field: str
    source_time_field: str
    time_zone: tzinfo | None
    sequence_field: str | None
    fields: frozenset[str]
    inheritance: str


def read_contracts(path: Path) -> dict[str, Feed]:
    """Every feed of the seed, by name."""
    if not path.is_file():
        raise ContractError(f"{path} is not there. Call attest from the project's root, or name it with --project-dir.")
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        return {row["feed"]: to_feed(row, where=f"{path}, line {reader.line_num}") for row in reader}


def to_feed(row: dict[str, str], *, where: str) -> Feed:
    if row["format"] not in FORMATS:
        raise ContractError(f"{where}: format {row['format']!r} is not one of {', '.join(FORMATS)}.")
    if row["inheritance"] not in INHERITANCES:
        raise ContractError(f"{where}: inheritance {row['inheritance']!r} is not one of {', '.join(INHERITANCES)}.")
    for required in ("feed", "entity", "key_field", "source_time_field"):
        if not row[required]:
            raise ContractError(f"{where}: {required} is empty. Every feed has one.")
    try:
        time_zone = ZoneInfo(row["time_zone"]) if row["time_zone"] else None
    except (ZoneInfoNotFoundError, ValueError):
        raise ContractError(f"{where}: no time zone is called {row['time_zone']!r}. Try Europe/London.") from None
    named = [row["key_field"], row["source_time_field"], *row["other_fields"].split()]
    sequence = row["sequence_field"] or None
    return Feed(
        name=row["feed"],
        entity=row["entity"],
        format=row["format"],
        source_type=row["source_type"],
        key_field=row["key_field"],
        source_time_field=row["source_time_field"],
        time_zone=time_zone,
        sequence_field=sequence,
        fields=frozenset([*named, sequence] if sequence else named),
        inheritance=row["inheritance"],
    )


def find_feed(contracts: dict[str, Feed], name: str) -> Feed:
    if name in contracts:
        return contracts[name]
    near = difflib.get_close_matches(name, contracts, n=1)
    hint = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(sorted(contracts))}."
    raise ContractError(f"No feed is called {name!r} in seeds/feeds.csv.{hint}")
