"""Everything that can go wrong, in words a person can act on.

    TopiaristError              one base class; every message says what was expected, what came, what to try
    ├─ UsageError               a wrong option, path, column or format            exit 2
    ├─ InputError (ValueError)  the input holds no usable text, or counts that are not counts   exit 3
    ├─ DamagedError             a collection or model that is damaged or too new  exit 4
    └─ ResourceError            memory, disk, device or an optional package is missing          exit 5

The command line turns an error into its exit code; a library user may catch the base class, or ``ValueError``
as with any scikit-learn estimator.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager


class TopiaristError(Exception):
    """Base of all errors raised on purpose: a sentence, and what to try."""

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}\n  Try: {hint}" if hint else message)
        self.message = message
        self.hint = hint


class UsageError(TopiaristError, ValueError):
    """A wrong option, path, column or format: nothing was written."""

    exit_code = 2


class InputError(TopiaristError, ValueError):
    """The input holds nothing that can be used, or is not what it claims to be."""

    exit_code = 3


class DamagedError(TopiaristError):
    """A collection or a model file that is damaged, or written by a newer version."""

    exit_code = 4


class ResourceError(TopiaristError, RuntimeError):
    """Memory, disk, device, or a package that is not installed."""

    exit_code = 5


class LackError(ResourceError):
    """The system had not enough of something: files, memory, disk. Nothing is wrong with what was read or written."""


# What a system says that has not enough of something: nothing is wrong with what was read, and nothing with topiarist.
LACKS = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("your share of the disk is full", "free some space"),
    errno.EFBIG: ("a file would be larger than is allowed here", "ulimit -f unlimited, or another disk"),
    errno.EIO: ("the disk does not answer as it should", "another disk, or a copy of the folder on another"),
    errno.EMFILE: ("too many files are open", "ulimit -n 4096"),
    errno.ENFILE: ("too many files are open on this machine", "end other programs"),
    errno.ENOMEM: ("there is not enough memory", "end other programs, or a machine with more"),
    errno.EAGAIN: ("the system has no room for another process or thread", "end other programs, or ulimit -u"),
}
_IN_WORDS = {  # the same, from below: libraries that are loaded, threads that are started
    "failed to map segment": errno.ENOMEM,
    "cannot allocate memory": errno.ENOMEM,
    "cannot map zero-fill": errno.ENOMEM,
    "out of memory": errno.ENOMEM,
    "too many open files": errno.EMFILE,
    "can't start new thread": errno.EAGAIN,
    "no space left on device": errno.ENOSPC,
}


def lack(error: BaseException, where: str = "") -> LackError | None:
    """The error for what the system had not enough of, also where another came of it; None if it was something else.

    Whoever reads a file asks this first: a file that could not be opened for want of room is not damaged.
    """
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None:
            return None
        if isinstance(seen, LackError):
            return seen
        number = errno.ENOMEM if isinstance(seen, MemoryError) else getattr(seen, "errno", None)
        if not isinstance(seen, OSError | MemoryError):
            number = next((code for words, code in _IN_WORDS.items() if words in str(seen).lower()), None)
        if number in LACKS:
            what, hint = LACKS[number]
            return LackError(f"{what}{f' ({where})' if where else ''}", hint=hint)
        seen = seen.__cause__ or seen.__context__
    return None


def in_words(error: BaseException) -> str:
    """What went wrong in reading something, without the names that Python has for it."""
    if isinstance(error, TopiaristError):
        return error.message
    if isinstance(error, KeyError):
        return f"there is no {error}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return "it is not JSON"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    said = " ".join(str(error).split())
    in_code = isinstance(error, TypeError | AttributeError | LookupError | NameError | AssertionError | ArithmeticError)
    return "it is not as it should be" if in_code or not said or said.startswith("<") else said[:200]


@contextmanager
def reading(what: str, hint: str = "topiarist check") -> Iterator[None]:
    """Read something within that somebody may have changed: whatever that ends in is damage; a lack of room is not."""
    try:
        yield
    except (DamagedError, ResourceError):
        raise
    except Exception as error:
        if missing := lack(error, what):
            raise missing from error
        raise DamagedError(f"{what} is damaged: {in_words(error)}", hint=hint) from error
