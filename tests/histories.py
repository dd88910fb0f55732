"""Histories to prove the engine on: every small one, and large nasty ones from a seed."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, NamedTuple

from cases import text
from oracle import ATTRIBUTES, UNCHANGED

Event = dict[str, Any]
SOURCES = ("CRM", "CORE")
RANKS = {"CRM": 1, "CORE": 2}
TIMES = ("2026-03-01T00:00:00.000000Z", "2026-03-02T00:00:00.000000Z", "2026-03-03T00:00:00.000000Z")
ACTIONS = ("create", "update", "delete")
VALUES = ("a", "b")


class Kind(NamedTuple):
    source: str
    time: str
    action: str
    value: str


KINDS = [Kind(*parts) for parts in product(SOURCES, TIMES, ACTIONS, VALUES)]
SPOKEN = {"create": ("name", "address", "status"), "update": ("name",), "delete": ("status",)}


def every_history(length: int) -> Iterator[tuple[Kind, ...]]:
    """All arrival-ordered histories: the place of an event in its history is its arrival."""
    return product(KINDS, repeat=length)


def key_of(history: Sequence[Kind]) -> str:
    return "-".join(str(KINDS.index(kind)) for kind in history)


def told(history: Sequence[Kind]) -> list[Event]:
    """A history as events of the worked shape, each with its own arrival, file and run."""
    key = key_of(history)
    return [event(kind, place, key) for place, kind in enumerate(history)]


def event(kind: Kind, place: int, key: str) -> Event:
    return {
        "customer_id": key,
        "source_system": kind.source,
        "source_event_ts": kind.time,
        "ingest_ts": f"2026-04-01T00:00:0{place}.000000Z",
        "source_file": f"file_{place}.jsonl",
        "ingest_run_id": f"run_{place}",
        "precedence_rank": RANKS[kind.source],
        "load_type": "FULL" if kind.action == "create" else "PARTIAL",
        "is_deleted": kind.action == "delete",
        **dict.fromkeys(SPOKEN[kind.action], kind.value),
    }


NASTY = (
    *("", " ", "  a  ", "A", "a", "á", "a\u0301", "\u00a0a", "|", "a|b", "1:a", "-", "null", '"', "'", "\\"),
    *("a\tb", "a\u2028b", "{{ this }}", "-- x", "😀", "ﬀ", "__debezium_unavailable_value_", "a" * 300),
)


def run_seed() -> int:
    """One for the whole run, so that its processes draw the same: ATTEST_SEED, else a new one."""
    return int(os.environ.setdefault("ATTEST_SEED", str(random.SystemRandom().randrange(10**9))))


def random_histories(seed: int, entities: int) -> dict[str, list[Event]]:
    """Nasty ones: ties, nulls, partials, repeats, late facts, odd text, deletes and revivals.

    A tenth have 50 assertions or more; every second has a tie, every second a late event;
    of each ten, seven have three sources or more.
    """
    chance = random.Random(seed)
    return {f"r{number}": random_history(chance, f"r{number}", number) for number in range(entities)}


def random_history(chance: random.Random, key: str, number: int) -> list[Event]:
    sources = [f"S{n}" for n in range(chance.randint(3, 5) if number % 10 < 7 else 2)]
    length = chance.randint(50, 120) if number % 10 == 0 else chance.randint(3, 14)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    at = [
        start + timedelta(hours=chance.randint(0, 3 * length), microseconds=chance.randint(0, 2)) for _ in range(length)
    ]
    at.sort()
    if number % 5 < 3:
        tied = chance.randrange(length - 1)
        at[tied + 1] = at[tied]
    if number % 3 < 2:
        at.append(at.pop(chance.randrange(length - 1)))  # the newest to arrive is older than others
    events = [
        random_event(chance, key, chance.choice(sources), source_time, start + timedelta(days=60, seconds=second))
        | {"source_file": f"f{place % 4}.jsonl"}
        for place, source_time in enumerate(at)
        for second in [place - place % 2 if number % 4 < 2 else place]  # two by two, or each by itself
    ]
    for place in range(0, length, 7):  # told again later: a repeat
        again = start + timedelta(days=61, seconds=place)
        events.append(events[place] | {"ingest_ts": text(again), "ingest_run_id": f"again_{place}"})
    return events


def random_event(chance: random.Random, key: str, source: str, at: datetime, arrival: datetime) -> Event:
    made: Event = {
        "customer_id": key,
        "source_system": source,
        "source_event_ts": text(at),
        "ingest_ts": text(arrival),
        "ingest_run_id": f"run_{chance.randint(0, 3)}",
        "precedence_rank": chance.choice((None, 0, 1, 2)),
        "source_sequence_id": chance.choice((None, 1, 2, 9, 10, 100)),
        "is_deleted": chance.random() < 0.1,
    }
    for attribute in ATTRIBUTES:
        said = chance.random()
        if said < 0.08:
            made[attribute] = None
        elif said < 0.16:
            made[attribute] = UNCHANGED
        elif said < 0.55:
            made[attribute] = chance.choice(NASTY)
    return made
