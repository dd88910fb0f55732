"""Checks of landings: what a row of their seed may say, and when a landing breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest
from attest.contract import feeds_of
from attest.detect import ENOUGH, Check, read_checks
from attest.errors import ContractError
from engine import ROOT

FEEDS = feeds_of(ROOT)
HEADER = "feed,measure,field,least,most,of,action,reason\n"
WRONG = {
    "paymets,records,,1,,itself,mark,Why": "Did you mean payments?",
    "payments,recrds,,1,,itself,mark,Why": "Did you mean records?",
    "payments,records,debtor,1,,itself,mark,Why": "is of the whole landing",
    "payments,mean,,1,,itself,mark,Why": "is of a field, and payments has none called ''",
    "payments,records,,,,itself,mark,Why": "neither least nor most",
    "payments,records,,many,,itself,mark,Why": "least is 'many', no number",
    "payments,records,,5,1,itself,mark,Why": "least is 5, more than most, 1",
    "payments,records,,1,,normal,mark,Why": "of is 'normal', not itself or usual",
    "payments,records,,1,,itself,stop,Why": "action is 'stop', not advise or mark",
    "payments,records,,1,,itself,mark,": "records has no reason",
    "payments,records,,1,,itself,mark,Why\npayments,records,,2,,itself,mark,Why": "is checked already",
}


@pytest.mark.parametrize("rows", WRONG)
def test_a_wrong_check_is_refused_with_its_line(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "partition_checks.csv"
    path.write_text(f"{HEADER}{rows}\n")
    with pytest.raises(ContractError, match=r"partition_checks\.csv, line [23]: ") as refused:
        read_checks(path, FEEDS)
    assert WRONG[rows] in str(refused.value)


def test_the_seed_and_the_examples_of_its_page_can_stand(tmp_path: Path) -> None:
    shipped = ROOT / "seeds" / "partition_checks.csv"
    page = (ROOT / "docs" / "marks.md").read_text(encoding="utf-8")
    examples = page.split("before there are three.\n\n```\n")[1].split("```")[0]
    path = tmp_path / "partition_checks.csv"
    path.write_text(shipped.read_text() + examples)
    assert [check.name for check in read_checks(path, FEEDS)["payments"]] == ["records", "null of debtor"]


def test_a_limit_is_kept_up_to_itself() -> None:
    check = Check("records", "", 2.0, 4.0, "itself", "mark", "Why")
    assert [check.broken_by(found, []) is None for found in (1.0, 2.0, 4.0, 5.0)] == [False, True, True, False]
    assert check.broken_by(None, []) is None


def test_what_is_usual_is_the_median_of_enough_landings() -> None:
    check = Check("records", "", 0.5, None, "usual", "mark", "Why")
    assert check.broken_by(1.0, [100.0] * (ENOUGH - 1)) is None
    assert check.broken_by(49.0, [1.0, 100.0, 9_000.0]) == "records is 49, less than 0.5 times the usual 100: Why"
    assert check.broken_by(50.0, [1.0, 100.0, 9_000.0]) is None
