"""Words around a search: the words of topics, sentences about an answer, near spellings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from topiarist.counts.corpus import Corpus, text_of
from topiarist.counts.counting import count_in
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError, UsageError
from topiarist.hierarchy.words import node_words
from topiarist.models.fisher import Lens
from topiarist.models.fisher_matrix import plain_lens
from topiarist.scale.blocks import BlockStore
from topiarist.tasks import options
from topiarist.tasks.lenses import lens_of, tree_of
from topiarist.tasks.search.descent import Shape
from topiarist.tasks.search.queries import NO_WORDS, Query
from topiarist.tasks.search.segments import Documents, check_words
from topiarist.tasks.search.spelling import Spelling
from topiarist.tasks.topics import distinctive
from topiarist.text.documents import Document

N_WORDS = 8
SHOWN = 20  # words of a query that an answer repeats
SPELLED = 5  # unknown words for which near spellings are looked up
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
    counted = documents.counts if isinstance(documents, Corpus) else documents
    width = sum(lens.n_classes for lens in lenses)
    stored_counts = isinstance(documents, BlockStore)
    largest = documents.largest if stored_counts else 1.0
    nnz = documents.nnz if stored_counts else counted.nnz if hasattr(counted, "nnz") else np.asarray(counted).size
    chosen = options.precision(dtype, int(nnz), float(largest), width)
    topic_words = []
    for number, (model, lens) in enumerate(zip(kernel.models_, lenses, strict=True)):
        found = tree_of(model)
        said = _tree_words(found[0], lens, words) if found is not None else _flat_words(lens, words)
        if found is not None and shape is None:
            shape = Shape(found[0], found[1], number, said)
        topic_words.append(said)
    if chosen != np.float64:
        lenses = [_light(lens_of(model, chosen), lens) for model, lens in zip(kernel.models_, lenses, strict=True)]
    parts = [tuple(part for part in kernel._parts if part != "plain")] * len(lenses)
    if "plain" in kernel._parts:
        parts.append(("lexical",))
        lenses.append(plain_lens(len(lenses[0].by_word)))
        topic_words.append(((),))
    settings = getattr(documents, "settings", None)
    return cls(
        lenses=tuple(lenses), segments=(), parts=tuple(parts), normalise=kernel.normalise, dtype=chosen.name,
        vocabulary=vocabulary, **({} if settings is None else {"settings": settings}), shape=shape,
        topic_words=tuple(topic_words), n_threads=n_threads,
    )  # fmt: skip


def counted(
    documents: Any, vocabulary: Any, settings: CountSettings, n_words: int, start: int
) -> tuple[Any, Documents]:
    """Documents of any kind as counts of the known words, and what is known of them."""
    if isinstance(documents, Corpus):
        if vocabulary is None or documents.vocabulary.words != vocabulary.words:
            raise InputError(
                f"the documents were counted with other words ({len(documents.vocabulary):,} of them) than the index "
                f"has ({n_words:,})",
                hint="add the documents themselves: they are counted as the others were",
            )
        return documents.counts, Documents(documents.ids, documents.titles, documents.labels)
    if not hasattr(documents, "shape"):
        given = list(documents)
        if given and all(isinstance(one, Document) for one in given):
            if vocabulary is None:
                raise UsageError(f"documents cannot be counted: {NO_WORDS}", hint="counts")
            counts = count_in((text_of(one, settings.titles) for one in given), vocabulary, settings)
            known = Documents(
                tuple(one.id for one in given), tuple(one.title for one in given), tuple(one.labels for one in given)
            )
            return check_counts(counts), known
        documents = given
    counts = check_counts(documents)
    return counts, Documents(tuple(str(start + row) for row in range(counts.shape[0])))


def _light(single: Lens, lens: Lens) -> Lens:
    """A lens in single precision, with the information of another."""
    return replace(single, word_information=lens.word_information, class_information=lens.class_information)


def _named(columns: Any, words: Any) -> tuple[str, ...]:
    return tuple(str(column) if words is None else words[column] for column in columns)


def _flat_words(lens: Lens, words: Any) -> tuple[tuple[str, ...], ...]:
    """The words that set each topic apart from the others; the most probable ones where nothing does."""
    probability = np.ascontiguousarray(lens.by_word.T)
    scores = distinctive(probability, lens.class_prior) if lens.n_topics > 1 else probability
    return tuple(_named(np.argsort(-row, kind="stable")[:N_WORDS].tolist(), words) for row in scores)


def _tree_words(tree: Any, lens: Lens, words: Any) -> tuple[tuple[str, ...], ...]:
    chosen = node_words(tree, np.ascontiguousarray(lens.by_word.T), N_WORDS, words=words)
    return tuple(_named(columns.tolist(), words) for columns in chosen)


def word(vocabulary: Any, column: int) -> str:
    """A word by its column; the column itself where words are not known."""
    return str(column) if vocabulary is None else str(vocabulary[column])


def suggestions(unknown: Iterable[str], spelling: Spelling) -> dict[str, tuple[str, ...]]:
    """Near spellings of the first unknown words, where there are any."""
    found = {name: spelling.near(name) for name in list(unknown)[:SPELLED]} if spelling.words else {}
    return {name: near for name, near in found.items() if near}


def nothing(query: Query, near: Mapping[str, tuple[str, ...]]) -> str:
    """Why there is nothing to look for."""
    if not query.unknown:
        return "The query holds no words. Try: one or more words of the subject."
    said = ", ".join(repr(name) for name in query.unknown[:SPELLED])
    more = f" and {len(query.unknown) - SPELLED:,} more" if len(query.unknown) > SPELLED else ""
    return f"No document holds {said}{more}.{_meant(near)}"


def sentence(n_hits: int, n_docs: int, query: Query, by: str, near: Mapping[str, tuple[str, ...]]) -> str:
    """One sentence about an answer."""
    ways = {"meaning": "in meaning", "words": "by words", "both": "in meaning and by words"}
    said = f"The {n_hits:,} documents of {n_docs:,} most similar {ways[by]}." if n_hits else "No document matches."
    if query.unknown:
        left = ", ".join(repr(name) for name in query.unknown[:SPELLED])
        more = f" and {len(query.unknown) - SPELLED:,} more" if len(query.unknown) > SPELLED else ""
        said += f" Nobody knows {left}{more}.{_meant(near)}"
    return said


def _meant(near: Mapping[str, tuple[str, ...]]) -> str:
    return " Did you mean " + ", ".join(name for names in near.values() for name in names) + "?" if near else ""


def nearest(name: str, names: Iterable[str]) -> str:
    """Names that look like this one, or the first there are."""
    known = list(names)
    near = get_close_matches(name, known, n=3, cutoff=0.5) or known[:3]
    return ", ".join(map(repr, near))
