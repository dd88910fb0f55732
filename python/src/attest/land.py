"""Land what was staged: every record of it, as received, in one commit, or none.

A landing table has one row a record: the record itself, its fields as its contract reads
them, where it came from and when, and what became of it (`status`). One more row a landing
(`control`) holds its manifest: counts, measures, and the gate's verdict on all of it.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from attest import write
from attest.captures import Capture, find_captures, verified, with_sums
from attest.commits import location
from attest.contract import FULL, INCREMENTAL, Feed
from attest.delivery import Delivery, Landing, Quarantined, Snapshot, new_delivery
from attest.errors import LandingError
from attest.event_values import columns_of, what_changed
from attest.files import found, whole_name
from attest.formats import sum_of
from attest.gate import Verdict
from attest.kept import STAGING as STAGED_IN
from attest.landing_rows import CONTROL
from attest.ledger import PENDING, Accepted, decide, facts
from attest.logs import LANDING, ensure_log
from attest.measure import Tally
from attest.news import Note, standing
from attest.stage import SHOWN, Say, Source, read_files, silent, stage
from attest.write import Table

STAGING = "ATTEST_STAGING"
ROUNDS, CAPTURES_BETWEEN = 100, 100


@dataclass(frozen=True)
class Landed:
    """What one call landed, and which files it could not."""

    landings: Sequence[Landing]
    refused: Sequence[LandingError] = ()

    @property
    def landing_id(self) -> str:
        return self.landings[0].landing_id

    @property
    def records(self) -> int:
        return sum(one.records for one in self.landings)

    @property
    def quarantined(self) -> Counter[str]:
        return sum((one.quarantined for one in self.landings), Counter())

    @property
    def first_quarantined(self) -> Sequence[Quarantined]:
        return [row for one in self.landings for row in one.first_quarantined][:SHOWN]

    @property
    def verdict(self) -> Verdict | None:
        return self.landings[-1].verdict if self.landings else None


def land(
    spark: SparkSession,
    *,
    feed: Feed,
    table: str,
    paths: Sequence[Path],
    delivery: Delivery,
    say: Say = silent,
) -> Landed:
    """Land files, and all files of folders, in one commit; if there is nothing in them to land, that is an error."""
    landed = land_what_can_be(spark, feed=feed, table=table, paths=paths, delivery=delivery, say=say)
    if landed.refused and not landed.landings:
        raise LandingError("\n".join(map(str, landed.refused)))
    return landed


def land_what_can_be(
    spark: SparkSession,
    *,
    feed: Feed,
    table: str,
    paths: Sequence[Path],
    delivery: Delivery,
    say: Say = silent,
) -> Landed:
    """The same, and what cannot be landed is named. What the same run landed before is left out: a retry.

    Files that appear in a folder meanwhile land in a commit of their own, until none does.
    """
    refuse_idle_claims(feed, delivery)
    ensure_log(spark, Table(table, description="One row a received record, as received."), LANDING)
    if feed.format == "capture":
        return land_captures(spark, feed, table, paths, delivery, say)
    before = landed_by_run(spark, table, delivery)
    landings: list[Landing] = []
    refused: dict[str, LandingError] = {}
    seen: set[str] = set()
    for _ in range(ROUNDS):
        files, wrong = found(paths if not seen else [path for path in paths if path.is_dir()])
        news = [path for path in files if whole_name(path) not in seen]
        wanted, changed = unless_landed(news, before)
        refused.update({str(error): error for error in [*wrong, *changed]})
        if wanted:
            sources = read_files(wanted, feed)
            landing = land_sources(spark, feed, table, sources, next_delivery(delivery, landings), say)
            landings += [landing] if landing.verdict is not None else []
            refused.update({str(error): error for error in landing.refused})
        if not news:
            break
        seen.update(map(whole_name, news))
    if not seen and not refused:
        raise LandingError(f"{paths[0]} holds no file. Nothing was landed; check its name.")
    return Landed(landings, list(refused.values()))


def land_rows(spark: SparkSession, *, feed: Feed, table: str, sources: Sequence[Source], delivery: Delivery) -> Landed:
    """Land what is in no file, such as a topic's messages; what the same run landed before is left out."""
    refuse_idle_claims(feed, delivery)
    ensure_log(spark, Table(table, description="One row a received record, as received."), LANDING)
    before = landed_by_run(spark, table, delivery)
    new = [source for source in sources if whole_name(source.path) not in before]
    landing = land_sources(spark, feed, table, new, delivery, silent)
    return Landed([landing] if landing.verdict is not None else [])


def next_delivery(delivery: Delivery, landings: Sequence[Landing]) -> Delivery:
    """The same run carries each round, and each is a landing of its own."""
    if not landings:
        return delivery
    new = new_delivery()
    return replace(delivery, landing_id=new.landing_id, recorded_at=new.recorded_at)


def land_sources(
    spark: SparkSession, feed: Feed, table: str, sources: Iterable[Source], delivery: Delivery, say: Say
) -> Landing:
    with staging_folder(spark, table, delivery) as folder:
        earlier = newest_times(spark, table, feed)
        landing = stage(folder, feed, sources, delivery, earlier=earlier, say=say)
        landing = with_new_schemas(spark, table, landing)
        delivery.inspect(landing)
        commit(spark, table, folder, [landing])
    return landing


def manifests(spark: SparkSession, table: str) -> DataFrame:
    """The rows that speak of landings themselves."""
    return spark.table(table).where(F.col("status") == CONTROL)


def with_new_schemas(spark: SparkSession, table: str, landing: Landing) -> Landing:
    """The same, with what each schema that was never landed before changes of the one before it, in words."""
    if not landing.told.schemas:
        return landing
    told = manifests(spark, table).select(F.get_json_object("record", "$.schemas")).orderBy("recorded_at").collect()
    known = {name: said["columns"] for row in told if row[0] for name, said in json.loads(row[0]).items()}
    before = next(reversed(known.values()), None)
    changes = []
    for name in landing.told.schemas:
        if name not in known:
            changes += [] if before is None else [what_changed(before, columns_of(name))]
            before = columns_of(name)
    return replace(landing, new_schemas=tuple(changes))


def unless_landed(files: Sequence[Path], before: Mapping[str, str | None]) -> tuple[list[Path], list[LandingError]]:
    """The files that this run did not land yet; one of those that changed since would otherwise be lost in silence."""
    wanted: list[Path] = []
    changed: list[LandingError] = []
    for path in files:
        name = whole_name(path)
        if name not in before:
            wanted.append(path)
        elif before[name] not in (None, sum_of(path)):
            changed.append(
                LandingError(
                    f"{path} changed since this run landed it. Nothing of it was landed; land it again as another run."
                )
            )
    return wanted, changed


def landed_by_run(spark: SparkSession, table: str, delivery: Delivery) -> dict[str, str | None]:
    """The files that this run landed already, with the sum of their bytes; a run that was not named is new."""
    if delivery.run_id == delivery.landing_id:
        return {}
    of_run = (F.col("ingest_run_id") == F.lit(delivery.run_id)) & F.col("released_from").isNull()
    landed = manifests(spark, table).where(of_run).select("record").collect()
    return {file["path"]: file["sha256"] for row in landed for file in files_of(row.record)}


def files_of(manifest: str) -> list[dict[str, Any]]:
    """What a landing's manifest says of its files; those of before told only their names."""
    named = json.loads(manifest)["files"]
    return [one if isinstance(one, dict) else {"path": one, "sha256": None, "about": {}} for one in named]


def commit(spark: SparkSession, table: str, folder: Path, landings: Sequence[Landing]) -> None:
    """All that was staged, in one commit; each landing's verdict is told by the folder that holds its files."""
    judged = folder / "judged"
    for landing in landings:
        if landing.verdict is not None:
            place = judged / f"verdict={landing.verdict.name}" / f"clock={landing.verdict.clock}"
            place.mkdir(parents=True, exist_ok=True)
            for part in landing.parts:
                part.rename(place / part.name)
    if judged.is_dir():
        current = standing(spark, table)
        note = current.note if current and current.note else Note(uuid.uuid4().hex)
        write.append(spark, Table(table), spark.read.schema(LANDING).parquet(str(judged)), note=note)


def refuse_idle_claims(feed: Feed, delivery: Delivery) -> None:
    """A claim that the contract gives no meaning would be a claim in vain."""
    is_snapshot = feed.promised("load_type") == "snapshot"
    if delivery.snapshot != Snapshot() and not is_snapshot:
        raise LandingError(
            f"{feed.name} promises no snapshots, so nothing can be a complete one. Nothing was landed; "
            "leave --complete, --expected and --scope out, or promise load_type snapshot in seeds/promises.csv."
        )
    if delivery.as_of is not None and feed.promised("source_time") != "as_of":
        raise LandingError(
            f"The records of {feed.name} have times of their own. Nothing was landed; leave --as-of out, "
            "or promise source_time as_of in seeds/promises.csv."
        )
    if delivery.snapshot.scopes and feed.promised("scope_field") is None:
        raise LandingError(
            f"{feed.name} has no scope_field, so --scope means nothing. Nothing was landed; "
            "leave it out, or promise scope_field in seeds/promises.csv."
        )


def newest_times(spark: SparkSession, table: str, feed: Feed) -> list[datetime | None]:
    """The newest source time of each earlier landing, oldest first; asked only where the contract limits it."""
    if feed.promised("most_frozen_landings") is None:
        return []
    told = manifests(spark, table).orderBy("recorded_at")
    found = told.select(F.get_json_object("record", "$.newest_source_time")).collect()
    return [datetime.fromisoformat(row[0]) if row[0] else None for row in found]


@contextmanager
def staging_folder(spark: SparkSession, table: str, delivery: Delivery) -> Iterator[Path]:
    folder = staging_place(spark, table) / f"{STAGED_IN}{delivery.landing_id}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def staging_place(spark: SparkSession, table: str) -> Path:
    """A folder that this process and Spark's workers both see: the table's own, unless the environment names one."""
    named = os.environ.get(STAGING)
    if named:
        if not Path(named).is_dir():
            raise LandingError(
                f"{STAGING} is {named!r}, which is no folder. Nothing was landed; name one that is there."
            )
        return Path(named)
    place = str(location(spark, table))
    if urlsplit(place).scheme not in ("", "file"):
        raise LandingError(
            f"{table} is at {place}, no folder of this machine. Nothing was landed; "
            f"name a folder that Spark's workers see too in {STAGING}."
        )
    return Path(place.removeprefix("file:"))


# Captures: a landing each, all of a call in one commit.


def land_captures(
    spark: SparkSession, feed: Feed, table: str, paths: Sequence[Path], delivery: Delivery, say: Say
) -> Landed:
    """Land every capture there is, in the order in which they were captured, each with its ledger's status."""
    refuse_other_claims(delivery)
    captures, refused = find_captures(paths)
    if not captures and not refused:
        raise LandingError(f"{paths[0]} holds no capture. Nothing was landed; check its name.")
    wanted, changed = unless_landed([one.records for one in captures], landed_by_run(spark, table, delivery))
    refused += changed
    accepted = newest_accepted(spark, table, left_out=delivery.left_out)
    landings: list[Landing] = []
    with staging_folder(spark, table, delivery) as folder:
        for capture in sorted(captures, key=lambda one: (one.captured_at, str(one.records))):
            if capture.records not in wanted:
                continue
            landing = stage_capture(folder, feed, claimed(capture, delivery), delivery, accepted)
            delivery.inspect(landing)
            refused += landing.refused
            landings += [landing] if landing.verdict is not None else []
            if len(landings) % CAPTURES_BETWEEN == 0:
                say(f"{feed.name}: {len(landings):,} of {len(wanted):,} captures read")
        commit(spark, table, folder, landings)
    if refused and not landings:
        raise LandingError("\n".join(map(str, refused)))
    return Landed(landings, refused)


def refuse_other_claims(delivery: Delivery) -> None:
    if delivery.arrived_at != delivery.recorded_at or delivery.as_of is not None or delivery.snapshot.scopes:
        raise LandingError(
            "A capture says itself when it arrived, what it shows and what it covers. Nothing was landed; leave "
            "--arrived-at, --as-of and --scope out."
        )


def claimed(capture: Capture, delivery: Delivery) -> Capture:
    """One of the first version cannot say whether it is whole, so whoever lands it may."""
    if capture.schema_version == 1:
        return replace(capture, complete=delivery.snapshot.complete, expected_record_count=delivery.snapshot.expected)
    if delivery.snapshot != Snapshot():
        raise LandingError(
            f"{capture.records}: its manifest says whether it is complete. Nothing was landed; leave --complete and "
            "--expected out."
        )
    return capture


def stage_capture(
    folder: Path, feed: Feed, capture: Capture, delivery: Delivery, accepted: dict[tuple[str, str | None], Accepted]
) -> Landing:
    """Stage one capture as a landing of its own; `accepted` moves on with each that is let through."""
    own = replace(new_delivery(arrived_at=capture.captured_at), run_id=delivery.run_id, as_of=capture.effective_at)
    try:
        refuse_other_mode(capture, feed)
        whole = with_sums(capture, feed)
        scope = whole.scope(feed)
        status = decide(whole, feed, scope=scope, previous=accepted.get((whole.dataset, scope)))
    except LandingError as error:
        return Landing(own.landing_id, Counter(), [], Tally(), refused=[error])
    is_full = whole.capture_mode == FULL
    covers = Snapshot(True, whole.record_count, (scope,) if scope else ()) if is_full else Snapshot()
    own = replace(own, snapshot=covers, capture=facts(whole, status, scope))
    landing = stage(folder, feed, [Source(whole.records, verified(whole, feed), whole.about, whole.file_sum)], own)
    if landing.verdict is not None and status.name == PENDING:
        accepted[whole.dataset, scope] = Accepted(own.landing_id, whole.effective_at, whole.content_sum)
    return replace(landing, capture=own.capture)


def refuse_other_mode(capture: Capture, feed: Feed) -> None:
    promised = FULL if feed.promised("load_type") == "snapshot" else INCREMENTAL
    if capture.capture_mode != promised:
        raise LandingError(
            f"{capture.records} is a capture of mode {capture.capture_mode}, and by its load_type {feed.name} has "
            f"{promised}. Nothing of it was landed; land it to the feed that it belongs to."
        )


def newest_accepted(
    spark: SparkSession, table: str, *, left_out: Sequence[str] = ()
) -> dict[tuple[str, str | None], Accepted]:
    """The newest capture of each dataset and scope that was let through, as the manifests recorded it."""
    said = F.get_json_object("record", "$.capture").alias("capture")
    rows = manifests(spark, table).select("landing_id", said).where("capture is not null")
    found: dict[tuple[str, str | None], Accepted] = {}
    for row in rows.collect():
        capture = json.loads(row.capture)
        one = Accepted(row.landing_id, datetime.fromisoformat(capture["effective_at"]), capture["content_sum"])
        of = capture["dataset"], capture["scope"]
        if row.landing_id in left_out:
            continue
        if capture["status"] == PENDING and (of not in found or found[of].effective_at < one.effective_at):
            found[of] = one
    return found
