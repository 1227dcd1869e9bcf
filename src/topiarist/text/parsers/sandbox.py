"""Sandbox of the parsers: no files but the sources, and no network.

On Linux 5.13 and later a process can restrict itself with Landlock to some folders for the rest of its life: the
sources, a scratch folder of its own, and the libraries that it uses. From 6.7 on it has no TCP either, from 6.12 on it
can reach no other process. A network namespace of its own has no way out, not even to servers of this machine. Other
systems parse without a sandbox; ``topiarist doctor`` shows which parts are available.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same numbers on every machine in use
_VERSION, _PATH_BENEATH = 1, 1  # flag of the first call, rule type of the second
_NO_NEW_RIGHTS = 38  # of linux/prctl.h
_WRITE_FILE, _READ_FILE, _READ_FOLDER, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE  # rights of a path that is no folder
_NO_TCP, _NO_OTHERS = 0b11, 0b11  # no bind and connect; no abstract sockets and signals beyond this process
_READ = _READ_FILE | _READ_FOLDER
_FORBIDDEN = 1 | 1 << 6 | 0b1111 << 9  # execute; create devices, sockets, pipes and links
SYSTEM = (
    "/usr", "/lib", "/lib64", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/dev/null", "/dev/urandom",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/self/cgroup", "/proc/self/statm", "/sys/devices/system/cpu",
)  # fmt: skip


class _Rules(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _BeneathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def drop_file_access(readable: Iterable[str], writable: Iterable[str] = ()) -> bool:
    """Give up all files but these and those of the interpreter, for good; return whether it worked."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        system = ctypes.CDLL(None, use_errno=True)
        version = int(system.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION))
    except (OSError, AttributeError):
        return False
    if version < 1:
        return False
    handled_access = (1 << (13 if version == 1 else 14 if version == 2 else 15)) - 1
    rules = _Rules(handled_access, _NO_TCP if version >= 4 else 0, _NO_OTHERS if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = system.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    try:
        for path in (*list_own_files(), *readable):
            _allow(system, ruleset, path, _READ & handled_access)
        _allow(system, ruleset, os.devnull, (_READ | _WRITE_FILE) & handled_access)
        for path in writable:
            _allow(
                system, ruleset, path, handled_access & ~_FORBIDDEN
            )  # everything but running it, and what only looks like a file
        if system.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0):
            return False
        return bool(system.syscall(_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def list_own_files() -> Iterator[str]:
    """Yield the paths that an interpreter reads to load modules: libraries and this package."""
    yield from SYSTEM
    yield from {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()}
    yield str(Path(__file__).resolve().parents[2])
    yield from (path for path in sys.path if path.endswith(".zip") or _has_packages(path))
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))


def _has_packages(path: str) -> bool:
    """Return whether packages are installed in a folder of the module path; the folder of a script can be a home."""
    name = os.path.basename(path.rstrip("/"))
    return name in ("site-packages", "dist-packages") or next(Path(path).glob("*.dist-info"), None) is not None


def _allow(system: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    """Allow a path and all paths below it; a missing path is ignored."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = access if os.path.isdir(path) else access & _OF_FILES
        rule = _BeneathRule(allowed, handle)
        system.syscall(_ADD, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(handle)


_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # of linux/sched.h


def drop_network_access() -> bool:
    """Give up the network for the life of the process; return whether it worked."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):
        return False
    return any(unshare(flags) == 0 for flags in (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK))


def can_drop_file_access() -> bool:
    """Return whether a process can give up its files, tried in a new process."""
    return _probe("drop_file_access(())")


def can_drop_network_access() -> bool:
    """Return whether a process can give up its network, tried in a new process."""
    return _probe("drop_network_access()")


def _probe(call: str) -> bool:
    """Return whether a call succeeds in a new Python process."""
    script = f"import sys; sys.path[:0] = {sys.path!r}; from {__name__} import *; sys.exit(not {call})"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, env={**os.environ})  # noqa: S603
    return done.returncode == 0
