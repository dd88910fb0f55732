"""Captures replayed: the twelve acceptance tests of section 10 by their numbers, and the diff against a walk by hand.

Each exchange is a story of its own, and all of them are landed and built together.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import engine
import pytest
from attest import cli
from attest.capture_writing import Answer, Asked, write_capture
from attest.contract import feeds_of
from cases import UNTESTED, WHOLE
from engine import contract
from histories import run_seed
from pyspark.sql import Row, SparkSession

SCHEMA = "replayed"
LISTINGS = contract("listings")
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
BRONZE = (
    *("--select", "+instrument_timeline", "+captures", "authorities"),
    *(*WHOLE, "--exclude-resource-type", "unit_test"),
)
Dbt = Callable[..., Any]


def listed(symbol: str = "A", **said: Any) -> str:
    """A record as the vendor writes it; digits are given as text."""
    members = {"symbol": symbol, "tick_size": "0.01", "lot_size": "1", "contract_size": "1"} | said
    told = (f'"{name}": {value if name.endswith("_size") else json.dumps(value)}' for name, value in members.items())
    return "{" + ", ".join(told) + "}"


@dataclass(frozen=True)
class Told:
    """A capture of an exchange: on which day and what it lists."""

    day: float
    records: Sequence[str]
    complete: bool = True
    expected: int | None = None
    vendor: str = "marketdata"
    effective: float | None = None


OTHERS = [listed(symbol) for symbol in "BCD"]
A = [listed(), *OTHERS]
STORIES: dict[str, list[Told]] = {
    "T01": [Told(0, A), Told(1 / 16, [listed(tick_size="0.05"), *OTHERS])],
    "T02": [
        Told(5, A),
        Told(6, [listed(tick_size="5"), *OTHERS], effective=5),
        Told(7, [listed(tick_size="6")], effective=4),
    ],
    "T03": [Told(0, A), Told(1, [*reversed(A)])],
    "T04": [Told(0, A), Told(1, [listed(lot_size="2"), *OTHERS])],
    "T05": [
        Told(0, A),
        Told(1, [listed(tick_size="7")], complete=False),
        Told(2, [listed(tick_size="8")], expected=4),
        Told(3, [listed(name="Renamed"), *OTHERS]),
    ],
    "T07": [Told(0, A), Told(2, [listed(asset_type="future"), *OTHERS])],
    "T09": [
        Told(0, A),
        Told(1, [listed(tick_size="0.01000000000000000020816681711721685228"), *OTHERS]),
        Told(2, [listed(tick_size="1e-2", name="Renamed"), *OTHERS]),
    ],
    "T10": [Told(0, A), Told(1, [listed(tick_size="0.001"), *OTHERS])],
    "T11": [Told(0, A), Told(5, OTHERS), Told(6, [*OTHERS, listed("E")]), Told(8, [*A, listed("E")])],
    "ABA": [Told(0, A), Told(1, [listed(lot_size="2"), *OTHERS]), Told(2, A)],
    "DRIFT": [
        Told(day, [listed(contract_size=size), *OTHERS])
        for day, size in enumerate(("1", "1.0000006", "1.000001", "1.0000012", "1.0000004", "1.0000003", "1.0000001"))
    ],
    "OTHER": [Told(0, A), Told(1, [listed(tick_size="9")], vendor="elsewhere")],
    "BROKEN": [Told(0, A), Told(1, [*OTHERS, '{"symbol": "A", "tick_size": "unknown"}']), Told(2, A)],
    "EMPTY": [Told(0, A), Told(1, [])],
}
FOLLOW_UP = {
    "T11": [Told(9, [listed(tick_size="0.02"), *OTHERS])],
    "DRIFT": [Told(7, [listed(contract_size="1.0000009"), *OTHERS])],
}


def at(day: float) -> datetime:
    return START + timedelta(days=day)


@pytest.fixture(scope="module")
def attest(project: Path, dbt: Dbt) -> Callable[..., int]:
    here = Path.cwd()

    def run(*arguments: str) -> int:
        os.environ["ATTEST_SCHEMA"] = SCHEMA
        try:
            return cli.main(["--project-dir", str(project), *arguments])
        finally:
            os.chdir(here)

    return run


def write(root: Path, stories: dict[str, list[Told]]) -> None:
    for exchange, captures in stories.items():
        for one in captures:
            asked = Asked(
                one.vendor,
                "instrument",
                "instrument_listings",
                "full_snapshot",
                "https://api.example.com/listings",
                partitions={"exchange": exchange},
            )
            effective = None if one.effective is None else at(one.effective)
            answer = Answer(one.records, at(one.day), one.complete, one.expected, effective)
            write_capture(root, asked, answer, feed=LISTINGS)


@pytest.fixture(scope="module")
def built(project: Path, dbt: Dbt, attest: Callable[..., int]) -> None:
    """Everything in one call and one commit, then a build; what comes after it in another."""
    write(project / "bronze", STORIES)
    assert attest("land", "listings", str(project / "bronze"), "--run-id", "nightly") == 1, "T02 goes backwards"
    dbt("build", *BRONZE, *UNTESTED, schema=SCHEMA, project=project)
    write(project / "bronze", FOLLOW_UP)
    assert attest("land", "listings", str(project / "bronze"), "--run-id", "nightly") == 0
    dbt("build", *BRONZE, schema=SCHEMA, project=project)


@pytest.fixture(scope="module")
def ledger(root_session: SparkSession, built: None) -> dict[str, list[Row]]:
    """What the ledger says of each exchange's captures, in the order in which they were captured."""
    rows = root_session.table(f"{SCHEMA}.captures").orderBy("captured_at").collect()
    return {exchange: [row for row in rows if row.scope == exchange] for exchange in STORIES}


@pytest.fixture(scope="module")
def versions(root_session: SparkSession, built: None) -> dict[str, list[Row]]:
    """Each instrument's versions in their order."""
    rows = root_session.table(f"{SCHEMA}.instrument_timeline").orderBy("version").collect()
    return {key: [row for row in rows if row.bk == key] for key in {row.bk for row in rows}}


def statuses(rows: Sequence[Row]) -> list[str]:
    return [row.status for row in rows]


def counts(row: Row) -> tuple[int | None, ...]:
    return row.new, row.modified, row.delisted, row.unchanged


def story(rows: Sequence[Row], attribute: str) -> list[tuple[float, str]]:
    """Since which day each version holds, and its value of one attribute; nothing of one that is deleted."""
    told = [
        (row, "gone" if row.is_deleted else f"{float(row[attribute]):g}" if row[attribute] else "none") for row in rows
    ]
    return [((row.effective_from.replace(tzinfo=UTC) - START) / timedelta(days=1), value) for row, value in told]


def as_of(dbt: Dbt, spark: SparkSession, project: Path, when: datetime, key: str) -> list[Row]:
    query = "{{ timeline_as_of('instrument', as_at='" + when.isoformat() + "') }}"
    done = dbt("compile", "--inline", f"select * from {query} as then", schema=SCHEMA, project=project)
    return spark.sql(done.result.results[0].node.compiled_code).where(f"bk = '{key}'").collect()


def test_1_a_capture_at_half_past_ten_changes_no_answer_about_nine(
    spark: SparkSession, dbt: Dbt, project: Path, versions: dict[str, list[Row]]
) -> None:
    assert story(versions["T01|A"], "tick_size") == [(0, "0.01"), (1 / 16, "0.05")]
    assert versions["T01|A"][1].effective_from.replace(tzinfo=UTC) == START.replace(hour=10, minute=30)
    [then] = as_of(dbt, spark, project, START, "T01|A")
    assert then.tick_size == Decimal("0.01")


def test_2_what_is_not_forward_is_rejected_and_changes_nothing(
    ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    assert statuses(ledger["T02"]) == ["success", "rejected_not_forward", "rejected_not_forward"]
    assert "snapshots go forward only" in ledger["T02"][1].why
    assert story(versions["T02|A"], "tick_size") == [(5, "0.01")]


def test_3_the_same_content_is_stored_and_skipped(
    spark: SparkSession, ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    first, second = ledger["T03"]
    assert (first.status, second.status, second.prior_landing_id) == ("success", "skipped_duplicate", first.landing_id)
    assert second.content_sum == first.content_sum
    kept = spark.table(f"{SCHEMA}.landing_listings").where(f"landing_id = '{second.landing_id}' and status = 'skipped'")
    assert kept.count() == 4, "that it was observed again is evidence"
    assert story(versions["T03|A"], "tick_size") == [(0, "0.01")]


def test_4_other_content_is_replayed(ledger: dict[str, list[Row]], versions: dict[str, list[Row]]) -> None:
    assert statuses(ledger["T04"]) == ["success", "success"]
    assert [counts(row) for row in ledger["T04"]] == [(4, 0, 0, 0), (0, 1, 0, 3)]
    assert story(versions["T04|A"], "lot_size") == [(0, "1"), (1, "2")]


def test_5_and_6_an_incomplete_capture_never_differs_from_anything_nor_anything_from_it(
    spark: SparkSession, ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    assert statuses(ledger["T05"]) == ["success", "skipped_incomplete", "skipped_incomplete", "success"]
    assert counts(ledger["T05"][3]) == (0, 0, 0, 4), "against the first, not against those between them"
    prior = spark.table(f"{SCHEMA}.instrument_changes").where(f"landing_id = '{ledger['T05'][3].landing_id}'")
    assert {row.prior_landing_id for row in prior.collect()} == {ledger["T05"][0].landing_id}
    assert [story(versions[f"T05|{symbol}"], "tick_size") for symbol in "AB"] == [[(0, "0.01")]] * 2
    kept = spark.table(f"{SCHEMA}.landing_listings").where("record like '%: 7,%' and status = 'skipped'")
    assert kept.count() == 1


def test_7_a_transition_belongs_to_the_new_version(
    spark: SparkSession, dbt: Dbt, project: Path, versions: dict[str, list[Row]]
) -> None:
    old, new = versions["T07|A"]
    assert old.effective_to == new.effective_from == at(2).replace(tzinfo=None)
    [then] = as_of(dbt, spark, project, at(2), "T07|A")
    [just_before] = as_of(dbt, spark, project, at(2) - timedelta(microseconds=1), "T07|A")
    assert (then.asset_type, just_before.asset_type) == ("future", None)


def test_8_windows_of_a_key_neither_overlap_nor_leave_a_gap(versions: dict[str, list[Row]]) -> None:
    assert len(versions) >= 4 * len(STORIES)
    for rows in versions.values():
        assert [row.effective_to for row in rows[:-1]] == [row.effective_from for row in rows[1:]]
        assert all(row.effective_from < row.effective_to for row in rows[:-1])
        assert [row.is_current for row in rows] == [False] * (len(rows) - 1) + [True]


def test_9_a_fixed_point_grid_prevents_false_churn(
    ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    """The digits differ, and so does the name, which is untracked: all of it is replayed and opens no version."""
    assert statuses(ledger["T09"]) == ["success"] * 3
    assert [counts(row) for row in ledger["T09"]] == [(4, 0, 0, 0), (0, 0, 0, 4), (0, 0, 0, 4)]
    assert story(versions["T09|A"], "tick_size") == [(0, "0.01")]


def test_10_a_meaningful_change_is_detected(ledger: dict[str, list[Row]], versions: dict[str, list[Row]]) -> None:
    assert counts(ledger["T10"][1]) == (0, 1, 0, 3)
    assert story(versions["T10|A"], "tick_size") == [(0, "0.01"), (1, "0.001")]


def test_11_and_12_who_is_delisted_is_gone_until_it_is_listed_again(
    spark: SparkSession, dbt: Dbt, project: Path, ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    """A delete is a row here, never current state; in between, nobody is listed (laws B3 and C3)."""
    assert [counts(row) for row in ledger["T11"]] == [
        (4, 0, 0, 0),
        (0, 0, 1, 3),
        (1, 0, 0, 3),
        (1, 0, 0, 4),
        (0, 1, 1, 3),
    ]
    assert story(versions["T11|A"], "tick_size") == [(0, "0.01"), (5, "gone"), (8, "0.01"), (9, "0.02")]
    assert [row.is_inferred for row in versions["T11|A"]] == [False, True, False, False]
    assert story(versions["T11|E"], "tick_size") == [(6, "0.01"), (9, "gone")]
    for day in (5, 7.5):
        [then] = as_of(dbt, spark, project, at(day), "T11|A")
        assert then.is_deleted
    [again] = as_of(dbt, spark, project, at(8), "T11|A")
    assert not again.is_deleted


def test_law_c5_a_b_a_is_three_states(ledger: dict[str, list[Row]], versions: dict[str, list[Row]]) -> None:
    assert statuses(ledger["ABA"]) == ["success"] * 3
    assert story(versions["ABA|A"], "lot_size") == [(0, "1"), (1, "2"), (2, "1")]


def test_law_c5_drift_cannot_creep_through_a_tolerance(
    ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    """Each step is within a millionth of the one before it; versions end where they leave what they began with."""
    assert story(versions["DRIFT|A"], "contract_size") == [(0, "1"), (3, "1"), (6, "1")]
    assert [row.contract_size for row in versions["DRIFT|A"]] == [
        Decimal("1"),
        Decimal("1.0000012"),
        Decimal("1.0000001"),
    ]
    assert [row.modified for row in ledger["DRIFT"]] == [0, 0, 0, 1, 0, 0, 1, 0], "the last in a build of its own"


def test_a_vendor_without_authority_is_kept_and_skipped(
    ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    assert statuses(ledger["OTHER"]) == ["success", "skipped_not_authoritative"]
    assert story(versions["OTHER|A"], "tick_size") == [(0, "0.01")]


def test_a_capture_with_records_in_quarantine_proves_no_absence(
    ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    assert [counts(row) for row in ledger["BROKEN"]] == [(4, 0, 0, 0), (0, 0, 0, 3), (0, 0, 0, 4)]
    assert story(versions["BROKEN|A"], "tick_size") == [(0, "0.01")]


def test_an_answer_of_nothing_is_held_by_the_breaker(
    spark: SparkSession, ledger: dict[str, list[Row]], versions: dict[str, list[Row]]
) -> None:
    assert statuses(ledger["EMPTY"]) == ["success", "success"]
    assert counts(ledger["EMPTY"][1]) == (0, 0, 4, 0)
    held = spark.table(f"{SCHEMA}.instrument_snapshots").where("decision <> 'passed'").collect()
    assert {(row.scopes[0], row.decision, row.deletes) for row in held} == {
        ("EMPTY", "held", 4),
        ("BROKEN", "untrusted", 1),
    }
    assert story(versions["EMPTY|A"], "tick_size") == [(0, "0.01")]


def test_what_the_diff_calls_delisted_is_what_is_inferred_where_the_breaker_lets_it(
    spark: SparkSession, built: None
) -> None:
    delisted = spark.table(f"{SCHEMA}.instrument_changes").where("change = 'delisted' and bk not like 'EMPTY%'")
    inferred = spark.table(f"{SCHEMA}.instrument_absences")
    told = [{(row.bk, row.source_event_ts) for row in rows.collect()} for rows in (delisted, inferred)]
    assert told[0] == told[1]
    assert len(told[0]) == 2


def test_a_retry_of_the_run_lands_nothing_twice(
    spark: SparkSession, attest: Callable[..., int], built: None, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = spark.table(f"{SCHEMA}.landing_listings").count()
    assert attest("land", "listings", str(project / "bronze"), "--run-id", "nightly") == 0
    assert "nothing new" in capsys.readouterr().out
    assert spark.table(f"{SCHEMA}.landing_listings").count() == before


def test_the_first_version_is_complete_only_if_whoever_lands_it_says_so(
    spark: SparkSession, attest: Callable[..., int], built: None, project: Path
) -> None:
    of_one, of_two = (["--complete", "--expected", count] for count in "12")
    for exchange, claims in (("V1", of_one), ("V1?", []), ("V1!", of_two)):
        envelope = {
            **{"schema_version": 1, "vendor": "marketdata", "dataset": "instrument"},
            **{"captured_at_us": 1772361000000000, "snapshot_ts_us": None},
            **{"partitions": {"exchange": exchange}, "request": {}, "record": {"symbol": "A"}},
        }
        file = project / f"{exchange}.jsonl.gz"
        file.write_bytes(gzip.compress(json.dumps(envelope).encode()))
        assert attest("land", "listings", str(file), *claims) == 0
    rows = spark.table(f"{SCHEMA}.captures").where("scope like 'V1%'").collect()
    assert {row.scope: row.status for row in rows} == {
        "V1": "pending",
        "V1?": "skipped_incomplete",
        "V1!": "skipped_incomplete",
    }


def test_claims_that_a_capture_makes_itself_are_refused(
    attest: Callable[..., int], built: None, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for claim in (["--complete"], ["--as-of", "2026-03-01"], ["--scope", "T01"], ["--arrived-at", "2026-03-01"]):
        assert attest("land", "listings", str(project / "bronze"), *claim) == 1
        assert "Nothing was landed; leave --" in capsys.readouterr().err


# The diff by itself, against a walk.

TICKS = ("1", "1.0000004", "1.0000008", "1.0000012", "2")
WORDS = (None, '"x"', '"y"')
SEEN = (
    "bk string, feed string, scope string, landing_id string, source_record bigint, "
    "mentions map<string, string>, source_event_ts timestamp"
)
SNAPSHOTS = "landing_id string, feed string, as_of timestamp, scopes array<string>, has_quarantined boolean"
Listing = tuple[str, str | None] | None


def walked(history: Sequence[Listing], proves: Sequence[bool]) -> list[tuple[int, str, str | None]]:
    """Which snapshot says what of one entity, and with which tick, one step a snapshot."""
    found: list[tuple[int, str, str | None]] = []
    began: tuple[str, str | None] | None = None
    for place, one in enumerate(history):
        if one is None:
            if began is not None and proves[place]:
                found.append((place, "delisted", None))
                began = None
        elif began is None:
            began = one
            found.append((place, "new", one[0]))
        elif abs(Decimal(one[0]) - Decimal(began[0])) > Decimal("0.000001") or one[1] != began[1]:
            began = one
            found.append((place, "modified", one[0]))
        else:
            found.append((place, "unchanged", began[0]))
    return found


def test_law_c5_the_diff_is_what_a_walk_by_hand_finds(spark: SparkSession) -> None:
    """300 entities over 9 snapshots of two feeds, of which some cannot prove an absence; two scopes that share keys."""
    dice = random.Random(run_seed())
    histories: dict[tuple[str, str, str], list[Listing]] = {
        (feed, scope, f"E{number}"): [
            None if dice.random() < 0.3 else (dice.choice(TICKS), dice.choice(WORDS)) for _ in range(9)
        ]
        for feed in ("F1", "F2")
        for scope in ("north", "south")
        for number in range(75)
    }
    proves = {(feed, scope): [dice.random() < 0.7 for _ in range(9)] for feed, scope, _ in histories}
    snapshots = [
        (f"{feed}/{scope}/{place}", feed, at(place), [scope], not sound)
        for (feed, scope), all_of in proves.items()
        for place, sound in enumerate(all_of)
    ]
    seen = [
        (key, feed, scope, f"{feed}/{scope}/{place}", int(key[1:]), {"tick": one[0], "word": one[1]}, at(place))
        for (feed, scope, key), history in histories.items()
        for place, one in enumerate(history)
        if one is not None
    ]
    dice.shuffle(seen)
    shape = engine.assertions(spark, engine.landed([], feed=engine.contract())).schema
    columns = [field for field in shape if field.name not in {part.split()[0] for part in SEEN.split(", ")}]
    others = {field.name: f"cast(null as {field.dataType.simpleString()}) as {field.name}" for field in columns}
    spark.createDataFrame(seen, SEEN).selectExpr("*", *others.values()).createOrReplaceTempView("listed")
    spark.createDataFrame(snapshots, SNAPSHOTS).createOrReplaceTempView("snapshots")
    tolerances = [("F1", "tolerance", "tick:0.000001"), ("F2", "tolerance", "tick:0.000001")]
    spark.createDataFrame(tolerances, "feed string, promise string, value string").createOrReplaceTempView("promises")
    reads: dict[str, Any] = {"listed": "listed", "snapshots": "select * from snapshots", "promises": "promises"}
    rows = spark.sql(engine.sql("diff_snapshots", **reads, attributes=["tick", "word"])).collect()
    found: dict[tuple[str, str, str], list[tuple[int, str, str | None]]] = {key: [] for key in histories}
    for row in sorted(rows, key=lambda row: row.landing_id):
        tick = row.mentions["tick"] if row.change != "delisted" else None
        found[row.feed, row.scope, row.bk].append((int(row.landing_id[-1]), row.change, tick))
    wrong = [key for key, history in histories.items() if found[key] != walked(history, proves[key[:2]])]
    assert wrong == []
    assert {change for told in found.values() for _, change, _ in told} == {"new", "modified", "unchanged", "delisted"}


def test_authorities_are_read_with_the_contract() -> None:
    feed = feeds_of(engine.ROOT)["listings"]
    assert feed.authorities["instrument", ""] == ("marketdata", "full_snapshot")
