"""Mistakes that someone could make in the engine, each one small replacement of its text.

A mutant names the law it breaks and the case that must tell it from the engine. To add
one is to add its lines here. Its text stands exactly once in the place it names, or the
proof stops: a mutant that no longer applies proves nothing.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from engine import ROOT, Engine
from pyspark import cloudpickle

MACROS = "macros"
TIMELINE, EVIDENCE, HASHING = f"{MACROS}/timeline", f"{MACROS}/evidence", f"{MACROS}/hashing"
BELIEF = f"{MACROS}/belief"
PACKAGE = "python/src/attest"
STATES, NEWS = f"{PACKAGE}/states.py", f"{PACKAGE}/news.py"


@dataclass(frozen=True)
class Mutant:
    name: str
    law: str
    place: str
    text: str
    becomes: str
    killer: str


MUTANTS = [
    Mutant(
        "source time descending",
        "E4",
        TIMELINE,
        "_ts asc,\ncoalesce(precedence_rank",
        "_ts desc,\ncoalesce(precedence_rank",
        killer="worked_12_4_7",
    ),
    Mutant(
        "rank step dropped",
        "E4",
        TIMELINE,
        "coalesce(precedence_rank, 0) desc,\n",
        "",
        killer="the_higher_rank_comes_first_whatever_its_name",
    ),
    Mutant(
        "sequence as text",
        "E4",
        TIMELINE,
        "source_sequence asc",
        "array_join(source_sequence, '/') asc",
        killer="sequences_compare_as_numbers",
    ),
    Mutant(
        "file step dropped",
        "E4",
        TIMELINE,
        "source_file asc nulls last,\n",
        "",
        killer="file_then_run_then_arrival_break_ties",
    ),
    Mutant(
        "deletes before upserts",
        "E4",
        TIMELINE,
        "is_deleted asc",
        "is_deleted desc",
        killer="a_delete_sorts_after_an_upsert_of_the_same_place",
    ),
    Mutant(
        "identity without sequence",
        "E1",
        EVIDENCE,
        "array_join(source_sequence, '/')",
        "cast(null as string)",
        killer="sequence_is_part_of_identity_so_a_b_a_ends_in_a",
    ),
    Mutant(
        "repeats not collapsed",
        "E1",
        EVIDENCE,
        "where copy = 1",
        "where copy >= 1",
        killer="a_repeat_does_not_come_after_what_tied_with_it",
    ),
    Mutant(
        "the last copy stands",
        "E1",
        EVIDENCE,
        "                ingest_ts,\n                source_file",
        "                ingest_ts desc,\n                source_file",
        killer="a_repeat_that_arrives_first_sets_first_seen",
    ),
    Mutant(
        "`<` for `<=` in as-known",
        "B2",
        STATES,
        "import bisect_right",
        "import bisect_left as bisect_right",
        killer="among_late_facts_arrival_at_the_same_instant_counts_as_known",
    ),
    Mutant(
        "own source skipped",
        "B2",
        STATES,
        "(own != NOTHING) | heard.unchanged",
        "heard.unchanged",
        killer="own_source_before_any_source",
    ),
    Mutant(
        "own source skipped among late facts",
        "B2",
        STATES,
        "found = own.latest(known_at)",
        "found = NOTHING",
        killer="a_late_partial_takes_its_own_source_first",
    ),
    Mutant(
        "any source skipped",
        "B2",
        STATES,
        "anyone = carried(heard.said, heard.entity)",
        "anyone = own",
        killer="any_source_where_own_never_spoke",
    ),
    Mutant(
        "any source skipped among late facts",
        "B2",
        STATES,
        "else self.by_any[name].latest(known_at)",
        "else NOTHING",
        killer="a_late_partial_takes_any_source_where_its_own_never_spoke",
    ),
    Mutant(
        "`repaired` for `as_known`",
        "B2",
        STATES,
        "~heard.repaired & (",
        "heard.repaired & (",
        killer="a_fact_that_arrived_later_is_not_inherited",
    ),
    Mutant(
        "`as_known` for `repaired`",
        "B2",
        STATES,
        "~heard.repaired & (",
        "(",
        killer="a_fact_that_arrived_later_is_not_inherited/repaired",
    ),
    Mutant(
        "unchanged takes another's word",
        "E3",
        STATES,
        "(own != NOTHING) | heard.unchanged",
        "own != NOTHING",
        killer="unchanged_with_no_own_value_is_unknown",
    ),
    Mutant(
        "unchanged only as known",
        "E3",
        STATES,
        "own.latest(None)",
        "own.latest(known_at)",
        killer="unchanged_takes_the_own_value_whenever_it_arrived",
    ),
    Mutant(
        "a mentioned null is no mention",
        "E3",
        EVIDENCE,
        ", map_contains_key({{ fields }}, '{{ field }}'))",
        ", false)",
        killer="mentioned_null_blanks",
    ),
    Mutant(
        "delete flag inherited",
        "B3",
        HASHING,
        "from {{ states }}",
        "from (select * except (is_deleted), max(is_deleted) over (partition by bk order by position) as is_deleted "
        "from {{ states }})",
        killer="revived_after_delete_keeps_what_was_known",
    ),
    Mutant(
        "collapse without source",
        "B4",
        TIMELINE,
        "not source_system <=> lag(source_system) over in_order\n    or ",
        "",
        killer="equal_states_of_two_sources_do_not_collapse",
    ),
    Mutant(
        "collapse by null-unsafe equality",
        "B4",
        TIMELINE,
        "not source_system <=> lag(source_system) over in_order\n    or not attr_hash <=> lag",
        "source_system != lag(source_system) over in_order\n    or attr_hash != lag",
        killer="a_delete_of_an_entity_never_seen",
    ),
    Mutant(
        "`lead` over the wrong order",
        "B4",
        TIMELINE,
        "min(effective_ts) over of_next_version",
        "lead(effective_ts) over (partition by bk, clock order by ingest_ts)",
        killer="worked_12_4_7",
    ),
    Mutant(
        "unknown hashed as null",
        "B5",
        HASHING,
        "{{ attest.encode_map('state', attributes) | indent(8) }}",
        """{% for name in attributes %}{{ encode("state['" ~ name ~ "']") }}{{ ',' if not loop.last }}{% endfor %}""",
        killer="what_is_unknown_becomes_null",
    ),
    Mutant(
        "delimiter hash",
        "B5",
        HASHING,
        "{{ attest.encode_map('state', attributes) | indent(8) }}",
        "array_join(map_values(state), '|', 'null')",
        killer="values_that_hold_quotes_and_delimiters_do_not_collide",
    ),
    Mutant(
        "outer spaces kept",
        "B5",
        HASHING,
        "trim(both ' ' from {{ text }})",
        "{{ text }}",
        killer="outer_blanks_do_not_open_a_version",
    ),
    Mutant(
        "news by maximum arrival",
        "B1",
        NEWS,
        "feed.table(log)",
        "feed.table(log).where(\"ingest_ts > '%s'\" % spark.read.option('versionAsOf', first - 1).table(log)"
        ".agg({'ingest_ts': 'max'}).first()[0])",
        killer="worked_12_4_6",
    ),
]


# Of the resolver; the killer is the set of rules under which it answers wrongly.
RESOLVERS = [
    Mutant(
        "rank and time swapped",
        "S2",
        BELIEF,
        """".rule = 'highest_rank', " ~ rule ~ '.rank, unix_micros(at))'""",
        """".rule = 'most_recent', " ~ rule ~ '.rank, unix_micros(at))'""",
        killer="ranks_and_recency",
    ),
    Mutant(
        "ties reversed",
        "S2",
        BELIEF,
        "            'position',\n",
        "            '-position',\n",
        killer="ranks_and_recency",
    ),
    Mutant(
        "inherited values as candidates",
        "S1",
        BELIEF,
        "    mentions,\n    cast(is_deleted",
        "    state as mentions,\n    cast(is_deleted",
        killer="ranks_and_recency",
    ),
    Mutant(
        "unlisted source admitted",
        "S1",
        BELIEF,
        "period.by_source[said.source_system] as rules",
        "coalesce(period.by_source[said.source_system], period.by_source['C']) as rules",
        killer="ranks_and_recency",
    ),
    Mutant(
        "the basis' rules for every known-at",
        "S4",
        BELIEF,
        "not period.is_basis and asked.known_at >= period.known_from and asked.known_at < period.known_until",
        "period.is_basis",
        killer="two_clocks",
    ),
    Mutant(
        "an arrival at the very instant is not known",
        "S4",
        BELIEF,
        "said.known_from <= line.known_by",
        "said.known_from < line.known_by",
        killer="ranks_and_recency",
    ),
    Mutant(
        "a rule still holds at its end",
        "S4",
        BELIEF,
        "and asked.as_at < period.effective_until",
        "and asked.as_at <= period.effective_until",
        killer="two_clocks",
    ),
    Mutant(
        "freshness ignored",
        "S2",
        BELIEF,
        "    at < {{ claim }}.fresh_until as is_fresh",
        "    true as is_fresh",
        killer="freshness",
    ),
    Mutant(
        "anyone may clear",
        "S2",
        BELIEF,
        "one.claim.rule = 'escalate_only' and one.claim.may_clear",
        "one.claim.rule = 'escalate_only'",
        killer="size_severity_and_quorum",
    ),
    Mutant(
        "a quorum of one less",
        "S2",
        BELIEF,
        ">= {{ best }}.claim.quorum",
        ">= {{ best }}.claim.quorum - 1",
        killer="quorums",
    ),
    Mutant(
        "coupled, but by anyone's word",
        "S2",
        BELIEF,
        "                    and one.claim.source_system = picked.claim.source_system\n",
        "",
        killer="coupled",
    ),
    Mutant(
        "each word counts as a change",
        "S2",
        BELIEF,
        "when 'most_recent_change' then unix_micros({{ claim }}.since)",
        "when 'most_recent_change' then unix_micros({{ claim }}.at)",
        killer="ranks_and_recency",
    ),
]

MARKED = [
    Mutant(
        "a mark is known before it was set",
        "S6",
        EVIDENCE,
        "greatest(in_order.known_from, worlds.begins) as known_from",
        "in_order.known_from",
        killer="as_known",
    ),
    Mutant(
        "what a mark took is known for ever",
        "S6",
        EVIDENCE,
        "worlds.ends as known_until",
        "cast(null as timestamp) as known_until",
        killer="as_known",
    ),
    Mutant(
        "a mark stands from after its instant",
        "S6",
        EVIDENCE,
        "{{ at }} >= {{ mark }}.marked_at",
        "{{ at }} > {{ mark }}.marked_at",
        killer="as_known",
    ),
    Mutant(
        "a mark stands at the instant of its clearing",
        "S6",
        EVIDENCE,
        "{{ at }} < {{ mark }}.cleared_at",
        "{{ at }} <= {{ mark }}.cleared_at",
        killer="as_known",
    ),
    Mutant(
        "a cleared mark still stands",
        "C4",
        EVIDENCE,
        "        on mark.cleared_at is null\n        and {{ attest.covers('mark', 'log') | indent(8) }}",
        "        on {{ attest.covers('mark', 'log') | indent(8) }}",
        killer="states",
    ),
    Mutant(
        "a mark of one feed speaks of all",
        "C4",
        EVIDENCE,
        "{{ log }}.feed = {{ mark }}.feed\nand ({{ mark }}.partition in",
        "({{ mark }}.partition in",
        killer="states",
    ),
]


class UnfitMutantError(AssertionError):
    """A mutant's text is not there once: the engine was rewritten, and the mutant must be too."""


def copied(root: Path, mutant: Mutant | None = None) -> Path:
    """A copy of the engine's SQL and Python, with the mutant's mistake in it."""
    shutil.copytree(ROOT / "macros", root / "macros")
    shutil.copytree(ROOT / PACKAGE, root / PACKAGE)
    if mutant is not None:
        mutate(root, mutant)
    return root


def mutate(root: Path, mutant: Mutant) -> None:
    file = file_of(root, mutant)
    file.write_text(file.read_text(encoding="utf-8").replace(mutant.text, mutant.becomes), encoding="utf-8")


def file_of(root: Path, mutant: Mutant) -> Path:
    """The one file that holds a mutant's text, once."""
    place = root / mutant.place
    files = sorted(place.rglob("*.sql")) if place.is_dir() else [place]
    times = {file: file.read_text(encoding="utf-8").count(mutant.text) for file in files}
    if sum(times.values()) != 1:
        raise UnfitMutantError(
            f"{mutant.name}: {mutant.place} holds {mutant.text!r} {sum(times.values())} times, not once. "
            "Give the mutant in tests/mutants.py the text as it reads now."
        )
    return max(files, key=times.__getitem__)


def made_of(root: Path) -> Engine:
    return Engine(root, loaded(root, STATES).register)


def loaded(root: Path, place: str) -> ModuleType:
    """A module of the copy, under a name of its own, sent whole to Spark's workers, which would import the engine's."""
    name = f"{Path(place).stem}_of_{root.name}"
    spec = importlib.util.spec_from_file_location(name, root / place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]  # a vendored module without types
    return module
