"""The hierarchy of a Gaussian mixture: which components belong together, and how far down an example is certain."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import ArrayLike, Bools, Csr, Doubles, Ints, Matrix, Seed
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.flat.lsi import LSI
from topiarist.estimators.gaussian import ggm
from topiarist.estimators.gaussian.ggm import GGM
from topiarist.hierarchy.tree import Tree
from topiarist.models.gaussian import overlaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from topiarist.counts.validation import check_counts, column_totals
from topiarist.hierarchy.words import node_words

TINY = 1e-300  # in the place of log 0
NEGLIGIBLE = 1e-3  # a component with less than this share of a class is left out of its hierarchy


class Place(NamedTuple):
    """A node of the tree for each example, and its level: 1 are the components."""

    cluster: Any
    level: Any


class Assignment(Place):
    """Where examples belong, ``cluster, level = assignment``; ``probability`` tells how probable each node is."""

    probability: Doubles

    def __new__(cls, cluster: Ints, level: Ints, probability: Doubles) -> Assignment:
        """Two to unpack, one beside."""
        made = super().__new__(cls, cluster, level)
        made.probability = probability
        return made


@options.common_options(random_state=options.seed_of("those points"))
class MixtureHierarchy(ShownEstimator):
    """Components of a mixture merged two by two, the closest first, up to one cluster of all.

    Parameters
    ----------
    measure : "modified_l2", "l2", "confusion" or "kl", default "modified_l2"
        What is close: the squared difference of densities with or without their weights, the probability to be mistaken
        for each other, or the divergence of Gaussians with the same moments.
    of_class : label or None, default None
        The hierarchy of p(x | class) in the place of p(x).
    n_samples : int, default 20000
        Points drawn from the mixture to estimate confusion.

    Attributes
    ----------
    linkage_ : array (n_components − 1, 4)
        The merges, as SciPy writes them; the value is that of the measure, and need not rise: ∫(difference)² for the
        two of L2 (in units of the largest of them where numbers would not hold it), one minus the probability of
        confusion, or nats of divergence. Merges are chosen by logarithms, so equal values are not ties.
    tree_ : Tree
        The same as a tree: node i is cluster i of the linkage, the leaves are the components.
    components_ : array
        The component of the mixture that each leaf is; all of them unless ``of_class`` leaves some out.
    weight_ : array
        P(leaf), or P(leaf | class).
    ggm_ : GGM
        A copy of the mixture: what is fitted anew later does not change the hierarchy.
    """

    def __init__(
        self,
        measure: str = "modified_l2",
        *,
        of_class: object | None = None,
        n_samples: int = 20_000,
        random_state: Seed = None,
    ) -> None:
        self.measure = measure
        self.of_class = of_class
        self.n_samples = n_samples
        self.random_state = random_state

    def fit(self, ggm: GGM, y: ArrayLike | None = None) -> MixtureHierarchy:
        """Merge the components of a fitted mixture; ``y`` is ignored."""
        options.check_one_of("measure", self.measure, overlaps.MEASURES)
        options.check_common(self)
        options.check_integer("n_samples", self.n_samples, 100, hint="20000")
        if not hasattr(ggm, "component_covariance_"):
            raise UsageError(f"expected a fitted GGM, got {ggm!r:.60}", hint="MixtureHierarchy().fit(GGM().fit(X))")
        self.ggm_ = copy(ggm)
        weight = self._weights(ggm)
        least = 0.0 if self.of_class is None else min(NEGLIGIBLE, float(weight.max()))
        self.components_ = np.flatnonzero(weight >= least)
        kept = weight[self.components_]
        self.weight_ = kept / kept.sum()
        mixture = overlaps.Mixture(
            self.weight_, ggm.component_mean_[self.components_], ggm.component_covariance_[self.components_]
        )
        with threadpool_limits(limits=1, user_api="blas"):
            self.linkage_ = self._merged(mixture)
        self.tree_ = Tree.from_linkage(self.linkage_, [str(component) for component in self.components_])
        self.node_members_ = overlaps.node_members(self.linkage_)
        return self

    def _weights(self, ggm: GGM) -> Doubles:
        if self.of_class is None:
            return np.asarray(ggm.component_prior_)
        place = np.flatnonzero(ggm.classes_ == self.of_class)
        if not len(place) or ggm.unlabelled_:
            known = "no classes" if ggm.unlabelled_ else ", ".join(map(repr, ggm.classes_.tolist()))
            raise UsageError(f"of_class={self.of_class!r}, but the mixture knows {known}", hint="None for all of it")
        joint: Doubles = ggm.component_prior_ * ggm.class_given_component_[:, place[0]]
        return np.asarray(joint / joint.sum())

    def _merged(self, mixture: overlaps.Mixture) -> Doubles:
        if self.measure == "confusion":
            points = self._drawn(mixture, options.generator(self.random_state))
            measure = overlaps.confusion(self._posterior_of(points), mixture)
        else:
            measures = {"l2": overlaps.l2, "modified_l2": overlaps.modified_l2, "kl": overlaps.kl}
            measure = measures[self.measure](mixture)
        return overlaps.merged(len(mixture.weight), measure)

    def _drawn(self, mixture: overlaps.Mixture, rng: np.random.Generator) -> Doubles:
        chosen = rng.choice(len(mixture.weight), self.n_samples, p=mixture.weight)
        noise = rng.standard_normal((self.n_samples, mixture.mean.shape[1]))
        for component, covariance in enumerate(mixture.covariance):
            mine = chosen == component
            noise[mine] = mixture.mean[component] + noise[mine] @ np.linalg.cholesky(covariance).T
        return noise

    def _posterior(self, X: Matrix) -> Doubles:
        """P(leaf | example), within the class where the hierarchy is that of a class."""
        return self._posterior_of(ggm.checked_points(self.ggm_, X, reset=False))

    def _posterior_of(self, points: Doubles) -> Doubles:
        with ggm.reading(self.ggm_) as threads:
            joint = ggm.log_joint(self.ggm_, points, threads)[self.components_]
        prior = self.ggm_.component_prior_[self.components_]
        joint += (np.log(np.maximum(self.weight_, TINY)) - np.log(np.maximum(prior, TINY)))[:, None]
        joint -= joint.max(axis=0)
        return ggm.normalised(np.exp(joint).T)

    def node_given_example(self, X: Matrix) -> Doubles:
        """P(node | example) of every node of the tree; a node's probability is the sum of its children's."""
        check_is_fitted(self)
        posterior: Doubles = self._posterior(X) @ self.node_members_.T.astype(np.float64)
        return posterior

    def assign(self, X: Matrix, rho: float = 0.9) -> Assignment:
        """The node of each example at the lowest level at which one is more probable than ``rho``, and that level."""
        check_is_fitted(self)
        options.check_number("rho", rho, 0.0, 1.0, hint="0.9")
        return Assignment(*overlaps.levels(self._posterior(X), self.linkage_, rho))

    def sample_clusters(self, X: Matrix, rho: float = 0.9) -> list[Any]:
        """The fewest components of the mixture that are together more probable than ``rho``, for each example."""
        check_is_fitted(self)
        options.check_number("rho", rho, 0.0, 1.0, hint="0.9")
        chosen = overlaps.sample_dependent(self._posterior(X), rho)
        return [self.components_[leaves] for leaves in chosen]

    def clusters_at(self, level: int) -> list[int]:
        """The nodes of a level: 1 are the components, each level above has one fewer."""
        check_is_fitted(self)
        n_components = len(self.components_)
        options.check_integer("level", level, 1, hint="1")
        if level > n_components:
            raise InputError(f"expected a level of at most {n_components}, got {level}", hint="1 are the components")
        nodes = set(range(n_components))
        for step, (one, other) in enumerate(self.linkage_[: level - 1, :2].astype(int).tolist()):
            nodes = (nodes - {one, other}) | {n_components + step}
        return sorted(nodes)

    def prototypes(self, X: Matrix, n: int = 5) -> list[Any]:
        """The rows of the ``n`` most typical examples of each node: of highest density, components in proportion."""
        check_is_fitted(self)
        options.check_integer("n", n, 1, hint="5")
        points = ggm.checked_points(self.ggm_, X, reset=False)
        with ggm.reading(self.ggm_) as threads:
            joint = ggm.log_joint(self.ggm_, points, threads)[self.components_]
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
        """Up to ``n`` words for each node, through ``lsi`` (the fitted ``LSI`` the features came from) or statistics.

        Where the features are something else, such as embeddings, give the examples ``X`` with their word ``counts``:
        the words of a node are then those of its examples. A word that is said at a node is not said again below it;
        ``plain`` gives the most weighty words of each node by itself, as in the paper's table.
        """
        check_is_fitted(self)
        options.check_integer("n", n, 1, hint="8")
        weight = count = None
        if lsi is not None and (X is None or counts is None):
            means, space = self.ggm_.component_mean_[self.components_], getattr(self.ggm_, "space_", None)
            means = means if space is None else space.outside(means)
            rows = projected(lsi, means, self.weight_, self.node_members_)
        elif lsi is None and X is not None and counts is not None:
            rows, weight, count = counted(self.node_given_example(X), counts)
        else:
            raise UsageError("keywords need either lsi, or X and counts", hint="keywords(words, lsi=lsi)")
        return told(self.tree_, rows, words, n, plain=plain, node_weight=weight, count=count)

    def dendrogram(self, ax: Axes | None = None, words: Sequence[Sequence[str]] | None = None) -> Axes:
        """Draw the merges level by level, with the words of each node at its branch if they are given."""
        from topiarist.estimators.gaussian import mixture_pictures

        check_is_fitted(self)
        return mixture_pictures.dendrogram(self, ax, words)


UNSEEN = 1e-9  # a word with no weight at a node


def prototypes(joint: Doubles, weight: Doubles, members: Bools, n: int) -> list[Any]:
    """The most typical examples of each node: those of highest p(x|k), as many of a component as its weight asks for.

    ``joint`` is log P(k)p(x|k), (components, examples), which ranks examples of one component as p(x|k) does.
    """
    ranked = np.argsort(-joint, axis=1, kind="stable")
    chosen = []
    for mask in members:
        own = np.flatnonzero(mask)
        shares = weight[own] / weight[own].sum()
        wanted = _allotted(shares, min(n, joint.shape[1]))
        rows: list[int] = []
        for component, number in zip(own, wanted, strict=True):
            fresh = [row for row in ranked[component].tolist() if row not in rows]
            rows += fresh[:number]
        best = joint[own].max(axis=0)
        chosen.append(np.array(sorted(rows, key=lambda row: (-best[row], row)), dtype=np.int64))
    return chosen


def _allotted(shares: Doubles, n: int) -> list[int]:
    """Whole numbers in proportion to shares that add up to n: the largest remainders get what is left."""
    exact = shares * n
    whole = np.floor(exact).astype(np.int64)
    rest = np.argsort(-(exact - whole), kind="stable")[: n - int(whole.sum())]
    whole[rest] += 1
    numbers: list[int] = whole.tolist()
    return numbers


def projected(lsi: LSI, means: Doubles, weight: Doubles, members: Bools) -> Doubles:
    """The weight of every word at each node, from the mean of the node back through the space: U·μ, never negative."""
    if lsi.n_dimensions_ != means.shape[1]:
        raise InputError(
            f"expected an LSI of {means.shape[1]} dimensions, as the mixture has, got {lsi.n_dimensions_}",
            hint="the LSI that made the features",
        )
    shares = members * weight
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(lsi.words_of(shares @ means), 0.0))


def counted(node_given_example: Doubles, counts: Csr) -> tuple[Doubles, Doubles, Doubles]:
    """The words of each node's examples by how much each belongs there, the weight of nodes, how often words are."""
    matrix = check_counts(counts)
    if matrix.shape[0] != len(node_given_example):
        raise InputError(f"expected counts of {len(node_given_example)} examples, got {matrix.shape[0]}")
    rows: Doubles = np.asarray(matrix.T @ node_given_example, np.float64).T
    return rows, rows.sum(axis=1), column_totals(matrix)


def told(
    tree: Tree,
    rows: Doubles,
    words: Sequence[str],
    n: int,
    *,
    plain: bool,
    node_weight: Doubles | None = None,
    count: Doubles | None = None,
) -> list[list[str]]:
    """The words of every node, the most telling first."""
    if len(words) != rows.shape[1]:
        raise InputError(f"expected {rows.shape[1]} words, one for each column, got {len(words)}")
    if plain:
        order = np.argsort(-rows, axis=1, kind="stable")[:, :n]
        return [[words[word] for word in row if rows[node, word] > 0] for node, row in enumerate(order)]
    rows = rows + UNSEEN
    shares = rows / rows.sum(axis=1, keepdims=True)
    chosen = node_words(tree, shares, n, node_weight=node_weight, count=count, words=words)
    return [[words[word] for word in node] for node in chosen]
