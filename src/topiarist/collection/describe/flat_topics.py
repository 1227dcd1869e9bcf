"""The topics of a collection, as a person reads them: words that set each apart, its size, its typical documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Bools, Floats
from topiarist.counts.corpus import Corpus
from topiarist.counts.pruning import general_words, select_words
from topiarist.counts.room import IN_MEMORY, Room
from topiarist.errors import InputError
from topiarist.measures.topic_quality import npmi_coherence

# Pseudo-counts that predict the unseen half of a document well; the benchmarks use the same.
WORD_SMOOTHING, COMPONENT_SMOOTHING = 0.01, 0.05
GENERAL_SHARE = 0.02


@dataclass(frozen=True)
class Topic:
    """One topic: its own words, its share of the words that are not general, and the documents that have most of it.

    A general topic is the common language of the collection, which no stop list was asked to remove (``is_general``).
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
    own = distinctive(model.components_, model.component_prior_)
    tops = [_top(own[k], model.components_[k], n_words) for k in range(n_topics)]
    general_topic = is_general(model.component_given_doc_, model.component_prior_)
    order = np.lexsort((-model.component_prior_, general_topic))
    coherence = coherences([tops[k] for k in order], special.counts)
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
        len(np.unique(np.concatenate(tops))) / sum(map(len, tops)), model.n_iter_, model.stopped_,
    )  # fmt: skip


def set_general_words_aside(
    corpus: Corpus, besides: Bools | None = None, room: Room = IN_MEMORY
) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus without words of more than half of the documents, and those words, the most frequent first.

    ``besides``: further words that are as general, such as those of half of the documents of a language. ``room``:
    where its counts lie.
    """
    general = general_words(corpus.vocabulary, corpus.n_docs)
    if besides is not None:
        general = general | besides
    if general.all():
        raise InputError(
            f"nothing to tell {corpus.n_docs:,} documents apart by: each word that was counted ({corpus.n_words:,}) "
            "occurs in more than half of the documents",
            hint="more documents, documents that differ more, or rarer words too (--min-documents 1)",
        )
    counts, vocabulary = select_words(corpus.counts, corpus.vocabulary, ~general, room)
    order = np.argsort(-corpus.vocabulary.totals, kind="stable")
    words = tuple(corpus.vocabulary.words[word] for word in order if general[word])
    return replace(corpus, counts=counts, vocabulary=vocabulary), words


def check_documents(corpus: Corpus, wanted: int | None, what: str) -> None:
    """Refuse to grow a tree where no document has a word that is not general, or too few have for what is wanted."""
    if corpus.n_docs == corpus.n_empty:
        raise InputError(
            "no document has a word that fewer than half of the documents have: nothing to tell them apart by",
            hint="more documents, or documents that differ more",
        )
    check_enough(corpus, wanted or 1, what)


def check_enough(corpus: Corpus, wanted: int, what: str) -> None:
    """Refuse more topics, or leaves, than there are documents with words."""
    filled = corpus.n_docs - corpus.n_empty
    if filled < wanted:
        raise InputError(
            f"{wanted} {what} need at least as many documents with words; {filled} came",
            hint=f"--{what} {max(1, filled // 10)}, or more documents",
        )


def distinctive(word_given_component: Floats, component_prior: Floats) -> Floats:
    """P(w|k) log(P(w|k)/P(w)): high for words that are frequent here and not everywhere."""
    everywhere = component_prior @ word_given_component
    lift = np.log(np.maximum(word_given_component, 1e-30) / np.maximum(everywhere, 1e-30))
    scores: Floats = word_given_component * lift
    return scores


def is_general(component_given_doc: Floats, component_prior: Floats) -> Any:
    """Which components are common language: some of most documents, the main topic of few.

    At least a fiftieth of the words of more than half of the documents, and the largest component of fewer than half as
    many documents as its size would suggest.
    """
    spread = (component_given_doc > GENERAL_SHARE).mean(axis=0)
    main = np.bincount(component_given_doc.argmax(axis=1), minlength=len(component_prior)) / len(component_given_doc)
    return (spread > 0.5) & (main < component_prior / 2)


def _top(scores: Floats, frequency: Floats, number: int) -> Any:
    """The words with the highest scores above zero; the most frequent ones where nothing stands out."""
    ranked = np.argsort(-scores, kind="stable")[:number]
    distinct = ranked[scores[ranked] > 0]
    return distinct if len(distinct) else np.argsort(-frequency, kind="stable")[:number]


def names_of(corpus: Corpus, rows: Any) -> tuple[str, ...]:
    """What to call documents: their titles, or their ids where there is none."""
    names = corpus.titles or corpus.ids
    return tuple(names[row] or corpus.ids[row] for row in rows)


def coherences(tops: list[Any], counts: Any) -> list[float]:
    """Coherence of each list of words; a single word agrees with itself, and none with nothing."""
    several = [top for top in tops if len(top) > 1]
    scores = iter(npmi_coherence(several, counts, top_n=max(map(len, several))) if several else ())
    return [float(next(scores)) if len(top) > 1 else float(len(top)) for top in tops]


def _typical(corpus: Corpus, share: Floats, number: int = 3) -> tuple[str, ...]:
    """The documents that lie most in a component; long documents are surer, and win ties."""
    certain = share * (1 - np.exp(-corpus.lengths() / 50))
    return names_of(corpus, np.argsort(-certain, kind="stable")[:number])
