"""Files at URLs that fsspec opens (``s3://…``, ``gs://…``, ``https://…``), found there and downloaded.

Parsers run in processes that can open only the sources, by their paths. A file is downloaded to a local folder before
it is read, and deleted afterwards.
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

from topiarist.errors import ResourceError, TopiaristError, UsageError, to_limit_error
from topiarist.text.documents import Problem
from topiarist.text.readers.items import File

PATTERN = re.compile(r"[*?[]")
_SECRET = re.compile(r"(?<=://)[^/\s]*@")  # user name and password
_SIGNED = re.compile(r"(https?://[^\s?#'\"]*)\?[^\s'\"]*")  # query parameters can hold an access key
_IGNORED_NAME = re.compile(r"(^|/)([._]|~\$)|\.topiary/")
# names of version tags and modification times in file systems
CHANGING = (
    "ETag", "etag", "md5Hash", "content_md5", "Content-MD5", "mtime", "LastModified", "last_modified", "Last-Modified",
    "updated", "modify", "created",
)  # fmt: skip
_COPY_BYTES = 1 << 22  # bytes read at a time


def is_url(source: str) -> bool:
    """Return whether a source is a URL and no local file."""
    return "://" in source and not os.path.exists(source)


def to_local_path(source: str) -> str:
    """Return the path of a ``file://`` URL, and any other source unchanged; patterns stay URLs."""
    path = url2pathname(urlsplit(source).path) if source.startswith("file://") else source
    return source if PATTERN.search(path) and not os.path.exists(path) else path


def remove_secret(source: str) -> str:
    """Return a text without credentials in its URLs, to be stored or shown."""
    return _SIGNED.sub(r"\1", _SECRET.sub("", source))


def get_last_name(address: str) -> str:
    """Return the last name in a URL that is no pattern."""
    names = [
        part for part in remove_secret(address).partition("://")[2].split("/") if part and not PATTERN.search(part)
    ]
    return names[-1] if names else ""


def open_file_system(address: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it. Raise ResourceError without fsspec."""
    protocol = address.partition("://")[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ResourceError(
            f"reading from {protocol}:// requires fsspec", hint="Run pip install 'topiarist[parquet]'."
        ) from error
    try:
        system, path = url_to_fs(address)
    except ImportError as error:  # its message says which package
        raise ResourceError(
            f"{protocol}:// cannot be read here: {get_first_line(error)}",
            hint="Install the named package, on all machines of a cluster.",
        ) from error
    except ValueError as error:
        public_url = remove_secret(address)
        hint = "Pass a path or a URL that fsspec supports."
        raise UsageError(f"cannot read {public_url}: {get_first_line(error)}", hint=hint) from error
    except Exception as error:
        raise ResourceError(
            f"cannot reach {remove_secret(address)}: {get_first_line(error)}", hint=_hint_credentials(protocol)
        ) from error
    return system, path


@contextmanager
def translate_errors(address: str) -> Iterator[None]:
    """Translate errors of file systems into errors of topiarist."""
    public_url = remove_secret(address)
    try:
        yield
    except TopiaristError:
        raise
    except FileNotFoundError as error:
        raise UsageError(f"no such file: {public_url}", hint="Pass a URL that every worker can read.") from error
    except Exception as error:  # each file system has its own
        hint = (
            _hint_credentials(address.partition("://")[0]) if "://" in address else "Check the permissions of the file."
        )
        raise ResourceError(f"cannot read {public_url}: {get_first_line(error)}", hint=hint) from error


def _hint_credentials(protocol: str) -> str:
    return f"Check that it exists, and that the credentials for {protocol}:// are set here and on the workers."


def get_first_line(error: BaseException) -> str:
    return remove_secret((str(error).splitlines() or [repr(error)])[0])


@dataclass(frozen=True, slots=True)
class Remote:
    """File at a URL."""

    system: Any
    path: str
    folder: str = ""  # name of the named folder, or of the folder of the pattern
    relative_path: str = ""  # path below that folder; empty for a named file

    @property
    def name(self) -> str:
        return remove_secret(str(self.system.unstrip_protocol(self.path)))

    @property
    def id(self) -> str:
        """Stable part of the name: the named folder and the path below it, as for local files."""
        return posixpath.join(self.folder, self.relative_path) if self.relative_path else posixpath.basename(self.name)

    @property
    def size(self) -> int:
        """Size in bytes, 0 if the file system does not know it."""
        return int(self._read_info().get("size") or 0)

    def stamp(self) -> str:
        """Return a text that changes with the file; an empty string if only the size is known."""
        info = self._read_info()
        fields = [f"{name}={info[name]}" for name in CHANGING if info.get(name) is not None]
        return "\0".join([f"size={info.get('size')}", *fields]) if fields else ""

    def _read_info(self) -> dict[str, Any]:
        with translate_errors(self.name):
            info: dict[str, Any] = self.system.info(self.path)
            return info


def list_files(address: str) -> list[Remote]:
    """Return the sorted files of a URL: itself, those in a folder, or those that a pattern matches.

    Collections are skipped, and names that begin with a dot, ``_`` or ``~$``: other programs use them for temporary
    files.
    """
    system, path = open_file_system(address)
    with translate_errors(address):
        if not address.endswith("/") and system.isfile(path):
            return [Remote(system, path)]
        pattern = PATTERN.search(path)
        if not pattern and not system.isdir(path):
            raise UsageError(f"no such file or folder: {remove_secret(address)}", hint="Check the spelling.")
        top = (path if not pattern else path[: pattern.start()].rpartition("/")[0]).rstrip("/")
        entries = system.glob(path, detail=True) if pattern else system.find(path, detail=True)
        files = sorted(one for one, info in entries.items() if info.get("type") != "directory")
    folder = posixpath.basename(top)
    remotes = [Remote(system, one, folder, posixpath.relpath(one, top) if top else one) for one in files]
    documents = [one for one in remotes if not _IGNORED_NAME.search(one.relative_path)]
    if not documents:
        problem = "no file matches" if pattern else "no file in"
        raise UsageError(f"{problem} {remove_secret(address)}", hint="Check the spelling.")
    return documents


class LocalCopies:
    """Temporary folder of downloaded files; without a folder if no source is a URL."""

    def __init__(self, sources: list[str]) -> None:
        has_url = any(map(is_url, sources))
        self._folder = tempfile.TemporaryDirectory(prefix="topiarist-") if has_url else None
        self._number = 0

    @property
    def folders(self) -> list[str]:
        """Folders that parsers must be able to open."""
        return [] if self._folder is None else [os.path.realpath(self._folder.name)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def download(self, file: File) -> File | Problem:
        """Copy a remote file to a local folder; return it or the problem; a local file is unchanged."""
        remote = file.remote
        if remote is None or file.place or self._folder is None:
            return file
        self._number += 1
        place = os.path.join(self._folder.name, str(self._number))
        try:
            with remote.system.open(remote.path, "rb") as remote_file, open(place, "wb") as local_file:
                shutil.copyfileobj(remote_file, local_file, _COPY_BYTES)
            size = remote.system.info(remote.path).get("size")
        except Exception as error:  # each file system has its own
            self._remove(place)
            if isinstance(error, OSError) and (limit_error := to_limit_error(error, self._folder.name)):
                raise limit_error from error
            return Problem(file.name, f"cannot be read: {get_first_line(error)}")
        size_here = os.path.getsize(place)
        if size is not None and size_here != size:
            self._remove(place)
            return Problem(file.name, f"broke off after {size_here:,} of {size:,} bytes")
        return replace(file, place=place)

    def release(self, file: File) -> None:
        """Delete the local copy of a file that was read."""
        if file.remote is not None and file.place:
            self._remove(file.place)

    @staticmethod
    def _remove(place: str) -> None:
        with suppress(OSError):
            os.unlink(place)
