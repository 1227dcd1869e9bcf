"""Rows of a spreadsheet (.xlsx, .xls, .ods and their kin), sheet by sheet, by calamine."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from topiarist.text.extract.limits import ExtractError, Limits, Part, Source, Told, first_bytes
from topiarist.text.extract.office.packages import Sort, opened
from topiarist.text.extract.packing import unpacked
from topiarist.text.extract.rows.batches import batches, fault, plain, remark

_TIMES = 4  # as large as other documents may a sheet be, unpacked
_TOP = 25  # rows among which the names of the columns are looked for
_MOSTLY = 0.6  # of the widest row at the top is the row of names filled
_SORTS = {
    "xlsx": Sort("a spreadsheet", "[Content_Types].xml", "an old .xls under a new name"),
    "ods": Sort("a spreadsheet", "content.xml"),
}
_LOCKED, _LOOKED_AT = "EncryptedPackage".encode("utf-16-le"), 16 << 20
_ZIP_MAGIC = b"PK\x03\x04"

Rows = Iterable[Sequence[object]]


def parts(source: Source, limits: Limits, told: Told) -> Iterator[Part]:
    """The rows of each sheet, with the names of its columns."""
    import python_calamine as calamine

    _look(source, limits, str(told.get("suffix", "")))
    try:
        # Not by its path: it would go by the suffix.
        workbook = calamine.load_workbook(unpacked(source))
    except calamine.PasswordError as error:
        raise ExtractError("needs a password") from error
    except (calamine.CalamineError, calamine.ZipError, calamine.XmlError) as error:
        if _LOCKED in first_bytes(source, _LOOKED_AT):
            raise ExtractError("needs a password") from error
        raise ExtractError("not a spreadsheet, or a damaged one") from error
    sheets = [one.name for one in workbook.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
    for name in sheets:
        try:
            sheet = workbook.get_sheet_by_name(name)
        except (calamine.CalamineError, calamine.XmlError, calamine.ZipError, calamine.WorksheetNotFound) as error:
            yield fault(f"the sheet cannot be read ({str(error)[:100]})", name)
            continue
        if sheet.height:
            yield from _sheet(name, sheet.iter_rows(), limits)


def _look(source: Source, limits: Limits, suffix: str) -> None:
    """Before anything is unpacked; calamine goes by what is in a file, whatever it is called."""
    if first_bytes(source, 4) == _ZIP_MAGIC:
        sort = _SORTS["ods" if suffix == ".ods" else "xlsx"]
        with opened(source, limits, sort, times=_TIMES):
            pass


def _sheet(name: str, rows: Rows, limits: Limits) -> Iterator[Part]:
    top: list[tuple[int, Sequence[object]]] = []
    numbered = enumerate(rows, start=1)
    for number, row in numbered:
        if any(_is_filled(cell) for cell in row):
            top.append((number, row))
            if len(top) >= _TOP:
                break
    if not top:
        return
    at = _names_at([row for _, row in top])
    names = _names(top[at][1])
    if at:
        yield remark(f"{at} row{'s' if at > 1 else ''} above the names of the columns left out", name, top[0][0])

    def filled() -> Iterator[tuple[int, list[object]]]:
        for number, row in chain(top[at + 1 :], numbered):
            if any(map(_is_filled, row)):
                yield number, list(map(_cell, row))

    yield from batches(filled(), limits.characters + 1, name, names)


def _names_at(top: Sequence[Sequence[object]]) -> int:
    """Which row names the columns: the first that is about as wide as the rows are, and nothing but text."""
    widths = [sum(map(_is_filled, row)) for row in top]
    enough = _MOSTLY * max(widths)
    for at, (row, width) in enumerate(zip(top, widths, strict=True)):
        if width >= enough and all(isinstance(cell, str) for cell in row if _is_filled(cell)):
            return at
    return 0


def _names(row: Sequence[object]) -> list[str]:
    """Names of columns, each one once, as those of CSV are made."""
    names: list[str] = []
    taken: set[str] = set()
    for number, cell in enumerate(row, start=1):
        name = " ".join(str(_cell(cell)).split()) or f"column {number}"
        names.append(name if name not in taken else f"{name} {number}")
        taken.add(names[-1])
    return names


def _is_filled(cell: object) -> bool:
    return cell is not None and cell != "" and not (isinstance(cell, str) and not cell.strip())


def _cell(cell: object) -> object:
    """A cell as people read it: whole numbers without a point, dates as ISO."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta):
        return plain(cell)
    return cell
