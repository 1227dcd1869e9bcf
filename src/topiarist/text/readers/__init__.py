"""Documents from any source, as a stream.

    reading = read("./mail", limit=1000)
    for document in reading:
        ...
    reading.counts      # read, empty, unknown type, failed
    reading.problems    # what was left out, and why

Folders, plain text, Markdown, HTML, PDF, Word, e-mail, mailboxes, tables (CSV, TSV, JSON lines, Parquet),
their compressed forms, and JSON lines on standard input. Nothing is held but the documents at hand; a file or
a line that cannot be read is reported and never stops the rest.

    reading.py   `read` and `Reading`: the stream, the counts, the problems
    sources.py   which files there are, in a stable order
    kinds.py     which reader belongs to which suffix
    columns.py   which column of a table holds what
    delimited.py  jsonl.py  parquet.py  tables.py  plain.py  mbox.py    the readers
    lines.py     compressed or not, in any encoding: numbered lines
    identity.py  ids that are unique, without holding them in memory
    account.py  messages.py    what is counted, and what is said when there is nothing to read
"""

from __future__ import annotations

from topiarist.text.extract.limits import Limits
from topiarist.text.readers.account import Counts
from topiarist.text.readers.columns import Columns
from topiarist.text.readers.reading import Reading, read

__all__ = ["Columns", "Counts", "Limits", "Reading", "read"]
