"""Descriptions of the nodes of a fitted tree: words, names, sizes and typical documents."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr
from topiarist.collection.contents import ROOT, NodeSummary
from topiarist.collection.describe.flat_topics import compute_coherences, format_names
from topiarist.collection.describe.typical_documents import find_name_columns, select_typical
from topiarist.counts.corpus import Corpus
from topiarist.counts.scratch import select_rows
from topiarist.counts.validation import sum_columns
from topiarist.text.stop_words import function_words
from topiarist.trees.edits import Edit, collapse
from topiarist.trees.growth.headings import compute_gains
from topiarist.trees.naming.fields import AUTO, FieldList, choose_fields, find_field_names, find_near_words
from topiarist.trees.naming.name_test import NameTest, is_formula
from topiarist.trees.naming.names import NodeNames, join_names, list_usable_words, name_nodes, shares_word
from topiarist.trees.naming.presence import (
    compute_halves,
    compute_presence,
    list_candidate_words,
    select_describing_words,
)
from topiarist.trees.naming.text_features import TextFeatures, extract_features, find_largest_classes, sample_documents
from topiarist.trees.naming.unspaced import remove_pieces
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel
from topiarist.trees.tree_text import DOT, JOINT
from topiarist.trees.views import select_large_headings

NO_WORDS = "no words of its own"
REMEMBERED_WORDS = 6  # first words of a node that must contain the words of an earlier name
WORDS_IN_NAME = 2  # words of a node in its name; more if siblings have the same first words
MIN_DOCUMENTS_PER_CLASS = 64  # sampled documents of a class, if it has as many
COHERENCE_WORDS = 10  # first words of a node for its coherence, the usual number in the literature


def describe_nodes(
    model: TreeModel,
    shares: Csr,
    corpus: Corpus,
    general: Sequence[str] = (),
    *,
    n_words: int = 8,
    n_documents: int = 3,
    language: str = "",
    texts: Sequence[str] | None = None,
    ignored: Collection[str] = (),
    seeds: Mapping[int, Sequence[int]] | None = None,
    eligible: Bools | None = None,
    fields: str = AUTO,
) -> tuple[NodeSummary, ...]:
    """Describe the nodes of a tree; ``shares`` are documents × classes.

    ``general`` words were removed before and come first in the words of the root. Below the root, function words of the
    ``language`` (or several, "en de") never describe a node. Names contain phrases if ``texts`` are given or part of
    the corpus, and never an ``ignored`` word. ``seeds`` are columns by node that come first in its words, if a document
    of the node has them. ``eligible`` marks the documents that can be typical; None means all.

    Coherence and typical documents are computed on a sample as large as the sample for growth; document frequencies on
    all documents. ``fields`` are names of fields of knowledge: "auto", "none", or the lines of a list.
    """
    tree, vocabulary = model.tree, corpus.vocabulary.words
    sample = _sample_documents(csr_array(shares))
    sampled_counts = corpus.counts if sample is None else select_rows(corpus.counts, sample)
    functional = frozenset[str]().union(*map(function_words, language.split()))
    texts = texts if texts is not None else corpus.texts
    empty = np.array([word in functional for word in vocabulary], bool) if functional else None
    presence = compute_presence(tree, model.class_nodes, shares, corpus.counts)
    readings = None
    if texts is not None:
        read_columns = {
            *list_usable_words(presence, vocabulary, empty).tolist(), *list_candidate_words(presence, n_words).tolist()
        }  # fmt: skip
        read_rows = sample_documents(shares)
        readings = extract_features(texts, read_rows, [vocabulary[column] for column in sorted(read_columns)])
        readings = _remove_ignored_phrases(readings, frozenset(ignored))
        sampled_texts = (texts[row] for rows in read_rows for row in rows)
        spare_columns = list_candidate_words(presence, max(n_words, COHERENCE_WORDS)).tolist()
        readings = remove_pieces(readings, sampled_texts, sampled_counts, vocabulary, read_columns.union(spare_columns))
        functional = functional | readings.verbs | readings.pieces
        empty = np.array([word in functional or is_formula(word) for word in vocabulary], bool)
    columns = select_describing_words(
        presence, n_words, counts=sampled_counts, words=vocabulary, empty=empty, first=seeds
    )
    field_names: Sequence[Sequence[str]] = ()
    sampled_shares = csr_array(shares) if sample is None else csr_array(select_rows(csr_array(shares), sample))
    name_columns = list_usable_words(presence, vocabulary, empty)
    halves = [
        NameTest(half, [vocabulary[column] for column in name_columns.tolist()])
        for half in compute_halves(tree, model.class_nodes, sampled_shares, sampled_counts, name_columns)
    ]
    if (field_list := choose_fields(fields, language)) is not None:
        field_names = find_field_names(tree, model.class_nodes, sampled_shares, sampled_counts, vocabulary, field_list)
    names = name_nodes(
        presence, vocabulary, model.class_nodes, readings, empty=empty, fields=field_names, halves=halves
    )
    columns_of_names = _list_name_columns(names, vocabulary, readings, field_list, sampled_counts)
    typical = select_typical(model, shares, sampled_counts, n_documents, columns_of_names, eligible, sample)
    words = [tuple(vocabulary[column] for column in node_columns) for node_columns in columns]
    words[tree.root] = (*general[:n_words], *words[tree.root])
    size = sum_columns(shares) @ tree.path_mask(model.class_nodes)
    coherence = compute_coherences([node_columns[:COHERENCE_WORDS] for node_columns in columns], sampled_counts)
    # sparse, because few of the nodes are on a path
    word_given_class = csr_array(model.node_given_class) @ model.word_given_node
    gain = compute_gains(tree, model.class_nodes, word_given_class, size[list(model.class_nodes)])
    return tuple(
        NodeSummary(
            words[node], float(size[node]), float(size[node] / max(size[tree.root], 1e-300)),
            format_names(corpus, typical[node]), coherence[node], tree.depths[node], tuple(typical[node].tolist()),
            names[node].candidates, gain[node],
        )
        for node in range(len(tree))
    )  # fmt: skip


def _list_name_columns(
    names: Sequence[NodeNames],
    vocabulary: Sequence[str],
    readings: TextFeatures | None,
    fields: FieldList | None,
    counts: Csr,
) -> list[list[int]]:
    """Return the columns of the words of each node's first name, and of the words near its field."""
    columns = {word: column for column, word in enumerate(vocabulary)}
    forms: dict[str, list[int]] = {}
    for word, form in (readings.forms if readings is not None else {}).items():
        forms.setdefault(form, []).extend([columns[word]] if word in columns else [])
    near = {} if fields is None else find_near_words(counts, vocabulary, fields)
    return [find_name_columns(node.name, columns, near, forms) for node in names]


def _remove_ignored_phrases(readings: TextFeatures, ignored: frozenset[str]) -> TextFeatures:
    by_phrase = readings.phrases.items()
    kept = {phrase: by_leaf for phrase, by_leaf in by_phrase if not ignored.intersection(phrase.split())}
    return replace(readings, phrases=kept)


def assign_names(
    tree: Tree,
    words: Sequence[tuple[str, ...]],
    earlier_names: Sequence[str] = (),
    names: Sequence[tuple[str, ...]] = (),
    unchanged: frozenset[int] = frozenset(),
    sizes: Sequence[float] = (),
    former_names: Mapping[str, int] | None = None,
) -> Tree:
    """Return the tree with its nodes named by their best names or first words, unless users named them.

    A name in ``earlier_names`` stays if the documents of the node are ``unchanged``, if it is still a candidate, or if
    its words are still among the first words of the node. Other names share no word with their siblings if possible;
    no two nodes have the same name. ``former_names`` are names in small letters that only one node may have again, or
    none (−1). A heading without characteristic words is named by its two largest children, by
    ``sizes``.
    """
    if tree.names != Tree(tree.parents).names:
        return Tree(tree.parents, tuple(name or ROOT for name in tree.names))
    names, sizes, former_names = names or [()] * len(tree), sizes or [0.0] * len(tree), former_names or {}
    node_names = [ROOT] + [""] * (len(tree) - 1)
    for node, earlier in list(enumerate(earlier_names))[1:]:
        is_candidate = JOINT not in earlier and (earlier in names[node] or _is_still_valid(earlier, words[node]))
        if node in unchanged or is_candidate:
            node_names[node] = earlier
    used_names = {name.casefold() for name in node_names}

    def give_name(node: int, name: str) -> None:
        node_names[node] = name
        used_names.add(name.casefold())

    def list_used(node: int) -> set[str]:
        return used_names | {name for name, owner in former_names.items() if owner != node}

    joined_nodes = list[int]()
    for parent in range(len(tree)):
        children = tree.children(parent)
        for child in children:
            if node_names[child]:
                continue
            if names[child] and JOINT in names[child][0]:
                joined_nodes.append(child)
                continue
            sibling_names = {node_names[sibling] for sibling in children} - {""}
            single_names = [name for name in names[child] if JOINT not in name]
            give_name(child, _choose_distinct_name(sibling_names, list_used(child), single_names, words[child]))
    for node in sorted(joined_nodes, key=lambda node: -tree.depths[node]):  # deepest first: names of children exist
        ranked = sorted(tree.children(node), key=lambda child: (-sizes[child], child))
        possible_names = join_names([node_names[child] for child in ranked], [sizes[child] for child in ranked])
        # names that retrieve the node come first
        examined_names = [name for name in names[node] if name in possible_names]
        give_name(node, _choose_unused_name([*examined_names, *possible_names], list_used(node), words[node]))
    return Tree(tree.parents, tuple(node_names))


def visible_tree(tree: Tree, nodes: Sequence[NodeSummary], tops: Iterable[int] | None = None) -> Edit:
    """Return the named tree that users see: the grown tree without the headings above its first level.

    ``tops`` are the nodes above first levels instead of the root: one for each tree of several languages. The largest
    topic of a first level comes first.
    """
    sizes = [node.size for node in nodes]
    tops = (tree.root,) if tops is None else tuple(tops)
    large = [heading for top in tops for heading in select_large_headings(tree, sizes, top)]
    shape, origin = tree, tuple(range(len(tree)))
    if large:
        edit = collapse(tree, large)
        top_nodes = {edit.origin.index(top) for top in tops}
        size = [sizes[node] if edit.tree.parents[place] in top_nodes else 0.0 for place, node in enumerate(edit.origin)]
        order = edit.tree.in_order(lambda place: (-size[place], place))
        number = {place: new for new, place in enumerate(order)} | {-1: -1}
        shape = Tree(tuple(number[edit.tree.parents[place]] for place in order))
        origin = tuple(edit.origin[place] for place in order)
    words, names = [nodes[node].words for node in origin], [nodes[node].names for node in origin]
    return Edit(assign_names(shape, words, names=names, sizes=[sizes[node] for node in origin]), origin)


def _is_still_valid(name: str, words: tuple[str, ...]) -> bool:
    """Return whether the words of a name are still among the first words of a node."""
    return bool(name) and set(name.split(DOT)) <= set(words[:REMEMBERED_WORDS])


def _choose_distinct_name(
    sibling_names: Collection[str], used_names: Collection[str], names: Sequence[str], words: tuple[str, ...]
) -> str:
    """Return the first name that shares no word with its siblings, otherwise words that the siblings lack."""
    free = DOT.join([word for word in words if not shares_word(word, sibling_names)][:WORDS_IN_NAME])
    distinct_names = [name for name in (*names, free) if name and not shares_word(name, sibling_names)]
    return _choose_unused_name([*distinct_names, *names], used_names, words)


def _choose_unused_name(names: Sequence[str], used_names: Collection[str], words: tuple[str, ...]) -> str:
    return next(name for name in itertools.chain(names, _possible_names(words)) if name.casefold() not in used_names)


def _possible_names(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the first two words, then more words, then the first two with a number."""
    words = words or (NO_WORDS,)
    for number in range(min(WORDS_IN_NAME, len(words)), len(words) + 1):
        yield DOT.join(words[:number])
    yield from (f"{DOT.join(words[:WORDS_IN_NAME])} ({number})" for number in itertools.count(2))


def _sample_documents(shares: Csr) -> Array | None:
    """Return the documents to sample for words and prototypes, some of each class; None: all."""
    # estimators take a second to load, and readers do not need them
    from topiarist.estimators.tree.growth_sample import draw_sample

    sample = draw_sample(shares.shape[0], 0)
    if sample is None:
        return None
    classes = find_largest_classes(shares)
    n_sampled = np.bincount(classes[sample][classes[sample] >= 0], minlength=shares.shape[1])
    rare = np.flatnonzero(n_sampled < MIN_DOCUMENTS_PER_CLASS)
    order = np.argsort(classes, kind="stable") if len(rare) else sample
    ends = np.searchsorted(classes, np.arange(shares.shape[1] + 1), sorter=order) if len(rare) else ()
    class_samples = [
        _sample_evenly(order[ends[number] : ends[number + 1]], MIN_DOCUMENTS_PER_CLASS) for number in rare.tolist()
    ]
    return np.unique(np.concatenate([sample, *class_samples]))


def _sample_evenly(rows: Array, number: int) -> Array:
    return rows if len(rows) <= number else rows[np.linspace(0, len(rows) - 1, number).astype(np.int64)]
