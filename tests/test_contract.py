"""What landing reads of the project before it starts Spark: its feeds' contracts and its profile."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from attest.contract import Feed, feeds_of, find_feed, read_contracts
from attest.errors import ContractError
from attest.project import Project, read_project
from engine import ROOT

COLUMNS = (
    "feed,entity,format,source_type,key_field,source_time_field,"
    "time_zone,sequence_field,other_fields,inheritance,reason"
)
CRM = "crm,customer,jsonl,file,id,changed_at,Europe/London,number,name address,as_known,The CRM's export"

Contracts = Callable[..., dict[str, Feed]]


@pytest.fixture
def contracts(tmp_path: Path) -> Contracts:
    """The contracts of a seed with these lines."""

    def read(*lines: str, ends: str = "\n", promises: Sequence[str] = ()) -> dict[str, Feed]:
        (tmp_path / "feeds.csv").write_bytes("".join(one + ends for one in lines).encode())
        (tmp_path / "promises.csv").write_text("".join(f"{one}\n" for one in ("feed,promise,value,reason", *promises)))
        return read_contracts(tmp_path / "feeds.csv")

    return read


def test_a_contract_says_what_landing_must_find(contracts: Contracts) -> None:
    assert contracts(COLUMNS, CRM) == {
        "crm": Feed(
            name="crm",
            entity="customer",
            format="jsonl",
            source_type="file",
            key_field="id",
            source_time_field="changed_at",
            time_zone=ZoneInfo("Europe/London"),
            sequence_field="number",
            fields=frozenset({"id", "changed_at", "number", "name", "address"}),
            inheritance="as_known",
        )
    }


def test_zone_sequence_and_other_fields_may_be_empty(contracts: Contracts) -> None:
    feed = contracts(COLUMNS, "crm,customer,jsonl,file,id,changed_at,,,,repaired,")["crm"]
    assert (feed.time_zone, feed.sequence_field, feed.fields) == (None, None, frozenset({"id", "changed_at"}))


def test_columns_may_stand_in_any_order_and_others_beside_them(contracts: Contracts) -> None:
    turned = [",".join([*reversed(text.split(",")), last]) for text, last in ((COLUMNS, "owner"), (CRM, "sales"))]
    assert contracts(*turned) == contracts(COLUMNS, CRM)


def test_a_key_may_be_of_several_fields(contracts: Contracts) -> None:
    feed = contracts(COLUMNS, CRM.replace(",id,", ",customer_no account_no,"))["crm"]
    assert feed.key_fields == ("customer_no", "account_no")
    assert feed.fields == {"customer_no", "account_no", "changed_at", "number", "name", "address"}


def test_the_projects_own_contracts_are_read() -> None:
    feed = feeds_of(ROOT)["worked"]
    assert {"customer_id", "source_system", "source_event_ts", "ingest_ts", "is_deleted"} <= feed.fields


WRONG = {
    "no file of that form": ([COLUMNS, CRM.replace("jsonl", "xlsx")], 2, "format 'xlsx' is not one of jsonl"),
    "no such inheritance": ([COLUMNS, CRM.replace("as_known", "sometimes")], 2, "inheritance 'sometimes'"),
    "no such zone": ([COLUMNS, CRM.replace("Europe/London", "Europe/Londn")], 2, "Try Europe/London"),
    "a continent is no zone": ([COLUMNS, CRM.replace("Europe/London", "Europe")], 2, "no time zone is called"),
    "a path is no zone": ([COLUMNS, CRM.replace("Europe/London", "/etc/localtime")], 2, "no time zone is called"),
    "no key": ([COLUMNS, CRM.replace(",id,", ",,")], 2, "key_field is empty"),
    "only a space for a key": ([COLUMNS, CRM.replace(",id,", ", ,")], 2, "key_field is empty"),
    "no entity": ([COLUMNS, CRM.replace("customer", "")], 2, "entity is empty"),
    "no name": ([COLUMNS, CRM.replace("crm", "", 1)], 2, "feed is empty"),
    "no source type": ([COLUMNS, CRM.replace("file", "", 1)], 2, "source_type is empty"),
    "no inheritance": ([COLUMNS, CRM.replace("as_known", "")], 2, "inheritance is empty"),
    "a name that no table has": ([COLUMNS, CRM.replace("crm", "crm; drop", 1)], 2, "small letters, digits"),
    "two contracts of a feed": ([COLUMNS, CRM, CRM], 3, "feed crm has a contract already"),
    "a column is missing": ([COLUMNS.replace("time_zone,", "zone,"), CRM], 1, "has no column time_zone"),
    "another header": (["name,kind", "crm,file"], 1, "has no column feed, entity"),
    "a cell is missing": ([COLUMNS, CRM, CRM.removesuffix(",The CRM's export")], 3, "has 10 cells, the header 11"),
    "a cell too many": ([COLUMNS, CRM + ",x"], 2, "has 12 cells, the header 11"),
    "an open quote": ([COLUMNS, '"' + CRM, CRM], 2, "Check the double quotes"),
    "a blank line": ([COLUMNS, "", CRM], 2, "is blank"),
    "a byte-order mark": (["\ufeff" + COLUMNS, CRM], 1, "byte-order mark"),
    "nothing": ([], 1, "columns' names are missing"),
}


@pytest.mark.parametrize(("lines", "line", "says"), WRONG.values(), ids=WRONG)
def test_a_contract_that_cannot_be_kept_names_its_file_and_line(
    contracts: Contracts, tmp_path: Path, lines: list[str], line: int, says: str
) -> None:
    with pytest.raises(ContractError, match=re.escape(says)) as refused:
        contracts(*lines)
    assert str(refused.value).startswith(f"{tmp_path / 'feeds.csv'}, line {line}: ")


def test_contracts_saved_with_crlf_are_refused_as_the_seed_would_be(contracts: Contracts) -> None:
    with pytest.raises(ContractError, match=r"line 1: ends with a carriage return\. Save it with plain line ends"):
        contracts(COLUMNS, CRM, ends="\r\n")


def test_contracts_that_are_not_there_say_where_they_were_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"feeds\.csv is not there.*--project-dir"):
        read_contracts(tmp_path / "feeds.csv")


def test_an_unknown_feed_is_answered_with_the_nearest_or_with_all(contracts: Contracts) -> None:
    feeds = contracts(COLUMNS, CRM, CRM.replace("crm", "core_bank", 1))
    with pytest.raises(ContractError, match=r"No feed is called 'core_bnk'.*Did you mean core_bank\?"):
        find_feed(feeds, "core_bnk")
    with pytest.raises(ContractError, match=r"No feed is called 'payments'.*There are: core_bank, crm\."):
        find_feed(feeds, "payments")
    assert find_feed(feeds, "crm").name == "crm"


PROJECT = "profile: bank\nvars:\n  entities:\n    customer: {attributes: {name: string}}\n"
PROFILES = """
bank:
  target: "{{ env_var('ATTEST_TEST_TARGET', 'here') }}"
  outputs:
    here:
      schema: lake
      server_side_parameters: {spark.master: "local[2]", attest.lake: "{{ env_var('ATTEST_TEST_LAKE', 'lake') }}"}
    there:
      schema: far
      token: "{{ env_var('ATTEST_TEST_TOKEN') }}"
    nowhere: {type: spark}
"""

Profiles = Callable[..., Project]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Profiles:
    """A project with these two files, as the command line reads it."""
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)

    def read(settings: str = PROJECT, profiles: str = PROFILES, *, target: str | None = None) -> Project:
        (tmp_path / "dbt_project.yml").write_text(settings)
        (tmp_path / "profiles.yml").write_text(profiles)
        return read_project(tmp_path, target=target)

    return read


def test_the_profile_is_read_as_dbt_reads_it(project: Profiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_TEST_LAKE", "elsewhere")
    found = project()
    assert found.schema == "lake"
    assert found.parameters == {"spark.master": "local[2]", "attest.lake": str(found.root / "elsewhere")}
    assert found.entities == {"customer": {"attributes": {"name": "string"}}}


def test_only_the_chosen_outputs_variables_must_be_set(project: Profiles, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ContractError, match="environment variable ATTEST_TEST_TOKEN is not set"):
        project(target="there")
    monkeypatch.setenv("ATTEST_TEST_TOKEN", "x")
    monkeypatch.setenv("ATTEST_TEST_TARGET", "there")
    found = project()
    assert (found.schema, found.parameters) == ("far", {})


def test_jinja_in_dbts_own_settings_is_left_to_dbt(project: Profiles) -> None:
    assert project(PROJECT + 'models:\n  +schema: "{{ target.name }}"\n').schema == "lake"


def test_profiles_are_found_where_dbt_is_told_to_find_them(
    project: Profiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "profiles.yml").write_text(PROFILES.replace("schema: lake", "schema: other"))
    monkeypatch.setenv("DBT_PROFILES_DIR", str(elsewhere))
    assert project().schema == "other"


UNREADABLE = {
    "not YAML": (PROJECT, "bank: [", None, r"profiles\.yml is not YAML.*line 1"),
    "a list": (PROJECT, "- bank", None, r"profiles\.yml holds no settings"),
    "nothing": ("", PROFILES, None, r"dbt_project\.yml holds no settings"),
    "another profile": (PROJECT.replace("bank", "shop"), PROFILES, None, "no profile called 'shop'"),
    "no profile": (PROJECT.replace("profile: bank\n", ""), PROFILES, None, "no profile called None"),
    "no outputs": (PROJECT, "bank: {target: here}", None, "no profile called 'bank' with outputs"),
    "another target": (PROJECT, PROFILES, "their", "no output called 'their', only here, there, nowhere"),
    "no schema": (PROJECT, PROFILES, "nowhere", "output nowhere has no schema"),
    "broken Jinja": (PROJECT, PROFILES.replace("env_var('ATTEST_TEST_LAKE', 'lake') }}", "lake }}"), None, "lake"),
}


@pytest.mark.parametrize("case", UNREADABLE.values(), ids=UNREADABLE)
def test_settings_that_cannot_be_used_name_their_file(
    project: Profiles, tmp_path: Path, case: tuple[str, str, str | None, str]
) -> None:
    settings, profiles, target, says = case
    with pytest.raises(ContractError, match=says) as refused:
        project(settings, profiles, target=target)
    assert str(tmp_path) in str(refused.value)


def test_a_project_without_a_profile_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    with pytest.raises(ContractError, match=r"dbt_project\.yml is not there.*--project-dir"):
        read_project(tmp_path)
    (tmp_path / "dbt_project.yml").write_text(PROJECT)
    with pytest.raises(ContractError, match=r"profiles\.yml is not there\. Copy .*profiles\.yml\.example to it"):
        read_project(tmp_path)


EVENTS = "log,customer,debezium,cdc,id,__committed_at,,__position,name,as_known,A log"
TABLE = "log,table,public.people,The stream has others"


def test_a_contract_of_change_events_knows_what_events_say_of_themselves(contracts: Contracts, tmp_path: Path) -> None:
    (tmp_path / "people.json").write_text('{"type": "struct", "fields": []}')
    promises = [TABLE, "log,event_schema,people.json,The registry has it", "log,epoch,3,Restored twice"]
    feed = contracts(COLUMNS, EVENTS, promises=promises)["log"]
    assert feed.fields >= {"id", "name", "__op", "__committed_at", "__position", "__schema"}
    assert feed.event_schema == '{"type": "struct", "fields": []}'


@pytest.mark.parametrize(
    ("line", "promises", "problem"),
    [
        (EVENTS, [], "promises no table, and many may share a stream"),
        (
            EVENTS,
            [TABLE, "log,omitted_fields,null,x"],
            "a delete omits all but its key",
        ),
        (EVENTS, [TABLE, "log,epoch,one,x"], "the epoch of log is 'one', no whole number"),
        (EVENTS, [TABLE, "log,replica_identity,half,x"], "replica_identity is 'half', not default or full"),
        (EVENTS, [TABLE, "log,event_schema,odd.json,x"], "the event_schema odd.json is no schema with fields"),
        (EVENTS, [TABLE, "log,event_schema,gone.json,x"], "gone.json cannot be read"),
        (CRM, ["crm,nulls,kept,x"], "crm is jsonl, and only change events promise nulls"),
    ],
)
def test_what_a_contract_of_change_events_lacks_is_named(
    contracts: Contracts, tmp_path: Path, line: str, promises: list[str], problem: str
) -> None:
    (tmp_path / "odd.json").write_text('["no schema"]')
    with pytest.raises(ContractError, match=re.escape(problem)):
        contracts(COLUMNS, line, promises=promises)
