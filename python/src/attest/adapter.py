"""What dbt-spark's session method lacks: a session per connection, ANSI, and Python in process.

`adopt` puts these in place of dbt-spark's own classes and methods; nothing else of
dbt is touched. With ATTEST_OFFLINE=1 no session is ever started, so `dbt compile`
and the linter need no Java.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.spark import impl, session
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from attest.commits import described
from attest.errors import AttestError
from attest.failpoints import reach

if TYPE_CHECKING:
    from attest.order import Outcome


# How a data test is answered that need not be asked, and what dbt is told of its columns.
NO_FAILURES = "select 0 as failures, false as should_warn, false as should_error"
ANSWERED = ("failures", "should_warn", "should_error")


@dataclass
class NodeResponse(AdapterResponse):  # type: ignore[misc]
    """What dbt keeps of a node in its results, and the ledger of runs after it."""

    primitive: str = ""
    keys: int | None = None
    rows_removed: int = 0
    bytes: int = 0
    version_before: int | None = None
    version_after: int | None = None
    retries: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @staticmethod
    def of(outcome: Outcome, retries: int) -> NodeResponse:
        wrote = outcome.wrote
        if wrote is None:
            return NodeResponse(_message=outcome.message, rows_affected=0, retries=retries)
        told = {name: value for name, value in asdict(wrote).items() if name != "rows"}
        told |= {"keys": outcome.keys, "retries": retries}
        told |= {"counts": dict(outcome.counts), "warnings": list(outcome.warnings)}
        return NodeResponse(_message=outcome.message, rows_affected=wrote.rows, **told)


def offline() -> bool:
    return os.environ.get("ATTEST_OFFLINE", "") not in ("", "0")


class IsolatedConnection(session.Connection):  # type: ignore[misc]
    """One dbt connection, one Spark session: what a node sets or creates in it, no other node sees."""

    _session: SparkSession | None = None

    @property
    def spark(self) -> SparkSession:
        if self._session is None:
            if offline():
                raise DbtRuntimeError("ATTEST_OFFLINE is set, and this command needs the lake. Unset it.")
            from attest.session import isolated, start  # noqa: PLC0415

            try:
                self._session = isolated(start(self.server_side_parameters))
            except AttestError as error:
                raise DbtRuntimeError(str(error)) from None
        return self._session

    def cursor(self) -> IsolatedCursor:
        return IsolatedCursor(self)


class IsolatedCursor(session.Cursor):  # type: ignore[misc]
    """A cursor on its connection's own session. What the package knew already is no question to Spark."""

    def __init__(self, connection: IsolatedConnection) -> None:
        super().__init__()
        self._connection = connection

    @property
    def description(self) -> Sequence[tuple[Any, ...]]:
        if self._df is None and self._rows is not None:
            return [(name, "int", None, None, None, None, False) for name in ANSWERED]
        described_by_spark: Sequence[tuple[Any, ...]] = super().description
        return described_by_spark

    def execute(self, sql: str, *parameters: Any) -> None:
        if parameters:
            sql = sql % parameters
        if sql.rstrip().endswith(NO_FAILURES):
            self._df, self._rows = None, [[0, False, False]]
            return
        try:
            self._df = self._connection.spark.sql(sql)
        except PySparkException as error:
            raise DbtRuntimeError(str(error)) from error


def literal(value: Any) -> str:
    """A binding as SQL, for whoever still inserts through dbt: None is null and quotes are kept."""
    if value is None:
        return "null"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def submit_python_job(adapter: SparkAdapter, parsed_model: dict[str, Any], compiled_code: str) -> AdapterResponse:
    """Run a node's Python in this process, on the node's own session.

    The code reports by setting `outcome`, which dbt prints and keeps in its results.
    """
    from attest.retry import retried  # noqa: PLC0415

    file_name = f"<{parsed_model['unique_id']}>"
    linecache.cache[file_name] = (len(compiled_code), None, compiled_code.splitlines(keepends=True), file_name)
    spark = session_of(adapter)
    name = parsed_model["name"]
    code = compile(compiled_code, file_name, "exec")

    def run() -> Outcome | None:
        namespace: dict[str, Any] = {"__name__": f"attest_node_{name}", "spark": spark}
        exec(code, namespace)
        return namespace.get("outcome")

    try:
        outcome, retries = retried(run, of=name)
    except AttestError as error:
        raise DbtRuntimeError(f"{type(error).__name__}: {error}") from error
    reach("between two models", name)
    return AdapterResponse(_message="OK") if outcome is None else NodeResponse.of(outcome, retries)


def has_passed(adapter: SparkAdapter, test: str, sql: str, reads: list[str], ledger: str) -> bool:
    """For the data tests' macro: see `attest.checks`."""
    if offline():
        return False
    from attest.checks import has_passed as asked  # noqa: PLC0415

    spark, invocation = session_of(adapter), get_invocation_id()
    return asked(spark, test=test, sql=sql, reads=reads, ledger=ledger, invocation=invocation)


def remember_passed(adapter: SparkAdapter, tests: list[str], ledger: str) -> None:
    from attest.checks import remember  # noqa: PLC0415

    reach("before the ledger row", ledger)
    remember(session_of(adapter), tests=tests, ledger=ledger)


def view_made_of(adapter: SparkAdapter, statement: str, reads: list[str]) -> str:
    """For the macro that makes views: see `attest.views`."""
    if offline():
        return ""
    from attest.views import made_of  # noqa: PLC0415

    return made_of(session_of(adapter), statement=statement, reads=reads)


def is_view_made(adapter: SparkAdapter, view: str, text: str, of: str) -> bool:
    if offline():
        return False
    from attest.views import is_made  # noqa: PLC0415

    return is_made(session_of(adapter), view=view, text=text, of=of)


def is_there(adapter: SparkAdapter, table: str) -> bool:
    """For materializations that may have nothing to make."""
    return not offline() and described(session_of(adapter), table) is not None


def session_of(adapter: SparkAdapter) -> SparkSession:
    spark: SparkSession = adapter.connections.get_thread_connection().handle.handle.spark
    return spark


def adopt() -> None:
    for offered in (submit_python_job, has_passed, remember_passed, view_made_of, is_view_made, is_there):
        setattr(SparkAdapter, offered.__name__, offered)
        SparkAdapter._available_ |= {offered.__name__}
    session.Connection = IsolatedConnection
    session.SessionConnectionWrapper._fix_binding = classmethod(lambda _, value: literal(value))
    listing = SparkAdapter.list_relations_without_caching
    SparkAdapter.list_relations_without_caching = lambda adapter, schema: [] if offline() else listing(adapter, schema)
    impl.SparkAdapter.check_schema_exists = _check_schema_exists(impl.SparkAdapter.check_schema_exists)


def _check_schema_exists(checking: Any) -> Any:
    return lambda adapter, database, schema: True if offline() else checking(adapter, database, schema)
