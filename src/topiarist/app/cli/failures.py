"""From an exception to a sentence and an exit code.

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
from contextlib import contextmanager

from topiarist.errors import TopiaristError

INTERRUPTED = 130
RESOURCES = 5
OUR_FAULT = 70


@contextmanager
def explained(*, debug: bool) -> Iterator[None]:
    """Turn any exception into a message on standard error and an exit code; a trace only with ``--debug``."""
    try:
        yield
    except TopiaristError as error:
        _leave(f"Error: {error}", error.exit_code, debug)
    except KeyboardInterrupt as stopped:
        _leave(f"Stopped. {stopped}".rstrip(), INTERRUPTED, debug)
    except BrokenPipeError:  # the reader of our output has left: nothing to say, nowhere to say it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _leave(
            "Error: not enough memory for this collection.\n  Try: --limit 100000 or --min-documents 10",
            RESOURCES,
            debug,
        )
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            _leave(
                f"Error: the disk is full ({error.filename or 'while writing'}).\n  Try: free some space",
                RESOURCES,
                debug,
            )
        _leave(_fault(error), OUR_FAULT, debug)
    except Exception as error:
        _leave(_fault(error), OUR_FAULT, debug)


def _leave(message: str, code: int, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    told = "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in message)  # a path may hold anything
    print(_wrapped(told), file=sys.stderr)
    sys.exit(code)


def _wrapped(message: str) -> str:
    """Lines of whole words on a terminal; as they are in a pipe, where somebody may search for them."""
    if not sys.stderr.isatty():
        return message
    width = max(40, shutil.get_terminal_size().columns)
    lines = message.splitlines()
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False) for line in lines)


def _fault(error: BaseException) -> str:
    """A fault of ours: the trace goes to a file, which names places in our code and no document text."""
    with tempfile.NamedTemporaryFile("w", prefix="topiarist-", suffix=".log", delete=False) as log:
        for line in traceback.extract_tb(error.__traceback__):
            log.write(f"{os.path.basename(line.filename)}:{line.lineno} in {line.name}\n")
        log.write(f"{type(error).__name__}\n")
    return (
        f"Error: topiarist failed where it should not have ({type(error).__name__}).\n"
        f"  Try: again with --debug, and send {log.name} with a report"
    )
