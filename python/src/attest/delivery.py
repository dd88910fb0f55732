"""What is delivered to the lake at once, and what became of its records: a landing."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from attest.contract import DEFAULTED
from attest.contract import SCHEMA as EVENT_SCHEMA
from attest.errors import LandingError
from attest.event_values import columns_of
from attest.formats import Row
from attest.gate import Verdict
from attest.ledger import PENDING
from attest.measure import Tally
from attest.record import HELD, NOTICE


@dataclass(frozen=True)
class Snapshot:
    """What a delivery claims of itself as a snapshot; nothing is proved by one that is not complete."""

    complete: bool = False
    expected: int | None = None
    scopes: Sequence[str] = ()


def trusted(_: Landing) -> None:
    """Nobody looks at what was staged."""


@dataclass(frozen=True)
class Delivery:
    """One landing's provenance: who carries it, when it arrived, and when the lake writes it."""

    landing_id: str
    run_id: str
    arrived_at: datetime
    recorded_at: datetime
    as_of: datetime | None = None
    snapshot: Snapshot = field(default_factory=Snapshot)
    released_from: str | None = None
    not_before: datetime | None = None  # a stream's watermark
    capture: Mapping[str, Any] | None = None  # what it says of itself, where it is one, and its ledger's status
    inspect: Callable[[Landing], None] = trusted  # looks at what is staged, before it is committed
    left_out: Sequence[str] = ()  # landings that are marked bad: nothing is compared with them

    @property
    def is_skipped(self) -> bool:
        """Whether its records are kept and feed nothing."""
        return self.capture is not None and self.capture["status"] != PENDING


def new_delivery(
    *,
    run_id: str | None = None,
    arrived_at: datetime | None = None,
    as_of: datetime | None = None,
    snapshot: Snapshot | None = None,
) -> Delivery:
    """Names of ours begin with their UTC time, so that they sort as they came."""
    now = datetime.now(UTC)
    landing_id = f"{now:%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:8]}"
    return Delivery(landing_id, run_id or landing_id, arrived_at or now, now, as_of, snapshot or Snapshot())


class Quarantined(NamedTuple):
    file: str
    line: int
    reason: str
    detail: str


@dataclass
class Told:
    """What records say beside their rows: those that are about none, and how events were written."""

    notices: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    schemas: Counter[str] = field(default_factory=Counter)
    since: dict[str, datetime | None] = field(default_factory=dict)
    defaulted: Counter[str] = field(default_factory=Counter)

    def take(self, row: Row) -> None:
        if row.status == NOTICE:
            self.notices[row.reason or ""] += 1
        elif row.status == HELD:
            self.held[row.reason or ""] += 1
        elif row.read is not None and EVENT_SCHEMA in row.read.fields:
            name = row.read.fields[EVENT_SCHEMA] or ""
            self.schemas[name] += 1
            self.since.setdefault(name, row.read.source_event_ts)
            self.defaulted.update((row.read.fields.get(DEFAULTED) or "").split())

    def add(self, other: Told) -> None:
        for mine, others in ((self.notices, other.notices), (self.held, other.held), (self.schemas, other.schemas)):
            mine.update(others)
        self.since = other.since | self.since
        self.defaulted.update(other.defaulted)

    def in_manifest(self) -> dict[str, Any]:
        schemas = {
            name: {"records": records, "since": in_json(self.since[name]), "columns": columns_of(name)}
            for name, records in self.schemas.items()
        }
        return {"notices": self.notices, "held": self.held, "schemas": schemas, "defaulted": self.defaulted}


def in_json(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


@dataclass(frozen=True)
class Landing:
    """What was staged of one landing: its files, and what became of their records."""

    landing_id: str
    quarantined: Counter[str]
    first_quarantined: Sequence[Quarantined]
    tally: Tally
    parts: Sequence[Path] = ()
    refused: Sequence[LandingError] = ()
    verdict: Verdict | None = None
    capture: Mapping[str, Any] | None = None
    told: Told = field(default_factory=Told)
    new_schemas: Sequence[str] = ()

    @property
    def records(self) -> int:
        return self.tally.records

    @property
    def set_aside(self) -> dict[str, Counter[str]]:
        """What is kept of notices and for people to decide on, by its status and why."""
        return {NOTICE: self.told.notices, HELD: self.told.held}

    @property
    def accepted(self) -> int:
        return self.records - sum(one.total() for one in (self.quarantined, *self.set_aside.values()))
