"""Text of files that can be hostile: PDF, office files, mail, tables and archives, parsed in separate processes.

A parser that crashes, hangs or uses too much memory costs one document, never the run. Processes exchange JSON headers
and raw bytes; nothing is ever unpickled. A parser returns one ``Extracted`` for a file, or a stream of ``Part``.

Workers are started as ``python -c …``, never by forking or by importing the caller's main module. A script without an
``if __name__ == "__main__"`` guard is safe.
"""

from __future__ import annotations

from topiarist.text.parsers.limits import PAGE_END, Attachment, Extracted, ExtractError, Limits, Part
from topiarist.text.parsers.pool import Pool, Task

__all__ = ["PAGE_END", "Attachment", "ExtractError", "Extracted", "Limits", "Part", "Pool", "Task"]
