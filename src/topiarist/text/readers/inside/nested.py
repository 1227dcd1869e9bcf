"""Files within files: members of archives, and what came with a message. Each is read as if it lay in a folder."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

from topiarist.text.extract import Attached, Extracted, ExtractError, Task
from topiarist.text.extract.limits import Told
from topiarist.text.readers.items import Allowance, File, Item, Raw, Setting, Trouble

_FREE_BYTES = 64 << 20  # whatever the size of the archive
_WITHIN = "lies within too many archives or messages to be opened; at most {} are"


def read_archive(file: File, setting: Setting) -> Iterator[Item]:
    """The documents of all members, in their order."""
    limits = setting.limits
    if setting.depth >= limits.archive_depth:
        yield Trouble(_WITHIN.format(limits.archive_depth))
        return
    allowed = setting.allowance or _allowance(os.path.getsize(file.path), setting)
    within = replace(setting, depth=setting.depth + 1, allowance=allowed)
    with tempfile.TemporaryDirectory(dir=setting.pool.scratch) as folder:
        told: Told = {"folder": folder, "bytes": max(0, allowed.bytes), "members": max(0, allowed.members)}
        for part in setting.pool.parts(Task("archive", path=os.path.abspath(file.path), told=told)):
            name = f"/{part.facts['name']}" if part.facts.get("name") else ""
            if "fault" in part.facts:
                yield Trouble(str(part.facts["fault"]), member=name)
                continue
            place = os.path.join(folder, str(int(part.facts["number"])))
            if not stat.S_ISREG(os.lstat(place).st_mode):  # a link of a parser that was taken over
                yield Trouble("is no file, and was left out", member=name)
                continue
            allowed.take(os.path.getsize(place))
            try:
                yield from _inside(file, name, place, within)
            finally:
                os.unlink(place)
            if allowed.bytes < 0 or allowed.members < 0:
                yield Trouble("more comes out of it than is allowed; the rest is left out")
                return


def parsed(file: File, place: int, answer: Future[Extracted], setting: Setting) -> Iterator[Item]:
    """What a worker made of a document, and then what came with it."""
    try:
        found = answer.result()
    except ExtractError as error:
        yield Trouble(str(error), place)
        return
    if found.text.strip() or not found.attached:  # a message that only brings a file is that file
        raw = Raw(found.text, title=found.title, date=found.date, place=place, note=found.note, columns=found.columns)
        yield replace(raw, scanned=found.scanned)
    elif found.note:
        yield Trouble(found.note, place)
    if not found.attached:
        return
    here = f":{place}" if place else ""
    if setting.depth >= setting.limits.archive_depth:
        yield Trouble(_WITHIN.format(setting.limits.archive_depth), place)
        return
    within = replace(setting, depth=setting.depth + 1)
    with tempfile.TemporaryDirectory(dir=setting.pool.scratch) as folder:
        for number, one in enumerate(found.attached):
            at = os.path.join(folder, str(number))
            _write(at, one)
            for item in _inside(file, f"{here}#{one.name}", at, within):
                yield replace(item, parent=file.id + here) if isinstance(item, Raw) and not item.parent else item
            os.unlink(at)


def _inside(file: File, member: str, place: str, setting: Setting) -> Iterator[Item]:
    """The documents of a file within a file."""
    if setting.inside is None:
        return
    inner = File(file.name + member, file.id + member, None, place=place)
    for item in setting.inside(inner, setting):
        yield replace(item, member=member + item.member)


def _allowance(size: int, setting: Setting) -> Allowance:
    limits = setting.limits
    return Allowance(min(limits.archive_bytes, max(_FREE_BYTES, limits.archive_ratio * size)), limits.archive_members)


def _write(place: str, one: Attached) -> None:
    with open(place, "wb") as file:
        file.write(one.data)
