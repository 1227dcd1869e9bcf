"""Are repeated lines found, and nothing else? Lines planted at the top, at the bottom and in between.

``python -m benchmarks.bench_repeated`` prints precision and recall on planted lines for several collections, what is
found in the same collections as they are, and the agreement of leaves with labels (NMI) of the clean tree and of the
one whose planted lines are found again.
"""

from __future__ import annotations

import gzip
import json
import random
import time
from collections.abc import Iterator

from benchmarks.paths import SHARED_DATA
from topiarist.text.repeated import Repeated, find_repeated, plain_line, plain_lines, without

COLLECTIONS = {"arxiv-demo": 4_000, "20newsgroups": 4_000, "reuters21578": 4_000, "ohsumed23": 4_000, "lingspam": 2_893}
BAR, NMI_BAR = 0.95, 0.01
NAVIGATION = ("Home", "News", "About us", "Products", "Contact", "Log in")
DISCLAIMER = (
    "This message and any attachment are confidential and may be privileged.",
    "If you have received it in error, please notify the sender and delete it.",
    "Example Ltd. is registered in England and Wales, number 12345678.",
)
SIGNATURE = ("Dr. Jane Q. Example", "Senior Adviser, Example Ltd.", "Tel. 020 7946 0123, jane@example.org")
PLANTED = frozenset(map(plain_line, (*NAVIGATION, *DISCLAIMER, *SIGNATURE)))


def planted(text: str, chance: random.Random) -> tuple[str, list[str]]:
    """A text with lines of others, and the forms of those lines, one for each time."""
    lines, added = text.splitlines(), []

    def put(place: int, *new: str) -> None:
        lines[place:place] = new
        added.extend(map(plain_line, new))

    if chance.random() < 0.3:
        put(chance.randrange(1, len(lines) + 1), "Advertisement: subscribe to the weekly letter of Example Ltd.")
    if chance.random() < 0.4:  # the heads of pages
        for number in range(1, 4):
            put(chance.randrange(1, len(lines) + 1), f"Example Ltd. yearly report {chance.randrange(1990, 2030)}")
            put(chance.randrange(1, len(lines) + 1), f"Page {number} of 3")
    if chance.random() < 0.6:
        put(0, *NAVIGATION)
    if chance.random() < 0.05:
        put(len(lines), *SIGNATURE)
    if chance.random() < 0.4:
        put(len(lines), *DISCLAIMER)
    return "\n".join(lines), added


def texts_of(name: str, number: int) -> list[dict]:
    """Some documents of a collection, spread over all of it."""
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        every = [json.loads(line) for line in file]
    found = [one for one in every if len(plain_lines(one["text"])) > 1]
    return found[:: max(1, len(found) // number)][:number]


def judged(clean: list[str], before: Repeated) -> tuple[float, float, Repeated, list[str]]:
    """Precision and recall on planted lines; lines that are found without them count for neither."""
    chance = random.Random(0)
    made = [planted(text, chance) for text in clean]
    found = find_repeated([text for text, _ in made])
    own = before.forms - PLANTED
    right = wrong = missed = 0
    for text, added in made:
        left = [form for form in plain_lines(text) if form in found.forms and form not in own]
        hit = sum(min(left.count(form), added.count(form)) for form in set(added))
        right, wrong, missed = right + hit, wrong + len(left) - hit, missed + len(added) - hit
    return right / max(right + wrong, 1), right / max(right + missed, 1), found, [text for text, _ in made]


def nmi(texts: list[str], labels: list[str]) -> float:
    """Agreement of the leaves of a tree with the labels."""
    from sklearn.metrics import normalized_mutual_info_score

    from topiarist import CAM, Corpus
    from topiarist.text.documents import Document

    corpus = Corpus.from_documents([Document(str(number), text) for number, text in enumerate(texts)])
    model = CAM(12, random_state=0, n_threads=1).fit(corpus.counts)
    return float(normalized_mutual_info_score(labels, model.predict(corpus.counts)))


def main() -> Iterator[str]:
    """The lines of the table."""
    yield f"{'collection':<14}{'documents':>10}{'precision':>11}{'recall':>8}{'docs/s':>9}  found as it is"
    for name, number in COLLECTIONS.items():
        documents = texts_of(name, number)
        clean = [one["text"] for one in documents]
        began = time.perf_counter()
        before = find_repeated(clean)
        speed = len(clean) / (time.perf_counter() - began)
        precision, recall, found, dirty = judged(clean, before)
        own = ", ".join(f"{form[:40]!r} {count}" for form, count in before.lines[:3])
        yield f"{name:<14}{len(clean):>10,}{precision:>11.4f}{recall:>8.4f}{speed:>9,.0f}  {len(before.lines)}: {own}"
        if min(precision, recall) < BAR:
            yield f"  below the bar of {BAR}"
        if name in ("20newsgroups", "ohsumed23"):
            labels = [one["label"] for one in documents]
            clean_nmi = nmi([without(text, before.forms) for text in clean], labels)
            again, dirty_nmi = nmi([without(text, found.forms) for text in dirty], labels), nmi(dirty, labels)
            told = "" if abs(again - clean_nmi) <= NMI_BAR else f" (bar: within {NMI_BAR})"
            yield f"  NMI of leaves: clean {clean_nmi:.4f}, found again {again:.4f}{told}, left in {dirty_nmi:.4f}"


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
