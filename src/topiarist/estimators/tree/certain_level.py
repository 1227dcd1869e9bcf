"""Filing documents in a tree at the deepest level that is still certain. One telling for all estimators with a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sklearn.utils.validation import check_is_fitted

from topiarist.arrays import Array, Floats
from topiarist.estimators.common import options
from topiarist.estimators.common.stored_counts import Documents
from topiarist.hierarchy import levels
from topiarist.hierarchy.tree import Tree


class FilesDocuments:
    """For an estimator with ``tree_``, and ``predict_proba`` or ``transform`` that tells P(class | document).

    Class *c* sits at node ``class_nodes_[c]``; without that attribute classes are the leaves in their order.
    """

    tree_: Tree
    predict_proba: Callable[..., Floats]
    transform: Callable[..., Floats]

    def node_posterior(self, X: Documents) -> Array:
        """P(node | document), (documents, nodes): the classes at a node and below it together; one at the root."""
        check_is_fitted(self)
        told = self.predict_proba(X) if hasattr(self, "predict_proba") else self.transform(X)
        return levels.node_posterior(self.tree_, _class_nodes(self), told)

    def predict_path(self, X: Documents, rho: float = 0.9) -> Array:
        """The deepest node whose posterior exceeds ``rho``, for each document: a number in ``tree_``.

        ``paths`` gives their names from the root down. A document that is certain of nothing is filed at the root.
        """
        options.check_number("rho", rho, 0.0, 1.0, hint="0.9")
        return levels.deepest_certain(self.tree_, self.node_posterior(X), rho)

    def paths(self, nodes: Sequence[int]) -> list[tuple[str, ...]]:
        """The names from the root down to each node; the first is empty where the root has no name."""
        check_is_fitted(self)
        return [self.tree_.path_names(int(node)) for node in nodes]


def _class_nodes(estimator: FilesDocuments) -> tuple[int, ...]:
    nodes: tuple[int, ...] = getattr(estimator, "class_nodes_", estimator.tree_.leaves)
    return nodes
