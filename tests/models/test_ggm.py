"""The mathematics of Gaussian mixtures: against the blackboard, against golden cases, and by its laws."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import gaussians
from topiarist.execution.executors import InProcess
from topiarist.execution.threads import Threads
from topiarist.models.em import State
from topiarist.models.gaussian import fits as fitting
from topiarist.models.gaussian import selection, starts
from topiarist.models.gaussian.covariances import LargeFull, Limit, shape_of
from topiarist.models.gaussian.mixture import Block, Ggm, Options, Params

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "ggm.json").read_text())
NAMES = ("component_prior", "component_mean", "component_covariance", "class_given_component")


def params_of(*parts):
    parts = [np.asarray(part, float)[None] for part in parts]
    nothing = np.zeros(parts[0].shape)
    return Params(*parts, np.zeros(1, bool), np.full(1, -np.inf), nothing, np.zeros(1, int), nothing.astype(bool))


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
    sample = starts.Sample(points[None], labels[None], first[None])
    weights = fitting.compute_weights(sample.classes, weight)
    limit = Limit(np.eye(points.shape[1])[None], 1e12)
    kind = shape_of(shape, points.shape[1]) if isinstance(shape, str) else shape
    model = Ggm(kind, limit, Threads(1), int(labels.max()) + 1, **options)
    total = None
    for block in fitting.split_examples(sample, weights, split):
        nobody = np.zeros((1, len(start[0]), block.n_examples), bool)
        stats, _ = model.e_step(params_of(*start), block, nobody)
        total = stats if total is None else total + stats
    return model.m_step(total), total


def test_golden_case():
    points = np.vstack([GOLDEN["labelled"], GOLDEN["unlabelled"]])
    labels = np.append(GOLDEN["labels"], np.full(len(GOLDEN["unlabelled"]), -1))
    first = np.append(GOLDEN["first_half_labelled"], GOLDEN["first_half_unlabelled"]).astype(bool)
    sample = starts.Sample(points[None], labels[None], first[None])
    weight = fitting.compute_weights(sample.classes, GOLDEN["unlabelled_weight"])
    start = params_of(*(GOLDEN["start"][name] for name in NAMES))
    options = Options(n_classes=2, max_iter=3)
    overall = np.array(GOLDEN["overall_covariance"])[None]
    with Threads(1) as threads:
        fits = fitting.fit_many(
            fitting.split_examples(sample, weight, 0.5), start, options, threads, overall_covariance=overall
        )
        joint = selection.compute_joint(fits.model, fits.params, np.array(GOLDEN["unlabelled"])[None])[0]
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


def test_shared_covariance_is_mean_of_full_ones():
    points, labels, first, start = problem(2, n=80)
    prior, mean, covariance, classes = start
    common = covariance.mean(axis=0)
    found, stats = one_step(points, labels, first, 0.5, (prior, mean, common, classes), shape="shared")
    wanted, those = one_step(points, labels, first, 0.5, (prior, mean, np.stack([common] * 3), classes))
    assert stats.objective == pytest.approx(those.objective, rel=1e-12)
    np.testing.assert_allclose(found.component_mean, wanted.component_mean, atol=1e-12)
    shares = those.covariance_count[0] / those.covariance_count.sum()
    expected = np.einsum("k,kij->ij", shares, wanted.component_covariance[0])
    np.testing.assert_allclose(found.component_covariance[0], expected, atol=1e-12)


def test_statistics_add_up_over_blocks_and_threads():
    points, labels, _, start = problem(3, n=5000)
    weight = fitting.compute_weights(labels[None], 0.5)
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
    first = np.stack([fitting.draw_halves(row, 0.5, np.random.default_rng(fit)) for fit, row in enumerate(classes)])
    options = Options(covariance, 2, **options)
    return starts.Sample(pool[rows], classes, first), options


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("hard", [False, True])
def test_a_batch_is_what_single_fits_are(covariance, hard):
    sample, options = batch(25, covariance, hard=hard)
    weight = fitting.compute_weights(sample.classes, 0.5)
    overall = starts.overall_covariance(sample.points, weight)
    rngs = [np.random.default_rng(fit) for fit in range(25)]
    start = starts.random_start(sample, weight, options, 3, rngs)
    with Threads(2) as threads:
        blocks = fitting.split_examples(sample, weight, 0.5)
        together = fitting.fit_many(blocks, start, options, threads, overall_covariance=overall)
        for fit in range(25):
            one = slice(fit, fit + 1)
            alone = fitting.fit_many(
                fitting.split_examples(sample.of_fits(one), weight[one], 0.5), start.of_fits(one), options, threads,
                overall_covariance=overall[one],
            )  # fmt: skip
            assert alone.n_iter[0] == together.n_iter[fit]
            np.testing.assert_allclose(
                alone.params.component_covariance[0], together.params.component_covariance[fit], rtol=1e-9, atol=1e-12
            )
            assert alone.aic[0] == pytest.approx(together.aic[fit], rel=1e-9)
            assert alone.aic[0] == alone.n_parameters - alone.log_likelihood[0]


def test_a_settled_fit_stays_as_it_is():
    sample, options = batch(1)
    weight = fitting.compute_weights(sample.classes, 1.0)
    overall = starts.overall_covariance(sample.points, weight)
    start = starts.random_start(sample, weight, options, 2, [np.random.default_rng(0)])
    blocks = fitting.split_examples(sample, weight, 0.5)
    fits = fitting.fit_many(blocks, start, options, Threads(1), overall_covariance=overall)
    assert fits.params.settled.all()
    assert fits.n_iter[0] < options.max_iter
    assert len(fits.histories[0]) == fits.n_iter[0] + 1
    stats, local = fits.model.e_step(fits.params, blocks[0], np.zeros((1, 2, blocks[0].n_examples), bool))
    stats, _ = fits.model.e_step(fits.params, blocks[0], local)
    further = fits.model.m_step(stats)  # one step more, with nothing changed
    for name in NAMES:
        np.testing.assert_array_equal(getattr(further, name), getattr(fits.params, name))


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_without_a_split_no_step_leads_down(covariance, seed):
    points, labels, first, _ = problem(seed, n=200)
    sample = starts.Sample(points[None], labels[None], first[None])
    weight, options = fitting.compute_weights(sample.classes, 0.5), Options(covariance, 2, condition_limit=1e10)
    model = Ggm(shape_of(covariance, 3), Limit(np.eye(3)[None], 1e10), Threads(1), 2, tol=-1.0)
    (block,) = fitting.split_examples(sample, weight, None)
    for begin in (starts.random_start, starts.cluster_start):
        params, reached = begin(sample, weight, options, 3, [np.random.default_rng(seed)]), -np.inf
        for _ in range(20):
            stats, _ = model.e_step(params, block, np.zeros((1, 3, 200), bool))
            assert stats.objective >= reached - 1e-9 * abs(stats.objective)
            params, reached = model.m_step(stats), stats.objective
        assert not params.settled.any()


def test_restarts_are_one_batch_and_each_is_what_it_is_alone():
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(60, 2)) + centre for centre in ([0, 0], [5, 0], [0, 5])])
    nobody = np.full(180, -1)
    sample = starts.Sample(points[None], nobody[None], fitting.draw_halves(nobody, 0.5, rng)[None])
    sizes = []
    run = fitting.fit_many

    def counted(blocks, start, *rest, **options):
        sizes.append(len(start))
        return run(blocks, start, *rest, **options)

    search = selection.Search(Options(), (3,), n_init=4, start="auto", from_all=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "fit_many", counted)
        together = selection.search_mixtures(sample, 1.0, search, Threads(1))
    assert sizes == [4]
    weight = np.ones((1, 180))
    alone = []
    for number in range(4):
        begin = starts.cluster_start if number % 2 == 0 else starts.random_start
        start = begin(sample, weight, search.options, 3, [np.random.default_rng([0, 3, number, 0])])
        overall = starts.overall_covariance(sample.points, weight)
        fits = run(
            fitting.split_examples(sample, weight, 0.5), start, search.options, Threads(1), overall_covariance=overall
        )
        alone.append(fitting.refine_with_all(fits, sample, weight))
    assert together.criteria[3][0] == pytest.approx(min(float(fit.aic[0]) for fit in alone), rel=1e-9)


def test_components_of_classes_are_started_several_times():
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0], [0, 1], [60, 0], [60, 1], [0, 60], [0, 61]])
    points = np.vstack([centre + 0.05 * rng.normal(size=(40, 2)) for centre in centres])
    labels = np.zeros(240, int)
    labels[::2] = 1
    points[labels == 1] += 200
    sample = starts.Sample(points[None], labels[None], fitting.draw_halves(labels, 0.5, rng)[None])
    options = Options(n_classes=2, own_components=True, condition_limit=1e10)
    one, several = (
        selection.search_mixtures(
            sample, 1.0, selection.Search(options, (6,), n, start=kind, from_all=True), Threads(1)
        )
        for n, kind in ((1, "overall"), (6, "auto"))
    )
    assert several.fits[0].log_likelihood[0] > one.fits[0].log_likelihood[0] + 100


def test_blocks_add_up_to_the_whole_with_any_executor(monkeypatch):
    points, labels, first, _ = problem(5, n=700)
    sample = starts.Sample(points[None], labels[None], first[None])
    search = selection.Search(Options(n_classes=2), (3,), start="clusters", from_all=True)
    whole = selection.search_mixtures(sample, 0.5, search, Threads(1)).fits[0]

    class Watched(InProcess):
        blocks = ()

        def total(self, function, blocks, local):
            self.blocks = (*self.blocks, tuple(block.n_examples for block in blocks))
            return super().total(function, blocks, local)

    monkeypatch.setattr(fitting, "BLOCK_EXAMPLES", 150)
    executor = Watched()
    cut = selection.search_mixtures(sample, 0.5, search, Threads(1), executor=executor).fits[0]
    assert set(executor.blocks) == {(150, 150, 150, 150, 100)}
    assert cut.n_iter[0] == whole.n_iter[0]
    for name in NAMES:
        np.testing.assert_allclose(getattr(cut.params, name), getattr(whole.params, name), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(cut.histories[0], whole.histories[0], rtol=1e-10)


def test_sums_of_pieces_are_let_go_as_they_are_added():
    import tracemalloc

    rng = np.random.default_rng(0)
    n, d, k = 40_000, 120, 4
    points = rng.normal(size=(1, n, d))
    block = Block(points, np.full((1, n), -1), np.ones((1, n)))
    start = params_of(np.full(k, 1 / k), points[0, :k], np.stack([np.eye(d)] * k), np.zeros((k, 0)))
    model = Ggm(shape_of("full", d), Limit(np.eye(d)[None], 1e4), Threads(1))
    nobody = np.zeros((1, k, n), bool)
    want, _ = model.e_step(start, block, nobody)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("topiarist.models.gaussian.mixture.WAVE_NUMBERS", 1)
        tracemalloc.start()
        stats, _ = model.e_step(start, block, nobody)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    np.testing.assert_array_equal(stats.squares, want.squares)
    assert peak < 20 * k * d * d * 8  # forty pieces have sums of their own


def test_many_components_held_in_many_dimensions_are_degenerate():
    rng = np.random.default_rng(0)
    d = 40
    points = rng.normal(size=(400, d))
    points[:12] = 30 + 1e-3 * rng.normal(size=(12, d))  # too few for a shape of their own
    nobody = np.full(400, -1)
    sample = starts.Sample(points[None], nobody[None], fitting.draw_halves(nobody, 0.5, rng)[None])
    search = selection.Search(Options(), (2,), start="clusters", from_all=True)
    fit = selection.search_mixtures(sample, 1.0, search, Threads(1)).fits[0]
    assert fit.params.count[0].min() == pytest.approx(12, abs=0.1)
    assert fit.degenerate[0]


def test_a_component_at_the_floor_is_degenerate_and_a_flat_one_is_not():
    rng = np.random.default_rng(0)
    round_ones = rng.normal(size=(300, 3))
    nobody = np.full(360, -1)
    for small, degenerate in ((np.full((60, 3), 20.0), True), (20 + rng.normal(size=(60, 3)) * [3, 3, 0.02], False)):
        points = np.vstack([round_ones, small])
        sample = starts.Sample(points[None], nobody[None], fitting.draw_halves(nobody, 0.5, rng)[None])
        search = selection.Search(Options(condition_limit=1e4), (2,), start="clusters", from_all=True)
        fit = selection.search_mixtures(sample, 1.0, search, Threads(1)).fits[0]
        assert fit.degenerate[0] == degenerate


def condition_numbers(covariance):
    values = np.linalg.eigvalsh(covariance)
    return np.where(values[..., 0] > 0, values[..., -1] / np.maximum(values[..., 0], 1e-300), np.inf)


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
    kept = rule.matrices(covariance).covariance
    assert (condition_numbers(kept) <= limit * (1 + 1e-6)).all()
    added = (kept - covariance)[0, :, 0, 0] / rule.overall_covariance[0, 0, 0]
    for k, a in enumerate(added):
        if a > 1e-9:
            less = covariance[0, k] + 0.98 * a * rule.overall_covariance[0]
            values = np.linalg.eigvalsh(less)
            least = np.linalg.eigvalsh(rule.overall_covariance[0])[0] / limit
            assert values[0] < least * (1 + 1e-6) or values[-1] > limit * values[0] * (1 - 1e-6)


@pytest.mark.parametrize("rank", [3, 20, 40])
def test_in_many_dimensions_bounds_keep_the_limit_and_hardly_more_is_added(rank):
    rng = np.random.default_rng(rank)
    base = rng.normal(size=(1, 120, 40))
    rule = Limit.of(base.swapaxes(1, 2) @ base / 120, 1e4)
    spread = rng.normal(size=(1, 4, 40, rank))
    covariance = spread @ spread.swapaxes(-1, -2)
    kept = rule.matrices(covariance).covariance
    assert (condition_numbers(kept) <= 1e4).all()
    added = (kept - covariance)[0, :, 0, 0] / rule.overall_covariance[0, 0, 0]
    for k, a in enumerate(added):
        if a > 1e-9:
            assert condition_numbers(covariance[0, k] + 0.9 * a * rule.overall_covariance[0]) > 1e4


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
    kept = rule.matrices(np.zeros((1, 1, 3, 3))).covariance
    assert np.linalg.eigvalsh(kept)[0, 0, 0] == pytest.approx(1e-3)
    singular = Limit.of(np.diag([1.0, 1.0, 0.0])[None], 1e3)
    assert condition_numbers(singular.overall_covariance)[0] == pytest.approx(1e2)  # and no more is added than needed


def test_covariances_of_few_examples_are_drawn_to_the_mean_of_all():
    covariance = np.stack([np.eye(2), 5 * np.eye(2), np.full((2, 2), np.nan)])[None]
    shrunk = shape_of("full", 2).shrink(covariance, np.array([[3.0, 1.0, 0.0]]), 2.0)
    within = (3 * 1 + 1 * 5) / 4
    expected = [(3 * 1 + 2 * within) / 5, (1 * 5 + 2 * within) / 3, within]
    np.testing.assert_allclose(shrunk[0], [one * np.eye(2) for one in expected])
    assert np.isnan(shape_of("full", 2).shrink(covariance, np.zeros((1, 3)), 2.0)).all()


def test_parameters_are_counted_as_in_g5():
    limit = Limit(np.eye(5)[None], 1e4)
    assert Ggm(shape_of("full", 5), limit, Threads(1), 3).n_parameters(4, 5) == 4 * (15 + 5 + 3) - 1
    assert Ggm(shape_of("shared", 5), limit, Threads(1), 3).n_parameters(4, 5) == 15 + 4 * (5 + 3) - 1
    own = Ggm(shape_of("full", 5), limit, Threads(1), 3, own_components=True)
    assert own.n_parameters(4, 5) == 4 * (15 + 5 + 1) - 1  # whose a component is, is not learned


def test_components_of_their_own_class_stay_so():
    sample, options = batch(6)
    options = replace(options, own_components=True)
    search = selection.Search(options, (1, 2), split=0.5, from_all=True)
    found = selection.search_mixtures(sample, 0.5, search, Threads(1))
    for fit in found.fits:
        given_component = fit.params.class_given_component[0]
        assert set(given_component.ravel()) == {0.0, 1.0}
        assert not fit.degenerate.any()


def test_halves_are_even_and_know_every_class():
    rng = np.random.default_rng(0)
    classes = np.array([0, 0, 1, 1, 2, 2, *[-1] * 11])
    for _ in range(20):
        first = fitting.draw_halves(classes, 0.5, rng)
        assert first[:6].sum() == 3
        assert first[6:].sum() == 6


def test_the_loop_gives_the_state_that_was_judged():
    sample, options = batch(1, max_iter=2)
    weight = fitting.compute_weights(sample.classes, 1.0)
    overall = starts.overall_covariance(sample.points, weight)
    start = starts.random_start(sample, weight, options, 2, [np.random.default_rng(0)])
    blocks = fitting.split_examples(sample, weight, 0.5)
    fits = fitting.fit_many(blocks, start, options, Threads(1), overall_covariance=overall)
    assert fits.histories[0][-1] == pytest.approx(fits.log_likelihood[0])
    assert fits.model.extrapolate(State(start, ()), State(fits.params, ()), 2.0).shared is fits.params


def test_ctrl_c_keeps_what_was_found():
    sample, options = batch(1)

    def stop(loop):
        if loop.steps == 2:
            raise KeyboardInterrupt

    search = selection.Search(options, (2, 3, 4))
    found = selection.search_mixtures(sample, 1.0, search, Threads(1), watch=stop)
    assert list(found.criteria) == [2]
    assert found.fits[0].n_iter[0] == 2
    assert np.isfinite(found.fits[0].params.component_covariance).all()


def test_examples_without_weight_are_never_drawn_as_starts():
    """They are as far away as can be: only their weight keeps them out."""
    points = np.array([[0.0], [1.0], [2.0], [1000.0]])
    chances = np.array([1.0, 1.0, 1.0, 0.0])
    for seed in range(20):
        drawn = starts.draw_spread_points(points, chances, 3, np.random.default_rng(seed), tries=2)
        assert sorted(drawn) == [0, 1, 2]


def test_clusters_have_the_spread_of_their_examples_drawn_to_that_within_all():
    near = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]])
    points = np.vstack([near, 100 + 2 * near, 100 + 2 * near])
    found = starts.cluster_points(points, np.ones(12), 2, np.random.default_rng(0))
    order = np.argsort(found.share)
    np.testing.assert_allclose(found.share[order], [1 / 3, 2 / 3])
    np.testing.assert_allclose(found.mean[order], [[1, 1], [102, 102]])
    scatter = np.stack([4 * np.eye(2), 32 * np.eye(2)])
    within, counts = scatter.sum(axis=0) / 12, np.array([4, 8])
    expected = (scatter + 3 * within) / (counts + 3)[:, None, None]
    np.testing.assert_allclose(found.covariance[order], expected)


@pytest.mark.parametrize("kind", ["overall", "clusters"])
def test_components_of_a_class_begin_among_its_examples(kind):
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(0, 1, (10, 2)), rng.normal(50, 1, (30, 2))])
    labels = np.repeat([0, 1], [10, 30])
    sample = starts.Sample(points[None], labels[None], np.ones((1, 40), bool))
    options = batch(1)[1]
    start = starts.own_start(sample, np.ones((1, 40)), options, np.array([1, 2]), [rng], kind)
    assert (np.abs(start.component_mean[0, 0]) < 10).all()
    assert (np.abs(start.component_mean[0, 1:] - 50) < 10).all()
    np.testing.assert_allclose(start.component_prior[0, 0], 0.25)


def test_heavy_examples_are_drawn_more_often():
    points, chances = np.array([[0.0], [10.0], [-10.0]]), np.array([1.0, 9.0, 1.0])
    drawn = [starts.draw_spread_points(points, chances, 2, np.random.default_rng(seed)).tolist() for seed in range(60)]
    assert sum(1 in one for one in drawn) > 50


def test_ctrl_c_ends_the_starts_that_were_still_to_come(monkeypatch):
    sample, options = batch(1)
    monkeypatch.setattr(selection, "BATCH_RESTARTS", 1)
    seen = []

    def stop(loop):
        seen.append(loop.steps)
        if len(seen) == 3:
            raise KeyboardInterrupt

    selection.search_mixtures(sample, 1.0, selection.Search(options, (2,), n_init=3), Threads(1), watch=stop)
    assert len(seen) == 3
