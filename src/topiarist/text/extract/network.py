"""Parsers without a network: what a hostile file makes of a parser, it tells nobody.

On Linux a process may move into a namespace that has no way out, not even to this machine's own servers. Others, and
systems that forbid it, parse without; ``topiarist doctor`` says which.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # of linux/sched.h


def leave() -> bool:
    """Give up the network for the rest of this process, where the system lets us; whether it did."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):
        return False
    return any(unshare(flags) == 0 for flags in (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK))


def can_be_left() -> bool:
    """Whether a process of ours could give up its network: tried in one of its own."""
    script = f"import sys; sys.path[:0] = {sys.path!r}; from {__name__} import leave; sys.exit(not leave())"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, env={**os.environ})  # noqa: S603
    return done.returncode == 0
