"""One Spark session for every test, on a scratch lake of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that no user has: every dbt command and every session of the tests works here."""
    place = tmp_path_factory.mktemp("lake")
    os.environ["ATTEST_LAKE"] = str(place)
    return place


@pytest.fixture(scope="session")
def root_session(lake: Path) -> SparkSession:
    from attest.session import start

    return start({"spark.master": "local[2]", "spark.driver.memory": "3g", "attest.lake": str(lake)})


@pytest.fixture
def spark(root_session: SparkSession) -> Iterator[SparkSession]:
    """An isolated session a test, so that temporary views never meet."""
    from attest.session import isolated

    yield isolated(root_session)
