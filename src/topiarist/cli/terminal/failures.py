"""Messages and exit codes of exceptions.

0 done · 1 done, with something left out · 2 wrong use · 3 no usable text · 4 damaged collection
5 resources · 70 a fault of ours · 130 stopped by the user
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from topiarist.cli.terminal.console import clean, protect_streams, silence
from topiarist.display.formats import size
from topiarist.errors import LIMIT_MESSAGES, SystemLimitError, TopiaristError, to_limit_error

INTERRUPTED_EXIT = 130
RESOURCES = 5
OUR_FAULT = 70
# Bytes of address space that loading the libraries and opening a collection take. With less, some of them wait for
# memory for ever, and others report that a file of theirs is missing.
MIN_ADDRESS_SPACE = 800_000_000
GROW_ADDRESS_SPACE = 1_500_000_000  # of a small grow


# What a system says that cannot or may not write: nothing is wrong with the command, and nothing with topiarist.
REFUSALS = {
    **LIMIT_MESSAGES,
    errno.EROFS: ("the disk can only be read", "a folder that you may write in"),
    errno.EACCES: ("that is not allowed", "a folder and files that are yours"),
    errno.EPERM: ("that is not allowed", "a folder and files that are yours"),
}


@contextmanager
def explain_failures(*, debug: bool, writes: bool = False) -> Iterator[None]:
    """Print exceptions as messages and exit. With ``writes``, a closed pipe does not stop the work."""
    try:
        with protect_streams() if writes else nullcontext():
            yield
            sys.stdout.flush()
    except TopiaristError as error:
        _exit_with_message(f"Error: {error}", error.exit_code, debug)
    except KeyboardInterrupt as stopped:
        _exit_with_message(f"Stopped. {stopped}".rstrip(), INTERRUPTED_EXIT, debug)
    except BrokenPipeError:
        with suppress(OSError):
            silence(sys.stdout.fileno())
        if writes:
            _exit_with_message("Error: the reader of the output left before the work was done.", RESOURCES, debug)
        sys.exit(0)
    except MemoryError as error:
        _exit_without_memory(error, debug)
        _exit_with_message(
            "Error: not enough memory for this collection.\n"
            "  Try: --limit 100000, or min-documents = 10 in topiarist.toml",
            RESOURCES,
            debug,
        )
    except OSError as error:
        if error.errno in REFUSALS:
            message, advice = REFUSALS[error.errno]
            _exit_with_message(
                f"Error: {message} ({error.filename or 'while writing'}).\n  Try: {advice}", RESOURCES, debug
            )
        _exit_without_memory(error, debug)
        _exit_with_message(_describe_fault(error), OUR_FAULT, debug)
    except Exception as error:
        missing = to_limit_error(error) or (_find_file_limit() if isinstance(error, ImportError) else None)
        if missing is not None:
            _exit_with_message(f"Error: {missing}", RESOURCES, debug)
        _exit_without_memory(error, debug)
        _exit_with_message(_describe_fault(error), OUR_FAULT, debug)


def check_address_space() -> None:
    """Raise SystemLimitError if the memory limit is too low to load the libraries."""
    limit = _read_address_limit()
    if limit is not None and limit < MIN_ADDRESS_SPACE:
        raise _create_address_space_error(limit)


def _exit_without_memory(error: BaseException, debug: bool) -> None:
    """Print a memory error and exit, if the address space is nearly used up.

    A library that could not be loaded, or one large table, can have failed far below the limit.
    """
    limit = _read_address_limit()
    is_lack = isinstance(error, MemoryError | ImportError) or getattr(error, "errno", None) == errno.ENOMEM
    if limit is not None and _read_address_space() > (0.5 if is_lack else 0.9) * limit:
        _exit_with_message(f"Error: {_create_address_space_error(limit)}", RESOURCES, debug)


def _create_address_space_error(limit: int) -> SystemLimitError:
    """Return the error for too low a limit of memory, with the needed amount."""
    needed = f"any command needs {size(MIN_ADDRESS_SPACE)}" if limit < MIN_ADDRESS_SPACE else "this took more"
    return SystemLimitError(
        f"there is not enough memory: the limit is {size(limit)}, and {needed}; "
        f"growing a small collection needs {size(GROW_ADDRESS_SPACE)}",
        hint="Run ulimit -v unlimited, or set a higher limit of the address space.",
    )


def _read_address_limit() -> int | None:
    """Return the limit of the address space in bytes; None without one."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _read_address_space() -> int:
    """Return the bytes of address space that this process takes; 0 where the system does not show them."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _find_file_limit() -> SystemLimitError | None:
    """Return an error if the limit of open files is exceeded, else None."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return to_limit_error(error)
    return None


def _exit_with_message(message: str, code: int, debug: bool) -> None:
    """Print a message to standard error and exit; with ``debug``, print the traceback first."""
    if debug:
        traceback.print_exc()
    with suppress(BrokenPipeError):
        print(_wrap_message(clean(message)), file=sys.stderr, flush=True)
    sys.exit(code)


def _wrap_message(message: str) -> str:
    """Return a message wrapped to the terminal width; unchanged in a pipe."""
    if not sys.stderr.isatty():
        return message
    width = max(40, shutil.get_terminal_size().columns)
    lines = message.splitlines()
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False) for line in lines)


def _describe_fault(error: BaseException) -> str:
    """Write the traceback without document texts to a log file, and return the message that names it."""
    with tempfile.NamedTemporaryFile("w", prefix="topiarist-", suffix=".log", delete=False) as log:
        for line in traceback.extract_tb(error.__traceback__):
            log.write(f"{os.path.basename(line.filename)}:{line.lineno} in {line.name}\n")
        log.write(f"{type(error).__name__}\n")
    return (
        "Error: topiarist failed where it should not have.\n"
        f"  Try: again with --debug, and send {log.name} with a report"
    )
