"""Are copies found, and only copies, and how fast? Copies with 0 to 15 in 100 words changed, planted in real texts.

Only words in small letters are changed, because a number or a name makes another document.

``python -m benchmarks.bench_copies`` prints, for each collection: recall of planted copies by how much was changed;
precision over all pairs that are found, natural ones included, where a pair is right if it was planted or if a word by
word comparison (difflib) says that at least nine in ten words are the same; documents a second of one core's
time with tokenising, hashing, banding and verifying, and without the tokenising, which growing has done already; and
bytes a document that are kept.
"""

from __future__ import annotations

import difflib
import gzip
import json
import random
import re
import time
from collections.abc import Iterator

from benchmarks.paths import SHARED_DATA
from topiarist.counts.chunks import tokenise
from topiarist.counts.duplicates import N_HASHES, compute_signatures, find_duplicates
from topiarist.text.tokens import Tokenizer

COLLECTIONS = {"arxiv-demo": 12_000, "20newsgroups": 6_000, "reuters21578": 10_000, "gnad10k": 1_028}
CHANGED = (0.0, 0.01, 0.03, 0.1, 0.15)  # from .1 on, a text is another document
PLANTED = 200  # for each share of changed words
RECALL, PRECISION, SPEED = 0.95, 0.99, 5_000
ALIKE = 0.9


def changed(text: str, share: float, words: list[str], chance: random.Random) -> str:
    """A text of which so many words are others: replaced, or with one in five left out."""
    own = text.split()
    places = [place for place, word in enumerate(own) if word.isalpha() and word.islower()]
    for place in chance.sample(places, min(len(places), round(share * len(own)))):
        own[place] = "" if chance.random() < 0.2 else chance.choice(words)
    return " ".join(own)


def texts_of(name: str, number: int) -> list[str]:
    """The first texts of a collection."""
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line, _ in zip(file, range(number), strict=False)]


def is_copy(one: str, other: str) -> bool:
    """Whether two texts have most of their words in common, in order."""
    a, b = (re.findall(r"\w+", text.lower()) for text in (one, other))  # without the signs of quoted lines
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() >= ALIKE


def main() -> Iterator[str]:
    """The lines of the table."""
    head = "".join(f"{f'{100 * share:g}%':>8}" for share in CHANGED)
    yield f"{'collection':<14}{'documents':>10}{head}{'precision':>11}{'docs/s':>9}{'hashing':>9}{'bytes':>7}"
    for name, number in COLLECTIONS.items():
        chance = random.Random(0)
        texts = texts_of(name, number)
        words = sorted({word for text in texts[:500] for word in text.split() if word.isalpha() and word.islower()})
        long = [row for row, text in enumerate(texts) if len(text.split()) >= 20]
        sources = chance.sample(long, min(PLANTED * len(CHANGED), len(long)))
        planted = [(row, CHANGED[place % len(CHANGED)]) for place, row in enumerate(sources)]
        every = [*texts, *(changed(texts[row], share, words, chance) for row, share in planted)]
        began = time.process_time()
        chunk = tokenise(every, Tokenizer())
        tokenised = time.process_time()
        minima = compute_signatures(chunk)
        found = find_duplicates(minima, lambda rows, every=every: [every[row] for row in rows])
        ended = time.process_time()
        speed, hashing = len(every) / (ended - began), len(every) / (ended - tokenised)
        first = found.find_originals(len(every))
        kind = {len(texts) + place: first[row] for place, (row, _) in enumerate(planted)}
        hit = {share: [] for share in CHANGED}
        for place, (_, share) in enumerate(planted):
            hit[share].append(first[len(texts) + place] == kind[len(texts) + place])
        right = sum(
            kind.get(row) == original or is_copy(every[row], every[original])
            for row, original in zip(found.rows.tolist(), found.originals.tolist(), strict=True)
        )
        precision = right / max(len(found), 1)
        recall = [sum(hit[share]) / len(hit[share]) for share in CHANGED]
        told = "".join(f"{one:>8.3f}" for one in recall)
        yield f"{name:<14}{len(every):>10,}{told}{precision:>11.4f}{speed:>9,.0f}{hashing:>9,.0f}{4 * N_HASHES:>7}"
        below = [
            *(["recall"] if min(recall[: CHANGED.index(0.1)]) < RECALL else []),
            *(["other texts"] if max(recall[CHANGED.index(0.1) :]) > 1 - RECALL else []),
            *(["precision"] if precision < PRECISION else []),
            *(["speed"] if speed < SPEED else []),
        ]
        if below:
            yield f"  below the bar: {', '.join(below)}; {len(found) - right} doubtful"


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
