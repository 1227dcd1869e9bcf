"""Mixins of tree estimators that read documents: posteriors, assignment to nodes and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from topiarist.arrays import Array, Csr, Floats, Matrix
from topiarist.counts.column_map import without_columns
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.chosen_words import find_ignored_columns
from topiarist.estimators.tree.fitted_tree import compute_posterior
from topiarist.execution.executors import Executor
from topiarist.metrics.topic_quality import completion_perplexity, keep_known_words
from topiarist.trees import levels
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel


@options.describe_arguments()
class FilesDocuments:
    """Mixin that assigns documents to nodes, for estimators with ``tree_`` and P(class | document).

    Estimators whose parameters have other names redefine ``tree_model_``.
    """

    tree_: Tree
    class_nodes_: tuple[int, ...]
    word_given_topic_: Floats
    topic_given_class_: Floats
    class_prior_: Floats
    _shares = False  # True: each token of a document has a class

    @property
    def tree_model_(self) -> TreeModel:
        """Tree with its parameters, under the names that all tree models share."""
        return TreeModel(
            self.tree_,
            tuple(self.class_nodes_),
            self.word_given_topic_,
            self.topic_given_class_,
            self.class_prior_,
            mixes_classes=self._shares,
        )

    def node_posterior(self, X: Documents) -> Array:
        """Return P(node | document), the sum over the classes at a node and below it.

        Returns
        -------
        array (n_documents, n_nodes)
            Posteriors; 1 at the root.
        """
        check_is_fitted(self)
        return levels.node_posterior(self.tree_, self.tree_model_.class_nodes, compute_posterior(self, X))

    def predict_path(self, X: Documents, rho: float = 0.9) -> Array:
        """Return the deepest node with a posterior above ``rho`` for each document.

        Returns
        -------
        array (n_documents,)
            Nodes of ``tree_``; the root for a document without such a node. ``paths`` returns their names.
        """
        options.check_number("rho", rho, 0.0, 1.0, hint="Use 0.9.")
        return levels.deepest_certain(self.tree_, self.node_posterior(X), rho)

    def paths(self, nodes: Sequence[int]) -> list[tuple[str, ...]]:
        """Return the names from the root to each node.

        Parameters
        ----------
        nodes : sequence of int
            Nodes of ``tree_``.

        Returns
        -------
        list of tuple of str
            Names of each path. The first name is empty if the root has no name.
        """
        check_is_fitted(self)
        return [self.tree_.path_names(int(node)) for node in nodes]


@options.describe_arguments()
class FoldsDocumentsIn(ReadsCounts, TransformerMixin):  # type: ignore[misc]  # it wraps ``transform`` only where that is defined
    """Mixin for estimators whose ``_reader(engine)`` computes P(component | document)."""

    components_: Floats
    device: str
    n_threads: int | None
    executor: Executor | None
    _counts: Any
    _reader: Any

    def transform(self, X: Documents) -> Floats:
        """Return P(component | document); documents do not influence each other.

        Returns
        -------
        array (n_documents, n_components)
            Posteriors; rows sum to one. The array of very many documents is a temporary file.
        """
        check_is_fitted(self)
        return stored_counts.read(self, X).rows()

    def score(self, X: Matrix, y: object = None) -> float:
        """Return the mean log-likelihood per token of documents that are folded in.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_words)
            Counts. Words unknown to the model are ignored.

        Returns
        -------
        float
            Log-likelihood per token.
        """
        check_is_fitted(self)
        counts = keep_known_words(self.components_, self._counts(X, reset=False, purpose="score"))
        with options.open_engine(self) as engine:
            reader = self._reader(engine)
            total = reader.log_likelihood(counts, reader(counts))
        return float(total) / max(float(counts.data.sum(dtype=np.float64)), 1.0)

    def perplexity(self, X: Matrix) -> float:
        """Return the perplexity by document completion.

        Half of the tokens of each document are folded in, and the other half is scored.

        Returns
        -------
        float
            Perplexity of the scored tokens.
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False, purpose="perplexity")
        with options.open_engine(self) as engine:
            return completion_perplexity(self.components_, self._reader(engine), counts)


@options.describe_arguments()
class PlacesDocuments(FoldsDocumentsIn, FilesDocuments):
    """Mixin of the tree estimators that read documents by folding in."""

    def fit_transform(self, X: Documents, y: object = None) -> Any:
        """Fit, and return P(class | document) of the training documents."""
        return self.fit(X).transform(X)

    def fit_predict(self, X: Documents, y: object = None) -> Any:
        """Fit, and return the most probable class of each document."""
        return self.fit(X).labels_

    def predict(self, X: Documents) -> Any:
        """Return the most probable class of each document."""
        check_is_fitted(self)
        return stored_counts.read(self, X).labels()

    @property
    def components_(self) -> Floats:  # type: ignore[override]
        """P(word | class), (n_classes, n_words)."""
        return self.tree_model_.word_given_class()

    def _read_documents(self, X: Documents, purpose: str) -> tuple[Csr, Floats]:
        check_is_fitted(self)
        counts = self._counts(X, reset=False, purpose=purpose)
        with options.open_engine(self) as engine:
            return counts, self._reader(engine)(counts)

    def _counts(self, X: Documents, *, reset: bool, purpose: str = "this method") -> Csr:
        """Return checked counts without ignored words; with ``reset``, for a new fit."""
        counts = stored_counts.check_counts_in_memory(self, X, purpose, reset=reset)
        counts = without_columns(counts, find_ignored_columns(self))
        if reset:
            preparation.check_filled(self, int(np.count_nonzero(np.diff(counts.indptr))), counts.shape[0])
        return counts
