"""Readers of documents from any source, as a stream.

    reading = read("./mail", limit=1000)
    for document in reading:
        ...
    reading.counts      # read, empty, unknown type, failed
    reading.problems    # skipped files, rows and messages, with reasons

Folders, plain text, Markdown, HTML, PDF, office files, books, e-mail, mailboxes, tables (CSV, TSV, spreadsheets, JSON,
XML, Parquet), archives, compressed forms, and JSON lines on standard input. Only the current documents are in memory. A
file or a line that cannot be read is reported and never stops the rest.
"""

from __future__ import annotations

from topiarist.text.parsers.limits import Limits
from topiarist.text.readers.account import Counts
from topiarist.text.readers.columns import Columns, ReadingSettings
from topiarist.text.readers.reading import Reading, read

__all__ = ["Columns", "Counts", "Limits", "Reading", "ReadingSettings", "read"]
