"""The gate's truth table (laws B6 and B9, sections 12.2.2, 12.3 and 12.5.6): every cell. No Spark."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest
from attest.contract import MEASURES, Feed
from attest.delivery import new_delivery
from attest.gate import DEFENSIBLE, LIMITED, REJECTED, Verdict, judge
from attest.measure import frozen_landings
from attest.record import UnreadableError, read_record
from attest.stage import read_files, stage
from engine import ROOT, contract

SOUND = contract()
FALLBACK = {"fallback": ("arrival",)}


def feed(*, without: tuple[str, ...] = (), **made: tuple[str, ...]) -> Feed:
    """A sound feed less some promises and with others."""
    return replace(SOUND, promises={name: of for name, of in SOUND.promises.items() if name not in without} | made)


# Each breach of the contract: the promises it lacks or makes, and the reason it must be given.
TRIGGERS: dict[str, tuple[Feed, str]] = {
    "no stable key": (feed(without=("key",)), "No stable business key"),
    "whole or partial unsaid": (feed(without=("load_type",)), "whole or partial"),
    "omitted fields unsaid": (feed(without=("omitted_fields",)), "omitted field"),
    "deletes undefined": (feed(without=("deletes",)), "How a delete shows"),
    "no source time, no fallback": (feed(without=("source_time",)), "No source time can be relied on"),
}
CONDITIONS: dict[str, tuple[Feed, str]] = {
    "no reliable source time": (feed(without=("source_time",), **FALLBACK), "No reliable source time"),
    "unordered or lossy extracts": (feed(without=("extracts",)), "unordered or lossy"),
    "snapshots without an as-of": (feed(load_type=("snapshot",)), "Snapshots have no as-of time"),
    "untrusted sequence": (feed(without=("sequence",)), "sequence in source_sequence_id is not promised"),
}
MEASURED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("missing_key", "repeated_key"), (REJECTED, "business key does not hold")),
    **dict.fromkeys(MEASURES[2:], (LIMITED, "source time does not hold")),
    "backward_source_time": (LIMITED, "extract is unordered"),
}


def test_law_b9_a_feed_that_promises_everything_is_defensible() -> None:
    assert judge(SOUND, {}).name == DEFENSIBLE
    assert judge(SOUND, {}).clock == "source"


@pytest.mark.parametrize(("asked", "reason"), TRIGGERS.values(), ids=TRIGGERS)
def test_law_b9_each_trigger_rejects(asked: Feed, reason: str) -> None:
    verdict = judge(asked, {})
    assert verdict.name == REJECTED
    assert reason in verdict.reasons[0]


@pytest.mark.parametrize(("asked", "reason"), CONDITIONS.values(), ids=CONDITIONS)
def test_law_b9_each_condition_limits_and_only_limits(asked: Feed, reason: str) -> None:
    verdict = judge(asked, {})
    assert (verdict.name, verdict.clock) == (LIMITED, "arrival")
    assert [reason in one for one in verdict.reasons] == [True]


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_law_b9_both_reject_and_every_reason_is_given(trigger: str, condition: str) -> None:
    lacking = SOUND.promises.keys() - TRIGGERS[trigger][0].promises.keys()
    promises = CONDITIONS[condition][0].promises
    if trigger == "no source time, no fallback":
        promises = {name: of for name, of in promises.items() if name != "fallback"}
    verdict = judge(replace(SOUND, promises={n: of for n, of in promises.items() if n not in lacking}), {})
    assert verdict.name == REJECTED
    expected = {TRIGGERS[trigger][1], CONDITIONS[condition][1]}
    if "load_type" in lacking:
        expected -= {"Snapshots have no as-of time"}  # what promises no load type promises no snapshots
    assert all(any(reason in one for one in verdict.reasons) for reason in expected)
    assert TRIGGERS[trigger][1] in verdict.reasons[0]


def test_law_b9_conditions_add_up_and_never_become_a_rejection() -> None:
    """Where a fallback is promised, all that is left out of 12.2.2 together still limits."""
    names = ("source_time", "extracts", "sequence")
    for count in range(1, 4):
        for without in combinations(names, count):
            verdict = judge(feed(without=without, **FALLBACK), {})
            assert (verdict.name, len(verdict.reasons)) == (LIMITED, count)


@pytest.mark.parametrize("measure", MEASURES)
def test_law_b9_each_measure_counts_beyond_its_limit_and_not_at_it(measure: str) -> None:
    limited = feed(**{f"most_{measure}": ("0.25",)}, **FALLBACK)
    verdict, reason = MEASURED[measure]
    beyond = judge(limited, {measure: 0.2501})
    assert beyond.name == verdict
    assert reason in beyond.reasons[0]
    assert measure in beyond.reasons[0]
    assert judge(limited, {measure: 0.25}).name == DEFENSIBLE
    assert judge(limited, {measure: None}).name == DEFENSIBLE
    assert judge(SOUND, {measure: 1e9}).name == DEFENSIBLE, "what the contract does not limit is measured, not judged"


def test_law_b9_a_measured_source_time_that_fails_rejects_where_no_fallback_is_promised() -> None:
    verdict = judge(feed(most_future_source_time=("0.1",)), {"future_source_time": 0.5})
    assert verdict.name == REJECTED
    assert "No source time can be relied on" in verdict.reasons[0]
    assert "50.0%, more than 10.0%" in verdict.reasons[1]


def test_the_samples_order_of_questions_does_not_rule() -> None:
    """Section 12.3.5 would call a feed without delete semantics limited; 12.5.6 rejects it."""
    assert judge(feed(without=("deletes",)), {}).name == REJECTED


def test_every_cell_of_the_table_in_the_docs_is_true() -> None:
    """docs/gate.md: each line that names a promise says what becomes of a feed without it."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "docs" / "gate.md").read_text().splitlines()
        if line.startswith("| `")
    ]
    table = {row[0].strip("`"): row for row in rows if len(row) == 5}
    assert table.keys() == {"key", "load_type", "omitted_fields", "deletes", "source_time", "extracts", "sequence"}
    for promise, (_, _, alone, with_fallback, _) in table.items():
        assert judge(feed(without=(promise,)), {}).name == alone.strip("`"), promise
        assert judge(feed(without=(promise,), **FALLBACK), {}).name == with_fallback.strip("`"), promise
    measured = {row[0].strip("`"): row for row in rows if len(row) == 4}
    assert measured.keys() == set(MEASURES)
    for measure, (_, _, alone, with_fallback) in measured.items():
        limit = {f"most_{measure}": ("0.5",)}
        assert judge(feed(**limit), {measure: 1}).name == alone.strip("`"), measure
        assert judge(feed(**limit, **FALLBACK), {measure: 1}).name == with_fallback.strip("`"), measure


# What a landing measures.

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def measured(tmp_path: Path, *records: str, asked: Feed = SOUND) -> dict[str, float | None]:
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f"{one}\n" for one in records))
    tally = stage(tmp_path, asked, read_files([file], asked), new_delivery(arrived_at=AT)).tally
    return tally.measures()


def said(key: str = "C1", at: str | None = "2026-03-01T08:00:00Z") -> str:
    time = "null" if at is None else f'"{at}"'
    return f'{{"customer_id": "{key}", "source_system": "CRM", "source_event_ts": {time}}}'


def test_shares_are_of_the_landings_records(tmp_path: Path) -> None:
    found = measured(
        tmp_path,
        said(at="2026-03-01T08:00:00Z"),
        said(at="2026-03-01T07:00:00Z"),  # backward
        said("C2", at="2026-03-01T07:00:00Z"),
        said("C3", at="2026-03-01T09:06:00Z"),  # in the future, by more than clocks differ
        said("C4", at="1970-01-21T12:19:15Z"),  # seconds taken for milliseconds, and backward
        said("C5", at="1772355600000"),
        said("C6", at="soon"),
        said("C7", at=None),
        said(" "),
        said("C8", at="2026-03-01T09:04:00Z"),
    )
    assert found == {
        "missing_key": 0.1,
        "repeated_key": 0.1,
        "missing_source_time": 0.1,
        "unreadable_source_time": 0.1,
        "wrong_unit_source_time": 0.2,
        "future_source_time": 0.1,
        "backward_source_time": 0.2,
        "one_source_time": 0.2,
        "median_lag_hours": 1.5,
        "longest_lag_hours": (AT - datetime(1970, 1, 21, 12, 19, 15, tzinfo=UTC)) / timedelta(hours=1),
    }


def test_where_nothing_can_be_read_only_what_is_wrong_is_measured(tmp_path: Path) -> None:
    found = measured(tmp_path, said(at="soon"))
    assert (found["unreadable_source_time"], found["one_source_time"]) == (1, 0)
    assert (found["median_lag_hours"], found["longest_lag_hours"]) == (None, None)


def test_a_clock_that_stands_still_is_counted_in_landings() -> None:
    later, earlier = AT + timedelta(days=1), AT - timedelta(days=1)
    assert frozen_landings([AT]) == 0
    assert frozen_landings([AT, AT]) == 1
    assert frozen_landings([AT, earlier, AT]) == 2
    assert frozen_landings([AT, AT, later]) == 0
    assert frozen_landings([AT, None, AT]) == 1


# What a contract's promises make of a record.


def read(record: str, asked: Feed) -> dict[str, str | None]:
    return read_record(record, asked).fields


def test_law_b5_no_text_means_null_unless_the_contract_says_so() -> None:
    record = said()[:-1] + ', "name": " N/A ", "status": "Active"}'
    assert read(record, SOUND)["name"] == " N/A "
    assert read(record, feed(null_text=("N/A", "-")))["name"] is None


def test_law_e3_absent_means_null_only_where_the_contract_says_so() -> None:
    nulls = feed(omitted_fields=("null",))
    assert "name" not in read(said(), SOUND)
    assert read(said(), nulls)["name"] is None
    partial = said()[:-1] + ', "load_type": "PARTIAL"}'
    assert "name" not in read(partial, nulls), "a record that says it is partial leaves out what it does not know"


def test_law_b3_blanking_is_a_delete_only_where_the_contract_says_so() -> None:
    wiped = said()[:-1] + ', "name": null, "address": " "}'
    kept = said()[:-1] + ', "name": null, "address": "x"}'
    blank = feed(deletes=("flag", "blank"))
    assert "is_deleted" not in read(wiped, SOUND)
    assert read(wiped, blank)["is_deleted"] == "true"
    assert "is_deleted" not in read(kept, blank)
    assert "is_deleted" not in read(said(), blank), "nothing spoken of is nothing blanked"


def test_law_b6_what_promises_no_source_time_is_not_quarantined_for_lacking_it() -> None:
    by_arrival = feed(without=("source_time",), **FALLBACK)
    for at in (None, "soon", "1772355600"):
        assert read_record(said(at=at), by_arrival).source_event_ts is None
    assert read_record(said(), by_arrival).source_event_ts == AT - timedelta(hours=1)


def test_a_bare_number_is_no_time_for_nobody_knows_its_unit() -> None:
    for field in ("source_event_ts", "ingest_ts"):
        record = said()[:-1] + f', "{field}": "1772355600"}}'
        record = record if field == "ingest_ts" else said(at="1772355600")
        with pytest.raises(UnreadableError, match=f"{field} is '1772355600', a bare number") as refused:
            read_record(record, SOUND)
        assert refused.value.reason == "time_without_unit"


SEQUENCES = {
    "number": (["2", "10", "10.5"], "0/A"),
    "parts": (["3.9", "3.10", "4.0", "10.0.1"], "3.x"),
    "lsn": (["0/9", "0/A", "0/FF", "0/16B3748", "1/0", "10/0"], "16B3748"),
}


@pytest.mark.parametrize("kind", SEQUENCES)
def test_law_e4_sequences_compare_as_what_the_contract_says_they_are(kind: str) -> None:
    asked = feed(sequence=(kind,))
    rising, wrong = SEQUENCES[kind]
    read = [read_record(said()[:-1] + f', "source_sequence_id": "{one}"}}', asked).source_sequence for one in rising]
    assert read == sorted(read, key=lambda parts: parts or [])
    assert None not in read
    with pytest.raises(UnreadableError, match="the contract promises") as refused:
        read_record(said()[:-1] + f', "source_sequence_id": "{wrong}"}}', asked)
    assert refused.value.reason == "unparsable_sequence"


def test_a_sequence_that_is_not_promised_orders_nothing() -> None:
    record = said()[:-1] + ', "source_sequence_id": "7"}'
    assert read_record(record, feed(without=("sequence",))).source_sequence is None


def test_a_verdict_of_a_landing_is_in_its_manifest(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(said() + "\n")
    landing = stage(tmp_path, SOUND, read_files([file], SOUND), new_delivery(arrived_at=AT))
    assert landing.verdict == Verdict(DEFENSIBLE, ("Meets every condition of source time.",))
