"""Landing: every line of every file, in one commit or not at all (laws E2 and E5), and its command line."""

from __future__ import annotations

import argparse
import errno
import io
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path, PosixPath
from typing import Any

import pyarrow.parquet as pq
import pytest
from attest.cli import build_parser, main
from attest.delivery import Delivery, Landing, new_delivery
from attest.errors import LandingError
from attest.files import found, refuse_bad_files
from attest.land import Landed, land, staging_place
from attest.news import standing
from attest.session import isolated
from attest.stage import read_files, stage
from engine import ROOT, contract
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

WORKED = contract()
ARRIVED = datetime(2026, 3, 9, 12, tzinfo=UTC)
GOOD = {"customer_id": "C1", "source_system": "CRM", "source_event_ts": "2026-03-01T09:00:00Z"}
TABLE = "landing_test.landing_worked"


def line(**said: Any) -> str:
    return json.dumps(GOOD | said, ensure_ascii=False)


def written(path: Path, *lines: str) -> Path:
    path.write_bytes("".join(f"{one}\n" for one in lines).encode())
    return path


def rows_of(table: DataFrame) -> list[dict[str, Any]]:
    """Rows with their times in UTC, whatever the machine's own zone, and years that Python's clock lacks."""
    rows: list[dict[str, Any]] = table.toArrow().to_pylist(maps_as_pydicts="strict")
    return rows


def staged(tmp_path: Path, *paths: Path, delivery: Delivery) -> tuple[Landing, list[dict[str, Any]]]:
    """What landing would append, without Spark."""
    landing = stage(tmp_path, WORKED, read_files(paths, WORKED), delivery)
    rows = [row for part in landing.parts for row in pq.read_table(part).to_pylist(maps_as_pydicts="strict")]
    return landing, [row for row in rows if row["status"] != "control"]


class TornFile(PosixPath):
    """A file whose disk fails after its first bytes."""

    readable = 1000

    def open(self, *_: Any, **__: Any) -> Any:
        return io.BufferedReader(TornBytes(Path(self).read_bytes()[: self.readable]))


class TornBytes(io.RawIOBase):
    def __init__(self, start: bytes) -> None:
        self.left = start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.left:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        count = min(len(buffer), len(self.left))
        buffer[:count], self.left = self.left[:count], self.left[count:]
        return count


# What a file must be, before anything is read of it.


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"
    dangling = tmp_path / "dangling.jsonl"
    dangling.symlink_to(gone)
    for path in (gone, dangling):
        with pytest.raises(LandingError, match=f"{path} is not there. Nothing was landed; check the name"):
            refuse_bad_files([written(tmp_path / "a.jsonl", line()), path])


def test_a_folder_gives_its_files_and_what_is_no_file_of_its_is_named(tmp_path: Path) -> None:
    (tmp_path / "drop" / "2026-03").mkdir(parents=True)
    files = [written(tmp_path / "drop" / name, line()) for name in ("2026-03/b.jsonl", "a.jsonl")]
    for unmeant in (".a.jsonl.swp", "_SUCCESS"):
        written(tmp_path / "drop" / unmeant, line())
    empty = written(tmp_path / "drop" / "empty.jsonl")
    (tmp_path / "drop" / "link.jsonl").symlink_to(written(tmp_path / "secret.jsonl", line()))
    (tmp_path / "drop" / "gone.jsonl").symlink_to(tmp_path / "drop" / "nowhere")
    named, refused = found([tmp_path / "drop"])
    assert named == files
    assert [str(error).partition(". Nothing")[0] for error in refused] == [
        f"{empty} is empty",
        f"{tmp_path}/drop/gone.jsonl is not there",
        f"{tmp_path}/drop/link.jsonl leads out of {tmp_path}/drop",
    ]


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    empty = written(tmp_path / "empty.jsonl")
    with pytest.raises(LandingError, match=f"{empty} is empty. Nothing was landed; .*leave it out"):
        refuse_bad_files([empty])


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(LandingError, match=f"{pipe} is no file, so it cannot be read again. Nothing was landed"):
        refuse_bad_files([pipe])


def test_a_file_named_twice_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", line())
    (tmp_path / "b.jsonl").symlink_to(file)
    for again in (file, tmp_path / "b.jsonl", tmp_path / ".." / tmp_path.name / "a.jsonl"):
        with pytest.raises(LandingError, match=r"is named twice\. Nothing was landed; name it once"):
            refuse_bad_files([file, again])


def test_a_name_that_no_table_can_hold_is_refused(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl"))
    odd.write_text(line())
    with pytest.raises(LandingError, match=r"cannot be looked at .*Nothing was landed; check its name"):
        refuse_bad_files([odd])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", line())
    file.chmod(0)
    with pytest.raises(LandingError, match=f"{file} may not be read by this user. Nothing was landed"):
        refuse_bad_files([file])


def test_a_file_of_blank_lines_is_refused(tmp_path: Path) -> None:
    blank = written(tmp_path / "blank.jsonl", "", " \t", "\r")
    landing, rows = staged(tmp_path, blank, delivery=new_delivery())
    assert (rows, landing.verdict) == ([], None)
    assert [str(one).partition("; ")[0] for one in landing.refused] == [
        f"{blank} holds no record, only blank lines. Nothing of it was landed"
    ]


def test_a_file_that_vanishes_or_fails_midway_is_named_and_the_others_land(tmp_path: Path) -> None:
    """The torn one is long enough that most of it was staged before its disk failed."""
    good, last = (written(tmp_path / name, line()) for name in ("a.jsonl", "z.jsonl"))
    torn = TornFile(written(tmp_path / "torn.jsonl", *[line()] * 7_000))
    torn.readable = torn.stat().st_size - 10
    landing, rows = staged(tmp_path, good, tmp_path / "gone.jsonl", torn, last, delivery=new_delivery())
    assert [row["source_file"] for row in rows] == ["a.jsonl", "z.jsonl"]
    assert landing.records == landing.tally.records == 2
    for path, error in zip(("gone.jsonl", "torn.jsonl"), landing.refused, strict=True):
        assert re.fullmatch(
            f"{tmp_path}/{path} could not be read to its end .*Nothing of it was landed; land it again.", str(error)
        )


def test_a_file_that_changes_while_it_is_read_is_noticed_by_its_sum(tmp_path: Path) -> None:
    """Small or large, longer or not, and whatever its times say."""
    for count in (1, 7_000):
        good, file = (written(tmp_path / name, *[line(name="A")] * count) for name in ("good.jsonl", "a.jsonl"))
        stood = file.stat()
        sources = []
        for source in read_files([file, good], WORKED):
            sources.append(source)
            if source.path == file:
                written(file, *[line(name="B")] * count)
                os.utime(file, ns=(stood.st_atime_ns, stood.st_mtime_ns))
        landing = stage(tmp_path, WORKED, sources, new_delivery())
        assert landing.records == count
        assert [str(error).partition(". Whoever")[0] for error in landing.refused] == [
            f"{file} changed while it was read. Nothing of it was landed; land it again when it is whole"
        ]


# Provenance and times.


def test_law_e5_arrival_is_the_lines_own_else_the_deliverys(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", line(ingest_ts="2026-03-02T00:00:00+01:00"), line(), line(ingest_ts=None))
    delivery = new_delivery(arrived_at=ARRIVED)
    _, rows = staged(tmp_path, file, delivery=delivery)
    assert [row["ingest_ts"] for row in rows] == [datetime(2026, 3, 1, 23, tzinfo=UTC), ARRIVED, ARRIVED]
    assert {row["recorded_at"] for row in rows} == {delivery.recorded_at}


def test_law_e5_what_arrives_now_is_not_back_filled_and_what_arrived_before_is() -> None:
    now, before = new_delivery(), new_delivery(arrived_at=ARRIVED.replace(year=2020))
    assert now.arrived_at == now.recorded_at
    assert before.arrived_at < before.recorded_at


def test_law_e4_names_of_runs_that_we_make_sort_as_they_came() -> None:
    first, second = new_delivery(), new_delivery()
    assert first.run_id == first.landing_id < second.landing_id
    assert first.run_id.startswith(f"{first.recorded_at:%Y%m%dT%H%M%S.%f}Z-")
    assert new_delivery(run_id="nightly").run_id == "nightly"


def test_a_file_is_known_by_its_whole_name_wherever_landing_is_called_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "a.jsonl", line())
    monkeypatch.chdir(tmp_path)
    _, rows = staged(tmp_path, Path("a.jsonl"), delivery=new_delivery(run_id="nightly"))
    found = {name: rows[0][name] for name in ("source_path", "source_file", "source_record", "ingest_run_id", "feed")}
    assert found == {
        "source_path": str(tmp_path / "a.jsonl"),
        "source_file": "a.jsonl",
        "source_record": 1,
        "ingest_run_id": "nightly",
        "feed": "worked",
    }


def test_only_the_first_bad_records_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", *["{", line(customer_id="")] * 30)
    landing, rows = staged(tmp_path, file, delivery=new_delivery())
    assert landing.quarantined == Counter(malformed_record=30, missing_key=30)
    assert (len(landing.first_quarantined), len(rows)) == (20, 60)
    assert landing.first_quarantined[1][:3] == (str(file), 2, "missing_key")


def test_more_records_than_one_batch_holds_keep_their_order(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", *[line(name=str(number)) for number in range(1, 5_003)])
    landing, rows = staged(tmp_path, file, delivery=new_delivery())
    assert landing.records == 5_002
    assert all(row["fields"]["name"] == str(row["source_record"]) for row in rows)


def test_records_of_any_length_are_taken_in_batches_that_fit_in_memory(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", *[line(name="x" * 20_000_000)] * 3, line())
    landing, rows = staged(tmp_path, file, delivery=new_delivery())
    assert (landing.records, pq.ParquetFile(landing.parts[0]).num_row_groups) == (4, 2)
    assert [len(row["fields"].get("name", "")) for row in rows] == [20_000_000] * 3 + [0]


# In the table.

MIXED = [
    line(ingest_ts="2026-03-01T09:05:00Z", source_sequence_id=7, name="12\u2028Market\u2029Street\u0085", address=None),
    line(source_event_ts="0001-01-01T00:00:00.000001Z", name="12345678901234567890.12") + "\r",
    line(source_event_ts="9999-12-31T23:59:59.999999999Z", is_deleted=True),
    line(source_event_ts="1582-10-10T00:00:00Z").replace(
        "}", ', "source_sequence_id": -1234567890123456789012345678.5}'
    ),
    "",
    '{"customer_id": "C1", ',
    "[]",
    line(source_event_ts=None),
    line(customer_id=" "),
    line(source_system=None),
    line(source_event_ts="2026-02-30T00:00:00Z"),
    line(ingest_ts="soon"),
    line(source_sequence_id="NaN"),
    line(is_deleted="yes"),
    line(load_type="DELTA"),
    line(precedence_rank="first"),
    line(nickname="J"),
    line(name={"first": "Jane"}),
    line() + "\x00",
]
REASONS = {
    6: "malformed_record",
    7: "malformed_record",
    8: "missing_source_time",
    9: "missing_key",
    10: "missing_source",
    11: "unparsable_time",
    12: "unparsable_time",
    13: "unparsable_sequence",
    14: "unreadable_flag",
    15: "unreadable_load_type",
    16: "unreadable_rank",
    17: "unknown_field",
    18: "nested_value",
    19: "malformed_record",
    20: "not_utf8",
}


@dataclass(frozen=True)
class Mixed:
    spark: SparkSession
    file: Path
    delivery: Delivery
    landing: Landed
    rows: dict[int, dict[str, Any]]


@pytest.fixture(scope="module")
def mixed(root_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Mixed:
    """One landing of good and bad records, the table's first."""
    spark = isolated(root_session)
    file = written(tmp_path_factory.mktemp("mixed") / "mixed.jsonl", *MIXED)
    with file.open("ab") as more:
        more.write(line(name="José").encode("latin-1"))
    delivery = new_delivery(arrived_at=ARRIVED)
    landing = land(spark, feed=WORKED, table=TABLE, paths=[file], delivery=delivery)
    rows = {row["source_record"]: row for row in rows_of(spark.table(TABLE).where("status <> 'control'"))}
    return Mixed(spark, file, delivery, landing, rows)


def test_law_e2_records_in_are_those_accepted_and_those_quarantined(mixed: Mixed) -> None:
    refused = {number: row["quarantine_reason"] for number, row in mixed.rows.items() if row["quarantine_reason"]}
    assert refused == REASONS
    assert mixed.landing.records == len(mixed.rows) == 4 + len(REASONS)
    assert mixed.landing.quarantined == Counter(REASONS.values())


def test_law_e2_every_quarantined_record_says_why_and_what_to_do(mixed: Mixed) -> None:
    for number in REASONS:
        row = mixed.rows[number]
        assert "have the source" in row["quarantine_detail"] or "seeds/feeds.csv" in row["quarantine_detail"]
        assert (row["fields"], row["source_event_ts"], row["source_sequence"]) == (None, None, None)
    assert {(one.line, one.reason) for one in mixed.landing.first_quarantined} == set(REASONS.items())


def test_law_e2_a_record_is_kept_byte_for_byte(mixed: Mixed) -> None:
    lines = mixed.file.read_bytes().split(b"\n")
    for number, row in mixed.rows.items():
        kept = row["record"].encode("latin-1" if row["quarantine_reason"] == "not_utf8" else "utf-8")
        assert kept == lines[number - 1]


def test_accepted_records_hold_exactly_what_was_said(mixed: Mixed) -> None:
    first = mixed.rows[1]
    assert first["fields"] == json.loads(MIXED[0]) | {"source_sequence_id": "7"}
    assert first["source_sequence"] == [Decimal(7)]
    assert mixed.rows[2]["fields"]["name"] == "12345678901234567890.12"
    assert mixed.rows[3]["fields"]["is_deleted"] == "true"
    assert mixed.rows[3]["source_event_finer"] == 999_000_000_000
    assert mixed.rows[4]["source_sequence"] == [Decimal("-1234567890123456789012345678.5")]


def test_times_at_the_ends_of_the_calendar_stay_what_they_were(mixed: Mixed) -> None:
    assert [mixed.rows[number]["source_event_ts"] for number in (2, 3, 4)] == [
        datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1582, 10, 10, tzinfo=UTC),
    ]


def test_law_e5_arrival_and_recording_are_two_times(mixed: Mixed) -> None:
    arrivals = {number: row["ingest_ts"] for number, row in mixed.rows.items()}
    assert arrivals.pop(1) == datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
    assert set(arrivals.values()) == {ARRIVED}
    assert {row["recorded_at"] for row in mixed.rows.values()} == {mixed.delivery.recorded_at}


def test_law_e2_evidence_can_be_neither_changed_nor_removed(mixed: Mixed) -> None:
    for change in ("update {} set record = ''", "delete from {} where source_record = 1"):
        with pytest.raises(PySparkException, match=r"(?i)append"):
            mixed.spark.sql(change.format(TABLE))


Land = Callable[..., Landed]


@pytest.fixture(scope="module")
def land_here(root_session: SparkSession, mixed: Mixed) -> Land:
    """Land these files as this run, in the table that `mixed` made."""

    def run(paths: Sequence[Path], *, run_id: str | None = None) -> Landed:
        spark = isolated(root_session)
        return land(spark, feed=WORKED, table=TABLE, paths=paths, delivery=new_delivery(run_id=run_id))

    return run


def version(spark: SparkSession) -> int:
    found = standing(spark, TABLE)
    assert found is not None
    return found.version


def test_files_of_one_call_land_in_one_commit(spark: SparkSession, land_here: Land, tmp_path: Path) -> None:
    first, second = (written(tmp_path / f"{name}.jsonl", line(), line()) for name in "ab")
    before = version(spark)
    landing = land_here([first, second])
    assert (landing.records, version(spark)) == (4, before + 1)
    commits = spark.sql(f"describe history {TABLE}").where(f"version > {before}").select("operation").collect()
    assert [commit.operation for commit in commits] == ["WRITE"]
    landed = spark.table(TABLE).where(f"landing_id = '{landing.landing_id}' and status = 'accepted'")
    found = landed.groupBy("source_file").count().collect()
    assert {row.source_file: row["count"] for row in found} == {"a.jsonl": 2, "b.jsonl": 2}


def test_law_e2_landing_a_file_again_is_repeats_and_retrying_a_run_is_not(
    spark: SparkSession, land_here: Land, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (written(tmp_path / f"{name}.jsonl", line(), "{") for name in "ab")
    assert land_here([first]).records == 2
    assert land_here([first], run_id="nightly").records == 2
    before = version(spark)
    monkeypatch.chdir(tmp_path)
    retried = land_here([Path("a.jsonl")], run_id="nightly")
    assert (retried.records, retried.quarantined, version(spark)) == (0, Counter(), before)
    assert land_here([first, second], run_id="nightly").records == 2
    landed = spark.table(TABLE).where(f"source_path like '{tmp_path}/%'").groupBy("source_file", "ingest_run_id")
    counts = Counter(row.source_file for row in landed.count().collect())
    assert counts == {"a.jsonl": 2, "b.jsonl": 1}


def test_law_e2_a_file_that_grew_is_no_retry_and_is_not_lost_in_silence(
    spark: SparkSession, land_here: Land, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.jsonl", line())
    land_here([file], run_id="hourly")
    before = version(spark)
    for lines in ([line(), line()], [line(name="other")]):
        written(file, *lines)
        with pytest.raises(LandingError, match=f"{file} changed since this run landed it. Nothing of it was landed"):
            land_here([file], run_id="hourly")
    assert version(spark) == before


def test_a_landing_that_fails_leaves_nothing_behind(spark: SparkSession, land_here: Land, tmp_path: Path) -> None:
    good = written(tmp_path / "a.jsonl", *[line()] * 100)
    before = version(spark)
    torn = TornFile(written(tmp_path / "torn.jsonl", *[line()] * 100))
    for bad in ([good, tmp_path / "gone.jsonl"], [torn], [tmp_path / "gone.jsonl"]):
        with pytest.raises(LandingError, match=f"{bad[-1]} .*Nothing (of it )?was landed"):
            land_here(bad)
    assert version(spark) == before
    (tmp_path / "empty").mkdir()
    with pytest.raises(LandingError, match=f"{tmp_path}/empty holds no file. Nothing was landed"):
        land_here([tmp_path / "empty"])
    landing = land_here([torn, good])
    assert (landing.records, version(spark)) == (100, before + 1)
    assert [str(error).partition(" ")[0] for error in landing.refused] == [str(torn)]
    place = Path(spark.sql(f"describe detail {TABLE}").collect()[0].location.removeprefix("file:"))
    assert [path.name for path in place.iterdir() if "staging" in path.name] == []


def test_files_are_staged_in_the_tables_folder_or_where_the_environment_says(
    spark: SparkSession, land_here: Land, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ATTEST_STAGING", raising=False)
    assert (staging_place(spark, TABLE) / "_delta_log").is_dir()
    monkeypatch.setenv("ATTEST_STAGING", str(tmp_path))
    assert staging_place(spark, TABLE) == tmp_path
    monkeypatch.setenv("ATTEST_STAGING", str(tmp_path / "gone"))
    with pytest.raises(LandingError, match=r"ATTEST_STAGING is .*gone', which is no folder\. Nothing was landed"):
        land_here([written(tmp_path / "a.jsonl", line())])


# The command line.

Attest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def attest(
    root_session: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Attest:
    """Call `attest` in a scratch project: its exit code, and what it says on each stream."""
    shutil.copyfile(ROOT / "dbt_project.yml", tmp_path / "dbt_project.yml")
    shutil.copyfile(ROOT / "profiles.yml.example", tmp_path / "profiles.yml")
    shutil.copytree(ROOT / "seeds", tmp_path / "seeds")
    monkeypatch.setenv("ATTEST_SCHEMA", TABLE.partition(".")[0])
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_attest_land_says_what_landed_and_what_is_in_quarantine(attest: Attest, tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", line(), line(), "{", line(source_event_ts="soon"))
    code, out, err = attest("land", "worked", str(file))
    assert code == 0
    assert (
        "worked: landed 4 records in one commit (2 accepted, 2 in quarantine: 1 malformed_record, 1 unparsable" in out
    )
    assert f"{file}, line 3: malformed_record: is not JSON at character 2" in err
    assert f"{file}, line 4: unparsable_time: source_event_ts is 'soon': have the source send it like" in err


def test_attest_land_takes_an_arrival_and_a_run(attest: Attest, spark: SparkSession, tmp_path: Path) -> None:
    file = written(tmp_path / "history.jsonl", line())
    asked = ["land", "worked", str(file), "--arrived-at", "2020-01-01T01:00:00+01:00", "--run-id", "history"]
    assert attest(*asked)[0] == 0
    (row,) = rows_of(spark.table(TABLE).where("ingest_run_id = 'history' and status = 'accepted'"))
    assert row["ingest_ts"] == datetime(2020, 1, 1, tzinfo=UTC)
    assert row["recorded_at"] > row["ingest_ts"]
    code, out, _ = attest(*asked)
    assert (code, out) == (0, "worked: nothing new; run history landed this before\n")


def test_attest_land_names_what_it_cannot_land(attest: Attest, tmp_path: Path) -> None:
    written(tmp_path / "empty.jsonl")
    (tmp_path / "none").mkdir()
    for path, says in (("gone.jsonl", "is not there"), ("empty.jsonl", "is empty"), ("none", "holds no file")):
        code, out, err = attest("land", "worked", path)
        assert (code, out) == (1, "")
        assert err.startswith(f"attest: {path} {says}. Nothing was landed; ")


def test_attest_land_suggests_the_feed_that_was_meant(attest: Attest, tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", line())
    code, out, err = attest("land", "worke", str(file))
    assert (code, out) == (1, "")
    assert err == "attest: No feed is called 'worke' in seeds/feeds.csv. Did you mean worked?\n"


def test_attest_says_where_a_contract_is_wrong(attest: Attest, tmp_path: Path) -> None:
    feeds = tmp_path / "seeds" / "feeds.csv"
    feeds.write_text(feeds.read_text().replace("as_known", "sometimes"))
    code, _, err = attest("land", "worked", str(written(tmp_path / "a.jsonl", line())))
    assert code == 1
    assert err.startswith(f"attest: {feeds}, line 2: inheritance 'sometimes' is not one of as_known, repaired")


def test_attest_outside_a_project_says_so(attest: Attest, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    code, _, err = attest("--project-dir", str(tmp_path / "elsewhere"), "land", "worked", "a.jsonl")
    assert code == 1
    assert "dbt_project.yml is not there. Call attest from the project's root, or name it with --project-dir" in err


def commands() -> list[str]:
    """Every command there is; argparse has no public way to ask."""
    found = [action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return sorted(found[0].choices)


def test_attest_land_is_a_command() -> None:
    assert "land" in commands()


@pytest.mark.parametrize("command", commands())
def test_every_command_explains_itself(attest: Attest, command: str) -> None:
    code, out, err = attest(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: attest {command} ")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["lnd"],
        ["land"],
        ["land", "worked"],
        ["land", "worked", "a.jsonl", "--arrived-at", "yesterday"],
        ["land", "worked", "a.jsonl", "--recorded-at", "2020-01-01T00:00:00Z"],
    ],
    ids=" ".join,
)
def test_a_call_that_is_not_understood_ends_with_2_and_the_usage(attest: Attest, arguments: list[str]) -> None:
    code, out, err = attest(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("usage: attest")
