"""Certainty of the classes that a mixture predicts. Equation (G13): docs/models/ggm.md

A mixture treats the evidence of every dimension as independent, and classes are not exactly Gaussian. The order of the
classes is right, but their odds are far too large. Posteriors are raised to a power that held-out labels choose. With
few labels the power is close to a default.
"""

from __future__ import annotations

import math

import numpy as np

from topiarist.arrays import Doubles, Ints
from topiarist.execution.threads import Threads
from topiarist.models.gaussian.selection import Search, compute_joint, deal_folds, search_mixtures
from topiarist.models.gaussian.starts import Sample

N_FOLDS = 3
POWERS = np.geomspace(0.02, 1.0, 60)  # that are tried
SPREAD = 0.5  # of the logarithm of the power around the usual one
MIN_PROBABILITY = 1e-3  # a label that is less probable counts as this: one wrong label must not decide


def class_logarithms(joint: Doubles, class_given_component: Doubles) -> Doubles:
    """Return log P(y, x), (examples, classes), from log P(k) p(x|k), (components, examples)."""
    out = np.full((joint.shape[1], class_given_component.shape[1]), -np.inf)
    for label, component_shares in enumerate(class_given_component.T):
        members = np.flatnonzero(component_shares > 0)
        if len(members):
            logarithms = joint[members] + np.log(component_shares[members])[:, None]
            top = logarithms.max(axis=0)
            out[:, label] = top + np.log(np.exp(logarithms - top).sum(axis=0))
    return out


def class_shares(by_class: Doubles, power: float = 1.0) -> Doubles:
    """Return P(y|x) raised to a power; rows sum to one."""
    rows: Doubles = by_class - by_class.max(axis=1, keepdims=True)
    rows *= power
    np.exp(rows, out=rows)
    rows /= rows.sum(axis=1, keepdims=True)
    return rows


def compute_default_power(n_dims: int) -> float:
    """Return the power (G13) used without held-out labels: 0.5 / √dimensions."""
    return 0.5 / math.sqrt(n_dims)


def choose_sharpness(sample: Sample, weight: float, search: Search, threads: Threads) -> float:
    """Choose the power (G13) under which held-out labels are most probable, with a prior around the default power.

    Only labels of classes with two or more labelled examples are held out. Without any, or after Ctrl-C, the default
    power is returned.
    """
    classes, n_dims = sample.classes[0], sample.points.shape[-1]
    sizes = np.bincount(classes[classes >= 0], minlength=search.options.n_classes)
    heldout_classes = np.where((classes >= 0) & (sizes[np.maximum(classes, 0)] > 1), classes, -1)
    folds = deal_folds(heldout_classes, N_FOLDS, np.random.default_rng([search.seed, 3]))
    answers: list[Doubles] = []
    truth: list[Ints] = []
    for fold in range(N_FOLDS):
        rest = folds != fold
        if rest.all():
            continue
        part = Sample(sample.points[:, rest], sample.classes[:, rest], sample.first[:, rest])
        fit = search_mixtures(part, weight, search, threads).fits[0]
        if fit.interrupted:
            return compute_default_power(n_dims)
        joint = compute_joint(fit.model, fit.params, sample.points[:, ~rest])[0]
        answers.append(class_logarithms(joint, fit.params.class_given_component[0]))
        truth.append(classes[~rest])
    if not answers:
        return compute_default_power(n_dims)
    return _choose_power(np.concatenate(answers), np.concatenate(truth), compute_default_power(n_dims))


def _choose_power(answers: Doubles, truth: Ints, default_power: float) -> float:
    """Return the power of the shares that best predicts the true classes, close to a default."""
    rows = np.arange(len(truth))
    surprise = [
        -np.log(np.maximum(class_shares(answers, power)[rows, truth], MIN_PROBABILITY)).sum()
        + 0.5 * (np.log(power / default_power) / SPREAD) ** 2
        for power in POWERS
    ]
    return float(POWERS[int(np.argmin(surprise))])
