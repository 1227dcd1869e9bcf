"""Names of topics from a list of fields of knowledge.

A document has the sum of its word vectors, a field the vector of its name and typical words. A field may name a node if
its documents are closer to the field than others are, if this is true of every large child, and if words near the field
occur in the documents. A heading is called by a field only if it is nearly the best one for each large child.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Floats, Ints
from topiarist.counts.scratch import iterate_rows
from topiarist.counts.validation import sum_columns
from topiarist.counts.word_vectors import (
    LANGUAGE,
    embed_documents,
    load_field_vectors,
    load_word_vectors,
    to_unit_rows,
    weigh_words,
)
from topiarist.errors import InputError
from topiarist.text.characters import clean_name
from topiarist.trees.tree import Tree
from topiarist.trees.views import select_large_headings

AUTO, NONE = "auto", "none"  # the bundled fields for English, or names of words only

# Thresholds for a name to be shown, chosen on the bundled abstracts, 20 Newsgroups and Reuters.
MIN_SEPARATION = 1.0  # standard deviations between the documents of a node and all others
MIN_TRUTH = 0.7  # the same for the worst large child
MIN_CLOSENESS = 0.28  # mean cosine of a document and the field
MIN_BROAD_SEPARATION, MIN_BROAD_TRUTH = 0.7, 0.3  # of a field that is broader than those of all large children
MIN_COVER = 0.3  # share of the documents with a word near the field
MIN_LIFT = 1.5  # that share, in the worst large child, as a multiple of the share elsewhere
MIN_FIT = 0.7  # score of a heading's field in each large child, as a share of the child's best score
LARGE_CHILD = 0.1  # of the heading's documents
CLOSENESS_WEIGHT = 4.0  # of the cosine beside separation and truth, which count .7 each
SCORE_WEIGHT = 0.7
NEAR_WORDS = 12  # words near a field
MIN_COSINE = 0.42  # of such a word and the field
MAX_SHARE = 0.2  # of the documents that have such a word
MIN_DOCUMENTS = 3  # with such a word
MIN_KNOWN = 0.7  # share of the documents that must have a vector
CANDIDATES = 4
NEARLY_BEST = 0.88  # of the best score of all fields that a field must have, shown or not
MIN_LEAF_SCORE = 4.0  # special words name a leaf better than a field that fits it less
MIN_LEAF_SIZE = 20.0  # documents
BLOCK = 1 << 14  # documents × fields are in memory for so many documents at a time


@dataclass(frozen=True, eq=False)
class FieldList:
    """Names of fields with a unit vector each; a parent is the row of a broader field, or −1."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    vectors: Floats
    groups: frozenset[int] = frozenset()  # rows that are too broad to name a topic

    @property
    def unknown(self) -> tuple[str, ...]:
        """The fields without a vector, because all their words are unknown."""
        return tuple(name for name, vector in zip(self.names, self.vectors, strict=True) if not vector.any())


@cache
def load_fields() -> FieldList:
    """Load the bundled list of fields."""
    names, parents, words = _read_lines(files("topiarist.data").joinpath("fields.txt").read_text("utf-8"))
    return _take_fields(names, parents, load_field_vectors(), words)


def parse_fields(text: str) -> FieldList:
    """Read a list of fields: one a line, ``name: typical words``, two spaces deeper for a narrower field.

    A name in square brackets is a group of fields that names no topic.
    A field without a known word names no topic.
    """
    names, parents, words = _read_lines(text)
    vectors = load_word_vectors()
    of_names = [vectors.mean_of(re.findall(r"[^\W\d_]+", name.lower())) for name in names]
    return _take_fields(names, parents, np.array(of_names).reshape(len(names), -1), words)


def _read_lines(text: str) -> tuple[list[str], list[int], list[list[str]]]:
    """Return the names, parents and words of an indented list of fields. Raise InputError without a name."""
    names, parents, words, ancestors = list[str](), list[int](), list[list[str]](), list[tuple[int, int]]()
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        ancestors = [(depth, row) for depth, row in ancestors if depth < indent]
        name, _, typical = line.strip().partition(":")
        parents.append(ancestors[-1][1] if ancestors else -1)
        ancestors.append((indent, len(names)))
        names.append(clean_name(name))
        words.append(typical.lower().split())
    if not names:
        raise InputError("expected a list of fields, found no line with a name", hint="Write one field a line.")
    return names, parents, words


def _take_fields(
    names: Sequence[str], parents: Sequence[int], name_vectors: Floats, words: Sequence[Sequence[str]]
) -> FieldList:
    typical = np.array([load_word_vectors().mean_of(typical_words) for typical_words in words])
    groups = frozenset(row for row, name in enumerate(names) if name.startswith("["))
    return FieldList(tuple(names), tuple(parents), to_unit_rows(name_vectors + typical), groups)


def choose_fields(setting: str, language: str) -> FieldList | None:
    """Return the fields of a setting: "auto" (the bundled ones for English), "none", or the lines of a list."""
    if setting == NONE or (setting == AUTO and LANGUAGE not in language.split()):
        return None
    return load_fields() if setting == AUTO else parse_fields(setting)


def find_field_names(
    tree: Tree, class_nodes: Sequence[int], shares: Csr, counts: Csr, vocabulary: Sequence[str], fields: FieldList
) -> list[tuple[str, ...]]:
    """Return the names of fields for each node, the best first.

    ``shares`` are those of documents in classes (documents × classes), ``counts`` their words. No two nodes have the
    same best field: it goes to the upper one, and of one level to the largest one. Siblings' best fields share no word.
    Headings above the first level have none. No node has a field if too few documents have a known word.
    """
    evidence = _Evidence.collect(tree, class_nodes, csr_array(shares), csr_array(counts), vocabulary, fields)
    names: list[tuple[str, ...]] = [()] * len(tree)
    if evidence is None:
        return names
    scores = np.array([evidence.score(node) for node in range(len(tree))])
    allowed: list[list[int]] = [[] for _ in range(len(tree))]
    hidden = {tree.root, *select_large_headings(tree, evidence.documents.tolist())}
    for node in reversed(list(tree.depth_first())):  # children before their parents
        if node in hidden:
            continue
        rows = evidence.choose(node, scores)
        if not tree.is_leaf(node):  # broader fields first
            broad = [row for row in rows if any(row in _list_ancestors(other, fields.parents)[1:] for other in rows)]
            broader = evidence.find_broader(node, allowed, fields.parents)
            min_score = NEARLY_BEST * float(scores[node].max())
            rows = [*(row for row in broader if scores[node, row] >= min_score), *broad, *rows]
        allowed[node] = list(dict.fromkeys(row for row in rows if row not in fields.groups))
    waiting = [
        (tree.depths[node], place, -evidence.documents[node], node, row)
        for node in range(len(tree))
        for place, row in enumerate(allowed[node])
    ]
    used, words = set[int](), [set[str]() for _ in range(len(tree))]
    for *_, node, row in sorted(waiting):
        own_words, parent = set(fields.names[row].lower().split()), tree.parents[node]
        if not names[node] and row not in used and not own_words & words[parent]:
            used.add(row)
            words[parent] |= own_words
            names[node] = (fields.names[row], *(fields.names[other] for other in allowed[node] if other != row))
    return names


@dataclass(frozen=True, eq=False)
class _Evidence:
    """Means over the documents of each node, for each field (nodes × fields)."""

    tree: Tree
    documents: Floats  # expected documents of each node that have a vector
    cosines: Floats  # mean cosine with each field
    standard: Floats  # the same in standard deviations from the mean of all documents
    cover: Floats  # share of the documents with a word near the field

    @classmethod
    def collect(
        cls, tree: Tree, class_nodes: Sequence[int], shares: Csr, counts: Csr, vocabulary: Sequence[str],
        fields: FieldList,
    ) -> _Evidence | None:  # fmt: skip
        """Add up the documents block by block; None if too few have a known word."""
        word_vectors = load_word_vectors()
        columns, rows = word_vectors.select(vocabulary)
        if not len(columns):
            return None
        of_words = word_vectors.vectors_of(rows)
        documents = _count_documents(counts, len(vocabulary))[columns]
        weights = weigh_words(word_vectors, rows, documents, counts.shape[0])
        near_words = _find_near_words(of_words, documents, counts.shape[0], fields.vectors)
        sums = np.zeros((shares.shape[1], of_words.shape[1]))
        covered_documents, have = np.zeros((shares.shape[1], len(fields.names))), np.zeros(shares.shape[1])
        squares = np.zeros((of_words.shape[1], of_words.shape[1]))
        for block_rows, block in iterate_rows(counts, BLOCK):
            block_counts = csr_array(block)[:, columns]
            vectors = embed_documents(block_counts, of_words, weights)
            part = csr_array(shares[block_rows]).T.tocsr()
            has = (block_counts @ near_words).tocsr()
            has.data[:] = 1.0
            sums += part @ vectors
            covered_documents += np.asarray((part @ has).todense())
            is_known: Floats = np.asarray(vectors.any(axis=1), np.float64)
            have += part @ is_known
            squares += vectors.T @ vectors
        total = have.sum()
        if total < MIN_KNOWN * sum_columns(shares).sum() or total <= 0:
            return None
        mask = np.asarray(tree.path_mask(class_nodes), np.float64).T
        size = np.maximum(mask @ have, 1e-9)[:, None]
        cosines = (mask @ sums / size) @ fields.vectors.T
        mean = (sums.sum(axis=0) / total) @ fields.vectors.T
        second = np.einsum("fd,de,fe->f", fields.vectors, squares / total, fields.vectors)
        deviation = np.sqrt(np.maximum(second - mean**2, 1e-12))
        return cls(tree, size[:, 0], cosines, (cosines - mean) / deviation, mask @ covered_documents / size)

    def mean_outside(self, values: Floats, node: int) -> Floats:
        """Return the mean over the documents outside of a node."""
        root, size = self.tree.root, self.documents
        rest = max(size[root] - size[node], 1e-9)
        mean: Floats = (size[root] * values[root] - size[node] * values[node]) / rest
        return mean

    def list_large_children(self, node: int) -> list[int]:
        """Return the children with a tenth of the documents of a heading; a leaf is its own."""
        children = list(self.tree.children(node))
        total = self.documents[children].sum() if children else 0.0
        return [child for child in children if self.documents[child] >= LARGE_CHILD * total] or [node]

    def compute_separation(self, node: int, nodes: Sequence[int]) -> Floats:
        """Return the least distance, in standard deviations, of some nodes and the documents outside of a node."""
        separation: Floats = self.standard[list(nodes)].min(axis=0) - self.mean_outside(self.standard, node)
        return separation

    def score(self, node: int) -> Floats:
        """Return the score of each field for a node."""
        separation, truth = (
            self.compute_separation(node, [node]),
            self.compute_separation(node, self.list_large_children(node)),
        )
        score: Floats = SCORE_WEIGHT * (separation + truth) + CLOSENESS_WEIGHT * self.cosines[node]
        return score

    def choose(self, node: int, scores: Floats) -> list[int]:
        """Return the fields that may name a node, the best first; ``scores`` has the scores of all nodes."""
        min_score = 0.0
        if self.tree.is_leaf(node):
            if self.documents[node] < MIN_LEAF_SIZE:
                return []
            min_score = MIN_LEAF_SCORE
        rows = np.flatnonzero(self._is_shown(node, scores))
        if not len(rows):
            return []
        ranked = rows[np.argsort(-scores[node, rows], kind="stable")][:CANDIDATES]
        min_score = max(min_score, NEARLY_BEST * float(scores[node].max()))
        return [row for row in ranked.tolist() if scores[node, row] >= min_score]

    def find_broader(self, node: int, allowed: Sequence[Sequence[int]], parents: Sequence[int]) -> list[int]:
        """Return the narrowest field above the best fields of all large children, if it fits the heading."""
        large = self.list_large_children(node)
        if len(large) < 2 or not all(allowed[child] for child in large):
            return []
        broader = [_list_ancestors(allowed[child][0], parents) for child in large]
        shared = [row for row in broader[0] if all(row in rows for rows in broader[1:])]
        if not shared:
            return []
        row = shared[0]
        fits = (
            self.compute_separation(node, [node])[row] >= MIN_BROAD_SEPARATION
            and self.cosines[node, row] >= MIN_CLOSENESS
        )
        return [row] if fits and self.compute_separation(node, large)[row] > MIN_BROAD_TRUTH else []

    def _is_shown(self, node: int, scores: Floats) -> Bools:
        """Return for each field whether the evidence suffices to show it at a node."""
        large = self.list_large_children(node)
        lift = self.cover[large].min(axis=0) / np.maximum(self.mean_outside(self.cover, node), 1e-3)
        fit = scores[large] >= MIN_FIT * scores[large].max(axis=1, keepdims=True)
        is_shown: Bools = (
            (self.compute_separation(node, [node]) >= MIN_SEPARATION)
            & (self.compute_separation(node, large) >= MIN_TRUTH)
            & (self.cosines[node] >= MIN_CLOSENESS)
            & (self.cover[node] >= MIN_COVER)
            & (lift >= MIN_LIFT)
            & fit.all(axis=0)
        )
        return is_shown


def _list_ancestors(row: int, parents: Sequence[int]) -> list[int]:
    """Return a field and all broader ones, the narrowest first."""
    rows = [row]
    while parents[rows[-1]] >= 0:
        rows.append(parents[rows[-1]])
    return rows


def _count_documents(counts: Csr, n_words: int) -> Ints:
    documents = np.zeros(n_words, np.int64)
    for _, block in iterate_rows(counts, BLOCK):
        documents += np.bincount(block.indices, minlength=n_words)
    return documents


def find_near_words(counts: Csr, vocabulary: Sequence[str], fields: FieldList) -> dict[str, list[int]]:
    """Return the columns of the words near each field, by the field's name in small letters."""
    word_vectors = load_word_vectors()
    columns, rows = word_vectors.select(vocabulary)
    if not len(columns):
        return {}
    documents = _count_documents(counts, len(vocabulary))[columns]
    near = _find_near_words(word_vectors.vectors_of(rows), documents, counts.shape[0], fields.vectors).tocsc()
    return {
        name.casefold(): columns[near.indices[slice(*near.indptr[row : row + 2])]].tolist()
        for row, name in enumerate(fields.names)
    }


def _find_near_words(of_words: Floats, documents: Array, n_docs: int, of_fields: Floats) -> Csr:
    """Return the nearest words of each field as ones, in a matrix of words × fields."""
    cosines = of_words @ of_fields.T
    cosines[(documents > MAX_SHARE * n_docs) | (documents < MIN_DOCUMENTS)] = -1.0
    number = min(NEAR_WORDS, len(cosines))
    rows = np.argpartition(-cosines, number - 1, axis=0)[:number]
    columns = np.broadcast_to(np.arange(cosines.shape[1]), rows.shape)
    is_near = cosines[rows, columns] >= MIN_COSINE
    return csr_array((np.ones(is_near.sum()), (rows[is_near], columns[is_near])), shape=cosines.shape)
