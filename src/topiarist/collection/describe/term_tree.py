"""Tree of terms by their contexts: terms with the same words around them share a leaf (Gaussier et al., section 3).

A term is a row of counts of the words around it. Each row has a share of several leaves, so that a term with two
senses lies in two of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from topiarist.arrays import Csr, Floats, Ints
from topiarist.errors import InputError, MissingError
from topiarist.text.spelling import format_proposals
from topiarist.trees.tree import Tree
from topiarist.trees.tree_text import DOT

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

WINDOW = 10  # words on each side of a term
MAX_DOCUMENTS, MAX_TERMS = 20_000, 5_000  # documents that are read, evenly spread, and the most frequent terms
MIN_DOCUMENTS, MAX_SHARE = 25, 0.1  # documents with a term of a large collection, and their share of all
MAX_TIMES = 50.0  # times that a word counts around a term, so that fixed phrases do not decide
TERMS_PER_LEAF, MAX_LEAVES = 100, 40  # terms for each leaf, and leaves by default
MIN_SENSE = 0.1  # share of a term in a leaf that is a sense of the term
NAME_TERMS = 4  # terms in the name of a leaf
BLOCK = 100  # documents that are read together
MAX_PAIRS = 5_000_000  # pairs of terms in memory before they are counted, 16 bytes each


@dataclass(frozen=True, eq=False)
class TermTree:
    """Tree of terms; ``shares`` has P(leaf|term), terms × leaves in the order of ``tree.leaves``."""

    tree: Tree  # named by the strongest terms
    terms: tuple[str, ...]
    documents: Ints  # documents with each term
    shares: Floats

    def find_senses(self, term: str) -> tuple[tuple[int, float], ...]:
        """Return the leaves of a term with its share in each, the largest share first."""
        if term not in self.terms:
            raise MissingError(
                f"{term!r} is no frequent term", hint=format_proposals(term, list(self.terms)), kind="word"
            )
        return self._senses(self.terms.index(term))

    def _senses(self, row: int) -> tuple[tuple[int, float], ...]:
        order = np.argsort(-self.shares[row], kind="stable")
        leaves = [(self.tree.leaves[place], float(self.shares[row, place])) for place in order.tolist()]
        return tuple(leaf for number, leaf in enumerate(leaves) if not number or leaf[1] >= MIN_SENSE)

    def list_terms(self, leaf: int, n: int) -> tuple[str, ...]:
        """Return the strongest terms of a leaf."""
        scores = self.shares[:, self.tree.leaves.index(leaf)] * np.log1p(self.documents)
        return tuple(self.terms[row] for row in np.argsort(-scores, kind="stable")[:n].tolist())

    def list_ambiguous(self, n: int) -> tuple[str, ...]:
        """Return terms with senses in different branches of the tree, the most frequent and most even ones first."""
        scores = np.zeros(len(self.terms))
        for row in np.flatnonzero(np.sort(self.shares, axis=1)[:, -2:-1].ravel() >= MIN_SENSE).tolist():
            first, *others = self._senses(row)
            branch = self.tree.path(first[0])[1:2]
            share = max((share for leaf, share in others if self.tree.path(leaf)[1:2] != branch), default=0.0)
            scores[row] = share * np.log1p(self.documents[row])
        return tuple(self.terms[row] for row in np.argsort(-scores, kind="stable")[:n].tolist() if scores[row] > 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree, and the leaves of each term with their shares, as plain JSON data."""
        terms = [
            {
                "term": term,
                "documents": int(self.documents[row]),
                "senses": [{"leaf": leaf, "share": round(share, 4)} for leaf, share in self._senses(row)],
            }
            for row, term in enumerate(self.terms)
        ]
        return {"tree": self.tree.to_dict(), "terms": terms}


def grow_term_tree(
    collection: Collection, n_leaves: int | None = None, *, seed: int = 0, n_threads: int | None = None
) -> TermTree:
    """Grow a tree of the frequent terms of a collection by the words around them."""
    from topiarist.estimators.tree.hplsa import HPLSA

    columns, documents = _select_terms(collection)
    contexts = count_contexts(collection, columns)
    has_context = np.diff(contexts.indptr) > 0
    columns, documents, contexts = columns[has_context], documents[has_context], contexts[has_context]
    if len(columns) < 2 * (n_leaves or 1):
        fewer = n_leaves is not None and len(columns) >= 4
        hint = f"Use at most {len(columns) // 2:,} groups." if fewer else "Use a larger collection."
        raise InputError(f"{len(columns):,} terms are too few for a tree", hint=hint)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_classes=", UserWarning)  # fewer leaves keep terms
        model = HPLSA(
            n_leaves or min(MAX_LEAVES, max(2, len(columns) // TERMS_PER_LEAF)), random_state=seed, n_threads=n_threads
        ).fit(contexts)
    words = collection.counting.vocabulary.words
    shares = np.asarray(model.class_given_doc_, np.float64)
    terms = TermTree(model.tree_, tuple(words[column] for column in columns.tolist()), documents, shares)
    return TermTree(_name_nodes(terms), terms.terms, documents, shares)


def _select_terms(collection: Collection) -> tuple[Ints, Ints]:
    """Return the columns of frequent terms, and the documents of each."""
    n_docs = len(collection)
    documents = np.bincount(collection.counts.indices, minlength=collection.counts.shape[1])
    fewest = max(3, min(MIN_DOCUMENTS, n_docs // 400))
    columns = np.flatnonzero((documents >= fewest) & (documents <= max(fewest, MAX_SHARE * n_docs)))
    columns = np.sort(columns[np.argsort(-documents[columns], kind="stable")[:MAX_TERMS]])
    return columns, documents[columns]


def count_contexts(collection: Collection, columns: Ints) -> Csr:
    """Return how often each term has each other term within ``WINDOW`` words, (terms, terms)."""
    counting, n_terms = collection.counting, len(columns)
    tokenizer, vocabulary = counting.settings.tokenizer, counting.vocabulary
    place = {column: number for number, column in enumerate(columns.tolist())}
    numbers = {form: place.get(counting.column(column), -1) for form, column in vocabulary.columns.items()}
    contexts: Any = csr_array((n_terms, n_terms), dtype=np.float32)
    firsts, seconds, n_pairs = list[Ints](), list[Ints](), 0
    rows = range(0, len(collection), -(-len(collection) // MAX_DOCUMENTS))
    for start in range(0, len(rows), BLOCK):
        for document in collection.documents.load_many(rows[start : start + BLOCK]):
            terms = np.array([numbers.get(word, -1) for word in tokenizer(counting.text_of(document))], np.int64)
            for distance in range(1, WINDOW + 1):
                first, second = terms[:-distance], terms[distance:]
                is_pair = (first >= 0) & (second >= 0) & (first != second)
                firsts.append(first[is_pair])
                seconds.append(second[is_pair])
                n_pairs += len(firsts[-1])
            if n_pairs > MAX_PAIRS:
                contexts = _add_pairs(contexts, firsts, seconds)
                firsts, seconds, n_pairs = [], [], 0
    if firsts:
        contexts = _add_pairs(contexts, firsts, seconds)
    both: Csr = csr_array(contexts + contexts.T)
    both.data = np.minimum(both.data, MAX_TIMES)
    return both


def _add_pairs(contexts: Any, firsts: Sequence[Ints], seconds: Sequence[Ints]) -> Any:
    """Return counts of pairs of terms, with more pairs."""
    pairs = np.concatenate(firsts), np.concatenate(seconds)
    return csr_array(contexts + coo_array((np.ones(len(pairs[0]), np.float32), pairs), shape=contexts.shape).tocsr())


def _name_nodes(terms: TermTree) -> Tree:
    """Return the tree with names: leaves by their strongest terms, other nodes by terms of several of their leaves."""
    tree, frequency = terms.tree, np.log1p(terms.documents)
    names = list(tree.names)
    for node in range(len(tree)):
        places = [tree.leaves.index(leaf) for leaf in tree.leaves_under(node)]
        under = terms.shares[:, places]
        scores = frequency * (under[:, 0] if len(places) == 1 else under.sum(axis=1) - under.max(axis=1))
        best = np.argsort(-scores, kind="stable")[: NAME_TERMS if tree.is_leaf(node) else 2]
        names[node] = DOT.join(terms.terms[row] for row in best.tolist())
    return Tree(tree.parents, tuple(f"{name} ({number})" if names.count(name) > 1 else name
                                    for number, name in enumerate(names)))  # fmt: skip
