"""Storage of a fit: the model, the shares of documents, the words of topics, and usual values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection import contents
from topiarist.collection.contents import Counting, Description, NodeSummary
from topiarist.collection.copies import use_shares_of_originals
from topiarist.collection.describe.nodes import assign_names, describe_nodes
from topiarist.collection.describe.topic_tree import collect_fit_facts, contains_word, remove_words
from topiarist.collection.document_vectors import are_word_vectors
from topiarist.collection.file.placer import SAMPLE, compute_limits, draw_sample
from topiarist.collection.shape.tree_state import TreeState
from topiarist.collection.shape.words import find_seed_columns
from topiarist.collection.state import SHARES, TREE, State
from topiarist.collection.unsorted import remove_unsorted
from topiarist.counts.corpus import Corpus, LookupSequence
from topiarist.counts.counting import count_with_coverage
from topiarist.counts.duplicates import Duplicates
from topiarist.errors import DamagedError
from topiarist.estimators.tree.fitted_tree import fold_in, get_description_model, get_tree_model
from topiarist.metrics.placed_documents import MIN_CERTAINTY
from topiarist.models.misfits import LengthLimits
from topiarist.storage.document_table import Documents
from topiarist.storage.facts import language_codes, settings
from topiarist.storage.generation import Generation, Part, new_part
from topiarist.text.repeated import without
from topiarist.trees.naming.fields import AUTO

N_WORDS, N_TYPICAL = 20, 10  # of each topic that are kept
MIN_LANGUAGE_SHARE = 0.05  # of the documents that have a language, for its function words to be left out of names
MIN_STAYING_SHARE = (
    0.5  # share of a topic's documents, of now and before together, that are in both: then its name stays
)


def open_corpus(generation: Generation, counts: Csr, counting: Counting) -> Corpus:
    """Return the corpus of a generation, with ids, titles and labels that are read on access."""
    documents, number = Documents(generation.database), counts.shape[0]
    if len(documents) != number:
        raise DamagedError(
            f"{generation.display_path} has {len(documents):,} documents and counts of {number:,}",
            hint="Run topiarist check.",
        )
    return Corpus(
        LookupSequence(number, lambda rows: [document.id for document in documents.load_many(rows, texts=False)]),
        counts, counting.vocabulary,
        titles=LookupSequence(number, lambda rows: [document.title for document in documents.load_many(rows, texts=False)]),
        labels=LookupSequence(number, documents.labels_of), settings=counting.settings,
    )  # fmt: skip


class SavedFit(NamedTuple):
    """A stored fit: the parts of the model and of the shares, and the description of the nodes."""

    parts: tuple[Part, Part]
    description: Description
    shares: Csr

    def in_state(self, state: State) -> State:
        """Return a state with these parts."""
        tree, shares = self.parts
        return state.with_part(TREE, tree.name).with_pieces(SHARES, [shares.name])


def save_fit(
    generation: Generation,
    model: Any,
    corpus: Corpus,
    counting: Counting,
    facts_before: Mapping[str, Any],
    *,
    copies: Duplicates,
    move_pinned: Callable[[Csr], Csr] = lambda shares: shares,
    training: Array | None = None,
    n_threads: int | None = None,
    shape: TreeState | None = None,
    vectors: Floats | None = None,
) -> SavedFit:
    """Compute the posteriors of all documents once, describe the nodes, and write everything.

    ``facts_before``: facts that still hold. ``copies``: duplicates, which get the shares of their original and are
    typical of no topic. ``move_pinned``: function that moves pinned documents. ``training``: rows whose posteriors the model has.
    ``shape``: word edits of users. ``vectors``: embeddings of the documents.
    """
    sample = draw_sample(corpus.n_docs)
    folded_in_documents = fold_in(model, corpus.counts, sample, training=training, vectors=vectors)
    stored_settings, shares = settings(generation.database), folded_in_documents.shares
    uses_vectors = vectors is not None and getattr(model, "directions_", None) is not None
    given = uses_vectors and not are_word_vectors(stored_settings)
    if not given and not stored_settings.get("recipe", {}).get("hierarchy"):
        shares = remove_unsorted(
            shares, get_tree_model(model), corpus.counts, Documents(generation.database), counting,
            language_codes(generation.database, range(corpus.n_docs)), copies,
            by_words=not uses_vectors,
        )  # fmt: skip
    shares = move_pinned(use_shares_of_originals(copies, shares))
    language = _list_languages(stored_settings, corpus.n_docs)
    nodes = describe_nodes(
        get_description_model(model), shares, corpus, counting.general,
        n_words=N_WORDS, n_documents=N_TYPICAL, language=language,
        texts=_read_texts(generation, counting), eligible=copies.find_first_documents(corpus.n_docs),
        ignored=() if shape is None else shape.ignored,
        seeds=None if shape is None else find_seed_columns(shape, corpus.vocabulary),
        fields=stored_settings.get("recipe", {}).get("fields", AUTO),
    )  # fmt: skip
    limits = compute_limits(get_tree_model(model), corpus.counts, sample, folded_in_documents.sampled, n_threads)
    facts = {**collect_fit_facts(model, corpus, shares), **facts_before, "usual": list(limits.limits)}
    description = Description(nodes, facts)
    with new_part(generation, TREE) as tree:
        contents.write_tree(tree.folder, model, description)
    return SavedFit((tree.part, contents.write_part(generation, SHARES, shares)), description, shares)


def _read_texts(generation: Generation, counting: Counting) -> LookupSequence[str]:
    """Return the texts without repeated lines, read on access."""
    documents, forms = Documents(generation.database), counting.repeated.forms
    return LookupSequence(
        len(documents), lambda rows: [without(document.text, forms) for document in documents.load_many(rows)]
    )


def _list_languages(settings: Mapping[str, Any], n_docs: int) -> str:
    """Return the languages whose function words are no names: the main language and others of many documents."""
    frequent = [code for code, number in settings.get("languages", {}).items() if number >= MIN_LANGUAGE_SHARE * n_docs]
    return " ".join(dict.fromkeys([settings.get("language", ""), *frequent])).strip()


def compute_familiarity_limits(generation: Generation, counting: Counting) -> list[float]:
    """Return the limits of the share of known words for usual documents, from a sample of the collection.

    Each text counts like a new one: a word that would not have been counted without it is unknown.
    """
    documents = Documents(generation.database)
    number = len(documents)
    rows = np.sort(np.random.default_rng(0).permutation(number)[:SAMPLE]).tolist()
    texts = [counting.text_of(document) for document in documents.load_many(rows)]
    min_documents = counting.settings.min_document_count(number) + 1
    counted = count_with_coverage(texts, counting.vocabulary, counting.settings, counting.general, min_documents)
    return list(LengthLimits.from_scores(counted.share, counted.tokens).limits)


def find_stable_nodes(shape: TreeState, shares: Csr, old_shape: TreeState, shares_before: Csr) -> frozenset[int]:
    """Return the nodes of topics that kept most of their documents, and so keep their names.

    A topic with an ignored word in its name is not among them.
    """
    number, nodes = min(shares.shape[0], shares_before.shape[0]), set()
    masks = shape.tree.path_mask(shape.class_nodes), old_shape.tree.path_mask(old_shape.class_nodes)
    for node, topic in enumerate(shape.topics):
        if topic in old_shape.topics and not contains_word(old_shape.name(topic), shape.ignored):
            now = shares[:number] @ masks[0][:, node].astype(np.float32) >= MIN_CERTAINTY
            then = shares_before[:number] @ masks[1][:, old_shape.node(topic)].astype(np.float32) >= MIN_CERTAINTY
            if np.count_nonzero(now & then) >= MIN_STAYING_SHARE * max(int(np.count_nonzero(now | then)), 1):
                nodes.add(node)
    return frozenset(nodes)


def name_by_words(
    shape: TreeState,
    description: Description,
    stable: frozenset[int] = frozenset(),
    earlier_names: Sequence[str] = (),
    former_names: Mapping[str, int] | None = None,
) -> TreeState:
    """Name the topics without a user-given name by their words; nodes in ``stable`` keep their names.

    ``earlier_names`` are other earlier names of the nodes than their present ones. ``former_names`` are as in
    ``assign_names``; by default those of the state.
    """
    summaries: dict[int, NodeSummary] = {}
    for topic, node in zip(shape.node_topics, remove_words(description, shape.ignored).nodes, strict=True):
        summaries.setdefault(topic, node)
    words = [summaries[topic].words if topic in summaries else () for topic in shape.topics]
    names = [summaries[topic].names if topic in summaries else () for topic in shape.topics]
    user_named = frozenset(shape.node(topic) for topic in shape.titles)  # other names keep away from theirs
    sizes = [summaries[topic].size if topic in summaries else 0.0 for topic in shape.topics]
    if former_names is None:
        former_names = {name: shape.node_of.get(topic, -1) for name, topic in shape.former_names.items()}
    plain = assign_names(
        replace(shape.tree, names=()), words, earlier_names or shape.tree.names, names, stable | user_named, sizes,
        former_names,
    )  # fmt: skip
    labels = {topic: name for topic, name in zip(shape.topics, plain.names, strict=True) if topic in summaries}
    return shape.rename_unnamed(labels)
