"""Parsers without files: what a hostile file makes of a parser, it reads nothing else with it, and changes nothing.

On Linux (5.13 and later) a process may bind itself by Landlock to some folders for the rest of its life: here the
sources of the reading, a scratch folder of its own, and the libraries it is made of. From 6.7 on it has no TCP either,
from 6.12 on it can reach no other process. Others parse without; ``topiarist doctor`` says which.
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
_VERSION, _BENEATH = 1, 1  # asked of the first, and told to the second
_NO_NEW_RIGHTS = 38  # of linux/prctl.h
_WRITE_FILE, _READ_FILE, _READ_FOLDER, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE  # what may be said of a path that is no folder
_NO_TCP, _NO_OTHERS = 0b11, 0b11  # no bind and connect; no abstract sockets and signals beyond this process
_READ = _READ_FILE | _READ_FOLDER
_NEVER = 1 | 1 << 6 | 0b1111 << 9  # to run; to make devices, sockets, pipes and links
SYSTEM = (
    "/usr", "/lib", "/lib64", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/dev/null", "/dev/urandom",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/self/cgroup", "/sys/devices/system/cpu",
)  # fmt: skip


class _Rules(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def leave(readable: Iterable[str], writable: Iterable[str] = ()) -> bool:
    """Give up all files but these, and what this interpreter is made of, for all its life; whether it did."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        system = ctypes.CDLL(None, use_errno=True)
        version = int(system.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION))
    except (OSError, AttributeError):
        return False
    if version < 1:
        return False
    handled = (1 << (13 if version == 1 else 14 if version == 2 else 15)) - 1
    rules = _Rules(handled, _NO_TCP if version >= 4 else 0, _NO_OTHERS if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = system.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    try:
        for path in (*own_files(), *readable):
            _allow(system, ruleset, path, _READ & handled)
        _allow(system, ruleset, os.devnull, (_READ | _WRITE_FILE) & handled)
        for path in writable:
            _allow(
                system, ruleset, path, handled & ~_NEVER
            )  # everything but running it, and what only looks like a file
        if system.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0):
            return False
        return bool(system.syscall(_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def own_files() -> Iterator[str]:
    """What an interpreter reads when it loads a module: its libraries, those of the system, and this package."""
    yield from SYSTEM
    yield from {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()}
    yield str(Path(__file__).resolve().parents[2])
    yield from (path for path in sys.path if path.endswith(".zip") or _holds_packages(path))
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))


def _holds_packages(path: str) -> bool:
    """Whether packages were installed into a folder of the module path; that of somebody's script may be their home."""
    name = os.path.basename(path.rstrip("/"))
    return name in ("site-packages", "dist-packages") or next(Path(path).glob("*.dist-info"), None) is not None


def _allow(system: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    """Let the process use a path and what is below it; what is not there needs no leave."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = access if os.path.isdir(path) else access & _OF_FILES
        rule = _Beneath(allowed, handle)
        system.syscall(_ADD, ruleset, _BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(handle)


def can_be_left() -> bool:
    """Whether a process of ours could give up its files: tried in one of its own."""
    script = f"import sys; sys.path[:0] = {sys.path!r}; from {__name__} import leave; sys.exit(not leave(()))"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, env={**os.environ})  # noqa: S603
    return done.returncode == 0
