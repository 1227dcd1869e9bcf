"""Hierarchy of a Gaussian mixture: merges of similar components, and assignment of examples to its levels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import TINY, ArrayLike, Bools, Csr, Doubles, Ints, Matrix, Seed
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options
from topiarist.estimators.common.base import CompactEstimator
from topiarist.estimators.flat.lsi import LSI
from topiarist.estimators.gaussian.ggm import GGM, normalise_joint
from topiarist.models.gaussian import overlaps
from topiarist.trees.picture import INK, TRUNK, require_matplotlib
from topiarist.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from topiarist.counts.validation import check_counts, sum_columns
from topiarist.trees.words import select_node_words

MIN_CLASS_SHARE = 1e-3  # a component with less than this share of a class is left out of its hierarchy


class Place(NamedTuple):
    """Node of the tree and level of each example; level 1 are the components."""

    cluster: Any
    level: Any


class Assignment(Place):
    """Nodes and levels of examples, ``cluster, level = assignment``; ``probability`` is the posterior of each node."""

    probability: Doubles

    def __new__(cls, cluster: Ints, level: Ints, probability: Doubles) -> Assignment:
        assignment = super().__new__(cls, cluster, level)
        assignment.probability = probability
        return assignment


@options.estimator(random_state=options.describe_seed("those points"), X=options.POINTS)
class MixtureHierarchy(CompactEstimator):
    """Hierarchy of the components of a mixture, merged in pairs from the closest pair up to one cluster.

    Parameters
    ----------
    measure : "modified_l2", "l2", "confusion" or "kl", default "modified_l2"
        Dissimilarity of clusters: squared difference of densities with or without their weights, probability of
        confusing them, or divergence of Gaussians with the same moments. "l2" is of the paper, not recommended.
    of_class : label or None, default None
        Build the hierarchy of p(x | class) instead of p(x).
    n_samples : int, default 20000
        Number of points sampled from the mixture to estimate confusion.

    Attributes
    ----------
    linkage_ : array (n_components − 1, 4)
        Merges in the format of SciPy. The value of a merge can be lower than that of the merges before it. It is
        ∫(difference)² for "l2" and "modified_l2", one minus the probability of confusion, or a divergence in nats.
    tree_ : Tree
        Merges as a tree: node i is cluster i of the linkage, and the leaves are the components.
    components_ : array
        Component of the mixture for each leaf. ``of_class`` can leave some components out.
    weight_ : array
        P(leaf), or P(leaf | class).
    ggm_ : GGM
        Copy of the mixture, so that a later fit of the original does not change the hierarchy.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import GGM, MixtureHierarchy
    >>> points = np.random.default_rng(0).normal(size=(100, 3))
    >>> len(MixtureHierarchy().fit(GGM(3, random_state=0).fit(points)).tree_.leaves)
    3
    """

    measure: str = "modified_l2"
    _: KW_ONLY
    of_class: object | None = None
    n_samples: int = 20_000
    random_state: Seed = None

    def fit(self, ggm: GGM, y: ArrayLike | None = None) -> MixtureHierarchy:
        """Merge the components of a fitted mixture.

        Parameters
        ----------
        ggm : GGM
            Fitted mixture.

        Raises
        ------
        UsageError
            If ``ggm`` is not fitted, or does not know ``of_class``.
        """
        options.check_one_of("measure", self.measure, overlaps.MEASURES)
        options.check_common(self)
        options.check_integer("n_samples", self.n_samples, 100, hint="Use 20000.")
        if not hasattr(ggm, "component_covariance_"):
            raise UsageError(
                f"expected a fitted GGM, got {ggm!r:.60}", hint="Call MixtureHierarchy().fit(GGM().fit(X))."
            )
        self.ggm_ = copy(ggm)
        weight = self._get_component_weights(ggm)
        min_weight = 0.0 if self.of_class is None else min(MIN_CLASS_SHARE, float(weight.max()))
        self.components_ = np.flatnonzero(weight >= min_weight)
        kept_weight = weight[self.components_]
        self.weight_ = kept_weight / kept_weight.sum()
        mixture = overlaps.Mixture(
            self.weight_, ggm.component_mean_[self.components_], ggm.component_covariance_[self.components_]
        )
        with threadpool_limits(limits=1, user_api="blas"):
            self.linkage_ = self._merge(mixture)
        self.tree_ = Tree.from_linkage(self.linkage_, [str(component) for component in self.components_])
        self.node_members_ = overlaps.node_members(self.linkage_)
        return self

    def _get_component_weights(self, ggm: GGM) -> Doubles:
        """Return the weight of each component, overall or in ``of_class``."""
        if self.of_class is None:
            return np.asarray(ggm.component_prior_)
        place = np.flatnonzero(ggm.classes_ == self.of_class)
        if not len(place) or ggm.unlabelled_:
            class_names = "no classes" if ggm.unlabelled_ else ", ".join(map(repr, ggm.classes_.tolist()))
            raise UsageError(
                f"expected of_class to be one of {class_names}, got {self.of_class!r}",
                hint="Use None for the whole mixture.",
            )
        joint: Doubles = ggm.component_prior_ * ggm.class_given_component_[:, place[0]]
        return np.asarray(joint / joint.sum())

    def _merge(self, mixture: overlaps.Mixture) -> Doubles:
        """Merge the two most similar components until one is left; return the linkage."""
        dissimilarity: overlaps.Measure
        if self.measure == "confusion":
            points = self._sample_points(mixture, options.make_generator(self.random_state))
            dissimilarity = overlaps.Confusion(self._compute_posterior_of(points), mixture)
        elif self.measure == "kl":
            dissimilarity = overlaps.Divergence(mixture)
        else:
            dissimilarity = overlaps.l2(mixture) if self.measure == "l2" else overlaps.modified_l2(mixture)
        return overlaps.merge_components(len(mixture.weight), dissimilarity)

    def _sample_points(self, mixture: overlaps.Mixture, rng: np.random.Generator) -> Doubles:
        """Draw ``n_samples`` random points from the mixture."""
        components = rng.choice(len(mixture.weight), self.n_samples, p=mixture.weight)
        noise = rng.standard_normal((self.n_samples, mixture.mean.shape[1]))
        for component, covariance in enumerate(mixture.covariance):
            is_member = components == component
            noise[is_member] = mixture.mean[component] + noise[is_member] @ np.linalg.cholesky(covariance).T
        return noise

    def _compute_posterior(self, X: Matrix) -> Doubles:
        """Return P(leaf | example), within the class if ``of_class`` is given."""
        return self._compute_posterior_of(self.ggm_._check_points(X))

    def _compute_posterior_of(self, points: Doubles) -> Doubles:
        joint = self.ggm_._compute_log_joint(points)[self.components_]
        prior = self.ggm_.component_prior_[self.components_]
        joint += (np.log(np.maximum(self.weight_, TINY)) - np.log(np.maximum(prior, TINY)))[:, None]
        return normalise_joint(joint)

    def node_given_example(self, X: Matrix) -> Doubles:
        """Return P(node | example) for every node of the tree, (n_examples, n_nodes)."""
        check_is_fitted(self)
        posterior: Doubles = self._compute_posterior(X) @ self.node_members_.T.astype(np.float64)
        return posterior

    def assign(self, X: Matrix, rho: float = 0.9) -> Assignment:
        """Assign each example to a node at the lowest level of sufficient certainty.

        Returns
        -------
        Assignment
            Nodes and levels, ``cluster, level = assignment``, with the attribute ``probability``.
        """
        check_is_fitted(self)
        options.check_number("rho", rho, 0.0, 1.0, hint="Use 0.9.")
        return Assignment(*overlaps.assign_levels(self._compute_posterior(X), self.linkage_, rho))

    def sample_clusters(self, X: Matrix, rho: float = 0.9) -> list[Any]:
        """Return the smallest set of components with a total posterior above ``rho``, for each example."""
        check_is_fitted(self)
        options.check_number("rho", rho, 0.0, 1.0, hint="Use 0.9.")
        leaf_sets = overlaps.select_components(self._compute_posterior(X), rho)
        return [self.components_[leaves] for leaves in leaf_sets]

    def clusters_at(self, level: int) -> list[int]:
        """Return the nodes of a level; level 1 are the components, and each level above has one node fewer."""
        check_is_fitted(self)
        n_components = len(self.components_)
        options.check_integer("level", level, 1, hint="Use 1.")
        if level > n_components:
            raise InputError(
                f"expected a level of at most {n_components}, got {level}", hint="Use 1 for the components."
            )
        nodes = set(range(n_components))
        for step, (first, second) in enumerate(self.linkage_[: level - 1, :2].astype(int).tolist()):
            nodes = (nodes - {first, second}) | {n_components + step}
        return sorted(nodes)

    def prototypes(self, X: Matrix, n: int = 5) -> list[Any]:
        """Return the rows of the most typical examples of each node, in proportion to the components.

        Parameters
        ----------
        n : int, default 5
            Maximum number of examples for a node.

        Returns
        -------
        list of array
            Rows of ``X`` for each node, most typical first.
        """
        check_is_fitted(self)
        options.check_integer("n", n, 1, hint="Use 5.")
        joint = self.ggm_._compute_log_joint(self.ggm_._check_points(X))[self.components_]
        return prototypes(joint, self.weight_, self.node_members_, n)

    def keywords(
        self,
        words: Sequence[str],
        *,
        lsi: LSI | None = None,
        X: Matrix | None = None,
        counts: Csr | None = None,
        n: int = 8,
        plain: bool = False,
    ) -> list[list[str]]:
        """Return up to ``n`` words for each node.

        Parameters
        ----------
        words : sequence of str
            Names of the columns.
        lsi : LSI or None
            Fitted space of the features, through which the means of nodes are turned into words.
        X, counts : array, sparse matrix
            Examples and their word counts, for features that do not come from LSI, such as embeddings.
        n : int, default 8
            Maximum number of words for a node.
        plain : bool, default False
            Return the words of largest weight, as in the paper. Otherwise a word is not repeated below its node.

        Returns
        -------
        list of list of str
            Words of each node, most characteristic first.

        Raises
        ------
        UsageError
            Without ``lsi`` and without ``X`` and ``counts``.
        """
        check_is_fitted(self)
        options.check_integer("n", n, 1, hint="Use 8.")
        weight = count = None
        if lsi is not None and (X is None or counts is None):
            means, space = self.ggm_.component_mean_[self.components_], getattr(self.ggm_, "space_", None)
            means = means if space is None else space.outside(means)
            rows = project_means(lsi, means, self.weight_, self.node_members_)
        elif lsi is None and X is not None and counts is not None:
            rows, weight, count = count_words(self.node_given_example(X), counts)
        else:
            raise UsageError("keywords need either lsi, or X and counts", hint="Call keywords(words, lsi=lsi).")
        return select_words(self.tree_, rows, words, n, plain=plain, node_weight=weight, count=count)

    def dendrogram(self, ax: Axes | None = None, words: Sequence[Sequence[str]] | None = None) -> Axes:
        """Draw the merges level by level, one row for each component, with words at the branches.

        Parameters
        ----------
        ax : matplotlib axes or None
            Axes to draw on. None: a new figure.
        words : sequence of sequence of str or None
            Words of each node.

        Returns
        -------
        matplotlib axes
            The axes with the picture.
        """
        check_is_fitted(self)
        tree, n_leaves = self.tree_, len(self.components_)
        if words is not None and len(words) != len(tree):
            raise InputError(f"expected words for each of {len(tree)} nodes, got {len(words)}")
        is_new = ax is None
        require_matplotlib()
        if ax is None:
            from matplotlib import pyplot

            width = 3.5 + max(5.0, 0.8 * n_leaves) * (words is not None) + 2.0
            ax = pyplot.figure(figsize=(width, 1.0 + 0.5 * n_leaves), layout="constrained").add_subplot()
        height = {leaf: float(row) for row, leaf in enumerate(tree.leaves)}
        level = dict.fromkeys(tree.leaves, 1)
        node_text = [" ".join(leaf_words[:4]) for leaf_words in words] if words is not None else [""] * len(tree)
        for step, (first, second) in enumerate(self.linkage_[:, :2].astype(int).tolist()):
            node = n_leaves + step
            height[node], level[node] = (height[first] + height[second]) / 2, step + 2
            ax.plot([level[node]] * 2, [height[first], height[second]], color=TRUNK, linewidth=1.4)
            for child in (first, second):
                ax.plot([level[child], level[node]], [height[child]] * 2, color=TRUNK, linewidth=1.4)
            if node_text[node]:
                ax.annotate(
                    node_text[node].replace(" ", "\n"), (level[node], height[node]), fontsize=7, color=INK, ha="center",
                    va="center", linespacing=1.1, zorder=5, annotation_clip=True,
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.9},
                )  # fmt: skip
        places = [height[leaf] for leaf in range(n_leaves)]
        leaf_rows = zip(self.components_, self.weight_, node_text[:n_leaves], strict=True)
        ax.set_yticks(
            places,
            [f"{component}  ({weight:.0%})  {leaf_words}".rstrip() for component, weight, leaf_words in leaf_rows],
        )
        ax.tick_params(axis="y", length=0, labelsize=8, labelcolor=INK)
        ax.set_xlim(0.95, n_leaves + 0.6)
        ax.set_ylim(n_leaves - 0.5, -0.5)
        ax.set_xticks(range(1, n_leaves + 1))
        ax.set_xlabel("level")
        ax.spines[["top", "right", "left"]].set_visible(False)
        figure: Any = ax.figure
        if not is_new and figure.get_layout_engine() is None:
            figure.set_layout_engine("constrained")  # room for the words beside other pictures
        return ax


MIN_WORD_WEIGHT = 1e-9  # a word with no weight at a node


def prototypes(joint: Doubles, weight: Doubles, members: Bools, n: int) -> list[Any]:
    """Return the most typical examples of each node, with the highest p(x|k), in proportion to the component weights.

    ``joint`` is log P(k)p(x|k), (components, examples), which ranks examples of one component as p(x|k) does.
    """
    ranked = np.argsort(-joint, axis=1, kind="stable")
    rows_by_node = []
    for mask in members:
        components = np.flatnonzero(mask)
        shares = weight[components] / weight[components].sum()
        numbers = _allocate(shares, min(n, joint.shape[1]))
        rows: list[int] = []
        for component, number in zip(components, numbers, strict=True):
            new_rows = [row for row in ranked[component].tolist() if row not in rows]
            rows += new_rows[:number]
        best = joint[components].max(axis=0)
        rows_by_node.append(np.array(sorted(rows, key=lambda row: (-best[row], row)), dtype=np.int64))
    return rows_by_node


def _allocate(shares: Doubles, n: int) -> list[int]:
    """Return whole numbers in proportion to shares that add up to n, by the largest remainders."""
    exact = shares * n
    floors = np.floor(exact).astype(np.int64)
    largest = np.argsort(-(exact - floors), kind="stable")[: n - int(floors.sum())]
    floors[largest] += 1
    numbers: list[int] = floors.tolist()
    return numbers


def project_means(lsi: LSI, means: Doubles, weight: Doubles, members: Bools) -> Doubles:
    """Return the weight of every word at each node, from the mean of the node projected back through the space."""
    if lsi.n_dimensions_ != means.shape[1]:
        raise InputError(
            f"expected an LSI of {means.shape[1]} dimensions, as the mixture has, got {lsi.n_dimensions_}",
            hint="Pass the LSI that made the features.",
        )
    shares = members * weight
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(lsi.words_of(shares @ means), 0.0))


def count_words(node_given_example: Doubles, counts: Csr) -> tuple[Doubles, Doubles, Doubles]:
    """Return word counts of each node's examples weighted by posterior, node weights and column totals."""
    matrix = check_counts(counts)
    if matrix.shape[0] != len(node_given_example):
        raise InputError(f"expected counts of {len(node_given_example)} examples, got {matrix.shape[0]}")
    rows: Doubles = np.asarray(matrix.T @ node_given_example, np.float64).T
    return rows, rows.sum(axis=1), sum_columns(matrix)


def select_words(
    tree: Tree,
    rows: Doubles,
    words: Sequence[str],
    n: int,
    *,
    plain: bool,
    node_weight: Doubles | None = None,
    count: Doubles | None = None,
) -> list[list[str]]:
    """Return ``n`` words of each node: typical ones, or with ``plain`` the largest."""
    if len(words) != rows.shape[1]:
        raise InputError(f"expected {rows.shape[1]} words, one for each column, got {len(words)}")
    if plain:
        order = np.argsort(-rows, axis=1, kind="stable")[:, :n]
        return [[words[word] for word in row if rows[node, word] > 0] for node, row in enumerate(order)]
    rows = rows + MIN_WORD_WEIGHT
    shares = rows / rows.sum(axis=1, keepdims=True)
    word_numbers = select_node_words(tree, shares, n, node_weight=node_weight, count=count, words=words)
    return [[words[word] for word in node] for node in word_numbers]
