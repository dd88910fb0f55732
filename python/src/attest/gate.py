"""The gate: what a feed's promises and a landing's measures allow its rows to become (laws B6 and B9).

a trigger of section 12.5.6     rejects   rows stay evidence and reach no timeline
a condition of section 12.2.2   limits    rows reach the fallback timeline, by their arrival
neither                                   rows reach the timeline, in source time
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from attest.contract import MEASURES, SHARES, Feed

DEFENSIBLE = "DEFENSIBLE"
LIMITED = "LIMITED_FALLBACK_ONLY"
REJECTED = "REJECT_FOR_AUTHORITATIVE_BRONZE"

Measures = Mapping[str, float | None]

# What it means when a measure is beyond its limit.
KEYS = ("missing_key", "repeated_key")
ORDER = ("backward_source_time",)
TIMES = tuple(measure for measure in MEASURES if measure not in (*KEYS, *ORDER))


class Finding(NamedTuple):
    rejects: bool
    text: str


@dataclass(frozen=True)
class Verdict:
    name: str
    reasons: tuple[str, ...]

    @property
    def clock(self) -> str:
        """The time that orders what was landed, and from which it holds."""
        return "arrival" if self.name == LIMITED else "source"


def judge(feed: Feed, measures: Measures) -> Verdict:
    """The verdict with every reason, the rejecting ones first; `measures` may be of any landing, or none."""
    findings = sorted([*triggers(feed, measures), *conditions(feed, measures)], key=lambda one: not one.rejects)
    reasons = tuple(one.text for one in findings)
    if any(one.rejects for one in findings):
        return Verdict(REJECTED, reasons)
    return Verdict(LIMITED, reasons) if findings else Verdict(DEFENSIBLE, ("Meets every condition of source time.",))


def triggers(feed: Feed, measures: Measures) -> Iterator[Finding]:
    """Section 12.5.6: what makes entity history from this feed indefensible."""
    if feed.promised("key") is None:
        yield Finding(True, "No stable business key is promised (12.3.3).")
    for text in beyond(feed, measures, KEYS):
        yield Finding(True, f"The business key does not hold (12.3.3): {text}")
    if feed.promised("load_type") is None:
        yield Finding(True, "Whether a record is whole or partial is not promised (12.3.2).")
    if feed.promised("omitted_fields") is None:
        yield Finding(True, "What an omitted field means is not promised (12.3.2).")
    if not feed.all_promised("deletes"):
        yield Finding(True, "How a delete shows is not promised (12.3.4).")
    if lacks_source_time(feed, measures) and feed.promised("fallback") is None:
        yield Finding(
            True, "No source time can be relied on, and nothing promises that arrival may stand for it (12.5.6)."
        )


def conditions(feed: Feed, measures: Measures) -> Iterator[Finding]:
    """Section 12.2.2: what leaves arrival as the only time to go by."""
    if feed.promised("source_time") is None:
        yield Finding(False, "No reliable source time is promised (12.2.2).")
    for text in beyond(feed, measures, TIMES):
        yield Finding(False, f"The source time does not hold (12.2.2): {text}")
    if feed.promised("extracts") is None:
        yield Finding(False, "Extracts may be unordered or lossy (12.2.2).")
    for text in beyond(feed, measures, ORDER):
        yield Finding(False, f"The extract is unordered (12.2.2): {text}")
    if feed.promised("load_type") == "snapshot" and feed.promised("source_time") != "as_of":
        yield Finding(False, "Snapshots have no as-of time to trust (12.2.2).")
    if feed.sequence_field and feed.promised("sequence") is None:
        yield Finding(False, f"The sequence in {feed.sequence_field} is not promised (12.2.2).")


def lacks_source_time(feed: Feed, measures: Measures) -> bool:
    return feed.promised("source_time") is None or any(True for _ in beyond(feed, measures, TIMES))


def beyond(feed: Feed, measures: Measures, names: tuple[str, ...]) -> Iterator[str]:
    """Each measure that is beyond the limit that the contract sets, in words; what was not measured is not."""
    for name in names:
        limit, measured = feed.promised(f"most_{name}"), measures.get(name)
        if limit is not None and measured is not None and measured > float(limit):
            form = ".1%" if name in SHARES else "g"
            yield f"{name} is {measured:{form}}, more than {float(limit):{form}}."
