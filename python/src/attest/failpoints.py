"""Points of a build that have a name, so that a crash or another writer can be put exactly there.

    ATTEST_KILL_AT="after the commit of attest.customer_states"   kills the process there, as `kill -9` does

The points: before the write, after data files, after the commit, between two models (all of a
table or node), and before the ledger row.
"""

from __future__ import annotations

import os
import signal

KILL_AT = "ATTEST_KILL_AT"


def reach(point: str, of: str) -> None:
    if os.environ.get(KILL_AT) == f"{point} of {of}":
        os.kill(os.getpid(), signal.SIGKILL)
