"""Checks of what is about to land, by `seeds/partition_checks.csv`: they advise, or mark a landing before it counts.

A check limits one measure of a landing, as a number or as a multiple of what is usual: the median of the feed's
last landings that nobody marked. A landing that breaks an enforcing check is marked first and committed then, so no
build ever sees it unmarked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from attest.alerts import Alert, raise_alert
from attest.contract import Feed, nearest, rows_of
from attest.delivery import Landing
from attest.errors import ContractError
from attest.landing_rows import CONTROL
from attest.logs import LANDING
from attest.marks import BY_CHECK, Word, read_marks, set_marks
from attest.project import Project
from attest.record import ACCEPTED, QUARANTINED

COLUMNS = ("feed", "measure", "field", "least", "most", "of", "action", "reason")
NUMBER = re.compile(r"-?[0-9]{1,15}([.][0-9]{1,9})?")
ITSELF, USUAL = "itself", "usual"
ADVISE, MARK = "advise", "mark"
LAST, ENOUGH = 10, 3
WHO = "attest check"


# Of the whole landing, and of one field of it.
OF_LANDING = ("records", "quarantined", "keys", "missing_key", "repeated_key", "unknown_field")
OF_FIELD = ("absent", "null", "distinct", "mean")


def measure_landing(measure: str, feed: Feed) -> Column:
    """How many records and entities there are, and what share of the records has something wrong."""
    is_accepted = F.col("status") == ACCEPTED
    keys = F.count_distinct(F.when(is_accepted, F.struct(*[field_value(name) for name in feed.key_fields])))
    if measure == "records":
        return F.count("*")
    if measure == "keys":
        return keys
    if measure == "repeated_key":
        return 1 - keys / F.nullif(F.count_if(is_accepted), F.lit(0))
    if measure == "quarantined":
        return F.count_if(F.col("status") == QUARANTINED) / F.count("*")
    return F.count_if(F.col("quarantine_reason").eqNullSafe(F.lit(measure))) / F.count("*")


def measure_field(measure: str, name: str) -> Column:
    """How many accepted records lack the field or say null, and what values it has."""
    is_accepted, has_it = F.col("status") == ACCEPTED, F.map_contains_key("fields", name)
    value = F.when(is_accepted, field_value(name))
    if measure == "absent":
        return F.count_if(is_accepted & ~has_it) / F.nullif(F.count_if(is_accepted), F.lit(0))
    if measure == "null":
        said = is_accepted & has_it
        return F.count_if(said & field_value(name).isNull()) / F.nullif(F.count_if(said), F.lit(0))
    return F.count_distinct(value) if measure == "distinct" else F.avg(value.try_cast("double"))


def field_value(name: str) -> Column:
    return F.element_at("fields", F.lit(name))


@dataclass(frozen=True)
class Check:
    """A limit that a landing keeps, or somebody is told."""

    measure: str
    field: str
    least: float | None
    most: float | None
    of: str
    action: str
    reason: str

    @property
    def name(self) -> str:
        return f"{self.measure} of {self.field}" if self.field else self.measure

    def measured(self, feed: Feed) -> Column:
        return measure_field(self.measure, self.field) if self.field else measure_landing(self.measure, feed)

    def broken_by(self, found: float | None, usual: Sequence[float]) -> str | None:
        """In words, how the landing breaks it; what cannot be measured, or compared with anything, does not."""
        if found is None or (self.of == USUAL and len(usual) < ENOUGH):
            return None
        base = median(usual) if self.of == USUAL else 1.0
        for limit, is_beyond, word in (
            (self.least, self.least is not None and found < self.least * base, "less"),
            (self.most, self.most is not None and found > self.most * base, "more"),
        ):
            if is_beyond:
                than = f"{limit:g} times the usual {base:g}" if self.of == USUAL else f"{limit:g}"
                return f"{self.name} is {found:g}, {word} than {than}: {self.reason}"
        return None


def read_checks(path: Path, feeds: Mapping[str, Feed]) -> dict[str, list[Check]]:
    """The checks of each feed, every row looked at."""
    found: dict[str, list[Check]] = {}
    for where, row in rows_of(path, needed=COLUMNS):
        if row["feed"] not in feeds:
            raise ContractError(f"{where}: {row['feed']!r} is no feed of feeds.csv.{nearest(row['feed'], feeds)}")
        check = to_check(row, feeds[row["feed"]], where=where)
        of_feed = found.setdefault(row["feed"], [])
        if any((one.measure, one.field, one.of) == (check.measure, check.field, check.of) for one in of_feed):
            raise ContractError(f"{where}: {check.name} of {row['feed']} is checked already. Keep one of the two.")
        of_feed.append(check)
    return found


def to_check(row: Mapping[str, str], feed: Feed, *, where: str) -> Check:
    measure, name = row["measure"], row["field"]
    if measure not in (*OF_LANDING, *OF_FIELD):
        raise ContractError(
            f"{where}: nothing called {measure!r} is measured.{nearest(measure, (*OF_LANDING, *OF_FIELD))}"
        )
    if measure in OF_FIELD and name not in feed.fields:
        raise ContractError(f"{where}: {measure} is of a field, and {feed.name} has none called {name!r}.")
    if name and measure in OF_LANDING:
        raise ContractError(f"{where}: {measure} is of the whole landing. Leave field empty.")
    for limit in ("least", "most"):
        if row[limit] and not NUMBER.fullmatch(row[limit]):
            raise ContractError(f"{where}: {limit} is {row[limit]!r}, no number. Write one such as 0.05 or 100.")
    least, most = (float(row[limit]) if row[limit] else None for limit in ("least", "most"))
    if least is None and most is None:
        raise ContractError(f"{where}: neither least nor most is given, so nothing is checked. Give one.")
    if least is not None and most is not None and least > most:
        raise ContractError(f"{where}: least is {least:g}, more than most, {most:g}. No landing could keep to that.")
    for column, choices in (("of", (ITSELF, USUAL)), ("action", (ADVISE, MARK))):
        if row[column] not in choices:
            raise ContractError(f"{where}: {column} is {row[column]!r}, not {' or '.join(choices)}.")
    if not row["reason"]:
        raise ContractError(f"{where}: {measure} has no reason. Say why a landing has to keep to it.")
    return Check(measure, name, least, most, row["of"], row["action"], row["reason"])


@dataclass
class Inspector:
    """Looks at each landing of a call between its staging and its commit, and remembers which it marked."""

    spark: SparkSession
    project: Project
    feed: Feed
    checks: Sequence[Check]
    marked: list[str] = field(default_factory=list)

    def __call__(self, landing: Landing) -> None:
        if not self.checks or not landing.parts:
            return
        broken = self.broken(landing)
        for check, text in broken:
            kind = "check" if check.action == MARK else "advice"
            raise_alert(self.spark, self.project.schema, Alert(kind, self.feed.name, landing.landing_id, text))
        enforced = [text for check, text in broken if check.action == MARK]
        if enforced:
            word = Word(WHO, "; ".join(enforced), BY_CHECK)
            set_marks(self.spark, self.project, self.feed.name, [landing.landing_id], word, stops_landing=True)
            self.marked.append(landing.landing_id)

    def broken(self, landing: Landing) -> list[tuple[Check, str]]:
        columns = [one.measured(self.feed).alias(f"m{number}") for number, one in enumerate(self.checks)]
        staged = self.spark.read.schema(LANDING).parquet(*map(str, landing.parts))
        found: Any = staged.where(F.col("status") != CONTROL).agg(*columns).first()
        usual = self.usual(columns) if any(one.of == USUAL for one in self.checks) else []
        told = []
        for number, check in enumerate(self.checks):
            before = [row[f"m{number}"] for row in usual if row[f"m{number}"] is not None]
            text = check.broken_by(found[f"m{number}"], before)
            told += [(check, text)] if text is not None else []
        return told

    def usual(self, columns: Sequence[Column]) -> list[Any]:
        """The same measures of the last landings that nobody marked."""
        landed = self.spark.table(f"{self.project.schema}.landing_{self.feed.name}")
        marked = read_marks(self.spark, self.project).where(
            (F.col("feed") == self.feed.name) & F.col("cleared_at").isNull()
        )
        bad = {row.partition for row in marked.select("partition").collect()}
        manifests = landed.where((F.col("status") == CONTROL) & F.col("released_from").isNull())
        told = manifests.select("landing_id", "recorded_at").orderBy(F.desc("recorded_at")).limit(LAST + len(bad))
        last = [row.landing_id for row in told.collect() if row.landing_id not in bad][:LAST]
        records: DataFrame = landed.where(F.col("landing_id").isin(last) & (F.col("status") != CONTROL))
        return records.groupBy("landing_id").agg(*columns).collect() if last else []


def inspector_of(spark: SparkSession, project: Project, feed: Feed, feeds: Mapping[str, Feed]) -> Inspector:
    checks = read_checks(project.root / "seeds" / "partition_checks.csv", feeds).get(feed.name, [])
    return Inspector(spark, project, feed, checks)
