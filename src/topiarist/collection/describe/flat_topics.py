"""Flat topics of a collection: characteristic words, sizes and typical documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Bools, Floats
from topiarist.counts.corpus import Corpus
from topiarist.counts.pruning import general_words, select_words
from topiarist.counts.scratch import IN_MEMORY, ScratchSpace
from topiarist.errors import InputError

# Pseudo-counts that predict the unseen half of a document well; the benchmarks use the same.
WORD_SMOOTHING, COMPONENT_SMOOTHING = 0.01, 0.05
MIN_GENERAL_SHARE = 0.02


@dataclass(frozen=True)
class Topic:
    """Flat topic: characteristic words, share of the words that are not general, and typical documents.

    A general topic holds the common words of the collection, which no stop list removed (``is_general``).
    """

    words: tuple[str, ...]
    share: float
    documents: tuple[str, ...]
    coherence: float
    general: bool


@dataclass(frozen=True)
class Topics:
    """Flat topics, the largest first and general ones last, with the size of the corpus."""

    topics: tuple[Topic, ...]
    n_docs: int
    n_tokens: int
    n_words: int
    general_words: tuple[str, ...]
    diversity: float
    steps: int
    stopped: str

    @property
    def coherence(self) -> float:
        """Mean coherence of the topics."""
        return float(np.mean([topic.coherence for topic in self.topics]))


def count_source(source: Any) -> Corpus:
    """Return a corpus as it is; count the documents of a path, strings, documents, a series or a data frame."""
    from topiarist.collection.grow.data_frames import open_documents

    return source if isinstance(source, Corpus) else Corpus.from_documents(open_documents(source))


def find_topics(
    corpus: Any,
    n_topics: int,
    *,
    n_words: int = 8,
    seed: int = 0,
    n_threads: int | None = None,
    verbose: bool = False,
) -> Topics:
    """Fit PLSA and describe its components.

    ``corpus``: counted documents, or any source that ``Collection.grow`` accepts, such as a list of strings. General
    words (in more than half of the documents) are removed first, in any language.
    """
    corpus = count_source(corpus)
    special, general = set_general_words_aside(corpus)
    check_enough(special, n_topics, "topics")
    from topiarist.estimators.flat.plsa import PLSA  # estimators take a second to load

    model = PLSA(
        n_topics,
        word_smoothing=WORD_SMOOTHING,
        component_smoothing=COMPONENT_SMOOTHING,
        random_state=seed,
        n_threads=n_threads,
        verbose=int(verbose),
    ).fit(special.counts)
    distinctiveness = distinctive(model.components_, model.component_prior_)
    tops = [_select_top_words(distinctiveness[k], model.components_[k], n_words) for k in range(n_topics)]
    general_topic = is_general(model.component_given_doc_, model.component_prior_)
    order = np.lexsort((-model.component_prior_, general_topic))
    coherence = compute_coherences([tops[k] for k in order], special.counts)
    topics = tuple(
        Topic(
            words=tuple(special.vocabulary.words[word] for word in tops[k]),
            share=float(model.component_prior_[k]),
            documents=_select_typical(special, model.component_given_doc_[:, k]),
            coherence=float(score),
            general=bool(general_topic[k]),
        )
        for k, score in zip(order, coherence, strict=True)
    )
    return Topics(
        topics, corpus.n_docs, corpus.n_tokens, corpus.n_words, general,
        len(np.unique(np.concatenate(tops))) / sum(map(len, tops)), model.n_iter_, model.stopped_,
    )  # fmt: skip


def set_general_words_aside(
    corpus: Corpus, further_general: Bools | None = None, scratch: ScratchSpace = IN_MEMORY
) -> tuple[Corpus, tuple[str, ...]]:
    """Return the corpus without general words, and these words, the most frequent first.

    General words occur in more than half of the documents. ``further_general`` marks more words to remove, such as
    general words of one language. ``scratch`` holds the new counts.
    """
    general = general_words(corpus.vocabulary, corpus.n_docs)
    if further_general is not None:
        general = general | further_general
    if general.all():
        raise InputError(
            f"no word distinguishes the {corpus.n_docs:,} documents: each counted word ({corpus.n_words:,}) "
            "occurs in more than half of the documents",
            hint="Add documents that differ more, or count rarer words too (min-documents = 1 in topiarist.toml).",
        )
    counts, vocabulary = select_words(corpus.counts, corpus.vocabulary, ~general, scratch)
    order = np.argsort(-corpus.vocabulary.totals, kind="stable")
    words = tuple(corpus.vocabulary.words[word] for word in order if general[word])
    return replace(corpus, counts=counts, vocabulary=vocabulary), words


def check_documents(corpus: Corpus, n_topics: int | None, noun: str) -> None:
    """Raise InputError if no document, or fewer than ``n_topics``, have words that are not general."""
    if corpus.n_docs == corpus.n_empty:
        raise InputError(
            "no document has a word that fewer than half of the documents have: no word distinguishes them",
            hint="Add more documents, or documents that differ more.",
        )
    check_enough(corpus, n_topics or 1, noun)


def check_enough(corpus: Corpus, n_topics: int, noun: str) -> None:
    """Raise InputError for more topics, or leaves, than documents with words."""
    filled = corpus.n_docs - corpus.n_empty
    if filled < n_topics:
        raise InputError(
            f"{n_topics} {noun} need at least as many documents with words, got {filled}",
            hint=f"Ask for at most {max(1, filled // 10)} {noun}, or add documents.",
        )


def distinctive(word_given_component: Floats, component_prior: Floats) -> Floats:
    """Return P(w|k) log(P(w|k)/P(w)): high for words that are frequent in a component and not everywhere."""
    word_probability = component_prior @ word_given_component
    lift = np.log(np.maximum(word_given_component, 1e-30) / np.maximum(word_probability, 1e-30))
    scores: Floats = word_given_component * lift
    return scores


def is_general(component_given_doc: Floats, component_prior: Floats) -> Any:
    """Return which components hold general words: some words of most documents, but the main topic of few.

    A general component has at least 2% of the words of more than half of the documents. It is the largest component of
    fewer than half as many documents as its size suggests.
    """
    spread = (component_given_doc > MIN_GENERAL_SHARE).mean(axis=0)
    main = np.bincount(component_given_doc.argmax(axis=1), minlength=len(component_prior)) / len(component_given_doc)
    return (spread > 0.5) & (main < component_prior / 2)


def _select_top_words(scores: Floats, frequency: Floats, number: int) -> Any:
    """Return the words with the highest positive scores; without any, the most frequent words."""
    ranked = np.argsort(-scores, kind="stable")[:number]
    distinct = ranked[scores[ranked] > 0]
    return distinct if len(distinct) else np.argsort(-frequency, kind="stable")[:number]


def format_names(corpus: Corpus, rows: Any) -> tuple[str, ...]:
    """Return the titles of documents, or their ids without a title."""
    names = corpus.titles or corpus.ids
    return tuple(names[row] or corpus.ids[row] for row in rows)


def compute_coherences(tops: list[Any], counts: Any) -> list[float]:
    """Return the coherence of each list of words; 1 for a single word, 0 for an empty list."""
    from topiarist.metrics.topic_quality import npmi_coherence

    long_lists = [top for top in tops if len(top) > 1]
    scores = iter(npmi_coherence(long_lists, counts, top_n=max(map(len, long_lists))) if long_lists else ())
    return [float(next(scores)) if len(top) > 1 else float(len(top)) for top in tops]


def _select_typical(corpus: Corpus, share: Floats, number: int = 3) -> tuple[str, ...]:
    """Return the documents with the largest shares of a component; longer documents win ties."""
    certain = share * (1 - np.exp(-corpus.lengths() / 50))
    return format_names(corpus, np.argsort(-certain, kind="stable")[:number])
