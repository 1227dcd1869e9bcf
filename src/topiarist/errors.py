"""Errors with a message and a hint.

========================= ==================================================================== =========
error                     cause                                                                exit code
========================= ==================================================================== =========
``TopiaristError``        base class                                                           70
``UsageError``            wrong option, path, column or format                                 2
``InputError``            input without usable text, or invalid counts; also a ``ValueError``  3
``DamagedError``          a collection or model that is damaged or too new                     4
``ResourceError``         missing memory, disk, device or optional package                     5
========================= ==================================================================== =========

The command line turns an error into its exit code. Library users catch the base class, or ``ValueError`` as with any
scikit-learn estimator.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager


class TopiaristError(Exception):
    """Base class of all intended errors: a message and a hint."""

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}\n  Try: {hint}" if hint else message)
        self.message = message
        self.hint = hint


class UsageError(TopiaristError, ValueError):
    """Wrong option, path, column or format; nothing was written."""

    exit_code = 2


class MissingError(UsageError):
    """Error of a document, topic, page, word or level that does not exist; ``kind`` names which, ``topic`` its number."""

    def __init__(self, message: str, *, hint: str = "", kind: str = "document", topic: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind, self.topic = kind, topic


class InputError(TopiaristError, ValueError):
    """Input without usable content, or of another kind than declared."""

    exit_code = 3


class DamagedError(TopiaristError):
    """Damaged collection or model file, or one written by a newer version."""

    exit_code = 4


class ResourceError(TopiaristError, RuntimeError):
    """Missing memory, disk, device or package."""

    exit_code = 5


class SystemLimitError(ResourceError):
    """Exhausted system resource: files, memory or disk. The data are not damaged."""


def create_damaged_error(path: object, fault: object) -> DamagedError:
    """Return the error for a damaged collection, or a damaged file of it."""
    return DamagedError(f"{path} is damaged: {fault}", hint=f"Run topiarist check {path}.")


# Messages and hints for exhausted system resources: neither the data nor topiarist is at fault.
LIMIT_MESSAGES = {
    errno.ENOSPC: ("the disk is full", "Free some space."),
    errno.EDQUOT: ("your disk quota is exhausted", "Free some space."),
    errno.EFBIG: ("a file would exceed the size limit", "Run ulimit -f unlimited, or use another disk."),
    errno.EIO: ("the disk reports an input/output error", "Use another disk, or copy the folder to one."),
    errno.EMFILE: ("too many files are open", "Run ulimit -n 4096."),
    errno.ENFILE: ("too many files are open on this machine", "Close other programs."),
    errno.ENOMEM: ("there is not enough memory", "Close other programs, or use a machine with more memory."),
    errno.EAGAIN: ("the system cannot start another process or thread", "Close other programs, or raise ulimit -u."),
}
_LIMIT_PHRASES = {  # texts of errors without a number, from loading libraries and starting threads
    "failed to map segment": errno.ENOMEM,
    "cannot allocate memory": errno.ENOMEM,
    "cannot map zero-fill": errno.ENOMEM,
    "out of memory": errno.ENOMEM,
    "too many open files": errno.EMFILE,
    "can't start new thread": errno.EAGAIN,
    "no space left on device": errno.ENOSPC,
}


def to_limit_error(error: BaseException, where: str = "") -> SystemLimitError | None:
    """Return the error for an exhausted system resource, also if it is a cause of ``error``; None for other errors.

    Readers call this first: a file that could not be opened because of a limit is not damaged.
    """
    current: BaseException | None = error
    for _ in range(10):
        if current is None:
            return None
        if isinstance(current, SystemLimitError):
            return current
        number = errno.ENOMEM if isinstance(current, MemoryError) else getattr(current, "errno", None)
        if not isinstance(current, OSError | MemoryError):
            number = next((code for words, code in _LIMIT_PHRASES.items() if words in str(current).lower()), None)
        if number in LIMIT_MESSAGES:
            message, hint = LIMIT_MESSAGES[number]
            return SystemLimitError(f"{message}{f' ({where})' if where else ''}", hint=hint)
        current = current.__cause__ or current.__context__
    return None


UNEXPECTED_CONTENT = "it is not as it should be"
_FAULTS = {
    RecursionError: "it is nested too deeply",
    UnicodeError: "it is not UTF-8",
    json.JSONDecodeError: "it is not JSON",
}


def describe_error(error: BaseException) -> str:
    """Return what went wrong while reading, without names of Python exceptions."""
    if isinstance(error, TopiaristError):
        return error.message
    if isinstance(error, KeyError):
        return f"there is no {error}"
    for kind, fault in _FAULTS.items():
        if isinstance(error, kind):
            return fault
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split())
    in_code = isinstance(error, TypeError | AttributeError | LookupError | NameError | AssertionError | ArithmeticError)
    return UNEXPECTED_CONTENT if in_code or not text or text.startswith("<") else text[:200]


def describe_foreign_error(error: BaseException) -> str:
    """Return what went wrong in a reader or a library, without messages for programmers."""
    is_readable = isinstance(error, (TopiaristError, OSError, KeyError, *_FAULTS))
    return describe_error(error) if is_readable else UNEXPECTED_CONTENT


@contextmanager
def reading(path: str, hint: str = "topiarist check") -> Iterator[None]:
    """Translate errors while reading a file that can be changed from outside to ``DamagedError``.

    Errors of exhausted resources become ``SystemLimitError``.
    """
    try:
        yield
    except (DamagedError, ResourceError):
        raise
    except Exception as error:
        if missing := to_limit_error(error, path):
            raise missing from error
        raise DamagedError(f"{path} is damaged: {describe_error(error)}", hint=hint) from error
