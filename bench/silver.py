"""What Silver costs: beliefs from states, beside the same states moved without logic.

One entity of ten attributes in four groups, decided among three sources; ten assertions an
entity. Contenders, in one session: the full build; a build without news; news of 1,000
entities; an edited rule of a source that one entity in twenty heard from, and of one that all
did; belief_as_of for everyone; why, for one key. Builds are of Silver alone, Bronze untimed.

    ENTITIES=100000  how many (the full run: 1000000)
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path

from attest.logs import PROPERTIES
from attest.news import Note
from attest.project import Project, read_project
from attest.why import explain, open_case
from attest.write import Table, append, create
from dbt.cli.main import dbtRunner
from lake import FIRST_DAY, ROOT, build, keep, landed_rows, moved_without_logic, scratch_lake, seconds
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

SCHEMA = "silver"
NEWS = 1_000
EACH = 10
GROUPS = {
    "name": ("name", "salutation"),
    "address": ("address", "postcode", "city", "country"),
    "status": ("status", "segment", "risk", "branch"),
    "deletion": ("is_deleted",),
}
RULES = {"name": "most_recent", "address": "most_recent", "status": "highest_rank", "deletion": "highest_rank"}
SOURCES = ("CORE", "CRM", "VENDOR")
ATTRIBUTES = [attribute for group in GROUPS.values() for attribute in group if attribute != "is_deleted"]
BRONZE = ("--select", "+customer_states")
SILVER = ("--select", "customer_rules", "customer_belief", "customer_bases", "precedence", "attribute_groups")


def project(scratch: Path) -> Path:
    """This project with an entity of ten attributes in the customer's place."""
    root = scratch / "project"
    for folder in ("macros", "models", "seeds", "tests/data"):
        shutil.copytree(ROOT / folder, root / folder)
    declared = (ROOT / "dbt_project.yml").read_text(encoding="utf-8")
    ten = "".join(f"        {attribute}: string\n" for attribute in ATTRIBUTES)
    three = re.escape("        name: string\n        address: string\n        status: string\n")
    written, found = re.subn(three, ten, declared, count=1)
    assert found == 1, "the customer's attributes are not where they were"
    (root / "dbt_project.yml").write_text(written, encoding="utf-8")
    shutil.copyfile(ROOT / "profiles.yml.example", root / "profiles.yml")
    groups = [f"customer,{attribute},{group}\n" for group, those in GROUPS.items() for attribute in those]
    reseed(root / "seeds" / "attribute_groups.csv", groups)
    rule(root, reason="As it was")
    return root


def rule(root: Path, *, source: str = "", reason: str) -> None:
    """The rules; the reason of a source's name rule can be edited, which makes it another rule."""
    rows = []
    for group, kind in RULES.items():
        for rank, one in enumerate(reversed(SOURCES), start=1):
            told = reason if (one, group) == (source, "name") else "As it was"
            rows.append(f"customer,{group},{one},{rank},{kind},,,,,,,1900-01-01,,1900-01-01,,sales,governance,{told}\n")
    reseed(root / "seeds" / "precedence.csv", rows)


def reseed(seed: Path, rows: list[str]) -> None:
    header, *held = seed.read_text(encoding="utf-8").splitlines(keepends=True)
    seed.write_text("".join([header, *(row for row in held if not row.startswith("customer,")), *rows]), "utf-8")


def landed(spark: SparkSession, entities: int) -> DataFrame:
    """Ten assertions an entity, of one group each; one entity in twenty heard from the vendor too."""
    number = F.col("id")
    entity, place = F.floor(number / EACH), number % EACH
    key = F.concat(F.lit("C"), entity.cast("string"))
    vendor = (entity % 20 == 0) & (place == 7)
    source = F.when(vendor, "VENDOR").when(place % 2 == 0, "CRM").otherwise("CORE")
    said = F.timestamp_seconds(F.lit(FIRST_DAY) + place * 86_400 + entity % 3_600)
    text = F.concat(F.lit("value "), number.cast("string"))
    groups = [those for those in GROUPS.values() if "is_deleted" not in those]
    told = [
        F.when((place % len(groups) == turn) | (place == 0), F.struct(F.lit(attribute), text))
        for turn, those in enumerate(groups)
        for attribute in those
    ]
    known = [F.struct(F.lit("customer_id"), key), F.struct(F.lit("source_system"), source)]
    fields = F.map_from_entries(F.array_compact(F.array(*known, *told)))
    arrived = said + F.expr("interval 5 minutes")
    return landed_rows(spark.range(entities * EACH), fields=fields, said=said, arrived=arrived)


def moved_on(rows: DataFrame) -> DataFrame:
    later = F.col("ingest_ts") + F.expr("interval 60 days")
    first = rows.where(F.col("source_record") % EACH == 1).orderBy("source_record").limit(NEWS)
    return first.withColumns({"landing_id": F.lit("L2"), "ingest_ts": later, "source_event_ts": later})


def measure(spark: SparkSession, scratch: Path, entities: int) -> list[tuple[str, float, str]]:
    """Each contender with its seconds and what its belief's commit says of itself."""
    root = project(scratch)
    took: list[tuple[str, float, str]] = []

    def tell(name: str, spent: float, what: str = "") -> None:
        took.append((name, spent, what))
        print(f"  {name:<24} {spent:>8.1f} s   {what}", flush=True)

    def silver(name: str) -> None:
        with seconds() as spent:
            results = build(*SILVER, scratch=scratch, root=root)
        tell(name, spent[0], results["customer_belief"].message)

    table = Table(f"{SCHEMA}.landing_worked", properties=PROPERTIES)
    spark.sql(f"create schema if not exists {SCHEMA}")
    create(spark, table, landed(spark, entities), note=Note("bench"))
    with seconds() as spent:
        build(*BRONZE, scratch=scratch, root=root)
    print(f"  Bronze, untimed: {spent[0]:.0f} s", flush=True)
    states = spark.table(f"{SCHEMA}.customer_states")
    floors = [moved_without_logic(states, f"{SCHEMA}.floor", order="effective_ts") for _ in range(3)]
    tell("floor", statistics.median(floors))
    silver("full build")
    silver("no news")
    append(spark, table, moved_on(landed(spark, entities)), note=Note("bench"))
    build(*BRONZE, scratch=scratch, root=root)
    silver("news of 1,000")
    rule(root, source="VENDOR", reason="Edited")
    silver("a rule of one in twenty")
    rule(root, source="CRM", reason="Edited")
    silver("a rule of everyone")
    asked = "select * from {{ belief_as_of('customer', as_at='2026-01-05T12:00:00Z') }}"
    compiled = dbtRunner().invoke(
        ["--log-level", "none", "compile", "--inline", asked, "--project-dir", str(root), "--profiles-dir", str(root)]
    )
    sql = compiled.result.results[0].node.compiled_code
    # Every answer, whole; the usual sink for nothing cannot read a table with deletion vectors.
    answers = spark.sql(sql).selectExpr("bit_xor(xxhash64(*))")
    with seconds() as spent:
        answers.collect()
    tell("belief_as_of everyone", spent[0])
    whys: list[float] = []
    for key in ("C1", "C2", "C3", "C4"):
        with seconds() as spent:
            why(spark, root, key)
        whys += spent
    tell("why, for the first key", whys[0])
    tell("why, for the next", statistics.median(whys[1:]))
    return took


def why(spark: SparkSession, root: Path, key: str) -> str:
    asked: Project = replace(read_project(root), schema=SCHEMA)
    return explain(spark, asked, open_case(spark, asked, entity="customer", key=key))


def main() -> None:
    entities = int(os.environ.get("ENTITIES", "100000"))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        os.environ["ATTEST_SCHEMA"] = SCHEMA
        spark = scratch_lake(scratch)
        print(f"{entities:,} entities, {entities * EACH:,} assertions", flush=True)
        took = measure(spark, scratch, entities)
    least = next(spent for name, spent, _ in took if name == "floor")
    idle = next(spent for name, spent, _ in took if name == "no news")
    rows = [
        {"case": f"{entities} entities", "contender": name, "seconds": round(spent, 1)}
        | {"ratio": round(spent / least, 2), "to_no_news": round(spent / idle, 2), "said": said}
        for name, spent, said in took
    ]
    keep("silver", rows)
    print("\n  ratio to the floor, and to a build without news")
    for row in rows:
        print(f"  {row['contender']:<24} {row['ratio']:>7.2f} {row['to_no_news']:>7.2f}")


if __name__ == "__main__":
    main()
