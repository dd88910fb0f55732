"""The ledger's verdict on a capture, given once, at landing (laws B9 and C5): may it be replayed?

What is skipped or rejected is kept all the same, and feeds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from attest.captures import Capture
from attest.contract import FULL, Authority, Feed

PENDING = "pending"
DUPLICATE, INCOMPLETE = "skipped_duplicate", "skipped_incomplete"
UNAUTHORIZED, BACKWARD = "skipped_not_authoritative", "rejected_not_forward"


class Accepted(NamedTuple):
    """The newest capture of a dataset and scope that was let through."""

    landing_id: str
    effective_at: datetime
    content_sum: str | None


class Status(NamedTuple):
    name: str
    why: str | None = None
    prior: str | None = None


def decide(capture: Capture, feed: Feed, *, scope: str | None, previous: Accepted | None) -> Status:
    """The first doubt there is, else that it waits to be replayed."""
    whose = feed.authorities
    authority = whose.get((capture.dataset, scope or "")) or whose.get((capture.dataset, ""))
    what = f"{capture.dataset} {scope}" if scope else capture.dataset
    doubts = (
        *doubts_of_completeness(capture),
        *doubts_of_authority(capture, authority, what),
        *(doubts_of_order(capture, feed, previous) if previous else ()),
    )
    return next(iter(doubts), Status(PENDING))


def doubts_of_completeness(capture: Capture) -> Iterator[Status]:
    """Section 3.6: whom an incomplete snapshot lacks was perhaps only not fetched."""
    if not capture.complete:
        count = "records" if capture.record_count is None else f"{capture.record_count} records"
        yield Status(
            INCOMPLETE,
            f"It does not say that it is complete ({count} of {capture.expected_record_count or 'an unknown number'}). "
            "Capture it again.",
        )
    elif capture.expected_record_count not in (None, capture.record_count):
        yield Status(
            INCOMPLETE,
            f"It has {capture.record_count} records where {capture.expected_record_count} were announced. "
            "Capture it again.",
        )


def doubts_of_authority(capture: Capture, authority: Authority | None, what: str) -> Iterator[Status]:
    """Section 9.4: two vendors would overwrite each other."""
    if authority is None:
        yield Status(UNAUTHORIZED, f"Nobody has authority for {what}. Add a row to seeds/authorities.csv.")
    elif authority != (capture.vendor, capture.capture_mode):
        yield Status(
            UNAUTHORIZED,
            f"It is a {capture.capture_mode} of {capture.vendor}, and for {what} the {authority.capture_mode} of "
            f"{authority.vendor} counts. It is kept to compare; seeds/authorities.csv says whose word counts.",
        )


def doubts_of_order(capture: Capture, feed: Feed, previous: Accepted) -> Iterator[Status]:
    """Sections 3.5 and 4.2: what says the same again is no news, and snapshots go forward only."""
    if capture.content_sum == previous.content_sum and capture.effective_at >= previous.effective_at:
        yield Status(DUPLICATE, "It says what the one before it said.", previous.landing_id)
    elif capture.capture_mode == FULL and capture.effective_at <= previous.effective_at:
        yield Status(
            BACKWARD,
            f"It shows {feed.name} at {capture.effective_at:%Y-%m-%dT%H:%M:%S.%fZ}, and one of "
            f"{previous.effective_at:%Y-%m-%dT%H:%M:%S.%fZ} counts already: snapshots go forward only. Set the clock "
            "of the machine that captures, or land the vendor's history of changes as a feed of its own.",
            previous.landing_id,
        )


def facts(capture: Capture, status: Status, scope: str | None) -> dict[str, Any]:
    """What the ledger keeps of a capture."""
    return {
        **status._asdict() | {"status": status.name, "scope": scope},
        **{name: getattr(capture, name) for name in ("schema_version", "vendor", "dataset", "data_type")},
        **{name: getattr(capture, name) for name in ("capture_mode", "record_format", "complete", "api_endpoint")},
        "captured_at": capture.captured_at.isoformat(),
        "effective_at": capture.effective_at.isoformat(),
        "vendor_effective_at": capture.vendor_effective_at.isoformat() if capture.vendor_effective_at else None,
        "request_params": dict(capture.request_params),
        "partitions": dict(capture.partitions),
        "record_count": capture.record_count,
        "expected_record_count": capture.expected_record_count,
        "content_sum": capture.content_sum,
        "file_sum": capture.file_sum,
        "path": os.path.abspath(capture.records.parent if capture.schema_version == 2 else capture.records),
    }
