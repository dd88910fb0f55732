"""What a model has worked out before Spark plans it."""

from __future__ import annotations

import engine
import pytest
from attest import kept
from attest.once import INNERMOST, query
from pyspark.sql import SparkSession

FEW = engine.sql("once", query="select id from range(3)")
MORE = engine.sql("once", query=f"select id + 1 as id from {FEW} /* not this */ -- nor this\n where id > 0")
READ = f"with few as (select * from {FEW}) select * from few join {MORE} using (id) join {FEW} as again using (id)"


@pytest.mark.parametrize("here", [100_000, 0], ids=["few rows", "too many"])
def test_a_query_that_is_worked_out_once_gives_what_it_gives_in_its_place(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, here: int
) -> None:
    monkeypatch.setattr(kept, "HERE", here)
    assert [tuple(row) for row in query(spark, READ).collect()] == [(2,)]
    assert [tuple(row) for row in spark.sql(READ).collect()] == [(2,)]


def test_spark_plans_rows_where_a_query_was_and_sees_that_there_are_none(spark: SparkSession) -> None:
    empty = engine.sql("once", query="select id from range(3) where id > 5 group by id")
    plan = query(spark, f"select * from range(9) join {empty} using (id)")._jdf.queryExecution().optimizedPlan()
    assert "Range" not in plan.toString(), plan.toString()


def test_the_periods_of_rules_are_worked_out_once_for_a_belief(spark: SparkSession) -> None:
    told = engine.sql("belief", entity="customer", assertions="states", rules="rules", attributes=engine.ATTRIBUTES)
    [found] = INNERMOST.findall(told)
    assert "by_source" in found
