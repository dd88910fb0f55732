"""Sets of rules, one of every kind and with every limit, as the oracle reads them and as the seeds would say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from oracle import Rule

RANKS = (("A", 3), ("B", 2), ("C", 1))
SEVERITY = ("Clear", "Watch", "Bad")


def group(attribute: str, kind: str, **terms: Any) -> list[Rule]:
    """A, B and C are listed, A before B before C; whoever else speaks is not."""
    return [Rule(attribute, source, rank, kind, **terms) for source, rank in RANKS]


def escalating(attribute: str, **terms: Any) -> list[Rule]:
    """Only B may clear."""
    return [
        Rule(attribute, source, rank, "escalate_only", severity=SEVERITY, may_clear=source == "B", **terms)
        for source, rank in RANKS
    ]


RULE_SETS: Mapping[str, Sequence[Rule]] = {
    "ranks_and_recency": [
        *group("name", "highest_rank"),
        *group("address", "most_recent"),
        *group("status", "most_recent_change"),
        *group("is_deleted", "highest_rank"),
    ],
    "size_severity_and_quorum": [
        *group("name", "longest"),
        *group("address", "largest"),
        *escalating("status"),
        *group("is_deleted", "quorum", quorum=2),
    ],
    "freshness": [
        *group("name", "highest_rank", fresh_days=2),
        Rule("address", "A", 3, "most_recent", fresh_days=1),
        Rule("address", "B", 2, "most_recent"),
        Rule("address", "C", 1, "most_recent", fresh_days=4),
        *escalating("status", fresh_days=3),
        *group("is_deleted", "most_recent_change", fresh_days=2),
    ],
    "quorums": [
        *group("name", "quorum", quorum=2),
        *group("address", "quorum", quorum=2, fresh_days=3),
        *group("status", "quorum", quorum=3),
        *group("is_deleted", "quorum", quorum=1),
    ],
    "coupled": [
        *group("name", "highest_rank", fresh_days=3),
        Rule("address", None, None, "coupled_to", coupled_to="name"),
        Rule("status", None, None, "coupled_to", coupled_to="is_deleted"),
        *group("is_deleted", "quorum", quorum=2),
    ],
    "two_clocks": [
        Rule("name", "A", 3, "highest_rank", effective_to="2026-03-05T00:00:00.000000Z"),
        Rule("name", "B", 2, "highest_rank"),
        Rule(
            "name",
            "A",
            1,
            "highest_rank",
            effective_from="2026-03-05T00:00:00.000000Z",
            known_from="2026-03-23T00:00:00.000000Z",
        ),
        *group("address", "most_recent", known_from="2026-03-22T00:00:00.000000Z"),
        *group("status", "most_recent", known_to="2026-03-24T00:00:00.000000Z"),
        *group("status", "highest_rank", known_from="2026-03-24T00:00:00.000000Z"),
        Rule("is_deleted", "C", 1, "quorum", quorum=1, effective_from="2026-03-03T00:00:00.000000Z"),
    ],
}
GROUPS = {attribute: attribute for attribute in ("name", "address", "status", "is_deleted")}


def seed_row(rule: Rule) -> dict[str, Any]:
    """The rule as a row of seeds/precedence.csv."""
    row: dict[str, Any] = {
        "attribute_group": rule.group,
        "source_system": rule.source,
        "rank": rule.rank,
        "rule": rule.kind,
        "coupled_to": rule.coupled_to,
        "severity_order": " < ".join(rule.severity) or None,
        "may_clear": rule.may_clear,
        "quorum": rule.quorum or None,
        "freshness_limit": f"{rule.fresh_days} days" if rule.fresh_days else None,
    }
    for name in ("effective_from", "effective_to", "known_from", "known_to"):
        said = getattr(rule, name)
        if said is not None:
            row[name] = datetime.fromisoformat("1900-01-01T00:00:00Z" if said == "1900" else said).astimezone(UTC)
    return row
