"""Files of the sources: folders in a stable order, without hidden files and, by default, without links."""

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
from topiarist.text.readers.file_systems import is_url, list_files
from topiarist.text.readers.items import File
from topiarist.text.readers.kinds import JSON_LINES, MAIL, PLAIN, kind_of, suffix_of
from topiarist.text.readers.lines import explain_error
from topiarist.text.spelling import find_similar_names

STANDARD_INPUT = "-"
LINK_MESSAGE = "a link to a {} elsewhere; set follow-links to follow links"
_COLLECTION_SUFFIX = ".topiary"  # a collection inside its own source is not read
_LOCK_FILE = "~$"  # of Word, while a document is open
_MAIL_FOLDERS = ("cur", "new")  # of a Maildir, in which each file is a message; "tmp" has incomplete ones


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns that select files of a folder, by name or path, in any case."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_links: bool = False

    def selects_file(self, path: str) -> bool:
        return (not self.include or _matches(path, self.include)) and not _matches(path, self.exclude)

    def selects_folder(self, path: str) -> bool:
        return not _matches(path, self.exclude)

    def selects_type(self, path: str) -> bool:
        """Return whether a pattern asks for files of this unknown type, which are read as plain text."""
        return _matches(path, [pattern for pattern in self.include if suffix_of(pattern) == suffix_of(path)])


@dataclass(slots=True)
class SourceCounts:
    """Counts of a walk through the sources, for the error of a reading without documents."""

    folders: int = 0
    excluded: int = 0
    unknown: Counter[str] = field(default_factory=Counter)


def check_sources(sources: Iterable[str]) -> None:
    """Raise an error for a path that does not exist, or a URL where nothing is: URLs are listed over the network."""
    for source in sources:
        if source == STANDARD_INPUT or os.path.exists(source):
            continue
        if is_url(source):
            list_files(source)  # raises an error if nothing is there
            continue
        if os.path.lexists(source):
            raise UsageError(f"{source} is a link to nothing", hint="Name an existing file or folder.")
        raise UsageError(f"no such file or folder: {source}", hint=_suggest_path(source))


def find_files(
    sources: Iterable[str], selection: Selection, counts: SourceCounts, stdin: BinaryIO
) -> Iterator[File | Problem]:
    """Yield the files of the sources in order, sorted within folders."""
    for source in sources:
        if source == STANDARD_INPUT:
            yield File("-", "stdin", JSON_LINES, named=True, stream=stdin)
        elif os.path.isdir(source):
            yield from _walk(source, selection, counts)
        elif is_url(source):
            yield from _walk_url(source, selection, counts)
        elif _is_special(source):
            yield Problem(source, "not a regular file; pipe JSON lines to - instead")
        else:
            kind, packing = kind_of(source)
            # A named file is always read: an unknown suffix can be plain text.
            yield File(source, os.path.basename(source), kind or PLAIN, packing, named=True)


def _walk_url(address: str, selection: Selection, counts: SourceCounts) -> Iterator[File]:
    """Yield the files of a URL without downloading them; add excluded and unknown ones to ``counts``."""
    for remote in list_files(address):
        name, relative_path = remote.name, remote.relative_path
        kind, packing = kind_of(name)
        folders = relative_path.split("/")[:-1]
        if not relative_path:
            yield File(name, remote.id, kind or PLAIN, packing, named=True, remote=remote)
        elif not all(selection.selects_folder("/".join(folders[:depth])) for depth in range(1, len(folders) + 1)):
            continue
        elif not selection.selects_file(relative_path):
            counts.excluded += 1
        else:
            if kind is None and selection.selects_type(relative_path):
                kind = PLAIN
            yield File(name, remote.id, kind, packing, remote=remote)


def _walk(root: str, selection: Selection, counts: SourceCounts) -> Iterator[File | Problem]:
    """Yield the files of a folder, depth first by name. Folders can be nested deeper than Python calls."""
    base = os.path.basename(os.path.realpath(root))
    visited = {_get_identity(root)}
    pending = [iter(_list_entries(root, "", counts))]
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
                is_broken_link = found.is_symlink()
                yield Problem(name, "a link to nothing" if is_broken_link else explain_error(error))
                continue
            if stat.S_ISDIR(mode):
                if not selection.selects_folder(path) or path.endswith(_COLLECTION_SUFFIX):
                    continue
                if found.is_symlink() and not selection.follow_links:
                    if not _lies_within(name, root):  # a link within the folder: its target is read anyway
                        yield Problem(name, LINK_MESSAGE.format("folder"))
                    continue
                if (identity := _get_identity(name)) not in visited:
                    visited.add(identity)
                    pending.append(iter(_list_entries(root, path, counts)))
            elif not selection.selects_file(path):
                counts.excluded += 1
            elif not stat.S_ISREG(mode):
                yield Problem(name, "not a regular file")
            elif found.is_symlink() and not selection.follow_links:
                if not _lies_within(name, root):
                    yield Problem(name, LINK_MESSAGE.format("file"))
            else:
                if _is_message(root, path):
                    # Flags after the colon change when the message is read.
                    yield File(name, f"{base}/{path.partition(':2,')[0]}", MAIL)
                    continue
                kind, packing = kind_of(path)
                if kind is None and selection.selects_type(path):
                    kind = PLAIN
                yield File(name, f"{base}/{path}", kind, packing)


def _list_entries(root: str, folder: str, counts: SourceCounts) -> Iterator[tuple[str, os.DirEntry[str]] | Problem]:
    """Yield the sorted entries of a folder without hidden files; a Problem if it cannot be opened."""
    counts.folders += 1
    name = os.path.join(root, folder) if folder else root
    try:
        with os.scandir(name) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        yield Problem(name, explain_error(error))
        return
    mail = _is_maildir(name)
    for entry in entries:
        if mail and (entry.name == "tmp" or (entry.name.startswith(".") and not _is_maildir(entry.path))):
            continue
        if mail or not entry.name.startswith((".", _LOCK_FILE)):
            yield (f"{folder}/{entry.name}" if folder else entry.name), entry


def _is_maildir(folder: str) -> bool:
    """Return whether a folder is a Maildir, with one file for each message. Its subfolders begin with a dot."""
    return all(os.path.isdir(os.path.join(folder, name)) for name in _MAIL_FOLDERS)


def _is_message(root: str, path: str) -> bool:
    folder = os.path.dirname(os.path.join(root, path))
    return os.path.basename(folder) in _MAIL_FOLDERS and _is_maildir(os.path.dirname(folder))


def _matches(path: str, patterns: Iterable[str]) -> bool:
    path = path.lower()
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, pattern.lower()) or fnmatchcase(path, pattern.lower()) for pattern in patterns)


def _get_identity(folder: str) -> tuple[int, int]:
    status = os.stat(folder)
    return status.st_dev, status.st_ino


def _lies_within(name: str, root: str) -> bool:
    top = os.path.realpath(root)
    return os.path.commonpath([os.path.realpath(name), top]) == top


def _is_special(source: str) -> bool:
    try:
        return not stat.S_ISREG(os.stat(source).st_mode)
    except OSError:
        return False  # deleted just now; opening it will report that


def _suggest_path(source: str) -> str:
    """Return a hint for a path that does not exist: a similar name in its folder."""
    folder, name = os.path.split(source.rstrip(os.sep))
    try:
        names = find_similar_names(name, os.listdir(folder or "."), 1, 0.6)
    except OSError:
        return f"Check the spelling: {folder} does not exist or cannot be opened."
    return f"Use {os.path.join(folder, names[0])}." if names else "Check the spelling, or pass the full path."
