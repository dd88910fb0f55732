"""The command line: `attest land`, `release`, `gate`, `why`, `preview`, `reproduce`.

Exit code 0 when done, 1 when a user can mend it, 2 for usage."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from attest.contract import find_feed, read_contracts
from attest.errors import AttestError, OutputError
from attest.gate import DEFENSIBLE, Verdict, judge
from attest.project import Project, read_project


def main(arguments: Sequence[str] | None = None) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        project = read_project(options.project_dir.resolve(), target=options.target)
        if getattr(options, "seeds", None):
            options.seeds = options.seeds.resolve()
        if getattr(options, "html", None):
            options.html = options.html.resolve()
        if "paths" in options:
            options.paths = [seen_from(project.root, path) for path in options.paths]
        os.chdir(project.root)  # a relative lake is taken from there, as dbt does
        code: int = options.run(project, options)
    except AttestError as error:
        print(f"attest: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    return code


def seen_from(root: Path, path: Path) -> Path:
    """A path as typed here, named from the project's root."""
    return path if path.is_absolute() else Path(os.path.relpath(path.absolute(), root))


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
    land.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files of the feed's format")
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
    return parser


def instant(text: str) -> datetime:
    """An ISO-8601 time; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no ISO-8601 time, such as 2026-03-01T09:00:00Z") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)


def run_land(project: Project, options: argparse.Namespace) -> int:
    from attest.land import Snapshot, land, new_delivery, refuse_bad_files  # noqa: PLC0415 (Spark is slow to start)
    from attest.session import isolated, start  # noqa: PLC0415

    feed = find_feed(read_contracts(project.root / "seeds" / "feeds.csv"), options.feed)
    refuse_bad_files(options.paths)
    spark = isolated(start(project.parameters))
    delivery = new_delivery(
        run_id=options.run_id,
        arrived_at=options.arrived_at,
        as_of=options.as_of,
        snapshot=Snapshot(complete=options.complete, expected=options.expected, scopes=tuple(options.scope)),
    )
    landing = land(
        spark, feed=feed, table=f"{project.schema}.landing_{feed.name}", paths=options.paths, delivery=delivery
    )
    quarantined = landing.quarantined.total()
    for one in landing.first_quarantined:
        print(f"{one.file}, line {one.line}: {one.reason}: {one.detail}", file=sys.stderr)
    if quarantined > len(landing.first_quarantined):
        print(f"… and {quarantined - len(landing.first_quarantined)} more, all in quarantine", file=sys.stderr)
    if not landing.records:
        print(f"{feed.name}: nothing new; run {delivery.run_id} landed this before")
        return 0
    print_verdict(feed.name, landing.verdict)
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(landing.quarantined.items()))
    print(
        f"{feed.name}: landed {landing.records} records in one commit "
        f"({landing.records - quarantined} accepted, {quarantined} in quarantine{': ' + reasons if reasons else ''})"
    )
    return 0


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
        print_verdict(feed.name, landing.verdict)
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


if __name__ == "__main__":
    sys.exit(main())
