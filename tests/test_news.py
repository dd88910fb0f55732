"""Which keys a build comes back to, and that looking for few, many or very many of them finds the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from attest import kept, keys, write
from attest.basis import Content, summed
from attest.build import build
from attest.commits import ASIDE, location, newest
from attest.empty import read_as_empty
from attest.news import Lineage, News, Note, Standing, find_news, standing
from attest.write import Table
from pyspark.sql import Row, SparkSession

SAID, TOLD = "listening.said", "listening.told"
ONLY_NEWS = " left semi join news using (bk)"
# The relation twice, as a model has it that treats some of its rows otherwise.
CODE = f"""
    select * from (select * from {SAID}{ONLY_NEWS}) as once where verdict = 'taken' and n < 5
    union all
    select * from (select * from {SAID}{ONLY_NEWS}) as twice where verdict = 'taken' and n >= 5
"""
COLUMNS = "bk string, id string, ingest_ts string, verdict string, n int"
FIRST = [("a", "x", "1", "taken", 1), ("b", "y", "1", "refused", 1), ("it's \\", "z", "1", "taken", 1)]
LATER = [
    ("a", "x", "2", "taken", 1),  # said again
    ("b", "y", "2", "taken", 1),  # said before, but it was not taken in then
    ("it's \\", "w", "2", "taken", 7),
    ("--", "v", "2", "taken", 7),
]


def order(*rebuild: str, logs: Sequence[str] = (SAID,), code: str = CODE, **changed: Any) -> str:
    sources: dict[str, Any] = {"logs": list(logs), "inputs": [], "references": [], "views": [], "others": []}
    asked = {"materialized": "replace_by_key", "full_refresh": False, "is_python": False, "new_by": "id"}
    asked |= {
        "touched_by": None,
        "touched_on": {},
        "code": code,
        "only_news": ONLY_NEWS,
        "table": {"name": TOLD, "key": "bk"},
    }
    asked |= {"rebuild": list(rebuild)}
    return json.dumps(asked | sources | changed)


def say(spark: SparkSession, rows: Sequence[tuple[Any, ...]]) -> None:
    write.append(spark, Table(SAID), spark.createDataFrame(list(rows), COLUMNS), note=Note("said"))


@pytest.fixture
def listening(spark: SparkSession) -> Iterator[None]:
    spark.sql("create schema if not exists listening")
    log = Table(SAID, properties={"delta.enableChangeDataFeed": "true"})
    write.create(spark, log, spark.createDataFrame(FIRST, COLUMNS), note=Note("said"))
    build(spark, order())
    yield
    spark.sql("drop schema listening cascade")


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize(("few", "here"), [(100, 100_000), (0, 100_000), (0, 0)], ids=["few", "many", "very_many"])
def test_law_b1_what_is_only_said_again_is_no_news_however_many_keys_there_are(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, few: int, here: int
) -> None:
    monkeypatch.setattr(keys, "FEW", few)
    monkeypatch.setattr(kept, "HERE", here)
    say(spark, LATER)
    done = build(spark, order())
    assert (done.keys, done.wrote and done.wrote.primitive) == (3, "replaceOn"), done
    rows = sorted(map(tuple, spark.table(TOLD).collect()))
    assert rows == sorted(row for row in [*FIRST, *LATER] if row[3] == "taken" and row != LATER[0])
    say(spark, LATER[:1])
    assert build(spark, order()).message == "nothing new"
    assert build(spark, order()).message == "no news"
    place = str(location(spark, TOLD)).removeprefix("file:")
    assert not list(Path(place).glob("_staging*"))


@pytest.mark.usefixtures("listening")
def test_news_that_change_nothing_are_no_commit_and_are_not_read_again_unless_another_commit_comes(
    spark: SparkSession,
) -> None:
    before = newest(spark, TOLD)[0]
    say(spark, [LATER[0]])
    assert build(spark, order()).message == "nothing new"
    assert newest(spark, TOLD)[0] == before
    assert build(spark, order()).message == "no news"
    aside = Path(str(location(spark, TOLD)).removeprefix("file:")) / ASIDE
    aside.write_text(aside.read_text()[:20])
    assert build(spark, order()).message == "nothing new", "what is written by halves is as good as not said"
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    spark.sql(f"vacuum {TOLD} retain 0 hours")
    assert aside.exists()
    assert newest(spark, TOLD)[0] > before
    assert build(spark, order()).message == "nothing new", "it was said of the version before"
    assert build(spark, order()).message == "no news"
    spark.sql(f"drop table {TOLD}")
    write.create(spark, Table(TOLD), spark.createDataFrame([], COLUMNS), note=Note("another"))
    aside.write_text(json.dumps({"of": ["another table", 0], "text": Note("old").to_json()}))
    found = standing(spark, TOLD)
    assert found is not None
    assert found.note == Note("another")


def told(spark: SparkSession) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, spark.table(TOLD).collect()))


@pytest.mark.usefixtures("listening")
def test_an_entity_that_somebody_damaged_is_rebuilt_by_its_name(spark: SparkSession) -> None:
    before = told(spark)
    spark.sql(f"insert into {TOLD} select * from {TOLD} where bk = 'a'")
    assert build(spark, order()).message == "no news"
    assert told(spark) != before
    assert build(spark, order("a", "nobody")).keys == 2
    assert told(spark) == before


@pytest.mark.usefixtures("listening")
def test_an_entity_of_which_nothing_was_ever_said_can_be_named_too(spark: SparkSession) -> None:
    spark.sql(f"drop table {TOLD}")
    write.create(spark, Table(SAID), spark.createDataFrame([], COLUMNS), note=Note("nothing said"))
    build(spark, order())
    assert build(spark, order("nobody")).rows == 0
    assert told(spark) == []


@pytest.mark.usefixtures("listening")
def test_a_table_that_was_restored_catches_up(spark: SparkSession) -> None:
    say(spark, LATER[1:])
    build(spark, order())
    whole = told(spark)
    spark.sql(f"restore table {TOLD} to version as of 0")
    assert told(spark) != whole
    build(spark, order())
    assert told(spark) == whole
    when = spark.sql(f"describe history {TOLD}").where("version = 0").first()
    assert when is not None
    spark.sql(f"restore table {TOLD} to timestamp as of '{when.timestamp}'")
    build(spark, order())
    assert told(spark) == whole


@pytest.mark.usefixtures("listening")
def test_a_log_in_which_a_model_only_looks_things_up_gives_it_no_keys(spark: SparkSession) -> None:
    """Its news are read, and change what is told of the keys that have news of their own."""
    spelt = "listening.said_how"
    said = f"(select * from {SAID}{ONLY_NEWS}) as said"
    code = f"select said.*, how.n as how from {said} left join {spelt} as how using (id)"
    asked = order(logs=[SAID, spelt], code=code)
    spark.sql(f"drop table {TOLD}")
    log = Table(spelt, properties={"delta.enableChangeDataFeed": "true"})
    write.create(spark, log, spark.createDataFrame([("b", "y", "1", "taken", 1)], COLUMNS), note=Note("said"))
    build(spark, asked)
    before = told(spark)
    more = spark.createDataFrame([("a", "x", "1", "taken", 2), ("a", "w", "1", "taken", 3)], COLUMNS)
    write.append(spark, Table(spelt), more, note=Note("said"))
    assert build(spark, asked).message == "nothing new"
    assert build(spark, asked).message == "no news"
    assert told(spark) == before
    say(spark, [("c", "w", "2", "taken", 7)])
    assert build(spark, asked).keys == 1
    assert [row[-1] for row in told(spark) if row[1] == "c"] == [3]


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("tells", [True, False])
def test_readers_of_an_edit_come_back_to_the_keys_that_it_concerns_where_the_table_tells_them(
    spark: SparkSession, tells: bool
) -> None:
    rules, read = "listening.rules", "listening.read"
    table = {"name": TOLD, "key": "bk", "properties": {"delta.enableChangeDataFeed": str(tells).lower()}}
    edit: dict[str, Any] = {"new_by": None, "touched_by": "verdict", "references": [rules], "table": table}
    of_told = {"table": {"name": read, "key": "bk"}, "new_by": None} | ({} if tells else {"inputs": [TOLD]})
    reader = order(logs=[TOLD] if tells else [SAID], code=f"select * from {TOLD}{ONLY_NEWS}", **of_told)

    def rule(**ranks: int) -> None:
        rows = spark.createDataFrame(list(ranks.items()), "verdict string, rank int")
        write.create(spark, Table(rules), rows, note=Note(str(ranks)))

    spark.sql(f"drop table {TOLD}")
    code = f"select said.*, rank from (select * from {SAID}{ONLY_NEWS}) as said join {rules} using (verdict)"
    rule(taken=1, refused=1)
    for asked in (order(code=code, **edit), reader):
        build(spark, asked)
    rule(taken=1, refused=2)
    assert build(spark, order(code=code, **edit)).keys == 1
    assert build(spark, reader).keys == (1 if tells else None)
    assert sorted(spark.table(read).select("bk", "rank").collect()) == [("a", 1), ("b", 2), ("it's \\", 1)]


@pytest.mark.usefixtures("listening")
def test_a_table_is_not_made_before_its_reference_has_a_row_that_its_logs_share(spark: SparkSession) -> None:
    marks = "listening.marks"
    table = {"name": "listening.worlds", "key": "bk"}
    waits: dict[str, Any] = {
        "materialized": "by_difference",
        "idle_without": {marks: "verdict"},
        "references": [marks],
        "table": table,
    }
    asked = order(code=f"select * from {SAID}", **waits)
    for verdicts, message in (((), "nothing to make"), (("unheard of",), "nothing to make"), (("taken",), "create")):
        rows = spark.createDataFrame([(verdict,) for verdict in verdicts], "verdict string")
        write.create(spark, Table(marks), rows, note=Note(str(verdicts)))
        assert build(spark, asked).message.startswith(message)


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("few", [100, 0], ids=["few", "many"])
def test_what_is_written_by_key_is_read_from_its_change_feed_unless_somebody_else_wrote(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(keys, "FEW", few)
    read = "listening.read"
    told = {"name": TOLD, "key": "bk", "properties": {"delta.enableChangeDataFeed": "true"}}
    code = f"select * from (select * from {SAID}{ONLY_NEWS}) as said where verdict = 'taken' and n < 9"
    writer = order(code=code, new_by=None, table=told)
    of_told = {"table": {"name": read, "key": "bk"}, "new_by": None}
    reader = order(logs=[TOLD], code=f"select * from (select * from {TOLD}{ONLY_NEWS}) as read", **of_told)
    spark.sql(f"drop table {TOLD}")
    for asked in (writer, reader):
        build(spark, asked)
    for rows in (LATER, [("a", "x", "3", "taken", 8), ("c", "c", "3", "taken", 1)]):
        say(spark, rows)
        build(spark, writer)

    def unread(*_: Any) -> None:
        raise AssertionError("the table was read")

    with monkeypatch.context() as patched:
        patched.setattr(keys, "looked_for", unread)
        assert build(spark, reader).keys == 5
    whole = sorted(map(tuple, spark.table(TOLD).collect()))
    assert sorted(map(tuple, spark.table(read).collect())) == whole
    spark.sql(f"insert into {TOLD} select * from {TOLD} where bk = 'b'")
    with monkeypatch.context() as patched:
        patched.setattr(keys, "looked_for", unread)
        with pytest.raises(AssertionError, match="the table was read"):
            build(spark, reader)
    assert build(spark, reader).keys == 1
    assert spark.table(read).count() == len(whole) + 1


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("tells", [True, False])
def test_law_s6_a_basis_sums_what_changed_where_the_table_tells_and_else_all_of_it(
    spark: SparkSession, tells: bool
) -> None:
    """The newest basis is falsified here: a sum by difference carries that on, and one over all rows mends it."""
    spark.sql(f"alter table {TOLD} set tblproperties (delta.enableChangeDataFeed = {str(tells).lower()})")
    first = Content.of(spark.table(TOLD))
    stamped = Row(beliefs=first.rows + 100, content=str(replace(first, sums=(first.sums[0] ^ 5, first.sums[1]))))

    def now() -> News:
        told_by = Lineage([TOLD] if tells else [SAID], [] if tells else [TOLD])
        return find_news(spark, told_by, target=None)

    target = Standing(0, now().note)
    say(spark, [*LATER, LATER[2]])
    build(spark, order())
    version, found = summed(spark, TOLD, now(), target, stamped)
    whole = Content.of(spark.table(TOLD))
    assert version == newest(spark, TOLD)[0]
    assert whole.rows != first.rows
    assert Content.stamped(Row(beliefs=whole.rows, content=str(whole))) == whole
    wrong = replace(whole, rows=whole.rows + 100, sums=(whole.sums[0] ^ 5, whole.sums[1]))
    assert found == (wrong if tells else whole)


@pytest.mark.usefixtures("listening")
def test_what_has_no_rows_costs_no_plan_until_it_has_some(spark: SparkSession) -> None:
    """Directly or through a view; a table of a like name is another table."""
    marked, seen, other = "`listening`.`marked`", "`listening`.`seen`", "`listening`.`marked_not`"
    write.create(spark, Table("listening.marked"), spark.createDataFrame([], "bk string, n int"), note=Note("marked"))
    write.create(spark, Table("listening.marked_not"), spark.createDataFrame([("a",)], "bk string"), note=Note("not"))
    spark.sql(f"create view {seen} as select bk, n from {marked} where n > 0")
    code = f"select * from {other} as it left anti join {seen} as mark on it.bk = mark.bk"

    def read() -> str:
        newest(spark, "listening.marked")
        return read_as_empty(spark, code, tables=["`listening`.`marked`", other], views=[seen])

    spared = read()
    assert ("marked_not" in spared, "seen" in spared) == (True, False)
    assert "Join" not in spark.sql(spared)._jdf.queryExecution().optimizedPlan().toString()
    assert spark.sql(spared).collect() == spark.sql(code).collect() == [("a",)]
    more = spark.createDataFrame([("a", 1)], "bk string, n int")
    write.append(spark, Table("listening.marked"), more, note=Note("marked"))
    assert read() == code
    assert spark.sql(code).collect() == []


@pytest.mark.usefixtures("listening")
def test_a_table_that_comes_of_rows_of_one_kind_is_not_computed_while_there_are_none(spark: SparkSession) -> None:
    """Its code would tell of other rows, too, if anybody asked it."""
    asked = json.loads(order(code=f"select * from {SAID} where n = 7"))
    asked |= {"materialized": "by_difference", "only_with": "verdict = 'odd'"}
    asked["table"] = {"name": "listening.of_odd", "key": "bk"}
    assert build(spark, json.dumps(asked)).message.startswith("create: everything, 0 rows")
    say(spark, LATER)
    assert build(spark, json.dumps(asked)).message == "nothing new: 0 rows"
    assert build(spark, json.dumps(asked)).message == "no news"
    say(spark, [("c", "u", "3", "taken", 1)])
    assert build(spark, json.dumps(asked)).message == "nothing new: 0 rows"
    say(spark, [("c", "u", "3", "odd", 7)])
    assert build(spark, json.dumps(asked)).rows == 3
    say(spark, [("d", "t", "4", "taken", 7)])
    assert build(spark, json.dumps(asked)).rows == 1, "once there was one, any row may matter"
