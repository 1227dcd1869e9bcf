"""Draw the pictures of the documentation from the bundled abstracts: ``python tools/draw_demo.py [FOLDER]``.

``tree.svg`` is what ``topiarist grow demo --figure tree.svg`` draws, ``topics.svg`` what ``topiarist topics
demo`` prints. Both are the same for the same code on the same kind of machine, but for the seconds in the second.
"""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

from rich.console import Console

from topiarist import Collection
from topiarist.cli.commands import topics
from topiarist.cli.terminal.targets import save_figure
from topiarist.collection.describe.flat_topics import find_topics
from topiarist.counts.corpus import Corpus
from topiarist.text.demo import demo_documents

FOREIGN = re.compile(r"@font-face\s*\{[^}]*\}|<!--.*?-->", re.DOTALL)  # fonts would be fetched from elsewhere
IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main(folder: Path) -> None:
    """Draw both."""
    draw_tree(folder / "tree.svg")
    draw_topics(folder / "topics.svg")


def draw_tree(path: Path) -> None:
    """Grow the tree and draw it."""
    with Collection.grow(demo_documents()) as collection:
        save_figure(collection.tree.draw, str(path))


def draw_topics(path: Path) -> None:
    """Fit, print into a recording console, write the recording."""
    began = time.perf_counter()
    corpus = Corpus.from_documents(demo_documents(), keep_texts=False)
    console = Console(record=True, width=132, file=io.StringIO(), force_terminal=True)
    console.print("[dim]$[/dim] TOPIARIST_WORDS=6 topiarist topics demo --topics 14", highlight=False)
    found = find_topics(corpus, 14, n_words=6)
    topics.show(found, console, time.perf_counter() - began, demo=True)
    drawing = console.export_svg(title="topiarist")
    path.write_text(FOREIGN.sub("", drawing).replace("Fira Code", "monospace") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
