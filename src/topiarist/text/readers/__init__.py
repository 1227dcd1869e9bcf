"""Documents from any source, as a stream.

Floor plan:

    inside/       What is in a file, also where that is files again, or pictures of pages.
    account       The account of a reading: how many documents there were, and what was left out, and why.
    addresses     Parquet files at any address, in parts that may be read on different machines.
    columns       Which column of a table holds what: as the user says, by its name, or by the length of its texts.
    delimited     CSV and TSV: header, rows, and a way on after a malformed row.
    file_systems  Files at addresses: whatever fsspec opens (``s3://…``, ``gs://…``, ``https://…``), found there and
                  brought here.
    identity      Ids that are unique in one reading, whatever the sources say, without holding them in memory.
    items         What readers take and what they yield, before it becomes a `Document` or a `Problem`.
    jsonl         JSON lines: one object on each line.
    kinds         Which reader belongs to which suffix, and what to do with files that have none here.
    lines         Files as bytes, as text or as numbered lines: compressed or not, in any encoding, however they end.
    making        From what a reader found to a document: cut to size, storable, with an id.
    mbox          A mailbox in one file, message by message. The standard library's reader would index all of it first.
    nothing_read  What is said when a reading ends without a single document.
    parquet       Parquet, a few hundred rows at a time, by pyarrow (an optional package).
    parsed_rows   Tables that a worker parses: spreadsheets sheet by sheet, JSON, XML and Parquet row by row.
    plain         Plain text and Markdown: one file, one document.
    reading       The stream of documents: sources in, documents out, and an account of the rest.
    sources       Which files there are: folders in a stable order, hidden files left alone, links not followed blindly.
    tables        Rows of any table to documents: a sample settles the columns, then every row goes the same way.

reading = read("./mail", limit=1000)
    for document in reading:
        ...
    reading.counts      # read, empty, unknown type, failed
    reading.problems    # what was left out, and why

Folders, plain text, Markdown, HTML, PDF, office files, books, e-mail, mailboxes, tables (CSV, TSV, spreadsheets, JSON,
XML, Parquet), archives, compressed forms, and JSON lines on standard input. Nothing is held but the documents at hand;
a file or a line that cannot be read is reported and never stops the rest.

    reading.py   `read` and `Reading`: the stream, the counts, the problems
    sources.py   which files there are, in a stable order
    kinds.py     which reader belongs to which suffix
    columns.py   which column of a table holds what
    delimited.py  jsonl.py  parsed_rows.py  parquet.py  tables.py  plain.py  mbox.py    the readers
    inside/      what is in a file, and in the files in it
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
