"""Text of files that can be hostile: PDF, office files, mail, tables and archives, parsed in separate processes.

A parser that crashes, hangs or uses too much memory costs one document, never the run:

    limits.py     limits of time, memory and text of one document, and the results of parsers
    protocol.py   frames on a pipe: a JSON header and raw bytes; nothing is ever unpickled
    pool.py       the caller: a few worker processes, restarted when they die
    worker.py     the worker: resource limits, then one request after the other
    sandbox.py    no files but the sources, and no network
    pdf.py  office.py  html.py  mail.py  markup.py    one document per file: a source in, an `Extracted` out
    rows/  archives.py                                many documents per file: a source in, a stream of `Part` out
    decoding.py   bytes to text: UTF-8 first, then a guess from a sample

Workers are started as ``python -c …``, never by forking or by importing the caller's main module. A script without an
``if __name__ == "__main__"`` guard is safe.
"""

from __future__ import annotations

from topiarist.text.parsers.limits import PAGE_END, Attachment, Extracted, ExtractError, Limits, Part
from topiarist.text.parsers.pool import Pool, Task

__all__ = ["PAGE_END", "Attachment", "ExtractError", "Extracted", "Limits", "Part", "Pool", "Task"]
