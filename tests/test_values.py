"""Values of the types that a contract can give a field: what is not one lands in quarantine. No Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest
from attest.record import UnreadableError, read_record
from attest.values import is_value
from engine import contract

RIGHT = {
    "decimal(18,2)": ["12.50", "-0.5", "1e3", ".5", "12.500", " 7 ", "9999999999999999.99"],
    "int": ["2147483647", "-2147483648", "+7"],
    "bigint": ["9223372036854775807"],
    "boolean": ["true", "false"],
    "date": ["2024-02-29"],
    "timestamp": ["2026-03-01T09:00:00Z", "2026-03-01 09:00", "2026-03-01", "2026-03-01T09:00:00.123456+01:00"],
    "json": ['{"a": [1]}', "null", '"text"'],
    "xml": ["<a><b/>text</a>"],
}
WRONG = {
    "decimal(18,2)": ["12,50", "12.505", "10000000000000000", "NaN", "", "1e99", "9" * 101, "twelve"],
    "int": ["2147483648", "1.0", "٣"],
    "bigint": ["9223372036854775808"],
    "boolean": ["yes", "1", "True"],
    "date": ["2026-02-29", "01/03/2026", "20260301", "2026-03-01T09:00:00Z"],
    "timestamp": ["2026-03-01T25:00:00Z", "soon", "1772355600"],
    "json": ["{", "[" * 100_000],
    "xml": ["<a>", "text", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
}


@pytest.mark.parametrize("of", RIGHT)
def test_a_value_of_its_type_is_accepted(of: str) -> None:
    assert [text for text in RIGHT[of] if not is_value(text, of)] == []


@pytest.mark.parametrize("of", WRONG)
def test_what_is_none_or_would_be_rounded_is_refused(of: str) -> None:
    assert [text[:20] for text in WRONG[of] if is_value(text, of)] == []


def test_law_e2_a_value_not_of_its_type_is_quarantined_and_does_not_stop_the_build() -> None:
    payment = '{"payment_id": "P", "source_system": "S", "booked_at": "2026-03-01T09:00:00Z", "amount": "12,50"}'
    with pytest.raises(UnreadableError, match="amount is '12,50', no decimal") as refused:
        read_record(payment, contract("payments"))
    assert refused.value.reason == "unreadable_value"
    for fine in ('"12.5"', "12.5", "null"):
        read_record(payment.replace('"12,50"', fine), contract("payments"))


def test_law_b5_what_the_contract_reads_as_null_needs_no_type() -> None:
    feed = contract("payments")
    payment = '{"payment_id": "P", "source_system": "S", "booked_at": "2026-03-01T09:00:00Z", "amount": "N/A"}'
    read = read_record(payment, replace(feed, promises={**feed.promises, "null_text": ("N/A",)}))
    assert read.fields["amount"] is None
