"""Which reader belongs to which suffix, and what to do with files that have none here."""

from __future__ import annotations

import os

from topiarist.text.readers.delimited import read_csv, read_tsv
from topiarist.text.readers.items import Kind
from topiarist.text.readers.jsonl import read_json_lines
from topiarist.text.readers.lines import PACKINGS
from topiarist.text.readers.mbox import read_mbox
from topiarist.text.readers.parquet import read_parquet
from topiarist.text.readers.plain import read_markdown, read_plain

PLAIN = Kind(read_plain)
JSON_LINES = Kind(read_json_lines, table=True)
_HTML = Kind(parser="html")

KINDS: dict[str, Kind] = {
    ".txt": PLAIN,
    ".md": Kind(read_markdown),
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": Kind(parser="pdf"),
    ".docx": Kind(parser="docx"),
    ".eml": Kind(parser="mail"),
    ".mbox": Kind(read_mbox),
    ".csv": Kind(read_csv, table=True),
    ".tsv": Kind(read_tsv, table=True),
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".parquet": Kind(read_parquet, table=True, compressible=False),
}

# The ones worth naming in a message: others are spellings of these.
LOOKED_FOR = " ".join(suffix for suffix in KINDS if suffix not in (".htm", ".ndjson"))

_ADVICE = {
    "save them as CSV": (".xls", ".xlsx", ".xlsm", ".ods", ".numbers", ".sav", ".dta"),
    "save them as .docx or PDF": (".doc", ".rtf", ".odt", ".pages", ".wpd", ".ppt", ".pptx", ".odp", ".epub"),
    "save them as .eml or .mbox": (".msg", ".pst", ".ost"),
    "unpack them": (".zip", ".tar", ".7z", ".rar", ".gz", ".xz", ".bz2", ".tgz"),
    "write one JSON object on each line (.jsonl)": (".json",),
    "run OCR on them": (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp"),
}
ADVICE: dict[str, str] = {suffix: advice for advice, suffixes in _ADVICE.items() for suffix in suffixes}


def kind_of(name: str) -> tuple[Kind | None, str]:
    """How a file is read, and the suffix of its compression; no kind when the type is not known."""
    stem, suffix = os.path.splitext(name.lower())
    if suffix not in PACKINGS:
        return KINDS.get(suffix), ""
    kind = KINDS.get(os.path.splitext(stem)[1])
    return (kind, suffix) if kind is not None and kind.compressible else (None, "")


def suffix_of(name: str) -> str:
    """The lower-case suffix of a file name, as messages show it."""
    return os.path.splitext(name.lower())[1]
