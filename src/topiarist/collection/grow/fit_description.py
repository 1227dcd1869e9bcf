"""What is kept of a fit: the model, the shares of documents, topics in words, and what is usual."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection import contents
from topiarist.collection.contents import Counting, Description
from topiarist.collection.copies import placed_with_first
from topiarist.collection.describe.nodes import NodeSummary, describe_nodes, named
from topiarist.collection.describe.topic_tree import facts_of, says, without_words
from topiarist.collection.file.placer import SAMPLE, sample_of, usual_of
from topiarist.collection.shape.shape import Shape
from topiarist.collection.shape.word_use import seed_columns
from topiarist.collection.state import SHARES, TREE, State
from topiarist.counts.copies import Copies
from topiarist.counts.corpus import ByRow, Corpus
from topiarist.counts.counting import hear
from topiarist.errors import DamagedError
from topiarist.estimators.tree.fitted_tree import folded_in, tree_model
from topiarist.measures.placed_documents import CERTAIN
from topiarist.models.misfits import Usual
from topiarist.store.document_table import Documents
from topiarist.store.facts import settings
from topiarist.store.generation import Generation, Part, new_part
from topiarist.text.repeated import Repeated, without

N_WORDS, N_TYPICAL = 20, 10  # of each topic that are kept
SPOKEN = 0.05  # of the documents that have a language, for its function words to be left out of names
STAYED = 0.5  # share of a topic's documents, of now and before together, that are in both: then its name stays


def corpus_of(generation: Generation, counts: Csr, counting: Counting) -> Corpus:
    """The documents of a generation as models and descriptions want them."""
    documents, number = Documents(generation.database), counts.shape[0]
    if len(documents) != number:
        raise DamagedError(
            f"{generation.shown} has {len(documents):,} documents and counts of {number:,}", hint="topiarist check"
        )
    return Corpus(
        ByRow(number, lambda rows: [one.id for one in documents.many(rows, texts=False)]), counts, counting.vocabulary,
        titles=ByRow(number, lambda rows: [one.title for one in documents.many(rows, texts=False)]),
        labels=ByRow(number, documents.labels_of), settings=counting.settings,
    )  # fmt: skip


class KeptTexts(Sequence[str]):
    """The texts of the documents of a collection, without repeated lines, each read when it is asked for."""

    def __init__(self, documents: Documents, repeated: Repeated) -> None:
        self._documents, self._number, self._repeated = documents, len(documents), repeated.forms

    def __len__(self) -> int:
        return self._number

    def __getitem__(self, row: Any) -> Any:
        return self.many([row])[0]

    def many(self, rows: Sequence[int]) -> list[str]:
        """The texts of some documents."""
        return [without(one.text, self._repeated) for one in self._documents.many(rows)]


class KeptFit(NamedTuple):
    """A fit on the disk: the parts of the model and of the shares, and the description of its nodes."""

    parts: tuple[Part, Part]
    description: Description
    shares: Csr

    def in_state(self, state: State) -> State:
        """A state with these parts."""
        tree, shares = self.parts
        return state.with_part(TREE, tree.name).with_pieces(SHARES, [shares.name])


def keep_fit(
    generation: Generation,
    model: Any,
    corpus: Corpus,
    counting: Counting,
    known: Mapping[str, Any],
    *,
    copies: Copies,
    pinned: Callable[[Csr], Csr] = lambda shares: shares,
    training: Array | None = None,
    n_threads: int | None = None,
    shape: Shape | None = None,
    vectors: Floats | None = None,
) -> KeptFit:
    """Fold every document in, once; describe the nodes, and write all of it.

    ``known``: what was told before, and still holds. ``copies`` lie where the first of their kind does, and are typical
    of nothing. ``pinned``: puts documents where people want them. ``training``: the rows of the documents that the
    model was fitted to just now, so that it knows them already. ``shape``: what people said of words, if they did.
    ``vectors``: those of the documents, if they have any.
    """
    sample = sample_of(corpus.n_docs)
    folded = folded_in(model, corpus.counts, sample, training=training, vectors=vectors)
    shares = pinned(placed_with_first(copies, folded.shares))
    language = _spoken(settings(generation.database), corpus.n_docs)
    nodes = describe_nodes(
        tree_model(model), shares, corpus, counting.general,
        n_words=N_WORDS, n_documents=N_TYPICAL, language=language,
        texts=KeptTexts(Documents(generation.database), counting.repeated), standing=copies.is_first(corpus.n_docs),
        ignored=() if shape is None else shape.ignored,
        seeds=None if shape is None else seed_columns(shape, corpus.vocabulary),
    )  # fmt: skip
    usual = usual_of(tree_model(model), corpus.counts, sample, folded.sampled, n_threads)
    facts = {**facts_of(model, corpus, shares), **known, "usual": list(usual.limits)}
    description = Description(nodes, facts)
    with new_part(generation, TREE) as tree:
        contents.write_tree(tree.folder, model, description)
    with new_part(generation, SHARES) as rows:
        contents.write_matrix(rows.folder, shares)
    return KeptFit((tree.part, rows.part), description, shares)


def _spoken(known: Mapping[str, Any], n_docs: int) -> str:
    """The languages whose function words name nothing: that of the collection, and others of many documents."""
    many = [code for code, number in known.get("languages", {}).items() if number >= SPOKEN * n_docs]
    return " ".join(dict.fromkeys([known.get("language", ""), *many])).strip()


def familiar(generation: Generation, counting: Counting) -> list[float]:
    """The share of known words below which a new document is unusual, by texts of the collection.

    Each is heard as if it were new: a word that would not have been counted without it is unknown.
    """
    documents = Documents(generation.database)
    number = len(documents)
    rows = np.sort(np.random.default_rng(0).permutation(number)[:SAMPLE]).tolist()
    texts = [counting.text_of(document) for document in documents.many(rows)]
    least = counting.settings.fewest(number) + 1
    found = hear(texts, counting.vocabulary, counting.settings, counting.general, least)
    return list(Usual.of(found.share, found.tokens).limits)


def stayed(shape: Shape, shares: Csr, before: Shape, shares_before: Csr) -> frozenset[int]:
    """The nodes of topics whose documents stayed: most of those that it has now, or had, are in both.

    A topic that is called by a word that is ignored now gets another name all the same.
    """
    number, found = min(shares.shape[0], shares_before.shape[0]), set()
    masks = shape.tree.path_mask(shape.class_nodes), before.tree.path_mask(before.class_nodes)
    for node, topic in enumerate(shape.topics):
        if topic in before.topics and not says(before.name(topic), shape.ignored):
            now = shares[:number] @ masks[0][:, node].astype(np.float32) >= CERTAIN
            then = shares_before[:number] @ masks[1][:, before.node(topic)].astype(np.float32) >= CERTAIN
            if np.count_nonzero(now & then) >= STAYED * max(int(np.count_nonzero(now | then)), 1):
                found.add(node)
    return frozenset(found)


def labelled(shape: Shape, description: Description, stayed: frozenset[int] = frozenset()) -> Shape:
    """Topics that nobody has named are called by their words; as before, where their documents stayed."""
    known: dict[int, NodeSummary] = {}
    for topic, node in zip(shape.node_topics, without_words(description, shape.ignored).nodes, strict=True):
        known.setdefault(topic, node)
    words = [known[topic].words if topic in known else () for topic in shape.topics]
    names = [known[topic].names if topic in known else () for topic in shape.topics]
    given = frozenset(shape.node(topic) for topic in shape.titles)  # other names keep away from theirs
    plain = named(replace(shape.tree, names=()), words, shape.tree.names, names, stayed | given)
    labels = {topic: name for topic, name in zip(shape.topics, plain.names, strict=True) if topic in known}
    return shape.renamed(labels)
