"""Whether a received text is a value of the type that its contract says, as the mapping will have to read it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Context, Decimal
from xml.parsers import expat

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]{1,4})?")
WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
CLOCK = r"[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
TIME = re.compile(rf"{DATE.pattern}({CLOCK})?")
LONGEST = 100
EXACT = Context(prec=LONGEST)
DECIMAL = re.compile(r"(?:decimal|fixed)\(([0-9]+),([0-9]+)\)")
GRID = re.compile(r"fixed\([0-9]+,([0-9]+)\)")


def is_value(text: str, of: str) -> bool:
    """Exactly: a number that its type would round is none of that type."""
    text = text.strip(" ")
    decimal = DECIMAL.fullmatch(of)
    try:
        return fits(text, *map(int, decimal.groups())) if decimal else CHECKS[of](text)
    except (ValueError, RecursionError, expat.ExpatError):
        return False


def fits(text: str, precision: int, scale: int) -> bool:
    if not NUMBER.fullmatch(text) or len(text) > LONGEST:
        return False
    _, digits, exponent = Decimal(text).normalize(EXACT).as_tuple()
    assert isinstance(exponent, int)
    return -exponent <= scale and len(digits) + exponent <= precision - scale


def on_grid(text: str, of: str) -> str:
    """A number on the grid of a fixed type, where a source's floats come close to what they mean; else as it is."""
    grid = GRID.fullmatch(of)
    if grid is None or len(text) > LONGEST or not NUMBER.fullmatch(text.strip(" ")):
        return text
    value = Decimal(text.strip(" "))
    return f"{value.quantize(Decimal(1).scaleb(-int(grid[1])), context=EXACT):f}" if value.adjusted() < 38 else text


def is_between(text: str, bits: int) -> bool:
    return WHOLE.fullmatch(text) is not None and -(2 ** (bits - 1)) <= int(text) < 2 ** (bits - 1)


def is_date(text: str) -> bool:
    return DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))


def is_time(text: str) -> bool:
    return TIME.fullmatch(text) is not None and bool(datetime.fromisoformat(text.upper()))


def is_json(text: str) -> bool:
    json.loads(text)
    return True


def is_xml(text: str) -> bool:
    """Well-formed, and without a document type: what it would expand to is not what was sent."""
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse_document_type
    parser.Parse(text, True)
    return True


def refuse_document_type(*_: object) -> None:
    raise ValueError("document type")


CHECKS: dict[str, Callable[[str], bool]] = {
    "boolean": lambda text: text in ("true", "false"),
    "date": is_date,
    "timestamp": is_time,
    "int": lambda text: is_between(text, 32),
    "bigint": lambda text: is_between(text, 64),
    "json": is_json,
    "xml": is_xml,
}
