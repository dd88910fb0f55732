"""The command line: `attest land`, `capture`, `stream`, `release`, `gate`, `why`, `preview`, `reproduce`, `maintain`.

Exit code 0 when done, 1 when a user can mend it, 2 for usage."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attest.contract import find_feed, read_contracts
from attest.errors import AttestError, ContractError, OutputError, StreamError
from attest.gate import DEFENSIBLE, Verdict, judge
from attest.ledger import BACKWARD, PENDING
from attest.project import LAKE, Project, read_project

if TYPE_CHECKING:
    from datetime import timedelta

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


def instant(text: str) -> datetime:
    """An ISO-8601 time; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no ISO-8601 time, such as 2026-03-01T09:00:00Z") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)


def duration(text: str) -> timedelta:
    from attest.stream import read_duration  # noqa: PLC0415

    try:
        return read_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run_land(project: Project, options: argparse.Namespace) -> int:
    from attest.land import land  # noqa: PLC0415 (Spark is slow to start)
    from attest.session import isolated, start  # noqa: PLC0415
    from attest.stage import Snapshot, found, new_delivery  # noqa: PLC0415

    feed = find_feed(read_contracts(project.root / "seeds" / "feeds.csv"), options.feed)
    found(options.paths)
    spark = isolated(start(project.parameters))
    delivery = new_delivery(
        run_id=options.run_id,
        arrived_at=options.arrived_at,
        as_of=options.as_of,
        snapshot=Snapshot(complete=options.complete, expected=options.expected, scopes=tuple(options.scope)),
    )
    landing = land(
        spark,
        feed=feed,
        table=f"{project.schema}.landing_{feed.name}",
        paths=options.paths,
        delivery=delivery,
        say=lambda text: print(text, file=sys.stderr),
    )
    print_landing(feed.name, landing)
    if not landing.landings:
        print(f"{feed.name}: nothing new; run {delivery.run_id} landed this before")
    is_backward = any(one.capture and one.capture["status"] == BACKWARD for one in landing.landings)
    return 1 if landing.refused or is_backward else 0


def run_capture(project: Project, options: argparse.Namespace) -> int:
    from attest.fetch import Tools, capture, read_endpoint  # noqa: PLC0415

    feed = find_feed(read_contracts(project.root / "seeds" / "feeds.csv"), options.feed)
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
    from attest.session import isolated, start  # noqa: PLC0415
    from attest.stream import Batch, Stream, follow, read_options  # noqa: PLC0415

    feed = find_feed(read_contracts(project.root / "seeds" / "feeds.csv"), options.feed)
    stream = Stream(
        feed=feed,
        table=f"{project.schema}.landing_{feed.name}",
        checkpoint=options.checkpoint or checkpoint_of(project, feed.name),
        path=options.path,
        source=options.source,
        options=read_options(options.options) if options.options else {},
        watermark=options.watermark,
        every=None if options.available_now else options.every,
    )
    landed: list[int] = []
    refused: list[str] = []

    def after(batch: Batch) -> None:
        refused.extend(map(str, batch.landed.refused))
        landed.append(batch.landed.records)
        print_landing(feed.name, batch.landed)
        if options.then_build:
            build_what_it_reaches(project, feed.name, target=options.target)
        sys.stdout.flush()

    try:
        follow(isolated(start(project.parameters)), stream, after=after)
    except KeyboardInterrupt:
        print(f"{feed.name}: stopped; the next start goes on from here")
    if not any(landed):
        print(f"{feed.name}: nothing new")
    return 1 if refused else 0


def checkpoint_of(project: Project, feed: str) -> str:
    """Beside the tables, one a feed and schema; where the lake is not ours, somebody must say."""
    if LAKE not in project.parameters:
        raise StreamError("There is no lake of ours to keep a checkpoint in. Name a folder with --checkpoint.")
    return str(Path(project.parameters[LAKE]) / "streams" / project.schema / feed)


def build_what_it_reaches(project: Project, feed: str, *, target: str | None) -> None:
    from dbt.cli.main import dbtRunner  # noqa: PLC0415

    profiles = os.environ.get("DBT_PROFILES_DIR", str(project.root))
    places = ["--project-dir", str(project.root), "--profiles-dir", profiles, *(["--target", target] if target else [])]
    built = dbtRunner().invoke(
        ["build", "--select", f"landing_{feed}+", "--exclude-resource-type", "unit_test", *places]
    )
    if not built.success:
        raise StreamError(
            f"{feed}: the batch is landed, but dbt build failed. Mend what it says and start the stream again."
        )


def run_release(project: Project, options: argparse.Namespace) -> int:
    from attest.land import held_landings, release  # noqa: PLC0415
    from attest.session import isolated, start  # noqa: PLC0415

    feed = find_feed(read_contracts(project.root / "seeds" / "feeds.csv"), options.feed)
    spark = isolated(start(project.parameters))
    table = f"{project.schema}.landing_{feed.name}"
    held = held_landings(spark, table, landing_id=options.landing)
    if not held:
        print(f"{feed.name}: nothing is held" + (f" of landing {options.landing}" if options.landing else ""))
        return 0
    for one in held:
        landing = release(spark, feed=feed, table=table, held=one)
        print(f"{feed.name}: landing {one.landing_id}: released {landing.records} of {one.records} records")
        print_notes(feed.name, landing)
    return 0


def run_gate(project: Project, options: argparse.Namespace) -> int:
    feeds = read_contracts(project.root / "seeds" / "feeds.csv")
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
    from attest.session import isolated, start  # noqa: PLC0415
    from attest.why import explain, open_case  # noqa: PLC0415

    if options.html is not None:
        refuse_bad_place(options.html)
    spark = isolated(start(project.parameters))
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


def run_preview(project: Project, options: argparse.Namespace) -> int:
    from attest.preview import preview  # noqa: PLC0415
    from attest.session import isolated, start  # noqa: PLC0415

    seeds = options.seeds or project.root / "seeds"
    print(preview(isolated(start(project.parameters)), project, entities=options.entities, seeds=seeds))
    return 0


def run_reproduce(project: Project, options: argparse.Namespace) -> int:
    from attest.basis import reproduce  # noqa: PLC0415
    from attest.session import isolated, start  # noqa: PLC0415

    found = reproduce(isolated(start(project.parameters)), project, options.basis)
    print(found.text)
    return 0 if found.is_same else 1


def run_maintain(project: Project, options: argparse.Namespace) -> int:
    from attest.maintain import maintain, plan  # noqa: PLC0415
    from attest.session import isolated, start  # noqa: PLC0415

    spark = isolated(start(project.parameters))
    tables = plan(spark, project.schema, names=options.tables, days=options.keep_days)
    for table in tables:
        print(table)
    for done in () if options.plan else maintain(spark, tables):
        print(done, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
