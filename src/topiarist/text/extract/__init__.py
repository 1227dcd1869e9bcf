"""Text out of files that may be hostile: PDF, DOCX, HTML and e-mail, each parsed in a process of its own.

Floor plan:

    decoding  Bytes to text: UTF-8 first, then a guess from a sample, and a refusal of what is no text at all.
    docx      Text of a Word document: body, tables, headers, footers and notes, in order, by docx2python.
    html      Text of an HTML page, by the lexbor parser: what a browser would show, one line per block.
    limits    How much one document may take, and what comes out of one.
    mail      One e-mail message: its subject, its date and its text. Attachments are left alone.
    pdf       Text of a PDF, page by page, by PDFium.
    pool      A few worker processes that parse documents, and the promise that one bad document costs one document.
    protocol  Frames on a pipe between the reader and its workers.
    worker    The process that parses. Limits first, then one request after the other until the pipe closes.

A parser that crashes, hangs or eats memory costs one document and never the run:

    limits.py     how much time, memory and text one document may take
    protocol.py   frames on a pipe: a JSON header and raw bytes; nothing is ever unpickled
    pool.py       the side that asks: a few worker processes, restarted when they die
    worker.py     the side that parses: resource limits, then one request after the other
    pdf.py  docx.py  html.py  mail.py    one format each: a source in, an `Extracted` out
    decoding.py   bytes to text: UTF-8 first, then a guess from a sample

Workers are started as ``python -c …``, never by forking or by importing the caller's main module, so a script
without an ``if __name__ == "__main__"`` guard is safe.
"""

from __future__ import annotations

from topiarist.text.extract.limits import Attached, Extracted, ExtractError, Limits, Part
from topiarist.text.extract.pool import Pool, Task

__all__ = ["Attached", "ExtractError", "Extracted", "Limits", "Part", "Pool", "Task"]
