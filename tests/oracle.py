"""A second, independent reading of the laws: plain Python, brute force, nothing of the engine.

Events are lines of the worked shape. Nothing here is fast; everything is direct.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UNCHANGED = "__debezium_unavailable_value"
ATTRIBUTES = ("name", "address", "status")
Event = Mapping[str, Any]


@dataclass
class Assertion:
    """One thing one source said (E1), with the first copy's provenance and the sightings of all."""

    bk: str
    source: str
    at: str
    sequence: float | None
    deleted: bool
    mentions: dict[str, str | None]
    unchanged: set[str]
    arrivals: list[tuple[str, str, str, int]]

    @property
    def first(self) -> tuple[str, str, str, int]:
        return min(self.arrivals)

    @property
    def arrival(self) -> str:
        return self.first[0]


def canonical(value: str | None) -> str | None:
    return None if value is None else value.strip(" ")


def read(events: Sequence[Event]) -> list[Assertion]:
    """Distinct assertions, repeats folded (E1, E3)."""
    found: dict[str, Assertion] = {}
    for event in events:
        mentions = {a: canonical(event[a]) for a in ATTRIBUTES if a in event and event[a] != UNCHANGED}
        unchanged = {a for a in ATTRIBUTES if event.get(a) == UNCHANGED}
        deleted = bool(event.get("is_deleted"))
        sequence = event.get("source_sequence_id")
        key, source, at = event["customer_id"], event["source_system"], event["source_event_ts"]
        identity = json.dumps([key, source, at, sequence, sorted(mentions.items()), sorted(unchanged), deleted])
        copy = (
            event["ingest_ts"],
            event.get("source_file", "events.jsonl"),
            event.get("ingest_run_id", "L1"),
            event.get("precedence_rank") or 0,
        )
        if identity in found:
            found[identity].arrivals.append(copy)
        else:
            found[identity] = Assertion(key, source, at, sequence, deleted, mentions, unchanged, [copy])
    return list(found.values())


def in_order(assertions: Sequence[Assertion]) -> list[Assertion]:
    """E4, to the step before payload bytes."""
    return sorted(
        assertions,
        key=lambda a: (
            a.at,
            -a.first[3],
            a.sequence is None,
            a.sequence or 0,
            a.first[1],
            a.first[2],
            a.arrival,
            a.source,
            a.deleted,
        ),
    )


def last_mention(
    earlier: Sequence[Assertion], attribute: str, *, source: str | None, known_at: str | None
) -> tuple[str | None] | None:
    for assertion in reversed(earlier):
        if attribute not in assertion.mentions or (source is not None and assertion.source != source):
            continue
        if known_at is None or assertion.arrival <= known_at:
            return (assertion.mentions[attribute],)
    return None


def state(ordered: Sequence[Assertion], place: int, *, repaired: bool) -> dict[str, str | None]:
    """B2 and E3: unknown attributes are absent."""
    said, earlier = ordered[place], ordered[:place]
    limit = None if repaired else said.arrival
    whole: dict[str, str | None] = {}
    for attribute in ATTRIBUTES:
        if attribute in said.mentions:
            value: tuple[str | None] | None = (said.mentions[attribute],)
        elif attribute in said.unchanged:
            value = last_mention(earlier, attribute, source=said.source, known_at=None)
        else:
            value = last_mention(earlier, attribute, source=said.source, known_at=limit) or last_mention(
                earlier, attribute, source=None, known_at=limit
            )
        if value is not None:
            whole[attribute] = value[0]
    return whole


def timeline(events: Sequence[Event], *, repaired: bool = False) -> list[dict[str, Any]]:
    """B3 and B4 for the events of one entity."""
    ordered = in_order(read(events))
    versions: list[dict[str, Any]] = []
    previous: object = None
    for place, assertion in enumerate(ordered):
        whole = state(ordered, place, repaired=repaired)
        held = (assertion.source, assertion.deleted, whole)
        if held != previous:
            if versions:
                versions[-1]["effective_to"] = assertion.at
                versions[-1]["is_current"] = False
            versions.append(
                {
                    "source_system": assertion.source,
                    "effective_from": assertion.at,
                    "effective_to": None,
                    **{attribute: whole.get(attribute) for attribute in ATTRIBUTES},
                    "unknown": [attribute for attribute in ATTRIBUTES if attribute not in whole],
                    "is_deleted": assertion.deleted,
                    "is_current": True,
                    "first_seen_ts": assertion.arrival,
                    "last_seen_ts": max(assertion.arrivals)[0],
                }
            )
            previous = held
        else:
            versions[-1]["first_seen_ts"] = min(versions[-1]["first_seen_ts"], assertion.arrival)
            versions[-1]["last_seen_ts"] = max(versions[-1]["last_seen_ts"], max(assertion.arrivals)[0])
    return versions


@dataclass(frozen=True)
class Rule:
    group: str
    source: str
    rank: int
    kind: str
    effective_from: str = "1900"
    effective_to: str | None = None
    known_from: str = "1900"
    known_to: str | None = None


DEMO_RULES = (
    Rule("address", "CORE", 2, "most_recent"),
    Rule("address", "CRM", 1, "most_recent"),
    Rule("is_deleted", "CORE", 2, "highest_rank"),
    Rule("name", "CORE", 2, "most_recent"),
    Rule("name", "CRM", 1, "most_recent"),
    Rule("status", "CORE", 2, "highest_rank"),
    Rule("status", "CRM", 1, "highest_rank"),
)


def belief(
    events: Sequence[Event], *, as_at: str, known_at: str | None, rules: Sequence[Rule] = DEMO_RULES
) -> tuple[dict[str, Any], dict[str, str | None]] | None:
    """S1 to S7 at one instant: the belief and each attribute's winning source; None before existence."""
    known = [a for a in in_order(read(events)) if a.at <= as_at and (known_at is None or a.arrival <= known_at)]
    if not known:
        return None
    values: dict[str, Any] = {}
    winners: dict[str, str | None] = {}
    for attribute in (*ATTRIBUTES, "is_deleted"):
        best: tuple[Any, ...] | None = None
        for rule in rules:
            if rule.group != attribute or not holds(rule, as_at, known_at):
                continue
            said = [
                (place, a)
                for place, a in enumerate(known)
                if a.source == rule.source and (attribute == "is_deleted" or attribute in a.mentions)
            ]
            if not said:
                continue
            place, claim = said[-1]
            value = claim.deleted if attribute == "is_deleted" else claim.mentions[attribute]
            by_rank, by_time = (rule.rank, claim.at), (claim.at, rule.rank)
            standing = (*(by_rank if rule.kind == "highest_rank" else by_time), place)
            if best is None or standing > best[0]:
                best = (standing, value, rule.source)
        values[attribute] = best[1] if best else (False if attribute == "is_deleted" else None)
        winners[attribute] = best[2] if best else None
    return values, winners


def holds(rule: Rule, as_at: str, known_at: str | None) -> bool:
    effective = rule.effective_from <= as_at and (rule.effective_to is None or as_at < rule.effective_to)
    if known_at is None:
        return effective and rule.known_to is None
    return effective and rule.known_from <= known_at and (rule.known_to is None or known_at < rule.known_to)
