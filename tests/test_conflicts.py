"""Two writers of one table, and readers beside them: nobody overwrites newer truth, nobody sees half an entity."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from attest import retry, write
from attest.build import build
from attest.commits import commits, location, newest
from attest.errors import ColumnsChangedError, ConflictError, OvertakenError
from attest.news import Note, standing
from attest.order import Outcome
from attest.retry import RETRIES, retried
from attest.session import isolated
from attest.write import Table
from conftest import TINY
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

HEARD, TOLD = "race.heard", "race.told"
LOG = {"delta.enableChangeDataFeed": "true", "delta.appendOnly": "true"}
WHOLE = f"""
    select bk, max(n) as n, count(*) as words
    from {HEARD} left semi join news using (bk)
    group by bk
    having max(n) < 9
"""
EACH_WORD = f"select landing, bk, n from {HEARD} left semi join news using (landing)"
FIRST, MORE, LAST = [("a", 1), ("b", 1), ("c", 1)], [("a", 2), ("d", 1)], [("a", 3), ("c", 9), ("e", 1)]
SHORT = ("AAABBB", "ABABAB", "ABBBAA")
ALL = tuple(sorted({"".join(order) for order in permutations("AAABBB")}))


def order(materialized: str) -> str:
    """What a materialization asks for, of a table that counts what it heard, or of a log of every word of it."""
    key, code, properties = ("landing", EACH_WORD, LOG) if materialized == "append_only" else ("bk", WHOLE, {})
    sources: dict[str, Any] = {"logs": [HEARD], "inputs": [], "references": [], "views": [], "others": []}
    asked = {"materialized": materialized, "full_refresh": False, "is_python": False, "new_by": None}
    asked |= {"touched_by": None, "touched_on": {}, "code": code, "only_news": f" left semi join news using ({key})"}
    return json.dumps(asked | sources | {"table": {"name": TOLD, "key": key, "properties": properties}})


def hear(spark: SparkSession, words: Sequence[tuple[str, int]]) -> None:
    landing = "".join(bk for bk, _ in words)
    rows = spark.createDataFrame([(landing, *word) for word in words], "landing string, bk string, n int")
    if standing(spark, HEARD) is None:
        write.create(spark, Table(HEARD, properties=LOG), rows, note=Note("heard"))
    else:
        write.append(spark, Table(HEARD), rows, note=Note("heard"))


def told(spark: SparkSession) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, spark.table(TOLD).collect()))


def newest_word(spark: SparkSession, bk: str, version: int) -> int:
    rows = spark.read.option("versionAsOf", version).table(TOLD).where(F.col("bk") == bk).collect()
    return int(max(row.n for row in rows))


@pytest.fixture
def race(spark: SparkSession) -> Iterator[None]:
    spark.sql("create schema if not exists race")
    hear(spark, FIRST)
    yield
    spark.sql("drop schema race cascade")


class Turns:
    """Two writers, of whom one runs at a time, each up to its next named point, in the given order of turns."""

    def __init__(self, turns: str) -> None:
        self.turns = list(turns)
        self.changed = threading.Condition()
        self.running: str | None = None
        self.taken: list[str] = []

    def wait(self) -> None:
        who = threading.current_thread().name
        if who not in ("A", "B"):
            return
        with self.changed:
            self.running = None
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.running is None and self.next() in (who, None), timeout=120)
            self.running = who
            if self.turns:
                self.taken.append(self.turns.pop(0))

    def next(self) -> str | None:
        return self.turns[0] if self.turns else None

    def leave(self, who: str) -> None:
        with self.changed:
            self.running = None
            self.turns = [turn for turn in self.turns if turn != who]
            self.changed.notify_all()


def run_both(
    root: SparkSession, monkeypatch: pytest.MonkeyPatch, turns: str, materialized: str
) -> dict[str, tuple[Outcome, int]]:
    """A builds, and B, who hears more before it reads; each waits for its turn before it reads, writes and commits."""
    taking = Turns(turns)

    def reach(point: str, of: str) -> None:
        if of == TOLD and point in ("before the write", "after data files"):
            taking.wait()

    monkeypatch.setattr(write, "reach", reach)
    done: dict[str, tuple[Outcome, int]] = {}
    failed: list[BaseException] = []

    def run(who: str, spark: SparkSession) -> None:
        try:
            taking.wait()
            if who == "B":
                hear(spark, LAST)
            done[who] = retried(partial(build, spark, order(materialized)), of=TOLD, wait=lambda _: None)
        except BaseException as error:
            failed.append(error)
        finally:
            taking.leave(who)

    threads = [threading.Thread(target=run, args=(who, isolated(root)), name=who) for who in ("A", "B")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    return done


def interleave(
    root: SparkSession, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, turns: str, materialized: str
) -> int:
    """How often a writer had to begin again; fails unless the table is what one writer alone would have left."""
    spark.sql(f"drop table if exists {TOLD}")
    spark.sql(f"drop table if exists {HEARD}")
    hear(spark, FIRST)
    if materialized != "first build":
        build(spark, order(materialized))
    hear(spark, MORE)
    done = run_both(root, monkeypatch, turns, "replace_by_key" if materialized == "first build" else materialized)
    words = [*FIRST, *MORE, *LAST]
    serial: list[tuple[Any, ...]]
    if materialized == "append_only":
        serial = sorted(("".join(bk for bk, _ in those), *word) for those in (FIRST, MORE, LAST) for word in those)
    else:
        said = {bk: [n for other, n in words if other == bk] for bk, _ in words}
        serial = sorted((bk, max(those), len(those)) for bk, those in said.items() if max(those) < 9)
    assert told(spark) == serial, turns
    found = standing(spark, TOLD)
    assert found is not None
    assert found.note is not None
    assert found.note.read == {HEARD: newest(spark, HEARD)[0]}
    newest_of_a = [newest_word(spark, "a", version) for version in range(found.version + 1)]
    assert newest_of_a == sorted(newest_of_a), f"{turns}: an older truth overwrote a newer one"
    return sum(retries for _, retries in done.values())


@pytest.mark.parametrize("materialized", ["replace_by_key", "append_only", "first build"])
def test_law_b1_whoever_was_overtaken_reads_again_before_it_writes(
    root_session: SparkSession, spark: SparkSession, race: None, monkeypatch: pytest.MonkeyPatch, materialized: str
) -> None:
    retries = {turns: interleave(root_session, spark, monkeypatch, turns, materialized) for turns in SHORT}
    assert retries["AAABBB"] == 0
    # A read before B, and would have committed after it.
    assert retries["ABBBAA"] == 1


@pytest.mark.prove
@pytest.mark.parametrize("materialized", ["replace_by_key", "append_only", "first build"])
def test_law_b1_every_interleaving_of_two_writers_ends_as_one_writer_would(
    root_session: SparkSession, spark: SparkSession, race: None, monkeypatch: pytest.MonkeyPatch, materialized: str
) -> None:
    retries = [interleave(root_session, spark, monkeypatch, turns, materialized) for turns in ALL]
    print(f"{materialized}: {len(ALL)} interleavings, {sum(map(bool, retries))} with a retry, none wrong")


@contextmanager
def held_in_flight(spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """The first commit of a replacement stands still while it reads its rows; the call waits until it does."""
    inside, go_on = folder / "inside", folder / "go_on"
    real = write.replace_kept
    tries: list[int] = []

    def stand_still(values: pa.Array) -> pa.Array:
        inside.touch()
        while not go_on.exists():
            time.sleep(0.01)
        return values

    slowly = arrow_udf(stand_still, "string")  # type: ignore[call-overload]

    def slow(spark: SparkSession, table: Table, kept: DataFrame, **more: Any) -> Any:
        tries.append(1)
        slowed = kept.withColumn("value", slowly("value")) if len(tries) == 1 else kept
        with monkeypatch.context() as patched:
            patched.setattr(write, "compare_keys", lambda *_: Row(rows=1, emptied=0, stray=None))
            return real(spark, table, slowed, **more)

    def wait() -> None:
        while not inside.exists():
            time.sleep(0.01)

    monkeypatch.setattr(write, "replace_kept", slow)
    try:
        yield wait
    finally:
        go_on.touch()


@pytest.mark.parametrize("meanwhile", ["optimize", "a column"])
def test_what_others_do_to_the_table_in_flight_is_no_harm(
    root_session: SparkSession, race: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    spark, other = isolated(root_session), isolated(root_session)
    table = Table("race.kept", key="bk")
    schema = "bk string, value string"
    write.create(spark, table, spark.createDataFrame([("a", "old"), ("b", "old")], schema), note=Note("g"))
    write.append(spark, table, spark.createDataFrame([("a", "older")], schema), note=Note("g"))
    ended: list[Any] = []

    def replace() -> write.Written:
        found = standing(spark, table.name)
        assert found is not None
        rows, keys = spark.createDataFrame([("a", "new")], schema), spark.createDataFrame([("a",)], "bk string")
        return write.replace_by_key(spark, table, rows, keys=keys, note=Note("g"), since=found.version)

    def run() -> None:
        try:
            ended.append(retried(replace, of=table.name, wait=lambda _: None))
        except Exception as error:
            ended.append(error)

    with held_in_flight(spark, tmp_path, monkeypatch) as wait:
        writing = threading.Thread(target=run)
        writing.start()
        wait()
        if meanwhile == "optimize":
            other.sql(f"optimize {table.name}")
        else:
            other.sql(f"alter table {table.name} add columns (more string)")
        before = newest(other, table.name)
    writing.join()
    (end,) = ended
    if meanwhile == "optimize":
        assert before[1]["operation"] == "OPTIMIZE"
        assert (end[0].version_before, end[1]) == (before[0], 1), end
        assert sorted(map(tuple, other.table(table.name).collect())) == [("a", "new"), ("b", "old")]
    else:
        assert isinstance(end, ColumnsChangedError), end
        assert "more is gone" in str(end)
        assert newest(other, table.name)[0] == before[0]


def test_after_the_last_retry_nothing_is_written_and_the_error_says_what_to_do(
    spark: SparkSession, race: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(spark, order("replace_by_key"))
    hear(spark, MORE)
    waited: list[float] = []
    monkeypatch.setattr(retry, "FIRST_WAIT", 1)

    def overtake(point: str, of: str) -> None:
        if (point, of) == ("after data files", TOLD):
            found = standing(spark, TOLD)
            assert found is not None
            assert found.note is not None
            other = isolated(spark)
            write.append(other, Table(TOLD), other.table(TOLD).limit(0), note=found.note, since=found.version)

    monkeypatch.setattr(write, "reach", overtake)
    before = told(spark)
    with pytest.raises(ConflictError, match=r"race.told: other writers came between 6 times .* then build again"):
        retried(partial(build, spark, order("replace_by_key")), of=TOLD, wait=waited.append)
    assert told(spark) == before
    assert len(waited) == RETRIES
    assert all(0 <= wait <= 2**retry for retry, wait in enumerate(waited))
    assert not list(Path(str(location(spark, TOLD)).removeprefix("file:")).glob("_staging*")), "staged rows stay"


def test_a_writer_that_was_overtaken_commits_nothing(spark: SparkSession, race: None) -> None:
    table = Table(TOLD, key="bk")
    rows = spark.createDataFrame([("a", 1)], "bk string, n int")
    write.create(spark, table, rows, note=Note("one"), since=-1)
    writes: list[Callable[[], object]] = [
        lambda: write.create(spark, table, rows, note=Note("two"), since=-1),
        lambda: write.append(spark, table, rows, note=Note("two"), since=-1),
        lambda: write.confirm(spark, table, note=Note("two"), since=-1),
        lambda: write.replace_by_key(spark, table, rows, keys=rows.select("bk"), note=Note("two"), since=-1),
        lambda: write.replace_by_key(spark, table, rows.limit(0), keys=rows.select("bk"), note=Note("two"), since=-1),
    ]
    for overtaken in writes:
        with pytest.raises(OvertakenError, match="another writer was faster"):
            overtaken()
        assert [number for number, _ in commits(spark, TOLD)] == [0]


READER = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession, functions as F
place, signals, settings = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
reads = 0
while not (signals / "stop").exists():
    entities = spark.read.format("delta").load(place).groupBy("bk").agg(F.expr("{TORN}").alias("is_whole"))
    torn = entities.where("not is_whole").collect()
    assert not torn, torn
    reads += 1
    (signals / f"read_{reads}").touch()
print(reads)
"""
DELTA = ("spark.jars", "spark.sql.extensions", "spark.sql.catalog.spark_catalog")
IS_WHOLE = "count(*) = max(round) % 3 + 1 and count(distinct round) = 1"


def test_readers_see_whole_entities_at_any_time(root_session: SparkSession, race: None, tmp_path: Path) -> None:
    """Law B1. A thread by the catalog and a process by the table's path read while keys grow, shrink and go."""
    spark = isolated(root_session)
    table = Table("race.whole", key="bk")

    def entities(round: int, *names: str) -> DataFrame:
        rows = [(name, round, part) for name in names for part in range(round % 3 + 1)]
        return spark.createDataFrame(rows, "bk string, round int, part int")

    write.create(spark, table, entities(0, "a", "b", "c"), note=Note("g"))
    place = str(location(spark, table.name)).removeprefix("file:")
    settings = TINY | {"spark.ui.enabled": "false"} | {name: root_session.conf.get(name) for name in DELTA}
    reading = [sys.executable, "-c", READER.replace("{TORN}", IS_WHOLE), place, str(tmp_path), json.dumps(settings)]
    process = subprocess.Popen(reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    reads: list[list[Any]] = []
    stop = threading.Event()

    def read() -> None:
        own = isolated(root_session)
        while not stop.is_set():
            found = own.table(table.name).groupBy("bk").agg(F.expr(IS_WHOLE).alias("is_whole"))
            reads.append(found.where("not is_whole").collect())

    reader = threading.Thread(target=read)
    try:
        while process.poll() is None and not (tmp_path / "read_1").exists():
            time.sleep(0.05)
        reader.start()
        for round in range(1, 100):
            if round > 8 and (process.poll() is not None or (tmp_path / "read_4").exists()):
                break  # a busy machine may let the other process read only now and then
            kept = ("a", "b") if round % 4 else ("a",)
            version = newest(spark, table.name)[0]
            keys = spark.createDataFrame([("a",), ("b",)], "bk string")
            write.replace_by_key(spark, table, entities(round, *kept), keys=keys, note=Note("g"), since=version)
    finally:
        stop.set()
        (tmp_path / "stop").touch()
        reader.join()
        said, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint[-2000:]
    assert int(said) > 3
    assert len(reads) > 3
    assert not any(reads), reads
