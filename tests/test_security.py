"""Nothing that somebody typed becomes SQL, Jinja, a path or a tag: hostile text through every door, and out again."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from attest import cli
from cases import UNTESTED, WHOLE
from pyspark.sql import SparkSession

SCHEMA = "hostile"
BUILT = ("--select", "+customer_current", "+customer_why")
HOSTILE = (
    "'; drop table hostile.customer_states; --",
    "\\' or true --",
    '"; delete from hostile.customer_belief; /*',
    "{{ this }}{% raw %}{# note #}",
    "${spark.master} :asked ? %s",
    "`hostile`.`runs`",
    "</script><script>alert(1)</script>",
    "../../etc/passwd",
    "\\u0000 \\n \\",
)
Event = dict[str, Any]


def said(key: str, text: str, day: int) -> Event:
    return {
        "customer_id": key,
        "source_system": "CRM",
        "source_event_ts": f"2026-03-{day:02}T09:00:00Z",
        "ingest_ts": f"2026-03-{day:02}T10:00:00Z",
        "ingest_run_id": text,
        "source_file": text,
        "name": text,
        "address": f"{text}{text}",
    }


@pytest.fixture(scope="module")
def typed(project: Path) -> Callable[..., str]:
    """Call attest as a user would; what it prints."""

    def run(*words: str) -> str:
        os.environ["ATTEST_SCHEMA"] = SCHEMA
        out = io.StringIO()
        with redirect_stdout(out):
            assert cli.main(["--project-dir", str(project), *words]) == 0, words
        return out.getvalue()

    return run


def test_hostile_text_is_text_through_every_door(
    spark: SparkSession, project: Path, dbt: Callable[..., Any], typed: Callable[..., str]
) -> None:
    """Keys, names, runs and files in records; the file's own name; mark, reason and author; keys asked about."""
    good, bad = project / "good.jsonl", project / "it's {{ bad }} -- \\ `now`.jsonl"
    events = [said(key, text, 1) for key, text in zip(HOSTILE, reversed(HOSTILE), strict=True)]
    good.write_text("".join(f"{json.dumps(event)}\n" for event in events), encoding="utf-8")
    bad.write_text(f"{json.dumps(said(HOSTILE[0], 'of no account', 2))}\n", encoding="utf-8")

    def build(*selected: str) -> dict[str, str]:
        dbt("build", *selected, *WHOLE, *UNTESTED, schema=SCHEMA, project=project)
        return {row.bk: row.name for row in spark.table(f"{SCHEMA}.customer_current").collect()}

    typed("land", "worked", str(good), "--run-id", HOSTILE[0])
    typed("land", "worked", str(bad))
    everyone = dict(zip(HOSTILE, reversed(HOSTILE), strict=True))
    assert build(*BUILT) == everyone | {HOSTILE[0]: "of no account"}
    why = spark.table(f"{SCHEMA}.customer_why").where("attribute = 'address'").collect()
    assert {row.bk: row.value for row in why if HOSTILE[0] != row.bk} == {
        key: f"{text}{text}" for key, text in everyone.items() if HOSTILE[0] != key
    }
    for key in HOSTILE[4:7]:
        assert f"{everyone[key]}{everyone[key]}" in typed("why", "customer", key, "--as-at", "2026-03-01T12:00:00Z")
    page = project / "why.html"
    typed("why", "customer", HOSTILE[6], "--html", str(page))
    html = page.read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert HOSTILE[6] in json.loads(html.split('id="case">')[1].split("</script>")[0])["key"]

    typed("mark", "worked", bad.name, "--reason", HOSTILE[1], "--by", HOSTILE[3])
    assert build(*BUILT[:2]) == everyone
    assert HOSTILE[1] in typed("marks", "worked", "--affected")
    typed("unmark", "worked", bad.name, "--reason", HOSTILE[2], "--by", HOSTILE[4])
    assert HOSTILE[1] not in typed("marks", "worked", "--affected")


def test_questions_take_hostile_keys_as_they_are(spark: SparkSession, project: Path, dbt: Callable[..., Any]) -> None:
    """`keys=` of the macros, from a model's own text."""
    keys = json.dumps(list(HOSTILE))
    done = dbt(
        "compile",
        "--inline",
        "select bk from {{ belief_as_of('customer', as_at='2026-03-05T00:00:00Z', keys=var('keys')) }}",
        "--vars", json.dumps({"keys": json.loads(keys)}),
        schema=SCHEMA, project=project,
    )  # fmt: skip
    sql = done.result.results[0].node.compiled_code
    assert {row.bk for row in spark.sql(sql).collect()} == set(HOSTILE)


def test_the_name_of_an_attribute_is_a_name(project: Path, dbt: Callable[..., Any]) -> None:
    declared = {"entities": {"customer": {"attributes": {"name') --": "string"}}}}
    asked = ("compile", "--inline", "{{ attest.attributes_of('customer') }}", "--vars", json.dumps(declared))
    with pytest.raises(AssertionError, match=r"Attribute 'name'\) --' of customer would be a column by that name"):
        dbt(*asked, schema=SCHEMA, project=project)
