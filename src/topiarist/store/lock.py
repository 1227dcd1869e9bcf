"""One writer at a time: a lock of the system, which lets go when the process dies, however it dies."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from topiarist.errors import ResourceError

LOCK, WRITER = "lock", "writer"  # the lock, and who has it: only believed while somebody has it


@contextmanager
def locked(folder: Path, shown: str, *, wait: float = 0.0) -> Iterator[None]:
    """Be the one writer of a folder, or say who is. Readers never ask."""
    lock = FileLock(str(folder / LOCK))
    try:
        lock.acquire(timeout=wait, poll_interval=0.05)
    except Timeout as error:
        raise ResourceError(
            f"{shown} is being written by {_holder(folder)}", hint="wait until it is done; reading goes on meanwhile"
        ) from error
    except OSError as error:
        raise ResourceError(
            f"cannot write in {shown}: {error.strerror}", hint="a folder that you may write in"
        ) from error
    try:
        with suppress(OSError):  # a courtesy: a full disk is for the work to find out
            (folder / WRITER).write_text(json.dumps({"process": os.getpid(), "machine": socket.gethostname()}))
        yield
    finally:
        with suppress(OSError):
            (folder / WRITER).unlink(missing_ok=True)
        lock.release()


def _holder(folder: Path) -> str:
    try:
        known = json.loads((folder / WRITER).read_text())
        process, machine = int(known["process"]), str(known["machine"])
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    if machine != socket.gethostname():
        return f"process {process} on {machine}"
    return "this process already" if process == os.getpid() else f"process {process}"
