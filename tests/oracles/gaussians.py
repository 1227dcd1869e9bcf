"""Gaussian mixtures as on the blackboard: a loop over every example, component and class, and SciPy's density."""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal


def posteriors(points, labels, prior, mean, covariance, class_given_component, hard=False):
    """P(k|x) of unlabelled (−1) and P(k|y,x) of labelled examples, (examples, components)."""
    rows = np.zeros((len(points), len(prior)))
    for n, (point, label) in enumerate(zip(points, labels, strict=True)):
        for k in range(len(prior)):
            rows[n, k] = prior[k] * multivariate_normal.pdf(point, mean[k], covariance[k])
            if label >= 0:
                rows[n, k] *= class_given_component[k][label]
        rows[n] /= rows[n].sum()
        if hard:
            rows[n] = np.arange(len(prior)) == rows[n].argmax()
    return rows


def step(points, labels, first, weight, prior, mean, covariance, class_given_component, *, split=True, hard=False):
    """One pass of the algorithm without regularisation; ``weight`` is λ. Returns the four new parameters."""
    shares = posteriors(points, labels, prior, mean, covariance, class_given_component, hard)
    n_components, n_dims, n_classes = len(prior), points.shape[1], class_given_component.shape[1]
    new_mean = np.zeros((n_components, n_dims))
    new_covariance = np.zeros((n_components, n_dims, n_dims))
    new_prior = np.zeros(n_components)
    new_classes = np.zeros((n_components, n_classes))
    factor = [1.0 if label >= 0 else weight for label in labels]
    for k in range(n_components):
        total = 0.0
        for n in range(len(points)):
            if first[n] or not split:
                new_mean[k] += factor[n] * shares[n, k] * points[n]
                total += factor[n] * shares[n, k]
        new_mean[k] /= total
        total = 0.0
        for n in range(len(points)):
            if not first[n] or not split:
                away = points[n] - new_mean[k]
                new_covariance[k] += factor[n] * shares[n, k] * np.outer(away, away)
                total += factor[n] * shares[n, k]
        new_covariance[k] /= total
        for n in range(len(points)):
            new_prior[k] += factor[n] * shares[n, k] / sum(factor)
            if labels[n] >= 0:
                new_classes[k, labels[n]] += shares[n, k]
        new_classes[k] /= new_classes[k].sum()
    return new_prior, new_mean, new_covariance, new_classes


def log_likelihood(points, labels, weight, prior, mean, covariance, class_given_component):
    """Equation (5) of the paper, without its sign."""
    total = 0.0
    for point, label in zip(points, labels, strict=True):
        density = 0.0
        for k in range(len(prior)):
            part = prior[k] * multivariate_normal.pdf(point, mean[k], covariance[k])
            density += part * (class_given_component[k][label] if label >= 0 else 1.0)
        total += (1.0 if label >= 0 else weight) * np.log(density)
    return total
