"""The test on seeds/precedence.csv teaches: each mistake in a row is named, with what to do; sound rows are left alone.

Each case is an attribute group of its own, so that all of them are one question.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from engine import ALWAYS, ROOT, RULE, RULE_COLUMNS
from jinja2 import Environment, StrictUndefined
from pyspark.sql import SparkSession

JUNE = datetime(2026, 6, 1, tzinfo=UTC)
JULY = datetime(2026, 7, 1, tzinfo=UTC)
WHO = {"requested_by": "analyst", "approved_by": "owner", "reason": "because"}
Row = dict[str, Any]


def rule(source: str | None, rank: int | None, kind: str = "highest_rank", **terms: Any) -> Row:
    always = {"effective_from": ALWAYS, "known_from": ALWAYS}
    return {"entity": "customer", "source_system": source, "rank": rank, "rule": kind, **always, **WHO, **terms}


def severe(source: str, rank: int, order: str = "Clear < Bad", **terms: Any) -> Row:
    return rule(source, rank, "escalate_only", severity_order=order, **terms)


SOUND: dict[str, list[Row]] = {
    "two ranks": [rule("A", 2), rule("B", 1)],
    "one after the other": [rule("A", 1, effective_to=JUNE), rule("A", 2, effective_from=JUNE)],
    "an edit": [rule("A", 1, known_to=JUNE), rule("A", 1, "most_recent", known_from=JUNE)],
    "severity": [severe("A", 2, may_clear=True), severe("B", 1)],
    "quorum": [rule("A", 2, "quorum", quorum=2), rule("B", 1, "quorum", quorum=2)],
    "fresh": [rule("A", 2, freshness_limit="90 days"), rule("B", 1, freshness_limit="12 hours")],
    "by arrival": [rule("A", 1, clock="arrival")],
    "follows": [rule(None, None, "coupled_to", coupled_to="two ranks")],
    "odd text": [rule("A'; drop table x; --", 1, reason="{{ ref('x') }}, a \"word\" \\")],
}
WRONG: dict[str, tuple[list[Row], str]] = {
    "no reason": ([rule("A", 1, reason=" ")], "reason is empty. Fill it in"),
    "no rank": ([rule("A", None)], "rank is empty. Fill it in"),
    "no source": ([rule(None, 1)], "source_system is empty. Fill it in"),
    "no such kind": ([rule("A", 1, "newest")], "No rule is called newest. There are: highest_rank, most_recent"),
    "maker is checker": ([rule("A", 1, approved_by="Analyst ")], "Asked for and approved by the same person"),
    "a space": ([rule("A ", 1)], "matches no evidence. Remove the space"),
    "never in force": ([rule("A", 1, effective_from=JULY, effective_to=JUNE)], "Never in force"),
    "never known": ([rule("A", 1, known_from=JULY, known_to=JUNE)], "Was never known"),
    "overlap": ([rule("A", 1), rule("A", 2, effective_from=JUNE)], "Overlaps the row in force from"),
    "tie": ([rule("A", 1), rule("B", 1)], "Shares rank 1 with A. Give each source of the group its own"),
    "mixed": ([rule("A", 2), rule("B", 1, "most_recent")], "Use one kind for all of it"),
    "gap": (
        [rule("A", 1, effective_to=JUNE), rule("A", 1, effective_from=JULY)],
        "Leaves a gap at effective_to",
    ),
    "gap in knowledge": ([rule("A", 1, known_to=JUNE), rule("A", 1, known_from=JULY)], "Leaves a gap at known_to"),
    "idle quorum": ([rule("A", 1, quorum=2)], "quorum means nothing under highest_rank, only under quorum"),
    "idle order": ([rule("A", 1, severity_order="a < b")], "severity_order means nothing under highest_rank"),
    "idle clearing": ([rule("A", 1, may_clear=True)], "may_clear means nothing under highest_rank"),
    "idle coupling": ([rule("A", 1, coupled_to="fresh")], "coupled_to means nothing under highest_rank"),
    "no order": ([rule("A", 1, "escalate_only")], "severity_order is empty, and escalate_only needs it"),
    "one severity": ([severe("A", 1, "Bad")], "has no two values. Write them from least to most severe"),
    "a value twice": ([severe("A", 1, "a < b < a")], "severity_order has a value twice"),
    "two orders": ([severe("A", 1), severe("B", 2, "Bad < Clear")], "Has another severity_order than A"),
    "no quorum": ([rule("A", 1, "quorum")], "quorum is empty, and quorum needs it"),
    "any quorum": ([rule("A", 1, "quorum", quorum=0)], "quorum is less than 1"),
    "never settled": (
        [rule("A", 1, "quorum", quorum=2)],
        "Can never be settled: 2 sources must agree, and 1 are listed",
    ),
    "two quorums": (
        [rule("A", 1, "quorum", quorum=1), rule("B", 2, "quorum", quorum=2)],
        "Has another quorum than A",
    ),
    "odd limit": ([rule("A", 1, freshness_limit="a while")], "Write it like 90 days or 12 hours"),
    "odd clock": ([rule("A", 1, clock="source")], "Write arrival to believe a source that has no source time"),
    "follows nothing": ([rule(None, None, "coupled_to")], "coupled_to is empty, and coupled_to needs it"),
    "follows itself": ([rule(None, None, "coupled_to", coupled_to="follows itself")], "Is coupled to itself"),
    "follows two": ([rule(None, None, "coupled_to", coupled_to="twice")], "has 2 attributes, so it has no one winner"),
    "follows a follower": (
        [rule(None, None, "coupled_to", coupled_to="follows")],
        "follows is coupled itself. Name the group that it follows",
    ),
    "follows with a rank": ([rule(None, 1, "coupled_to", coupled_to="fresh")], "rank means nothing under coupled_to"),
    "follows with a limit": (
        [rule(None, None, "coupled_to", coupled_to="fresh", freshness_limit="1 days")],
        "freshness_limit means nothing under coupled_to",
    ),
    "no such entity": ([rule("A", 1) | {"entity": "costumer"}], "No entity is called costumer. There are: customer"),
    "no such group": ([rule("A", 1)], "No attribute is in group no such group, so this decides nothing"),
}


@pytest.fixture(scope="module")
def problems(root_session: SparkSession) -> dict[str, list[str]]:
    cases = SOUND | {name: rows for name, (rows, _) in WRONG.items()} | {"twice": [rule("A", 1)]}
    table = [
        [(row | {"attribute_group": name}).get(column) for column in RULE_COLUMNS]
        for name, rows in cases.items()
        for row in rows
    ]
    root_session.createDataFrame(table, RULE).createOrReplaceTempView("seed_precedence")
    groups = [("customer", f"in {name}", name) for name in cases if name != "no such group"]
    groups += [("customer", "once more", "twice"), ("costumer", "x", "no such entity")]
    columns = "entity string, attribute string, attribute_group string"
    root_session.createDataFrame(groups, columns).createOrReplaceTempView("seed_attribute_groups")
    text = (ROOT / "tests/data/precedence_is_sound.sql").read_text(encoding="utf-8")
    template = Environment(undefined=StrictUndefined, autoescape=False).from_string(text)
    sql = template.render(ref="seed_{}".format, var=lambda _: {"customer": {}})
    found: dict[str, list[str]] = {name: [] for name in cases}
    for row in root_session.sql(sql).collect():
        found[row.attribute_group].append(row.problem)
    return found


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_named_with_what_to_do(problems: dict[str, list[str]], name: str) -> None:
    _, says = WRONG[name]
    assert [text for text in problems[name] if says in text], problems[name]


def test_sound_rows_are_left_alone(problems: dict[str, list[str]]) -> None:
    assert {name: problems[name] for name in SOUND} == {name: [] for name in SOUND}
