"""Resident memory of this process, now and at its peak (Linux: the peak can be reset)."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def current() -> int:
    """Return the resident bytes now."""
    return _field("VmRSS")


def peak() -> int:
    """Return the highest resident bytes since the start or the last reset."""
    return _field("VmHWM")


def reset_peak() -> None:
    """Forget the peak so far, where the system can."""
    if _CLEAR.exists():
        _CLEAR.write_text("5")


def _field(name: str) -> int:
    if not _STATUS.exists():
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"{_STATUS} has no field {name}")
