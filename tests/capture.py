"""A real capture of change events, with what PostgreSQL itself says of its rows after every commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

from attest.contract import EVENT_FIELDS, Feed
from engine import ROOT

FOLDER = ROOT / "tests" / "debezium"
PROMISES = {
    "deletes": "flag",
    "extracts": "whole",
    "key": "stable",
    "load_type": "full",
    "omitted_fields": "unmentioned",
    "sequence": "parts",
    "source_time": "event",
}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    name: str
    key: str
    columns: str
    identity: str = "default"

    @property
    def feed(self) -> Feed:
        return feed(f"public.{self.name}", self.key, self.columns, replica_identity=self.identity)

    @property
    def attributes(self) -> dict[str, str]:
        return dict.fromkeys([*self.key.split(), *self.columns.split()], "string")


def feed(table: str, key: str, columns: str, *, schema: str | None = None, **promises: str) -> Feed:
    """A contract of change events; `columns` may have types, as in a seed."""
    named = dict(one.partition(":")[::2] for one in columns.split())
    return Feed(
        name=table.rpartition(".")[2],
        entity="customer",
        format="debezium",
        source_type="cdc",
        key_field=key,
        source_time_field="__committed_at",
        time_zone=UTC,
        sequence_field="__position",
        fields=frozenset([*key.split(), *named, *EVENT_FIELDS]),
        inheritance="as_known",
        promises={name: (value,) for name, value in {**PROMISES, "table": table, **promises}.items()},
        types={name: of for name, of in named.items() if of},
        event_schema=schema,
    )


CUSTOMERS = Table(
    "customers", "id", "name email address status balance risk_score born updated_at notes segment loyalty"
)
ACCOUNTS = Table(
    "accounts",
    "account_id",
    "customer_id currency iban balance credit_limit is_open opened_at cutoff tags meta memo updated_at",
    identity="full",
)
PAYMENTS = Table(
    "payments", "account_id txn_no", "amount fee channel booked_at value_date description reference", identity="nothing"
)
WEB_LOG = Table("web_log", "id", "ts customer_id action payload")


def lines() -> list[str]:
    """Split at \\n only: values hold U+2028 and its kin."""
    return (FOLDER / "events.jsonl").read_text(encoding="utf-8").removesuffix("\n").split("\n")


def truth(table: Table) -> dict[int, dict[str, Row]]:
    """The rows of a table after each commit that the capture streams, by key: the last ones, and the log undone."""
    keys = table.key.split()
    rows = {key_of(row, keys): row for row in read(f"truth_final_{table.name}.json")}
    after: dict[int, dict[str, Row]] = {}
    changes = read(f"truth_history_{table.name}.json")
    for commit in sorted(committed(), reverse=True):
        after[commit] = deepcopy(rows)
        for change in reversed([one for one in changes if one["commit_seq"] == commit]):
            if change["new"]:
                del rows[key_of(change["new"], keys)]
            if change["old"]:
                rows[key_of(change["old"], keys)] = change["old"]
    return after


def committed() -> dict[int, datetime]:
    """When each commit was made, from the first after the snapshot on."""
    commits = read("truth_commits.json")["commits"]
    return {one["commit_seq"]: datetime.fromisoformat(one["commit_ts"]) for one in commits if one["commit_seq"] > 2}


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"), parse_float=Decimal)


def key_of(row: Row, keys: Sequence[str]) -> str:
    parts = [str(row[name]) for name in keys]
    return parts[0] if len(parts) == 1 else "|".join(one.replace("~", "~0").replace("|", "~1") for one in parts)


def is_same(told: str | None, true: Any) -> bool:
    """Whether what attest holds as text is what PostgreSQL holds."""
    if told is None or true is None:
        return told is None and true is None
    if isinstance(true, (int, Decimal)) and not isinstance(true, bool):
        return Decimal(told) == true
    if not isinstance(true, str):
        return bool(json.loads(told) == true)
    if true.startswith("md5:"):
        return hashlib.md5(told.encode()).hexdigest() == true.removeprefix("md5:")
    return told == true.strip(" ") or any(
        is_same_time(told, true, read) for read in (datetime.fromisoformat, time.fromisoformat)
    )


def is_same_time(told: str, true: str, read: Callable[[str], Any]) -> bool:
    try:
        return bool(read(told) == read(true))
    except (ValueError, TypeError):
        return False
