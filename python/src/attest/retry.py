"""Where another writer came between, what was read is out of date: read it again, and compute it again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from delta.exceptions import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentTransactionException,
    ConcurrentWriteException,
    DeltaConcurrentModificationException,
    MetadataChangedException,
    ProtocolChangedException,
)

from attest.errors import ConflictError, OvertakenError

Result = TypeVar("Result")

CONFLICTS = (
    OvertakenError,
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentTransactionException,
    ConcurrentWriteException,
    DeltaConcurrentModificationException,
    MetadataChangedException,
    ProtocolChangedException,
)
RETRIES = 5
FIRST_WAIT = 0.2


def retried(action: Callable[[], Result], *, of: str, wait: Callable[[float], None] = time.sleep) -> tuple[Result, int]:
    """The action's result, and how often it was done again. It must begin with reading, and end with one commit."""
    retries = 0
    while True:
        try:
            return action(), retries
        except CONFLICTS as conflict:
            if retries == RETRIES:
                raise ConflictError(
                    f"{of}: other writers came between {RETRIES + 1} times in a row, so nothing was written. "
                    f"Let them finish, then build again. The last one: {first_line(conflict)}"
                ) from None
        wait(random.uniform(0, FIRST_WAIT * 2**retries))
        retries += 1


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:300]
