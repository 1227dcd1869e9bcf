"""Demo collection of the package: 12,000 arXiv abstracts of 2014 (see ``data/README.md``)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from importlib.resources import files

from topiarist.text.documents import Document

DEMO_FILE = "arxiv-2014.jsonl.gz"


def demo_documents() -> Iterator[Document]:
    """Yield the documents of the demonstration collection: id, title, abstract, subjects and date."""
    with (
        files("topiarist").joinpath("data", DEMO_FILE).open("rb") as file,
        gzip.open(file, "rt", encoding="utf-8") as text_lines,
    ):
        for line in text_lines:
            record = json.loads(line)
            yield Document(
                id=record["id"],
                text=record["text"],
                title=record["title"],
                labels=tuple(record["labels"]),
                source=DEMO_FILE,
                date=record["date"],
            )
