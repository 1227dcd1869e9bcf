"""One label for each document: a linear classifier and the words of classes, weighed by documents held out in turn.

With few labels the words of the classes say most, and documents without a label help to learn them; with many a linear
classifier does. In between the scores of both are added. How much each weighs, how much a document without a label
counts (nothing is among the choices), and how certain answers are: all of it is chosen on documents that were held out.
Where documents come with vectors the linear classifier sees them beside the words, and where those of a class lie
(``class_vectors``) is a third score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Floats, Ints
from topiarist.estimators.category.calibration import (
    UNSEEN_NOTHING,
    Calibration,
    Opinions,
    calibrated,
    class_bias,
    class_shares,
    leveled,
    probabilities,
    sharpness_of,
)
from topiarist.estimators.category.class_vectors import ClassVectors, class_vectors, points_in, space_of
from topiarist.estimators.category.class_words import ClassWords, class_words, lent_class_words
from topiarist.estimators.category.linear import Features, Linear, Rows, Worth, svm
from topiarist.estimators.gaussian.vector_space import VectorSpace
from topiarist.hierarchy.tree import Tree

TOPICAL = (0.5, 1.0, 0.0)  # what latent dimensions may be worth beside words, the usual first
STRENGTHS = (1.0, 5.0)  # of the linear classifier
UNLABELLED = (0.5, 0.0)  # what a document without a label may count
WEIGHTS = (0.5, 0.3, 0.15, 0.0, 0.7, 0.85, 1.0)  # of the words of classes
VECTORIAL = (2.0, 1.0, 4.0, 0.0)  # what vectors may be worth beside words, the usual first
NEAR = (0.25, 0.1, 0.5, 1.0, 0.0)  # of where the vectors of classes lie
UNCHECKED_SHARPNESS = 0.35  # of scores with vectors, where nothing was held out: Gaussians are too sure
MARGIN = 6.0  # log-odds for a score of the linear classifier
GUESS = 10.0  # the same for the guess that unlabelled documents get first
N_FOLDS, N_FOLDS_OF_MANY, MANY = 5, 3, 2000
MOST_UNLABELLED = 3000  # documents without a label that the folds look at
ASKED = 600  # of them, about whom those who have learned from different parts are asked
PREFERENCE = 6.0  # documents by which a weight must be better that is one unit from the usual …
ENOUGH = 100  # … of so many unseen; of fewer by more, for they know less
OTHERWISE = 4.0  # documents by which leaving out those without a label must be better


@dataclass(frozen=True)
class Setting:
    """What was chosen."""

    topical: float
    strength: float
    unlabelled_weight: float
    weight: float  # of the words of classes; the rest is the linear classifier's
    vectorial: float = 0.0  # what vectors are worth beside words, in the linear classifier
    near: float = 0.0  # weight of where the vectors of classes lie
    lent: float = 0.0  # what the vector of a document without a label counts in that

    @property
    def worth(self) -> Worth:
        """Of the parts of the linear classifier."""
        return Worth(self.topical, self.vectorial)


@dataclass(frozen=True)
class Wanted:
    """What is asked for; None is chosen."""

    unlabelled_weight: float | None
    weight: float | None


USUAL = Setting(1.0, 1.0, 0.5, 0.5)


@dataclass(frozen=True)
class Trial:
    """What unseen documents say: how many there were, and how many each way got right."""

    n_unseen: int
    right: int
    right_linear: int
    right_words: int
    right_without: int | None  # without the documents that have no label; None where there are none
    right_vectors: int | None = None  # by where the vectors of classes lie alone; None without vectors


@dataclass(frozen=True)
class Settled:
    """What was chosen and why, and how certain answers are."""

    setting: Setting
    trial: Trial | None
    calibration: Calibration
    bias: Floats  # (n_classes,) of scores, by the classes that unseen documents have


@dataclass(frozen=True)
class Unseen:
    """Documents that were held out in turn: their scores and classes; and what each part says of some others."""

    scores: Floats
    truth: Ints
    opinions: Opinions


@dataclass(frozen=True)
class OneLabel:
    """A fitted classifier."""

    features: Features
    linear: Linear
    words: ClassWords
    weight: float
    prior_shift: Floats  # log of the shares of classes, by those among labelled documents
    calibration: Calibration

    space: VectorSpace | None = None  # of vectors, where documents came with them
    near: ClassVectors | None = None
    near_weight: float = 0.0

    @property
    def sees_vectors(self) -> bool:
        """Whether the vectors of documents have a say; not where only words of classes do."""
        return self.space is not None and (self.near is not None or self.weight < 1.0)

    def without_vectors(self) -> OneLabel:
        """The same for documents that have none, as certain as words are where nothing was held out."""
        return replace(self, calibration=UNSEEN_NOTHING, space=None, near=None, near_weight=0.0)

    def scores(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        """(n_docs, n_classes)."""
        words = self.features.words(counts)
        points = points_in(self.space, vectors, counts.shape[0])
        found = mixed(self.linear(Rows(words, self.features.latent(words)[0], points)), self.words(counts), self.weight)
        return found if self.near is None else found + self.near_weight * self.near(points)

    def __call__(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        """P(class | document)."""
        return self.calibration(self.scores(counts, vectors), self.prior_shift)

    def word_parts(self, counts: Csr) -> Floats:
        """What each word of one document adds to the log-odds of each class."""
        linear = self.linear.word_parts(self.features, counts)
        parts: Floats = self.calibration.sharpness * mixed(linear, self.words.word_parts(counts), self.weight)
        return parts


def mixed(margins: Floats, words: Floats, weight: float) -> Floats:
    """The scores of both, added."""
    scores: Floats = (1.0 - weight) * MARGIN * margins + weight * words
    return scores


@dataclass(frozen=True)
class Material:
    """Documents as numbers, labelled ones and others, and the tree of the classes."""

    counts: Csr
    rows: Rows
    tree: Tree
    class_nodes: tuple[int, ...]
    groups: Ints  # of documents that belong together: a number for each

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_nodes)

    @property
    def has_vectors(self) -> bool:
        """Whether documents came with vectors."""
        return bool(self.rows.points.shape[1])

    def of(self, rows: Array) -> Material:
        """Some documents."""
        counts = csr_array(self.counts[rows])
        return Material(counts, self.rows.of(rows), self.tree, self.class_nodes, self.groups[rows])


def learn(
    counts: Csr,
    of_row: Ints,
    tree: Tree,
    class_nodes: tuple[int, ...],
    wanted: Wanted,
    seed: int,
    settled: Settled | None = None,
    groups: Ints | None = None,
    vectors: Floats | None = None,
) -> tuple[OneLabel, Settled]:
    """``of_row``: the class of each document, −1 for none. ``settled``: what is chosen already.

    ``groups``: documents with the same number are held out together. ``vectors``: those that documents come with.
    """
    labelled, free = np.flatnonzero(of_row >= 0), np.flatnonzero(of_row < 0)
    if wanted.unlabelled_weight == 0.0:
        free = free[:0]
    every = len(labelled) + len(free) == counts.shape[0]
    features = Features.of(counts if every else csr_array(counts[labelled]), seed)
    words = features.words(counts)
    together = np.arange(counts.shape[0]) if groups is None else groups
    space = None if vectors is None else space_of(vectors if every else vectors[labelled])
    rows = Rows(words, features.latent(words)[0], points_in(space, vectors, counts.shape[0]))
    documents = Material(counts, rows, tree, class_nodes, together)
    known, others, classes = documents.of(labelled), documents.of(free), of_row[labelled]
    unseen = None
    if settled is None:
        settled, unseen = _settled(known, others, classes, wanted, seed)
    setting, calibration = settled.setting, settled.calibration
    if not known.has_vectors:
        setting = replace(setting, vectorial=0.0, near=0.0)
    linear = svm(known.rows, classes, known.n_classes, setting.worth, setting.strength)
    shares = _shares(classes, known.n_classes)
    lexical = _class_words(known, others, classes, linear, setting.unlabelled_weight)
    near = _class_vectors(known, others, classes, linear, setting.lent) if setting.near else None
    shift = np.zeros(known.n_classes)
    if len(free):
        told = mixed(linear(others.rows), lexical(others.counts), setting.weight)
        if near is not None:
            told = told + setting.near * near(others.rows.points)
        if setting.unlabelled_weight:
            shown = probabilities(calibration.sharpness * told + settled.bias)
            shift = np.log(class_shares(shown, shares, len(classes)) / shares)
        if unseen is not None:
            calibration = leveled(calibration.sharpness, unseen.scores, unseen.truth, shift, told, unseen.opinions)
            settled = replace(settled, calibration=calibration)
    used = space if setting.vectorial or setting.near else None
    model = OneLabel(features, linear, lexical, setting.weight, shift, calibration, used, near, setting.near)
    return model, settled


def fold_numbers(classes: Ints, seed: int, groups: Ints) -> Ints:
    """The part in which each document is held out; −1 for one that is never: alone in its class, or with such a one.

    Those of a group are in one part, which goes by the class of the first of them.
    """
    rng = np.random.default_rng(seed)
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    pairs = np.unique(np.stack([classes, group]), axis=1)
    sizes = np.bincount(pairs[0])  # groups of each class
    n_folds = N_FOLDS_OF_MANY if len(classes) >= MANY else min(N_FOLDS, int(sizes.max(initial=0)))
    folds, turn = np.full(len(first), -1), 0
    for label in np.flatnonzero(sizes > 1):
        members = rng.permutation(np.flatnonzero(classes[first] == label))
        folds[members] = (turn + np.arange(len(members))) % n_folds
        turn += len(members)
    folds[pairs[1, sizes[pairs[0]] == 1]] = -1
    found: Ints = folds[group]
    return found


def _shares(classes: Ints, n_classes: int) -> Floats:
    sizes = np.bincount(classes, minlength=n_classes) + 0.5
    shares: Floats = sizes / sizes.sum()
    return shares


def _class_words(known: Material, others: Material, classes: Ints, linear: Linear, weight: float) -> ClassWords:
    """The words of classes by labelled documents, and by others as the linear classifier guesses them."""
    certain = np.eye(known.n_classes)[classes]
    if weight == 0.0 or not others.counts.shape[0]:
        return class_words(known.counts, certain, known.tree, known.class_nodes)
    guess = _guessed(others, linear, _shares(classes, known.n_classes), len(classes))
    return lent_class_words(known.counts, certain, others.counts, weight * guess, known.tree, known.class_nodes)


def _class_vectors(known: Material, others: Material, classes: Ints, linear: Linear, weight: float) -> ClassVectors:
    """The same of their vectors."""
    guess = _guessed(others, linear, _shares(classes, known.n_classes), len(classes))
    return class_vectors(known.rows.points, classes, known.n_classes, others.rows.points, guess, weight)


def _guessed(others: Material, linear: Linear, shares: Floats, n_known: int) -> Floats:
    """The classes of documents without a label, as the linear classifier guesses them."""
    guess = probabilities(GUESS * linear(others.rows))
    guess = guess * (class_shares(guess, shares, n_known) / shares)
    guess /= guess.sum(axis=1, keepdims=True)
    return guess


def _settled(
    known: Material, others: Material, classes: Ints, wanted: Wanted, seed: int
) -> tuple[Settled, Unseen | None]:
    """What gets most documents right that were held out in turn; and these."""
    folds = fold_numbers(classes, seed, known.groups)
    usual = Setting(
        USUAL.topical, USUAL.strength, _given(wanted.unlabelled_weight, USUAL.unlabelled_weight),
        _given(wanted.weight, USUAL.weight),
        *((VECTORIAL[0], NEAR[0], _given(wanted.unlabelled_weight, UNLABELLED[0])) if known.has_vectors else ()),
    )  # fmt: skip
    unseen = folds >= 0
    if not unseen.any():
        modest = replace(UNSEEN_NOTHING, sharpness=UNCHECKED_SHARPNESS) if known.has_vectors else UNSEEN_NOTHING
        return Settled(usual, None, modest, np.zeros(known.n_classes)), None
    n_folds = int(folds.max()) + 1
    parts = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)]
    truth = classes[unseen]
    tried: dict[tuple[float, float, float], tuple[Floats, list[Linear]]] = {}

    def worth_of(way: tuple[float, float, float]) -> float:
        """Of a linear classifier: what latent dimensions are worth, its strength, what vectors are worth."""
        if way not in tried:
            found, machines = np.zeros((len(classes), known.n_classes)), []
            for rest, out in parts:
                machine = svm(known.rows.of(rest), classes[rest], known.n_classes, Worth(way[0], way[2]), way[1])
                machines.append(machine)
                found[out] = machine(known.rows.of(out))
            tried[way] = found, machines
        return _worth(tried[way][0][unseen], truth)

    best = max([(topical, 1.0, usual.vectorial) for topical in TOPICAL], key=worth_of)
    best = max([best, *((best[0], strength, best[2]) for strength in STRENGTHS[1:])], key=worth_of)
    if known.has_vectors:
        best = max([best, *((*best[:2], vectorial) for vectorial in VECTORIAL[1:])], key=worth_of)
    found, machines = tried[best]
    looked_at = _some(others.counts.shape[0], seed)
    some, asked = others.of(looked_at), _some(len(looked_at), seed + 1, ASKED)
    few = some.of(asked)
    lexical: dict[float, Floats] = {}
    of_few: dict[float, list[Floats]] = {}
    near: Floats = np.zeros_like(found)
    near_few: list[Floats] = [np.zeros((len(asked), known.n_classes))] * len(parts)
    for weight in _candidates(wanted.unlabelled_weight, UNLABELLED if some.counts.shape[0] else (0.0,)):
        lexical[weight], of_few[weight] = np.zeros_like(found), []
        for (rest, out), machine in zip(parts, machines, strict=True):
            fitted = _class_words(known.of(rest), some, classes[rest], machine, weight)
            lexical[weight][out] = fitted(csr_array(known.counts[out]))
            of_few[weight].append(fitted(few.counts))
    ways = [(free, weight) for free in lexical for weight in _candidates(wanted.weight, WEIGHTS)]
    care = PREFERENCE * max(1.0, ENOUGH / len(truth))

    def worth(way: tuple[float, float]) -> float:
        free, weight = way
        value = _worth(mixed(found, lexical[free], weight)[unseen], truth)
        return value - care * abs(weight - usual.weight) - OTHERWISE * (free != usual.unlabelled_weight)

    free, weight = max(ways, key=worth)
    scores, nearness, lent = mixed(found, lexical[free], weight), 0.0, 0.0
    lying: dict[float, tuple[Floats, list[Floats]]] = {}
    if known.has_vectors:
        lying = {
            lent: _lying(known, some, few, classes, parts, machines, lent)
            for lent in _candidates(wanted.unlabelled_weight, UNLABELLED if len(looked_at) else (0.0,))
        }

        def nearest(way: tuple[float, float]) -> float:
            value = _worth((scores + way[1] * lying[way[0]][0])[unseen], truth)
            return value - care * abs(way[1] - NEAR[0]) - OTHERWISE * (way[0] != usual.lent)

        lent, nearness = max([(lent, one) for lent in lying for one in NEAR], key=nearest)
        near, near_few = lying[lent]
        scores = scores + nearness * near

    def right(rows: Floats) -> int:
        return int((rows[unseen].argmax(axis=1) == truth).sum())

    without = None
    if len(lexical) > 1:
        unlent = lying[0.0][0] if lying else near
        without = right(mixed(found, lexical[0.0], weight) + nearness * unlent)
    trial = Trial(
        len(truth), right(scores), right(found), right(lexical[free]), without,
        right(near) if known.has_vectors else None,
    )  # fmt: skip
    calibration = calibrated(scores[unseen], truth)
    bias = class_bias(calibration.sharpness * scores[unseen], truth, _shares(classes, known.n_classes))
    said = [
        mixed(machine(few.rows), words, weight) + nearness * close
        for machine, words, close in zip(machines, of_few[free], near_few, strict=True)
    ]
    opinions = Opinions(looked_at[asked], np.stack(said).astype(np.float32))
    setting = Setting(best[0], best[1], free, weight, best[2], nearness, lent)
    return Settled(setting, trial, calibration, bias), Unseen(scores[unseen], truth, opinions)


def _lying(
    known: Material,
    some: Material,
    few: Material,
    classes: Ints,
    parts: Sequence[tuple[Array, Array]],
    machines: Sequence[Linear],
    lent: float,
) -> tuple[Floats, list[Floats]]:
    """How near documents held out in turn lie to classes; and a few others, by what each part has learned."""
    near, of_few = np.zeros((len(classes), known.n_classes)), []
    for (rest, out), machine in zip(parts, machines, strict=True):
        fitted = _class_vectors(known.of(rest), some, classes[rest], machine, lent)
        near[out] = fitted(known.rows.points[out])
        of_few.append(fitted(few.rows.points))
    return near, of_few


def _worth(scores: Floats, truth: Array) -> float:
    """Documents that are right, and a little for how probable the right classes are."""
    return float((scores.argmax(axis=1) == truth).sum()) - 0.3 * sharpness_of(scores, truth)[1]


def _some(number: int, seed: int, most: int = MOST_UNLABELLED) -> Ints:
    """Some of so many, in their order; all, where there are few."""
    chosen: Ints = np.random.default_rng(seed).choice(number, min(number, most), replace=False) if number else (
        np.zeros(0, np.int64)
    )  # fmt: skip
    return np.sort(chosen)


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _candidates(value: float | None, all_of_them: Sequence[float]) -> Sequence[float]:
    return all_of_them if value is None else (value,)
