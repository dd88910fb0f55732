"""Silver against the oracle: every kind of rule, at each instant at which an answer can change and the moments beside.

What is held is compared with its source and caveat, through `answers` (belief_for), through the
whole history (`belief`) and through `explained` (why), which decide in two ways: a running maximum, and side by side.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import engine
import oracle
import pytest
from attest.once import query
from attest.session import isolated
from cases import text
from engine import OURS, Engine
from histories import KINDS, Event, Kind, every_history, key_of, run_seed, told
from mutants import RESOLVERS, Mutant, copied
from oracle import Held, Rule
from pyspark.sql import Row, SparkSession
from rulesets import GROUPS, RULE_SETS, seed_row

BELIEVED = [*engine.ATTRIBUTES, "is_deleted"]
START = datetime(2026, 3, 1, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)
Question = tuple[str, str, str | None]
Histories = Mapping[str, Sequence[Event]]


def said(key: str, source: str, day: int, arrival: int, **what: Any) -> Event:
    """What a source says of a day in March, received on a day after the 20th."""
    return {
        "customer_id": key,
        "source_system": source,
        "source_event_ts": text(START + timedelta(days=day)),
        "ingest_ts": text(START + timedelta(days=20 + arrival)),
        "source_file": f"file_{arrival}.jsonl",
        "ingest_run_id": f"run_{arrival}",
        **what,
    }


SPOKEN: dict[str, Event] = {
    "a": {"name": "x", "address": "2", "status": "Bad"},
    "b": {"name": "yy", "address": "10", "status": "Clear"},
}


def every(length: int, *, first: Kind | None = None) -> Histories:
    """Every history of the kinds of event that Bronze is proved on, by sources and values that the rules know."""
    kinds = every_history(length) if first is None else ((first, *rest) for rest in every_history(length - 1))
    return {key_of(history): [translated(event) for event in told(history)] for history in kinds}


def translated(event: Event) -> Event:
    spoken = {name: SPOKEN[value][name] for name, value in event.items() if name in engine.ATTRIBUTES}
    return event | spoken | {"source_system": {"CORE": "A", "CRM": "B"}[event["source_system"]]}


def at_random(seed: int, entities: int, *, most: int = 8) -> Histories:
    """Events of four sources, one of them unlisted, with nulls, ties, repeats, odd and unranked values."""
    chance = random.Random(seed)

    def event(key: str, number: int) -> Event:
        # Each in a file of its own: the oracle does not read payload bytes, the last step of the order.
        what: dict[str, Any] = {
            "precedence_rank": chance.choice([1, 2, None]),
            "source_file": f"{chance.randrange(9)}_{number}.jsonl",
        }
        if chance.random() < 0.7:
            what["name"] = chance.choice(["x", "yy", "zz", "", None])
        if chance.random() < 0.7:
            what["address"] = chance.choice(["1", "2", "10", "q", None])
        if chance.random() < 0.8:
            what["status"] = chance.choice(["Clear", "Watch", "Bad", "Odd", None])
        if chance.random() < 0.2:
            what["is_deleted"] = True
        return said(key, chance.choice("ABCD"), chance.randrange(8), chance.randrange(6), **what)

    keys = [f"R{number}" for number in range(entities)]
    return {key: [event(key, number) for number in range(chance.randint(1, most))] for key in keys}


def questions(histories: Histories, rules: Sequence[Rule], chance: random.Random, each: int | None) -> list[Question]:
    """Every instant at which an answer can change, the moments beside it, and every state of knowledge (or `each`)."""
    limits = {timedelta(days=rule.fresh_days) for rule in rules if rule.fresh_days}
    turns = {
        bound for rule in rules for bound in (rule.effective_from, rule.effective_to) if bound not in (None, "1900")
    }
    edges = {bound for rule in rules for bound in (rule.known_from, rule.known_to) if bound not in (None, "1900")}
    asked: set[Question] = set()
    for key, events in histories.items():
        said_at = {datetime.fromisoformat(event["source_event_ts"]) for event in events}
        instants = said_at | {at + limit for at in said_at for limit in limits}
        instants |= {datetime.fromisoformat(str(turn)) for turn in turns}
        arrivals = {datetime.fromisoformat(event["ingest_ts"]) for event in events}
        arrivals |= {datetime.fromisoformat(str(edge)) for edge in edges}
        pairs = [
            (text(at + off), None if known is None else text(known + beside))
            for at in instants
            for off in (-MOMENT, timedelta(0), MOMENT)
            for known in (None, *arrivals)
            for beside in ((-MOMENT, timedelta(0)) if known is not None else (timedelta(0),))
        ]
        pairs.sort(key=str)
        asked |= {(key, *pair) for pair in (pairs if each is None else chance.sample(pairs, min(each, len(pairs))))}
    return sorted(asked, key=str)


@dataclass(frozen=True)
class Asked:
    """Histories on views `states` and `rules`, and what is asked of them on the view `asked`."""

    spark: SparkSession
    histories: Histories
    rules: Sequence[Rule]
    questions: list[Question]

    def rows(self, macro: str, *, made_by: Engine = OURS) -> list[Row]:
        views = {"assertions": "states", "asked": "select * from asked", "rules": "rules"}
        return query(self.spark, engine.sql(macro, made_by=made_by, **views, attributes=BELIEVED)).collect()

    def expected(self, question: Question) -> dict[str, Held] | None:
        key, as_at, known_at = question
        return oracle.held_at(self.histories[key], as_at=as_at, known_at=known_at, rules=self.rules)


def ask(
    spark: SparkSession, histories: Histories, name: str, asked: list[Question], *, also: Sequence[Rule] = ()
) -> Asked:
    evidence = engine.assertions(
        spark, engine.landed((event for events in histories.values() for event in events), feed=engine.contract())
    )
    engine.states(spark, evidence).localCheckpoint().createOrReplaceTempView("states")
    ruled = [*RULE_SETS[name], *also]
    rules = engine.rules(spark, [seed_row(rule) for rule in ruled], GROUPS)
    rules.localCheckpoint().createOrReplaceTempView("rules")
    spark.createDataFrame(asked, "bk string, as_at string, known_at string").selectExpr(
        "bk", "cast(as_at as timestamp) as as_at", "cast(known_at as timestamp) as known_at"
    ).localCheckpoint().createOrReplaceTempView("asked")
    return Asked(spark, histories, ruled, asked)


def plain(attribute: str, canonical: str | None) -> Any:
    if canonical is None:
        return None
    return canonical == "true" if attribute == "is_deleted" else canonical[1:-1]


def question_of(row: Row) -> Question:
    return (row.bk, text(row.as_at), text(row.known_at))


def held(attribute: str, of: Any) -> Held:
    return (plain(attribute, of.value), of.source_system, of.caveat) if of is not None else oracle.NOBODY


@pytest.fixture(scope="module", params=RULE_SETS)
def case(root_session: SparkSession, request: pytest.FixtureRequest) -> Asked:
    """Every history of two events at every critical question; of three events and of up to eight, samples."""
    name, chance = request.param, random.Random(run_seed())
    pairs, rules = every(2), RULE_SETS[request.param]
    threes = chance.sample(sorted(every(3, first=chance.choice(KINDS)).items()), 100)
    longer = {**dict(threes), **at_random(run_seed(), 100)}
    asked = questions(pairs, rules, chance, each=None) + questions(longer, rules, chance, each=30)
    return ask(isolated(root_session), {**pairs, **longer}, name, asked)


def answers(case: Asked, *, made_by: Engine = OURS) -> dict[Question, dict[str, Held]]:
    rows = case.rows("answers", made_by=made_by)
    return {question_of(row): {name: held(name, row[name]) for name in BELIEVED} for row in rows}


def wrong_answers(case: Asked) -> list[Any]:
    found = answers(case)
    expected = ((one, case.expected(one)) for one in case.questions)
    return [(one, told, found.get(one)) for one, told in expected if found.get(one) != told]


def test_laws_s1_to_s7_every_kind_of_rule_at_every_critical_instant(case: Asked) -> None:
    wrong = wrong_answers(case)
    print(f"{len(case.histories):,} histories, {len(case.questions):,} questions, {len(wrong)} wrong", flush=True)
    assert wrong[:1] == []


@pytest.mark.prove
@pytest.mark.parametrize("name", RULE_SETS)
def test_laws_s1_to_s7_every_history_of_three_events(root_session: SparkSession, name: str) -> None:
    """46,656 histories, 24 critical questions of each."""
    chance, proved, wrong = random.Random(run_seed()), 0, 0
    for first in KINDS:
        histories = every(3, first=first)
        asked = questions(histories, RULE_SETS[name], chance, each=24)
        wrong += len(wrong_answers(ask(isolated(root_session), histories, name, asked)))
        proved += len(asked)
        print(f"beliefs of three events under {name}: {proved:,} questions, {wrong} wrong", flush=True)
    assert wrong == 0


@pytest.mark.prove
@pytest.mark.parametrize("name", RULE_SETS)
def test_laws_s1_to_s7_long_histories_at_random(root_session: SparkSession, name: str) -> None:
    """2,000 entities of up to 60 events, 12 critical questions of each."""
    histories = at_random(run_seed() + 3, 2_000, most=60)
    asked = questions(histories, RULE_SETS[name], random.Random(run_seed()), each=12)
    wrong = wrong_answers(ask(isolated(root_session), histories, name, asked))
    print(f"beliefs of long histories under {name}: {len(asked):,} questions, {len(wrong)} wrong", flush=True)
    assert wrong[:1] == []


def test_law_s2_a_source_below_all_others_changes_no_winner_of_highest_rank(root_session: SparkSession) -> None:
    """It only speaks where nobody else that is listed did."""
    histories = at_random(run_seed() + 4, 60)
    asked = questions(histories, RULE_SETS["ranks_and_recency"], random.Random(run_seed()), each=30)
    before = answers(ask(isolated(root_session), histories, "ranks_and_recency", asked))
    lowest = [Rule("name", "D", 0, "highest_rank")]
    after = answers(ask(isolated(root_session), histories, "ranks_and_recency", asked, also=lowest))
    assert before.keys() == after.keys()
    changed = {one: (before[one]["name"], after[one]["name"]) for one in asked if before.get(one) != after.get(one)}
    assert changed
    assert {(was, now[1]) for was, now in changed.values()} == {(oracle.NOBODY, "D")}


def test_law_s4_a_rule_that_comes_later_changes_no_answer_from_before(root_session: SparkSession) -> None:
    histories, name = at_random(run_seed() + 5, 60), "ranks_and_recency"
    asked = questions(histories, RULE_SETS[name], random.Random(run_seed()), each=30)
    before = answers(ask(isolated(root_session), histories, name, asked))
    since = "2026-03-23T00:00:00.000000Z"
    later = [Rule("name", "D", 9, "highest_rank", known_from=since)]
    after = answers(ask(isolated(root_session), histories, name, asked, also=later))
    changed = [one for one in asked if before.get(one) != after.get(one)]
    assert changed
    assert all(known_at is None or known_at >= since for _, _, known_at in changed)


@pytest.fixture(scope="module")
def judged(root_session: SparkSession) -> Callable[[str], tuple[Asked, dict[Question, dict[str, Held]]]]:
    """The same questions for every mutant of the resolver, and the engine's answers, which the oracle has."""

    @cache
    def under(name: str) -> tuple[Asked, dict[Question, dict[str, Held]]]:
        histories = at_random(7, 80)
        case = ask(isolated(root_session), histories, name, questions(histories, RULE_SETS[name], random.Random(7), 40))
        assert wrong_answers(case)[:1] == []
        return case, answers(case)

    return under


# Each set of rules is asked about for a while before the first mutant of it can be; these have one mutant each.
OF_ONE = {one.killer for one in RESOLVERS if [other.killer for other in RESOLVERS].count(one.killer) == 1}


@pytest.mark.mutant
@pytest.mark.parametrize(
    "mutant",
    [pytest.param(one, marks=pytest.mark.prove if one.killer in OF_ONE else ()) for one in RESOLVERS],
    ids=lambda mutant: mutant.name,
)
def test_laws_s1_to_s4_a_mutant_of_the_resolver_is_caught(
    judged: Callable[[str], tuple[Asked, dict[Question, dict[str, Held]]]], tmp_path: Path, mutant: Mutant
) -> None:
    case, right = judged(mutant.killer)
    found = answers(case, made_by=Engine(copied(tmp_path / "mutant", mutant)))
    wrong = [one for one in case.questions if found.get(one) != right.get(one)]
    print(f"  {mutant.name:55} {mutant.law}  {mutant.killer} ({len(wrong):,} of {len(case.questions):,})", flush=True)
    assert wrong


def test_law_s7_the_stored_history_gives_the_same_answers(case: Asked) -> None:
    """Half-open, no gap, no empty interval, and no two neighbours that believe the same."""
    sql = engine.sql("belief", entity="customer", assertions="states", rules="rules", attributes=engine.ATTRIBUTES)
    intervals: dict[str, list[Row]] = {}
    for row in query(case.spark, sql).orderBy("bk", "effective_from").collect():
        intervals.setdefault(row.bk, []).append(row)
    wrong = []
    for one in case.questions:
        key, as_at, known_at = one
        at = datetime.fromisoformat(as_at).replace(tzinfo=None)
        found = [
            r for r in intervals[key] if r.effective_from <= at and (r.effective_to is None or at < r.effective_to)
        ]
        if known_at is None and [stored(row) for row in found] != [case.expected(one)] * len(found):
            wrong.append(one)
        if known_at is None and (case.expected(one) is None) != (found == []):
            wrong.append(one)
    assert wrong == []
    for rows in intervals.values():
        ends = [row.effective_to for row in rows]
        assert ends == [*[row.effective_from for row in rows[1:]], None]
        beliefs = [(stored(row), [row[f"{name}_rule"] for name in BELIEVED]) for row in rows]
        assert all(a != b for a, b in pairwise(beliefs))


def covers(row: Row, at: datetime) -> bool:
    return bool(row.effective_from <= at and (row.effective_to is None or at < row.effective_to))


def stored(row: Row) -> dict[str, Held]:
    told = {name: (row[name], row[f"{name}_source"], row[f"{name}_caveat"]) for name in engine.ATTRIBUTES}
    deleted = row.is_deleted if row.is_deleted_source else None
    return told | {"is_deleted": (deleted, row.is_deleted_source, row.is_deleted_caveat)}


@pytest.mark.parametrize("name", ["ranks_and_recency", "freshness", "two_clocks"])
def test_law_s6_what_is_answered_differently_is_reported_and_nothing_else(
    root_session: SparkSession, name: str
) -> None:
    """At every critical instant: a row of the report covers it exactly where the two answers have different values."""
    histories = at_random(run_seed() + 2, 60)
    case = ask(isolated(root_session), histories, name, [("R0", "2026-03-01T00:00:00Z", None)])
    first, second = "2026-03-22T12:00:00.000000Z", "2026-03-24T12:00:00.000000Z"
    sql = engine.sql(
        "restatements", assertions="states", rules="rules", attributes=BELIEVED, known_at_1=first, known_at_2=second
    )
    rows = query(case.spark, sql).collect()
    asked = questions(histories, RULE_SETS[name], random.Random(run_seed()), each=None)
    wrong = []
    for key, as_at in sorted({(key, as_at) for key, as_at, _ in asked}):
        at = datetime.fromisoformat(as_at).replace(tzinfo=None)
        found = {r.attribute: (r.value_before, r.value_after) for r in rows if r.bk == key and covers(r, at)}
        before, after = case.expected((key, as_at, first)), case.expected((key, as_at, second))
        if found != told_differently(before, after):
            wrong.append((key, as_at, found, before, after))
    assert wrong[:1] == []
    assert {row.because for row in rows} <= {"evidence", "rule", "evidence and rule"}
    assert len(rows) > 20


def told_differently(before: dict[str, Held] | None, after: dict[str, Held] | None) -> dict[str, tuple[Any, Any]]:
    found = {}
    for name in BELIEVED:
        values = [None if held is None else held[name][0] for held in (before, after)]
        if name == "is_deleted":
            values = ["true" if value else "false" for value in values]
        if values[0] != values[1] or (name != "is_deleted" and (before is None) != (after is None)):
            found[name] = (values[0], values[1])
    return found


@pytest.mark.parametrize("name", RULE_SETS)
def test_law_s5_why_decides_alike_names_each_loser_and_the_runner_up_wins(
    root_session: SparkSession, name: str
) -> None:
    """Withdraw the winner, and the recorded runner-up is who the oracle believes."""
    chance = random.Random(run_seed())
    histories = at_random(run_seed() + 1, 40)
    case = ask(isolated(root_session), histories, name, questions(histories, RULE_SETS[name], chance, each=8))
    identities = {row.assertion_id: row for row in case.spark.table("states").collect()}
    explained: dict[Question, dict[str, Row]] = {}
    for row in case.rows("explained"):
        explained.setdefault(question_of(row), {})[row.attribute] = row
    withdrawn = 0
    for one in case.questions:
        expected = case.expected(one)
        assert (one in explained) == (expected is not None), one
        for attribute, row in explained.get(one, {}).items():
            assert expected is not None
            assert held(attribute, row) == expected[attribute], (one, attribute)
            speakers = {s.source_system for s in identities.values() if known_then(s, one) and speaks(s, attribute)}
            losers = [loser.source_system for loser in row.losers]
            assert all(loser.reason for loser in row.losers)
            assert speakers <= {row.source_system, *losers}, (one, attribute)
            if row.assertion_id is None:
                assert row.runner_up is None
                continue
            withdrawn += 1
            gone = assertion_of(histories[one[0]], identities[row.assertion_id])
            key, as_at, known_at = one
            after = oracle.held_at(histories[key], as_at=as_at, known_at=known_at, rules=case.rules, without=gone)
            value, source, _ = after[attribute] if after else oracle.NOBODY
            next_one = row.runner_up
            if next_one is None:
                follows = any(rule.coupled_to for rule in case.rules if rule.group == attribute)
                assert source is None or (follows and value is None), (one, attribute, after)
            else:
                assert (plain(attribute, next_one.value), next_one.source_system) == (value, source), (one, attribute)
    assert withdrawn > 100


def known_then(state: Row, question: Question) -> bool:
    key, as_at, known_at = question
    arrived = known_at is None or text(state.known_from) <= known_at
    return bool(state.bk == key and text(state.effective_ts) <= as_at and arrived)


def speaks(state: Row, attribute: str) -> bool:
    return attribute == "is_deleted" or attribute in state.mentions


def assertion_of(events: Sequence[Event], state: Row) -> oracle.Assertion:
    mentions = {name: plain(name, value) for name, value in state.mentions.items()}
    [found] = [
        one
        for one in oracle.read(events)
        if (one.source, one.at, one.deleted, one.mentions)
        == (state.source_system, text(state.effective_ts), state.is_deleted, mentions)
    ]
    return found
