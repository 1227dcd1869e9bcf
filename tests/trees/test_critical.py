"""Critical temperatures: against golden figures, against dense algebra, and against EM itself."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.strategies import counts
from tests.trees.makers import engine
from topiarist.kernels.shard import Shard
from topiarist.models import cam, em, hplsa, plsa
from topiarist.trees.growth.annealed import critical_inverse_temperature, critical_temperature

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "critical.json").read_text())
PLANTED = csr_array(np.array(GOLDEN["counts_rows_planted"], float))
PLAIN = {"tol": -np.inf, "accelerate": False}


def test_critical_temperatures_match_golden_values():
    assert critical_inverse_temperature(PLANTED) == pytest.approx(GOLDEN["beta_c"], rel=1e-12)
    assert critical_temperature(PLANTED) == pytest.approx(GOLDEN["T_c"], rel=1e-12)


@given(counts())
def test_critical_temperatures_match_dense_algebra(matrix):
    dense = matrix.toarray()[:, matrix.toarray().sum(axis=0) > 0]
    total, lengths, frequency = dense.sum(), dense.sum(axis=1), dense.sum(axis=0)
    safe = np.where(lengths > 0, lengths, 1)
    singular = np.append(np.linalg.svd(dense / np.sqrt(np.outer(safe, frequency)), compute_uv=False), 0.0)
    # an eigenvalue of rounding error only, 1e-16, is a singular value of 1e-8
    assert critical_inverse_temperature(matrix) == pytest.approx(1 / (1 + singular[1]), abs=1e-7)
    words = frequency / total
    residuals = (dense - lengths[:, None] * words) / np.sqrt(words)
    top = np.linalg.eigvalsh(residuals @ residuals.T / total)[-1]
    assert critical_temperature(matrix) == pytest.approx(top, abs=1e-9 * max(1.0, lengths.max()))


def test_identical_documents_never_split():
    alike = csr_array(np.outer([1.0, 2.0, 5.0, 0.0], [3.0, 1.0, 0.0, 2.0]))
    assert critical_inverse_temperature(alike) == pytest.approx(1.0)
    assert critical_temperature(alike) == pytest.approx(0.0)
    for lone in ([[1.0, 2.0]], [[1.0], [2.0]], [[0.0, 0.0]]):
        assert critical_inverse_temperature(csr_array(np.array(lone))) == 1.0
        assert critical_temperature(csr_array(np.array(lone))) == 0.0


def test_documents_without_common_words_split_first():
    apart = csr_array(np.kron(np.eye(2), np.ones((3, 4))))
    assert critical_inverse_temperature(apart) == pytest.approx(0.5)
    assert critical_temperature(apart) == pytest.approx(4.0)  # tokens of a document


def test_critical_temperature_ignores_order_and_dtype():
    order = np.random.default_rng(1).permutation(PLANTED.shape[0])
    for other in (PLANTED[order], PLANTED.astype(np.float32), PLANTED.astype(np.int32), PLANTED.tocsc()):
        assert critical_temperature(other) == pytest.approx(GOLDEN["T_c"], rel=1e-9)
    assert critical_temperature(PLANTED) == critical_temperature(PLANTED)
    assert critical_temperature(2 * PLANTED) == pytest.approx(2 * GOLDEN["T_c"])
    assert critical_inverse_temperature(2 * PLANTED) == pytest.approx(GOLDEN["beta_c"])


def difference(words):
    """Between two distributions of words."""
    return float(np.abs(words[0] - words[1]).sum())


def disturbed(matrix, n_rows=2, scale=0.01):
    """Copies of the collection's words, nearly alike."""
    words = matrix.sum(axis=0) * np.exp(scale * np.random.default_rng(0).standard_normal((n_rows, matrix.shape[1])))
    return words / words.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("factor", "parts"), [(0.98, False), (1.02, True)])
def test_plsa_components_split_above_critical_inverse_temperature(factor, parts):
    start = disturbed(PLANTED)
    rows = np.full((PLANTED.shape[0], 2), 0.5)
    state = em.State(plsa.Params.of(start), (rows,))
    model, rules = plsa.Plsa(engine()), em.Rules(600, **PLAIN)
    fit = em.run(model, [Shard.from_matrix(PLANTED)], state, rules, inverse_temperature=factor * GOLDEN["beta_c"])
    after = difference(fit.state.shared.word_given_component)
    assert after > 0.1 if parts else after < 1e-3 * difference(start)


@pytest.mark.parametrize(("factor", "parts"), [(1.02, False), (0.98, True)])
def test_clusters_split_below_critical_temperature(factor, parts):
    start = disturbed(PLANTED)
    model = cam.Cam(engine(), np.eye(2, dtype=bool), "ml")
    state = em.State(cam.Params(start, np.eye(2), np.full(2, 0.5)), (np.full((PLANTED.shape[0], 2), 0.5),))
    block, beta = cam.Block(Shard.from_matrix(PLANTED)), 1 / (factor * GOLDEN["T_c"])
    fit = em.run(model, [block], state, em.Rules(600, **PLAIN), inverse_temperature=beta)
    after = difference(fit.state.shared.word_given_node)
    assert after > 0.1 if parts else after < 1e-3 * difference(start)


MASK = np.array([[True, True, False], [True, False, True]])  # two leaves below a parent


def leaf_mix(share):
    """The leaf's share of each path; the parent has the rest."""
    return np.where(MASK, [1 - share, share, share], 0.0)


def words_of_three():
    """Words of a parent, and of two leaves that are nearly alike."""
    return np.concatenate([disturbed(PLANTED, 1, 0.0), disturbed(PLANTED)])


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(("factor", "parts"), [(0.98, False), (1.02, True)])
def test_hplsa_leaves_split_by_tempered_share(share, factor, parts):
    """(H9): at β = 1 / (1 + σ √t)."""
    sigma, beta = 1 / GOLDEN["beta_c"] - 1, 0.5
    for _ in range(100):
        tempered = share**beta / (share**beta + (1 - share) ** beta)
        beta = 1 / (1 + sigma * np.sqrt(tempered))
    assert GOLDEN["beta_c"] < beta < 1
    model = hplsa.Hplsa(engine(), MASK, topic_mix="fixed", fixed_mix=leaf_mix(share))
    state = em.State(hplsa.Params(words_of_three(), leaf_mix(share)), (np.full((PLANTED.shape[0], 2), 0.5),))
    fit = em.run(model, [Shard.from_matrix(PLANTED)], state, em.Rules(600, **PLAIN), inverse_temperature=factor * beta)
    after = difference(fit.state.shared.word_given_topic[1:])
    assert after > 0.1 if parts else after < 1e-3 * difference(words_of_three()[1:])


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(("factor", "parts"), [(1.25, False), (0.8, True)])
def test_cam_leaves_split_at_one_temperature(share, factor, parts):
    """T_c for every share s: a step multiplies the difference by 1 − s + s T_c / T."""
    model = cam.Cam(engine(), MASK, "fixed", fixed_mix=leaf_mix(share))
    params = cam.Params(words_of_three(), leaf_mix(share), np.full(2, 0.5))
    state = em.State(params, (np.full((PLANTED.shape[0], 2), 0.5),))
    block, beta = cam.Block(Shard.from_matrix(PLANTED)), 1 / (factor * GOLDEN["T_c"])
    fit = em.run(model, [block], state, em.Rules(600, **PLAIN), inverse_temperature=beta)
    after = difference(fit.state.shared.word_given_node[1:])
    assert after > 0.1 if parts else after < 1e-3 * difference(words_of_three()[1:])


@given(st.integers(1, 10**6))
def test_critical_temperatures_stay_in_bounds(seed):
    rng = np.random.default_rng(seed)
    matrix = csr_array(rng.poisson(0.3, (int(rng.integers(1, 40)), int(rng.integers(1, 40)))).astype(float))
    assert 0.5 - 1e-9 <= critical_inverse_temperature(matrix) <= 1
    assert 0 <= critical_temperature(matrix) <= matrix.sum(axis=1).max() + 1e-9
