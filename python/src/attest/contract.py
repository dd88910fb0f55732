"""A feed's contract: what landing must find in each record. One row of `seeds/feeds.csv` a feed."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from attest.errors import ContractError
from attest.project import read_cells, read_text

FORMATS = ("jsonl",)
INHERITANCES = ("as_known", "repaired")
REQUIRED = ("feed", "entity", "format", "source_type", "key_field", "source_time_field", "inheritance")
OPTIONAL = ("time_zone", "sequence_field", "other_fields")
NAME = re.compile(r"[a-z][a-z0-9_]*")


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

    @cached_property
    def key_fields(self) -> tuple[str, ...]:
        """The fields that name the entity together; usually one."""
        return tuple(self.key_field.split())


def read_contracts(path: Path) -> dict[str, Feed]:
    """Every feed of the seed, by name. Its other columns (who owns it, why) are for people."""
    if not path.is_file():
        raise ContractError(f"{path} is not there. Call attest from the project's root, or name it with --project-dir.")
    (_, header), *rows = read_cells(path, read_text(path, ContractError), ContractError)
    missing = [name for name in (*REQUIRED, *OPTIONAL) if name not in header]
    if missing:
        raise ContractError(f"{path}, line 1: has no column {', '.join(missing)}. Add it; seeds/feeds.yml lists them.")
    feeds: dict[str, Feed] = {}
    for line, cells in rows:
        feed = to_feed(dict(zip(header, cells, strict=True)), where=f"{path}, line {line}")
        if feed.name in feeds:
            raise ContractError(f"{path}, line {line}: feed {feed.name} has a contract already. Keep one of the two.")
        feeds[feed.name] = feed
    return feeds


def to_feed(row: dict[str, str], *, where: str) -> Feed:
    for required in REQUIRED:
        if not row[required].strip():
            raise ContractError(f"{where}: {required} is empty. Every feed has one.")
    if not NAME.fullmatch(row["feed"]):
        raise ContractError(
            f"{where}: feed {row['feed']!r} names a table, landing_{row['feed']}. "
            "Use small letters, digits and underscores, a letter first."
        )
    if row["format"] not in FORMATS:
        raise ContractError(f"{where}: format {row['format']!r} is not one of {', '.join(FORMATS)}.")
    if row["inheritance"] not in INHERITANCES:
        raise ContractError(f"{where}: inheritance {row['inheritance']!r} is not one of {', '.join(INHERITANCES)}.")
    try:
        time_zone = ZoneInfo(row["time_zone"]) if row["time_zone"] else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ContractError(f"{where}: no time zone is called {row['time_zone']!r}. Try Europe/London.") from None
    named = [*row["key_field"].split(), row["source_time_field"], *row["other_fields"].split()]
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
