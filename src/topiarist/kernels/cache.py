"""Cache of compiled kernels on disk.

Numba executes the cached code, so the folder must be writable by this user only: the user's cache folder, or a
temporary folder of this process. The cache is optional. Kernels are compiled again if the disk is full or a file is
truncated.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

import numba
import platformdirs
from numba.core.caching import FunctionCache


def configure_cache(config: ModuleType = numba.config) -> None:
    """Set numba's cache folder, unless the user has set ``NUMBA_CACHE_DIR``."""
    if not config.CACHE_DIR:
        config.CACHE_DIR = str(_find_folder())


def _find_folder() -> Path:
    """Return a private cache folder, so that a read-only package folder does not prevent caching."""
    folder = Path(platformdirs.user_cache_dir("topiarist")) / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_private(folder) and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="topiarist-"))


def is_private(folder: Path) -> bool:
    """Return True if the folder belongs to this user and other users cannot write to it (on systems with owners)."""
    if not hasattr(os, "geteuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


class CachedKernel(FunctionCache):
    """Disk cache of one kernel that ignores unreadable and unwritable files, on which numba would raise."""

    def load_overload(self, sig, target_context):
        """Return the cached code, or None to compile it again."""
        try:
            return super().load_overload(sig, target_context)
        except OSError:  # too many open files
            return None
        except Exception:  # truncated by a power failure: delete it, or every later run fails on it
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        """Save compiled code if the disk has space and the cache index is readable."""
        with suppress(Exception):
            super().save_overload(sig, data)


@cache
def get_ready_file(dtype: str) -> Path:
    """Return the marker file of compiled kernels; its name depends on their source, Python and processor."""
    configure_cache()
    group = dtype.partition("-")[2] or "counts"
    source = Path(__file__).parent / group / "compiled.py"
    code = (source.read_bytes(), str(source), str(source.stat().st_mtime_ns), numba.__version__)
    machine = (platform.python_version(), platform.machine(), _get_processor(), str(numba.config.CACHE_DIR))
    digest = hashlib.sha256(repr((code, machine)).encode())
    return Path(str(numba.config.CACHE_DIR)) / f"ready-{dtype}-{digest.hexdigest()[:16]}"


def _get_processor() -> str:
    from llvmlite import binding

    return str(binding.get_host_cpu_name())


def is_ready(dtype: str) -> bool:
    """Return True if the kernels of a precision are in the cache."""
    return get_ready_file(dtype).exists()


def mark_ready(dtype: str) -> None:
    """Record that the kernels of a precision have been compiled, if the disk has space."""
    with suppress(OSError):
        get_ready_file(dtype).touch()
