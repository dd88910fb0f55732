"""The strategies without dbt: what the materialization orders, rendered by plain Jinja, and carried out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any

from attest.macros import engine_files, module_of, template_of
from attest.order import Outcome
from attest.strategies import process
from engine import ROOT
from jinja2 import Template
from pyspark.sql import SparkSession

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Refused(Exception):
    """What dbt would stop with before anything is computed."""


@cache
def materialization() -> Template:
    return template_of([*engine_files(ROOT), ROOT / "macros/materializations/process_slice.sql"])


@dataclass
class Model:
    """A model of one strategy, and the table that it keeps."""

    spark: SparkSession
    strategy: str
    config: Mapping[str, Any]
    schema: str = "strategies"
    name: str = "offices"
    variables: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> str:
        return f"{self.schema}.{self.name}"

    def order(self, slice_: str, **variables: Any) -> str:
        """The order as the materialization gives it to the package."""
        config = {"materialized": self.strategy, **self.config}
        given = SimpleNamespace(get=config.get, require=config.__getitem__)
        there = self.spark.catalog.tableExists(self.table)
        orders: list[str] = []

        def keep(value: Any) -> str:
            orders.append(json.dumps(value))
            return orders[-1]

        fakes = {
            "config": given,
            "model": SimpleNamespace(name=self.name),
            "this": Relation(self.table),
            "load_cached_relation": lambda _: SimpleNamespace(is_view=False) if there else None,
            "run_query": lambda query: SimpleNamespace(rows=self.spark.sql(query).collect()),
            "var": variables.get,
            "run_started_at": NOW,
            "declared_table": lambda: {
                "name": self.table,
                "partition_by": config.get("partition_by", []),
                "properties": {},
            },
            "tojson": keep,
            "exceptions": SimpleNamespace(raise_compiler_error=refuse),
        }
        module_of(materialization(), **fakes).process_slice(slice_)
        return orders[0]

    def take(self, slice_: str, at: str | None = None, *, meant: bool = False) -> Outcome:
        """Process a slice, as it would be at an instant."""
        given: dict[str, Any] = {"processing_time": at} if at is not None else {}
        return process(self.spark, self.order(slice_, **given, meant=[self.name] if meant else []))

    def rows(self, *columns: str, where: str = "true") -> list[tuple[Any, ...]]:
        found = self.spark.table(self.table).where(where).selectExpr(*columns)
        return sorted((tuple(row) for row in found.collect()), key=str)


class Relation(str):
    """A relation as dbt gives it to a materialization."""

    __slots__ = ()

    def render(self) -> str:
        return str(self)


def refuse(message: str) -> None:
    raise Refused(message)


def values(columns: str, rows: Iterable[tuple[Any, ...]]) -> str:
    """A slice as SQL: `columns` as in DDL."""
    declared = [column.split(" ", 1) for column in columns.split(", ")]
    cast = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in declared)
    names = ", ".join(name for name, _ in declared)
    told = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    if not told:
        return f"select {', '.join(f'cast(null as {kind}) as {name}' for name, kind in declared)} where false"
    return f"select {cast} from values {told} as slice ({names})"


def literal(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool | int | float) else "'" + str(value).replace("'", "\\'") + "'"
