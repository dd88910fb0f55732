"""Small cases with their answers, packed in one frame: what every engine must get right, and every mutant must not.

A case is an entity of its own, and its name is the entity's key: the golden cases under both inheritances, sharp
ones for what no golden case tells apart, and small histories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import engine
import oracle
import pyarrow as pa
from cases import golden
from histories import Event, every_history, key_of, told


@dataclass(frozen=True)
class Case:
    name: str
    inheritance: str
    events: Sequence[Event]
    timeline: Sequence[Mapping[str, Any]]


def said(source: str, at: int, arrival: int, **what: Any) -> Event:
    """What a source says of a day in March, received on a day in April."""
    return {
        "source_system": source,
        "source_event_ts": f"2026-03-{at:02}T00:00:00.000000Z",
        "ingest_ts": f"2026-04-{arrival:02}T00:00:00.000000Z",
        "source_file": f"file_{arrival}.jsonl",
        "ingest_run_id": f"run_{arrival}",
        **what,
    }


SHARP: dict[str, Sequence[Event]] = {
    "a_late_partial_takes_its_own_source_first": [
        said("CRM", 1, 1, name="Ann"),
        said("CORE", 2, 2, name="Bea"),
        said("CORE", 3, 9, address="new"),
        said("CRM", 4, 3, status="on"),
    ],
    "a_late_partial_takes_any_source_where_its_own_never_spoke": [
        said("CRM", 1, 1, name="Ann"),
        said("CRM", 2, 9, address="new"),
        said("CORE", 3, 2, status="on"),
    ],
    "among_late_facts_arrival_at_the_same_instant_counts_as_known": [
        said("CRM", 1, 5, name="Ann"),
        said("CRM", 2, 9, address="new"),
        said("CORE", 3, 5, status="on"),
    ],
    "a_repeat_does_not_come_after_what_tied_with_it": [
        said("CRM", 1, 1, name="Ann"),
        said("CRM", 1, 2, name="Bea"),
        said("CRM", 1, 3, name="Ann"),
    ],
    "the_higher_rank_comes_first_whatever_its_name": [
        said("CORE", 1, 1, name="Ann", precedence_rank=1),
        said("CRM", 1, 1, name="Bea", precedence_rank=2),
    ],
    "copies_that_arrive_at_once_stand_by_their_rank_and_not_by_their_line": [
        said("CRM", 1, 1, name="Ann", precedence_rank=3, load_type="PARTIAL"),
        said("CRM", 1, 1, name="Ann", precedence_rank=1, load_type="FULL"),
        said("CORE", 1, 1, name="Bea", precedence_rank=2),
    ],
    "what_is_unknown_becomes_null": [said("CRM", 1, 1, name="Ann"), said("CRM", 2, 2, address=None)],
    "values_that_hold_quotes_and_delimiters_do_not_collide": [
        said("CRM", 1, 1, address='a"|"b', name="c", status="x"),
        said("CRM", 2, 2, address="a", name='b"|"c', status="x"),
    ],
}


def spoken() -> list[Case]:
    """The cases that have a sentence for a name."""
    cases = []
    for case in golden():
        for inheritance in ("as_known", "repaired"):
            cases.append(named(case["name"], inheritance, case["events"], case[f"timeline_{inheritance}"]))
    return cases + [judged(name, events) for name, events in SHARP.items()]


def small() -> list[Case]:
    """Every seventh history of two events, which meets each kind of event in both places."""
    return [judged(key_of(history), told(history)) for history in islice(every_history(2), 0, None, 7)]


def judged(name: str, events: Sequence[Event]) -> Case:
    """A case whose answer is the oracle's."""
    return named(name, "as_known", events, oracle.timeline([event | {"customer_id": name} for event in events]))


def named(name: str, inheritance: str, events: Sequence[Event], timeline: Sequence[Mapping[str, Any]]) -> Case:
    key = name if inheritance == "as_known" else f"{name}/{inheritance}"
    return Case(key, inheritance, [event | {"customer_id": key} for event in events], timeline)


def landed(cases: Iterable[Case]) -> pa.Table:
    """All cases as one landing, each under its own inheritance."""
    kept = list(cases)
    return pa.concat_tables(
        engine.landed(
            (event for case in kept if case.inheritance == inheritance for event in case.events),
            feed=engine.contract(inheritance=inheritance),
        )
        for inheritance in ("as_known", "repaired")
    )


def wrong(cases: Iterable[Case], found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """The cases that an engine's timelines get wrong."""
    return [case.name for case in cases if found.get(case.name) != case.timeline]
