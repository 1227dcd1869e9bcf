"""Dates of real mail and tables: how many are read, and whether another reader of dates agrees.

    python -m benchmarks.bench_dates

Looks for header lines with dates in 20 Newsgroups and Ling-Spam, and for the dates of Reuters-21578, and compares what
``topiarist.text.dates`` makes of them with the reader of mail headers of the standard library, which reads more and
guesses. A disagreement is printed.
"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Iterator
from email.utils import parsedate_tz

from benchmarks.paths import SHARED_DATA
from topiarist.text.dates import read_date

HEADER = re.compile(r"^(?:Date|Expires|Last-modified|Sent|NNTP-Posting-Date|>+ ?Date): +(.+)$", re.MULTILINE | re.I)
SOURCES = ("20newsgroups", "lingspam", "reuters21578")


def real_dates() -> Iterator[str]:
    """Dates as they stand in headers, and in fields that are called so."""
    for name in SOURCES:
        path = SHARED_DATA / name / "docs.jsonl.gz"
        if not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                body = json.loads(line)
                if isinstance(body.get("date"), str):
                    yield body["date"]
                yield from (found.strip() for found in HEADER.findall(body["text"]))


def main() -> None:
    """Print how many were read, refused, and read otherwise than by the standard library."""
    texts = list(real_dates())
    began = time.perf_counter()
    read = [read_date(text) for text in texts]
    seconds = time.perf_counter() - began
    other = []
    for text, found in zip(texts, read, strict=True):
        known = parsedate_tz(text)
        if found.iso and known and f"{known[0]:04}-{known[1]:02}-{known[2]:02}" != found.iso[:10]:
            other.append((text, found.iso, known[:3]))
    refused = [text for text, found in zip(texts, read, strict=True) if not found]
    print(
        f"{len(texts):,} dates, {len(texts) - len(refused):,} read, {len(refused):,} refused, {len(other):,} otherwise"
    )
    print(f"{len(texts) / max(seconds, 1e-9):,.0f} a second")
    for line in other[:20]:
        print("  otherwise:", *line)
    for text in list(dict.fromkeys(refused))[:40]:
        print("  refused:", text)


if __name__ == "__main__":
    main()
