"""How sure a mixture may be of its classes. Equation (G13): docs/models/ggm.md

A density multiplies the evidence of every dimension as if each were new. Features depend on each other, classes are not
Gaussian, and with few labels nobody knows quite where a class lies: odds are right in their order and far too large.
They are taken to a power, which held-out labels choose; few of them hardly tell, so that it is drawn to a usual one.
"""

from __future__ import annotations

import math

import numpy as np

from topiarist.arrays import Doubles, Ints
from topiarist.models.gaussian.selection import Search, folds_of, joint_of, searched
from topiarist.models.gaussian.starts import Sample
from topiarist.scale.threads import Threads

N_FOLDS = 3
POWERS = np.geomspace(0.02, 1.0, 60)  # that are tried
SPREAD = 0.5  # of the logarithm of the power around the usual one
LEAST = 1e-3  # a label that is less probable counts as this: one wrong label must not decide
TINY = 1e-300


def class_logarithms(joint: Doubles, class_given_component: Doubles) -> Doubles:
    """Log P(y, x) of each example, (examples, classes), from log P(k) p(x|k), (components, examples)."""
    out = np.full((joint.shape[1], class_given_component.shape[1]), -np.inf)
    for label, own in enumerate(class_given_component.T):
        members = np.flatnonzero(own > 0)
        if len(members):
            some = joint[members] + np.log(own[members])[:, None]
            top = some.max(axis=0)
            out[:, label] = top + np.log(np.exp(some - top).sum(axis=0))
    return out


def shares(by_class: Doubles, power: float = 1.0) -> Doubles:
    """P(y|x) to a power, rows summing to one."""
    rows: Doubles = by_class - by_class.max(axis=1, keepdims=True)
    rows *= power
    np.exp(rows, out=rows)
    rows /= rows.sum(axis=1, keepdims=True)
    return rows


def usual(n_dims: int) -> float:
    """(G13): the power without evidence: half of one by the square root of the number of dimensions."""
    return 0.5 / math.sqrt(n_dims)


def sharpness(sample: Sample, weight: float, search: Search, threads: Threads) -> float:
    """(G13): the power that makes held-out labels most probable, drawn to the usual one.

    A label is held out only where its class has another. Where none has, or Ctrl-C came, it is the usual one.
    """
    classes, n_dims = sample.classes[0], sample.points.shape[-1]
    sizes = np.bincount(classes[classes >= 0], minlength=search.options.n_classes)
    asked = np.where((classes >= 0) & (sizes[np.maximum(classes, 0)] > 1), classes, -1)
    folds = folds_of(asked, N_FOLDS, np.random.default_rng([search.seed, 3]))
    answers: list[Doubles] = []
    truth: list[Ints] = []
    for fold in range(N_FOLDS):
        rest = folds != fold
        if rest.all():
            continue
        part = Sample(sample.points[:, rest], sample.classes[:, rest], sample.first[:, rest])
        fit = searched(part, weight, search, threads).fits[0]
        if fit.interrupted:
            return usual(n_dims)
        joint = joint_of(fit.model, fit.params, sample.points[:, ~rest])[0]
        answers.append(class_logarithms(joint, fit.params.class_given_component[0]))
        truth.append(classes[~rest])
    if not answers:
        return usual(n_dims)
    return _chosen(np.concatenate(answers), np.concatenate(truth), usual(n_dims))


def _chosen(answers: Doubles, truth: Ints, around: float) -> float:
    rows = np.arange(len(truth))
    surprise = [
        -np.log(np.maximum(shares(answers, power)[rows, truth], LEAST)).sum()
        + 0.5 * (np.log(power / around) / SPREAD) ** 2
        for power in POWERS
    ]
    return float(POWERS[int(np.argmin(surprise))])
