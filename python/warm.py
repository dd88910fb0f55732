"""Do a little of everything once, so that Java can keep the classes that it took: `make setup` calls this.

A third of each command's start goes into loading Spark's classes. Java 17 keeps them, as loaded, in
the file that is named here, when it ends.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from attest import write
from attest.news import Note
from attest.session import JAVA_OPTIONS, THROUGHPUT, isolated, start
from attest.write import Table

VIEW = """
    create view told as
    with ordered as (select *, lag(n) over (partition by bk order by said) as before from words)
    select bk, sha2(concat(bk, said), 256) as sum, max_by(n, said) as n from ordered group by all
"""


def main(archive: Path, scratch: Path) -> None:
    os.environ[JAVA_OPTIONS] = f'{THROUGHPUT} "-XX:ArchiveClassesAtExit={archive}" -Xlog:cds*=off'
    spark = isolated(start({"spark.master": "local[2]", "attest.lake": str(scratch / "lake")}))
    rows = spark.createDataFrame([("a", 1, "x"), ("b", 2, "y")], "bk string, n int, said string")
    properties = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
    table = Table("words", key="bk", identity=["bk"], properties=properties)
    one = rows.limit(1)
    write.create(spark, table, rows, note=Note("first"), since=-1)
    write.append(spark, table, rows.selectExpr("concat(bk, '2') as bk", "n", "said"), note=Note("more"), since=0)
    write.replace_by_key(spark, table, one, keys=one.select("bk"), note=Note("replaced"), since=1)
    write.replace_by_key(spark, table, one.limit(0), keys=one.select("bk"), note=Note("emptied"), since=2)
    spark.sql(VIEW)
    spark.sql("select * from told left join words using (bk)").collect()
    spark.sql("select * from table_changes('words', 1)").collect()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(sys.argv[1]), Path(folder))
