"""What is in a file: by its reader here, or by a parser in a worker; whatever goes wrong is the trouble of it alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

from topiarist.errors import TopiaristError, in_words
from topiarist.text.extract import Extracted, ExtractError, Task
from topiarist.text.extract.decoding import NotTextError
from topiarist.text.readers.inside.nested import parsed
from topiarist.text.readers.inside.scans import recognised
from topiarist.text.readers.items import File, Item, Raw, Setting, Trouble, Unknown
from topiarist.text.readers.kinds import kind_of
from topiarist.text.readers.lines import READ_ERRORS, opened, read_bytes, reason_of


def items_inside(file: File, setting: Setting) -> Iterator[Item]:
    """The items of a file within a file, whose name tells what it is."""
    kind, packing = kind_of(file.name)
    return items_of(replace(file, kind=kind, packing=packing), setting)


def items_of(file: File, setting: Setting, answer: Future[Extracted] | None = None) -> Iterator[Item]:
    """The items of a file; ``answer`` is what a worker makes of it, if it was asked before."""
    try:
        if file.kind is None:
            yield Unknown()
        elif file.kind.read is not None:
            yield from _at_least_one(file.kind.read(file, setting))
        else:
            for item in parsed(file, 0, answer or _asked(file, setting), setting):
                yield recognised(file, item, setting) if isinstance(item, Raw) and item.scanned else item
    except TopiaristError as error:
        if file.named:
            raise
        yield Trouble(error.message.splitlines()[0], refusal=error)
    except NotTextError as error:
        # A file of another suffix that somebody named was only tried as text.
        yield Unknown() if kind_of(file.name)[0] is None and file.stream is None else Trouble(str(error))
    except ExtractError as error:
        yield Trouble(str(error))
    except READ_ERRORS as error:
        yield Trouble(reason_of(error))
    except Exception as error:
        # A fault in one reader, on a file nobody foresaw, must not cost the other thirty thousand.
        yield Trouble(f"could not be read: {in_words(error)}")


def _asked(file: File, setting: Setting) -> Future[Extracted]:
    parser = "" if file.kind is None else file.kind.parser
    if not file.packing:
        return setting.pool.submit(Task(parser, path=os.path.abspath(file.path)))
    with opened(file) as stream:
        data, _ = read_bytes(stream, setting.limits.raw_bytes)
    return setting.pool.submit(Task(parser, data=data))


def _at_least_one(items: Iterator[Item]) -> Iterator[Item]:
    """The items of a file; a file without any counts as one empty document."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        yield Raw("", note="no rows, messages or files in it")
