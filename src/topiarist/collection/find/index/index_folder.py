"""The folder of an index: what it is called, in which state it is known, and how one writer keeps others out.

manifest.json         format, settings, models, segments; size and checksum of every file
vocabulary.json       the words, if they are known
lens-0/               by_word.npy, class_prior.npy, and mix.npy or information where there is one
segment-…/            ends, docs, counts, lengths, nodes, and rows, topical, scales of each model; documents.json;
                      words, where the postings are of some words only
lock                  held by whoever adds
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from topiarist.errors import ResourceError
from topiarist.store.seal import Format

LOCK, PATIENCE = "lock", 30.0  # seconds
SEGMENT = re.compile(r"segment-[0-9a-f]{32}")
AGAIN = "build the index again and save it to a new folder"
INDEX = Format(
    "topiarist-search", (1, 2), "the folder of an index", "the folder that SearchIndex.save was given", AGAIN
)
VERSION = 2
LENS_ARRAYS = ("by_word", "mix", "class_prior", "class_tokens", "word_information", "class_information")
LENS_NUMBERS = ("one_class", "smoothing", "inverse_temperature", "effective_length", "row_scores")


@dataclass(frozen=True)
class Kept:
    """Where an index lies, and in which state it was read or written: its segments and the manifest's checksum."""

    folder: Path
    segments: tuple[str, ...]
    stamp: str


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only one who adds to a folder; a lock of the system, which lets go when the process dies."""
    lock = FileLock(str(folder / LOCK))
    try:
        lock.acquire(timeout=PATIENCE, poll_interval=0.02)
    except Timeout as error:
        raise ResourceError(f"somebody else is adding to {folder}", hint="wait until that is done") from error
    except OSError as error:
        raise ResourceError(f"cannot write in {folder}: {error}", hint="a folder that you may write in") from error
    try:
        yield
    finally:
        lock.release()


def remove_strays(folder: Path, segments: Iterable[str]) -> None:
    """Remove segments that no manifest names: those of a writer that died, and those that were put together.

    Who has them open keeps what is open; who is about to open them finds the new manifest.
    """
    for path in folder.iterdir():
        if SEGMENT.fullmatch(path.name) and path.name not in segments and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
