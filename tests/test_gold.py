"""Gold against the oracle: dimensions of every type, keys that last, facts that find their version, audits played back.

Beliefs are made at random, and restated at random: some intervals go, some come, some are split.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import engine
import oracle
import pyarrow as pa
import pytest
from attest.session import isolated
from cases import text
from histories import run_seed
from pyspark.sql import DataFrame, SparkSession

ATTRIBUTES = ("name", "limit_usd", "status")
COLUMNS = (
    "bk string, sk string, effective_from timestamp, effective_to timestamp, is_deleted boolean, "
    "is_deleted_source string, is_deleted_assertion string, is_anything_believed boolean, "
    + ", ".join(
        f"{attribute} {'decimal(18, 2)' if attribute == 'limit_usd' else 'string'}, "
        f"{attribute}_source string, {attribute}_assertion string"
        for attribute in ATTRIBUTES
    )
)
START = datetime(2026, 3, 1, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)
TYPES: tuple[dict[str, int], ...] = (
    {"name": 1, "limit_usd": 3, "status": 2},
    {"name": 0, "limit_usd": 6, "status": 2},
    {"name": 6, "limit_usd": 7, "status": 3},
    {"name": 1, "limit_usd": 5, "status": 4},
    {"status": 2},
)
VALUES: dict[str, list[Any]] = {
    "name": ["Ann", "B|b", "", None],
    "limit_usd": [Decimal(1), Decimal(2), None],
    "status": ["on", "off", None],
}
Belief = dict[str, list[dict[str, Any]]]


def at_random(chance: random.Random, keys: Iterable[str], *, most: int = 7) -> Belief:
    return {key: entity(chance, key, chance.randint(1, most)) for key in keys}


def entity(chance: random.Random, key: str, intervals: int) -> list[dict[str, Any]]:
    """Intervals from the first to an open end, some deleted, some in which nothing is believed."""
    starts = sorted(chance.sample(range(40), intervals))
    return linked([interval(chance, key, START + timedelta(hours=hour)) for hour in starts])


def interval(chance: random.Random, key: str, at: datetime) -> dict[str, Any]:
    row: dict[str, Any] = {
        **{"bk": key, "sk": f"sk of {key}", "effective_from": at, "is_deleted": chance.random() < 0.15},
        **{"is_deleted_source": "CORE", "is_deleted_assertion": f"d{chance.randrange(9)}"},
        "is_anything_believed": chance.random() < 0.95,
    }
    for attribute, domain in VALUES.items():
        value = chance.choice(domain)
        row |= {
            attribute: value,
            f"{attribute}_source": "CRM",
            f"{attribute}_assertion": f"{value} {chance.randrange(3)}",
        }
    return row


def linked(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    ordered = sorted(rows, key=lambda row: row["effective_from"])
    followed = zip(ordered, [*ordered[1:], None], strict=True)
    return [row | {"effective_to": after and after["effective_from"]} for row, after in followed]


def restated(chance: random.Random, belief: Belief) -> Belief:
    """What late evidence makes of a belief: of some entities an interval goes, comes or says another thing."""
    after = dict(belief)
    for key, rows in belief.items():
        if chance.random() < 0.5:
            kept = [row for row in rows if chance.random() < 0.8] or rows
            free = [
                hour
                for hour in range(40)
                if START + timedelta(hours=hour) not in {row["effective_from"] for row in kept}
            ]
            added = [interval(chance, key, START + timedelta(hours=chance.choice(free)))]
            after[key] = linked([*kept, *(added if chance.random() < 0.7 else [])])
    return after


def frame(spark: SparkSession, belief: Belief) -> DataFrame:
    names = [column.split()[0] for column in COLUMNS.replace("(18, 2)", "").split(", ")]
    return spark.createDataFrame([[row[name] for name in names] for rows in belief.values() for row in rows], COLUMNS)


def dimension(
    spark: SparkSession,
    belief: Belief,
    types: Mapping[str, Any],
    *,
    named: str = "dimension",
    open_end: str | None = "9999-12-31 23:59:59",
) -> list[dict[str, Any]]:
    frame(spark, belief).createOrReplaceTempView("belief")
    built = spark.sql(engine.sql("dimension", belief="belief", types=types, open_end=open_end)).localCheckpoint()
    built.createOrReplaceTempView(named)
    return [{name: shown(value) for name, value in row.asDict().items()} for row in built.collect()]


def shown(value: Any) -> Any:
    if isinstance(value, datetime):
        return text(value)
    return float(value) if isinstance(value, Decimal) else value


def expected(belief: Belief, types: Mapping[str, int], *, open_end: str | None = oracle.END) -> list[dict[str, Any]]:
    told = ({name: shown(value) for name, value in row.items()} for rows in belief.values() for row in rows)
    by_key: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in told:
        by_key[row["bk"]].append(row)
    return [version for rows in by_key.values() for version in oracle.dimension(rows, types, open_end=open_end)]


def place(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["bk"], row["effective_from"]


@pytest.fixture(scope="module", params=[60, pytest.param(3_000, marks=pytest.mark.prove)], ids="{} entities".format)
def belief(request: pytest.FixtureRequest) -> Belief:
    return at_random(random.Random(run_seed()), [f"K{number}" for number in range(request.param)])


@pytest.mark.parametrize("types", TYPES, ids=str)
def test_every_type_shows_what_the_oracle_shows(spark: SparkSession, belief: Belief, types: dict[str, int]) -> None:
    """Laws C1 to C3: versions, gaps, first, newest, earlier and previous values."""
    wanted = sorted(expected(belief, types), key=place)
    found = sorted(dimension(spark, belief, types), key=place)
    for row, want in zip(found, wanted, strict=True):
        assert {name: row[name] for name in want if name != "begins_with"} == {
            name: value for name, value in want.items() if name != "begins_with"
        }


def test_law_c1_the_open_end_is_null_or_the_sentinel_and_nothing_else_differs(
    spark: SparkSession, belief: Belief
) -> None:
    types = TYPES[0]
    ended = {row["version_sk"]: row for row in dimension(spark, belief, types)}
    for row in dimension(spark, belief, types, open_end=None):
        assert row["effective_to"] is None or not row["current_flag"]
        assert ended[row["version_sk"]] == row | {"effective_to": row["effective_to"] or oracle.END}


def test_several_types_of_one_attribute_show_it_in_several_columns(spark: SparkSession, belief: Belief) -> None:
    both = {place(row): row for row in dimension(spark, belief, {"name": [1, 0], "status": 2})}
    for kind, column in ((1, "name"), (0, "original_name")):
        for row in dimension(spark, belief, {"name": kind, "status": 2}):
            assert both[place(row)][column] == row["name"]


def test_type_4_keeps_history_apart_and_type_5_points_at_its_current_row(spark: SparkSession, belief: Belief) -> None:
    history = dimension(spark, belief, {"limit_usd": 2})
    newest = {row["bk"]: row for row in sorted(history, key=place)}
    plain = dimension(spark, belief, {"limit_usd": 4, "status": 2})
    pointing = dimension(spark, belief, {"limit_usd": 5, "status": 2})
    assert {row["bk"]: row["history_version_sk"] for row in pointing} == {
        key: row["version_sk"] for key, row in newest.items()
    }
    assert [{**row, "history_version_sk": None} for row in plain] == [
        {**row, "history_version_sk": None} for row in pointing
    ]
    assert all(row["limit_usd"] == newest[row["bk"]]["limit_usd"] for row in plain)


def test_type_0_leaves_nothing_unrecorded(spark: SparkSession, belief: Belief) -> None:
    """Every live interval whose value is not the one kept is told, with who said it."""
    kept = {row["bk"]: row["name"] for row in dimension(spark, belief, {"name": 0})}
    found = spark.sql(engine.sql("ignored", belief="belief", types={"name": 0})).collect()
    assert sorted((row.bk, text(row.effective_from), row.ignored_value, row.assertion_id) for row in found) == sorted(
        (key, text(row["effective_from"]), row["name"], row["name_assertion"])
        for key, rows in belief.items()
        for place, row in enumerate(oracle.live(rows))
        if row["name"] != kept[key] and any(one["name"] is not None for one in oracle.live(rows)[:place])
    )


def test_law_c2_a_key_names_its_start_and_what_it_begins_with_and_nothing_else(
    spark: SparkSession, belief: Belief
) -> None:
    """Through three restatements: the same beginning, the same key; another beginning, never that key again."""
    chance, types = random.Random(run_seed() + 1), TYPES[1]
    keys: dict[str, Any] = {}
    names: dict[Any, str] = {}
    for _ in range(4):
        beginnings = {place(want): want["begins_with"] for want in expected(belief, types)}
        rows = dimension(spark, belief, types)
        for row in rows:
            named = (*place(row), beginnings[place(row)])
            assert keys.setdefault(row["version_sk"], named) == named
            assert names.setdefault(named, row["version_sk"]) == row["version_sk"]
        assert len({row["version_sk"] for row in rows}) == len(rows)
        belief = restated(chance, belief)


def facts_of(
    chance: random.Random, belief: Belief, versions: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str | None, Any]]:
    """Facts at every boundary and the moments beside it, at random, of nobody, of strangers, and without a time."""
    edges = [datetime.fromisoformat(row["effective_from"]) for row in versions]
    asked: list[tuple[str | None, datetime | None]] = [
        (row["bk"], at + beside * MOMENT) for row, at in zip(versions, edges, strict=True) for beside in (-1, 0, 1)
    ]
    asked += [(chance.choice(list(belief)), START + timedelta(minutes=chance.randrange(3_000))) for _ in range(100)]
    asked += [
        (None, START),
        ("nobody", START),
        (next(iter(belief)), None),
        (next(iter(belief)), datetime(9999, 12, 31, tzinfo=UTC)),
    ]
    return [(f"F{number}", key, at) for number, (key, at) in enumerate(asked)]


def joined(spark: SparkSession, facts: Sequence[tuple[Any, ...]]) -> dict[str, tuple[str | None, str | None]]:
    spark.createDataFrame(list(facts), "fact string, who string, happened_at timestamp").createOrReplaceTempView(
        "facts"
    )
    found = spark.sql(engine.sql("as_of", facts="facts", dimension="dimension", found_by="who", called="it")).collect()
    assert len(found) == len(facts), "each fact comes out once"
    return {row.fact: (row.it_version_sk, row.it_sk) for row in found}


@pytest.mark.parametrize("open_end", ["9999-12-31 23:59:59", None])
def test_law_c2_a_fact_gets_the_version_that_covers_it_and_none_in_a_gap(
    spark: SparkSession, belief: Belief, open_end: str | None
) -> None:
    chance = random.Random(run_seed() + 2)
    deep = linked(
        interval(chance, "deep", START + timedelta(minutes=minute)) for minute in chance.sample(range(3_000), 700)
    )
    known = {**belief, "deep": deep}
    versions = dimension(spark, known, {"status": 2, "name": 2}, open_end=open_end)
    assert max(row["version"] for row in versions) > 200, "some key has several chunks of versions"
    facts = facts_of(chance, known, versions)
    by_key: dict[str | None, list[dict[str, Any]]] = defaultdict(list)
    for row in versions:
        by_key[row["bk"]].append(row)
    found = joined(spark, facts)
    for fact, key, at in facts:
        want = oracle.covering(by_key[key], at and text(at))
        assert found[fact] == ((want["version_sk"], want["sk"]) if want else (None, None)), (fact, key, at)


def test_law_c2_a_fact_finds_its_version_among_ten_thousand_of_its_key(spark: SparkSession) -> None:
    """Three seconds a version, of which every seventh leaves the last to nobody; a fact each second, from before."""
    spark.sql(
        """
        select 'deep' as bk, 'S' as sk, cast(id + 1 as string) as version_sk, id + 1 as version,
            timestamp_seconds(3 * id) as effective_from,
            if(id = 9999, null, timestamp_seconds(3 * id + if(id % 7 = 0, 2, 3))) as effective_to
        from range(10000)
        """
    ).createOrReplaceTempView("dimension")
    spark.sql(
        "select id as second, 'deep' as who, timestamp_seconds(id) as happened_at from range(-2, 30002)"
    ).createOrReplaceTempView("facts")
    found = spark.sql(engine.sql("as_of", facts="facts", dimension="dimension", found_by="who", called="it")).collect()
    assert {row.second: row.it_version_sk for row in found} == {
        second: None if second < 0 or (second // 3 % 7 == 0 and second % 3 == 2) else str(min(second // 3, 9999) + 1)
        for second in range(-2, 30002)
    }


def journal(spark: SparkSession, run: int) -> list[dict[str, Any]]:
    """What the run adds to the audit, which it is added to."""
    told = spark.table("journal").toArrow() if run else None
    asked = engine.sql("audited", dimension="dimension", journal="journal" if run else None, run=f"run {run}")
    new = spark.sql(asked).toArrow()
    whole = new if told is None else pa.concat_tables([told, new])
    spark.createDataFrame(whole).createOrReplaceTempView("journal")
    return [row.asDict() for row in spark.createDataFrame(new).collect()]


def replayed(spark: SparkSession) -> dict[str, dict[str, str | None]]:
    rows = spark.sql(engine.sql("replayed", journal="journal", row_key="version_sk")).collect()
    return {row.version_sk: values(row.held) for row in rows if row.held is not None}


def imaged(spark: SparkSession) -> dict[str, dict[str, str | None]]:
    rows = spark.sql(engine.sql("image_of", rows="dimension", row_key="version_sk")).collect()
    return {row.version_sk: values(row.held) for row in rows}


def values(held: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: value for name, value in held.items() if value is not None}


def test_the_audit_tells_each_change_once_and_played_back_is_the_dimension(spark: SparkSession, belief: Belief) -> None:
    chance, types = random.Random(run_seed() + 3), TYPES[1]
    before: dict[str, dict[str, Any]] = {}
    told: set[str] = set()
    for run in range(4):
        rows = {row["version_sk"]: row for row in dimension(spark, belief, types)}
        entries = journal(spark, run)
        changed = {key for key in before.keys() | rows.keys() if before.get(key) != rows.get(key)}
        assert sorted(entry["version_sk"] for entry in entries) == sorted(changed), "each change once"
        assert replayed(spark) == imaged(spark)
        assert journal_of(spark) == [], "and not again"
        for entry in entries:
            was, now = before.get(entry["version_sk"]), rows.get(entry["version_sk"])
            is_deletion = was and now and (was["end_reason"], now["end_reason"]) != ("deleted", "deleted")
            is_deletion = is_deletion and now and now["end_reason"] == "deleted"
            assert entry["change_type"] == (
                "INSERT" if was is None else "RETRACT" if now is None else "LOGICAL_DELETE" if is_deletion else "UPDATE"
            )
            if was and now:
                assert set(entry["changed_columns"]) == {name for name in now if was[name] != now[name]}
            assert entry["actor"]
            assert entry["run"] == f"run {run}"
            told.add(entry["change_type"])
        before, belief = rows, restated(chance, belief)
    assert told == {"INSERT", "UPDATE", "LOGICAL_DELETE", "RETRACT"}


def journal_of(spark: SparkSession) -> list[Any]:
    """What another run would add."""
    return spark.sql(engine.sql("audited", dimension="dimension", journal="journal", run="again")).collect()


def test_law_c2_the_crosswalk_says_which_key_became_which(spark: SparkSession, belief: Belief) -> None:
    """Of every key that was ever given, at every hour and moment that it ever covered: the key that covers it now."""
    chance, types = random.Random(run_seed() + 4), TYPES[0]
    given: dict[tuple[str, str], set[str]] = defaultdict(set)
    hours = [text(START + timedelta(hours=hour) + beside * MOMENT) for hour in range(41) for beside in (-1, 0)]
    for run in range(4):
        rows = dimension(spark, belief, types)
        journal(spark, run)
        by_key: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            by_key[row["bk"]].append(row)
            for hour in hours:
                if oracle.covering([row], hour):
                    given[row["bk"], hour].add(row["version_sk"])
        became: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for one in spark.sql(engine.sql("crosswalk", journal="journal", dimension="dimension")).collect():
            became[one.old_version_sk].append({name: shown(value) for name, value in one.asDict().items()})
        for (key, hour), keys in given.items():
            now = oracle.covering(by_key[key], hour)
            for old in keys:
                said = oracle.covering(became[old], hour)
                assert (said["new_version_sk"] if said else old) == (now and now["version_sk"]), (key, hour, old)
        belief = restated(chance, belief)
    assert any(len(keys) > 1 for keys in given.values())


def test_an_image_keeps_every_digit(root_session: SparkSession) -> None:
    """Two rows that differ in a microsecond, the last digit of a long decimal, or null for nothing are two images."""
    spark = isolated(root_session)
    spark.sql(
        """select 'k' as bk, 'v' as version_sk, timestamp '2026-03-01 00:00:00.000001' as at,
        cast('123456789012345678901234567.0000000001' as decimal(38, 10)) as amount, 'it\\'s \\\\ "odd"; ü' as name,
        cast(null as string) as nothing, map('a', struct(1 as b)) as evidence, date '2026-03-01' as day, true as flag"""
    ).createOrReplaceTempView("odd")
    [row] = spark.sql(engine.sql("image_of", rows="odd", row_key="version_sk")).collect()
    assert row.held == {
        **{"bk": "k", "version_sk": "v", "at": "2026-03-01 00:00:00.000001", "nothing": None},
        **{"amount": "123456789012345678901234567.0000000001", "name": 'it\'s \\ "odd"; ü'},
        **{"evidence": '{"a":{"b":1}}', "day": "2026-03-01", "flag": "true"},
    }
