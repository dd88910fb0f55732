"""Why, as one page that an auditor can keep: evidence, belief and reasons of one entity, for every known-at.

No server and no other file: the page draws with its own script what is computed here.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from itertools import groupby
from typing import Any

from jinja2 import Environment, StrictUndefined
from pyspark.sql import Row, SparkSession

from attest.project import Project
from attest.why import Case, answers, bare, exclusion, plain

MOST_INSTANTS = 400
MOST_QUESTIONS = 6_000


@dataclass(frozen=True)
class Moment:
    """A state of knowledge that differs from the one before: what arrived, or that rules changed. None: the newest."""

    at: datetime
    what: str
    known_at: datetime | None


def page(spark: SparkSession, project: Project, case: Case) -> str:
    times = instants_of(case)
    drawn = times[-MOST_INSTANTS:]
    knowledge = moments_of(case)
    kept = knowledge[-max(MOST_QUESTIONS // len(drawn), 2) :]
    questions = [(at, moment.known_at) for moment in kept for at in drawn]
    found = answers(spark, project, case, questions)
    outcomes: dict[str, int] = {}
    data = {
        "entity": case.entity.name,
        "key": case.key,
        "attributes": case.entity.attributes,
        "sources": sorted({row.source_system for row in case.evidence}),
        "instants": [{"text": bare(at), "ms": at.replace(tzinfo=UTC).timestamp() * 1000} for at in drawn],
        "knowledge": [{"text": bare(moment.at), "what": moment.what} for moment in kept],
        "evidence": evidence_of(case, drawn, kept),
        "rules": {
            f"{row.attribute} {row.rule_id}": {
                "rule": row.rule, "rank": row.rank, "group": row.attribute_group, "reason": row.reason
            }
            for row in case.rules
        },
        "asked_known": case.known_at and bare(case.known_at),
        "excluded": [exclusion(row) for row in case.left_out],
        "beliefs": beliefs_of(case, found, drawn, kept, outcomes),
        "outcomes": [json.loads(text) for text in outcomes],
        "start": {
            "attribute": case.entity.attributes[0],
            "at": latest(drawn, case.as_at),
            "known": latest([moment.at for moment in kept], case.known_at or case.basis),
        },
    }  # fmt: skip
    omitted = left_out(len(times) - len(drawn), len(knowledge) - len(kept))
    return written(data, basis=bare(case.basis), left_out=omitted)


def written(data: Mapping[str, Any], *, basis: str, left_out: str) -> str:
    """The page around its data. Whatever a source said is text in it, never mark-up or script."""
    template = (resources.files("attest") / "page.html").read_text(encoding="utf-8")
    page = Environment(undefined=StrictUndefined, autoescape=True).from_string(template)
    return page.render(data=data, basis=basis, left_out=left_out)


def instants_of(case: Case) -> list[datetime]:
    """Every source time at which a belief can change: a word, its expiry or its age, another rule in force."""
    said = {row.effective_ts for row in case.evidence}
    expired = {row.expires_at for row in case.evidence}
    limits = {timedelta(microseconds=row.fresh_micros) for row in case.rules if row.fresh_micros is not None}
    stale = {at + limit for at in said for limit in limits}
    ruled = {at for row in case.rules for at in (row.effective_from, row.effective_to)}
    return sorted(at for at in said | expired | stale | ruled if at is not None and at >= min(said))


def moments_of(case: Case) -> list[Moment]:
    """Every known-at at which an answer can change, the basis last."""
    arrived = {at: sorted({row.source_system for row in rows}) for at, rows in by_arrival(case)}
    first = min(arrived)
    marked = {row.known_until for row in case.evidence} - {None}
    marked |= {row.known_from for row in case.evidence} - arrived.keys()
    ruled = {at for row in case.rules for at in (row.known_from, row.known_to) if at is not None and at > first}
    asked = {case.known_at} - {None}
    moments = []
    for at in sorted(one for one in arrived.keys() | ruled | marked | asked if one is not None and one < case.basis):
        what = [f"{', '.join(arrived[at])} arrived"] if at in arrived else []
        what += ["rules changed"] if at in ruled else []
        what += ["marks changed"] if at in marked else []
        moments.append(Moment(at, " and ".join(what) or "as asked", at))
    return [*moments, Moment(case.basis, "as best known, by the rules of the newest build", None)]


def by_arrival(case: Case) -> list[tuple[datetime, list[Row]]]:
    rows = sorted(once_each(case), key=lambda row: row.known_from)
    return [(at, list(those)) for at, those in groupby(rows, key=lambda row: row.known_from)]


def once_each(case: Case) -> list[Row]:
    """Each assertion as it was first known: marks may have taken it out and brought it back."""
    first: dict[str, Row] = {}
    for row in sorted(case.evidence, key=lambda one: one.known_from):
        first.setdefault(row.assertion_id, row)
    return list(first.values())


def counted(case: Case, kept: Sequence[Moment]) -> dict[str, list[tuple[int, int]]]:
    """By assertion, from which state of knowledge until which it counts: marks take it out, clearing brings it back."""
    spans: dict[str, list[tuple[int, int]]] = {}
    times = [moment.at for moment in kept]
    for row in sorted(case.evidence, key=lambda one: one.known_from):
        since = min(bisect_left(times, row.known_from), len(kept) - 1)  # what came after the basis is best known, too
        until = len(kept) if row.known_until is None else bisect_left(times, row.known_until)
        spans.setdefault(row.assertion_id, []).append((since, until))
    return spans


def evidence_of(case: Case, drawn: Sequence[datetime], kept: Sequence[Moment]) -> list[dict[str, Any]]:
    """In source time; late is what arrived when something later in that order was known already."""
    rows = sorted(once_each(case), key=lambda row: (row.effective_ts, row.clock, row.position), reverse=True)
    spans = counted(case, kept)
    said, known_later = [], datetime.max
    for row in rows:
        is_late, known_later = row.known_from > known_later, min(known_later, row.known_from)
        if row.effective_ts < drawn[0]:
            continue
        mentioned = {name: value and plain(value) for name, value in sorted(row.mentions.items())}
        said.append(
            {
                "id": row.assertion_id,
                "source": row.source_system,
                "at": drawn.index(row.effective_ts),
                "counts": spans[row.assertion_id],
                "arrived": bare(row.ingest_ts),
                "late": is_late,
                "says": mentioned,
                "unchanged": list(row.unchanged),
                "partial": not set(case.entity.attributes[:-1]) <= mentioned.keys(),
                "deleted": row.is_deleted,
                "inferred": row.is_inferred,
                "file": row.source_file,
                "record": None if row.is_inferred else row.source_record,
                "run": row.ingest_run_id,
                "remark": row.remark,
            }
        )
    return said[::-1]


def beliefs_of(
    case: Case, found: Sequence[Row], drawn: Sequence[datetime], kept: Sequence[Moment], outcomes: dict[str, int]
) -> list[Mapping[str, Any]]:
    """By state of knowledge and attribute: from which instant on which outcome; fills `outcomes`, each kept once."""
    told: dict[tuple[datetime | None, str, datetime], int] = {}
    for row in found:
        text = json.dumps(outcome_of(row), sort_keys=True)
        told[row.known_at, row.attribute, row.as_at] = outcomes.setdefault(text, len(outcomes))
    return [
        {
            attribute: changes([told.get((moment.known_at, attribute, at)) for at in drawn])
            for attribute in case.entity.attributes
        }
        for moment in kept
    ]


def changes(outcomes: Sequence[int | None]) -> list[tuple[int, int]]:
    before = [None, *outcomes]
    return [(at, one) for at, one in enumerate(outcomes) if one is not None and one != before[at]]


def outcome_of(row: Row) -> dict[str, Any]:
    follower = row.runner_up
    return {
        "value": row.value and plain(row.value),
        "source": row.source_system,
        "assertion": row.assertion_id,
        "rule": row.rule_id,
        "caveat": row.caveat,
        "losers": [
            {"source": one.source_system, "value": one.value and plain(one.value), "reason": one.reason}
            for one in row.losers
        ],
        "runner_up": follower and {"source": follower.source_system, "value": follower.value and plain(follower.value)},
    }


def latest(times: Sequence[datetime], at: datetime) -> int:
    """The last of these at or before an instant; the first where there is none."""
    return max(sum(time <= at for time in times) - 1, 0)


def left_out(instants: int, moments: int) -> str:
    parts = [f"{instants:,} earlier instants"] if instants else []
    parts += [f"{moments:,} earlier states of knowledge"] if moments else []
    return f"Not drawn: {' and '.join(parts)}; attest why tells of them by --as-at and --known-at." if parts else ""
