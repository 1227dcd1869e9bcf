"""Files into folders that are named as the topics are."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from topiarist.collection.file.arrivals import Filed
from topiarist.errors import ResourceError
from topiarist.text.readers.kinds import kind_of

LONGEST = 60  # characters of a folder's name
STRANGE = re.compile(r"[^\w\s.,()&+-]+")


def plan_moves(filed: Sequence[Filed], folder: str) -> tuple[dict[str, str], int]:
    """Where each file would go, and how many documents are no file of their own: rows, messages, members."""
    per_source = Counter(one.document.source for one in filed)
    found: dict[str, str] = {}
    taken: set[str] = set()
    left = 0
    for one in filed:
        source = one.document.source
        kind = kind_of(source)[0]
        many = kind is not None and (kind.table or kind.archive)
        if per_source[source] > 1 or many or not os.path.isfile(source):
            left += 1
            continue
        target = Path(folder, *map(folder_name, one.path))
        found[source] = _free(target / os.path.basename(source), taken)
    return found, left


def move_files(planned: dict[str, str]) -> None:
    """Move the files; a folder is made where it is missing, and nothing is ever replaced."""
    for source, target in planned.items():
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.lexists(target):
                raise FileExistsError(17, "there is such a file by now")
            shutil.move(source, target)
        except OSError as error:
            raise ResourceError(
                f"cannot move {source} to {target}: {error.strerror}", hint="a folder that you may write in"
            ) from error


def folder_name(name: str) -> str:
    """The name of a topic as the name of a folder on any system."""
    plain = " ".join(STRANGE.sub(" ", name).split()).strip(". ")
    return plain[:LONGEST].strip(". ") or "topic"


def _free(path: Path, taken: set[str]) -> str:
    """The path, or with a number before its suffix where there is such a file."""
    number, found = 2, path
    while str(found) in taken or found.exists():
        found = path.with_name(f"{path.stem} ({number}){path.suffix}")
        number += 1
    taken.add(str(found))
    return str(found)
