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
