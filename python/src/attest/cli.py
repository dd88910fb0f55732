"""The command line: `attest land`, `capture`, `stream`, `release`, `gate`, `mark`, `why`, `publish` and more.

Exit code 0 when done, 1 when a user can mend it, 2 for usage."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import io
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attest.contract import feeds_of, find_feed
from attest.errors import AttestError, ContractError, OutputError, StreamError
from attest.gate import DEFENSIBLE, Verdict, judge
from attest.ledger import BACKWARD, PENDING
from attest.project import LAKE, Project, read_project

if TYPE_CHECKING:
    from datetime import timedelta

    from pyspark.sql import SparkSession

    from attest.land import Landed
    from attest.stage import Landing


def main(arguments: Sequence[str] | None = None) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        project = read_project(options.project_dir.resolve(), target=options.target)
        code: int = options.run(project, options)
    except AttestError as error:
        print(f"attest: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    return code


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="attest", description="Land what sources say, and ask why it is believed.")
    parser.add_argument("--project-dir", type=Path, default=Path(), help="the dbt project (default: this folder)")
    parser.add_argument("--target", help="the profile's output (default: the profile's own choice)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    land = commands.add_parser(
        "land",
        help="land files of a feed, as received",
        description="Land every record of the files in one commit. Records that break the feed's contract "
        "(seeds/feeds.csv) land in quarantine with a reason; nothing is dropped.",
    )
    land.add_argument("feed", metavar="FEED", help="a feed of seeds/feeds.csv")
    land.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="files of the feed's format, or folders of them"
    )
    land.add_argument(
        "--arrived-at", type=instant, metavar="TIME", help="when they arrived, to land history (default: now)"
    )
    land.add_argument("--run-id", metavar="ID", help="the run that carries them; landing a run's file twice is a retry")
    land.add_argument(
        "--as-of", type=instant, metavar="TIME", help="the time that the whole delivery shows (default: its arrival)"
    )
    land.add_argument(
        "--complete", action="store_true", help="the snapshot is whole: whoever it lacks is gone (never assumed)"
    )
    land.add_argument("--expected", type=int, metavar="N", help="how many records a complete snapshot must have")
    land.add_argument(
        "--scope", action="append", default=[], metavar="VALUE", help="what the snapshot covers, if not all; may repeat"
    )
    land.set_defaults(run=run_land)

    capture = commands.add_parser(
        "capture",
        help="capture what an HTTP endpoint answers, to be landed",
        description="Ask an endpoint (captures.yml) for all of its pages and keep what it answers as one capture, "
        "which says whether it is complete. One that broke off goes on where it stopped. Exit code 1 if it is "
        "incomplete.",
    )
    capture.add_argument("feed", metavar="FEED", help="a feed of seeds/feeds.csv whose format is capture")
    capture.add_argument("--restart", action="store_true", help="do not go on from what an earlier call left")
    capture.set_defaults(run=run_capture)

    add_stream(commands)

    release = commands.add_parser(
        "release",
        help="land again what a feed's contract did not let through",
        description="Read every record that is in quarantine, or was landed while the gate rejected the feed, under "
        "today's contract, and land those that pass, with the arrival they had. Nothing is landed twice.",
    )
    release.add_argument("feed", metavar="FEED", help="a feed of seeds/feeds.csv")
    release.add_argument("--landing", metavar="ID", help="one landing of it only, as the table names it")
    release.set_defaults(run=run_release)

    gate = commands.add_parser(
        "gate",
        help="say what the contracts' promises let each feed become",
        description="Print the gate's verdict on each feed's promises (seeds/promises.csv), with every reason. "
        "What a landing measures may make it worse: see the model feed_verdicts.",
    )
    gate.add_argument("feed", metavar="FEED", nargs="?", help="one feed (default: all)")
    gate.set_defaults(run=run_gate)

    add_marks(commands)

    why = commands.add_parser(
        "why",
        help="say what is believed of one entity, and why",
        description="Print the belief of one entity at an instant, as known at an instant: each attribute's "
        "value, the assertion that won, its rule, and why each other source lost.",
    )
    why.add_argument("entity", metavar="ENTITY", help="as in dbt_project.yml, such as customer")
    why.add_argument("key", metavar="KEY", help="its business key")
    why.add_argument("--as-at", type=instant, metavar="TIME", help="the instant asked about (default: the basis)")
    why.add_argument("--known-at", type=instant, metavar="TIME", help="with what was known then (default: the basis)")
    why.add_argument(
        "--html", type=Path, metavar="FILE", help="write all of it as one page to keep: evidence, beliefs and reasons"
    )
    why.set_defaults(run=run_why)

    preview = commands.add_parser(
        "preview",
        help="say what edited rules would change, before they are approved",
        description="Compare every belief, now and in all of history, under the lake's rules and under those of the "
        "seeds' files, and print it as Markdown: how many stay, change, appear and vanish, with the ten largest. "
        "The lake is only read.",
    )
    preview.add_argument("entities", metavar="ENTITY", nargs="*", help="as in dbt_project.yml (default: all)")
    preview.add_argument(
        "--seeds", type=Path, metavar="DIR", help="where the edited precedence.csv and attribute_groups.csv are"
    )
    preview.set_defaults(run=run_preview)

    reproduce = commands.add_parser(
        "reproduce",
        help="compute the beliefs of an earlier build again, from evidence alone",
        description="Compute what a build of Silver believed, from the evidence and the rules that it rested on, and "
        "compare the sum of every byte with what it stamped. Exit code 1 if they differ.",
    )
    reproduce.add_argument("basis", metavar="BASIS_ID", help="a basis_id of the entity's bases, such as customer_bases")
    reproduce.set_defaults(run=run_reproduce)

    publish = commands.add_parser(
        "publish",
        help="publish what was believed at the end of a day, to stay as it is",
        description="Add to ENTITY_days what was believed of every entity at the end of a day, with what was known "
        "then. Readers ask ENTITY_daily, which shows an older good day with what came later where one is marked bad.",
    )
    publish.add_argument("entity", metavar="ENTITY", help="as in dbt_project.yml, such as customer")
    publish.add_argument("--day", type=day, metavar="DAY", help="such as 2026-03-01, in UTC (default: yesterday)")
    publish.set_defaults(run=run_publish)

    maintain = commands.add_parser(
        "maintain",
        help="put small files together and remove what nobody needs any more",
        description="Print how each table lies on disk and what is to be done about it, then do it: small files are "
        "put together, rows that were struck out dropped, and files removed that no version of the last days has. "
        "What a table has yet to read is kept, however old.",
    )
    maintain.add_argument("tables", metavar="TABLE", nargs="*", help="such as customer_states (default: all)")
    maintain.add_argument(
        "--keep-days", type=int, default=30, metavar="N", help="how far back a version can be asked (default: 30)"
    )
    maintain.add_argument("--plan", action="store_true", help="print what would be done, and do nothing")
    maintain.set_defaults(run=run_maintain)
    return parser


def add_stream(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    stream = commands.add_parser(
        "stream",
        help="land what comes, batch by batch",
        description="Follow a folder, or any source of Structured Streaming, and land each micro-batch in one commit. "
        "How far it came is kept in a checkpoint: started again, it goes on from there, and a batch that was cut off "
        "lands nothing twice.",
    )
    stream.add_argument("feed", metavar="FEED", help="a feed of seeds/feeds.csv")
    stream.add_argument("path", metavar="PATH", nargs="?", help="the folder into which its files are moved, whole")
    stream.add_argument(
        "--source", default="files", metavar="NAME", help="another source, such as kafka (default: files, of PATH)"
    )
    stream.add_argument(
        "--options",
        type=Path,
        metavar="FILE",
        help="the source's options, as YAML; secrets by env_var, as in a profile",
    )
    stream.add_argument("--checkpoint", metavar="DIR", help="where to keep how far it came (default: in the lake)")
    stream.add_argument(
        "--available-now", action="store_true", help="land what is there and end, as a scheduler wants it"
    )
    stream.add_argument(
        "--every", type=float, default=10.0, metavar="SECONDS", help="how often to look for more (default: 10)"
    )
    stream.add_argument(
        "--watermark", type=duration, metavar="DURATION",
        help="such as '7 days': what happened longer before the newest goes to quarantine (default: nothing does)",
    )  # fmt: skip
    stream.add_argument(
        "--then-build", action="store_true", help="after each batch, build what the feed reaches, in this process"
    )
    stream.set_defaults(run=run_stream)


def add_marks(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    partition = "a landing, a run or a file of the feed, or a published day"
    mark = commands.add_parser(
        "mark",
        help="say that a partition is bad: it leaves all that is derived",
        description="Record that a partition of a feed, or a published day, is bad. The next build leaves it out of "
        "everything that is derived, and what the feed lands since is held, until it is cleared. Nothing is deleted.",
    )
    mark.add_argument(
        "--keep-landing", action="store_true", help="leave out this partition alone: what lands since counts"
    )
    mark.set_defaults(run=run_mark)
    resume = commands.add_parser(
        "resume",
        help="let what a feed landed since a mark count; the partition stays bad",
        description="Let in what was held since a partition was marked, and what lands from now on, such as its "
        "correction. The partition itself stays left out.",
    )
    resume.set_defaults(run=run_clear, landing_only=True)
    unmark = commands.add_parser(
        "unmark",
        help="say that a partition is good after all",
        description="Clear a mark: the next build has the partition, and all that was held since, as if it had never "
        "been marked. What was known in between stays on record.",
    )
    unmark.set_defaults(run=run_clear, landing_only=False)
    for command in (mark, resume, unmark):
        command.add_argument("feed", metavar="FEED", help="a feed of seeds/feeds.csv, or a table such as customer_days")
        command.add_argument("partition", metavar="PARTITION", help=partition)
        command.add_argument("--reason", required=True, metavar="TEXT", help="why; kept with the mark")
        command.add_argument("--by", metavar="WHO", help="who says so (default: the user who calls)")
    marks = commands.add_parser(
        "marks",
        help="list what is marked bad, and what that concerns",
        description="List the marks that stand, from commands, checks and seeds/marked_partitions.csv.",
    )
    marks.add_argument("feed", metavar="FEED", nargs="?", help="one feed or table (default: all)")
    marks.add_argument("--all", action="store_true", help="those that were cleared, too")
    marks.add_argument(
        "--affected", action="store_true", help="with the entities, models and published days to be made good"
    )
    marks.set_defaults(run=run_marks)


def instant(text: str) -> datetime:
    """An ISO-8601 time; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no ISO-8601 time, such as 2026-03-01T09:00:00Z") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day, such as 2026-03-01") from None


def duration(text: str) -> timedelta:
    from attest.stream import read_duration  # noqa: PLC0415

    try:
        return read_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run_land(project: Project, options: argparse.Namespace) -> int:
    from attest.detect import inspector_of  # noqa: PLC0415 (Spark is slow to start)
    from attest.land import land  # noqa: PLC0415
    from attest.marks import standing_marks  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415
    from attest.stage import Snapshot, found, new_delivery  # noqa: PLC0415

    feeds = feeds_of(project.root)
    feed = find_feed(feeds, options.feed)
    found(options.paths)
    spark = open_lake(project)
    inspector = inspector_of(spark, project, feed, feeds)
    delivery = new_delivery(
        run_id=options.run_id,
        arrived_at=options.arrived_at,
        as_of=options.as_of,
        snapshot=Snapshot(complete=options.complete, expected=options.expected, scopes=tuple(options.scope)),
    )
    left_out = [mark.partition for mark in standing_marks(spark, project, feed.name) if mark.partition]
    landing = land(
        spark,
        feed=feed,
        table=f"{project.schema}.landing_{feed.name}",
        paths=options.paths,
        delivery=replace(delivery, inspect=inspector, left_out=left_out),
        say=lambda text: print(text, file=sys.stderr),
    )
    print_landing(feed.name, landing)
    if not landing.landings:
        print(f"{feed.name}: nothing new; run {delivery.run_id} landed this before")
    is_backward = any(one.capture and one.capture["status"] == BACKWARD for one in landing.landings)
    is_held = tell_held(spark, project, feed.name, landing)
    return 1 if landing.refused or is_backward or is_held or inspector.marked else 0


def tell_held(spark: SparkSession, project: Project, feed: str, landed: Landed) -> bool:
    """Whether what landed is held because a partition of its feed is marked; then everyone is told."""
    from attest.alerts import Alert, raise_alert  # noqa: PLC0415
    from attest.marks import SINCE, shown, standing_marks  # noqa: PLC0415

    own = {landing.landing_id for landing in landed.landings}
    standing = standing_marks(spark, project, feed) if own else []
    by_check = {f"{mark.mark_id}{SINCE}" for mark in standing if mark.partition in own}
    found = [mark for mark in standing if mark.since is not None and mark.mark_id not in by_check]
    for mark in found[:1]:
        message = (
            f"{landed.records} records landed and are held: a partition was marked bad by {mark.marked_by} at "
            f"{shown(mark.marked_at)} ({mark.reason}). See `attest marks {feed}`, "
            "then `attest resume` or `attest unmark`"
        )
        raise_alert(spark, project.schema, Alert("held", feed, landed.landings[0].landing_id, message))
    return bool(found)


def run_capture(project: Project, options: argparse.Namespace) -> int:
    from attest.fetch import Tools, capture, read_endpoint  # noqa: PLC0415

    feed = find_feed(feeds_of(project.root), options.feed)
    if feed.format != "capture":
        raise ContractError(f"The format of {feed.name} is {feed.format}, so it is not captured. Land its files.")
    tools = Tools(say=lambda text: print(text, file=sys.stderr))
    folder, why = capture(read_endpoint(project.root, feed.name), feed, tools=tools, restart=options.restart)
    if why is not None:
        print(f"attest: {feed.name}: {why}. {folder} says that it is incomplete.", file=sys.stderr)
        return 1
    print(folder)
    return 0


def print_status(feed: str, capture: Mapping[str, Any] | None) -> None:
    """What the ledger says of a capture; what it does not let through is evidence and feeds nothing."""
    if capture is not None and capture["status"] != PENDING:
        print(f"{feed}: {capture['path']}: {capture['status']}: {capture['why']}", file=sys.stderr)


def print_landing(feed: str, landed: Landed) -> None:
    """What became of each record; what needs somebody goes to the error stream."""
    for error in landed.refused:
        print(f"attest: {error}", file=sys.stderr)
    quarantined = landed.quarantined.total()
    for one in landed.first_quarantined:
        print(f"{one.file}, line {one.line}: {one.reason}: {one.detail}", file=sys.stderr)
    if quarantined > len(landed.first_quarantined):
        print(f"… and {quarantined - len(landed.first_quarantined)} more, all in quarantine", file=sys.stderr)
    for landing in landed.landings:
        print_status(feed, landing.capture)
        print_notes(feed, landing)
        bad, is_skipped = landing.quarantined, landing.capture and landing.capture["status"] != PENDING
        parts = [
            f"{landing.accepted} {'skipped' if is_skipped else 'accepted'}",
            f"{bad.total()} in quarantine{counted(bad)}",
        ]
        parts += [f"{why.total()} {status}{counted(why)}" for status, why in landing.set_aside.items() if why]
        print(f"{feed}: landed {landing.records} records in one commit ({', '.join(parts)})")


def print_notes(feed: str, landing: Landing) -> None:
    """What somebody should look at, though it landed."""
    print_verdict(feed, landing.verdict)
    for change in landing.new_schemas:
        print(f"{feed}: its table changed: {change}. See that contract and mapping still hold", file=sys.stderr)
    for column, records in landing.told.defaulted.items():
        print(
            f"{feed}: {column} has its default in {records} records, which may stand for null. Set the converter's "
            "replace.null.with.default to false, then promise nulls as kept",
            file=sys.stderr,
        )


def counted(reasons: Mapping[str, int]) -> str:
    return ": " + ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())) if reasons else ""


def run_stream(project: Project, options: argparse.Namespace) -> int:
    from attest.detect import inspector_of  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415
    from attest.stream import Batch, Stream, follow, read_options  # noqa: PLC0415

    feeds = feeds_of(project.root)
    feed = find_feed(feeds, options.feed)
    spark = open_lake(project)
    inspector = inspector_of(spark, project, feed, feeds)
    stream = Stream(
        feed=feed,
        table=f"{project.schema}.landing_{feed.name}",
        checkpoint=options.checkpoint or checkpoint_of(project, feed.name),
        path=options.path,
        source=options.source,
        options=read_options(options.options) if options.options else {},
        watermark=options.watermark,
        every=None if options.available_now else options.every,
        inspect=inspector,
    )
    landed: list[int] = []
    refused: list[str] = []
    held: list[bool] = []

    def after(batch: Batch) -> None:
        refused.extend(map(str, batch.landed.refused))
        landed.append(batch.landed.records)
        print_landing(feed.name, batch.landed)
        held.append(tell_held(spark, project, feed.name, batch.landed))
        if options.then_build:
            build_what_it_reaches(project, feed.name, target=options.target)
        sys.stdout.flush()

    try:
        follow(spark, stream, after=after)
    except KeyboardInterrupt:
        print(f"{feed.name}: stopped; the next start goes on from here")
    if not any(landed):
        print(f"{feed.name}: nothing new")
    return 1 if refused or any(held) or inspector.marked else 0


def checkpoint_of(project: Project, feed: str) -> str:
    """Beside the tables, one a feed and schema; where the lake is not ours, somebody must say."""
    if LAKE not in project.parameters:
        raise StreamError("There is no lake of ours to keep a checkpoint in. Name a folder with --checkpoint.")
    return str(Path(project.parameters[LAKE]) / "streams" / project.schema / feed)


def build_what_it_reaches(project: Project, feed: str, *, target: str | None) -> None:
    from dbt.cli.main import dbtRunner  # noqa: PLC0415

    asked = ["build", "--select", f"landing_{feed}+", "--exclude-resource-type", "unit_test"]
    built = dbtRunner().invoke([*asked, *places(project, target)])
    if not built.success:
        raise StreamError(
            f"{feed}: the batch is landed, but dbt build failed. Mend what it says and start the stream again."
        )


def places(project: Project, target: str | None) -> list[str]:
    profiles = os.environ.get("DBT_PROFILES_DIR", str(project.root))
    return ["--project-dir", str(project.root), "--profiles-dir", profiles, *(["--target", target] if target else [])]


def run_release(project: Project, options: argparse.Namespace) -> int:
    from attest.land import Landed, held_landings, release  # noqa: PLC0415
    from attest.marks import standing_marks  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415

    feed = find_feed(feeds_of(project.root), options.feed)
    spark = open_lake(project)
    table = f"{project.schema}.landing_{feed.name}"
    held = held_landings(spark, table, landing_id=options.landing)
    if not held:
        print(f"{feed.name}: nothing is held" + (f" of landing {options.landing}" if options.landing else ""))
        return 0
    is_held = False
    bad = {mark.partition for mark in standing_marks(spark, project, feed.name)}
    for one in held:
        if one.landing_id in bad:
            print(f"{feed.name}: landing {one.landing_id} is marked bad, so nothing of it is released", file=sys.stderr)
            continue
        landing = release(spark, feed=feed, table=table, held=one)
        print(f"{feed.name}: landing {one.landing_id}: released {landing.records} of {one.records} records")
        print_notes(feed.name, landing)
        is_held |= bool(landing.records) and tell_held(spark, project, feed.name, Landed([landing]))
    return 1 if is_held else 0


def run_gate(project: Project, options: argparse.Namespace) -> int:
    feeds = feeds_of(project.root)
    for feed in [find_feed(feeds, options.feed)] if options.feed else feeds.values():
        verdict = judge(feed, {})
        print(f"{feed.name}: {verdict.name}")
        for reason in verdict.reasons:
            print(f"  {reason}")
    return 0


def print_verdict(feed: str, verdict: Verdict | None) -> None:
    """Said only where not everything landed goes its usual way."""
    if verdict is not None and verdict.name != DEFENSIBLE:
        print(f"{feed}: the gate says {verdict.name}", file=sys.stderr)
        for reason in verdict.reasons:
            print(f"  {reason}", file=sys.stderr)


def run_why(project: Project, options: argparse.Namespace) -> int:
    from attest.page import page  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415
    from attest.why import explain, open_case  # noqa: PLC0415

    if options.html is not None:
        refuse_bad_place(options.html)
    spark = open_lake(project)
    case = open_case(
        spark, project, entity=options.entity, key=options.key, as_at=options.as_at, known_at=options.known_at
    )
    if options.html is None:
        print(explain(spark, project, case))
        return 0
    options.html.write_text(page(spark, project, case), encoding="utf-8")
    print(f"wrote {options.html}: open it in a browser; it needs nothing else")
    return 0


def refuse_bad_place(file: Path) -> None:
    """Said before anything is computed."""
    if file.is_dir():
        raise OutputError(f"{file} is a folder. Name the file in it.")
    if not file.parent.is_dir():
        raise OutputError(f"There is no folder {file.parent} to write {file.name} to. Make it first.")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise OutputError(f"{file} may not be written. Name another, or change who may.")


def run_mark(project: Project, options: argparse.Namespace) -> int:
    from attest import marks  # noqa: PLC0415
    from attest.alerts import Alert, raise_alert  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415

    word = marks.Word(whoever(options.by), options.reason)
    marks.require_word(word)
    spark = open_lake(project)
    target = marks.find_target(spark, project, options.feed)
    partitions = marks.partitions_named(spark, project, target, options.partition)
    stops = not (options.keep_landing or target.is_published)
    marks.set_marks(spark, project, target.name, partitions, word, stops_landing=stops)
    told = True
    for partition in partitions:
        message = f"{partition} was marked bad by {word.by}: {word.reason}"
        told &= raise_alert(spark, project.schema, Alert("marked", target.name, partition, message))
    if not target.is_published:
        print(f"{target.name}: the next `dbt build` leaves out {', '.join(partitions)}")
    if stops:
        print(f"{target.name}: what lands from now on is held, until `attest resume` or `attest unmark`")
    return 0 if told else 1


def run_clear(project: Project, options: argparse.Namespace) -> int:
    from attest import marks  # noqa: PLC0415
    from attest.alerts import Alert, raise_alert  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415

    word = marks.Word(whoever(options.by), options.reason)
    marks.require_word(word)
    spark = open_lake(project)
    target = marks.find_target(spark, project, options.feed)
    standing = {mark.partition for mark in marks.standing_marks(spark, project, target.name)}
    # A check marks a landing before it is there; if it never came, only the mark knows its name.
    named = [options.partition] if options.partition in standing else None
    partitions = named or marks.partitions_named(spark, project, target, options.partition)
    marks.clear_marks(spark, project, target.name, partitions, word, landing_only=options.landing_only)
    kind, what = ("resumed", "landing goes on beside") if options.landing_only else ("cleared", "the mark is gone of")
    message = f"{what} {', '.join(partitions)}, by {word.by}: {word.reason}"
    told = raise_alert(spark, project.schema, Alert(kind, target.name, partitions[0], message))
    if not target.is_published:
        print(f"{target.name}: the next `dbt build` has what was held")
    return 0 if told else 1


def whoever(named: str | None) -> str:
    """Who calls, where nobody else is named."""
    if named is not None:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def run_marks(project: Project, options: argparse.Namespace) -> int:
    from attest import marks  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415

    spark = open_lake(project)
    if options.feed is not None:
        marks.find_target(spark, project, options.feed)
    ever = sorted(marks.read_marks(spark, project).collect(), key=lambda one: (one.marked_at, one.mark_id))
    found = [
        mark
        for mark in ever
        if mark.partition is not None and options.feed in (None, mark.feed) and (options.all or mark.cleared_at is None)
    ]
    stops = [mark for mark in ever if mark.since is not None and mark.cleared_at is None]
    stopped = {mark.mark_id.removesuffix(marks.SINCE) for mark in stops}
    for mark in found:
        print(f"{mark.feed} {mark.partition}")
        print(f"  marked bad by {mark.marked_by} ({mark.set_by}) at {marks.shown(mark.marked_at)}: {mark.reason}")
        if mark.mark_id in stopped:
            print("  its feed is stopped: what lands is held")
        if mark.cleared_at is not None:
            print(f"  cleared by {mark.cleared_by} at {marks.shown(mark.cleared_at)}: {mark.cleared_because}")
        if options.affected:
            print_affected(spark, project, mark, target=options.target)
    if not found:
        print("nothing is marked" + (f" of {options.feed}" if options.feed else ""))
    return 0


def print_affected(spark: SparkSession, project: Project, mark: Any, *, target: str | None) -> None:
    from attest.marks import affected, published_tables  # noqa: PLC0415

    if mark.feed in published_tables(spark, project):
        print(f"  published day {mark.feed} {mark.partition}")
        return
    found = affected(spark, project, mark, models_of(project, mark.feed, target=target))
    print(f"  {found.held} rows of evidence are left out")
    for key in found.keys:
        print(f"  entity {found.entity} {key}")
    if found.more_keys:
        print(f"  … and {found.more_keys:,} more; {found.entity}_assertions has them by landing_id and source_path")
    for model in found.models:
        print(f"  model {model}")
    for published in found.days:
        print(f"  published day {found.entity}_days {published}")


def models_of(project: Project, feed: str, *, target: str | None) -> list[str]:
    """The models that are made of what a feed lands, by dbt's own graph."""
    from dbt.cli.main import dbtRunner  # noqa: PLC0415

    asked = ["ls", "--select", f"landing_{feed}+", "--resource-type", "model", "--output", "name"]
    with contextlib.redirect_stdout(io.StringIO()):
        done = dbtRunner().invoke(["--quiet", *asked, *places(project, target)])
    if not done.success:
        raise ContractError("dbt cannot read the project, so nobody knows its models. Mend what `dbt parse` says.")
    return sorted(str(name) for name in done.result if name != f"landing_{feed}")


def run_publish(project: Project, options: argparse.Namespace) -> int:
    from attest.publish import publish  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415

    print(publish(open_lake(project), project, entity=options.entity, day=options.day))
    return 0


def run_preview(project: Project, options: argparse.Namespace) -> int:
    from attest.preview import preview  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415

    seeds = options.seeds or project.root / "seeds"
    print(preview(open_lake(project), project, entities=options.entities, seeds=seeds))
    return 0


def run_reproduce(project: Project, options: argparse.Namespace) -> int:
    from attest.basis import reproduce  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415

    found = reproduce(open_lake(project), project, options.basis)
    print(found.text)
    return 0 if found.is_same else 1


def run_maintain(project: Project, options: argparse.Namespace) -> int:
    from attest.maintain import maintain, plan  # noqa: PLC0415
    from attest.session import open_lake  # noqa: PLC0415

    spark = open_lake(project)
    tables = plan(spark, project.schema, names=options.tables, days=options.keep_days)
    for table in tables:
        print(table)
    for done in () if options.plan else maintain(spark, tables):
        print(done, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
