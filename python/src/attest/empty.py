"""What has no rows, told to Spark before it plans.

Many tables that a model reads are empty in most lakes: marks, deletes by absence, changes of keys, feeds that nobody
delivers yet. Each costs a listing of its files and a join wherever it is read; known to be empty, it costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyspark.sql import SparkSession

from attest.commits import columns_if_empty, view_text

EMPTY = "empty"


def read_as_empty(spark: SparkSession, code: str, *, tables: Iterable[str], views: Iterable[str]) -> str:
    """The code with an empty relation in the place of each table without files, in its views too.

    Tables are as they were when their commits were last asked for; views come after those that they read.
    """
    empty: dict[str, str] = {}
    for table in tables:
        columns = columns_if_empty(spark, table)
        if columns is not None:
            empty[table] = f"{EMPTY}_{len(empty)}"
            # Not `limit 0` of the table, which costs as much as a look at it.
            nothing = ", ".join(f"cast(null as {one.dataType.simpleString()}) as `{one.name}`" for one in columns)
            spark.sql(f"select {nothing} where false").createOrReplaceTempView(empty[table])
    if not empty:
        return code
    for view in views:
        text = view_text(spark, view) or ""
        spared = renamed(text, empty)
        if spared != text:
            empty[view] = f"{EMPTY}_{len(empty)}"
            spark.sql(spared).createOrReplaceTempView(empty[view])
    return renamed(code, empty)


def renamed(code: str, names: dict[str, str]) -> str:
    for name, other in names.items():
        code = re.sub(rf"(?<![\w`.]){re.escape(name)}(?![\w`.])", other, code)
    return code
