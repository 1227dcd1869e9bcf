"""Tokens to a Corpus: CSR counts, vocabulary, labels; pruning, weighting, LSI features, token-wise splits.

Floor plan:

    embeddings/     Vectors for documents: from files, from an encoder that is installed, or from a user's program.
    chunks          A chunk of texts as numbers: what one worker makes, and how chunks are put together.
    column_map      Which column of the counts each column counts for: itself, that of a word it is one with, or none at
                    all.
    copies          Copies and near-copies among texts, in time and memory that grow with the texts and not with their
                    pairs.
    corpus          A collection as the models see it: counts, the words of their columns, what is known of each
                    document.
    counting        From texts to counts: tokens, phrases, stop words, stems, pruning, in this order.
    languages       The language of every document, judged by the function words that it has: one product of sparse
                    matrices.
    lsi             Latent semantic indexing: documents and words in a space of few dimensions, X ≈ U S Vᵀ.
    merging         The vocabulary of texts that are never all in memory: each chunk is summarised, and summaries are
                    added up.
    pruning         Fewer columns: words merged by their stems, stop words left out, rare and too common words left out.
    room            Room for what is larger than memory: arrays in files without a name, and pages that are handed back
                    when read.
    settings        How texts become counts.
    split           Token-wise splits: each document gives some of its tokens to every part, and the parts add up to the
                    whole.
    stream_counter  Counting a stream: a vocabulary that only grows, so that columns keep their places.
    text_counter    The counter as a scikit-learn transformer.
    validation      What counts must be: a finite, non-negative matrix of documents × words, as canonical CSR.
    vectors         Vectors that documents come with, from any encoder: what they must be, their directions, a space for
                    both.
    vocabulary      The words of a collection: one per column of the counts.
    weighting       Weights for counts: inverse document frequency, unit rows, effective length.
    workers         Chunks of texts, and whoever works on them: processes of this machine, or the workers of a cluster.

Names are imported when they are first used, so that a worker process starts without what it does not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.counts.corpus import Corpus
    from topiarist.counts.counting import count, count_in
    from topiarist.counts.lsi import LatentSpace, latent_space, truncated_svd
    from topiarist.counts.pruning import general_words, prune
    from topiarist.counts.settings import CountSettings, PhraseSettings
    from topiarist.counts.split import completion_split, split_tokens
    from topiarist.counts.stream_counter import StreamCounter
    from topiarist.counts.text_counter import TextCounter
    from topiarist.counts.validation import check_counts
    from topiarist.counts.vocabulary import Vocabulary
    from topiarist.counts.weighting import (
        effective_length_weights,
        inverse_document_frequency,
        scale_rows,
        tfidf,
        unit_rows,
    )

_ROOMS = {
    "corpus": ("Corpus",),
    "counting": ("count", "count_in"),
    "lsi": ("LatentSpace", "latent_space", "truncated_svd"),
    "pruning": ("general_words", "prune"),
    "settings": ("CountSettings", "PhraseSettings"),
    "split": ("completion_split", "split_tokens"),
    "validation": ("check_counts",),
    "stream_counter": ("StreamCounter",),
    "text_counter": ("TextCounter",),
    "vocabulary": ("Vocabulary",),
    "weighting": (
        "effective_length_weights",
        "inverse_document_frequency",
        "scale_rows",
        "tfidf",
        "unit_rows",
    ),
}
_HOME = {name: module for module, names in _ROOMS.items() for name in names}

__all__ = [
    "Corpus",
    "CountSettings",
    "LatentSpace",
    "PhraseSettings",
    "StreamCounter",
    "TextCounter",
    "Vocabulary",
    "check_counts",
    "completion_split",
    "count",
    "count_in",
    "effective_length_weights",
    "general_words",
    "inverse_document_frequency",
    "latent_space",
    "prune",
    "scale_rows",
    "split_tokens",
    "tfidf",
    "truncated_svd",
    "unit_rows",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
