"""What a materialization asks the package for, and what it is told when that is done."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession

from attest.commits import view_text
from attest.news import Lineage
from attest.states import WHOLE_STATE
from attest.write import Table, Written


@dataclass(frozen=True)
class Order:
    """A model, where its news may come from, and how it is to be written; macros/materializations explains each."""

    materialized: str
    table: Table
    code: str
    logs: Sequence[str]
    inputs: Sequence[str]
    references: Sequence[str]
    views: Sequence[str]
    others: Sequence[str] = ()
    is_python: bool = False
    full_refresh: bool = False
    only_news: str = ""
    new_by: str | None = None
    touched_by: str | None = None
    touched_on: Mapping[str, str] = field(default_factory=dict)
    found_by: Mapping[str, str] = field(default_factory=dict)
    idle_without: Mapping[str, str] = field(default_factory=dict)
    only_with: str | None = None
    rebuild: Sequence[str] = ()
    turns_at: str | None = None

    @staticmethod
    def read(text: str) -> Order:
        said = json.loads(text)
        return Order(**{**said, "table": Table(**said["table"])})

    @property
    def key(self) -> str:
        assert self.table.key is not None
        return self.table.key

    @property
    def is_log(self) -> bool:
        """Rows are only ever added to it."""
        return self.materialized in ("append_only", "journal")

    @property
    def is_compared(self) -> bool:
        """It is computed whole and written where it differs."""
        return self.materialized == "by_difference"

    @property
    def is_by_key(self) -> bool:
        return self.materialized == "replace_by_key"

    @property
    def tells_changes(self) -> bool:
        """Its readers learn from a change feed which keys it wrote anew."""
        return self.table.properties.get("delta.enableChangeDataFeed") == "true"

    @property
    def named(self) -> Sequence[str]:
        """The keys that somebody wants rebuilt, news or not."""
        return self.rebuild if self.is_by_key else ()

    @property
    def whole_code(self) -> str:
        return self.code.replace(self.only_news, "") if self.only_news else self.code

    @property
    def cut_to_news(self) -> list[str]:
        """The relations that the model reads with_news."""
        return list(dict.fromkeys(re.findall(rf"(\S+){re.escape(self.only_news)}", self.code)))

    @property
    def looked_up(self) -> list[str]:
        """The logs that the model reads whole: their news are no keys of its own."""
        whole = set(self.logs) - set(self.cut_to_news)
        return [log for log in whole if re.search(rf"{re.escape(log)}(?![\w`])", self.code)]

    def lineage(self, *, definition: str) -> Lineage:
        everywhere = self.touched_by is not None or self.is_compared
        somewhere = list(self.touched_on) if self.is_by_key else []
        return Lineage(
            self.logs, self.inputs, self.references, definition, list(self.references) if everywhere else somewhere
        )

    def definition(self, spark: SparkSession) -> str:
        """What a table is computed by: its code, this package's where that has a part, and the views that it reads."""
        parts = [self.code, [view_text(spark, view) for view in self.views], self.tells_changes]
        if self.is_python or f"{WHOLE_STATE}(" in self.code:
            parts.append(package_sum())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Outcome:
    """What dbt prints and the ledger of runs keeps; `wrote` is none where there was nothing to commit."""

    message: str
    wrote: Written | None = None
    keys: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    @property
    def rows(self) -> int:
        return self.wrote.rows if self.wrote else 0


@cache
def package_sum() -> str:
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
