"""Which files there are: folders in a stable order, hidden files left alone, links not followed blindly."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import BinaryIO

from topiarist.errors import UsageError
from topiarist.text.documents import Problem
from topiarist.text.readers.file_systems import files_at, is_address
from topiarist.text.readers.items import File
from topiarist.text.readers.kinds import JSON_LINES, MAIL, PLAIN, kind_of, suffix_of
from topiarist.text.readers.lines import reason_of
from topiarist.text.spelling import alike

STANDARD_INPUT = "-"
LINK = "a link to a {} elsewhere; links are not followed without --follow-links"
_OWN_FOLDER = ".topiary"  # a collection grown inside its own source must not be read back
_LOCK_FILE = "~$"  # left behind by Word while a document is open
_MAIL_FOLDERS = ("cur", "new")  # of a Maildir, where each file is a message whatever it is called; "tmp" has halves


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a folder are wanted. Patterns match names or paths below the folder, in any case."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_links: bool = False

    def wants(self, path: str) -> bool:
        """Whether a file is to be read."""
        return (not self.include or _matches(path, self.include)) and not _matches(path, self.exclude)

    def enters(self, path: str) -> bool:
        """Whether a folder is to be walked."""
        return not _matches(path, self.exclude)

    def names_type_of(self, path: str) -> bool:
        """Whether a file of no known type was asked for by its suffix, and is to be read as plain text."""
        return _matches(path, [pattern for pattern in self.include if suffix_of(pattern) == suffix_of(path)])


@dataclass(slots=True)
class Survey:
    """What a walk came across, for the message when nothing was there to read."""

    folders: int = 0
    deselected: int = 0
    unknown: Counter[str] = field(default_factory=Counter)


def check(sources: Iterable[str]) -> None:
    """Refuse, before anything is read, a path that does not exist."""
    for source in sources:
        if source == STANDARD_INPUT or os.path.exists(source):
            continue
        if is_address(source):
            files_at(source)  # refuses one where nothing is
            continue
        if os.path.lexists(source):
            raise UsageError(f"{source} is a link to nothing", hint="the file or folder it should lead to")
        raise UsageError(f"no such file or folder: {source}", hint=_nearest(source))


def find(sources: Iterable[str], selection: Selection, survey: Survey, stdin: BinaryIO) -> Iterator[File | Problem]:
    """Every file of the sources, in the order of the sources and sorted within folders."""
    for source in sources:
        if source == STANDARD_INPUT:
            yield File("-", "stdin", JSON_LINES, named=True, stream=stdin)
        elif os.path.isdir(source):
            yield from _walk(source, selection, survey)
        elif is_address(source):
            yield from _elsewhere(source, selection, survey)
        elif _is_special(source):
            yield Problem(source, "not a regular file; pipe JSON lines to - instead")
        else:
            kind, packing = kind_of(source)
            # Whoever names a file wants it read: a suffix unknown here may still be plain text.
            yield File(source, os.path.basename(source), kind or PLAIN, packing, named=True)


def _elsewhere(address: str, selection: Selection, survey: Survey) -> Iterator[File]:
    """The files of an address; nothing is brought here yet."""
    for found in files_at(address):
        name, below = found.name, found.below
        kind, packing = kind_of(name)
        folders = below.split("/")[:-1]
        if not below:
            yield File(name, found.id, kind or PLAIN, packing, named=True, remote=found)
        elif not all(selection.enters("/".join(folders[:depth])) for depth in range(1, len(folders) + 1)):
            continue
        elif not selection.wants(below):
            survey.deselected += 1
        else:
            if kind is None and selection.names_type_of(below):
                kind = PLAIN
            yield File(name, found.id, kind, packing, remote=found)


def _walk(root: str, selection: Selection, survey: Survey) -> Iterator[File | Problem]:
    """Depth first, by name. A stack of iterators, because folders can be nested deeper than calls."""
    base = os.path.basename(os.path.realpath(root))
    seen = {_identity(root)}
    pending = [iter(_entries(root, "", survey))]
    while pending:
        entry = next(pending[-1], None)
        if entry is None:
            pending.pop()
        elif isinstance(entry, Problem):
            yield entry
        else:
            path, found = entry
            name = os.path.join(root, path)
            try:
                mode = found.stat().st_mode
            except OSError as error:
                broken = found.is_symlink()
                yield Problem(name, "a link to nothing" if broken else reason_of(error))
                continue
            if stat.S_ISDIR(mode):
                if not selection.enters(path) or path.endswith(_OWN_FOLDER):
                    continue
                if found.is_symlink() and not selection.follow_links:
                    if not _lies_within(name, root):  # else it is read at its own place
                        yield Problem(name, LINK.format("folder"))
                    continue
                if (identity := _identity(name)) not in seen:
                    seen.add(identity)
                    pending.append(iter(_entries(root, path, survey)))
            elif not selection.wants(path):
                survey.deselected += 1
            elif not stat.S_ISREG(mode):
                yield Problem(name, "not a regular file")
            elif found.is_symlink() and not selection.follow_links:
                if not _lies_within(name, root):
                    yield Problem(name, LINK.format("file"))
            else:
                if _is_message(root, path):
                    # Behind the colon are flags, which change when somebody reads it.
                    yield File(name, f"{base}/{path.partition(':2,')[0]}", MAIL)
                    continue
                kind, packing = kind_of(path)
                if kind is None and selection.names_type_of(path):
                    kind = PLAIN
                yield File(name, f"{base}/{path}", kind, packing)


def _entries(root: str, folder: str, survey: Survey) -> Iterator[tuple[str, os.DirEntry[str]] | Problem]:
    survey.folders += 1
    name = os.path.join(root, folder) if folder else root
    try:
        with os.scandir(name) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        yield Problem(name, reason_of(error))
        return
    mail = _is_maildir(name)
    for entry in entries:
        if mail and (entry.name == "tmp" or (entry.name.startswith(".") and not _is_maildir(entry.path))):
            continue
        if mail or not entry.name.startswith((".", _LOCK_FILE)):
            yield (f"{folder}/{entry.name}" if folder else entry.name), entry


def _is_maildir(folder: str) -> bool:
    """A folder of mail, one file for each message. Folders within it have names that begin with a dot."""
    return all(os.path.isdir(os.path.join(folder, name)) for name in _MAIL_FOLDERS)


def _is_message(root: str, path: str) -> bool:
    folder = os.path.dirname(os.path.join(root, path))
    return os.path.basename(folder) in _MAIL_FOLDERS and _is_maildir(os.path.dirname(folder))


def _matches(path: str, patterns: Iterable[str]) -> bool:
    path = path.lower()
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, pattern.lower()) or fnmatchcase(path, pattern.lower()) for pattern in patterns)


def _identity(folder: str) -> tuple[int, int]:
    found = os.stat(folder)
    return found.st_dev, found.st_ino


def _lies_within(name: str, root: str) -> bool:
    top = os.path.realpath(root)
    return os.path.commonpath([os.path.realpath(name), top]) == top


def _is_special(source: str) -> bool:
    try:
        return not stat.S_ISREG(os.stat(source).st_mode)
    except OSError:
        return False  # it vanished just now; opening it will say so


def _nearest(source: str) -> str:
    folder, name = os.path.split(source.rstrip(os.sep))
    try:
        close = alike(name, os.listdir(folder or "."), 1, 0.6)
    except OSError:
        return f"check the spelling; {folder} does not exist or cannot be opened"
    return os.path.join(folder, close[0]) if close else "check the spelling, or give the whole path"
