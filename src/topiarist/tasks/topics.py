"""The topics of a collection, as a person reads them: words that set each apart, its size, its typical documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.counts.corpus import Corpus
from topiarist.counts.pruning import general_words, select_words
from topiarist.errors import InputError
from topiarist.metrics import npmi_coherence, topic_diversity
from topiarist.models.engine import Floats
from topiarist.tasks.plsa import PLSA

# Pseudo-counts that predict unseen text well on every collection we measured (benchmarks/RESULTS.md).
WORD_SMOOTHING, COMPONENT_SMOOTHING = 0.01, 0.05
GENERAL_SHARE = 0.02


@dataclass(frozen=True)
class Topic:
    """One topic: its own words, the share of all tokens it explains, and the documents that have most of it.

    A general topic is the common language of the collection, which no stop list was asked to remove: at least a
    fiftieth of the words of more than half of the documents come from it.
    """

    words: tuple[str, ...]
    share: float
    documents: tuple[str, ...]
    coherence: float
    general: bool


@dataclass(frozen=True)
class Topics:
    """All topics, the largest first and general ones last, and what they were found in."""

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


def find_topics(
    corpus: Corpus,
    n_topics: int,
    *,
    n_words: int = 8,
    seed: int = 0,
    n_threads: int | None = None,
    verbose: bool = False,
) -> Topics:
    """Fit PLSA and describe its components.

    Words of more than half of the documents are set aside first: they are the general language of the collection, in
    whatever language it is written.
    """
    special, general = set_general_words_aside(corpus)
    model = PLSA(
        n_topics,
        word_smoothing=WORD_SMOOTHING,
        component_smoothing=COMPONENT_SMOOTHING,
        random_state=seed,
        n_threads=n_threads,
        verbose=int(verbose),
    ).fit(special.counts)
    own = distinctive(model.components_, model.component_prior_)
    tops = [own[k].argsort()[::-1][:n_words] for k in range(n_topics)]
    general_topic = (model.component_given_doc_ > GENERAL_SHARE).mean(axis=0) > 0.5
    order = np.lexsort((-model.component_prior_, general_topic))
    coherence = _coherence([tops[k] for k in order], special.counts)
    topics = tuple(
        Topic(
            words=tuple(special.vocabulary.words[word] for word in tops[k]),
            share=float(model.component_prior_[k]),
            documents=_typical(special, model.component_given_doc_[:, k]),
            coherence=float(score),
            general=bool(general_topic[k]),
        )
        for k, score in zip(order, coherence, strict=True)
    )
    return Topics(
        topics, corpus.n_docs, corpus.n_tokens, corpus.n_words, general,
        topic_diversity([list(top) for top in tops], top_n=n_words), model.n_iter_, model.stopped_,
    )  # fmt: skip


def set_general_words_aside(corpus: Corpus) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus without words of more than half of the documents, and those words, the most frequent first."""
    general = general_words(corpus.vocabulary, corpus.n_docs)
    if general.all():
        raise InputError(
            f"every one of the {corpus.n_words:,} words occurs in more than half of the documents: nothing to tell "
            "them apart by",
            hint="more documents, or fewer repeated ones; --min-documents 1 keeps rare words",
        )
    counts, vocabulary = select_words(corpus.counts, corpus.vocabulary, ~general)
    order = np.argsort(-corpus.vocabulary.totals, kind="stable")
    words = tuple(corpus.vocabulary.words[word] for word in order if general[word])
    return replace(corpus, counts=counts, vocabulary=vocabulary), words


def distinctive(word_given_component: Floats, component_prior: Floats) -> Floats:
    """P(w|k) log(P(w|k)/P(w)): high for words that are frequent here and not everywhere."""
    everywhere = component_prior @ word_given_component
    lift = np.log(np.maximum(word_given_component, 1e-30) / np.maximum(everywhere, 1e-30))
    scores: Floats = word_given_component * lift
    return scores


def _typical(corpus: Corpus, share: Floats, number: int = 3) -> tuple[str, ...]:
    """Titles (or ids) of the documents that lie most in a component; long documents are surer, and win ties."""
    certain = share * (1 - np.exp(-corpus.lengths() / 50))
    names = corpus.titles or corpus.ids
    return tuple(names[row] or corpus.ids[row] for row in np.argsort(-certain, kind="stable")[:number])


def _coherence(tops: list[Any], counts: Any) -> Floats:
    if counts.shape[1] < 2:
        return np.ones(len(tops))
    return npmi_coherence([list(top) for top in tops], counts, top_n=len(tops[0]))
