"""Measures between components, merges and levels: golden cases, Monte Carlo, laws."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.stats import multivariate_normal

from tests.work import calls
from topiarist.models.gaussian import overlaps

TOY = json.loads((Path(__file__).parents[1] / "fixtures" / "ggm.json").read_text())["figure_2_toy"]
MIXTURE = overlaps.Mixture(*(np.array(TOY[f"component_{name}"]) for name in ("prior", "mean", "covariance")))


def random_mixture(seed, k=5, d=3):
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(k, d, d)) * 0.5
    covariance = spread @ spread.swapaxes(1, 2) + 0.3 * np.eye(d)
    return overlaps.Mixture(rng.dirichlet(np.ones(k)), rng.normal(size=(k, d)), covariance)


def drawn(mixture, n, seed=0):
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(mixture.weight), n, p=mixture.weight)
    noise = rng.standard_normal((n, mixture.mean.shape[1]))
    return mixture.mean[chosen] + np.einsum("nij,nj->ni", np.linalg.cholesky(mixture.covariance)[chosen], noise), chosen


def joint(mixture, points):
    return np.stack(
        [
            weight * multivariate_normal.pdf(points, mean, covariance)
            for weight, mean, covariance in zip(*mixture, strict=True)
        ],
        axis=1,
    )


def posterior(mixture, points):
    rows = joint(mixture, points)
    return rows / rows.sum(axis=1, keepdims=True)


def test_the_toys_overlaps():
    np.testing.assert_allclose(np.exp(overlaps.log_overlaps(MIXTURE)), TOY["overlap_matrix"], atol=1e-12)


@pytest.mark.parametrize("name", ["l2", "modified_l2"])
def test_the_toys_merges(name):
    linkage = overlaps.merge_components(4, getattr(overlaps, name)(MIXTURE))
    for row, wanted in zip(linkage, TOY[name], strict=True):
        assert sorted(row[:2] + 1) == sorted(wanted["merge"])
        assert row[2] == pytest.approx(wanted["value"], rel=1e-9)
    assert is_valid_linkage(linkage)


def test_the_toys_table_by_confusion():
    points, _ = drawn(MIXTURE, 20_000)
    linkage = overlaps.merge_components(4, overlaps.Confusion(posterior(MIXTURE, points), MIXTURE))
    assert linkage[:, :2].tolist() == [[0, 3], [2, 4], [1, 5]]


@pytest.mark.parametrize("seed", [0, 1])
def test_overlaps_and_distances_agree_with_monte_carlo(seed):
    mixture = random_mixture(seed)
    points, chosen = drawn(mixture, 60_000, seed)
    densities = joint(mixture, points) / mixture.weight
    exact = np.exp(overlaps.log_overlaps(mixture))
    for k in range(5):
        estimate = densities[chosen == k].mean(axis=0)  # E_k p(x|l) = ∫ p(x|k) p(x|l) dx
        error = densities[chosen == k].std(axis=0) / np.sqrt((chosen == k).sum())
        assert (np.abs(estimate - exact[k]) < 5 * error).all()
    one, other = np.array([1, 1, 0, 0, 0], bool), np.array([0, 0, 1, 0, 1], bool)
    total = densities @ mixture.weight

    def between(measure):
        measure.join(0, 1)
        measure.join(2, 4)
        return measure.heights(measure.ranks()[0, 2:3])[0]

    for measure, scale in ((overlaps.l2, True), (overlaps.modified_l2, False)):
        shares = [mixture.weight * mask / (mixture.weight[mask].sum() if scale else 1.0) for mask in (one, other)]
        values = (densities @ (shares[0] - shares[1])) ** 2 / total  # importance sampling from the mixture
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - between(measure(mixture))) < 5 * error


def test_confusion_is_the_share_of_mistaken_points():
    mixture = random_mixture(3)
    points, chosen = drawn(mixture, 60_000, 1)
    shares = posterior(mixture, points)
    found = np.exp(-overlaps.Confusion(shares, mixture).ranks())
    taken = shares.argmax(axis=1)
    for one in range(5):
        for other in range(one + 1, 5):
            counted = ((chosen == one) & (taken == other)) | ((chosen == other) & (taken == one))
            error = np.sqrt(counted.mean() / len(counted)) + 1e-5
            assert abs(found[one, other] - counted.mean()) < 5 * error


def test_kl_of_two_gaussians_is_known():
    mixture = overlaps.Mixture(np.array([0.5, 0.5]), np.array([[0.0], [2.0]]), np.array([[[1.0]], [[4.0]]]))
    there = 0.5 * (1 / 4 + 4 / 4 - 1 + np.log(4))
    back = 0.5 * (4 + 4 - 1 - np.log(4))
    assert overlaps.Divergence(mixture).ranks()[0, 1] == pytest.approx(there + back)
    equal = overlaps.Mixture(mixture.weight, np.zeros((2, 1)), np.ones((2, 1, 1)))
    assert overlaps.Divergence(equal).ranks()[0, 1] == pytest.approx(0.0, abs=1e-12)


def moments(mixture, members):
    share = mixture.weight[members] / mixture.weight[members].sum()
    mean = share @ mixture.mean[members]
    away = mixture.mean[members] - mean
    return mean, np.einsum("k,kij->ij", share, mixture.covariance[members]) + (away * share[:, None]).T @ away


def test_kl_of_merged_clusters_is_that_of_their_moments():
    mixture = random_mixture(4)
    measure = overlaps.Divergence(mixture)
    measure.join(1, 3)
    measure.join(1, 4)
    (mean, spread), (those, wide) = moments(mixture, [1, 3, 4]), moments(mixture, [0])
    away, there, back = mean - those, np.linalg.inv(wide), np.linalg.inv(spread)
    wanted = 0.5 * ((there * spread).sum() + (back * wide).sum() - 6 + away @ (there + back) @ away)
    assert measure.ranks()[1, 0] == measure.ranks()[0, 1] == pytest.approx(wanted)


def test_confusion_of_merged_clusters_is_counted_as_if_they_had_been_one():
    mixture = random_mixture(5)
    points, _ = drawn(mixture, 3000)
    shares = posterior(mixture, points)
    measure = overlaps.Confusion(shares, mixture)
    measure.join(0, 2)
    measure.join(0, 4)
    rows = np.column_stack([shares[:, [0, 2, 4]].sum(axis=1), shares[:, 1], shares[:, 3]])
    sums = np.stack([rows[rows.argmax(axis=1) == place].sum(axis=0) for place in range(3)]) / len(rows)
    found, wanted = np.exp(-measure.ranks())[np.ix_([0, 1, 3], [0, 1, 3])], sums + sums.T
    np.testing.assert_allclose(found[~np.eye(3, dtype=bool)], wanted[~np.eye(3, dtype=bool)], atol=1e-12)


@pytest.mark.parametrize("apart", [40.0, 4000.0])  # mistaken too rarely for 1 − E to show it; never, by any number
def test_clusters_that_no_point_mistakes_merge_by_nearness_and_not_by_their_place(apart):
    mean = apart * np.array([[0.0], [10.0], [1.0], [11.0]])
    mixture = overlaps.Mixture(np.full(4, 0.25), mean, np.ones((4, 1, 1)))
    points, _ = drawn(mixture, 400)
    log_joint = -0.5 * (points - mean.T) ** 2
    shares = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    linkage = overlaps.merge_components(4, overlaps.Confusion(shares, mixture))
    assert {tuple(row) for row in linkage[:2, :2].astype(int).tolist()} == {(0, 2), (1, 3)}
    np.testing.assert_allclose(linkage[:, 2], 1.0)
    assert is_valid_linkage(linkage)


@pytest.mark.parametrize("name", ["l2", "modified_l2"])
def test_unequal_scales_in_many_dimensions_are_no_ties(name):
    d = 300
    mean = np.zeros((4, d))
    mean[:, 0] = [0.0, 5.0, -5.0, 5.5]
    covariance = np.array([1e-3, 1.0, 1.0, 1.0])[:, None, None] * np.eye(d)
    linkage = overlaps.merge_components(
        4, getattr(overlaps, name)(overlaps.Mixture(np.full(4, 0.25), mean, covariance))
    )
    assert linkage[0, :2].tolist() == [1, 3]  # not +5 and −5
    assert linkage[1, :2].tolist() == [2, 4]
    assert np.isfinite(linkage).all()


def test_many_components_merge_without_sums_over_all_pairs_at_every_merge():
    rng = np.random.default_rng(0)
    wide = overlaps.Mixture(rng.dirichlet(np.ones(200)), rng.normal(size=(200, 3)) * 3, np.stack([np.eye(3)] * 200))
    points, _ = drawn(wide, 2000)
    deep = overlaps.Mixture(np.full(60, 1 / 60), rng.normal(size=(60, 100)), np.stack([np.eye(100)] * 60))
    confusion, apart = overlaps.Confusion(posterior(wide, points), wide), overlaps.modified_l2(wide)
    linkage = overlaps.merge_components(200, apart)
    assert is_valid_linkage(linkage)
    assert overlaps.node_members(linkage)[-1].all()
    for n_components, measure in ((200, confusion), (200, apart), (60, overlaps.Divergence(deep))):
        made = calls(overlaps.merge_components, n_components, measure)
        assert made < 100 * n_components, "work for each merge, not for each pair at each merge"


def test_densities_too_large_for_numbers_are_compared_all_the_same():
    d = 400
    mixture = overlaps.Mixture(np.full(3, 1 / 3), np.zeros((3, d)), np.full((3, 1, 1), 1e-4) * np.eye(d))
    mixture.mean[2] = 1.0
    linkage = overlaps.merge_components(3, overlaps.modified_l2(mixture))
    assert np.isfinite(linkage).all()
    assert linkage[0, :2].tolist() == [0, 1]


def test_the_toys_levels_and_sample_dependent_clusters():
    wanted = TOY["level_assignment_modified_l2_rho_0.9"]
    shares = posterior(MIXTURE, np.array(wanted["points"]))
    np.testing.assert_allclose(shares, TOY["component_posteriors"], atol=1e-12)
    linkage = overlaps.merge_components(4, overlaps.modified_l2(MIXTURE))
    cluster, level, chance = overlaps.assign_levels(shares, linkage, 0.9)
    assert level.tolist() == wanted["level"]
    assert (cluster + 1).tolist() == wanted["cluster"]
    assert (chance > 0.9).all()
    chosen = overlaps.select_components(shares, 0.9)
    assert [row.tolist() for row in chosen] == TOY["sample_dependent_rho_0.9"]


def test_nobody_is_left_without_a_cluster():
    shares = np.full((2, 4), 0.25)
    linkage = overlaps.merge_components(4, overlaps.modified_l2(MIXTURE))
    cluster, level, _ = overlaps.assign_levels(shares, linkage, 1.0)
    assert cluster.tolist() == [6, 6]
    assert level.tolist() == [4, 4]
    assert len(overlaps.select_components(shares, 1.0)[0]) == 4
    alone = overlaps.merge_components(
        1, overlaps.modified_l2(overlaps.Mixture(np.ones(1), np.zeros((1, 2)), np.eye(2)[None]))
    )
    assert alone.shape == (0, 4)
    assert overlaps.assign_levels(np.ones((3, 1)), alone, 0.9)[0].tolist() == [0, 0, 0]
