"""Files within files: members of archives, and attachments of messages, read like files in a folder."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

from topiarist.text.dates import find_date_in_name
from topiarist.text.parsers import Attachment, Extracted, ExtractError, Task
from topiarist.text.parsers.limits import Options
from topiarist.text.readers.items import ExtractionBudget, File, Item, Raw, ReadFailure, Setting

_MIN_BUDGET_BYTES = 64 << 20  # unpacked bytes allowed for an archive of any size
_TOO_DEEP = "is nested in more than {} archives or messages"


def read_archive(file: File, setting: Setting) -> Iterator[Item]:
    """Yield the documents of all members in order."""
    limits = setting.limits
    if setting.depth >= limits.archive_depth:
        yield ReadFailure(_TOO_DEEP.format(limits.archive_depth))
        return
    budget = setting.budget or _create_budget(os.path.getsize(file.path), setting)
    inner_setting = replace(setting, depth=setting.depth + 1, budget=budget)
    with tempfile.TemporaryDirectory(dir=setting.pool.scratch) as folder:
        options: Options = {"folder": folder, "bytes": max(0, budget.bytes), "members": max(0, budget.members)}
        for part in setting.pool.parts(Task("archive", path=os.path.abspath(file.path), options=options)):
            name = f"/{part.facts['name']}" if part.facts.get("name") else ""
            if "fault" in part.facts:
                yield ReadFailure(str(part.facts["fault"]), member=name)
                continue
            place = os.path.join(folder, str(int(part.facts["number"])))
            if not stat.S_ISREG(os.lstat(place).st_mode):  # a link made by a parser that a hostile file controls
                yield ReadFailure("is no file and was skipped", member=name)
                continue
            budget.spend(os.path.getsize(place))
            try:
                yield from _read_nested(file, name, name, place, inner_setting)
            finally:
                os.unlink(place)
            if budget.bytes < 0 or budget.members < 0:
                yield ReadFailure("unpacks to more than the limit; the rest is skipped")
                return


def read_parsed(file: File, place: int, answer: Future[Extracted], setting: Setting) -> Iterator[Item]:
    """Yield the document that a worker parsed, then its attachments."""
    try:
        extracted = answer.result()
    except ExtractError as error:
        yield ReadFailure(str(error), place=place)
        return
    if extracted.text.strip() or not extracted.attachments:  # a message without text is its attachment
        raw = Raw(
            extracted.text,
            title=extracted.title,
            date=extracted.date,
            place=place,
            note=extracted.note,
            columns=extracted.columns,
        )
        yield replace(raw, file_date=extracted.file_date, scanned=extracted.scanned)
    elif extracted.note:
        yield ReadFailure(extracted.note, place=place)
    if not extracted.attachments:
        return
    location = f":{place}" if place else ""
    if setting.depth >= setting.limits.archive_depth:
        yield ReadFailure(_TOO_DEEP.format(setting.limits.archive_depth), place=place)
        return
    inner_setting = replace(setting, depth=setting.depth + 1)
    date = extracted.date or ("" if place else find_date_in_name(file.own_name))
    with tempfile.TemporaryDirectory(dir=setting.pool.scratch) as folder:
        for number, attachment in enumerate(extracted.attachments):
            path = os.path.join(folder, str(number))
            _write(path, attachment)
            for item in _read_nested(file, f"{location}#{attachment.name}", attachment.name, path, inner_setting):
                yield _add_parent(item, file.id + location, date) if isinstance(item, Raw) else item
            os.unlink(path)


def _add_parent(item: Raw, parent: str, date: str) -> Raw:
    """Return a document of an attachment with the id and the date of its message."""
    return replace(item, parent=item.parent or parent, date=item.date or date)


def _read_nested(file: File, member: str, name: str, place: str, setting: Setting) -> Iterator[Item]:
    """Yield the documents of a file within a file, with the name of that file."""
    if setting.inside is None:
        return
    inner = File(file.name + member, file.id + member, None, place=place, inner_name=name)
    for item in setting.inside(inner, setting):
        item = replace(item, member=member + item.member)
        yield replace(item, file_name=item.file_name or inner.own_name) if isinstance(item, Raw) else item


def _create_budget(size: int, setting: Setting) -> ExtractionBudget:
    limits = setting.limits
    return ExtractionBudget(
        min(limits.archive_bytes, max(_MIN_BUDGET_BYTES, limits.archive_ratio * size)), limits.archive_members
    )


def _write(place: str, attachment: Attachment) -> None:
    with open(place, "wb") as file:
        file.write(attachment.data)
