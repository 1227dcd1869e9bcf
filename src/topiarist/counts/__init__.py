"""Conversion of tokens to a corpus: counts, vocabulary, pruning, weights, LSI features and splits.

Names are imported on first use, so that a worker process starts without unused modules.
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

_NAMES = {
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
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

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
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
