"""Which of the two decided where a document lies, its words or its vector; and which of its topic lie near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.collection.find.vector_voice import cosines
from topiarist.estimators.tree.fitted_tree import posterior

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

NEAR = 3  # documents that are named


@dataclass(frozen=True)
class NearDocument:
    """A document of the same topic that lies near."""

    id: str
    title: str
    cosine: float


@dataclass(frozen=True)
class Voices:
    """What words alone and the vector alone say of a document, each with its topic and how sure; and in a sentence."""

    said: str
    by_words: int
    words_certainty: float
    by_vector: int
    vector_certainty: float
    near: tuple[NearDocument, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "said": self.said,
            "by_words": {"topic": self.by_words, "certainty": round(self.words_certainty, 4)},
            "by_vector": {"topic": self.by_vector, "certainty": round(self.vector_certainty, 4)},
            "near": [{"id": one.id, "title": one.title, "cosine": round(one.cosine, 4)} for one in self.near],
        }


def voices(collection: Collection, row: int) -> Voices | None:
    """The two voices for a document; None where the tree knows no vectors, or the document has none."""
    vectors = collection.vectors
    if vectors is None or getattr(collection.model, "directions_", None) is None or not vectors[row].any():
        return None
    counts, own, outline = collection.counts[[row]], vectors[[row]], collection.outline
    nothing = csr_array(counts.shape, dtype=counts.dtype)
    place = outline.class_nodes[int(collection.shares[[row]].toarray()[0].argmax())]
    words, pointed = (
        _told(collection, posterior(collection.model, *given)[0]) for given in ((counts,), (nothing, own))
    )
    said = _sentence(collection, place, words, pointed)
    return Voices(
        said, outline.topics[words[0]], words[1], outline.topics[pointed[0]], pointed[1], _near(collection, row)
    )


def _told(collection: Collection, rows: Any) -> tuple[int, float]:
    """The node that has most of a document, and how much."""
    by_node: dict[int, float] = {}
    for node, share in zip(collection.outline.class_nodes, np.asarray(rows, np.float64).tolist(), strict=True):
        by_node[node] = by_node.get(node, 0.0) + share
    best = max(by_node, key=lambda node: by_node[node])
    return best, by_node[best]


def _sentence(collection: Collection, place: int, words: tuple[int, float], pointed: tuple[int, float]) -> str:
    name = collection.outline.tree.names
    if words[0] == pointed[0] == place:
        return f"Its words ({words[1]:.0%} sure) and its vector ({pointed[1]:.0%}) both say so."
    if words[0] == place:
        return f"Its words decided ({words[1]:.0%} sure): its vector alone would put it under {name[pointed[0]]}."
    if pointed[0] == place:
        return f"Its vector decided ({pointed[1]:.0%} sure): its words alone would put it under {name[words[0]]}."
    return (
        f"Words and vector together: words alone would put it under {name[words[0]]}, its vector under "
        f"{name[pointed[0]]}."
    )


def _near(collection: Collection, row: int) -> tuple[NearDocument, ...]:
    """The nearest documents of its topic, of copies the first."""
    vectors = np.asarray(collection.vectors)
    likely = np.asarray(collection.shares.argmax(axis=1)).ravel()
    there = (likely == likely[row]) & collection.copies.is_first(len(collection))
    there[row] = False
    rows = np.flatnonzero(there)
    near = cosines(vectors[rows], vectors[row])
    best = [place for place in np.argsort(-near, kind="stable")[:NEAR] if near[place] > 0]
    known = collection.documents.many([int(rows[place]) for place in best], texts=False)
    return tuple(NearDocument(one.id, one.title, float(near[place])) for place, one in zip(best, known, strict=True))
