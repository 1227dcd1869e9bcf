"""What is kept of a fit beside its numbers: the words of topics, typical documents, and what is usual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from topiarist.arrays import Csr
from topiarist.collection.contents import Counting, Description
from topiarist.collection.describe.nodes import describe_nodes, named
from topiarist.collection.describe.topic_tree import facts_of
from topiarist.collection.file.placer import SAMPLE, Usual, usual_of
from topiarist.collection.shape.shape import Shape
from topiarist.counts.corpus import Corpus, text_of
from topiarist.counts.counting import hear
from topiarist.estimators.tree.fitted_tree import crown_of
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation

N_WORDS, N_TYPICAL = 20, 10  # of each topic that are kept


def corpus_of(generation: Generation, counts: Csr, counting: Counting) -> Corpus:
    """The documents of a generation as models and descriptions want them."""
    documents = Documents(generation.database)
    ids = documents.ids()
    return Corpus(
        tuple(ids), counts, counting.vocabulary, titles=tuple(documents.titles()),
        labels=tuple(documents.labels_of(range(len(ids)))), settings=counting.settings,
    )  # fmt: skip


def description_of(
    model: Any, corpus: Corpus, shares: Csr, general: tuple[str, ...], known: Mapping[str, Any] | None = None,
    n_threads: int | None = None, language: str = "",
) -> Description:  # fmt: skip
    """The nodes of a model in words, and what is usual for it. ``known``: what was told before, and still holds."""
    nodes = describe_nodes(crown_of(model), shares, corpus, general, N_WORDS, N_TYPICAL, language)
    usual = usual_of(model, corpus.counts, n_threads)
    return Description(nodes, {**facts_of(model, corpus, shares), **(known or {}), "usual": list(usual.limits)})


def familiar(generation: Generation, counting: Counting) -> list[float]:
    """The share of known words below which a new document is unusual, by texts of the collection.

    Each is heard as if it were new: a word that would not have been counted without it is unknown.
    """
    documents = Documents(generation.database)
    number = len(documents)
    rows = np.sort(np.random.default_rng(0).permutation(number)[:SAMPLE]).tolist()
    texts = [text_of(document, counting.settings.titles) for document in documents.many(rows)]
    least = counting.settings.min_documents + 1
    found = hear(texts, counting.vocabulary, counting.settings, counting.general, least)
    return list(Usual.of(found.share, found.tokens).limits)


def labelled(shape: Shape, description: Description) -> Shape:
    """Topics that nobody has named are called by their words; as before, where these words still say it."""
    known: dict[int, tuple[str, ...]] = {}
    for topic, node in zip(shape.node_topics, description.nodes, strict=True):
        known.setdefault(topic, node.words)
    words = [known.get(topic, ()) for topic in shape.topics]
    plain = named(replace(shape.tree, names=()), words, shape.tree.names)
    labels = {topic: name for topic, name in zip(shape.topics, plain.names, strict=True) if topic in known}
    return shape.renamed(labels)
