"""Record of how a collection was grown: versions, processor, device and blocks.

The same texts, settings and edits give the same bits if these values are the same. A stopped grow can be resumed in
another environment, which is recorded too.
"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from topiarist.version import __version__

MADE_FROM = "made_from"  # setting: digest of sources and settings; equal digests give equal collections
MADE_WITH = "made_with"  # among the settings of a collection
LAST_STAGE = "taken_up_with"  # setting: environment of the last stage, if it differs
IN_BLOCKS = "in_blocks"  # limits of blocks for growth from files; also in the edit log
WAY = 6  # version of growth; increased when the same texts give another tree
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")  # sums can differ between versions of these


def describe_environment(device: str = "cpu") -> dict[str, Any]:
    """Return the versions and the processor that can change the last bits of a tree."""
    return {
        "topiarist": __version__,
        "way of growing": WAY,
        "Python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "processor": f"{platform.machine()} {_find_processor()}",
        "device": device,
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _find_processor() -> str:
    """Return the processor for which kernels are compiled; other processors can add in another order."""
    from llvmlite import binding

    try:
        return str(binding.get_host_cpu_name())
    except (OSError, RuntimeError):
        return "unknown"
