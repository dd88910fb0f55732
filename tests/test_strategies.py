"""Full, merge and historic: what a slice makes of its table, what is counted of it, and what is refused."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from attest.commits import newest
from attest.errors import (
    ColumnsChangedError,
    DuplicateBusinessKeyError,
    EmptySliceError,
    NullKeyError,
    OvertakenError,
    ProcessingTimeError,
)
from attest.news import standing
from attest.strategies import instant, process
from engine import sql
from histories import run_seed
from pyspark.sql import SparkSession
from slices import Model, Refused, values

OFFICES = "no int, city string, floors int, gone boolean"
DAYS = ["2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01", "2026-05-01"]
HISTORY = ("no", "city", "is_deleted", "month(effective_from)", "month(effective_to)", "is_current")
Offices = Callable[..., Model]


@pytest.fixture
def offices(spark: SparkSession) -> Iterator[Offices]:
    """A model of offices, keyed by their number; `gone` says that one is no more."""
    spark.sql("create schema if not exists strategies")

    def declare(strategy: str, **config: Any) -> Model:
        spark.sql("drop table if exists strategies.offices")
        own: dict[str, Any] = {"business_key": ["no"], "deleted_when": "gone", "untracked": ["gone"]}
        return Model(spark, strategy, own | config)

    yield declare
    spark.sql("drop table if exists strategies.offices")


GONE = True


def slice_of(*rows: tuple[Any, ...]) -> str:
    return values(OFFICES, [(*row, False)[:4] for row in rows])


def generation(model: Model) -> str:
    found = standing(model.spark, model.table)
    assert found is not None
    assert found.note is not None
    return found.note.generation


def version(model: Model) -> int:
    return newest(model.spark, model.table)[0]


def test_full_puts_the_slice_in_the_place_of_all_there_is_and_takes_its_columns(offices: Offices) -> None:
    model = offices("full", deleted_when="false", untracked=[])
    model.take(slice_of((1, "Rome", 1), (2, "Oslo", 2)))
    done = model.take(values("no int, zip string", [(2, "0150")]))
    assert (model.rows("no", "zip"), done.counts, version(model)) == ([(2, "0150")], {"records": 1}, 1)
    assert [told.split()[1] for told in done.warnings] == ["zip", "city", "floors", "gone"]
    assert "city" not in model.spark.table(model.table).columns


def test_full_replaces_the_partitions_that_the_slice_has_rows_of_and_no_others(offices: Offices) -> None:
    model = offices("full", deleted_when="false", untracked=[], partition_by=["floors"])
    model.take(slice_of((1, "Rome", 1), (2, "Oslo", 2), (3, "Bonn", 2)))
    done = model.take(values("no int, floors int, zip string", [(4, 2, "1"), (5, 3, "2")]))
    assert model.rows("no", "floors", "city", "zip") == [(1, 1, "Rome", None), (4, 2, None, "1"), (5, 3, None, "2")]
    assert done.wrote is not None
    assert (done.wrote.primitive, version(model)) == ("overwritePartitions", 1)


def test_merge_inserts_updates_touches_and_flags_in_one_commit(offices: Offices) -> None:
    model = offices("merge", delete_missing="floors >= 5")
    first = model.take(
        slice_of(
            (1, "Rome", 1), (2, "Oslo", 2), (3, "Bonn", 3), (4, "Kyiv", 4, GONE), (5, "Riga", 4), (6, "Lodz", 6),
        ),
        DAYS[1],
    )  # fmt: skip
    assert first.counts == {"records": 6, "inserted": 5, "updated": 0, "touched": 0, "deleted": 1, "inferred": 0}
    done = model.take(
        slice_of(
            (1, "Rome", 1), (2, "Bergen", 2), (3, None, None, GONE), (4, "Kyiv", 4), (7, "Lima", 7),
            (8, "Nome", 8, GONE),
        ),
        DAYS[2],
    )  # fmt: skip
    assert done.counts == {"records": 6, "inserted": 1, "updated": 3, "touched": 1, "deleted": 2, "inferred": 1}
    assert version(model) == 1
    expected = [
        (1, "Rome", False, 3),
        (2, "Bergen", False, 3),
        (3, "Bonn", True, 3),  # flagged, and otherwise as it was
        (4, "Kyiv", False, 3),  # came back just as it was: its hash is the same, and a touch would leave it deleted
        (5, "Riga", False, 2),  # the slice would not tell it
        (6, "Lodz", True, 2),  # it would tell this one
        (7, "Lima", False, 3),
        (8, "Nome", True, 3),  # gone before it was ever told
    ]
    shown = ("no", "city", "is_deleted", "month(last_seen_ts)")
    assert model.rows(*shown) == expected
    before = generation(model)
    again = model.take(slice_of((1, "Rome", 1), (3, None, None, GONE), (7, "Lima", 7)), DAYS[0])
    assert again.counts == {"records": 3, "inserted": 0, "updated": 2, "touched": 2, "deleted": 1, "inferred": 0}
    assert model.rows(*shown) == expected  # an earlier slice moves no sight back
    assert generation(model) == before  # nothing is news to a reader


def test_historic_ends_a_version_and_begins_the_next_in_one_commit(offices: Offices) -> None:
    """Law B3: a deletion is a version too, whether it was told or inferred."""
    model = offices("historic", delete_missing="floors >= 5")
    first = model.take(
        slice_of(
            (1, "Rome", 1), (2, "Oslo", 2), (3, "Bonn", 3), (4, "Kyiv", 4, GONE), (5, "Riga", 4), (6, "Lodz", 6),
        ),
        DAYS[0],
    )  # fmt: skip
    assert first.counts == {"records": 6, "inserted": 6, "updated": 0, "unchanged": 0, "inferred": 0}
    news = slice_of((1, "Rome", 1), (2, "Bergen", 2), (3, None, None, GONE), (4, "Kyiv", 4), (7, "Lima", 7))
    done = model.take(news, DAYS[1])
    assert done.counts == {"records": 5, "inserted": 1, "updated": 3, "unchanged": 1, "inferred": 1}
    assert version(model) == 1
    assert model.rows(*HISTORY) == [
        (1, "Rome", False, 1, None, True),
        (2, "Bergen", False, 2, None, True),
        (2, "Oslo", False, 1, 2, False),
        (3, "Bonn", False, 1, 2, False),
        (3, "Bonn", True, 2, None, True),
        (4, "Kyiv", False, 2, None, True),
        (4, "Kyiv", True, 1, 2, False),
        (5, "Riga", False, 1, None, True),
        (6, "Lodz", False, 1, 2, False),
        (6, "Lodz", True, 2, None, True),
        (7, "Lima", False, 2, None, True),
    ]
    assert model.rows("count(distinct version_sk)") == [(11,)]
    assert model.rows("no", "month(last_seen_ts)", where="is_current and is_deleted") == [(3, 2), (6, 1)]
    before = generation(model)
    again = model.take(news, DAYS[2])
    assert again.counts == {"records": 5, "inserted": 0, "updated": 0, "unchanged": 5, "inferred": 0}
    assert (again.wrote and again.wrote.primitive, generation(model)) == ("nothing new", before)


def test_all_steps_of_the_pipeline_in_their_order(offices: Offices, spark: SparkSession) -> None:
    model = offices(
        "historic",
        business_key=["Country", "Office No."],
        inject={"City": "initcap(City)"},
        calculate={"shownAs": "concat(City, ', ', Country)"},
        cast={"Floors": "smallint"},
        rename={"Floors": "Storeys"},
        deleted_when="Storeys = 0",
        untracked=["exportedAt"],
        file_name="'offices_7.csv'",
    )
    told = "select 'NO' as Country, 7 as `Office No.`, 'OSLO' as City, 3 as Floors, date '2026-01-01' as exportedAt"
    model.take(told, DAYS[0])
    [row] = spark.table(model.table).collect()
    hashed = ("primary_key", "source_hash", "version_sk")
    assert {name: value for name, value in row.asDict().items() if name not in hashed} == {
        "country": "NO", "office_no": 7, "city": "Oslo", "storeys": 3, "exported_at": row.exported_at,
        "shown_as": "Oslo, NO", "effective_from": row.last_seen_ts, "effective_to": None, "is_current": True,
        "is_deleted": False, "last_seen_ts": row.last_seen_ts, "source_file": "offices_7.csv",
    }  # fmt: skip
    assert dict(spark.table(model.table).dtypes)["storeys"] == "smallint"
    assert re.fullmatch(r"([0-9a-f]{64}){3}", row.primary_key + row.source_hash + row.version_sk)


@pytest.mark.parametrize(
    ("written", "normal"),
    [("city", "city"), ("CustomerNo", "customer_no"), ("Customer No.", "customer_no"), ("HTTPServer", "http_server"),
     ("customerID", "customer_id"), ("address2Line", "address2_line"), ("__a--b", "a_b"), ("Straße", "straße")],
)  # fmt: skip
def test_a_columns_name_has_one_form(written: str, normal: str) -> None:
    assert sql("normal_name", column=written).strip() == normal


def test_a_slices_file_is_named_by_itself_or_by_its_own_column(
    offices: Offices, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("slices") / "offices_7.csv"
    file.write_text("no,floors\n1,2\n")
    spark.sql(f"create temporary view sliced using csv options (path '{file}', header 'true')")
    model = offices("merge", deleted_when="false", untracked=[])
    model.take("select int(no) as no, int(floors) as floors from sliced")
    assert model.rows("no", "source_file") == [(1, "offices_7.csv")]
    done = model.take("select 1 as no, 2 as floors, 'offices_8.csv' as source_file")
    assert done.counts["touched"] == 1  # another file is no change


def hashes(spark: SparkSession, columns: str, *rows: tuple[Any, ...]) -> list[str]:
    spark.sql(values(columns, rows)).createOrReplaceTempView("hashed")
    return hashed(spark, columns)


def hashed(spark: SparkSession, columns: str) -> list[str]:
    types = dict(column.split(" ", 1) for column in columns.split(", "))
    return [row.source_hash for row in spark.sql(sql("hash_source", rows="hashed", columns=types)).collect()]


def test_law_b5_no_two_rows_have_one_hash_and_one_row_has_no_two(spark: SparkSession) -> None:
    pairs = [(None, "x"), ("", "x"), ("x", None), ("x", ""), ("x1:b1:y", None), ("x", "1:b1:y"), ("x", "y")]
    assert len(set(hashes(spark, "a string, b string", *pairs))) == len(pairs)
    same = hashes(spark, "no int, a string, b string", (1, "x", None)) + hashes(
        spark, "b string, no int, a string", (None, 1, "x")
    )
    same += hashes(spark, "no int, a string", (1, "x")) + hashes(spark, "no bigint, A string", (1, "x"))
    assert len(set(same)) == 1


def test_nested_values_and_microseconds_are_told_apart(spark: SparkSession) -> None:
    moment = "timestamp '2026-01-01 00:00:00.00000"
    for kind, told in (
        ("array<string>", ["array('a', 'b')", "array('a, b')", "array()", "null", "array('')"]),
        ("struct<at:timestamp>", [f"named_struct('at', {moment}{digit}')" for digit in "123"]),
        ("timestamp", [f"{moment}{digit}'" for digit in "123"]),
        ("binary", ["x'00'", "x'0000'", "x'ff'", "x''"]),
    ):
        spark.sql(
            f"select cast(it as {kind}) as it from values {', '.join(told)} as told (it)"
        ).createOrReplaceTempView("hashed")
        assert len(set(hashed(spark, f"it {kind}"))) == len(told), kind


@pytest.mark.parametrize(("strategy", "is_first"), [("full", True), ("merge", False), ("historic", False)])
def test_a_business_key_that_stands_twice_or_is_null_stops_the_build_and_is_named(
    offices: Offices, spark: SparkSession, strategy: str, is_first: bool
) -> None:
    model = offices(strategy, business_key=["no", "city"])
    if not is_first:
        model.take(slice_of((1, "Rome", 1)))
    twice = slice_of((1, "Rome", 1), (1, "Rome", 2), (2, "Oslo", 1), (3, "Bonn", 1), (3, "Bonn", 1), (3, "Bonn", 3))
    said = r"records .* no = 1, city = Rome \(2 times\); no = 3, city = Bonn \(3 times\)\. Nothing was written"
    with pytest.raises(DuplicateBusinessKeyError, match=said):
        model.take(twice)
    with pytest.raises(NullKeyError, match=r"offices: records of the slice have no business key: no = 9 \(once\)\. "):
        model.take(slice_of((9, None, 1), (1, "Rome", 1)))
    assert spark.catalog.tableExists(model.table) is not is_first
    assert is_first or version(model) == 0


@pytest.mark.parametrize("strategy", ["merge", "historic"])
def test_drift_of_the_schema_is_told_and_the_slice_is_taken_as_it_is_now(offices: Offices, strategy: str) -> None:
    model = offices(strategy, deleted_when="false", untracked=[])
    columns = "no int, city string, floors int"
    assert model.take(values(columns, [(1, "Rome", 1), (2, "Oslo", 2)]), DAYS[0]).warnings == []
    retyped = values("no bigint, floors string, zip string", [(1, "1", "00184"), (2, "7", None)])
    assert model.take(retyped, DAYS[1]).warnings == [
        "SchemaDriftWarning: zip is new (string)",
        "SchemaDriftWarning: city is gone",
        "SchemaDriftWarning: no was int and is bigint",
        "SchemaDriftWarning: floors was int and is string",
    ]
    assert model.rows("no", "city", "floors", "zip", where="month(last_seen_ts) = 2") == [
        (1, None, 1, "00184"), (2, None, 7, None),
    ]  # fmt: skip
    assert version(model) == 1
    for kind, fits, misfits in (("string", "1", "two"), ("double", "1", "2.5"))[: 1 if strategy == "merge" else 2]:
        said = rf"floors was int and is {kind}, and records .*: no = 2 \(once\)\. Nothing was written"
        with pytest.raises(ColumnsChangedError, match=said):
            model.take(values(f"no int, floors {kind}", [(1, fits), (2, misfits)]), DAYS[2])
    with pytest.raises(ColumnsChangedError, match=r"floors was int and is array<int>, and the one cannot be read"):
        model.take("select 1 as no, array(1) as floors", DAYS[2])
    assert version(model) == 1


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-13-01T00:00:00", "05/05/2026", "2026-05-05T12:00:00+99:00", "1", "", "2026-05-05T25:00"]
)
def test_a_processing_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ProcessingTimeError, match=re.escape(f"offices: the processing time {text!r} is no ISO-8601")):
        instant(text, "offices")


def test_a_processing_time_is_of_its_zone_or_of_utc() -> None:
    for text in ("2026-05-05T12:00:00+02:00", "2026-05-05T10:00:00Z", "2026-05-05 10:00", "2026-05-05t10:00:00.000z"):
        assert instant(text, "offices") == datetime(2026, 5, 5, 10, tzinfo=UTC)
    assert instant("2026-05-05", "offices") == datetime(2026, 5, 5, tzinfo=UTC)


def test_an_earlier_slice_is_refused_unless_it_is_meant_and_no_window_is_ever_turned_round(offices: Offices) -> None:
    model = offices("historic")
    model.take(slice_of((1, "Rome", 1)), DAYS[0])
    model.take(slice_of((1, "Rome", 1), (2, "Oslo", 2)), DAYS[3])
    early = slice_of((1, "Milan", 1))
    with pytest.raises(ProcessingTimeError, match=r"2026-02-01.* is earlier than 2026-04-01.*meant: \[offices\]"):
        model.take(early, DAYS[1])
    assert model.take(early, DAYS[1], meant=True).counts["updated"] == 1
    assert model.rows(*HISTORY, where="no = 1") == [(1, "Milan", False, 2, None, True), (1, "Rome", False, 1, 2, False)]
    with pytest.raises(
        ProcessingTimeError, match=r"records change a version .*: no = 2 \(once\)\. Nothing was written"
    ):
        model.take(slice_of((2, "Bergen", 2)), DAYS[3], meant=True)
    with pytest.raises(ProcessingTimeError, match="is earlier than 2026-04-01"):
        model.take(early, DAYS[2])  # what was meant once does not move the table's time back
    assert model.take(slice_of((2, "Oslo", 2)), DAYS[3]).counts["unchanged"] == 1  # the same slice again


def test_a_time_to_come_is_refused_unless_it_is_meant_and_a_slice_of_nothing_is_one(offices: Offices) -> None:
    model = offices("merge")
    with pytest.raises(ProcessingTimeError, match="is yet to come"):
        model.take(slice_of((1, "Rome", 1)), "2062-01-01")
    model.take(slice_of((1, "Rome", 1)), "2062-01-01", meant=True)
    done = model.take(slice_of(), DAYS[0])  # absence says nothing here
    assert (done.wrote and done.wrote.primitive, done.counts["records"]) == ("nothing new", 0)


@pytest.mark.parametrize(("strategy", "gone"), [("full", "all rows"), ("historic", "2 rows")])
def test_a_slice_of_nothing_by_which_rows_would_be_gone_is_refused_unless_it_is_meant(
    offices: Offices, strategy: str, gone: str
) -> None:
    model = offices(strategy, delete_missing=strategy != "full")
    model.take(slice_of((1, "Rome", 1), (2, "Oslo", 2)), DAYS[0])
    with pytest.raises(EmptySliceError, match=rf"no records, so {gone} would be gone\. Nothing .*meant: \[offices\]"):
        model.take(slice_of(), DAYS[1])
    assert version(model) == 0
    model.take(slice_of(), DAYS[1], meant=True)
    assert (
        model.rows(
            "no",
            where="last_seen_ts is not null and not is_deleted and "
            + ("is_current" if strategy == "historic" else "true"),
        )
        == []
    )


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"business_key": ["nmbr"]}, "UnknownColumnError: offices: business_key names nmbr, which the slice does not"),
        ({"inject": {"town": "1"}}, "UnknownColumnError: offices: inject names town"),
        ({"partition_by": ["town"]}, "UnknownColumnError: offices: partition_by names town"),
        ({"calculate": {"%": "1"}}, "UnnamedColumnError: offices: a column of the slice is called %, which has"),
        ({"untracked": ["town"]}, "UnknownColumnError: offices: untracked names town"),
        ({"cast": {"town": "int"}}, "UnknownColumnError: offices: cast names town"),
        ({"rename": {"town": "city"}}, "UnknownColumnError: offices: rename names town"),
        ({"calculate": {"City": "1"}}, "RepeatedColumnError: offices: calculate names City, which"),
        ({"rename": {"city": "Floors"}}, "RepeatedColumnError: offices: two columns of the slice would"),
        ({"rename": {"city": "primary_key"}}, "ReservedColumnError: offices: a column of the slice is"),
        ({"calculate": {"is_deleted": "1"}}, "ReservedColumnError: offices: a column of the slice is called is_"),
    ],
    ids=str,
)  # fmt: skip
def test_a_step_that_cannot_be_taken_is_refused_before_anything_is_computed(
    offices: Offices, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(Refused, match=re.escape(said)):
        offices("merge", **config).order(slice_of((1, "Rome", 1)))


def test_a_table_of_another_strategy_is_left_alone(offices: Offices) -> None:
    full = offices("full")
    full.take(slice_of((1, "Rome", 1)))
    with pytest.raises(Refused, match=r"OtherStrategyError: offices: .* not written by historic: it has no version"):
        Model(full.spark, "historic", full.config).order(slice_of((1, "Rome", 1)))
    # One row a key, either way.
    assert Model(full.spark, "merge", full.config).take(slice_of((1, "Rome", 1))).counts["touched"] == 1


def test_a_table_that_another_build_made_or_changed_meanwhile_is_read_again(offices: Offices) -> None:
    model = offices("merge")
    early = model.order(slice_of((1, "Rome", 1)))
    model.take(slice_of((2, "Oslo", 2)))
    with pytest.raises(OvertakenError):
        process(model.spark, early)
    assert model.rows("no") == [(2,)]


def test_the_slice_is_computed_once_and_what_is_counted_is_what_is_written(offices: Offices) -> None:
    """Each row throws a coin whether it changed: computed twice, counts and rows would disagree."""
    model = offices("merge", deleted_when="false", untracked=[])
    model.take("select int(id) as no, 'a' as city from range(200)", DAYS[0])
    done = model.take("select int(id) as no, if(rand() < 0.5, 'a', 'b') as city from range(200)", DAYS[1])
    assert model.rows("count_if(city = 'b')") == [(done.counts["updated"] - done.counts["touched"],)]


Told = dict[int, tuple[str | None, int]]


def random_slices(seed: random.Random, turns: int) -> list[Told]:
    return [
        {no: (seed.choice(["Rome", "Oslo", None]), seed.choice([0, 1, 2])) for no in range(12) if seed.random() < 0.7}
        for _ in range(turns)
    ]


@pytest.mark.parametrize("turns", [3, pytest.param(60, marks=pytest.mark.prove)])
def test_random_slices_give_what_the_definition_gives_and_their_counts_add_up(offices: Offices, turns: int) -> None:
    seed = random.Random(run_seed())
    slices = random_slices(seed, turns)
    merged = offices("merge", deleted_when="floors = 0", untracked=[], delete_missing="no < 6")
    historic = Model(merged.spark, "historic", merged.config, name="office_versions")
    live: dict[int, tuple[str | None, int, bool, int]] = {}  # city, floors, is_deleted, last seen
    versions: dict[int, list[tuple[str | None, int, bool, int]]] = {}  # city, floors, is_deleted, from
    for turn, told in enumerate(slices, start=1):
        at = f"2026-01-01T{turn // 60:02}:{turn % 60:02}:00Z"
        slice_ = values("no int, city string, floors int", [(no, *row) for no, row in told.items()])
        before = {no: state[-1] for no, state in versions.items()}
        for model in (merged, historic):
            done = model.take(slice_, at).counts
            parts = ("inserted", "updated", "deleted") if model is merged else ("inserted", "updated", "unchanged")
            assert done["records"] == len(told) == sum(done[part] for part in parts), (model.name, done)
            gone = [no for no, state in before.items() if no < 6 and no not in told and not state[2]]
            assert done["inferred"] == len(gone)
        tell(told, turn, live, versions)
    assert merged.rows("no", "city", "floors", "is_deleted", "unix_seconds(last_seen_ts) - 1767225600") == sorted(
        ((no, *state[:3], state[3] * 60) for no, state in live.items()), key=str
    )
    expected = []
    for no, states in versions.items():
        ends = [state[3] * 60 for state in states[1:]] + [None]
        expected += [(no, *state[:3], state[3] * 60, end) for state, end in zip(states, ends, strict=True)]
    window = ("unix_seconds(effective_from) - 1767225600", "unix_seconds(effective_to) - 1767225600")
    assert historic.rows("no", "city", "floors", "is_deleted", *window) == sorted(expected, key=str)
    merged.spark.sql(f"drop table {historic.table}")


def tell(
    told: Told,
    turn: int,
    live: dict[int, tuple[str | None, int, bool, int]],
    versions: dict[int, list[tuple[str | None, int, bool, int]]],
) -> None:
    """The definition, record by record, for both tables."""
    for no, (city, floors) in told.items():
        is_gone = floors == 0
        held = live.get(no)
        live[no] = (*(held[:2] if held and is_gone else (city, floors)), is_gone, turn)
        states = versions.setdefault(no, [])
        state = (*states[-1][:2], True) if states and is_gone else (city, floors, is_gone)
        if not states or states[-1][:3] != state:
            states.append((*state, turn))
    for no in [no for no in live if no < 6 and no not in told]:
        city, floors, _, seen = live[no]
        live[no] = (city, floors, True, seen)
        city, floors, is_gone, _ = versions[no][-1]
        if not is_gone:
            versions[no].append((city, floors, True, turn))
