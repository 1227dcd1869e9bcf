"""Make the demonstration collection of the package from a folder with arXiv abstracts.

    python tools/make_demo_corpus.py FOLDER

FOLDER holds ``docs.jsonl.gz``; each record has id, text (title, line break, abstract), labels and date. No
time stamp is written, so that making it again with the same zlib gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "src" / "topiarist" / "data" / "arxiv-2014.jsonl.gz"


def compact(line: str) -> str:
    """Return one record of the source as one record of the demonstration collection."""
    record = json.loads(line)
    title, _, abstract = record["text"].partition("\n")
    chosen = {
        "id": record["id"],
        "title": title,
        "text": abstract,
        "labels": record["labels"],
        "date": record["date"],
    }
    return json.dumps(chosen, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Write the collection and say how large it is."""
    parser = argparse.ArgumentParser(description="Make the demonstration collection.")
    parser.add_argument("folder", type=Path, help="folder with docs.jsonl.gz")
    parser.add_argument("--target", type=Path, default=TARGET, help="file to write")
    options = parser.parse_args()
    with gzip.open(options.folder / "docs.jsonl.gz", "rt", encoding="utf-8") as source:
        lines = [compact(line) for line in source]
    data = ("\n".join(lines) + "\n").encode()
    packed = gzip.compress(data, compresslevel=9, mtime=0)
    options.target.parent.mkdir(parents=True, exist_ok=True)
    options.target.write_bytes(packed)
    xz = len(lzma.compress(data, preset=9))
    sizes = f"{len(packed) / 1e6:.2f} MB as gzip, {xz / 1e6:.2f} MB as xz"
    print(f"{len(lines)} documents, {len(data) / 1e6:.2f} MB: {sizes}")


if __name__ == "__main__":
    main()
