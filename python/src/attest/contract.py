"""A feed's contract: how to read it (one row of `seeds/feeds.csv`) and what it promises (`seeds/promises.csv`).

A promise that is not there is not made; what follows from that is the gate's to say.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from attest.errors import ContractError
from attest.project import read_cells, read_text

FORMATS = ("jsonl", "csv", "parquet", "capture", "debezium")
INHERITANCES = ("as_known", "repaired")
REQUIRED = ("feed", "entity", "format", "source_type", "key_field", "inheritance")
OPTIONAL = ("source_time_field", "time_zone", "sequence_field", "other_fields")
NAME = re.compile(r"[a-z][a-z0-9_]*")
TYPE = re.compile(r"boolean|date|timestamp|int|bigint|json|xml|(decimal|fixed)\(([1-9]|[12][0-9]|3[0-8]),([0-9]|10)\)")
TYPES = "boolean, date, timestamp, int, bigint, decimal(18,2), fixed(18,2), json, xml"

# What a change event says of itself, beside the columns of its row.
EVENT_FIELDS = COMMITTED_AT, POSITION, OP, SNAPSHOT, SCHEMA, DEFAULTED, MOVED_FROM = (
    "__committed_at", "__position", "__op", "__snapshot", "__schema", "__defaulted", "__moved_from",
)  # fmt: skip

# What can be promised; a promise that takes a number or a text of its own has no list of choices.
CHOICES = {
    "key": ("stable",),
    "source_time": ("event", "as_of"),
    "extracts": ("whole",),
    "sequence": ("number", "parts", "lsn"),
    "load_type": ("full", "partial", "stated", "snapshot"),
    "omitted_fields": ("unmentioned", "null"),
    "unknown_fields": ("kept",),
    "deletes": ("flag", "blank", "absence", "never"),
    "fallback": ("arrival",),
    "on_worse": ("warn", "fail"),
    "replica_identity": ("default", "full"),
    "nulls": ("kept",),
}
SHARES = (
    *("missing_key", "repeated_key", "missing_source_time", "unreadable_source_time", "wrong_unit_source_time"),
    *("future_source_time", "backward_source_time", "one_source_time"),
)
NUMBERS = ("median_lag_hours", "longest_lag_hours", "frozen_landings")
MEASURES = (*SHARES, *NUMBERS)
BREAKERS = ("most_deletes", "most_deleted_share")
LIMITS = (*(f"most_{measure}" for measure in MEASURES), *BREAKERS)
FIELDS = ("scope_field", "expiry_field", "remark_field", "maker_field", "checker_field")
EVENTS = ("table", "event_schema", "unchanged_text", "epoch", "replica_identity", "nulls")
TEXTS = ("null_text", "table", "event_schema", "unchanged_text", "epoch", *FIELDS)
TOLERANCE = re.compile(r"[a-z][a-z0-9_]*:[0-9]{1,15}([.][0-9]{1,10})?")
SEVERAL = ("deletes", "null_text", "remark_field", "tolerance")
PROMISES = (*CHOICES, *TEXTS, *LIMITS, "tolerance")


# How a capture tells of its dataset: all of it, or what changed since the one before.
FULL, INCREMENTAL = "full_snapshot", "incremental_append"
CAPTURE_MODES = (FULL, INCREMENTAL)


class Authority(NamedTuple):
    """Whose word on a dataset counts, and told in which way."""

    vendor: str
    capture_mode: str


@dataclass(frozen=True)
class Feed:
    name: str
    entity: str
    format: str
    source_type: str
    key_field: str
    source_time_field: str | None
    time_zone: tzinfo | None
    sequence_field: str | None
    fields: frozenset[str]
    inheritance: str
    promises: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    authorities: Mapping[tuple[str, str], Authority] = field(default_factory=dict)
    event_schema: str | None = None

    def promised(self, promise: str) -> str | None:
        return self.first_promised.get(promise)

    @cached_property
    def first_promised(self) -> dict[str, str]:
        """Of each promise its first value, at hand: reading a record asks for a dozen."""
        return {promise: values[0] for promise, values in self.promises.items() if values}

    def all_promised(self, promise: str) -> tuple[str, ...]:
        return self.promises.get(promise, ())

    @cached_property
    def required_fields(self) -> tuple[str, ...]:
        """What no record may leave out: when it expires, who decided and reviewed it, what people are to know of it."""
        promised = ("expiry_field", "maker_field", "checker_field", "remark_field")
        return tuple(dict.fromkeys(name for promise in promised for name in self.all_promised(promise)))

    @cached_property
    def key_fields(self) -> tuple[str, ...]:
        """The fields that name the entity together; usually one."""
        return tuple(self.key_field.split())


def read_contracts(path: Path) -> dict[str, Feed]:
    """Every feed of the seed, by name. Its other columns (who owns it, why) are for people."""
    rows = rows_of(path, needed=(*REQUIRED, *OPTIONAL))
    promises = read_promises(path.with_name("promises.csv"))
    feeds: dict[str, Feed] = {}
    for where, row in rows:
        feed = to_feed(row, promises.get(row["feed"], {}), where=where, folder=path.parent)
        if feed.name in feeds:
            raise ContractError(f"{where}: feed {feed.name} has a contract already. Keep one of the two.")
        feeds[feed.name] = feed
    if any(feed.format == "capture" for feed in feeds.values()):
        authorities = read_authorities(path.with_name("authorities.csv"))
        feeds = {name: replace(feed, authorities=authorities) for name, feed in feeds.items()}
    strange = promises.keys() - feeds.keys()
    if strange:
        raise ContractError(
            f"{path.with_name('promises.csv')}: promises of {min(strange)}, which is no feed of {path.name}. "
            "Add its row there, or correct the name."
        )
    return feeds


def read_promises(path: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """What each feed promises, checked word by word; a promise without a reason is none."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for where, row in rows_of(path, needed=("feed", "promise", "value", "reason")):
        promise, value = row["promise"], row["value"]
        if promise not in PROMISES:
            raise ContractError(f"{where}: nothing called {promise!r} can be promised.{nearest(promise, PROMISES)}")
        if promise in CHOICES and value not in CHOICES[promise]:
            raise ContractError(f"{where}: {promise} is {value!r}, not {' or '.join(CHOICES[promise])}.")
        if promise in LIMITS and not re.fullmatch(r"[0-9]{1,15}([.][0-9]{1,9})?", value):
            raise ContractError(f"{where}: {promise} is {value!r}, no number. Write one such as 0.05 or 100.")
        if promise == "tolerance" and not TOLERANCE.fullmatch(value):
            raise ContractError(f"{where}: tolerance is {value!r}, not an attribute and a number like lot_size:0.001.")
        if not row["reason"]:
            raise ContractError(f"{where}: {promise} has no reason. Say why it may be relied on.")
        made = found.setdefault(row["feed"], {})
        if promise in made and (promise not in SEVERAL or value in made[promise]):
            raise ContractError(f"{where}: {row['feed']} promises {promise} already. Keep one of the two.")
        made[promise] = (*made.get(promise, ()), value)
    return found


def read_authorities(path: Path) -> dict[tuple[str, str], Authority]:
    """Whose captures of a dataset and scope count; one vendor each (section 9.4), an empty scope meaning any."""
    found: dict[tuple[str, str], Authority] = {}
    for where, row in rows_of(path, needed=("dataset", "scope", "vendor", "capture_mode", "reason")):
        if row["capture_mode"] not in CAPTURE_MODES:
            raise ContractError(f"{where}: capture_mode is {row['capture_mode']!r}, not {' or '.join(CAPTURE_MODES)}.")
        if (row["dataset"], row["scope"]) in found:
            raise ContractError(
                f"{where}: {row['dataset']} {row['scope']} has an authority already. Keep one of the two: two vendors "
                "would overwrite each other."
            )
        found[row["dataset"], row["scope"]] = Authority(row["vendor"], row["capture_mode"])
    return found


def rows_of(path: Path, *, needed: tuple[str, ...]) -> list[tuple[str, dict[str, str]]]:
    """The rows of a governed CSV file by column, each with where it stands."""
    if not path.is_file():
        raise ContractError(f"{path} is not there. Call attest from the project's root, or name it with --project-dir.")
    (_, header), *rows = read_cells(path, read_text(path, ContractError), ContractError)
    missing = [name for name in needed if name not in header]
    if missing:
        raise ContractError(
            f"{path}, line 1: has no column {', '.join(missing)}. Add it; {path.with_suffix('.yml').name} lists them."
        )
    return [(f"{path}, line {line}", dict(zip(header, cells, strict=True))) for line, cells in rows]


def to_feed(row: dict[str, str], promises: dict[str, tuple[str, ...]], *, where: str, folder: Path) -> Feed:
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
    keys, others = row["key_field"].split(), dict(typed(one, where=where) for one in row["other_fields"].split())
    named = [*keys, row["source_time_field"], row["sequence_field"], *others]
    if row["format"] == "debezium":
        named += EVENT_FIELDS
    feed = Feed(
        name=row["feed"],
        entity=row["entity"],
        format=row["format"],
        source_type=row["source_type"],
        key_field=row["key_field"],
        source_time_field=row["source_time_field"] or None,
        time_zone=time_zone,
        sequence_field=row["sequence_field"] or None,
        fields=frozenset(name for name in named if name),
        inheritance=row["inheritance"],
        promises=promises,
        types={name: of for name, of in others.items() if of},
        event_schema=read_event_schema(promises, folder=folder, where=where),
    )
    refuse_idle_promises(feed, where=where)
    refuse_odd_events(feed, where=where)
    return feed


def typed(field: str, *, where: str) -> tuple[str, str]:
    """A field's name and type, as in amount:decimal(18,2); without a type, any text will do."""
    name, _, of = field.partition(":")
    if of and not TYPE.fullmatch(of):
        raise ContractError(f"{where}: {field!r} has no type of ours. There are: {TYPES}.")
    return name, of


def refuse_idle_promises(feed: Feed, *, where: str) -> None:
    """Promises that could not be kept with the fields that there are."""
    if feed.promised("source_time") == "event" and not feed.source_time_field:
        raise ContractError(
            f"{where}: {feed.name} promises event time, but source_time_field is empty. Name the field."
        )
    if feed.promised("sequence") and not feed.sequence_field:
        raise ContractError(f"{where}: {feed.name} promises a sequence, but sequence_field is empty. Name the field.")
    for promise in FIELDS:
        for name in feed.all_promised(promise):
            if name not in feed.fields:
                raise ContractError(
                    f"{where}: the {promise} of {feed.name} is {name!r}, which is no field of it. Correct it."
                )
    proves_absence = (feed.promised("load_type"), feed.promised("source_time")) == ("snapshot", "as_of")
    if "absence" in feed.all_promised("deletes") and not proves_absence:
        raise ContractError(
            f"{where}: {feed.name} deletes by absence, which only a snapshot with its own time can show. "
            "Promise load_type snapshot and source_time as_of, or another way to delete."
        )


def read_event_schema(promises: dict[str, tuple[str, ...]], *, folder: Path, where: str) -> str | None:
    """The schema of events that bring none: a file beside the seeds, as the connector would have sent it."""
    if "event_schema" not in promises:
        return None
    text = read_text(folder / promises["event_schema"][0], ContractError)
    try:
        fields = json.loads(text)["fields"]
    except (ValueError, KeyError, TypeError):
        fields = None
    if not isinstance(fields, list):
        raise ContractError(
            f"{where}: the event_schema {promises['event_schema'][0]} is no schema with fields. "
            "Save the schema of one event that brings it, as JSON."
        )
    return text


def refuse_odd_events(feed: Feed, *, where: str) -> None:
    """What a feed of change events must promise, and what only such a feed can."""
    if feed.format != "debezium":
        idle = next((promise for promise in EVENTS if promise in feed.promises), None)
        if idle:
            raise ContractError(f"{where}: {feed.name} is {feed.format}, and only change events promise {idle}.")
        return
    if feed.promised("table") is None:
        raise ContractError(
            f"{where}: {feed.name} promises no table, and many may share a stream. Promise one, as public.customers."
        )
    if feed.promised("omitted_fields") == "null":
        raise ContractError(
            f"{where}: {feed.name} says that what an event omits is null, and a delete omits all but its key. "
            "Promise omitted_fields as unmentioned."
        )
    if not (feed.promised("epoch") or "0").isdigit():
        raise ContractError(f"{where}: the epoch of {feed.name} is {feed.promised('epoch')!r}, no whole number.")


def feeds_of(root: Path) -> dict[str, Feed]:
    """Every feed of a project."""
    return read_contracts(root / "seeds" / "feeds.csv")


def find_feed(contracts: dict[str, Feed], name: str) -> Feed:
    if name in contracts:
        return contracts[name]
    raise ContractError(f"No feed is called {name!r} in seeds/feeds.csv.{nearest(name, tuple(contracts))}")


def nearest(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f" Did you mean {near[0]}?" if near else f" There are: {', '.join(names)}."
