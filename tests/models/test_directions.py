"""Directions beside words: the prior, the precision that vectors lie in, and what words foretell of vectors."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.contracts.models import JOINT, KAPPA, MASK, unit_rows
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import cam, directions, em
from topiarist.models.directions import Directions
from topiarist.models.engine.host import Engine

ENGINE = Engine(load("compiled"), Threads(1))


@pytest.mark.parametrize("beta", [1.0, 0.4])
def test_objective_with_directions_never_falls(beta):
    problem = JOINT.problem(2)
    model = cam.Cam(
        ENGINE, MASK, node_mix="ml", vector_model=Directions.from_vectors(problem["vectors"], KAPPA, documents=4.0)
    )
    block = cam.Block(Shard.from_matrix(csr_array(problem["counts"])), None, problem["vectors"])
    start = em.State(cam.Params(*(problem[name] for name in ("words", "mix", "prior", "directions"))), (None,))
    rules = em.Rules(30, -np.inf, accelerate=False)
    objectives = np.array(em.run(model, [block], start, rules, inverse_temperature=beta).objectives)
    assert (np.diff(objectives) >= -1e-10 * np.abs(objectives[:-1])).all()
    assert objectives[-1] > objectives[0]


def test_empty_cluster_has_common_direction():
    prior = np.array([0.3, 0.0, 0.4])
    means = Directions(5.0, prior).means(np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]))
    np.testing.assert_allclose(means[0], prior / 0.5)
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), 1.0)


def test_zero_vectors_have_zero_direction():
    np.testing.assert_array_equal(Directions(5.0, np.zeros(3)).means(np.zeros((2, 3))), np.zeros((2, 3)))


def test_unweighted_vectors_leave_bits_unchanged():
    problem = JOINT.problem(3)
    shard = Shard.from_matrix(csr_array(problem["counts"]))
    shared = cam.Params(*(problem[name] for name in ("words", "mix", "prior")))
    plain, rows = cam.Cam(ENGINE, MASK, node_mix="ml").e_step(shared, cam.Block(shard))
    for model, block in (
        (cam.Cam(ENGINE, MASK, node_mix="ml"), cam.Block(shard, None, problem["vectors"])),
        (cam.Cam(ENGINE, MASK, node_mix="ml", vector_model=Directions(KAPPA, np.zeros(5))), cam.Block(shard)),
    ):
        stats, other = model.e_step(shared, block)
        assert stats.objective == plain.objective
        assert stats.direction_sum is None
        assert np.array_equal(other, rows)
        assert np.array_equal(stats.node_word_count, plain.node_word_count)


def test_vector_sums_add_over_blocks():
    problem = JOINT.problem(4)
    counts, vectors = csr_array(problem["counts"]), problem["vectors"]
    shared = cam.Params(*(problem[name] for name in ("words", "mix", "prior", "directions")))
    model = cam.Cam(ENGINE, MASK, node_mix="ml", vector_model=Directions.from_vectors(vectors, KAPPA))
    cut = counts.shape[0] // 2

    def sums(rows, given=True):
        block = cam.Block(Shard.from_matrix(counts[rows]), None, vectors[rows] if given else None)
        return model.e_step(shared, block)[0]

    first, second = sums(slice(0, cut)), sums(slice(cut, None))
    np.testing.assert_allclose((first + second).direction_sum, sums(slice(None)).direction_sum, rtol=1e-12)
    plain = sums(slice(0, cut), given=False)
    for both in (plain + second, second + plain):
        assert np.array_equal(both.direction_sum, second.direction_sum)


def test_half_precision_vectors_match_double_precision(monkeypatch):
    rng = np.random.default_rng(0)
    vectors = unit_rows(rng, 50, 8).astype(np.float16)
    posterior = rng.dirichlet(np.ones(3), 50)
    complete = directions.sum_vectors(ENGINE, posterior, vectors)
    np.testing.assert_allclose(complete, posterior.T @ vectors.astype(float), rtol=1e-12)
    monkeypatch.setattr(directions, "SLICE_NUMBERS", 8 * 7)
    np.testing.assert_allclose(directions.sum_vectors(ENGINE, posterior, vectors), complete, rtol=1e-12)
    scores = np.zeros((50, 3))
    means = unit_rows(rng, 3, 8)
    directions.add_agreement(ENGINE, scores, vectors, means, 4.0)
    np.testing.assert_allclose(scores, 4.0 * vectors.astype(float) @ means.T, rtol=1e-12)


def test_vector_log_likelihood_excludes_own_vector():
    """(V4) by hand: each document's own vector is taken out of the sums before it is compared."""
    rng = np.random.default_rng(1)
    vectors, by_words = unit_rows(rng, 12, 4), rng.dirichlet(np.ones(3), 12)
    joined = Directions(6.0, np.array([0.1, 0.0, 0.2, 0.0]))
    means = unit_rows(rng, 3, 4)
    posterior = by_words * np.exp(6.0 * vectors @ means.T)
    posterior /= posterior.sum(axis=1, keepdims=True)
    result = directions.vector_log_likelihood(ENGINE, posterior, vectors, means, joined)
    for d in range(12):
        total = 0.0
        for c in range(3):
            others = joined.prior + sum(posterior[e, c] * vectors[e] for e in range(12) if e != d)
            total += by_words[d, c] * np.exp(6.0 * others @ vectors[d] / np.linalg.norm(others))
        assert result[d] == pytest.approx(np.log(total), rel=1e-9)


def test_vector_log_likelihood_zero_without_vector():
    rng = np.random.default_rng(2)
    vectors, posterior = unit_rows(rng, 6, 4), rng.dirichlet(np.ones(3), 6)
    vectors[2] = 0.0
    result = directions.vector_log_likelihood(
        ENGINE, posterior, vectors, unit_rows(rng, 3, 4), Directions(6.0, np.zeros(4))
    )
    assert result[2] == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(result).all()
