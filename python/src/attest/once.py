"""Queries within a model that are worked out before Spark plans the rest of it (macros/belief/once.sql).

Spark copies such a query into each place that reads it, and looks through every copy at every step. Known
beforehand, it is a few rows, from which Spark also sees what can have none.
"""

from __future__ import annotations

import re

from pyspark.sql import DataFrame, SparkSession

from attest.kept import here

INNERMOST = re.compile(r"/\* once: \*/((?:(?!/\* once: \*/).)*?)/\* :once \*/", re.DOTALL)


def query(spark: SparkSession, code: str) -> DataFrame:
    """What the code selects, with the rows of these queries in their places. Those of too many rows stay queries."""
    number = 0
    while found := INNERMOST.search(code):
        view = f"once_{number}"
        rows = spark.sql(found.group(1))
        (here(spark, rows) or rows).createOrReplaceTempView(view)
        code = code.replace(found.group(0), f"select * from {view}")
        number += 1
    return spark.sql(code)
