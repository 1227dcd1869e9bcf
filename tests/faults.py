"""Faults that a system may have, at any call: the disk is full, files cannot be opened, a process is killed there.

``counted`` counts the calls of a piece of work that a fault could meet, and ``failing`` lets one of them fail.
"""

import builtins
import errno
import io
import os
from contextlib import contextmanager

OF_SYSTEM = ("open", "fsync", "replace", "rename", "mkdir", "link")
CALLS = ("open", "os.open", "write", *OF_SYSTEM[1:])


class Killed(BaseException):
    """What no ``except Exception`` catches: as near to the end of a process as a test comes without one."""


class _Faulty:
    """Counts calls that concern a folder, and fails at one of them."""

    def __init__(self, folder, kinds, at=None, fault=None, once=False):
        self.folder, self.kinds = os.path.realpath(folder), kinds
        self.at, self.fault, self.once = at, fault, once
        self.calls = []

    def concerns(self, path):
        return os.path.abspath(named(path)).startswith(self.folder)

    def met(self, kind, path):
        """A call, which may be the one to fail."""
        if kind not in self.kinds or not self.concerns(path):
            return
        number = len(self.calls)
        self.calls.append((kind, named(path)))
        if self.at is not None and (number == self.at if self.once else number >= self.at):
            if isinstance(self.fault, int):
                raise OSError(self.fault, os.strerror(self.fault), named(path))
            raise self.fault


def named(path):
    """The name of a file that may be given by its number."""
    if not isinstance(path, int):
        return os.fspath(path)
    try:
        return os.readlink(f"/proc/self/fd/{path}")
    except OSError:
        return ""


class _File(io.FileIO):
    """A file whose writing may fail."""

    faulty: _Faulty

    def write(self, data):
        self.faulty.met("write", self.name)
        return super().write(data)


@contextmanager
def _patched(faulty, monkeypatch):
    plain_open, plain = (
        builtins.open,
        {name: getattr(os, name) for name in ("open", "fsync", "replace", "rename", "mkdir", "link")},
    )

    def opened(file, mode="r", buffering=-1, *more, **others):
        if not isinstance(file, int):
            faulty.met("open", file)
        found = plain_open(file, mode, buffering, *more, **others)
        if "opener" in others:  # a file without a name: it cannot be opened again by one
            return found
        if not isinstance(file, int) and "b" in mode and set(mode) & set("wxa+") and faulty.concerns(file):
            found.close()
            raw = _File(file, mode.replace("b", "").replace("w", "r+").replace("x", "r+").replace("++", "+"))
            raw.faulty = faulty
            return io.BufferedRandom(raw) if "r+" in raw.mode or "+" in mode else io.BufferedWriter(raw)
        return found

    def asked(kind, name):
        def call(path, *more, **others):
            faulty.met(kind, path)
            return plain[name](path, *more, **others)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)
        for name in plain:
            patch.setattr(os, name, asked("os.open" if name == "open" else name, name))
        yield faulty


def counted(folder, monkeypatch, kinds=CALLS):
    """A context in which the calls that concern a folder are counted."""
    return _patched(_Faulty(folder, kinds), monkeypatch)


def failing(folder, monkeypatch, at, fault=errno.ENOSPC, kinds=CALLS, *, once=False):
    """A context in which a call fails, and all after it, unless ``once``: full disks do not become empty."""
    return _patched(_Faulty(folder, kinds, at, fault, once), monkeypatch)
