"""Rows of a spreadsheet (.xlsx, .xls, .ods and similar), sheet by sheet, by calamine."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import chain

from topiarist.text.parsers.limits import ExtractError, Limits, Options, Part, Source, open_unpacked, read_start
from topiarist.text.parsers.office import OfficeFormat, open_package
from topiarist.text.parsers.rows.batches import batch_rows, create_fault, create_remark, to_json_value
from topiarist.text.parsers.rows.stray_cells import remove_stray_cells

_SIZE_FACTOR = 4  # times the unpacked size of other documents
_HEADER_ROWS = 25  # rows at the top that are searched for the names of columns
_MIN_FILLED_SHARE = 0.6  # of the width of the widest row, for a row of names
_FORMATS = {
    "xlsx": OfficeFormat("a spreadsheet", "[Content_Types].xml", "an old .xls under a new name"),
    "ods": OfficeFormat("a spreadsheet", "content.xml"),
}
_ENCRYPTED_MARK, _SEARCHED_BYTES = "EncryptedPackage".encode("utf-16-le"), 16 << 20
_ZIP_MAGIC = b"PK\x03\x04"

Rows = Iterable[Sequence[object]]


def read_spreadsheet_rows(source: Source, limits: Limits, options: Options) -> Iterator[Part]:
    """Yield the rows of each sheet, with the names of its columns."""
    import python_calamine as calamine

    package, stray_cells = _check_package(source, limits, str(options.get("suffix", "")))
    try:
        # Not by path, because calamine would trust the suffix.
        workbook = calamine.load_workbook(package or open_unpacked(source))
    except calamine.PasswordError as error:
        raise ExtractError("needs a password") from error
    except (calamine.CalamineError, calamine.ZipError, calamine.XmlError) as error:
        if _ENCRYPTED_MARK in read_start(source, _SEARCHED_BYTES):
            raise ExtractError("needs a password") from error
        raise ExtractError("not a spreadsheet, or a damaged one") from error
    sheets = [
        sheet_info.name for sheet_info in workbook.sheets_metadata if sheet_info.typ == calamine.SheetTypeEnum.WorkSheet
    ]
    for name in sheets:
        try:
            sheet = workbook.get_sheet_by_name(name)
        except (calamine.CalamineError, calamine.XmlError, calamine.ZipError, calamine.WorksheetNotFound) as error:
            yield create_fault(f"the sheet cannot be read ({str(error)[:100]})", name)
            continue
        if cells := stray_cells.get(name):
            yield create_remark(
                f"{len(cells):,} cell{'s' * (len(cells) > 1)} far from the others skipped, first {cells[0]}", name
            )
        if sheet.height:
            yield from _read_sheet(name, sheet.iter_rows(), limits)


def _check_package(source: Source, limits: Limits, suffix: str) -> tuple[BytesIO | None, dict[str, list[str]]]:
    """Check the limits before unpacking; calamine reads any format, whatever the suffix is.

    Return the workbook without stray cells and these by sheet, or None without such cells.
    """
    if read_start(source, 4) != _ZIP_MAGIC:
        return None, {}
    format = _FORMATS["ods" if suffix == ".ods" else "xlsx"]
    with open_package(source, limits, format, times=_SIZE_FACTOR) as archive:
        return remove_stray_cells(archive)


def _read_sheet(name: str, rows: Rows, limits: Limits) -> Iterator[Part]:
    """Yield the rows of a sheet in batches, and a remark on rows above the header."""
    top: list[tuple[int, Sequence[object]]] = []
    numbered_rows = enumerate(rows, start=1)
    for number, row in numbered_rows:
        if any(_is_filled(cell) for cell in row):
            top.append((number, row))
            if len(top) >= _HEADER_ROWS:
                break
    if not top:
        return
    header_place = _find_header([row for _, row in top])
    names = _make_names(top[header_place][1])
    if header_place:
        yield create_remark(
            f"{header_place} row{'s' if header_place > 1 else ''} above the names of the columns skipped",
            name,
            top[0][0],
        )

    def filled() -> Iterator[tuple[int, list[object]]]:
        for number, row in chain(top[header_place + 1 :], numbered_rows):
            if any(map(_is_filled, row)):
                yield number, list(map(_convert_cell, row))

    yield from batch_rows(filled(), limits.characters + 1, name, names)


def _find_header(top: Sequence[Sequence[object]]) -> int:
    """Return the first row that is nearly as wide as the widest and holds only text; 0 without one."""
    widths = [sum(map(_is_filled, row)) for row in top]
    min_width = _MIN_FILLED_SHARE * max(widths)
    for place, (row, width) in enumerate(zip(top, widths, strict=True)):
        if width >= min_width and all(isinstance(cell, str) for cell in row if _is_filled(cell)):
            return place
    return 0


def _make_names(row: Sequence[object]) -> list[str]:
    """Return unique names of columns, in the same way as for CSV."""
    names: list[str] = []
    used: set[str] = set()
    for number, cell in enumerate(row, start=1):
        name = " ".join(str(_convert_cell(cell)).split()) or f"column {number}"
        names.append(name if name not in used else f"{name} {number}")
        used.add(names[-1])
    return names


def _is_filled(cell: object) -> bool:
    return cell is not None and cell != "" and not (isinstance(cell, str) and not cell.strip())


def _convert_cell(cell: object) -> object:
    """Return a cell as users see it: whole numbers without a point, dates in ISO 8601."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta):
        return to_json_value(cell)
    return cell
