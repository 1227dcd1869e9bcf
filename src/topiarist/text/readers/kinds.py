"""Readers by suffix, and advice for files without a reader."""

from __future__ import annotations

import os

from topiarist.text.parsers.limits import PACKINGS
from topiarist.text.readers.delimited import read_csv, read_tsv
from topiarist.text.readers.items import Kind
from topiarist.text.readers.jsonl import read_json_lines
from topiarist.text.readers.mbox import read_mbox
from topiarist.text.readers.nested import read_archive
from topiarist.text.readers.parsed_rows import read_json, read_parquet, read_spreadsheet, read_xml
from topiarist.text.readers.plain import read_markdown, read_plain

PLAIN = Kind(read_plain)
JSON_LINES = Kind(read_json_lines, table=True)
MAIL = Kind(parser="mail")
_HTML = Kind(parser="html")
_WORD = Kind(parser="docx")
_SHEETS = Kind(read_spreadsheet, table=True, compressible=False)
_OPEN = Kind(parser="opendocument", compressible=False)
_ZIP = Kind(read_archive, archive=True, compressible=False)
_TAR = Kind(read_archive, archive=True)

KINDS: dict[str, Kind] = {
    ".txt": PLAIN,
    ".md": Kind(read_markdown),
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": Kind(parser="pdf"),
    ".docx": _WORD,
    ".docm": _WORD,
    ".dotx": _WORD,
    ".odt": _OPEN,
    ".rtf": Kind(parser="rtf"),
    ".pptx": Kind(parser="slides", compressible=False),
    ".odp": _OPEN,
    ".epub": Kind(parser="epub", compressible=False),
    ".tex": Kind(parser="latex"),
    ".eml": MAIL,
    ".msg": Kind(parser="msg"),
    ".mbox": Kind(read_mbox, archive=True),
    ".csv": Kind(read_csv, table=True),
    ".tsv": Kind(read_tsv, table=True),
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".json": Kind(read_json, table=True),
    ".xml": Kind(read_xml, table=True),
    ".xlsx": _SHEETS,
    ".xlsm": _SHEETS,
    ".xlsb": _SHEETS,
    ".xls": _SHEETS,
    ".ods": _SHEETS,
    ".parquet": Kind(read_parquet, table=True, compressible=False),
    ".zip": _ZIP,
    ".7z": _ZIP,
    ".tar": _TAR,
    ".tgz": _TAR,
    ".txz": _TAR,
    ".tbz2": _TAR,
}

LOOKED_FOR = "text, web pages, PDF, office files, books, mail, tables and archives"

_ADVICE = {
    "save them as CSV": (".numbers", ".sav", ".dta"),
    "save them as .docx or PDF": (".doc", ".pages", ".wpd", ".ppt", ".key"),
    "save them as .eml, .msg or .mbox (readpst makes a mailbox of them)": (".pst", ".ost"),
    "unpack them": (".rar", ".gz", ".xz", ".bz2", ".zst", ".cab"),
    "run OCR on them": (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp"),
}
ADVICE: dict[str, str] = {suffix: advice for advice, suffixes in _ADVICE.items() for suffix in suffixes}


def kind_of(name: str) -> tuple[Kind | None, str]:
    """Return the reader of a file and the suffix of its compression; no reader for an unknown type."""
    stem, suffix = os.path.splitext(name.lower())
    if suffix not in PACKINGS:
        return KINDS.get(suffix), ""
    kind = KINDS.get(os.path.splitext(stem)[1])
    return (kind, suffix) if kind is not None and kind.compressible else (None, "")


def suffix_of(name: str) -> str:
    """Return the lower-case suffix of a file name."""
    return os.path.splitext(name.lower())[1]
