"""Views that a build need not make again, because they would be the same.

Spark keeps with a view the columns that it had when it was made. So a view is made of its
statement and of what each relation that it reads looked like then: the columns of a table, and
of a view what that is made of. The sum of both is a property of the view.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from pyspark.sql import SparkSession

from attest.commits import described, location_of, snapshot, text_of

MADE_OF = "attest.made_of"


def made_of(spark: SparkSession, *, statement: str, reads: Iterable[str]) -> str:
    seen = [looks(spark, name) for name in sorted(reads)]
    return hashlib.sha256(json.dumps([statement, seen]).encode()).hexdigest()[:32]


def looks(spark: SparkSession, name: str) -> str | None:
    """What a view that reads this relation depends on; None where it is not there."""
    found = described(spark, name)
    if found is None:
        return None
    text = text_of(found)
    if text is not None:
        return property_of(found) or text + str(found.schema().json())
    if found.provider().isDefined() and found.provider().get() == "delta":
        return str(snapshot(spark, str(location_of(found))).metadata().schemaString())
    return str(found.schema().json())


def is_made(spark: SparkSession, *, view: str, text: str, of: str) -> bool:
    """Whether the view is there, selects this, and was made of that."""
    found = described(spark, view)
    return found is not None and text_of(found) == text.strip() and property_of(found) == of


def property_of(view: object) -> str | None:
    found = view.properties().get(MADE_OF)  # type: ignore[attr-defined]  # a class of the JVM
    return str(found.get()) if found.isDefined() else None
