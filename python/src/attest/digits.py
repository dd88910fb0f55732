"""JSON whose numbers stay the digits that somebody wrote: no float ever touches them."""

from __future__ import annotations

import json
from decimal import Context, Decimal, InvalidOperation
from functools import partial
from typing import Any


class Digits(str):
    """A number as it was written."""

    __slots__ = ()


def read_exactly(text: str | bytes) -> Any:
    return json.loads(text, parse_int=Digits, parse_float=Digits)


def written(value: Any, *, spaced: bool = True) -> str:
    """A value as JSON, as Python writes it."""
    if isinstance(value, Digits):
        return value
    comma, colon = (", ", ": ") if spaced else (",", ":")
    text = partial(written, spaced=spaced)
    if isinstance(value, dict):
        return "{" + comma.join(f"{text(name)}{colon}{text(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + comma.join(map(text, value)) + "]"
    return json.dumps(value, ensure_ascii=spaced)


def compact(value: Any) -> str:
    """A value as JSON without spaces, and without escapes that are not needed."""
    return written(value, spaced=False)


def canonical(value: Any) -> Any:
    """A value with its members by name, and one form a number."""
    if isinstance(value, Digits):
        return Digits(shortest(value))
    if isinstance(value, dict):
        return {name: canonical(value[name]) for name in sorted(value)}
    return list(map(canonical, value)) if isinstance(value, list) else value


def shortest(digits: str) -> str:
    """As Python's own JSON writes it, unless it has digits that a float would lose: those all count."""
    try:
        exact = Decimal(digits)
        if digits.lstrip("-").isdigit():
            return str(int(exact))
        short = repr(float(digits))
        return short if Decimal(short) == exact else str(exact.normalize(Context(prec=len(digits))))
    except (InvalidOperation, OverflowError, ValueError):
        return digits
