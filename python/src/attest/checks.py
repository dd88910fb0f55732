"""Data tests that passed on exactly the data that is there now, so that a build need not ask again.

What a test reads is told by exact table versions and view texts, and what it asks by its
SQL. The sum of both is kept in the note of the ledger's newest commit when it passes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from attest.commits import commits, view_text
from attest.news import Note, standing
from attest.write import NOTE


@dataclass
class Known:
    """What one invocation of dbt has learnt: many tests read the same tables, and none comes before these are built."""

    invocation: str = ""
    asked: dict[str, str] = field(default_factory=dict)
    passed: dict[str, str] | None = None
    states: dict[str, str | None] = field(default_factory=dict)


_known = Known()


def has_passed(spark: SparkSession, *, test: str, sql: str, reads: Sequence[str], ledger: str, invocation: str) -> bool:
    """Whether the ledger knows that this test passed on this data; remembers what it was asked on."""
    global _known  # noqa: PLW0603  # a process has one
    if _known.invocation != invocation:
        _known = Known(invocation)
    known = _known
    known.states |= {name: state(spark, name) for name in set(reads) - known.states.keys()}
    found = [known.states[name] for name in sorted(reads)]
    if None in found:
        return False  # a table that is no Delta table, whose versions nobody knows
    known.asked[test] = hashlib.sha256(json.dumps([sql, found]).encode()).hexdigest()[:32]
    if known.passed is None:
        known.passed = passed(spark, ledger)
    return known.passed.get(test) == known.asked[test]


def remember(spark: SparkSession, *, tests: Iterable[str], ledger: str) -> None:
    """Let the next commit of this session, the ledger's, say which tests passed."""
    now = {test: _known.asked[test] for test in tests if test in _known.asked}
    spark.conf.set(NOTE, Note("ledger", seen=passed(spark, ledger) | now).to_json())


def passed(spark: SparkSession, ledger: str) -> dict[str, str]:
    found = standing(spark, ledger)
    return dict(found.note.seen) if found is not None and found.note is not None else {}


def state(spark: SparkSession, name: str) -> str | None:
    """A view's text, or a Delta table's newest commit."""
    text = view_text(spark, name)
    if text is not None:
        return f"{name}: {text}"
    commit = next(commits(spark, name), None)
    return f"{name}: {commit[0]} {commit[1].get('txnId')}" if commit is not None else None
