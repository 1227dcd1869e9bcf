"""Real texts: newsgroup messages where the data lies beside the repository, else the bundled abstracts."""

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from topiarist.text.demo import demo_documents

NEWS = Path(__file__).resolve().parents[3] / "shared" / "data" / "20newsgroups" / "docs.jsonl.gz"


@pytest.fixture(scope="session")
def real_texts() -> list[str]:
    if NEWS.exists():
        with gzip.open(NEWS, "rt", encoding="utf-8") as lines:
            return [json.loads(line)["text"] for line in islice(lines, 0, 15_000, 10)]
    return [f"{document.title}\n{document.text}" for document in islice(demo_documents(), 1500)]
