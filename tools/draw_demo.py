"""Draw the picture in the README: what ``topiarist topics demo`` prints, as SVG. ``python tools/draw_demo.py FILE``."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

from rich.console import Console

from topiarist.app.cli import topics
from topiarist.counts.corpus import Corpus
from topiarist.tasks.topics import find_topics
from topiarist.text.demo import demo_documents

FOREIGN = re.compile(r"@font-face\s*\{[^}]*\}|<!--.*?-->", re.DOTALL)  # fonts would be fetched from elsewhere


def main(path: str) -> None:
    """Fit, print into a recording console, write the recording."""
    began = time.perf_counter()
    corpus = Corpus.from_documents(demo_documents(), keep_texts=False)
    console = Console(record=True, width=132, file=io.StringIO(), force_terminal=True)
    console.print("[dim]$[/dim] topiarist topics demo --topics 14 --words 6", highlight=False)
    found = find_topics(corpus, 14, n_words=6)
    topics.show(found, console, time.perf_counter() - began, demo=True)
    drawing = console.export_svg(title="topiarist")
    Path(path).write_text(FOREIGN.sub("", drawing).replace("Fira Code", "monospace") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
