"""The command line: `attest land`, `capture`, `stream`, `release`, `gate`, `mark`, `why`, `publish` and more.

Exit code 0 when done, 1 when a user can mend it, 2 for usage."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from attest.errors import AttestError
from attest.project import read_project

if TYPE_CHECKING:
    from datetime import timedelta


def main(arguments: Sequence[str] | None = None) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        project = read_project(options.project_dir.resolve(), target=options.target)
        code: int = import_module(f"attest.commands.{options.run}").run(project, options)
    except AttestError as error:
        print(f"attest: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    return code


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="attest", description="Land what sources say, and ask why it is believed.")
    parser.add_argument(
        "--project-dir", type=Path, default=Path(), metavar="DIR", help="the dbt project (default: this folder)"
    )
    parser.add_argument("--target", metavar="NAME", help="the profile's output (default: the profile's own choice)")
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
    land.set_defaults(run="land")

    capture = commands.add_parser(
        "capture",
        help="capture what an HTTP endpoint answers, to be landed",
        description="Ask an endpoint (captures.yml) for all of its pages and keep what it answers as one capture, "
        "which says whether it is complete. One that broke off goes on where it stopped. Exit code 1 if it is "
        "incomplete.",
    )
    capture.add_argument("feed", metavar="FEED", help="a feed of seeds/feeds.csv whose format is capture")
    capture.add_argument("--restart", action="store_true", help="do not go on from what an earlier call left")
    capture.set_defaults(run="capture")

    add_stream(commands)

    release = commands.add_parser(
        "release",
        help="land again what a feed's contract did not let through",
        description="Read every record that is in quarantine, or was landed while the gate rejected the feed, under "
        "today's contract, and land those that pass, with the arrival they had. Nothing is landed twice.",
    )
    release.add_argument("feed", metavar="FEED", help="a feed of seeds/feeds.csv")
    release.add_argument("--landing", metavar="ID", help="one landing of it only, as the table names it")
    release.set_defaults(run="release")

    gate = commands.add_parser(
        "gate",
        help="say what the contracts' promises let each feed become",
        description="Print the gate's verdict on each feed's promises (seeds/promises.csv), with every reason. "
        "What a landing measures may make it worse: see the model feed_verdicts.",
    )
    gate.add_argument("feed", metavar="FEED", nargs="?", help="one feed (default: all)")
    gate.set_defaults(run="gate")

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
    why.set_defaults(run="why")

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
    preview.set_defaults(run="preview")

    reproduce = commands.add_parser(
        "reproduce",
        help="compute the beliefs of an earlier build again, from evidence alone",
        description="Compute what a build of Silver believed, from the evidence and the rules that it rested on, and "
        "compare the sum of every byte with what it stamped. Exit code 1 if they differ.",
    )
    reproduce.add_argument("basis", metavar="BASIS_ID", help="a basis_id of the entity's bases, such as customer_bases")
    reproduce.set_defaults(run="reproduce")

    publish = commands.add_parser(
        "publish",
        help="publish what was believed at the end of a day, to stay as it is",
        description="Add to ENTITY_days what was believed of every entity at the end of a day, with what was known "
        "then. Readers ask ENTITY_daily, which shows an older good day with what came later where one is marked bad.",
    )
    publish.add_argument("entity", metavar="ENTITY", help="as in dbt_project.yml, such as customer")
    publish.add_argument("--day", type=day, metavar="DAY", help="such as 2026-03-01, in UTC (default: yesterday)")
    publish.set_defaults(run="publish")

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
    maintain.set_defaults(run="maintain")
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
    stream.set_defaults(run="stream")


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
    mark.set_defaults(run="mark")
    resume = commands.add_parser(
        "resume",
        help="let what a feed landed since a mark count; the partition stays bad",
        description="Let in what was held since a partition was marked, and what lands from now on, such as its "
        "correction. The partition itself stays left out.",
    )
    resume.set_defaults(run="clear", landing_only=True)
    unmark = commands.add_parser(
        "unmark",
        help="say that a partition is good after all",
        description="Clear a mark: the next build has the partition, and all that was held since, as if it had never "
        "been marked. What was known in between stays on record.",
    )
    unmark.set_defaults(run="clear", landing_only=False)
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
    marks.set_defaults(run="marks")


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


if __name__ == "__main__":
    sys.exit(main())
