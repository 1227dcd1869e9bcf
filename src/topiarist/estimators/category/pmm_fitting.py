"""What ``PMM`` does with a collection: group it by label sets, run the loop, calibrate thresholds on folds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.estimators.common.progress import fitting
from topiarist.models import em, label_shares, pmm
from topiarist.models.engine.host import Engine, Floats
from topiarist.models.label_sets import Block, Grouped, grouped
from topiarist.scale.blocks import BlockStore
from topiarist.store.array_files import Scratch

FOLDS = 5
FOLD_RULES = {"max_iter": 200, "tol": 1e-5}  # thresholds need no more
NUMBERS = 1 << 24  # documents × labels read at once


@dataclass(frozen=True)
class Fitted:
    """What a fit found."""

    fit: em.Fit
    by_word: Floats  # (n_words, n_labels)
    label_bias: Floats  # (n_labels, n_labels)
    label_docs: Any  # documents of each label
    known: Any  # bool (n_words,): words of the training documents


def fit(engine: Engine, counts: Any, labels: Any, settings: Any, **rules: Any) -> Fitted:
    """Fit a ``PMM``'s model to counts and labels, both sparse by rows (counts may be a ``BlockStore``)."""
    data = grouped(_with_labels(counts, labels), counts.shape[1])
    model = pmm.Pmm(
        engine, data.pattern, data.alone, settings.order,
        float(settings.word_prior) - 1.0, float(settings.bias_prior) - 1.0,
    )  # fmt: skip
    chosen = {"max_iter": settings.max_iter, "tol": settings.tol, **rules}
    told = em.Rules(weight=max(data.n_tokens, 1.0), movement=model.movement, turns_back=model.turns_back, **chosen)
    shown = bool(settings.verbose) and not rules
    with fitting(f"PMM{settings.order}", told, show=shown) as watch, _placed(data, settings.executor) as blocks:
        found = _run(model, data, blocks, told, watch, settings.executor)
    shared: pmm.Params = found.state.shared
    n_labels = data.pattern.n_labels
    bias = shared.bias if settings.order == 2 else np.broadcast_to(0.5, (n_labels, n_labels))
    known = np.zeros(data.pattern.n_words, bool)
    known[data.pattern.words] = True
    return Fitted(found, shared.by_word(data.pattern), bias, data.label_docs, known)


def _run(model: pmm.Pmm, data: Grouped, blocks: Any, rules: em.Rules, watch: Any, executor: Any) -> em.Fit:
    start = pmm.initial(model, data)
    if blocks:
        return em.run(model, blocks, start, rules, watch=watch, executor=executor)
    objective = model.log_prior(start.shared)  # single labels only: the start is the optimum, and one step says so
    return em.Fit(start, (objective, objective), (), 1, "converged")


@contextmanager
def _placed(data: Grouped, executor: Any) -> Iterator[Any]:
    """The blocks; in files as long as this lasts, where the executor needs them there."""
    if not getattr(executor, "needs_files", False):
        yield data.blocks
        return
    with tempfile.TemporaryDirectory(dir=executor.scratch, prefix="topiarist-") as folder:
        scratch = Scratch(Path(folder))
        yield [_in_files(block, scratch) for block in data.blocks]


def _in_files(block: Block, scratch: Scratch) -> Block:
    def kept(array: Any) -> Any:
        file = scratch.rows()
        file.save(array)
        return file

    return Block(type(block.sets)(*map(kept, block.sets)), kept(block.pair_members), kept(block.pair_labels))


def _with_labels(counts: Any, labels: Any) -> Iterator[tuple[Any, Any]]:
    """Parts of the collection with their labels."""
    if not isinstance(counts, BlockStore):
        yield counts, labels
        return
    place = 0
    for block in counts.blocks():
        part = block.counts()
        yield part, csr_array(labels[place : place + part.shape[0]])
        place += part.shape[0]


def parts_of(counts: Any, n_labels: int) -> Iterator[Any]:
    """Counts of so many documents that an array of documents × labels is small."""
    size = max(1, NUMBERS // n_labels)
    for part in (block.counts() for block in counts.blocks()) if isinstance(counts, BlockStore) else (counts,):
        if part.shape[0] <= size:
            yield part
        else:
            yield from (csr_array(part[start : start + size]) for start in range(0, part.shape[0], size))


def calibrated(engine: Engine, counts: Any, labels: Any, settings: Any) -> Floats:
    """(M8): thresholds from shares of documents by models that have not seen them."""
    if isinstance(counts, BlockStore):
        counts = csr_array(counts.sample(len(counts)))
    fold = np.arange(counts.shape[0]) % min(FOLDS, counts.shape[0])
    shares = np.zeros((counts.shape[0], labels.shape[1]))
    for number in range(int(fold.max()) + 1 if counts.shape[0] > 1 else 0):
        rest, here = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        seen = fit(engine, csr_array(counts[rest]), csr_array(labels[rest]), settings, **FOLD_RULES)
        shares[here] = label_shares.shares(engine, seen.by_word, csr_array(counts[here]))
    return label_shares.best_thresholds(shares, labels)


def prior_margins(label_prior: Floats) -> Floats:
    """What speaks for each label where words say nothing: log-frequencies, above zero for the most frequent alone."""
    logs = np.log(np.maximum(label_prior, 1e-12))
    best = int(logs.argmax())
    margins: Floats = logs - logs[best]
    others = np.delete(logs, best)
    margins[best] = max(logs[best] - others.max(), 1e-12) if len(others) else 1.0
    return margins
