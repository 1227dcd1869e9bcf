"""Files at addresses: whatever fsspec opens (``s3://…``, ``gs://…``, ``https://…``), found there and brought here.

Parsers run in processes that can open the sources and nothing else, by their paths: so a file is brought to a folder
of this machine when its turn has come, whole, and goes when it has been read.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import url2pathname

from topiarist.errors import ResourceError, TopiaristError, UsageError, lack
from topiarist.text.documents import Problem
from topiarist.text.readers.items import File

PATTERN = re.compile(r"[*?[]")
_SECRET = re.compile(r"(?<=://)[^/\s]*@")  # a name and a word to get in
_SIGNED = re.compile(r"(https?://[^\s?#'\"]*)\?[^\s'\"]*")  # what follows may let anybody in
_ASIDE = re.compile(r"(^|/)([._]|~\$)|\.topiary/")
# what file systems call the sign of a version, or the time of a change
CHANGING = (
    "ETag", "etag", "md5Hash", "content_md5", "Content-MD5", "mtime", "LastModified", "last_modified", "Last-Modified",
    "updated", "modify", "created",
)  # fmt: skip
_PIECE = 1 << 22  # bytes that are brought at a time


def is_address(source: str) -> bool:
    """Whether a source is an address, and no file of this machine."""
    return "://" in source and not os.path.exists(source)


def local_path(source: str) -> str:
    """A source as it is, and the path of one that is an address on this machine (``file://…``); not of a pattern."""
    path = url2pathname(urlsplit(source).path) if source.startswith("file://") else source
    return source if PATTERN.search(path) and not os.path.exists(path) else path


def without_secret(source: str) -> str:
    """An address, or a sentence with one, as it may be kept and shown: without the words that open it."""
    return _SIGNED.sub(r"\1", _SECRET.sub("", source))


def last_name(address: str) -> str:
    """The last name in an address that is no pattern."""
    names = [one for one in without_secret(address).partition("://")[2].split("/") if one and not PATTERN.search(one)]
    return names[-1] if names else ""


def file_system(address: str) -> tuple[Any, str]:
    """What opens an address, and its path there."""
    protocol = address.partition("://")[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ResourceError(
            f"reading from {protocol}:// needs the package fsspec", hint="pip install 'topiarist[parquet]'"
        ) from error
    try:
        system, path = url_to_fs(address)
    except ImportError as error:  # its message says which package
        raise ResourceError(
            f"{protocol}:// cannot be read here: {first_line(error)}",
            hint="pip install what it names; with a cluster, on all machines",
        ) from error
    except ValueError as error:
        shown = without_secret(address)
        hint = "a path, or an address that fsspec knows"
        raise UsageError(f"cannot read {shown}: {first_line(error)}", hint=hint) from error
    except Exception as error:
        raise ResourceError(
            f"cannot reach {without_secret(address)}: {first_line(error)}", hint=_settings(protocol)
        ) from error
    return system, path


@contextmanager
def reachable(address: str) -> Iterator[None]:
    """Say what an address that cannot be reached means."""
    shown = without_secret(address)
    try:
        yield
    except TopiaristError:
        raise
    except FileNotFoundError as error:
        raise UsageError(f"no such file: {shown}", hint="an address that every worker can read") from error
    except Exception as error:  # each file system has its own
        hint = _settings(address.partition("://")[0]) if "://" in address else "is it a file that you may read?"
        raise ResourceError(f"cannot read {shown}: {first_line(error)}", hint=hint) from error


def _settings(protocol: str) -> str:
    return f"is it there, and are the keys for {protocol}:// in the environment, here and on the workers?"


def first_line(error: BaseException) -> str:
    """What an error of some library says."""
    return without_secret((str(error).splitlines() or [repr(error)])[0])


@dataclass(frozen=True, slots=True)
class Remote:
    """A file elsewhere."""

    system: Any
    path: str
    folder: str = ""  # the name of the folder, or of that of the pattern, that was named
    below: str = ""  # its path below it; empty: it was named itself

    @property
    def name(self) -> str:
        """Its address, to be shown."""
        return without_secret(str(self.system.unstrip_protocol(self.path)))

    @property
    def id(self) -> str:
        """What is stable of its name: as for files here, the folder that was named and what lies below."""
        return posixpath.join(self.folder, self.below) if self.below else posixpath.basename(self.name)

    @property
    def size(self) -> int:
        """Its bytes, as far as its system tells."""
        return int(self._known().get("size") or 0)

    def stamp(self) -> str:
        """What changes when the file does, as far as its system tells; empty where its size is all that it tells."""
        known = self._known()
        told = [f"{name}={known[name]}" for name in CHANGING if known.get(name) is not None]
        return "\0".join([f"size={known.get('size')}", *told]) if told else ""

    def _known(self) -> dict[str, Any]:
        with reachable(self.name):
            found: dict[str, Any] = self.system.info(self.path)
            return found


def files_at(address: str) -> list[Remote]:
    """The files of an address, sorted: itself, those in a folder, or those that a pattern matches.

    Names that begin with a dot, ``_`` or ``~$`` are no data: such are the marks and halves that other programs leave;
    nor are collections of ours.
    """
    system, path = file_system(address)
    with reachable(address):
        if not address.endswith("/") and system.isfile(path):
            return [Remote(system, path)]
        pattern = PATTERN.search(path)
        if not pattern and not system.isdir(path):
            raise UsageError(f"no such file or folder: {without_secret(address)}", hint="check the spelling")
        top = (path if not pattern else path[: pattern.start()].rpartition("/")[0]).rstrip("/")
        found = system.glob(path, detail=True) if pattern else system.find(path, detail=True)
        files = sorted(one for one, known in found.items() if known.get("type") != "directory")
    folder = posixpath.basename(top)
    every = [Remote(system, one, folder, posixpath.relpath(one, top) if top else one) for one in files]
    data = [one for one in every if not _ASIDE.search(one.below)]
    if not data:
        what = "no file matches" if pattern else "no file in"
        raise UsageError(f"{what} {without_secret(address)}", hint="check the spelling")
    return data


class Brought:
    """Files that were brought here, in a folder for as long as they are read; none where no source is an address."""

    def __init__(self, sources: list[str]) -> None:
        wanted = any(map(is_address, sources))
        self._folder = tempfile.TemporaryDirectory(prefix="topiarist-") if wanted else None
        self._number = 0

    @property
    def folders(self) -> list[str]:
        """What those who parse must be able to open."""
        return [] if self._folder is None else [os.path.realpath(self._folder.name)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def bring(self, file: File) -> File | Problem:
        """The file, its bytes on this machine; or why they are not. One that is here already is as it was."""
        remote = file.remote
        if remote is None or file.place or self._folder is None:
            return file
        self._number += 1
        place = os.path.join(self._folder.name, str(self._number))
        try:
            with remote.system.open(remote.path, "rb") as there, open(place, "wb") as here:
                shutil.copyfileobj(there, here, _PIECE)
            size = remote.system.info(remote.path).get("size")
        except Exception as error:  # each file system has its own
            self._remove(place)
            if isinstance(error, OSError) and (missing := lack(error, self._folder.name)):
                raise missing from error
            return Problem(file.name, f"cannot be read: {first_line(error)}")
        came = os.path.getsize(place)
        if size is not None and came != size:
            self._remove(place)
            return Problem(file.name, f"broke off after {came:,} of {size:,} bytes")
        return replace(file, place=place)

    def let_go(self, file: File) -> None:
        """A file has been read."""
        if file.remote is not None and file.place:
            self._remove(file.place)

    @staticmethod
    def _remove(place: str) -> None:
        with suppress(OSError):
            os.unlink(place)
