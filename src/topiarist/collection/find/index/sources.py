"""What an index is made from: a kernel's models and their words, and documents of any kind as counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topiarist.collection.find.index.descent import Shape
from topiarist.collection.find.index.query_counts import NO_WORDS
from topiarist.collection.find.index.segments import Documents, check_words
from topiarist.collection.find.index.topic_words import told
from topiarist.counts.corpus import Corpus, text_of
from topiarist.counts.counting import count_in
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options
from topiarist.estimators.similarity.lenses import lens_of, tree_of
from topiarist.models.fisher.matrix import plain_lens
from topiarist.models.fisher.scores import Lens
from topiarist.scale.blocks import BlockStore
from topiarist.text.documents import Document

PARTS = ("topical", "lexical", "plain")


def empty(cls: Any, kernel: Any, documents: Any, dtype: Any, n_threads: int | None) -> Any:
    """An index without documents: models, words and settings."""
    wrong = [part for part in kernel._parts if part not in PARTS]
    if wrong:
        raise UsageError(f"an index cannot search by {wrong[0]!r}", hint=f"parts from {PARTS}")
    lenses, shape = kernel.lenses_, None
    vocabulary = getattr(documents, "vocabulary", None)
    if vocabulary is not None:
        check_words(len(lenses[0].by_word), len(vocabulary))
    words = vocabulary.words if vocabulary is not None else None
    chosen = _precision(documents, dtype, sum(lens.n_classes for lens in lenses))
    topic_words, class_words = [], []
    for number, (model, lens) in enumerate(zip(kernel.models_, lenses, strict=True)):
        found = tree_of(model)
        of_topics, of_classes = told(lens, found, words)
        if found is not None and shape is None:
            shape = Shape(found[0], found[1], number, of_topics)
        topic_words.append(of_topics)
        class_words.append(of_classes)
    if chosen != np.float64:
        lenses = [_light(lens_of(model, chosen), lens) for model, lens in zip(kernel.models_, lenses, strict=True)]
    parts = [tuple(part for part in kernel._parts if part != "plain")] * len(lenses)
    if "plain" in kernel._parts:
        parts.append(("lexical",))
        lenses.append(plain_lens(len(lenses[0].by_word)))
        topic_words.append(((),))
        class_words.append(((),))
    settings = getattr(documents, "settings", None)
    return cls(
        lenses=tuple(lenses), segments=(), parts=tuple(parts), normalise=kernel.normalise, dtype=chosen.name,
        vocabulary=vocabulary, **({} if settings is None else {"settings": settings}), shape=shape,
        topic_words=tuple(topic_words), class_words=tuple(class_words), n_threads=n_threads,
    )  # fmt: skip


def _precision(documents: Any, dtype: Any, width: int) -> Any:
    if isinstance(documents, BlockStore):
        return options.precision(dtype, int(documents.nnz), float(documents.largest), width)
    counts = documents.counts if isinstance(documents, Corpus) else documents
    nnz = counts.nnz if hasattr(counts, "nnz") else np.asarray(counts).size
    return options.precision(dtype, int(nnz), 1.0, width)


def _light(single: Lens, lens: Lens) -> Lens:
    """A lens in single precision, with the information of another."""
    kept = ("word_information", "class_information", "row_scores")
    return replace(single, **{name: getattr(lens, name) for name in kept})


def counted(documents: Any, vocabulary: Any, settings: CountSettings, n_words: int, start: int) -> Any:
    """Documents of any kind as counts of the known words and what is known of them; None where there are none."""
    if isinstance(documents, Corpus):
        if vocabulary is None or documents.vocabulary.words != vocabulary.words:
            raise InputError(
                f"the documents were counted with other words ({len(documents.vocabulary):,} of them) than the index "
                f"has ({n_words:,})",
                hint="add the documents themselves: they are counted as the others were",
            )
        return documents.counts, Documents(documents.ids, documents.titles, documents.labels)
    if isinstance(documents, str | bytes | Document) or not (hasattr(documents, "shape") or np.iterable(documents)):
        raise UsageError(
            f"expected documents, a Corpus or counts, got {type(documents).__name__}",
            hint="a list of Document objects, such as readers give",
        )
    if hasattr(documents, "shape"):
        return (*_rows(documents, start),) if documents.shape[0] else None
    given = list(documents)
    if not given:
        return None
    if not all(isinstance(one, Document) for one in given):
        strange = next((one for one in given if isinstance(one, str | bytes | Document | dict)), None)
        if strange is not None:
            raise UsageError(
                f"expected Document objects or counts, got {type(strange).__name__} among them",
                hint="Document(id, text)",
            )
        return _rows(given, start)
    if vocabulary is None:
        raise UsageError(f"documents cannot be counted: {NO_WORDS}", hint="counts")
    counts = count_in((text_of(one, settings.titles) for one in given), vocabulary, settings)
    known = Documents(
        tuple(one.id for one in given), tuple(one.title for one in given), tuple(one.labels for one in given)
    )
    return check_counts(counts), known


def _rows(documents: Any, start: int) -> tuple[Any, Documents]:
    counts = check_counts(documents, name="the documents")
    return counts, Documents(tuple(str(start + row) for row in range(counts.shape[0])))
