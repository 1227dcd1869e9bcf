"""Text out of files that may be hostile: PDF, office files, mail, tables, archives; parsed in processes of their own.

Floor plan:

    office/           Files of office programs and electronic books: a zip file of XML each, or RTF.
    rows/             Tables that are parsed in a worker: their rows come in parts.
    archives          Members of an archive (.zip, .tar and its compressed kin, .7z), each put into a folder that the
                      reader gave.
    decoding          Bytes to text: UTF-8 first, then a guess from a sample, and a refusal of what is no text at all.
    docx              Text of a Word document: body, tables, headers, footers and notes, in order, by docx2python.
    files             Parsers without files: what a hostile file makes of a parser, it reads nothing else with it, and
                      changes nothing.
    html              Text of an HTML page, by the lexbor parser: what a browser would show, one line per block.
    latex             Text of a LaTeX source, by pylatexenc: words without commands, formulas as they would be read.
    limits            How much one document may take, and what comes out of one.
    mail              One e-mail message: its subject, its date, its sender and receivers, its text and the files that
                      came with it.
    msg               One message of Outlook (.msg): its subject, its date, its text and what came with it, by
                      python-oxmsg.
    network           Parsers without a network: what a hostile file makes of a parser, it tells nobody.
    packing           Compressed files, unpacked while they are read.
    pdf               Text of a PDF, page by page, by PDFium.
    pool              A few worker processes that parse documents, and the promise that one bad document costs one
                      document.
    protocol          Frames on a pipe between the reader and its workers.
    recognised_pages  Pages of a PDF that are pictures, read by rapidocr (an optional package); its weights are in its
                      wheel.
    worker            The process that parses. Limits first, then one request after the other until the pipe closes.

A parser that crashes, hangs or eats memory costs one document and never the run:

    limits.py     how much time, memory and text one document may take
    protocol.py   frames on a pipe: a JSON header and raw bytes; nothing is ever unpickled
    pool.py       the side that asks: a few worker processes, restarted when they die
    worker.py     the side that parses: resource limits, then one request after the other
    pdf.py  docx.py  html.py  mail.py  office/    one format each: a source in, an `Extracted` out
    rows/  archives.py    files of many documents: a source in, one `Part` after the other out
    decoding.py   bytes to text: UTF-8 first, then a guess from a sample

Workers are started as ``python -c …``, never by forking or by importing the caller's main module, so a script
without an ``if __name__ == "__main__"`` guard is safe.
"""

from __future__ import annotations

from topiarist.text.extract.limits import PAGE_END, Attached, Extracted, ExtractError, Limits, Part
from topiarist.text.extract.pool import Pool, Task

__all__ = ["PAGE_END", "Attached", "ExtractError", "Extracted", "Limits", "Part", "Pool", "Task"]
