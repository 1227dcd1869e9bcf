"""Draw the pictures of the concepts: ``python docs/pictures.py``, about a minute. They are of real documents.

Each is a figure of bundled abstracts that the page tells of; the numbers of the pages are those that this prints.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from topiarist import PLSA, Collection, Corpus, Recipe, demo_documents
from topiarist.collection.describe.documents import load_document_details
from topiarist.counts import CountSettings
from topiarist.text.documents import Document

IMAGES = Path(__file__).parent / "images"
INK, SOFT, GREEN, BLUE = "#333333", "#999999", "#2f7d4f", "#2b5f9e"
DOCUMENTS = 2_000
mpl.rcParams |= {"svg.hashsalt": "topiarist", "svg.fonttype": "path", "font.size": 10, "axes.spines.top": False}
mpl.rcParams |= {"axes.spines.right": False}


def documents(number: int = DOCUMENTS) -> list[Document]:
    """Abstracts, each with its archive as the only label."""
    return [replace(one, labels=(one.labels[0].split(".")[0],)) for one in islice(demo_documents(), number)]


def save(name: str, figure: Figure) -> None:
    """Write a picture that is the same each time."""
    figure.savefig(IMAGES / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    print(f"wrote images/{name}.svg")


def levels(collection: Collection) -> None:
    """The words of one document, each under the level that it speaks from."""
    id = next(one.id for one in islice(demo_documents(), DOCUMENTS) if "galaxies" in one.text and len(one.text) > 900)
    found = load_document_details(collection, id)
    figure = Figure(figsize=(8.5, 3.4))
    axes = figure.subplots()
    axes.axis("off")
    for number, level in enumerate(found.levels):
        own = [mark for mark in found.marks if mark.level == number and mark.probability >= 0.5]
        words = list(dict.fromkeys(mark.word for mark in sorted(own, key=lambda mark: -mark.probability)))[:11]
        axes.text(number, 1.0, f"{level.name}\n{level.share:.0%} of the words", ha="center", weight="bold", color=GREEN)
        axes.text(number, 0.93, "\n".join(words), ha="center", va="top", color=INK)
    axes.set_xlim(-0.5, len(found.levels) - 0.5)
    axes.set_ylim(0, 1.1)
    print("levels:", found.document.title, [(level.name, round(level.share, 2)) for level in found.levels])
    save("concept-levels", figure)


def tempering(corpus: Corpus) -> None:
    """Words that were not seen, at temperatures: trained too hard, then better, then blurred."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(corpus.ids))
    train, test = corpus.counts[order[:1500]], corpus.counts[order[1500:]]
    betas, unseen = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5), []
    for beta in betas:
        model = PLSA(60, inverse_temperature=beta, random_state=0, max_iter=60).fit(train)
        unseen.append(model.perplexity(test))
    figure = Figure(figsize=(6.5, 3.4))
    axes = figure.subplots()
    axes.plot(betas, unseen, "o-", color=BLUE, label="new documents")
    axes.set_xlabel("inverse temperature β (1: plain maximum likelihood)")
    axes.set_ylabel("perplexity of words not seen")
    axes.invert_xaxis()
    axes.legend(frameon=False)
    print("tempering:", {beta: round(one) for beta, one in zip(betas, unseen, strict=True)})
    save("concept-tempering", figure)


def headings(collection: Collection) -> None:
    """One tree, opened less or more: where each view ends."""
    tree, found = collection.outline.tree, collection.tree
    ends = {
        name: {node for node in found.view(name) if not set(tree.children(node)) & set(found.view(name))}
        for name in ("coarse", "normal")
    }
    places: dict[int, float] = {}
    for number, leaf in enumerate(tree.leaves):
        places[leaf] = float(number)
    for node in sorted(range(len(tree.parents)), key=lambda node: -tree.depths[node]):
        if node not in places:
            places[node] = float(np.mean([places[child] for child in tree.children(node)]))
    figure = Figure(figsize=(8.5, max(3.0, 0.11 * len(tree.leaves))))
    axes = figure.subplots()
    axes.axis("off")
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            axes.plot([tree.depths[parent], tree.depths[node]], [places[parent], places[node]], color=SOFT, lw=0.7)
    styles: dict[str, dict[str, Any]] = {
        "coarse": {"marker": "s", "s": 60, "facecolors": "none", "edgecolors": BLUE},
        "normal": {"marker": "o", "s": 18, "color": GREEN},
    }
    for name, nodes in ends.items():
        axes.scatter(
            [tree.depths[node] for node in nodes], [places[node] for node in nodes], zorder=3,
            label=f"{name}: {len(nodes)} topics", **styles[name],
        )  # fmt: skip
    for node in sorted(ends["coarse"]):
        axes.annotate(tree.names[node], (tree.depths[node], places[node]), (6, 4), textcoords="offset points", size=8)
    axes.scatter([], [], color=SOFT, marker="|", label=f"all: {len(tree.leaves)} topics")
    axes.legend(frameon=False, loc="lower left")
    print("headings:", len(tree.leaves), {name: len(nodes) for name, nodes in ends.items()}, "depth", tree.depth)
    save("concept-headings", figure)


def fisher(collection: Collection) -> None:
    """Why a document was found that shares few words with what was asked."""
    found = collection.search("motion of stars around the center", 5, by="meaning", why=True)
    hit = found.hits[0]
    total = hit.why.score
    words = [(one.word, one.amount / total, BLUE) for one in hit.why.words[:6]]
    topics = [("topic: " + ", ".join(one.words[:3]), one.amount / total, GREEN) for one in hit.why.topics[:2]]
    rows = sorted([*words, *topics], key=lambda row: row[1])
    figure = Figure(figsize=(7, 3))
    axes = figure.subplots()
    axes.barh([row[0] for row in rows], [100 * row[1] for row in rows], color=[row[2] for row in rows])
    axes.set_xlabel("percent of the similarity")
    axes.set_title(hit.title, size=9)
    print("fisher:", hit.title, [(row[0], round(row[1], 3)) for row in rows])
    save("concept-fisher", figure)


def certainty(every: list[Document], folder: Path) -> None:
    """What was said to be so certain, and how often it was right, of documents that nobody has learned from."""
    known, new = every[:1400], every[1400:]
    with Collection.grow(known, folder, Recipe(topics=12)) as collection:
        collection.learn()
        filed = list(collection.file(new))
    sure = np.array([one.label_certainty[0] if one.label_certainty else 0.0 for one in filed])
    right = np.array([bool(one.labels) and one.labels[0] == one.document.labels[0] for one in filed])
    edges = np.quantile(sure, np.linspace(0, 1, 9))
    bins = np.clip(np.searchsorted(edges, sure, side="right") - 1, 0, 7)
    said = [100 * sure[bins == number].mean() for number in range(8)]
    true = [100 * right[bins == number].mean() for number in range(8)]
    error = np.mean(np.abs(np.array(said) - np.array(true)))
    figure = Figure(figsize=(4.2, 3.8))
    axes = figure.subplots()
    axes.plot([0, 100], [0, 100], color=SOFT, lw=1)
    axes.plot(said, true, "o-", color=GREEN)
    axes.set_xlabel("said to be certain, percent")
    axes.set_ylabel("were right, percent")
    print(f"certainty: {len(new)} new documents, {100 * right.mean():.0f}% right, off by {error:.1f} points on average")
    save("concept-certainty", figure)


def main(names: tuple[str, ...]) -> None:
    """Draw those that are named, or all."""
    every = documents()
    with tempfile.TemporaryDirectory() as folder:
        collection = Collection.grow(every, Path(folder) / "some.topiary", Recipe())
        corpus = Corpus.from_documents(every, CountSettings(min_documents=5))
        drawn: dict[str, Callable[[], None]] = {
            "levels": lambda: levels(collection),
            "tempering": lambda: tempering(corpus),
            "headings": lambda: headings(collection),
            "fisher": lambda: fisher(collection),
            "certainty": lambda: certainty(every, Path(folder) / "known.topiary"),
        }
        for name in names or drawn:
            drawn[name]()
        collection.close()


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
