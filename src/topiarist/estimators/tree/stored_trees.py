"""Trees and collections that are files: HPLSA fits them on a given tree, all trees read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.counts.validation import token_counts
from topiarist.estimators.common import options
from topiarist.estimators.common.progress import fitting
from topiarist.estimators.common.stored_counts import as_store, check_filled, in_memory, read_store, refuse
from topiarist.estimators.tree import preparation
from topiarist.models import em, hplsa
from topiarist.models.engine.compilation import prepare_kernels


def fit_hplsa(estimator: Any, X: Any) -> None:
    """Fit an ``HPLSA`` with a given tree to a store. The start is that of ``models.hplsa.initial``."""
    if estimator.tree is None:
        in_memory(X, "growing a tree", estimator.executor)
    if estimator.topic_mix == "heldout":
        refuse(estimator, "held-out tokens are drawn in memory", topic_mix="ml")
    refuse(estimator, "they cannot be weighted on their way", effective_length=None)
    tree = estimator.tree
    preparation.check_tree(tree, estimator.n_classes, "n_classes")
    classes = tree.leaves if estimator.class_nodes == "leaves" else tuple(range(len(tree)))
    with as_store(estimator, X) as store, options.running(estimator) as engine:
        check_filled(store, len(tree.leaves), f"the given tree with {len(tree.leaves)} leaves")
        dtype = options.precision(estimator.dtype, store.nnz, store.largest, preparation.TILE_COLUMNS)
        prepare_kernels(dtype, "paths", device=estimator.device)
        rng = options.generator(estimator.random_state)
        mask, blocks = tree.path_mask(classes), store.blocks(dtype)
        model = hplsa.Hplsa(
            engine, mask, estimator.word_smoothing, estimator.class_smoothing, estimator.topic_mix, estimator.variant,
            int(rng.integers(2**31)),
        )  # fmt: skip
        tol = estimator.tol if estimator.variant != "sem" else -np.inf
        rules = em.Rules(estimator.max_iter, tol, store.n_tokens, accelerate=model.monotone)
        with fitting("HPLSA", rules, show=bool(estimator.verbose)) as watch:
            fit = em.run(
                model, blocks, lambda: hplsa.initial(blocks, mask, rng, estimator.word_smoothing), rules,
                watch=watch, executor=estimator.executor,
            )  # fmt: skip
        estimator._keep_fit(tree, classes, fit)
        estimator.curve_, estimator.grown_, estimator.stopped_ = None, "given", fit.reason
        answers = read_store(store, estimator._reader(engine), estimator.executor)
        estimator.class_given_doc_, estimator.labels_ = answers.rows(), answers.labels()
        estimator.class_prior_ = answers.tokens / answers.tokens.sum()
        lengths = (token_counts(block.counts()) for block in store.blocks())
        estimator._lengths = answers.kept((len(store),), np.float64, lengths)
        estimator._forget_stream(len(store), store.n_tokens)
