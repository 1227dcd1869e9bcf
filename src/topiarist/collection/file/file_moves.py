"""Moves of files into folders with the names of topics."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from topiarist.collection.file.arrivals import FiledDocument
from topiarist.errors import ResourceError
from topiarist.text.readers.kinds import kind_of

MAX_FOLDER_NAME = 60  # characters of a folder's name
_INVALID = re.compile(r"[^\w\s.,()&+-]+")


def plan_moves(rows: Sequence[FiledDocument], folder: str) -> tuple[dict[str, str], int]:
    """Return the target of each file, and the number of documents without a file of their own.

    Such documents are rows of tables, messages and members of archives. No file is moved.
    """
    per_source = Counter(row.document.source for row in rows)
    moves: dict[str, str] = {}
    targets: set[str] = set()
    n_skipped = 0
    for row in rows:
        source = row.document.source
        kind = kind_of(source)[0]
        is_container = kind is not None and (kind.table or kind.archive)
        if per_source[source] > 1 or is_container or not os.path.isfile(source):
            n_skipped += 1
            continue
        target = Path(folder, *map(folder_name, row.path))
        moves[source] = _find_free_path(target / os.path.basename(source), targets)
    return moves, n_skipped


def move_files(moves: dict[str, str]) -> None:
    """Move files; create missing folders and replace no file."""
    for source, target in moves.items():
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.lexists(target):
                raise FileExistsError(17, "the target exists")
            shutil.move(source, target)
        except OSError as error:
            raise ResourceError(
                f"cannot move {source} to {target}: {error.strerror}", hint="Choose a writable folder."
            ) from error


def folder_name(name: str) -> str:
    """Return the name of a topic as a folder name that is valid on any system."""
    plain = " ".join(_INVALID.sub(" ", name).split()).strip(". ")
    return plain[:MAX_FOLDER_NAME].strip(". ") or "topic"


def _find_free_path(path: Path, targets: set[str]) -> str:
    """Return the path, with a number before its suffix if the path is taken."""
    number, candidate = 2, path
    while str(candidate) in targets or candidate.exists():
        candidate = path.with_name(f"{path.stem} ({number}){path.suffix}")
        number += 1
    targets.add(str(candidate))
    return str(candidate)
