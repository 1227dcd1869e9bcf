"""Members of an archive (.zip, .tar and its compressed forms, .7z), each written to a folder of the reader.

Names in an archive never become names of files: members are numbered, so that none is written outside the folder. Links
and devices are reported and not created. The bytes and the members of an archive are limited.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from topiarist.text.parsers.limits import ExtractError, Limits, Options, Part, Source, read_start

if TYPE_CHECKING:
    from py7zr import SevenZipFile

_CHUNK = 1 << 20
_MAX_NAME_LENGTH = 1000
_DAMAGE_ERRORS = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
_LEADING_OUT = re.compile(r"(^|[/\\])\.\.([/\\]|$)|^[/\\]|^[A-Za-z]:")
_HIDDEN = re.compile(r"(^|/)(\.[^./]|~\$|__MACOSX/)")
_SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c"


class _TooMuchError(ExtractError):
    """Archive that exceeds the limit of its bytes or members."""


@dataclass(slots=True)
class _MemberFolder:
    """Folder of the members, with the bytes and members that are still allowed."""

    folder: str
    bytes_left: int
    members_left: int
    number: int = 0

    def write(self, name: str, stream: IO[bytes]) -> Part:
        """Write a member and return its part."""
        self.number += 1
        path = os.path.join(self.folder, f"{self.number}")
        with open(path, "wb") as file:
            while chunk := stream.read(_CHUNK):
                self.count_bytes(len(chunk))
                file.write(chunk)
        return Part({"name": name[:_MAX_NAME_LENGTH], "number": self.number})

    def count_bytes(self, size: int) -> None:
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise _TooMuchError("unpacks to more than the limit for its size and can be a bomb; the rest is skipped")

    def count_member(self) -> None:
        self.members_left -= 1
        if self.members_left < 0:
            raise _TooMuchError("holds more files than the limit; the rest is skipped")


def read_archive_members(source: Source, limits: Limits, options: Options) -> Iterator[Part]:
    """Yield each member as a file in the folder, or the reason why it is skipped."""
    folder = _MemberFolder(str(options["folder"]), int(options["bytes"]), int(options["members"]))
    try:
        yield from _choose_reader(source)(source, folder)
    except _TooMuchError as error:
        yield Part({"fault": str(error), "name": ""})
    except _DAMAGE_ERRORS as error:
        if not folder.number:
            raise ExtractError("not an archive, or a damaged one") from error
        yield Part({"fault": "the archive is damaged from here on; earlier members are kept", "name": ""})


def _choose_reader(source: Source) -> Callable[[Source, _MemberFolder], Iterator[Part]]:
    """Return the reader of an archive by its first bytes, whatever its name is."""
    head = read_start(source, len(_SEVEN_ZIP))
    if head == _SEVEN_ZIP:
        return _read_7z
    return _read_zip if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK00")) else _read_tar


def _find_name_fault(name: str) -> str:
    """Return the fault of a member's name; an empty string if it has none."""
    return "its name leads outside the archive" if _LEADING_OUT.search(name) else ""


def _read_zip(source: Source, folder: _MemberFolder) -> Iterator[Part]:
    """Write the members of a ZIP archive to numbered files; yield each with its name or its fault."""
    with zipfile.ZipFile(source) as archive:
        for member in archive.infolist():
            name = _decode_zip_name(member)
            if member.is_dir() or _HIDDEN.search(name):
                continue
            folder.count_member()
            fault = _find_name_fault(name)
            if member.flag_bits & 1:
                fault = "needs a password"
            elif stat.S_ISLNK(member.external_attr >> 16):
                fault = "a link; links in archives are not followed"
            if not fault:
                try:
                    with archive.open(member) as stream:
                        yield folder.write(name, stream)
                    continue
                except _DAMAGE_ERRORS:
                    fault = "damaged in the archive"
                except NotImplementedError:
                    fault = "compressed by an unknown method"
            yield Part({"fault": fault, "name": name[:_MAX_NAME_LENGTH]})


def _decode_zip_name(member: zipfile.ZipInfo) -> str:
    """Return the name of a member as UTF-8 if possible; zipfile decodes unmarked names by an old code page."""
    if member.flag_bits & 0x800:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def _read_tar(source: Source, folder: _MemberFolder) -> Iterator[Part]:
    """Write the members of a tar archive to numbered files; yield each with its name or its fault."""
    stream = source if isinstance(source, io.BytesIO) else None
    name = None if isinstance(source, io.BytesIO) else source
    with tarfile.open(name, fileobj=stream, mode="r:*") as archive:
        for member in archive:
            if member.isdir() or _HIDDEN.search(member.name.removeprefix("./")):
                continue
            folder.count_member()
            fault = _find_name_fault(member.name)
            if member.issym() or member.islnk():
                fault = "a link; links in archives are not followed"
            elif not member.isreg():
                fault = "not a regular file"
            if not fault and (content := archive.extractfile(member)) is not None:
                with content:
                    yield folder.write(member.name.removeprefix("./"), content)
            else:
                yield Part({"fault": fault, "name": member.name[:_MAX_NAME_LENGTH]})
            archive.members = []  # type: ignore[attr-defined]  # otherwise tarfile keeps all of them


def _read_7z(source: Source, folder: _MemberFolder) -> Iterator[Part]:
    """Yield the members of a .7z archive; they are packed together, and their sizes are known before."""
    try:
        import py7zr
    except ImportError as error:
        raise ExtractError("reading .7z needs py7zr: pip install 'topiarist[7z]'") from error
    try:
        with py7zr.SevenZipFile(source) as archive:
            if archive.needs_password():
                raise ExtractError("needs a password")
            members: list[tuple[str, str]] = []
            rejected: list[tuple[str, str]] = []
            for member in archive.list():
                if member.is_directory or _HIDDEN.search(member.filename):
                    continue
                folder.count_member()
                fault = _find_name_fault(member.filename)
                if member.is_symlink:
                    fault = "a link; links in archives are not followed"
                (rejected if fault else members).append((member.filename, fault))
                folder.count_bytes(0 if fault else int(member.uncompressed or 0))
            yield from (Part({"fault": fault, "name": name[:_MAX_NAME_LENGTH]}) for name, fault in rejected)
            yield from _unpack_7z(archive, [name for name, _ in members], folder)
    except py7zr.exceptions.PasswordRequired as error:
        raise ExtractError("needs a password") from error
    except (py7zr.exceptions.ArchiveError, zlib.error, lzma.LZMAError, EOFError, IndexError, TypeError) as error:
        raise ExtractError("not an archive, or a damaged one") from error


def _unpack_7z(archive: SevenZipFile, names: list[str], folder: _MemberFolder) -> Iterator[Part]:
    """Unpack the named members of a 7z archive into numbered files of the folder; yield each."""
    from py7zr.io import Py7zIO, WriterFactory

    class Writer(io.BufferedRandom, Py7zIO):
        """Numbered file in the folder."""

        def size(self) -> int:
            return os.fstat(self.fileno()).st_size

    class Writers(WriterFactory):
        """Factory of the files of members."""

        def __init__(self) -> None:
            self.written_members: list[tuple[str, int]] = []

        def create(self, filename: str) -> Py7zIO:
            folder.number += 1
            self.written_members.append((filename, folder.number))
            return Writer(io.FileIO(os.path.join(folder.folder, f"{folder.number}"), "w+"))

    writers = Writers()
    if names:
        archive.extract(targets=names, factory=writers)
    for name, number in writers.written_members:
        yield Part({"name": name[:_MAX_NAME_LENGTH], "number": number})
