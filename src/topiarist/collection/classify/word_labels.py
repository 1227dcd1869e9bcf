"""Labels of words: which label of a document with several labels most probably produced each word.

``learn`` with several labels also fits a parametric mixture model (``PMM``). In a document with the labels y the word i
belongs to the label l with the probability g = c(l) θ(l,i) / φ(i), see (M9) in docs/models/pmm.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Csr, Floats
from topiarist.collection.classify.filing import select_vectors
from topiarist.collection.contents import WORD_MODEL
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.describe.text_levels import iter_tokens, mark_uncounted
from topiarist.collection.state import CATEGORIES
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.text.repeated import spans as repeated_spans

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.estimators.category.pmm import PMM

FIT = {"max_iter": 200, "tol": 1e-5}  # probabilities of words need no more
MAX_WORDS = 8  # listed for a label
MIN_DOCUMENTS = 3  # with a listed word: a word of one document characterises that document only


@dataclass(frozen=True)
class LabelShare:
    """Label of a document with its share of the words, and the words that belong to it most clearly."""

    name: str
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class WordLabel:
    """Word in a text with its position, the number of its most probable label, and the probability of that label."""

    start: int
    end: int
    word: str
    label: int
    probability: float


@dataclass(frozen=True)
class WordLabels:
    """Labels of a document, and the label of each word that the model knows."""

    labels: tuple[LabelShare, ...]
    predicted: bool  # the labels are predicted, because the document has no two labels of the model
    words: tuple[WordLabel, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the word labels as plain JSON data with rounded shares."""
        body = asdict(self)
        for entry in (*body["labels"], *body["words"]):
            name = "share" if "share" in entry else "probability"
            entry[name] = round(entry[name], 4)
        return body


def fit_word_model(counts: Csr, labels_of_rows: Sequence[Sequence[str]]) -> PMM:
    """Return the mixture of labels fitted to documents with several labels."""
    from sklearn.preprocessing import MultiLabelBinarizer  # a second to load, which reading a document does not need

    from topiarist.estimators.category.pmm import PMM

    binary = MultiLabelBinarizer(sparse_output=True)
    model = PMM(**FIT).fit(counts, binary.fit_transform(labels_of_rows))  # type: ignore[arg-type]
    model.classes_ = np.asarray(binary.classes_)
    return model


def list_label_words(model: PMM, counts: Csr, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the characteristic words of each label."""
    own_words = rank_words(model.word_given_label_, model.label_prior_, counts, words)
    return dict(zip(map(str, model.classes_), own_words, strict=True))


def rank_words(probability: Floats, weight: Floats, counts: Csr, words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the characteristic words of each group, by P(word | group) log (P(word | group) / P(word))."""
    overall = weight @ probability / weight.sum()
    score = probability * np.log(np.maximum(probability, SMALLEST_MIXTURE) / np.maximum(overall, SMALLEST_MIXTURE))
    score[:, np.diff(counts.tocsc().indptr) < MIN_DOCUMENTS] = 0.0
    order = np.argsort(-score, axis=1, kind="stable")[:, :MAX_WORDS].tolist()
    return [
        tuple(words[column] for column in columns if score[group, column] > 0) for group, columns in enumerate(order)
    ]


def find_word_labels(collection: Collection, row: int) -> WordLabels | None:
    """Return the labels of the words of a document; None unless it has, or is predicted to have, several labels."""
    part = collection.state.parts.get(CATEGORIES)
    if part is None or not (collection.part(part) / WORD_MODEL).exists() or collection.categories is None:
        return None
    categories = collection.categories
    model, counts = categories.word_model, collection.counts[[row]]
    known, document = set(model.classes_.tolist()), collection.documents.get(row)
    names = [name for name in dict.fromkeys(document.labels) if name in known]
    is_predicted = len(names) < 2
    if is_predicted:
        vectors = select_vectors(collection, categories, np.array([row]))
        predicted = categories.predict(collection.all_counts[[row]], vectors)[0][0]
        names = [name for name in predicted if name in known]
    if len(names) < 2:
        return None
    shares = model.label_given_word(names)[:, counts.indices]
    is_known = shares.any(axis=0)
    weights = counts.data * is_known
    places = {int(column): place for place, column in enumerate(counts.indices) if is_known[place]}
    repeated = repeated_spans(document.text, collection.counting.repeated.forms)
    words = [
        WordLabel(start, end, word, int(shares[:, places[column]].argmax()), float(shares[:, places[column]].max()))
        for word, start, end, column in mark_uncounted(iter_tokens(Figures(collection), document.text), repeated)
        if column is not None and column in places
    ]
    label_shares = shares @ weights / max(float(weights.sum()), 1e-300)
    evidence = weights * (shares - 1 / len(names))
    vocabulary, labels = collection.counting.vocabulary.words, []
    for number, name in enumerate(names):
        order = np.argsort(-evidence[number], kind="stable")[:MAX_WORDS]
        own = tuple(vocabulary[counts.indices[place]] for place in order.tolist() if evidence[number, place] > 0)
        labels.append(LabelShare(name, float(label_shares[number]), own))
    return WordLabels(tuple(labels), is_predicted, tuple(words))
