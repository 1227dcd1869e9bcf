"""Stepwise EM: one law for all models."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.oracles import trees as oracle
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import cam, hplsa, online, plsa
from topiarist.models.engine.host import Engine

MASK = oracle.balanced(2)
ENGINE = Engine(load(), Threads(1))


@pytest.fixture(scope="module")
def shard():
    return Shard.from_matrix(csr_array(oracle.planted(np.random.default_rng(1), MASK, n_docs=80)[0].astype(float)))


def cases(shard):
    """A model with parameters and a batch, for each model; and the statistics of a plain E-step."""
    rng = np.random.default_rng(0)
    n_words = shard.shape[1]
    words = rng.dirichlet(np.ones(n_words), 7)
    mix = MASK / MASK.sum(axis=1, keepdims=True)
    flat = plsa.Plsa(ENGINE, 0.01, 0.05)
    shared = plsa.Params.of(words[:4])
    rows = plsa.fold_in_rows(ENGINE, shard.rows, shared.by_word, 0.05, 1.0, plsa.BATCH_FOLDING)
    yield flat, shared, shard, flat.e_step(shared, shard, rows)[0]
    for topic_mix, block in (("ml", shard), ("heldout", hplsa.Block(shard, shard))):
        tree = hplsa.Hplsa(ENGINE, MASK, 0.01, 0.05, topic_mix)
        shared = hplsa.Params(words, mix)
        rows = plsa.fold_in_rows(ENGINE, shard.rows, tree.class_word_table(shared), 0.05, 1.0, plsa.BATCH_FOLDING)
        yield tree, shared, block, tree.e_step(shared, block, rows)[0]
    collection = shard.word_totals() / shard.word_totals().sum()
    tree = cam.Cam(ENGINE, MASK, "heldout", collection, np.full(7, 3.0))
    shared, block = cam.Params(words, mix, np.full(4, 0.25)), cam.Block(shard, shard)
    yield tree, shared, block, tree.e_step(shared, block)[0]


def tokens_of(block):
    """Those that are held out too."""
    parts = block if isinstance(block, tuple) else (block,)
    return sum(part.rows.data.sum() for part in parts if part is not None)


def arrays(thing):
    return {name: value for name, value in vars(thing).items() if isinstance(value, np.ndarray)}


def empty(stats):
    return type(stats)(**{name: np.zeros_like(value) for name, value in arrays(stats).items()}, objective=0.0)


def test_full_weight_batch_equals_em_step(shard):
    for model, shared, block, stats in cases(shard):
        stream, _ = online.absorb(model, online.Stream(empty(stats), 0, 0.0), shared, block)
        stepped, expected = stream.params(model), model.m_step(stats)
        for name, value in arrays(expected).items():
            np.testing.assert_allclose(getattr(stepped, name), value, rtol=1e-9, atol=1e-15)
        assert (stream.batches, stream.tokens) == (1, tokens_of(block))


def test_batch_weight_depends_on_previous_tokens(shard):
    for model, shared, block, stats in cases(shard):
        tokens = float(tokens_of(block))
        before = type(stats)(**{name: np.full_like(v, 1e-3) for name, v in arrays(stats).items()}, objective=0.0)
        stream, figure = online.absorb(model, online.Stream(before, 3, 3 * tokens), shared, block)
        assert figure == pytest.approx(stats.objective / shard.rows.data.sum(), rel=0.02)  # of the tokens learned from
        rate = 4**-0.6
        for name, value in arrays(stats).items():
            blend = (1 - rate) * 1e-3 + rate * value / tokens
            np.testing.assert_allclose(getattr(stream.stats, name), blend, rtol=1e-9)


def test_empty_batch_only_increases_count(shard):
    for model, shared, _, stats in cases(shard):
        nothing = Shard.from_matrix(csr_array((3, shard.shape[1])))
        stream = online.Stream(stats, 1, 10.0)
        after, figure = online.absorb(model, stream, shared, nothing)
        assert (after.stats, after.batches, after.tokens) == (stats, 2, 10.0)
        assert np.isnan(figure)


def test_expected_counts_exclude_smoothing():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (5, 40)).astype(float)
    words = (counts + 0.3) / (counts + 0.3).sum(axis=1, keepdims=True)
    tokens = counts.sum()
    result = online.expected_counts(words, counts.sum(axis=1) / tokens, 0.3, tokens)
    np.testing.assert_allclose(result * tokens, counts, atol=1e-9)


def test_add_words_keeps_row_sums():
    words = np.random.default_rng(0).dirichlet(np.ones(10), 3)
    wide = online.add_words(words, np.array([0.0, 10.0, 1e6]), 14)
    np.testing.assert_allclose(wide.sum(axis=1), 1)
    assert (wide > 0).all()
    assert wide[2, 10:].max() == pytest.approx(1e-8, rel=1e-3)
