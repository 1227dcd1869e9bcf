"""Members of an archive (.zip, .tar and its compressed kin, .7z), each put into a folder that the reader gave.

Names in an archive never become names of files: members are called by their numbers, so that none can be written
elsewhere. Links and devices are told and not made. How much comes out is bounded in bytes and in members.
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

from topiarist.text.extract.limits import ExtractError, Limits, Part, Source, Told, first_bytes

if TYPE_CHECKING:
    from py7zr import SevenZipFile

_CHUNK = 1 << 20
_LONGEST_NAME = 1000
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
_OUTSIDE = re.compile(r"(^|[/\\])\.\.([/\\]|$)|^[/\\]|^[A-Za-z]:")
_HIDDEN = re.compile(r"(^|/)(\.[^./]|~\$|__MACOSX/)")
_SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c"


class _TooMuchError(ExtractError):
    """More comes out of an archive than is allowed."""


@dataclass(slots=True)
class _Room:
    """Where members are put, and how much more may come."""

    folder: str
    bytes_left: int
    members_left: int
    number: int = 0

    def put(self, name: str, stream: IO[bytes]) -> Part:
        """Write a member; its part says where it is."""
        self.number += 1
        path = os.path.join(self.folder, f"{self.number}")
        with open(path, "wb") as file:
            while chunk := stream.read(_CHUNK):
                self.take(len(chunk))
                file.write(chunk)
        return Part({"name": name[:_LONGEST_NAME], "number": self.number})

    def take(self, size: int) -> None:
        """So many bytes more."""
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise _TooMuchError("unpacks to more than is allowed for its size; is it a bomb? The rest is left out")

    def next_member(self) -> None:
        """One member more, whatever it is."""
        self.members_left -= 1
        if self.members_left < 0:
            raise _TooMuchError("holds more files than are allowed; the rest is left out")


def parts(source: Source, limits: Limits, told: Told) -> Iterator[Part]:
    """Each member as a file in the folder, or why it is left out."""
    room = _Room(str(told["folder"]), int(told["bytes"]), int(told["members"]))
    try:
        yield from _reader(source)(source, room)
    except _TooMuchError as error:
        yield Part({"fault": str(error), "name": ""})
    except _DAMAGED as error:
        if not room.number:
            raise ExtractError("not an archive, or a damaged one") from error
        yield Part({"fault": "the archive is damaged from here on; what came before is kept", "name": ""})


def _reader(source: Source) -> Callable[[Source, _Room], Iterator[Part]]:
    """By what an archive begins with, whatever it is called."""
    head = first_bytes(source, len(_SEVEN_ZIP))
    if head == _SEVEN_ZIP:
        return _of_7z
    return _of_zip if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK00")) else _of_tar


def _refusal(name: str) -> str:
    """Why a member is not read, by its name; empty if nothing is wrong with it."""
    return "its name leads out of the archive" if _OUTSIDE.search(name) else ""


def _of_zip(source: Source, room: _Room) -> Iterator[Part]:
    with zipfile.ZipFile(source) as archive:
        for member in archive.infolist():
            name = _name_in_zip(member)
            if member.is_dir() or _HIDDEN.search(name):
                continue
            room.next_member()
            wrong = _refusal(name)
            if member.flag_bits & 1:
                wrong = "needs a password"
            elif stat.S_ISLNK(member.external_attr >> 16):
                wrong = "a link; links in archives are not followed"
            if not wrong:
                try:
                    with archive.open(member) as stream:
                        yield room.put(name, stream)
                    continue
                except _DAMAGED:
                    wrong = "damaged in the archive"
                except NotImplementedError:
                    wrong = "compressed in a way that is not known here"
            yield Part({"fault": wrong, "name": name[:_LONGEST_NAME]})


def _name_in_zip(member: zipfile.ZipInfo) -> str:
    """Names that are not said to be UTF-8 often are; zipfile took them for the letters of an old code page."""
    if member.flag_bits & 0x800:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def _of_tar(source: Source, room: _Room) -> Iterator[Part]:
    stream = source if isinstance(source, io.BytesIO) else None
    name = None if isinstance(source, io.BytesIO) else source
    with tarfile.open(name, fileobj=stream, mode="r:*") as archive:
        for member in archive:
            if member.isdir() or _HIDDEN.search(member.name.removeprefix("./")):
                continue
            room.next_member()
            wrong = _refusal(member.name)
            if member.issym() or member.islnk():
                wrong = "a link; links in archives are not followed"
            elif not member.isreg():
                wrong = "not a regular file"
            if not wrong and (found := archive.extractfile(member)) is not None:
                with found:
                    yield room.put(member.name.removeprefix("./"), found)
            else:
                yield Part({"fault": wrong, "name": member.name[:_LONGEST_NAME]})
            archive.members = []  # type: ignore[attr-defined]  # else it remembers all of them


def _of_7z(source: Source, room: _Room) -> Iterator[Part]:
    """All at once: its members are packed together. Their sizes are known before."""
    try:
        import py7zr
    except ImportError as error:
        raise ExtractError("reading .7z needs py7zr: pip install 'topiarist[7z]'") from error
    try:
        with py7zr.SevenZipFile(source) as archive:
            if archive.needs_password():
                raise ExtractError("needs a password")
            wanted: list[tuple[str, str]] = []
            refused: list[tuple[str, str]] = []
            for member in archive.list():
                if member.is_directory or _HIDDEN.search(member.filename):
                    continue
                room.next_member()
                wrong = _refusal(member.filename)
                if member.is_symlink:
                    wrong = "a link; links in archives are not followed"
                (refused if wrong else wanted).append((member.filename, wrong))
                room.take(0 if wrong else int(member.uncompressed or 0))
            yield from (Part({"fault": wrong, "name": name[:_LONGEST_NAME]}) for name, wrong in refused)
            yield from _unpacked_7z(archive, [name for name, _ in wanted], room)
    except py7zr.exceptions.PasswordRequired as error:
        raise ExtractError("needs a password") from error
    except (py7zr.exceptions.ArchiveError, zlib.error, lzma.LZMAError, EOFError, IndexError, TypeError) as error:
        raise ExtractError("not an archive, or a damaged one") from error


def _unpacked_7z(archive: SevenZipFile, names: list[str], room: _Room) -> Iterator[Part]:
    from py7zr.io import Py7zIO, WriterFactory

    class Writer(Py7zIO):
        """A file in the folder, under a number."""

        def __init__(self, path: str) -> None:
            self.path = path
            self._file = open(path, "w+b")  # noqa: SIM115 - closed below

        def write(self, s: bytes | bytearray) -> int:
            """Only what the archive has said before: the sum of that is allowed."""
            return self._file.write(s)

        def read(self, size: int | None = None) -> bytes:
            return self._file.read(size)

        def seek(self, offset: int, whence: int = 0) -> int:
            return self._file.seek(offset, whence)

        def flush(self) -> None:
            self._file.flush()

        def size(self) -> int:
            return os.fstat(self._file.fileno()).st_size

        def close(self) -> None:
            self._file.close()

    class Writers(WriterFactory):
        """Files for members, as they come."""

        def __init__(self) -> None:
            self.made: list[tuple[str, int]] = []

        def create(self, filename: str) -> Py7zIO:
            room.number += 1
            self.made.append((filename, room.number))
            return Writer(os.path.join(room.folder, f"{room.number}"))

    writers = Writers()
    if names:
        archive.extract(targets=names, factory=writers)
    for name, number in writers.made:
        yield Part({"name": name[:_LONGEST_NAME], "number": number})
