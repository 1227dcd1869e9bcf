"""Calibration of P(cluster | document) of a cluster-abstraction model to certainties, without labels.

The words of unseen documents are split into two halves. The topic of the first half is right if the second half has
the same topic. A document is unseen if the parameters were estimated again without it. One step of EM is not enough,
because the other documents of a topic were placed with its help: a few steps let them move.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from topiarist.arrays import Csr, Floats, Ints
from topiarist.counts.scratch import select_rows
from topiarist.counts.split import completion_split
from topiarist.counts.validation import count_tokens
from topiarist.counts.weighting import shorten_documents
from topiarist.estimators.category.calibration import Calibration, fit_calibration
from topiarist.execution.threads import Threads
from topiarist.models import cam, em
from topiarist.models.directions import Directions
from topiarist.models.engine import load_kernels
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.growing_models import make_cam_params
from topiarist.trees.tree_model import TreeModel

if TYPE_CHECKING:
    from topiarist.estimators.tree.cam import CAM

Embed = Callable[[Csr], Floats]

N_FOLDS = 10
N_STEPS = 8  # of EM without a fold
MAX_DOCUMENTS = 30_000  # from which parameters are estimated again
ENOUGH_DOCUMENTS = 600  # unseen documents, after which no further fold is read
MIN_DOCUMENTS = 50  # unseen documents: fewer do not show how often topics agree
MIN_SHARE = 1e-30  # of a topic; logarithms of smaller ones are cut
MAX_CERTAINTY = 0.9995  # that is shown


def calibrate_topics(
    model: object, counts: Csr, rows: Ints | None = None, n_threads: int | None = None, embed: Embed | None = None
) -> Calibration | None:
    """Return the calibration of a fitted ``CAM`` from its training documents.

    ``rows`` are the documents without duplicates; None for all. ``embed`` returns the vectors of counts. The result is
    None for other models, for vectors that counts do not give, for one topic, and for too few documents.
    """
    from topiarist.estimators.tree.cam import CAM  # estimators take a second to load, and readers do not need them

    if type(model) is not CAM or len(model.cluster_prior_) < 2 or (model.directions_ is not None and embed is None):
        return None
    embed = None if model.directions_ is None else embed
    order = np.random.default_rng(0).permutation(np.arange(counts.shape[0]) if rows is None else rows)[:MAX_DOCUMENTS]
    if len(order) < MIN_DOCUMENTS:
        return None
    posteriors, topics, n_docs = list[Floats](), list[Ints](), 0
    with Threads(n_threads) as threads:
        for fold in range(N_FOLDS):
            unseen = np.zeros(len(order), np.bool_)
            unseen[fold::N_FOLDS] = True
            training, heldout = (select_rows(counts, np.sort(order[mask])) for mask in (~unseen, unseen))
            first, second = completion_split(heldout)
            has_words = (count_tokens(first) > 0) & (count_tokens(second) > 0)
            if not has_words.any():
                continue
            reader = _refit_on_fold(model, training, Engine(load_kernels("compiled"), threads), embed)
            posteriors.append(_read(reader, first[has_words], embed))
            topics.append(_read(reader, second[has_words], embed).argmax(axis=1))
            n_docs += len(topics[-1])
            if n_docs >= ENOUGH_DOCUMENTS:
                break
    return (
        fit_calibration(_to_scores(np.concatenate(posteriors)), np.concatenate(topics))
        if n_docs >= MIN_DOCUMENTS
        else None
    )


def calibrate_posterior(posterior: Floats, calibration: Calibration | None) -> Floats:
    """Return P(class | document) as certainties; unchanged without a calibration."""
    if calibration is None or posterior.shape[1] < 2 or not len(posterior):
        return posterior.astype(np.float64)
    return calibration(_to_scores(posterior), np.zeros(1))


def _to_scores(posterior: Floats) -> Floats:
    scores: Floats = np.log(np.maximum(posterior.astype(np.float64), MIN_SHARE))
    return scores


def _read(model: CAM, counts: Csr, embed: Embed | None) -> Floats:
    return model.transform(counts, vectors=None if embed is None else embed(counts))


def _refit_on_fold(model: CAM, training: Csr, engine: Engine, embed: Embed | None) -> CAM:
    """Re-estimate the shared parameters on the documents of a training fold, in a few EM steps."""
    from topiarist.estimators.tree.preparation import TILE_COLUMNS

    fitted, dtype = model.tree_model_, model.word_given_node_.dtype
    prepare_kernels(dtype, "paths")
    counts = model._counts(training, reset=False)
    shard = engine.shard(shorten_documents(counts, model.effective_length_), dtype, TILE_COLUMNS)
    vectors = None if embed is None else np.asarray(embed(training), np.float32)
    block, joined = cam.Block(shard, None, vectors), None
    if vectors is not None:
        joined = Directions.from_vectors(vectors, model.concentration_)
    n_tokens = float(block.training.rows.data.sum(dtype=np.float64))
    words = np.asarray(counts.sum(axis=0), np.float64).ravel() + 1e-9
    prior_tokens = np.full(len(fitted.tree), model.word_smoothing)
    prior_tokens[fitted.tree.root] += model.root_smoothing * n_tokens
    learner = cam.Cam(
        engine, fitted.path_mask, "fixed", (words / words.sum()).astype(dtype), prior_tokens, fitted.node_given_class,
        vector_model=joined, keeps_rows=False,
    )  # fmt: skip
    rules = em.Rules(N_STEPS, 0.0, n_tokens, accelerate=False)
    params = make_cam_params(fitted)
    start = em.State(params if vectors is None else replace(params, directions=model.directions_), (None,))
    fit = em.run(learner, [block], start, rules, inverse_temperature=1.0 / model.temperature_, executor=engine.executor)
    shared: cam.Params = fit.state.shared
    reader = copy.copy(model)
    reader._take(
        TreeModel(
            fitted.tree, fitted.class_nodes, shared.word_given_node, shared.node_given_cluster, shared.cluster_prior
        )
    )
    reader.directions_ = shared.directions
    return reader
