"""Unsorted documents: those that no topic explains better than the words of the whole collection.

They have no shares in topics. The tree is fitted with them and keeps its bits: this is decided after each fit. Three
rules decide, in this order:

1. Few of the words are known: less than a fifth, in a text without a detected language, or none.
2. No node on the path of the likeliest topic explains the words as well as the collection does. Each word comes from
   the node or from the collection, and the share of the node is unknown. The document's own words are left out.
3. The language has too few documents for topics of its own.

A document of rule 1 or 2 whose language has topics of its own gets these instead.
"""

from __future__ import annotations

from collections.abc import Collection as Values
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Bools, Csr, Floats, Ints
from topiarist.collection.contents import Counting, replace_rows
from topiarist.collection.shape.edits import Branch, Edit, Pin
from topiarist.counts.counting import count_with_coverage
from topiarist.counts.duplicates import Duplicates
from topiarist.counts.scratch import iterate_rows
from topiarist.counts.validation import count_tokens
from topiarist.counts.weighting import shorten_documents
from topiarist.errors import UsageError
from topiarist.storage.document_table import Documents
from topiarist.storage.facts import language_codes, languages
from topiarist.text.documents import Document
from topiarist.text.query import UNSORTED
from topiarist.trees.tree_model import TreeModel

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MIN_DOCUMENTS = 100  # of a collection; in smaller ones chance decides what its words explain
MIN_KNOWN_SHARE = 0.2  # of the words of a text
FEW_TOKENS = 10  # known tokens of a document that may have mostly unknown words
MAX_EXAMINED = 20_000  # documents whose texts are counted again; of more, only those without a known word
MIN_GAIN = -0.5  # nats; up to this, 5% of the documents of six collections are unsorted at most
NODE_SHARES = (0.05, 0.15, 0.4, 0.8)  # of a document's words from the node, equally likely
EFFECTIVE_LENGTH = 35.0  # tokens, as for trees
MAIN_SHARE = 0.5  # of the documents of a class, for a language whose class it is
MAX_FOREIGN_SHARE = 0.05  # of the documents, for a language without topics of its own
BLOCK = 1 << 14  # documents whose words are explained together


def remove_unsorted(
    shares: Csr,
    fitted: TreeModel,
    counts: Csr,
    documents: Documents,
    counting: Counting,
    languages: Sequence[str],
    copies: Duplicates,
    *,
    by_words: bool = True,
) -> Csr:
    """Return shares without those of unsorted documents.

    ``languages`` has the language of each document, or an empty string. Duplicates count once.
    Without ``by_words`` vectors placed the documents too, and the second rule is left out.
    """
    if fitted.n_classes < 2 or shares.shape[0] < MIN_DOCUMENTS:
        return shares
    best = np.asarray(shares.argmax(axis=1)).ravel()
    is_explained = find_explained(fitted, counts, best, copies) if by_words else count_tokens(counts) > 0
    is_explained[find_unknown(documents, counts, counting, languages)] = False
    codes, places = np.unique(np.array(languages), return_inverse=True)
    classes = find_language_classes(codes.tolist(), places, best, is_explained, fitted.n_classes)
    is_explained &= ~find_foreign(codes.tolist(), places, classes)
    sizes, rows = np.bincount(best[is_explained], minlength=fitted.n_classes) + 1.0, np.flatnonzero(~is_explained)
    values = np.zeros((len(rows), shares.shape[1]), shares.dtype)
    for place, row in enumerate(rows.tolist()):
        if own := classes.get(int(places[row])):
            values[place, own] = sizes[own] / sizes[own].sum()
    return replace_rows(shares, rows, values)


def find_explained(fitted: TreeModel, counts: Csr, best: Ints, copies: Duplicates) -> Bools:
    """Return the mask of documents that a node below the root explains better than the collection does.

    ``best`` is the class of each document. Words of duplicates count once. A document with a duplicate has words of its
    own and of another document.
    """
    tree, n_words = fitted.tree, counts.shape[1]
    first = copies.find_first_documents(counts.shape[0])
    alone = first.copy()
    alone[copies.originals] = False
    class_words = np.zeros((fitted.n_classes, n_words))
    for rows, block in iterate_rows(counts, BLOCK):
        mine = first[rows]
        one_hot = csr_array(
            (np.ones(int(mine.sum())), (best[rows][mine], np.arange(int(mine.sum())))),
            shape=(fitted.n_classes, int(mine.sum())),
        )
        class_words += (one_hot @ shorten_documents(block[mine].astype(np.float64), EFFECTIVE_LENGTH)).toarray()
    total = class_words.sum(axis=0)
    paths = [tree.path(node) for node in fitted.class_nodes]
    is_explained, has_words = np.zeros(counts.shape[0], np.bool_), count_tokens(counts) > 0
    for depth in range(1, max(map(len, paths))):
        nodes = np.array([path[min(depth, len(path) - 1)] for path in paths])
        open_rows = np.flatnonzero(~is_explained)
        for node in np.unique(nodes[best[open_rows]]).tolist():
            node_words = class_words[nodes == node].sum(axis=0)
            node_rows = open_rows[nodes[best[open_rows]] == node]
            for start in range(0, len(node_rows), BLOCK):
                rows = node_rows[start : start + BLOCK]
                is_explained[rows] = _compute_gain(counts[rows], node_words, total, alone[rows]) > MIN_GAIN
    return is_explained & has_words


def _compute_gain(counts: Csr, node_words: Floats, total: Floats, own: Bools) -> Floats:
    """Return log P(document | node, collection) − log P(document | collection), without the document's own words."""
    short = shorten_documents(counts.astype(np.float64), EFFECTIVE_LENGTH)
    rows = np.repeat(np.arange(short.shape[0]), np.diff(short.indptr))
    words = short.indices
    tokens = np.where(own, count_tokens(short), 0.0)[rows]
    mine = np.where(own[rows], short.data, 0.0)
    node = np.maximum(node_words[words] - mine, 0.0) / np.maximum(node_words.sum() - tokens, 1e-9)
    collection = (np.maximum(total[words] - mine, 0.0) + 0.5) / (total.sum() - tokens + 0.5 * len(total))
    ratio = node / collection
    logs = np.stack(
        [np.bincount(rows, short.data * np.log1p(share * (ratio - 1.0)), short.shape[0]) for share in NODE_SHARES]
    )
    largest = logs.max(axis=0)
    gain: Floats = largest + np.log(np.exp(logs - largest).mean(axis=0))
    return gain


def find_unknown(documents: Documents, counts: Csr, counting: Counting, languages: Sequence[str]) -> Ints:
    """Return the rows of documents with mostly unknown words and without a detected language."""
    tokens = count_tokens(counts)
    rows = np.flatnonzero((tokens < FEW_TOKENS) & (np.array(languages) == ""))
    if len(rows) > MAX_EXAMINED:
        rows = np.flatnonzero(tokens == 0)[:MAX_EXAMINED]
    result = list[int]()
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK].tolist()
        texts = [counting.text_of(document) for document in documents.load_many(part)]
        counted = count_with_coverage(texts, counting.vocabulary, counting.settings, counting.general)
        is_unknown = ~(counted.share >= MIN_KNOWN_SHARE)
        result += [part[place] for place in np.flatnonzero(is_unknown)]
    return np.array(result, np.int64)


def find_language_classes(
    codes: Sequence[str], places: Ints, best: Ints, is_sorted: Bools, n_classes: int
) -> dict[int, list[int]]:
    """Return the classes of each language: those of which most documents are in it. Empty for one language."""
    known = is_sorted & (np.array(codes) != "")[places]
    table = np.zeros((n_classes, len(codes)))
    np.add.at(table, (best[known], places[known]), 1.0)
    main, sizes = table.argmax(axis=1), np.bincount(best[is_sorted], minlength=n_classes)
    is_main = table.max(axis=1) >= np.maximum(MAIN_SHARE * sizes, 1.0)
    classes = {int(place): np.flatnonzero(is_main & (main == place)).tolist() for place in np.unique(main[is_main])}
    return classes if len(classes) > 1 else {}


def find_foreign(codes: Sequence[str], places: Ints, classes: Values[int]) -> Bools:
    """Return the mask of documents in languages with few documents and without classes of their own.

    If these documents are not few together, there are none.
    """
    sizes = np.bincount(places, minlength=len(codes))
    foreign = [
        place
        for place, code in enumerate(codes)
        if code and place not in classes and 0 < sizes[place] < MAX_FOREIGN_SHARE * len(places)
    ]
    result: Bools = np.isin(places, foreign)
    return result if result.sum() < MAX_FOREIGN_SHARE * len(places) else np.zeros_like(result)


def explain_unsorted(collection: Collection, rows: Sequence[int]) -> list[str]:
    """Return for each row why it is unsorted, as a key of ``display.first_sentence.REASONS``."""
    shares, tokens = collection.shares[list(rows)], count_tokens(collection.counts[list(rows)])
    first = min(rows, default=0)
    codes = language_codes(collection.generation.database, range(first, max(rows, default=-1) + 1))
    limit, reasons = MAX_FOREIGN_SHARE * collection.shares.shape[0], list[str]()
    sizes = languages(collection.generation.database)
    small = {code for code, size in sizes.items() if code and size < limit} - {*collection.languages[:1]}
    for place, row in enumerate(rows):
        if shares.indptr[place + 1] > shares.indptr[place]:
            reasons.append("between")
        elif not tokens[place]:
            reasons.append("unknown")
        elif codes[row - first] in small:  # frequent languages have topics, and rare ones with topics are in them
            reasons.append("language")
        else:
            reasons.append("short" if tokens[place] < FEW_TOKENS else "nowhere")
    return reasons


def name_unsorted(collection: Collection, edit: Edit) -> Edit:
    """Return an edit with the ids of all unsorted documents in place of the word ``unsorted``."""
    if not isinstance(edit, Pin | Branch) or edit.documents != (UNSORTED,) or UNSORTED in collection.documents:
        return edit
    rows = np.flatnonzero(collection.hard_to_place).tolist()
    if not rows:
        raise UsageError("no document is unsorted", hint="Name the documents by their ids.")
    return replace(edit, documents=tuple(item.id for item in collection.documents.load_many(rows, texts=False)))


def list_unsorted(collection: Collection, n: int) -> list[tuple[Document, str]]:
    """Return the first ``n`` unsorted documents without texts, each with the key of its reason."""
    rows = np.flatnonzero(collection.hard_to_place)[:n].tolist()
    documents = collection.documents.load_many(rows, texts=False)
    return list(zip(documents, explain_unsorted(collection, rows), strict=True))
