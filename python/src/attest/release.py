"""Land again what a contract did not let through, once it would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest.captures import from_micros
from attest.contract import Feed
from attest.delivery import Landing, new_delivery
from attest.errors import LandingError
from attest.formats import Row
from attest.gate import REJECTED
from attest.land import commit, files_of, manifests, staging_folder, with_new_schemas
from attest.landing_rows import CONTROL
from attest.measure import Tally
from attest.record import ACCEPTED, NOTICE, QUARANTINED
from attest.stage import FORMATS, Source, stage


class Held(NamedTuple):
    """A landing of which some records reached no timeline."""

    landing_id: str
    arrived_at: datetime
    as_of: datetime
    records: int


def held_landings(spark: SparkSession, table: str, *, landing_id: str | None = None) -> list[Held]:
    """The landings, oldest first, with records that are held and were not released yet."""
    if not spark.catalog.tableExists(table):
        raise LandingError(f"{table} is not there, so nothing is held. Land the feed first, or check its name.")
    landed = spark.table(table)
    if landing_id is not None:
        landed = landed.where(F.col("landing_id") == landing_id)
    told = manifests(spark, table).select(
        "landing_id", F.unix_micros("ingest_ts").alias("arrived"), F.unix_micros("source_event_ts").alias("as_of")
    )
    held = held_records(spark, landed, table)
    if landing_id is None:  # what was a notice is one, unless somebody asks of this very landing
        held = held.where(F.col("status") != NOTICE)
    counted = held.groupBy("landing_id").agg(F.count("*").alias("records"))
    found = counted.join(told, on="landing_id").orderBy("landing_id").collect()
    return [Held(row.landing_id, from_micros(row.arrived), from_micros(row.as_of), row.records) for row in found]


def release(spark: SparkSession, *, feed: Feed, table: str, held: Held) -> Landing:
    """Land again, with their own arrival, the records of one landing that its contract did not let through.

    Only what can be read now is landed, and only if the gate lets it through: the rest stays where it is.
    """
    delivery = replace(new_delivery(arrived_at=held.arrived_at), released_from=held.landing_id)
    if feed.promised("source_time") == "as_of":
        delivery = replace(delivery, as_of=held.as_of)
    with staging_folder(spark, table, delivery) as folder:
        landing = with_new_schemas(spark, table, stage(folder, feed, read_held(spark, table, held, feed), delivery))
        if landing.verdict is None or landing.verdict.name == REJECTED:
            return replace(landing, tally=Tally())
        commit(spark, table, folder, [landing])
    return landing


def read_held(spark: SparkSession, table: str, held: Held, feed: Feed) -> Iterator[Source]:
    """What is held of a landing, by file, less what still cannot be read."""
    landed = spark.table(table).where(F.col("landing_id") == held.landing_id)
    [manifest] = manifests(spark, table).where(F.col("landing_id") == held.landing_id).select("record").collect()
    abouts = {file["path"]: file["about"] for file in files_of(manifest.record)}
    readable = ~F.col("quarantine_reason").eqNullSafe(F.lit("not_utf8"))  # what was kept of those is not what was meant
    rows = held_records(spark, landed, table).where(readable).orderBy("source_path", "source_record").toLocalIterator()
    again = FORMATS[feed.format].again
    for path, of_file in groupby(rows, key=lambda row: row["source_path"]):
        read: Iterator[Row] = (again(row["source_record"], row["record"], feed, abouts[path]) for row in of_file)
        yield Source(Path(path), (row for row in read if row.reason is None), abouts[path])


def held_records(spark: SparkSession, landed: DataFrame, table: str) -> DataFrame:
    """Records that were not released since: in quarantine, landed while the gate rejected the feed, or a notice."""
    status = F.col("status")
    is_held = status.isin(QUARANTINED, NOTICE) | ((status == ACCEPTED) & (F.col("verdict") == REJECTED))
    place = ["source_path", "source_record"]
    released = spark.table(table).where(F.col("released_from").isNotNull() & (F.col("status") != CONTROL))
    released = released.select(F.col("released_from").alias("landing_id"), *place)
    columns = ("landing_id", *place, "record", "status", "quarantine_reason")
    return landed.where(is_held).select(*columns).join(released, on=["landing_id", *place], how="left_anti")
