"""Land a feed as it comes, by Structured Streaming: every micro-batch is one landing, and no more than that.

The stream only lands; what is true is built by `dbt build`, from what landed. A batch has one run and one arrival,
both kept in the checkpoint: a batch that is done again after a crash is a retry, and lands nothing twice.
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from attest.captures import from_micros
from attest.contract import Feed
from attest.delivery import Delivery, Landing, new_delivery, trusted
from attest.errors import LandingError, StreamError
from attest.files import refuse_bad_files
from attest.formats import Row, read_line
from attest.land import Landed, land_rows, land_what_can_be, manifests
from attest.project import read_yaml, render
from attest.stage import Source

FILES = "files"
FILE_COLUMNS = "path string, modificationTime timestamp, length bigint, content binary"
# By default Spark passes over files that are a week older than the newest: here, nothing is ever passed over.
FILE_OPTIONS = {"maxFileAge": "36500d", "maxFilesPerTrigger": "1000"}
ARRIVED = "attest_arrived_at"
UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
DURATION = re.compile(r"([0-9]{1,6}) *(second|minute|hour|day|week)s?")


@dataclass(frozen=True)
class Stream:
    """What to read, where to remember how far, and what to do between batches."""

    feed: Feed
    table: str
    checkpoint: str
    path: str | None = None
    source: str = FILES
    options: Mapping[str, str] | None = None
    watermark: timedelta | None = None
    every: float | None = None
    inspect: Callable[[Landing], None] = trusted


@dataclass(frozen=True)
class Batch:
    """What one micro-batch landed, and what of it could not be."""

    number: int
    landed: Landed


def read_options(file: Path) -> dict[str, str]:
    """A source's options from a YAML file; secrets come from the environment, by `env_var`, as in a profile."""
    found = render(read_yaml(file, remedy="Name a file of options for the source."), file)
    return {str(name): str(value).lower() if isinstance(value, bool) else str(value) for name, value in found.items()}


def read_duration(text: str) -> timedelta:
    match = DURATION.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r} is no duration, such as '7 days' or '12 hours'")
    return timedelta(seconds=int(match[1]) * UNITS[match[2]])


def follow(spark: SparkSession, stream: Stream, *, after: Callable[[Batch], None]) -> None:
    """Land batch after batch until the source is done, or for ever where `every` is set; `after` is called in between.

    Batches are landed by Spark's thread, and `after` is called by this one, for dbt wants to be in the main thread.
    """
    done: queue.Queue[tuple[Batch, threading.Event] | None] = queue.Queue()
    over = threading.Event()

    def work(rows: DataFrame, number: int) -> None:
        batch = land_batch(spark, stream, rows, number=number, query=query_id(rows))
        told = threading.Event()
        done.put((batch, told))
        while not told.wait(timeout=0.2):
            if over.is_set():
                raise StreamError(f"batch {number} landed, and what should have followed did not")

    query = begin(spark, stream, work)
    threading.Thread(target=tell_when_over, args=(query, done), daemon=True).start()
    try:
        while (landed := done.get()) is not None:
            batch, told = landed
            after(batch)
            told.set()
    finally:
        over.set()
        query.stop()
    problem = query.exception()
    if problem is not None:
        raise StreamError(f"{stream.feed.name}: the stream stopped: {reason_of(problem)}")


def begin(spark: SparkSession, stream: Stream, work: Callable[[DataFrame, int], None]) -> StreamingQuery:
    try:
        writer = source_of(spark, stream).writeStream.foreachBatch(work).option("checkpointLocation", stream.checkpoint)
        if stream.every is None:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{stream.every} seconds").start()
    except (PySparkException, Py4JJavaError) as error:
        raise StreamError(f"{stream.feed.name}: {stream.source} cannot be read: {reason_of(error)}") from None


def source_of(spark: SparkSession, stream: Stream) -> DataFrame:
    """What arrives, with the time of its batch, which the checkpoint keeps: a batch done again arrived when it did."""
    arrived = F.current_timestamp().alias(ARRIVED)
    options = dict(stream.options or {})
    if stream.source == FILES:
        if stream.path is None or not Path(stream.path).is_dir():
            raise StreamError(f"{stream.path} is no folder. Name one into which the feed's files are moved, whole.")
        reader = spark.readStream.format("binaryFile").schema(FILE_COLUMNS).options(**{**FILE_OPTIONS, **options})
        # Where this process is: Spark would look where its own began.
        return reader.load(str(Path(stream.path).absolute())).select("path", "modificationTime", arrived)
    reader = spark.readStream.format(stream.source).options(**options)
    rows = reader.load(stream.path) if stream.path else reader.load()
    if "value" not in rows.columns:
        raise StreamError(
            f"{stream.feed.name}: {stream.source} has {', '.join(rows.columns)}, and a record is read from a column "
            "called value. Choose another source, or a view of this one that has it."
        )
    return rows.select(*received(rows, stream), arrived)


def received(rows: DataFrame, stream: Stream) -> list[Column]:
    """Where each message stood and what it was: of change events all of it, for the key and headers matter."""
    held = set(rows.columns)
    topic = F.concat_ws("/", *[F.col(name).cast("string") for name in ("topic", "partition") if name in held])
    place = F.concat(F.lit(stream.source), F.lit("/"), topic) if "topic" in held else F.lit(stream.source)
    number = F.col("offset").cast("bigint") if "offset" in held else F.lit(None).cast("bigint")
    value = F.col("value").cast("binary")
    text = F.coalesce(value.cast("string"), F.lit("null"))
    if stream.feed.format == "debezium":
        about = [F.col(name) for name in ("topic", "partition", "offset") if name in held]
        about += [F.col("key").cast("string").alias("key")] if "key" in held else []
        if "headers" in held:
            pairs = F.transform("headers", lambda one: F.struct(one["key"], one["value"].cast("string")))
            about.append(F.map_from_entries(pairs).alias("headers"))
        text = F.to_json(F.struct(*about, value.cast("string").alias("value")), {"ignoreNullFields": "false"})
    is_text = F.coalesce(F.is_valid_utf8(value.cast("string")), F.lit(True))
    record = F.when(is_text, text.cast("binary")).otherwise(value)
    return [place.alias("source_path"), number.alias("source_record"), record.alias("record")]


def land_batch(spark: SparkSession, stream: Stream, rows: DataFrame, *, number: int, query: str) -> Batch:
    """One batch as one landing: its run is named after the query and the batch, so that doing it again is a retry."""
    first = rows.select(F.unix_micros(ARRIVED)).first()
    if first is None:
        return Batch(number, Landed([]))
    arrived_at = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=first[0])
    run_id = f"{arrived_at:%Y%m%dT%H%M%S.%fZ}-{query}-{number:09}"
    delivery = new_delivery(run_id=run_id, arrived_at=arrived_at)
    delivery = replace(delivery, not_before=watermark_of(spark, stream), inspect=stream.inspect)
    if stream.source == FILES:
        paths = [local(row.path) for row in rows.orderBy("modificationTime", "path").select("path").collect()]
        return Batch(number, land_files(spark, stream, paths, delivery))
    places = [row[0] for row in rows.select("source_path").distinct().orderBy("source_path").collect()]
    sources = [Source(PurePath(place), messages(rows, place, stream.feed), {}) for place in places]
    landed = land_rows(spark, feed=stream.feed, table=stream.table, sources=sources, delivery=delivery)
    return Batch(number, landed)


def land_files(spark: SparkSession, stream: Stream, paths: Sequence[Path], delivery: Delivery) -> Landed:
    """One bad file stops no other: it is named, and the batch goes on without it."""
    refused: list[LandingError] = []
    good: list[Path] = []
    for path in paths:
        try:
            refuse_bad_files([path])
            good.append(path)
        except LandingError as error:
            refused.append(error)
    if not good:
        return Landed([], refused)
    landed = land_what_can_be(spark, feed=stream.feed, table=stream.table, paths=good, delivery=delivery)
    return Landed(landed.landings, [*refused, *landed.refused])


def messages(rows: DataFrame, place: str, feed: Feed) -> Iterator[Row]:
    """A topic's messages by their offsets; where a source has none, by their text, which is the same at every try."""
    of_place = rows.where(F.col("source_path") == place).orderBy("source_record", "record")
    told = of_place.select("source_record", "record").toLocalIterator()
    for count, row in enumerate(told, start=1):
        number = count if row["source_record"] is None else row["source_record"]
        yield read_line(number, bytes(row["record"]), feed)


def watermark_of(spark: SparkSession, stream: Stream) -> datetime | None:
    """The newest source time landed so far less what the operator allows; before anything landed, there is none."""
    if stream.watermark is None or not spark.catalog.tableExists(stream.table):
        return None
    at = F.get_json_object("record", "$.newest_source_time").cast("timestamp")
    newest = manifests(spark, stream.table).agg(F.max(at).alias("at"))
    found: Any = newest.select(F.unix_micros("at")).first()
    if found is None or found[0] is None:
        return None
    reached: datetime = from_micros(found[0])
    return reached - stream.watermark


def local(uri: str) -> Path:
    if not uri.startswith("file:"):
        raise StreamError(f"{uri} is no file of this machine. Mount its folder here, and name the mount.")
    return Path("/" + uri.removeprefix("file:").lstrip("/"))


def query_id(rows: DataFrame) -> str:
    """What the checkpoint calls the query, from its beginning to its end."""
    return str(rows.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId"))[:8]


def tell_when_over(query: StreamingQuery, done: queue.Queue[Any]) -> None:
    try:
        query.awaitTermination()
    except PySparkException:
        pass  # the query keeps it, and `follow` asks for it
    finally:
        done.put(None)


def reason_of(error: Exception) -> str:
    """The message that matters: Spark wraps the package's own in a page of Java."""
    own = re.search(r"attest\.errors\.\w+: ([^\n]*)", str(error))
    return own[1] if own else str(error).split("\n", 1)[0][:500]
