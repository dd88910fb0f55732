"""A second, independent reading of the laws: plain Python, brute force, nothing of the engine.

Events are lines of the worked shape. Nothing here is fast; everything is direct.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
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
    source: str | None
    rank: int | None
    kind: str
    effective_from: str = "1900"
    effective_to: str | None = None
    known_from: str = "1900"
    known_to: str | None = None
    severity: tuple[str, ...] = ()
    may_clear: bool = False
    quorum: int = 0
    fresh_days: int | None = None
    coupled_to: str | None = None


DEMO_RULES = (
    Rule("address", "CORE", 2, "most_recent"),
    Rule("address", "CRM", 1, "most_recent"),
    Rule("is_deleted", "CORE", 2, "highest_rank"),
    Rule("name", "CORE", 2, "most_recent"),
    Rule("name", "CRM", 1, "most_recent"),
    Rule("status", "CORE", 2, "highest_rank"),
    Rule("status", "CRM", 1, "highest_rank"),
)


@dataclass(frozen=True)
class Mark:
    """C4 and S6: what a run delivered is left out by whoever knows of the mark and not of its clearing."""

    run: str
    marked_at: str
    cleared_at: str | None = None

    def stood(self, known_at: str | None) -> bool:
        if known_at is None:
            return self.cleared_at is None
        return self.marked_at <= known_at and (self.cleared_at is None or known_at < self.cleared_at)


def counted(events: Sequence[Event], marks: Sequence[Mark], known_at: str | None) -> list[Event]:
    marked = {mark.run for mark in marks if mark.stood(known_at)}
    return [event for event in events if event.get("ingest_run_id") not in marked]


Held = tuple[Any, str | None, str | None]  # value, source, caveat
NOBODY: Held = (None, None, None)


@dataclass(frozen=True)
class Word:
    """An explicit mention of one attribute by a listed source, with its place in the total order."""

    place: int
    at: str
    source: str
    value: str | None
    rule: Rule

    @property
    def fresh_until(self) -> str:
        if self.rule.fresh_days is None:
            return "9999"
        at = datetime.fromisoformat(self.at) + timedelta(days=self.rule.fresh_days)
        return f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"


def belief(
    events: Sequence[Event],
    *,
    as_at: str,
    known_at: str | None,
    rules: Sequence[Rule] = DEMO_RULES,
    without: Assertion | None = None,
) -> tuple[dict[str, Any], dict[str, str | None]] | None:
    """S1 to S7 at one instant: the belief and each attribute's winning source; None before existence."""
    held = held_at(events, as_at=as_at, known_at=known_at, rules=rules, without=without)
    if held is None:
        return None
    values = {attribute: value for attribute, (value, _, _) in held.items()}
    values["is_deleted"] = values["is_deleted"] is True
    return values, {attribute: source for attribute, (_, source, _) in held.items()}


def held_at(
    events: Sequence[Event],
    *,
    as_at: str,
    known_at: str | None,
    rules: Sequence[Rule] = DEMO_RULES,
    without: Assertion | None = None,
    marks: Sequence[Mark] = (),
) -> dict[str, Held] | None:
    """What is held of each attribute, on whose word, and with which caveat."""
    left = counted(events, marks, known_at)
    known = [a for a in in_order(read(left)) if a.at <= as_at and (known_at is None or a.arrival <= known_at)]
    known = [a for a in known if a != without]
    if not known:
        return None
    in_force = [rule for rule in rules if holds(rule, as_at, known_at)]
    return {attribute: decide(known, attribute, in_force, as_at) for attribute in (*ATTRIBUTES, "is_deleted")}


def decide(known: Sequence[Assertion], attribute: str, rules: Sequence[Rule], as_at: str) -> Held:
    own = [rule for rule in rules if rule.group == attribute]
    for rule in own:
        if rule.coupled_to is not None:
            _, source, caveat = decide(known, rule.coupled_to, rules, as_at)
            said = [a for a in known if a.source == source and mentions(a, attribute)]
            return (value_of(said[-1], attribute) if said else None), source, caveat
    words = [
        Word(place, a.at, a.source, value_of(a, attribute), rule)
        for place, a in enumerate(known)
        for rule in own
        if rule.source == a.source and mentions(a, attribute)
    ]
    if not words:
        return NOBODY
    if words[0].rule.kind == "quorum":
        return by_quorum(words, as_at)
    candidates = since_cleared(words) if words[0].rule.kind == "escalate_only" else latest(words)
    if not candidates:
        return NOBODY
    fresh = [word for word in candidates if as_at < word.fresh_until]
    if fresh:
        winner = max(fresh, key=lambda word: standing(word, words))
        return winner.value, winner.source, None
    winner = max(candidates, key=lambda word: (word.fresh_until, *standing(word, words)))
    return winner.value, winner.source, "stale"


def mentions(assertion: Assertion, attribute: str) -> bool:
    return attribute == "is_deleted" or attribute in assertion.mentions


def value_of(assertion: Assertion, attribute: str) -> Any:
    return assertion.deleted if attribute == "is_deleted" else assertion.mentions[attribute]


def latest(words: Sequence[Word]) -> list[Word]:
    return list({word.source: word for word in words}.values())


def standing(word: Word, words: Sequence[Word]) -> tuple[Any, ...]:
    """S2: what is compared, kind by kind; what still ties is settled by the place in the order."""
    by_time = (word.at, word.rule.rank, word.place)
    match word.rule.kind:
        case "highest_rank":
            return (word.rule.rank, word.at, word.place)
        case "most_recent_change":
            return (changed_at(word, words), word.rule.rank, word.place)
        case "longest":
            return (-1 if word.value is None else len(word.value), *by_time)
        case "largest":
            return (-math.inf if word.value is None else number(word.value), *by_time)
        case "escalate_only":
            return (word.rule.severity.index(str(word.value)), *by_time)
    return by_time


def number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return -math.inf


def changed_at(word: Word, words: Sequence[Word]) -> str:
    """When the source began to say what it says now."""
    at = word.at
    for earlier in reversed([one for one in words if one.source == word.source and one.place < word.place]):
        if earlier.value != word.value:
            break
        at = earlier.at
    return at


def since_cleared(words: Sequence[Word]) -> list[Word]:
    """A word of a source that may clear starts anew; what has no severity says nothing."""
    kept: list[Word] = []
    for word in words:
        if str(word.value) not in word.rule.severity:
            continue
        if word.rule.may_clear:
            kept = []
        kept.append(word)
    return kept


def by_quorum(words: Sequence[Word], as_at: str) -> Held:
    """At each moment up to now: the value that enough sources agree on; the last that there was, if none now."""
    moments = sorted({*(word.at for word in words), *(word.fresh_until for word in words), as_at})
    settled: Held = NOBODY
    for moment in moments:
        if moment > as_at:
            break
        says = [word for word in latest([w for w in words if w.at <= moment]) if moment < word.fresh_until]
        agreeing = [[other for other in says if other.value == word.value] for word in says]
        enough = [group for group in agreeing if len(group) >= group[0].rule.quorum]
        if enough:
            group = max(enough, key=lambda g: (len(g), *max(standing(w, words) for w in g)))
            winner = max(group, key=lambda w: standing(w, words))
            settled = (winner.value, winner.source, None)
        else:
            settled = (settled[0], settled[1], "unsettled" if settled != NOBODY else None)
    return settled


def holds(rule: Rule, as_at: str, known_at: str | None) -> bool:
    effective = rule.effective_from <= as_at and (rule.effective_to is None or as_at < rule.effective_to)
    if known_at is None:
        return effective and rule.known_to is None
    return effective and rule.known_from <= known_at and (rule.known_to is None or known_at < rule.known_to)


# Gold: types of attributes are read here as the dimension's page tells them, and in no other way.

END = "9999-12-31T23:59:59.000000Z"
Interval = Mapping[str, Any]


def live(beliefs: Sequence[Interval]) -> list[Interval]:
    """C3: what is deleted, or believed of in nothing, is a gap."""
    rows = [row for row in beliefs if not row["is_deleted"] and row["is_anything_believed"]]
    return sorted(rows, key=lambda row: row["effective_from"])


def last_change(rows: Sequence[Interval], attribute: str) -> tuple[Any, str]:
    """The value before the newest one, and since when it has that."""
    place = len(rows) - 1
    while place > 0 and rows[place - 1][attribute] == rows[-1][attribute]:
        place -= 1
    return (rows[place - 1][attribute] if place else None), rows[place]["effective_from"]


def columns_of(attribute: str, kind: int, whole: Sequence[Interval], so_far: Sequence[Interval]) -> dict[str, Any]:
    """What one attribute of one type shows in the version that begins with the last of `so_far`."""
    now, then = whole[-1][attribute], so_far[-1][attribute]
    if kind == 0:
        return {attribute: next((row[attribute] for row in whole if row[attribute] is not None), None)}
    if kind in (1, 4, 5):
        return {attribute: now}
    if kind in (2, 7):
        return {attribute: then}
    before, since = last_change(whole if kind == 3 else so_far, attribute)
    told = {f"previous_{attribute}": before, f"{attribute}_changed_at": since}
    return told | ({attribute: now} if kind == 3 else {attribute: then, f"current_{attribute}": now})


def dimension(beliefs: Sequence[Interval], types: Mapping[str, int], *, open_end: str | None) -> list[dict[str, Any]]:
    """The versions of one entity."""
    rows = live(beliefs)
    tracked = sorted(attribute for attribute, kind in types.items() if kind in (2, 6, 7))
    runs: list[list[Interval]] = []
    for row in rows:
        last = runs[-1][-1] if runs else None
        joins = last is not None and last["effective_to"] == row["effective_from"]
        if last is not None and joins and all(last[name] == row[name] for name in tracked):
            runs[-1].append(row)
        else:
            runs.append([row])
    versions = []
    for number, run in enumerate(runs, start=1):
        first, end = run[0], run[-1]["effective_to"]
        so_far = rows[: rows.index(first) + 1]
        shown: dict[str, Any] = {}
        for attribute, kind in types.items():
            shown |= columns_of(attribute, kind, rows, so_far)
        versions.append(
            {
                "bk": first["bk"],
                "version": number,
                "effective_from": first["effective_from"],
                "effective_to": open_end if end is None else end,
                "current_flag": end is None,
                "begins_with": tuple((name, first[f"{name}_assertion"]) for name in tracked),
                **shown,
            }
        )
    return versions


def covering(versions: Sequence[Mapping[str, Any]], instant: str | None) -> Mapping[str, Any] | None:
    """C2: the version in force at an instant, or none."""
    for version in versions:
        if instant is not None and version["effective_from"] <= instant < (version["effective_to"] or "~"):
            return version
    return None
