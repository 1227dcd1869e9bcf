"""Workbooks (.xlsx) with cells far away from the others, such as one at XFD1048576.

Calamine lays out all cells between the first and the last cell of a sheet: 17 billion for one stray cell. Such sheets
are written again without the few cells that make them so large.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from io import BytesIO

from topiarist.text.parsers.office import find_elements, get_relation_id, parse_xml, read_relations

_MAX_CELLS = 30_000_000  # of a sheet as it is laid out: about 32 bytes each
_MAX_STRAY_SHARE = 0.01  # of the cells, and at least one; a sheet with more of them is meant to be large
_MAX_SHEET_BYTES = 256 << 20  # unpacked; a larger sheet stays as it is
_BLOCK = 1 << 20
_WIDE = re.compile(rb'r="(?:A[C-Z]|[B-Z][A-Z]|[A-Z]{3})[0-9]')  # from column 29: below, no sheet is too large
# A cell ends before the next one, so that the search for the ends of open cells does not grow with their square.
_CELL = re.compile(
    rb'<((?:\w+:)?c)\s(?:[^<>]*?\s)?r="([A-Z]{1,3})([0-9]{1,7})"(?:[^<>]*/>|[^<]*(?:<(?!(?:\w+:)?c\s)[^<]*)*?</\1\s*>)',
    re.DOTALL,
)


def remove_stray_cells(archive: zipfile.ZipFile) -> tuple[BytesIO | None, dict[str, list[str]]]:
    """Return a workbook without its stray cells, and the cells by sheet; None without such cells."""
    sheets: dict[str, bytes] = {}
    stray_cells: dict[str, list[str]] = {}
    for part in archive.infolist():
        if part.filename.startswith("xl/worksheets/") and _has_wide_cells(archive, part):
            data, removed_cells = _remove_from_sheet(archive.read(part))
            if removed_cells:
                sheets[part.filename], stray_cells[part.filename] = data, removed_cells
    if not sheets:
        return None, {}
    workbook = BytesIO()
    with zipfile.ZipFile(workbook, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for part in archive.infolist():
            target.writestr(part.filename, sheets.get(part.filename) or archive.read(part))
    workbook.seek(0)
    names = _read_sheet_names(archive)
    return workbook, {names.get(name, name): cells for name, cells in stray_cells.items()}


def _has_wide_cells(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Return whether a sheet names a cell in a far column; False for a sheet too large to scan."""
    if part.file_size > _MAX_SHEET_BYTES:
        return False
    with archive.open(part) as stream:
        end = b""
        while block := stream.read(_BLOCK):
            if _WIDE.search(end + block):
                return True
            end = block[-16:]
    return False


def _remove_from_sheet(data: bytes) -> tuple[bytes, list[str]]:
    """Return a sheet without its stray cells, and their addresses; the sheet as it is without such cells."""
    columns: Counter[int] = Counter()
    rows: Counter[int] = Counter()
    for cell in _CELL.finditer(data):
        columns[_parse_column_number(cell[2])] += 1
        rows[int(cell[3])] += 1
    n_removable = max(1, int(_MAX_STRAY_SHARE * rows.total()))
    limits = _find_limits(sorted(columns.items()), sorted(rows.items()), n_removable)
    if limits is None:
        return data, []
    removed_cells: list[str] = []

    def keep(cell: re.Match[bytes]) -> bytes:
        if _parse_column_number(cell[2]) <= limits[0] and int(cell[3]) <= limits[1]:
            return cell[0]
        removed_cells.append((cell[2] + cell[3]).decode())
        return b""

    return _CELL.sub(keep, data), removed_cells


def _find_limits(
    columns: list[tuple[int, int]], rows: list[tuple[int, int]], n_removable: int
) -> tuple[int, int] | None:
    """Return the last column and row of a sheet that is not too large; None if that costs too many cells."""
    while columns and rows and columns[-1][0] * rows[-1][0] > _MAX_CELLS:
        # The outermost column or row goes, whichever has fewer cells, so that full ones stay.
        outermost = columns if columns[-1][1] <= rows[-1][1] else rows
        n_removable -= outermost.pop()[1]
        if n_removable < 0:
            return None
    return (columns[-1][0], rows[-1][0]) if columns and rows else None


def _parse_column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _read_sheet_names(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the names of the sheets by their parts of the package."""
    relations = read_relations(archive, "xl/workbook.xml")
    sheets = find_elements(parse_xml(archive, "xl/workbook.xml"), "sheet")
    names = {get_relation_id(sheet): str(sheet.get("name")) for sheet in sheets}
    return {path: names[id] for id, (_, path) in relations.items() if id in names}
