"""The stream: each micro-batch is one landing, done once however often it is tried (law E2, sections 12.4.9)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import capture
import pytest
from attest import land as landing_module
from attest.cli import build_parser
from attest.commands.told import print_landing
from attest.contract import feeds_of
from attest.delivery import new_delivery
from attest.errors import StreamError
from attest.land import Landed
from attest.release import held_landings, release
from attest.stream import Batch, Stream, follow, read_duration, read_options
from capture import CUSTOMERS
from engine import ROOT
from pyspark.sql import DataFrame, SparkSession

CORE = feeds_of(ROOT)["core_customers"]
EVENTS = (ROOT / "examples" / "core_customers" / "2026_03.jsonl").read_text(encoding="utf-8").splitlines()


class KilledError(Exception):
    """As if the process had ended here."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "come"
    place.mkdir()
    return place


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path, folder: Path) -> Iterator[Stream]:
    table = f"stream_test.landing_{re.sub(r'[^a-z0-9]', '_', tmp_path.name.lower())}"
    yield Stream(
        feed=CORE,
        table=table,
        checkpoint=str(tmp_path / "checkpoint"),
        path=str(folder),
        options={"maxFilesPerTrigger": "1"},
    )
    spark.sql(f"drop table if exists {table}")


def arrive(folder: Path, name: str, *lines: str) -> None:
    """A file as it should come: written elsewhere, then moved in whole."""
    written = folder.parent / name
    written.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    written.rename(folder / name)


def run(spark: SparkSession, stream: Stream, after: Callable[[Batch], None] = lambda _: None) -> list[Batch]:
    batches: list[Batch] = []

    def keep(batch: Batch) -> None:
        batches.append(batch)
        after(batch)

    follow(spark, stream, after=keep)
    return batches


def landed(spark: SparkSession, stream: Stream) -> DataFrame:
    return spark.table(stream.table).where("status <> 'control'")


def kill(_: Batch) -> None:
    raise KilledError


def test_a_batch_is_one_landing_and_the_next_start_goes_on_from_there(
    spark: SparkSession, stream: Stream, folder: Path
) -> None:
    arrive(folder, "1.jsonl", *EVENTS[:5])
    arrive(folder, "2.jsonl", *EVENTS[5:])
    first = run(spark, stream)
    assert [batch.landed.records for batch in first] == [5, 7]
    arrive(folder, "3.jsonl", "", " ")
    arrive(folder, "4.jsonl", EVENTS[0])
    blank, last = run(spark, stream)
    assert [str(error).partition(",")[0] for error in blank.landed.refused] == [f"{folder}/3.jsonl holds no record"]
    assert (blank.landed.records, last.landed.records) == (0, 1)
    assert run(spark, stream) == []
    runs = landed(spark, stream).groupBy("ingest_run_id", "ingest_ts").count().orderBy("ingest_run_id").collect()
    assert [row["count"] for row in runs] == [5, 7, 1]
    assert [f"{row.ingest_ts:%Y%m%dT%H%M%S.%fZ}" for row in runs] == [row.ingest_run_id[:23] for row in runs]


def test_killed_between_any_two_steps_of_any_batch_nothing_lands_twice_and_nothing_is_lost(
    spark: SparkSession, stream: Stream, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the commit of a landing, after it, and between the landing and what follows it; then once to the end."""
    for number in range(2):
        arrive(folder, f"{number}.jsonl", *EVENTS[number * 6 : number * 6 + 6])
    commit = landing_module.commit

    def before(*_: Any) -> None:
        raise KilledError

    def after(*arguments: Any) -> None:
        commit(*arguments)
        raise KilledError

    for number in range(2):
        for killed in (before, after):
            monkeypatch.setattr(landing_module, "commit", killed)
            with pytest.raises(StreamError, match="stopped"):
                run(spark, stream)
            monkeypatch.setattr(landing_module, "commit", commit)
        with pytest.raises(KilledError):
            run(spark, stream, after=lambda batch: kill(batch) if batch.number == number else None)  # noqa: B023
    run(spark, stream)
    found = [row.record for row in landed(spark, stream).orderBy("source_file", "source_record").collect()]
    assert found == EVENTS
    assert spark.table(stream.table).where("status = 'control'").count() == 2


def test_a_file_that_changed_since_its_batch_landed_is_named_and_not_landed_again(
    spark: SparkSession, stream: Stream, folder: Path
) -> None:
    arrive(folder, "1.jsonl", EVENTS[0])
    with pytest.raises(KilledError):
        run(spark, stream, after=kill)
    (folder / "1.jsonl").write_text(EVENTS[1] + "\n", encoding="utf-8")
    [batch] = run(spark, stream)
    [refused] = batch.landed.refused
    assert "1.jsonl changed since this run landed it. Nothing of it was landed" in str(refused)
    assert [row.record for row in landed(spark, stream).collect()] == [EVENTS[0]]


def test_section_12_4_9_3_what_a_watermark_passes_is_quarantined_and_counted_and_can_be_released(
    spark: SparkSession, stream: Stream, folder: Path
) -> None:
    bounded = replace(stream, watermark=timedelta(hours=24))
    arrive(folder, "1.jsonl", EVENTS[8])  # 3 March
    run(spark, bounded)
    arrive(folder, "2.jsonl", EVENTS[4], EVENTS[9], EVENTS[3])  # 2 March 10:00, 4 March, a transaction
    [batch] = run(spark, bounded)
    assert batch.landed.quarantined == {}, "22 hours before the newest is not late"
    arrive(folder, "3.jsonl", EVENTS[4])
    [batch] = run(spark, bounded)
    assert batch.landed.quarantined == {"past_watermark": 1}
    assert "before the watermark 2026-03-03T16:45:00.000001+00:00" in batch.landed.first_quarantined[0].detail
    [held] = held_landings(spark, stream.table)
    assert release(spark, feed=CORE, table=stream.table, held=held).records == 1


def test_another_source_lands_whole_messages_and_a_try_again_nothing_twice(
    spark: SparkSession, stream: Stream, folder: Path, tmp_path: Path
) -> None:
    """A Delta table with the columns of Kafka's source stands for it: keys, headers and tombstones come along."""
    messages = [json.loads(event) for event in EVENTS]
    told = [
        (
            json.dumps(one["key"]).encode(),
            None if one["value"] is None else json.dumps(one["value"], ensure_ascii=False).encode(),
            one["topic"], 0, number,
            [(name, text.encode()) for name, text in one.get("headers", {}).items()],
        )
        for number, one in enumerate(messages)
    ]  # fmt: skip
    kinds = "key binary, value binary, topic string, partition int, offset bigint"
    rows = spark.createDataFrame(told, f"{kinds}, headers array<struct<key: string, value: binary>>")
    table = str(tmp_path / "messages")
    rows.coalesce(1).write.format("delta").save(table)
    bus = replace(stream, source="delta", path=table, options={})
    with pytest.raises(KilledError):
        run(spark, bus, after=kill)
    [batch] = run(spark, bus)
    assert batch.landed.records == 0, "it had landed, so that trying again is a retry"
    found = {row.source_record: row for row in landed(spark, bus).collect()}
    assert sorted(found) == list(range(12))
    assert {found[number].source_path for number in (0, 8)} == {"delta/core.public.customers/0"}
    assert [found[number].quarantine_reason for number in (3, 7)] == ["transaction", "tombstone"]
    assert (found[8].moved_from, found[8].fields["full_name"]) == ("C301", "Tom Okafor")


def test_a_source_without_values_or_a_folder_that_is_none_is_refused(spark: SparkSession, stream: Stream) -> None:
    with pytest.raises(StreamError, match="is no folder"):
        run(spark, replace(stream, path="/nowhere"))
    with pytest.raises(StreamError, match="cannot be read"):
        run(spark, replace(stream, source="nothing_like_it", path=None))


def test_what_follows_a_batch_stops_the_stream_where_it_fails(
    spark: SparkSession, stream: Stream, folder: Path
) -> None:
    arrive(folder, "1.jsonl", EVENTS[0])
    with pytest.raises(KilledError):
        run(spark, stream, after=kill)
    again: list[Batch] = run(spark, stream)
    assert [batch.number for batch in again] == [0], "its batch is done again, so what follows it is too"


def test_options_come_from_a_file_and_secrets_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kafka.yml"
    file.write_text(
        "subscribe: core.public.customers\nincludeHeaders: true\npassword: \"{{ env_var('BUS_PASSWORD') }}\"\n"
    )
    monkeypatch.setenv("BUS_PASSWORD", "secret")
    assert read_options(file) == {
        "subscribe": "core.public.customers",
        "includeHeaders": "true",
        "password": "secret",
    }


def test_a_watermark_is_a_duration() -> None:
    assert read_duration("7 days") == timedelta(days=7)
    assert read_duration("1 hour") == timedelta(hours=1)
    for text in ("7", "soon", "-1 day"):
        with pytest.raises(ValueError, match="is no duration, such as '7 days'"):
            read_duration(text)
    with pytest.raises(SystemExit):
        build_parser().parse_args(["stream", "core_customers", "x", "--watermark", "soon"])


def test_a_changed_table_is_told_and_what_waited_for_its_contract_is_released(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The capture's table got a column and lost another: two new schemas, and a column that no contract knows."""
    feed = CUSTOMERS.feed
    table, narrow = "stream_test.landing_customers", replace(feed, fields=feed.fields - {"loyalty"})
    written = tmp_path / "events.jsonl"
    written.write_text("".join(f"{line}\n" for line in capture.lines()), encoding="utf-8")
    delivery = new_delivery(arrived_at=datetime(2026, 11, 18, 13, tzinfo=UTC))
    landed_first = landing_module.land(spark, feed=narrow, table=table, paths=[written], delivery=delivery)
    assert landed_first.quarantined == {"unknown_field": 3}
    [held] = held_landings(spark, table)
    released = release(spark, feed=feed, table=table, held=held)
    assert released.records == 3
    print_landing("customers", Landed([released]))
    told = capsys.readouterr().err
    assert "its table changed: loyalty is new (int32 optional default=7). See that" in told
    assert "its table changed: segment is gone" in told
    assert "segment has its default in 1 records, which may stand for null" in told
    rows = spark.table(table).where("status = 'accepted' and released_from is not null").orderBy("source_record")
    assert [(row.source_record, row.ingest_ts) for row in rows.collect()] == [
        (line, delivery.arrived_at.replace(tzinfo=None)) for line in (58, 61, 67)
    ]
