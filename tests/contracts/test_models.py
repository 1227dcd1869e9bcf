"""The laws of every model: what EM promises, whatever the model is. The registry is ``models.MODELS``."""

import numpy as np
import pytest

from tests.contracts.models import MODELS, Setup

EVERY = pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)


def only(wanted):
    """The models that a law can be asked of."""
    chosen = {name: case for name, case in MODELS.items() if wanted(case)}
    return pytest.mark.parametrize("case", chosen.values(), ids=chosen)


SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])


def same(found, wanted, **tolerance):
    assert found.keys() >= wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, err_msg=name, **tolerance)


def n_docs(case, problem):
    return next(problem[name].shape[0] for name, axes in case.axes.items() if axes.startswith("docs"))


def along(case, arrays, axis, order):
    """Every array with one of its axes in another order."""
    moved = {}
    for name, value in arrays.items():
        for place, known in enumerate(case.axes.get(name, "").split()):
            if known == axis:
                value = np.take(value, order, axis=place)
        moved[name] = value
    return moved


def with_documents(case, problem, rows):
    """The problem of these documents, which may come twice."""
    return along(case, problem, "docs", rows)


@EVERY
@SEEDS
def test_a_step_is_that_of_the_blackboard(case, seed):
    problem = case.problem(seed)
    wanted, objective = case.oracle(problem)
    for kernels in case.kernels:
        fit = case.run(problem, Setup(kernels=kernels))
        same(case.told(fit.state, problem), wanted, rtol=1e-9, atol=1e-12)
        if np.isfinite(objective):
            assert fit.objectives[0] == pytest.approx(objective, rel=1e-10)


@EVERY
@SEEDS
def test_objective_never_falls(case, seed):
    objectives = np.array(case.run(case.problem(seed), steps=25).objectives)
    assert len(objectives) > 20
    # levels that are fitted on held-out tokens are not what the objective measures
    if case not in (MODELS["CAM"], MODELS["CAM with seeds"]):
        assert (np.diff(objectives) >= -1e-10 * np.abs(objectives[:-1])).all()
    assert objectives[-1] > objectives[0]


@EVERY
def test_parameters_are_distributions(case):
    problem = case.problem(3)
    for name, value in case.step(problem, steps=4).items():
        assert np.isfinite(value).all()
        if name in ("words", "mix", "rows", "prior", "classes"):
            np.testing.assert_allclose(value.sum(axis=-1), 1.0, rtol=1e-9)
            assert (value >= 0).all()


@EVERY
@SEEDS
def test_blocks_add_up_to_the_whole(case, seed):
    problem = case.problem(seed)
    third = n_docs(case, problem) // 3
    cut = Setup(blocks=(slice(0, third), slice(third, third + 1), slice(third + 1, None)))
    same(case.step(problem, cut, 3), case.step(problem, steps=3), rtol=1e-9, atol=1e-12)


@EVERY
@SEEDS
def test_the_order_of_documents_and_words_is_without_meaning(case, seed):
    rng, problem = np.random.default_rng(seed), case.problem(seed)
    here = case.step(problem, steps=3)
    for axis in ("docs", "words"):
        size = next(
            value.shape[case.axes[name].split().index(axis)]
            for name, value in problem.items()
            if axis in case.axes[name].split()
        )
        order = rng.permutation(size)
        there = case.step(along(case, problem, axis, order), steps=3)
        same(there, along(case, here, axis, order), rtol=1e-8, atol=1e-11)


@EVERY
def test_threads_do_not_change_a_bit(case, monkeypatch):
    for name, value in (("MIN_SLICE_NONZEROS", 20), ("MIN_TILE_DOCUMENTS", 8), ("TILE_BYTES", 64)):
        monkeypatch.setattr(f"topiarist.kernels.shard.{name}", value)  # many slices and tiles
    monkeypatch.setattr("topiarist.models.engine.host.SLICE_NUMBERS", 20)
    monkeypatch.setattr("topiarist.models.labels.pmm.SLICE_NUMBERS", 20)
    problem = case.problem(5)
    for dtype in case.precisions:
        one = case.step(problem, Setup(n_threads=1, dtype=dtype), 4)
        for n_threads in (2, 3):
            other = case.step(problem, Setup(n_threads=n_threads, dtype=dtype), 4)
            for name, value in one.items():
                assert np.array_equal(other[name], value), name


@only(lambda case: np.float32 in case.precisions)
def test_single_precision_matches_double_precision(case):
    problem = case.problem(6)
    same(case.step(problem, Setup(dtype=np.float32), 5), case.step(problem, steps=5), rtol=2e-3, atol=1e-5)


@only(lambda case: "counts" in case.axes)  # points are never empty
def test_an_empty_document_changes_nothing_that_speaks_of_words(case):
    problem = case.problem(7)
    longer = with_documents(case, problem, [*range(n_docs(case, problem)), 0])
    longer["counts"] = longer["counts"].copy()
    longer["counts"][-1] = 0
    if "heldout" in longer:
        longer["heldout"] = longer["heldout"].copy()
        longer["heldout"][-1] = 0
    with_it, without = case.step(longer), case.step(problem)
    assert all(np.isfinite(value).all() for value in with_it.values())
    for name, value in without.items():
        if "docs" not in case.axes[name] and name not in case.of_documents:
            np.testing.assert_allclose(with_it[name], value, rtol=1e-9, atol=1e-12, err_msg=name)


@only(lambda case: "table" not in case.axes and (case.tokens or "seeds" not in case.axes) and not case.has_prior)
@SEEDS
def test_weight_two_is_two_copies(case, seed):
    """Where tokens have classes of their own a document counted double is two documents; all twice is all once.

    Labelled documents are not among those that come twice, nor are prior tokens.
    """
    problem = case.problem(seed)
    every = list(range(n_docs(case, problem)))
    if case.tokens:
        double = dict(problem)
        double["counts"] = problem["counts"] * np.where(np.arange(len(every)) == 1, 2.0, 1.0)[:, None]
        found, wanted = case.step(with_documents(case, problem, [*every, 1]), steps=3), case.step(double, steps=3)
    else:
        found, wanted = case.step(with_documents(case, problem, every * 2), steps=3), case.step(problem, steps=3)
    for name, value in wanted.items():
        if "docs" not in case.axes[name]:
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
