"""Where compiled kernels are kept, and whether they are there.

Numba keeps compiled code in files that must come from nobody else, so the folder must be ours: the user's cache folder,
or else one that is made for this process alone. Nothing hangs on them: where a disk is full, or what was written is cut
short, kernels are compiled anew.
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


def settle(config: ModuleType = numba.config) -> None:
    """Tell numba where to keep compiled kernels, unless the user has told it (``NUMBA_CACHE_DIR``)."""
    if not config.CACHE_DIR:
        config.CACHE_DIR = str(_folder())


def _folder() -> Path:
    """A folder that only we can write, so that import works where the package folder is read-only."""
    folder = Path(platformdirs.user_cache_dir("topiarist")) / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_ours(folder) and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="topiarist-"))


def is_ours(folder: Path) -> bool:
    """True when the folder belongs to this user and nobody else may write to it (where the system has such rights)."""
    if not hasattr(os, "geteuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


class Kept(FunctionCache):
    """Compiled code of one kernel on the disk: numba lets a fit fail where a file can be neither written nor read."""

    def load_overload(self, sig, target_context):
        """What was kept, or None: then it is compiled."""
        try:
            return super().load_overload(sig, target_context)
        except OSError:  # no file may be opened any more
            return None
        except Exception:  # cut short when the power went: otherwise every run to come would find it so
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        """Keep what was compiled, if there is room, and if the list of what is kept can be read."""
        with suppress(Exception):
            super().save_overload(sig, data)


@cache
def marker(dtype: str) -> Path:
    """The file that says that these kernels, for this Python on this processor, have been compiled here."""
    settle()
    verbs = dtype.partition("-")[2] or "counts"
    source = Path(__file__).parent / verbs / "compiled.py"
    known = (source.read_bytes(), str(source), str(source.stat().st_mtime_ns), numba.__version__)
    where = (platform.python_version(), platform.machine(), _processor(), str(numba.config.CACHE_DIR))
    digest = hashlib.sha256(repr((known, where)).encode())
    return Path(str(numba.config.CACHE_DIR)) / f"ready-{dtype}-{digest.hexdigest()[:16]}"


def _processor() -> str:
    from llvmlite import binding

    return str(binding.get_host_cpu_name())


def is_ready(dtype: str) -> bool:
    """True when the kernels of this precision lie in the cache: the next fit starts at once."""
    return marker(dtype).exists()


def keep(dtype: str) -> None:
    """Note that the kernels of this precision have been compiled, if there is room."""
    with suppress(OSError):
        marker(dtype).touch()
