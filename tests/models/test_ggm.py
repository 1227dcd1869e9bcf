"""The mathematics of Gaussian mixtures: against the blackboard, against golden cases, and by its laws."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import gaussians
from topiarist.models import ggm_fitting as fitting
from topiarist.models import ggm_selection as selection
from topiarist.models.em import State
from topiarist.models.ggm import Ggm
from topiarist.models.ggm_condition import Limit
from topiarist.models.ggm_kinds import LargeFull, shape_of
from topiarist.models.ggm_values import Block, Params
from topiarist.scale.threads import Threads

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "ggm.json").read_text())
NAMES = ("component_prior", "component_mean", "component_covariance", "class_given_component")


def params_of(*parts):
    parts = [np.asarray(part, float)[None] for part in parts]
    return Params(*parts, np.zeros(1, bool), np.full(1, -np.inf), np.zeros((1, parts[0].shape[1])), np.zeros(1, int))


def problem(seed, n=40, d=3, k=3, c=2):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d)) + 2 * rng.integers(0, 2, (n, 1))
    labels = np.where(rng.random(n) < 0.4, rng.integers(0, c, n), -1)
    labels[:c] = np.arange(c)
    first = rng.random(n) < 0.5
    spread = rng.normal(size=(k, d, d)) * 0.3
    covariance = spread @ spread.swapaxes(1, 2) + np.eye(d)
    start = (
        rng.dirichlet(np.ones(k)),
        points[rng.choice(n, k, replace=False)],
        covariance,
        rng.dirichlet(np.ones(c), k),
    )
    return points, labels, first, start


def one_step(points, labels, first, weight, start, shape="full", split=0.5, **options):
    sample = fitting.Sample(points[None], labels[None], first[None])
    weights = fitting.weights(sample.classes, weight)
    limit = Limit(np.eye(points.shape[1])[None], 1e12)
    kind = shape_of(shape, points.shape[1]) if isinstance(shape, str) else shape
    model = Ggm(kind, limit, Threads(1), int(labels.max()) + 1, **options)
    total = None
    for block in fitting.halves(sample, weights, split):
        nobody = np.zeros((1, len(start[0]), block.n_examples), bool)
        stats, _ = model.e_step(params_of(*start), block, nobody)
        total = stats if total is None else total + stats
    return model.m_step(total), total


def test_golden_case():
    points = np.vstack([GOLDEN["labelled"], GOLDEN["unlabelled"]])
    labels = np.append(GOLDEN["labels"], np.full(len(GOLDEN["unlabelled"]), -1))
    first = np.append(GOLDEN["first_half_labelled"], GOLDEN["first_half_unlabelled"]).astype(bool)
    sample = fitting.Sample(points[None], labels[None], first[None])
    weight = fitting.weights(sample.classes, GOLDEN["unlabelled_weight"])
    start = params_of(*(GOLDEN["start"][name] for name in NAMES))
    options = fitting.Options(n_classes=2, max_iter=3)
    overall = np.array(GOLDEN["overall_covariance"])[None]
    with Threads(1) as threads:
        fits = fitting.fit_many(fitting.halves(sample, weight, 0.5), start, options, threads, overall=overall)
        joint = selection.joint_of(fits.model, fits.params, np.array(GOLDEN["unlabelled"])[None])[0]
    for name in NAMES:
        np.testing.assert_allclose(getattr(fits.params, name)[0], GOLDEN["after_3_passes"][name], atol=1e-9)
    shares = np.exp(joint - joint.max(axis=0))
    classes = (shares / shares.sum(axis=0)).T @ fits.params.class_given_component[0]
    np.testing.assert_allclose(classes, GOLDEN["after_3_passes"]["class_posterior_unlabelled"], atol=1e-9)


@pytest.mark.parametrize("split", [0.5, None])
@pytest.mark.parametrize("hard", [False, True])
@given(seed=st.integers(0, 10**6), weight=st.sampled_from([0.1, 0.5, 1.0]))
@settings(max_examples=8, deadline=None)
def test_one_step_is_the_blackboards(split, hard, seed, weight):
    points, labels, first, start = problem(seed)
    with np.errstate(all="ignore"):
        wanted = gaussians.step(points, labels, first, weight, *start, split=split is not None, hard=hard)
    if not all(np.isfinite(part).all() for part in wanted) or np.linalg.cond(wanted[2]).max() > 1e8:
        return  # a component without examples
    found, stats = one_step(points, labels, first, weight, start, split=split, hard=hard)
    for name, value in zip(NAMES, wanted, strict=True):
        np.testing.assert_allclose(getattr(found, name)[0], value, atol=1e-10, err_msg=name)
    assert stats.objective == pytest.approx(gaussians.log_likelihood(points, labels, weight, *start), rel=1e-10)


def test_many_dimensions_take_another_way_to_the_same():
    points, labels, first, start = problem(1, n=120, d=6)
    plain, stats = one_step(points, labels, first, 0.5, start)
    large, those = one_step(points, labels, first, 0.5, start, shape=LargeFull())
    for name in NAMES:
        np.testing.assert_allclose(getattr(large, name), getattr(plain, name), atol=1e-12)
    assert those.objective == pytest.approx(stats.objective, rel=1e-12)


def test_examples_that_count_for_nothing_are_left_out_and_change_nothing():
    points, labels, first, start = problem(4, n=400, d=30, k=2)
    points[::2] += 40.0  # far from the others: their shares of a component are far below rounding
    start = (start[0], np.stack([points[::2].mean(axis=0), points[1::2].mean(axis=0)]), *start[2:])
    found, _ = one_step(points, labels, first, 0.5, start)
    wanted = gaussians.step(points, labels, first, 0.5, *start, split=True, hard=False)
    for name, value in zip(NAMES, wanted, strict=True):
        np.testing.assert_allclose(getattr(found, name)[0], value, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("shape", ["diagonal", "shared"])
def test_other_shapes_are_the_full_one_brought_to_shape(shape):
    points, labels, first, start = problem(2, n=80)
    prior, mean, covariance, classes = start
    common = covariance.mean(axis=0)
    if shape == "diagonal":
        own = np.stack([np.diag(matrix) for matrix in covariance])
        full = np.stack([np.diag(row) for row in own])
    else:
        own, full = common, np.stack([common] * 3)
    found, stats = one_step(points, labels, first, 0.5, (prior, mean, own, classes), shape=shape)
    wanted, those = one_step(points, labels, first, 0.5, (prior, mean, full, classes))
    assert stats.objective == pytest.approx(those.objective, rel=1e-12)
    np.testing.assert_allclose(found.component_mean, wanted.component_mean, atol=1e-12)
    matrices = wanted.component_covariance[0]
    if shape == "diagonal":
        expected = np.diagonal(matrices, axis1=1, axis2=2)
    else:
        shares = those.covariance_count[0] / those.covariance_count.sum()
        expected = np.einsum("k,kij->ij", shares, matrices)
    np.testing.assert_allclose(found.component_covariance[0], expected, atol=1e-12)


def test_statistics_add_up_over_blocks_and_threads():
    points, labels, _, start = problem(3, n=5000)
    weight = fitting.weights(labels[None], 0.5)
    model = Ggm(shape_of("full", 3), Limit(np.eye(3)[None], 1e4), Threads(1), 2)

    def stats_of(rows, model=model):
        block = Block(points[None, rows], labels[None, rows], weight[:, rows])
        return model.e_step(params_of(*start), block, np.zeros((1, 3, len(points[rows])), bool))[0]

    whole, parts = stats_of(slice(None)), stats_of(slice(0, 1234)) + stats_of(slice(1234, None))
    np.testing.assert_allclose(whole.squares, parts.squares, rtol=1e-11)
    np.testing.assert_allclose(whole.class_count, parts.class_count, rtol=1e-11)
    assert whole.objective == pytest.approx(parts.objective, rel=1e-12)
    many = stats_of(slice(None), replace(model, threads=Threads(3)))
    np.testing.assert_array_equal(many.squares, whole.squares)


def batch(n_fits, covariance="full", **options):
    rng = np.random.default_rng(0)
    pool = np.vstack([rng.normal(size=(150, 4)), rng.normal(size=(150, 4)) + np.array([3, 0, 1, 0])])
    truth = np.repeat([0, 1], 150)
    rows = np.stack([np.random.default_rng(fit).permutation(300)[:90] for fit in range(n_fits)])
    classes = np.where(np.arange(90) < 20, truth[rows], -1)
    first = np.stack([fitting.drawn_halves(row, 0.5, np.random.default_rng(fit)) for fit, row in enumerate(classes)])
    options = fitting.Options(covariance, 2, **options)
    return fitting.Sample(pool[rows], classes, first), options


@pytest.mark.parametrize("covariance", ["full", "diagonal", "shared"])
@pytest.mark.parametrize("hard", [False, True])
def test_a_batch_is_what_single_fits_are(covariance, hard):
    sample, options = batch(25, covariance, hard=hard)
    weight = fitting.weights(sample.classes, 0.5)
    overall = fitting.overall_covariance(sample.points, weight)
    rngs = [np.random.default_rng(fit) for fit in range(25)]
    start = fitting.random_start(sample, weight, options, 3, rngs)
    with Threads(2) as threads:
        blocks = fitting.halves(sample, weight, 0.5)
        together = fitting.fit_many(blocks, start, options, threads, overall=overall)
        for fit in range(25):
            one = slice(fit, fit + 1)
            alone = fitting.fit_many(
                fitting.halves(sample.of_fits(one), weight[one], 0.5), start.of_fits(one), options, threads,
                overall=overall[one],
            )  # fmt: skip
            assert alone.n_iter[0] == together.n_iter[fit]
            np.testing.assert_allclose(
                alone.params.component_covariance[0], together.params.component_covariance[fit], rtol=1e-9, atol=1e-12
            )
            assert alone.aic[0] == pytest.approx(together.aic[fit], rel=1e-9)


def test_a_settled_fit_stays_as_it_is():
    sample, options = batch(1)
    weight = fitting.weights(sample.classes, 1.0)
    overall = fitting.overall_covariance(sample.points, weight)
    start = fitting.random_start(sample, weight, options, 2, [np.random.default_rng(0)])
    blocks = fitting.halves(sample, weight, 0.5)
    fits = fitting.fit_many(blocks, start, options, Threads(1), overall=overall)
    assert fits.params.settled.all()
    assert fits.n_iter[0] < options.max_iter
    assert np.isfinite(fits.histories[0]).all()


@given(seed=st.integers(0, 10**6), limit=st.sampled_from([10.0, 1e3, 1e4]))
@settings(max_examples=30, deadline=None)
def test_condition_numbers_keep_the_limit_and_no_more_is_added_than_needed(seed, limit):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 12))
    base = rng.normal(size=(1, 3 * d, d))
    overall = base.swapaxes(1, 2) @ base / (3 * d)
    rule = Limit.of(overall, limit)
    spread = rng.normal(size=(1, 4, d, int(rng.integers(1, d + 1)))) * 10.0 ** rng.integers(-4, 1)
    covariance = spread @ spread.swapaxes(-1, -2)
    kept = rule.matrices(covariance)
    assert (rule.condition_numbers(kept) <= limit * (1 + 1e-6)).all()
    added = (kept - covariance)[0, :, 0, 0] / rule.overall[0, 0, 0]
    for k, a in enumerate(added):
        if a > 1e-9:
            less = covariance[0, k] + 0.98 * a * rule.overall[0]
            values = np.linalg.eigvalsh(less)
            least = np.linalg.eigvalsh(rule.overall[0])[0] / limit
            assert values[0] < least * (1 + 1e-6) or values[-1] > limit * values[0] * (1 - 1e-6)


@pytest.mark.parametrize("rank", [3, 20, 40])
def test_in_many_dimensions_bounds_keep_the_limit_and_hardly_more_is_added(rank):
    rng = np.random.default_rng(rank)
    base = rng.normal(size=(1, 120, 40))
    rule = Limit.of(base.swapaxes(1, 2) @ base / 120, 1e4)
    spread = rng.normal(size=(1, 4, 40, rank))
    covariance = spread @ spread.swapaxes(-1, -2)
    kept = rule.matrices(covariance)
    assert (rule.condition_numbers(kept) <= 1e4).all()
    added = (kept - covariance)[0, :, 0, 0] / rule.overall[0, 0, 0]
    for k, a in enumerate(added):
        if a > 1e-9:
            assert rule.condition_numbers(covariance[0, k] + 0.9 * a * rule.overall[0]) > 1e4


def test_small_matrices_are_inverted_as_numpy_does():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(1, 6, 9, 7))
    covariance = parts.swapaxes(-1, -2) @ parts
    covariance[0, 5] = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0])  # no covariance, but not nonsense either
    inverse, log_determinant = shape_of("full", 7).precision(covariance)
    np.testing.assert_allclose(inverse, np.linalg.inv(covariance), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(log_determinant, np.linalg.slogdet(covariance)[1], rtol=1e-12, atol=1e-12)


def test_a_point_becomes_no_needle():
    rule = Limit.of(np.eye(3)[None], 1e3)
    kept = rule.matrices(np.zeros((1, 1, 3, 3)))
    assert np.linalg.eigvalsh(kept)[0, 0, 0] == pytest.approx(1e-3)
    assert np.isfinite(rule.variances(np.zeros((1, 2, 3)))).all()
    singular = Limit.of(np.diag([1.0, 1.0, 0.0])[None], 1e3)
    assert singular.condition_numbers(singular.overall)[0] <= 1e2 * (1 + 1e-6)


def test_parameters_are_counted_as_in_g5():
    limit = Limit(np.eye(5)[None], 1e4)
    assert Ggm(shape_of("full", 5), limit, Threads(1), 3).n_parameters(4, 5) == 4 * (15 + 5 + 3) - 1
    assert Ggm(shape_of("diagonal", 5), limit, Threads(1), 3).n_parameters(4, 5) == 4 * (5 + 5 + 3) - 1
    assert Ggm(shape_of("shared", 5), limit, Threads(1), 3).n_parameters(4, 5) == 15 + 4 * (5 + 3) - 1


def test_components_of_their_own_class_stay_so():
    sample, options = batch(6)
    options = replace(options, own_components=True)
    search = selection.Search(options, (1, 2), split=0.5, from_all=True)
    found = selection.searched(sample, 0.5, search, Threads(1))
    for fit in found.fits:
        given_component = fit.params.class_given_component[0]
        assert set(given_component.ravel()) == {0.0, 1.0}
        assert not fit.degenerate.any()


def test_halves_are_even_and_know_every_class():
    rng = np.random.default_rng(0)
    classes = np.array([0, 0, 1, 1, 2, 2, *[-1] * 11])
    for _ in range(20):
        first = fitting.drawn_halves(classes, 0.5, rng)
        assert first[:6].sum() == 3
        assert first[6:].sum() == 6


def test_the_loop_gives_the_state_that_was_judged():
    sample, options = batch(1, max_iter=2)
    weight = fitting.weights(sample.classes, 1.0)
    overall = fitting.overall_covariance(sample.points, weight)
    start = fitting.random_start(sample, weight, options, 2, [np.random.default_rng(0)])
    blocks = fitting.halves(sample, weight, 0.5)
    fits = fitting.fit_many(blocks, start, options, Threads(1), overall=overall)
    assert fits.histories[0][-1] == pytest.approx(fits.log_likelihood[0])
    assert fits.model.extrapolate(State(start, ()), State(fits.params, ()), 2.0).shared is fits.params


def test_ctrl_c_keeps_what_was_found():
    sample, options = batch(1)

    def stop(loop):
        if loop.steps == 2:
            raise KeyboardInterrupt

    search = selection.Search(options, (2, 3, 4))
    found = selection.searched(sample, 1.0, search, Threads(1), watch=stop)
    assert list(found.tried) == [2]
    assert found.fits[0].n_iter[0] == 2
    assert np.isfinite(found.fits[0].params.component_covariance).all()
