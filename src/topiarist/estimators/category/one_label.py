"""Classifier with one label for each document, from a linear classifier and the words and vectors of classes.

With few labels the words of classes are best, and unlabelled documents help to learn them. With many labels a linear
classifier is best. The scores of both are added. Weights, the use of unlabelled documents and certainties are chosen on
held-out documents. Vectors are features of the linear classifier, and their class distributions (``class_vectors``)
give a third score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Floats, Ints
from topiarist.estimators.category.calibration import (
    UNCALIBRATED,
    Calibration,
    FoldScores,
    estimate_class_shares,
    fit_calibration,
    fit_class_bias,
    fit_sharpness,
    shrink_to_agreement,
    to_probabilities,
)
from topiarist.estimators.category.class_vectors import ClassVectors, fit_class_vectors, fit_space
from topiarist.estimators.category.class_words import ClassWords, fit_class_words, learn_from_unlabelled
from topiarist.estimators.category.linear import Features, FeatureWeights, Linear, Rows, fit_svm
from topiarist.estimators.gaussian.vector_space import VectorSpace
from topiarist.trees.tree import Tree

LATENT_WEIGHTS = (0.5, 1.0, 0.0)  # what latent dimensions may be worth beside words, the usual first
STRENGTHS = (1.0, 5.0)  # of the linear classifier
UNLABELLED_WEIGHTS = (0.5, 0.0)  # what a document without a label may count
WEIGHTS = (0.5, 0.3, 0.15, 0.0, 0.7, 0.85, 1.0)  # of the words of classes
VECTOR_WEIGHTS = (2.0, 1.0, 4.0, 0.0)  # what vectors may be worth beside words, the usual first
CLASS_VECTOR_WEIGHTS = (0.25, 0.1, 0.5, 1.0, 0.0)  # of where the vectors of classes lie
UNCHECKED_SHARPNESS = 0.35  # of scores with vectors, where nothing was held out: Gaussians are too sure
MARGIN_LOG_ODDS = 6.0  # log-odds for a score of the linear classifier
GUESS_SHARPNESS = 10.0  # the same for the guess that unlabelled documents get first
N_FOLDS, N_FOLDS_OF_MANY, MANY_LABELLED = 5, 3, 2000
MAX_UNLABELLED = 3000  # documents without a label that the folds look at
MAX_ASKED = 600  # of them, about whom those who have learned from different parts are asked
PREFERENCE = 6.0  # documents by which a weight must be better that is one unit from the usual …
ENOUGH_HELDOUT = 100  # … of so many unseen; of fewer by more, for they know less
UNLABELLED_PREFERENCE = 4.0  # documents by which leaving out those without a label must be better


@dataclass(frozen=True)
class Setting:
    """Chosen settings of the classifier."""

    topical: float = 1.0
    strength: float = 1.0
    unlabelled_weight: float = 0.5
    weight: float = 0.5  # of the words of classes; the rest is the linear classifier's
    vectorial: float = 0.0  # what vectors are worth beside words, in the linear classifier
    class_vector_weight: float = 0.0
    unlabelled_vector_weight: float = 0.0  # what the vector of a document without a label counts in that

    @property
    def worth(self) -> FeatureWeights:
        return FeatureWeights(self.topical, self.vectorial)


@dataclass(frozen=True)
class FixedSettings:
    """Settings fixed by the user; None if they are to be chosen."""

    unlabelled_weight: float | None
    weight: float | None


@dataclass(frozen=True)
class Trial:
    """Number of held-out documents, and how many each method classified right."""

    n_unseen: int
    right: int
    right_linear: int
    right_words: int
    right_without: int | None  # without the documents that have no label; None where there are none
    right_vectors: int | None = None  # by where the vectors of classes lie alone; None without vectors


@dataclass(frozen=True)
class TunedSettings:
    """Chosen settings, the trial they come from, and the calibration."""

    setting: Setting
    trial: Trial | None
    calibration: Calibration
    bias: Floats  # (n_classes,) of scores, by the classes that unseen documents have


@dataclass(frozen=True)
class CrossValidationScores:
    """Scores and classes of held-out documents, and the scores of unlabelled ones by fold."""

    scores: Floats
    truth: Ints
    opinions: FoldScores


@dataclass(frozen=True)
class OneLabel:
    """Fitted classifier with one label for each document."""

    features: Features
    linear: Linear
    words: ClassWords
    weight: float
    prior_shift: Floats  # log of the shares of classes, by those among labelled documents
    calibration: Calibration

    space: VectorSpace | None = None  # of vectors, where documents came with them
    class_vectors: ClassVectors | None = None
    near_weight: float = 0.0

    @property
    def sees_vectors(self) -> bool:
        return self.space is not None and (self.class_vectors is not None or self.weight < 1.0)

    def without_vectors(self) -> OneLabel:
        """Return the classifier for documents without vectors, uncalibrated."""
        return replace(self, calibration=UNCALIBRATED, space=None, class_vectors=None, near_weight=0.0)

    def scores(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        rows = self.features.rows(counts, self.space, vectors)
        scores = mix_scores(self.linear(rows), self.words(counts), self.weight)
        return scores if self.class_vectors is None else scores + self.near_weight * self.class_vectors(rows.points)

    def __call__(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        return self.calibration(self.scores(counts, vectors), self.prior_shift)

    def word_parts(self, counts: Csr) -> Floats:
        """Return the part of each word of one document in the log-odds of each class."""
        linear = self.linear.word_parts(self.features, counts)
        parts: Floats = self.calibration.sharpness * mix_scores(linear, self.words.word_parts(counts), self.weight)
        return parts


def mix_scores(margins: Floats, words: Floats, weight: float) -> Floats:
    scores: Floats = (1.0 - weight) * MARGIN_LOG_ODDS * margins + weight * words
    return scores


@dataclass(frozen=True)
class Material:
    """Features of labelled or unlabelled documents, and the tree of the classes."""

    counts: Csr
    rows: Rows
    tree: Tree
    class_nodes: tuple[int, ...]
    groups: Ints  # of documents that belong together: a number for each

    @property
    def n_classes(self) -> int:
        return len(self.class_nodes)

    @property
    def has_vectors(self) -> bool:
        return bool(self.rows.points.shape[1])

    def of(self, rows: Array) -> Material:
        counts = csr_array(self.counts[rows])
        return Material(counts, self.rows.of(rows), self.tree, self.class_nodes, self.groups[rows])


def learn(
    counts: Csr,
    of_row: Ints,
    tree: Tree,
    class_nodes: tuple[int, ...],
    fixed: FixedSettings,
    seed: int,
    tuned_settings: TunedSettings | None = None,
    groups: Ints | None = None,
    vectors: Floats | None = None,
) -> tuple[OneLabel, TunedSettings]:
    """Fit a classifier; ``of_row`` is the class of each document, −1 for none.

    ``tuned_settings`` were chosen before. Documents with equal ``groups`` are held out together.
    """
    labelled_rows, unlabelled_rows = np.flatnonzero(of_row >= 0), np.flatnonzero(of_row < 0)
    if fixed.unlabelled_weight == 0.0:
        unlabelled_rows = unlabelled_rows[:0]
    uses_all = len(labelled_rows) + len(unlabelled_rows) == counts.shape[0]
    features = Features.of(counts if uses_all else csr_array(counts[labelled_rows]), seed)
    group_numbers = np.arange(counts.shape[0]) if groups is None else groups
    space = None if vectors is None else fit_space(vectors if uses_all else vectors[labelled_rows])
    rows = features.rows(counts, space, vectors)
    documents = Material(counts, rows, tree, class_nodes, group_numbers)
    labelled_data, others, classes = documents.of(labelled_rows), documents.of(unlabelled_rows), of_row[labelled_rows]
    heldout = None
    if tuned_settings is None:
        tuned_settings, heldout = _choose_settings(labelled_data, others, classes, fixed, seed)
    setting, calibration = tuned_settings.setting, tuned_settings.calibration
    if not labelled_data.has_vectors:
        setting = replace(setting, vectorial=0.0, class_vector_weight=0.0)
    linear = fit_svm(labelled_data.rows, classes, labelled_data.n_classes, setting.worth, setting.strength)
    shares = _compute_shares(classes, labelled_data.n_classes)
    lexical = _estimate_class_words(labelled_data, others, classes, linear, setting.unlabelled_weight)
    fitted_vectors = (
        _estimate_class_vectors(labelled_data, others, classes, linear, setting.unlabelled_vector_weight)
        if setting.class_vector_weight
        else None
    )
    shift = np.zeros(labelled_data.n_classes)
    if len(unlabelled_rows):
        unlabelled_scores = mix_scores(linear(others.rows), lexical(others.counts), setting.weight)
        if fitted_vectors is not None:
            unlabelled_scores = unlabelled_scores + setting.class_vector_weight * fitted_vectors(others.rows.points)
        if setting.unlabelled_weight:
            shown_probabilities = to_probabilities(calibration.sharpness * unlabelled_scores + tuned_settings.bias)
            shift = np.log(estimate_class_shares(shown_probabilities, shares, len(classes)) / shares)
        if heldout is not None:
            calibration = shrink_to_agreement(
                calibration.sharpness, heldout.scores, heldout.truth, shift, unlabelled_scores, heldout.opinions
            )
            tuned_settings = replace(tuned_settings, calibration=calibration)
    used = space if setting.vectorial or setting.class_vector_weight else None
    model = OneLabel(
        features, linear, lexical, setting.weight, shift, calibration, used, fitted_vectors, setting.class_vector_weight
    )
    return model, tuned_settings


def deal_group_folds(classes: Ints, seed: int, groups: Ints) -> Ints:
    """Return the fold of each document; −1 if it is never held out, because its class has no other group.

    A group is in one fold, chosen by the class of its first document.
    """
    rng = np.random.default_rng(seed)
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    pairs = np.unique(np.stack([classes, group]), axis=1)
    sizes = np.bincount(pairs[0])  # groups of each class
    n_folds = N_FOLDS_OF_MANY if len(classes) >= MANY_LABELLED else min(N_FOLDS, int(sizes.max(initial=0)))
    folds, turn = np.full(len(first), -1), 0
    for label in np.flatnonzero(sizes > 1):
        members = rng.permutation(np.flatnonzero(classes[first] == label))
        folds[members] = (turn + np.arange(len(members))) % n_folds
        turn += len(members)
    folds[pairs[1, sizes[pairs[0]] == 1]] = -1
    row_folds: Ints = folds[group]
    return row_folds


def _compute_shares(classes: Ints, n_classes: int) -> Floats:
    sizes = np.bincount(classes, minlength=n_classes) + 0.5
    shares: Floats = sizes / sizes.sum()
    return shares


def _estimate_class_words(
    labelled_data: Material, others: Material, classes: Ints, linear: Linear, weight: float
) -> ClassWords:
    """Return the words of classes from labelled documents and from the linear classifier's guesses for others."""
    certain, tree, nodes = np.eye(labelled_data.n_classes)[classes], labelled_data.tree, labelled_data.class_nodes
    if weight == 0.0 or not others.counts.shape[0]:
        return fit_class_words(labelled_data.counts, certain, tree, nodes)
    guess = weight * _guess_classes(others, linear, classes)
    return learn_from_unlabelled(labelled_data.counts, certain, others.counts, guess, tree, nodes)


def _estimate_class_vectors(
    labelled_data: Material, others: Material, classes: Ints, linear: Linear, weight: float
) -> ClassVectors:
    """Return the vectors of classes from labelled documents and from the linear classifier's guesses for others."""
    guess, points = _guess_classes(others, linear, classes), labelled_data.rows.points
    return fit_class_vectors(points, classes, labelled_data.n_classes, others.rows.points, guess, weight)


def _guess_classes(others: Material, linear: Linear, classes: Ints) -> Floats:
    """Return the classes of unlabelled documents, guessed by the linear classifier; ``classes`` are known ones."""
    shares = _compute_shares(classes, others.n_classes)
    guess = to_probabilities(GUESS_SHARPNESS * linear(others.rows))
    guess = guess * (estimate_class_shares(guess, shares, len(classes)) / shares)
    guess /= guess.sum(axis=1, keepdims=True)
    return guess


def _choose_settings(
    labelled_data: Material, others: Material, classes: Ints, fixed: FixedSettings, seed: int
) -> tuple[TunedSettings, CrossValidationScores | None]:
    """Return the settings with the best held-out accuracy, and the held-out scores."""
    folds = deal_group_folds(classes, seed, labelled_data.groups)
    unlabelled_weights = UNLABELLED_WEIGHTS if fixed.unlabelled_weight is None else (fixed.unlabelled_weight,)
    weights = WEIGHTS if fixed.weight is None else (fixed.weight,)
    default = Setting(unlabelled_weight=unlabelled_weights[0], weight=weights[0])
    if labelled_data.has_vectors:
        default = replace(
            default, vectorial=VECTOR_WEIGHTS[0], class_vector_weight=CLASS_VECTOR_WEIGHTS[0],
            unlabelled_vector_weight=unlabelled_weights[0],
        )  # fmt: skip
    is_heldout = folds >= 0
    if not is_heldout.any():
        modest = replace(UNCALIBRATED, sharpness=UNCHECKED_SHARPNESS) if labelled_data.has_vectors else UNCALIBRATED
        return TunedSettings(default, None, modest, np.zeros(labelled_data.n_classes)), None
    n_folds = int(folds.max()) + 1
    parts = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)]
    truth = classes[is_heldout]
    results: dict[tuple[float, float, float], tuple[Floats, list[Linear]]] = {}

    def worth_of(way: tuple[float, float, float]) -> float:
        """Rate a linear classifier with weights of latent dimensions, a strength and weights of vectors."""
        if way not in results:
            linear_scores, machines = np.zeros((len(classes), labelled_data.n_classes)), []
            for training, heldout in parts:
                worth, rows = FeatureWeights(way[0], way[2]), labelled_data.rows.of(training)
                machine = fit_svm(rows, classes[training], labelled_data.n_classes, worth, way[1])
                machines.append(machine)
                linear_scores[heldout] = machine(labelled_data.rows.of(heldout))
            results[way] = linear_scores, machines
        return _rate_scores(results[way][0][is_heldout], truth)

    best = max([(topical, 1.0, default.vectorial) for topical in LATENT_WEIGHTS], key=worth_of)
    best = max([best, *((best[0], strength, best[2]) for strength in STRENGTHS[1:])], key=worth_of)
    if labelled_data.has_vectors:
        best = max([best, *((*best[:2], vectorial) for vectorial in VECTOR_WEIGHTS[1:])], key=worth_of)
    linear_scores, machines = results[best]
    looked_at = _draw_rows(others.counts.shape[0], seed)
    sample, asked_rows = others.of(looked_at), _draw_rows(len(looked_at), seed + 1, MAX_ASKED)
    asked_data = sample.of(asked_rows)
    lexical: dict[float, Floats] = {}
    asked_word_scores: dict[float, list[Floats]] = {}
    vector_scores: Floats = np.zeros_like(linear_scores)
    asked_vector_scores: list[Floats] = [np.zeros((len(asked_rows), labelled_data.n_classes))] * len(parts)
    if fixed.unlabelled_weight is None and not len(looked_at):
        unlabelled_weights = (0.0,)
    for weight in unlabelled_weights:
        lexical[weight], asked_word_scores[weight] = np.zeros_like(linear_scores), []
        for (training, heldout), machine in zip(parts, machines, strict=True):
            fitted = _estimate_class_words(labelled_data.of(training), sample, classes[training], machine, weight)
            lexical[weight][heldout] = fitted(csr_array(labelled_data.counts[heldout]))
            asked_word_scores[weight].append(fitted(asked_data.counts))
    ways = [(free, weight) for free in lexical for weight in weights]
    preference = PREFERENCE * max(1.0, ENOUGH_HELDOUT / len(truth))

    def worth(way: tuple[float, float]) -> float:
        """Return the held-out result of a pair of weights, less a penalty for unusual ones."""
        free, weight = way
        value = _rate_scores(mix_scores(linear_scores, lexical[free], weight)[is_heldout], truth)
        return (
            value
            - preference * abs(weight - default.weight)
            - UNLABELLED_PREFERENCE * (free != default.unlabelled_weight)
        )

    free, weight = max(ways, key=worth)
    scores, vector_weight, vector_unlabelled_weight = mix_scores(linear_scores, lexical[free], weight), 0.0, 0.0
    vector_results: dict[float, tuple[Floats, list[Floats]]] = {}
    if labelled_data.has_vectors:
        vector_results = {
            free_weight: _score_class_vectors(labelled_data, sample, asked_data, classes, parts, machines, free_weight)
            for free_weight in unlabelled_weights
        }

        def nearest(way: tuple[float, float]) -> float:
            """Return the held-out result of a pair of vector weights, less a penalty for unusual ones."""
            value = _rate_scores((scores + way[1] * vector_results[way[0]][0])[is_heldout], truth)
            return (
                value
                - preference * abs(way[1] - CLASS_VECTOR_WEIGHTS[0])
                - UNLABELLED_PREFERENCE * (way[0] != default.unlabelled_vector_weight)
            )

        vector_ways = [(free_weight, candidate) for free_weight in vector_results for candidate in CLASS_VECTOR_WEIGHTS]
        vector_unlabelled_weight, vector_weight = max(vector_ways, key=nearest)
        vector_scores, asked_vector_scores = vector_results[vector_unlabelled_weight]
        scores = scores + vector_weight * vector_scores

    def right(rows: Floats) -> int:
        return int((rows[is_heldout].argmax(axis=1) == truth).sum())

    right_without = None
    if len(lexical) > 1:
        scores_without = vector_results[0.0][0] if vector_results else vector_scores
        right_without = right(mix_scores(linear_scores, lexical[0.0], weight) + vector_weight * scores_without)
    trial = Trial(
        len(truth), right(scores), right(linear_scores), right(lexical[free]), right_without,
        right(vector_scores) if labelled_data.has_vectors else None,
    )  # fmt: skip
    calibration = fit_calibration(scores[is_heldout], truth)
    bias = fit_class_bias(
        calibration.sharpness * scores[is_heldout], truth, _compute_shares(classes, labelled_data.n_classes)
    )
    fold_scores = [
        mix_scores(machine(asked_data.rows), words, weight) + vector_weight * class_scores
        for machine, words, class_scores in zip(machines, asked_word_scores[free], asked_vector_scores, strict=True)
    ]
    opinions = FoldScores(looked_at[asked_rows], np.stack(fold_scores).astype(np.float32))
    setting = Setting(best[0], best[1], free, weight, best[2], vector_weight, vector_unlabelled_weight)
    return TunedSettings(setting, trial, calibration, bias), CrossValidationScores(scores[is_heldout], truth, opinions)


def _score_class_vectors(
    labelled_data: Material,
    sample: Material,
    asked_data: Material,
    classes: Ints,
    parts: Sequence[tuple[Array, Array]],
    machines: Sequence[Linear],
    vector_weight: float,
) -> tuple[Floats, list[Floats]]:
    """Return scores of held-out documents by class vectors, and scores of some unlabelled documents by fold."""
    scores, of_few = np.zeros((len(classes), labelled_data.n_classes)), []
    for (training, heldout), machine in zip(parts, machines, strict=True):
        fitted = _estimate_class_vectors(labelled_data.of(training), sample, classes[training], machine, vector_weight)
        scores[heldout] = fitted(labelled_data.rows.points[heldout])
        of_few.append(fitted(asked_data.rows.points))
    return scores, of_few


def _rate_scores(scores: Floats, truth: Array) -> float:
    """Return the number of right documents, with a small part for the probability of the right classes."""
    return float((scores.argmax(axis=1) == truth).sum()) - 0.3 * fit_sharpness(scores, truth)[1]


def _draw_rows(number: int, seed: int, maximum: int = MAX_UNLABELLED) -> Ints:
    rows: Ints = np.random.default_rng(seed).choice(number, min(number, maximum), replace=False) if number else (
        np.zeros(0, np.int64)
    )  # fmt: skip
    return np.sort(rows)
