"""Marks through dbt, in the order in which an operator would meet them (laws C4, S6 and B9)."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from attest import cli
from attest.alerts import HOOK
from cases import UNTESTED, WHOLE, messages
from pyspark.sql import Row, SparkSession

SCHEMA = "marked"
TABLES = ("customer_states", "customer_sightings", "customer_belief", "customer_timeline", "customer_current")
BUILT = (
    "--select",
    "+customer_timeline",
    "+customer_current",
    "+customer_as_known",
    "+customer_why",
    "+customer_daily",
    "marked_partitions",
    "alerts",
)
KEYS = [f"K{number}" for number in range(12)]
Event = dict[str, Any]


def said(key: str, day: int, **what: Any) -> Event:
    """What the CRM says of a day in March, and we have on the day after."""
    times = {"source_event_ts": f"2026-03-{day:02}T09:00:00Z", "ingest_ts": f"2026-03-{day + 1:02}T09:00:00Z"}
    return {"customer_id": key, "source_system": "CRM", **times, **what}


GOOD = [said(key, 1, name=f"Name of {key}", address="1 Old Road", status="Active") for key in KEYS]
GOOD.append(said("K5", 6, address="5 New Road"))
BAD = [
    said("K1", 5, address="nonsense"),
    said("K2", 5, status="nonsense"),
    {**GOOD[3], "ingest_ts": "2026-03-06T09:00:00Z"},
]
LATER = [said("K4", 9, address="4 New Road")]


class Done(NamedTuple):
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Lake:
    """A project on the tests' lake, and what was seen of it at each step of the story."""

    spark: SparkSession
    project: Path
    dbt: Callable[..., Any]
    schema: str = SCHEMA

    def attest(self, *arguments: str) -> Done:
        os.environ["ATTEST_SCHEMA"] = self.schema
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = cli.main(["--project-dir", str(self.project), *arguments])
        return Done(code, out.getvalue(), err.getvalue())

    def file(self, name: str, events: list[Event]) -> str:
        path = self.project / name
        path.write_text("".join(f"{json.dumps(event)}\n" for event in events), encoding="utf-8")
        return str(path)

    def build(self, *, tested: bool = False) -> dict[str, str]:
        rest = (*WHOLE, "--exclude-resource-type", "unit_test") if tested else UNTESTED
        self.dbt("build", *BUILT, *rest, schema=SCHEMA, project=self.project)
        return messages(self.spark, SCHEMA)

    def seen(self) -> dict[str, list[str]]:
        return {table: sorted(str(row) for row in self.rows(table)) for table in TABLES}

    def rows(self, table: str) -> list[Row]:
        return self.spark.table(f"{self.schema}.{table}").collect()

    def sql(self, text: str) -> list[Row]:
        for table in ("customer_days", "customer_daily", "customer_current"):
            text = text.replace(f"from {table}", f"from {SCHEMA}.{table}")
        return self.spark.sql(text).collect()

    def asked(self, question: str) -> list[str]:
        """What a macro's relation holds, asked as `dbt show` does."""
        return sorted(str(list(row)) for row in self.shown("--inline", f"select * from {{{{ {question} }}}}"))

    def shown(self, *what: str) -> list[Any]:
        done = self.dbt("show", *what, "--limit", "-1", schema=SCHEMA, project=self.project)
        return list(done.result.results[0].agate_table.rows)


THEN = "belief_as_of('customer', as_at='2026-03-20T00:00:00Z', known_at='2026-03-20T00:00:00Z')"
BRONZE_THEN = THEN.replace("belief_as_of", "timeline_as_of")
WHY = ("--reason", "The CRM's test system was read", "--by", "ana")


SHORT = ("build", "--select", "+customer_sightings", "+customer_states", *UNTESTED)


def test_law_c4_in_short_a_mark_takes_a_file_out_and_clearing_brings_it_back(
    root_session: SparkSession, project: Path, dbt: Callable[..., Any]
) -> None:
    """The story below, of states alone; `make prove` has all of it."""
    short = Lake(root_session, project, dbt, "marked_short")
    tables = ("customer_states", "customer_sightings")
    seen = []
    for command in (
        ("land", "worked", short.file("good.jsonl", GOOD)),
        ("land", "worked", short.file("bad.jsonl", BAD)),
        ("mark", "worked", "bad.jsonl", *WHY),
        ("unmark", "worked", "bad.jsonl", *WHY),
    ):
        assert short.attest(*command).code == 0
        dbt(*SHORT, schema=short.schema, project=project)
        seen.append({table: sorted(map(str, short.rows(table))) for table in tables})
        built = messages(root_session, short.schema)
    without, with_it, marked, cleared = seen
    assert without != with_it
    assert (marked, cleared) == (without, with_it)
    assert ": 3 bk, " in built["customer_states"]


def test_what_streams_or_is_captured_while_its_feed_is_stopped_is_held(
    root_session: SparkSession, project: Path, dbt: Callable[..., Any], tmp_path: Path
) -> None:
    """Each way to land says so, alerts, and ends with exit code 1; nothing is lost."""
    stopped = Lake(root_session, project, dbt, "marked_stopped")
    come = tmp_path / "come"
    come.mkdir()
    events = (project / "examples" / "core_customers" / "2026_03.jsonl").read_text(encoding="utf-8").splitlines()
    stream = ("stream", "core_customers", str(come), "--checkpoint", str(tmp_path / "checkpoint"), "--available-now")
    captures = [str(one.parent) for one in sorted((project / "examples" / "captures").rglob("_manifest.json"))]
    (come / "1.jsonl").write_text(f"{events[0]}\n", encoding="utf-8")
    for feed, land in (("core_customers", stream), ("listings", ("land", "listings", captures[0]))):
        assert stopped.attest(*land).code == 0
        [landing] = {row.landing_id for row in stopped.rows(f"landing_{feed}")}
        assert stopped.attest("mark", feed, landing, *WHY).code == 0
    (come / "2.jsonl").write_text(f"{events[1]}\n", encoding="utf-8")
    for feed, land in (("core_customers", stream), ("listings", ("land", "listings", captures[1]))):
        done = stopped.attest(*land)
        assert (done.code, f"{feed}" in done.err, "landed and are held: a partition was" in done.err) == (1, True, True)
        assert len({row.landing_id for row in stopped.rows(f"landing_{feed}")}) == 2
    told = [(row.kind, row.feed) for row in stopped.rows("alerts")]
    assert sorted(told) == [(kind, feed) for kind in ("held", "marked") for feed in ("core_customers", "listings")]


@pytest.fixture(scope="module")
def desk(root_session: SparkSession, project: Path, dbt: Callable[..., Any]) -> Lake:
    return Lake(root_session, project, dbt)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the operator's command was given last."""
    hook = tmp_path_factory.mktemp("hook") / "alert.json"
    os.environ[HOOK] = f"tee {hook}"
    yield hook
    del os.environ[HOOK]


@pytest.fixture(scope="module")
def without(desk: Lake, told: Path) -> dict[str, list[str]]:
    """The tables before the bad file ever landed."""
    assert desk.attest("land", "worked", desk.file("good.jsonl", GOOD)).code == 0
    desk.build()
    return desk.seen()


@pytest.fixture(scope="module")
def with_it(desk: Lake, without: dict[str, list[str]]) -> dict[str, list[str]]:
    """The tables with it, after two days were published."""
    assert desk.attest("land", "worked", desk.file("bad.jsonl", BAD)).code == 0
    desk.build()
    for day in ("2026-03-04", "2026-03-07"):
        assert desk.attest("publish", "customer", "--day", day).code == 0
    return desk.seen()


@pytest.fixture(scope="module")
def marked(desk: Lake, with_it: dict[str, list[str]], told: Path) -> dict[str, Any]:
    """It is marked, then its feed lands a file more."""
    seen: dict[str, Any] = {"then": desk.asked(THEN), "bronze then": desk.asked(BRONZE_THEN)}
    seen["basis"] = newest_basis(desk)
    seen["mark"] = desk.attest("mark", "worked", "bad.jsonl", *WHY)
    seen["told"] = json.loads(told.read_text())
    seen["day"] = desk.attest("mark", "customer_days", "2026-03-07", *WHY)
    seen["land"] = desk.attest("land", "worked", desk.file("later.jsonl", LATER))
    seen["built"] = desk.build(tested=True)
    seen["tables"] = desk.seen()
    return seen


def newest_basis(desk: Lake) -> str:
    return str(max(desk.rows("customer_bases"), key=lambda row: row.stamped_at).basis_id)


def without_k4(tables: dict[str, list[str]]) -> dict[str, list[str]]:
    return {table: [row for row in rows if "bk='K4'" not in row] for table, rows in tables.items()}


@pytest.mark.prove
def test_law_c4_what_is_marked_might_as_well_never_have_landed(
    without: dict[str, list[str]], with_it: dict[str, list[str]], marked: dict[str, Any]
) -> None:
    assert with_it != without
    assert marked["tables"] == without


@pytest.mark.prove
def test_only_the_entities_of_the_partition_and_of_the_held_landing_are_rebuilt(marked: dict[str, Any]) -> None:
    assert ": 4 bk, " in marked["built"]["customer_states"]
    assert "everything" not in marked["built"]["customer_belief"]


@pytest.mark.prove
def test_everyone_is_told(desk: Lake, marked: dict[str, Any]) -> None:
    bad = str(desk.project / "bad.jsonl")
    assert (marked["mark"].code, marked["day"].code, marked["land"].code) == (0, 0, 1)
    assert f"attest: alert: worked: {bad} was marked bad by ana" in marked["mark"].err
    assert marked["told"]["kind"] == "marked"
    assert marked["told"]["partition"] == bad
    assert "1 records landed and are held: a partition was marked bad by ana at" in marked["land"].err
    assert sorted(row.kind for row in desk.rows("alerts")) == ["held", "marked", "marked"]
    assert marked["built"]["marks"].startswith("create: 3 rows")


@pytest.mark.prove
def test_law_s6_no_answer_from_before_the_mark_changes(desk: Lake, marked: dict[str, Any]) -> None:
    """But for K4: what landed since came with an older arrival, and says so (`is_backfilled`)."""
    assert any("nonsense" in row for row in marked["then"])
    for question, then in ((THEN, marked["then"]), (BRONZE_THEN, marked["bronze then"])):
        assert [row for row in desk.asked(question) if "'K4'" not in row] == [row for row in then if "'K4'" not in row]


@pytest.mark.prove
def test_a_basis_from_before_the_mark_is_reproduced_under_it(desk: Lake, marked: dict[str, Any]) -> None:
    done = desk.attest("reproduce", marked["basis"])
    assert (done.code, "the same bytes" in done.out) == (0, True), done.out


@pytest.mark.prove
def test_why_says_what_is_excluded_and_by_whom(desk: Lake, marked: dict[str, Any]) -> None:
    told = " ".join(desk.attest("why", "customer", "K1").out.split())
    reason = "The CRM's test system was read. It is what CRM said at 2026-03-05 09:00:00 UTC, from bad.jsonl"
    assert "excluded: partition marked bad by ana at " in told
    assert f"{reason}, record 1" in told
    held = " ".join(desk.attest("why", "customer", "K4").out.split())
    assert "excluded: held, for a partition of its feed was marked bad by ana at " in held
    kept = desk.project / "why.html"
    assert desk.attest("why", "customer", "K1", "--html", str(kept)).code == 0
    assert "<li>excluded: partition marked bad by ana at " in kept.read_text(encoding="utf-8")
    before = desk.attest("why", "customer", "K1", "--known-at", "2026-03-20T00:00:00Z").out
    assert "nonsense" in before
    assert "excluded" not in before


@pytest.mark.prove
def test_marks_are_the_index_of_what_to_repair(desk: Lake, marked: dict[str, Any]) -> None:
    lines = [line.strip() for line in desk.attest("marks", "worked", "--affected").out.splitlines()]
    assert lines[0] == f"worked {desk.project / 'bad.jsonl'}"
    assert [line for line in lines if line.startswith("entity")] == [
        f"entity customer {key}" for key in ("K1", "K2", "K3")
    ]
    assert {"model customer_belief", "model dim_customer", "model customer_timeline"} <= set(lines)
    assert "published day customer_days 2026-03-07" in lines
    assert "published day customer_days 2026-03-04" not in lines


@pytest.mark.prove
def test_law_c4_a_bad_day_is_an_older_good_one_with_what_came_later(desk: Lake, marked: dict[str, Any]) -> None:
    """With no change of what its readers ask."""
    asked = "select bk, name, address, status from {} where published_on = '2026-03-07' order by bk"
    published = {row.bk: row for row in desk.sql(asked.format("customer_days"))}
    read = {row.bk: row for row in desk.sql(asked.format("customer_daily"))}
    assert (published["K1"].address, published["K2"].status) == ("nonsense", "nonsense")
    assert (read["K1"].address, read["K2"].status, read["K5"].address) == ("1 Old Road", "Active", "5 New Road")
    assert read.keys() == set(KEYS)
    told = desk.sql("select distinct cast(published_on as string), cast(stands_in as string) from customer_daily")
    assert sorted(map(tuple, told), key=str) == [("2026-03-04", None), ("2026-03-07", "2026-03-04")]


@pytest.mark.prove
def test_resumed_and_cleared_the_tables_are_what_they_were(
    desk: Lake, with_it: dict[str, list[str]], without: dict[str, list[str]], marked: dict[str, Any]
) -> None:
    basis = newest_basis(desk)
    under_the_mark = desk.asked(THEN)
    assert desk.attest("resume", "worked", "bad.jsonl", *WHY).code == 0
    desk.build()
    resumed = desk.seen()
    assert without_k4(resumed) == without_k4(without)
    assert any("4 New Road" in row for row in resumed["customer_current"])

    assert desk.attest("unmark", "worked", "bad.jsonl", *WHY).code == 0
    assert desk.attest("unmark", "customer_days", "2026-03-07", *WHY).code == 0
    desk.build(tested=True)
    assert without_k4(desk.seen()) == without_k4(with_it)
    assert desk.asked(THEN) == under_the_mark
    assert desk.attest("reproduce", basis).code == 0
    assert "nothing is marked of worked" in desk.attest("marks", "worked").out
    assert desk.attest("marks", "worked", "--all").out.count("cleared by ana") == 1


@pytest.mark.prove
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("mark", "workd", "bad.jsonl", *WHY), "Did you mean worked?"),
        (("mark", "worked", "nothing.jsonl", *WHY), "worked has no partition 'nothing.jsonl'"),
        (("mark", "worked", "bad.jsonl", "--reason", " "), "say with --reason why"),
        (("mark", "worked", "bad.jsonl", "--reason", "So", "--by", ""), "say with --by who does"),
        (("mark", "customer_days", "2026-03-99", *WHY), "is no day such as"),
        (("mark", "customer_days", "2026-03-05", *WHY), "has no day 2026-03-05"),
        (("unmark", "worked", "good.jsonl", *WHY), "is not marked, so there is nothing to clear"),
        (("resume", "worked", "good.jsonl", *WHY), "is not marked, so there is nothing to clear"),
        (("marks", "workd"), "Did you mean worked?"),
        (("publish", "customer", "--day", "2026-03-04"), "is published already, and stays as it is"),
        (("publish", "customer", "--day", "2999-01-01"), "is not over yet"),
        (("publish", "customer", "--day", "2026-01-01"), "Nothing was known of any customer"),
        (("publish", "custumer"), "Did you mean customer?"),
    ],
)
def test_what_cannot_be_marked_or_published_is_refused(
    desk: Lake, marked: dict[str, Any], words: Sequence[str], says: str
) -> None:
    rows = len(desk.rows("mark_log"))
    done = desk.attest(*words)
    assert done.code == 1
    assert says in done.err
    assert len(desk.rows("mark_log")) == rows


@pytest.mark.prove
def test_a_mark_stands_though_the_operators_command_fails(
    desk: Lake, marked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for command, says in (
        ("false", "ended with exit code 1"),
        ("/no/such/command", "could not be run"),
        ("'", "cannot be read"),
    ):
        monkeypatch.setenv(HOOK, command)
        done = desk.attest("mark", "worked", "good.jsonl", *WHY, "--keep-landing")
        assert (done.code, says in done.err) == (1, True), done
        twice = desk.attest("mark", "worked", "good.jsonl", *WHY)
        assert "is marked already, by ana at " in twice.err
        assert "does not stop landing" in desk.attest("resume", "worked", "good.jsonl", *WHY).err
        assert desk.attest("unmark", "worked", "good.jsonl", *WHY).code == 1
    assert sum(row.kind == "hook" for row in desk.rows("alerts")) == 6


@pytest.mark.prove
def test_a_check_marks_a_landing_before_it_counts(desk: Lake, marked: dict[str, Any]) -> None:
    """Three landings are usual by now; this one has far fewer records than they, and half of them without a name."""
    checks = desk.project / "seeds" / "partition_checks.csv"
    checks.write_text(
        checks.read_text()
        + "worked,records,,0.5,,usual,mark,A day has as many as the days before\n"
        + "worked,absent,name,,0.1,itself,advise,Most have a name\n"
    )
    done = desk.attest("land", "worked", desk.file("short.jsonl", [said("K6", 12, status="nonsense")]))
    assert done.code == 1
    assert "records is 1, less than 0.5 times the usual 3: A day has as many as the days before" in done.err
    assert "absent of name is 1, more than 0.1: Most have a name" in done.err
    assert "held" not in done.err
    desk.build()
    assert not any("nonsense" in row.status for row in desk.sql("select status from customer_current where bk = 'K6'"))
    [landing] = [row.partition for row in desk.rows("mark_log") if row.set_by == "check" and row.partition]
    assert desk.attest("unmark", "worked", landing, *WHY).code == 0
