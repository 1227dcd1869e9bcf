"""What the estimators of trees share: held-out tokens, options that must be heard, interruptions, piles of nothing."""

import warnings
from contextlib import suppress

import numpy as np
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info, threadpool_limits

from tests.estimators.test_cam import planted
from topiarist import CAM, HPLSA, Tree
from topiarist.estimators.tree import cam as cam_task
from topiarist.estimators.tree import preparation
from topiarist.execution.executors import InProcess
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.models import em
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.growing_models import CamGrowingModel
from topiarist.trees.growth.hplsa_growing import HplsaGrowingModel

BOTH = pytest.mark.parametrize("estimator", [CAM, HPLSA])
SQUARE = Tree.balanced(2, 2)


def learned(model):
    """Words, levels, and shares of documents."""
    if isinstance(model, CAM):
        return model.word_given_node_, model.node_given_cluster_, model.cluster_given_doc_
    return model.word_given_topic_, model.topic_given_class_, model.class_given_doc_


HOST = Engine(load("compiled"), Threads(1))


def differ(one, other):
    return any(a.shape != b.shape or not np.allclose(a, b, atol=1e-6) for a, b in zip(one, other, strict=True))


def test_held_out_tokens_weigh_as_much_as_those_learned_from():
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(np.repeat([[0.5], [20.0]], 20, axis=0), (40, 30)).astype(float))
    ground = preparation.prepare_growth(HOST, counts, 35.0, 0.2, np.float64, 0)
    training, heldout = preparation.split_heldout(counts, 0.2, 0)
    weights = np.minimum(1, 35 / counts.sum(axis=1))
    assert weights[0] == 1
    assert weights[-1] < 0.1
    for shard, plain in ((ground.training, training), (ground.heldout, heldout)):
        for document in range(40):
            here = slice(*shard.rows.indptr[document : document + 2])
            assert shard.rows.data[here].sum() == pytest.approx(plain.sum(axis=1)[document] * weights[document])
    np.testing.assert_array_equal(ground.heldout_counts.toarray(), heldout.toarray())
    np.testing.assert_allclose(ground.counts.toarray(), training.toarray() * weights[:, None])
    assert ground.collection.sum() == pytest.approx(1)


@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.9])
def test_every_document_keeps_a_token_to_learn_from(fraction):
    counts = csr_array(np.vstack([np.eye(5), np.zeros((1, 5)), np.full((1, 5), 40.0)]))
    training, heldout = preparation.split_heldout(counts, fraction, 0)
    np.testing.assert_array_equal((training + heldout).toarray(), counts.toarray())
    np.testing.assert_array_equal(training.sum(axis=1) > 0, counts.sum(axis=1) > 0)
    assert training.data.min() > 0
    assert heldout.sum() > 0 or fraction < 0.01
    np.testing.assert_array_equal(training.toarray()[:5], np.eye(5))


class Counting:
    """Counts how often work is given out."""

    def __init__(self):
        self.calls = 0

    def total(self, function, blocks, local):
        self.calls += 1
        return InProcess().total(function, blocks, local)


@BOTH
@pytest.mark.parametrize("options", [{}, {"tree": SQUARE}, {"growth": "annealed"}])
def test_the_executor_does_the_work(estimator, options, monkeypatch):
    counts, _ = planted(60)
    steps, step = [], em.step
    monkeypatch.setattr(em, "step", lambda *arguments: steps.append(arguments[-1]) or step(*arguments))
    executor = Counting()
    model = estimator(random_state=0, max_iter=5, executor=executor, **options).fit(counts)
    assert executor.calls == len(steps) > model.n_iter_  # also while the tree grows
    assert {id(one) for one in steps} == {id(executor)}
    plain = estimator(random_state=0, max_iter=5, **options).fit(counts)
    assert not differ(learned(model), learned(plain))


@pytest.mark.parametrize("preferred", [15.0, 100.0, None])
def test_the_effective_length_is_chosen_by_unseen_tokens(preferred, monkeypatch):
    counts, _ = planted(60, length=200)
    lengths, grounds, prepared = [], [], preparation.prepare_growth

    def noted(engine, counts, length, *arguments):
        lengths.append(length)
        return prepared(engine, counts, length, *arguments)

    def likelihood(engine, ground, stage):
        grounds.append(ground)
        return float(lengths[-1] == preferred)

    monkeypatch.setattr(preparation, "prepare_growth", noted)
    monkeypatch.setattr(preparation, "compute_heldout_likelihood", likelihood)
    model = CAM(4, effective_length="heldout", random_state=0).fit(counts)
    assert model.effective_length_ == preferred
    assert tuple(lengths) == cam_task.EFFECTIVE_LENGTHS
    for ground in grounds[1:]:  # one split for all
        np.testing.assert_array_equal(ground.heldout_counts.toarray(), grounds[0].heldout_counts.toarray())


def test_unseen_tokens_count_one_each():
    counts, _ = planted(60, length=200)
    found = []

    def noted(engine, ground, stage):
        parts = stage.parts
        predicted = parts.class_given_doc @ parts.node_given_class @ parts.word_given_node
        unseen = ground.heldout_counts.toarray()
        found.append((likelihood(engine, ground, stage), (unseen * np.log(predicted)).sum() / unseen.sum()))
        return found[-1][0]

    likelihood = preparation.compute_heldout_likelihood
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation, "compute_heldout_likelihood", noted)
        CAM(4, effective_length="heldout", random_state=0, dtype="float64").fit(counts)
    assert len(found) == 4
    for one, other in found:
        assert one == pytest.approx(other, rel=1e-9)


def test_hplsa_hears_the_effective_length():
    counts, _ = planted(80, length=200)
    for options in ({"tree": SQUARE}, {"n_classes": 4}):
        one, other = (HPLSA(effective_length=n, random_state=0, **options).fit(counts) for n in (None, 10.0))
        assert differ(learned(one), learned(other))
        assert other.history_[0] > one.history_[0] / 4  # fewer tokens
    assert not np.allclose(one.curve_.perplexity, other.curve_.perplexity)  # while the tree grows, too


@BOTH
def test_linear_algebra_has_one_thread_whatever_the_caller_has(estimator, monkeypatch):
    seen, prepared = [], preparation.prepare_growth

    def noted(*arguments):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return prepared(*arguments)

    monkeypatch.setattr(preparation, "prepare_growth", noted)
    with threadpool_limits(2, user_api="blas"):
        estimator(2, random_state=0, max_iter=2).fit(planted(30)[0])
    assert set(seen) <= {1}


def test_held_out_tokens_decide_about_the_levels_of_a_given_tree(monkeypatch):
    counts, _ = planted()
    plain = HPLSA(tree=SQUARE, topic_mix="ml", random_state=0).fit(counts)
    stages, fitted = [], HplsaGrowingModel.fit

    def noted(self, *arguments, **options):
        stages.append(fitted(self, *arguments, **options))
        return stages[-1]

    monkeypatch.setattr(HplsaGrowingModel, "fit", noted)
    model = HPLSA(tree=SQUARE, topic_mix="heldout", random_state=0).fit(counts)
    (stage,) = stages
    np.testing.assert_allclose(model.topic_given_class_, stage.parts.node_given_class)
    assert differ(learned(model)[:2], learned(plain)[:2])
    even = SQUARE.path_mask() / 3
    assert np.abs(model.topic_given_class_ - even).max() > 0.02
    assert np.isfinite(stage.heldout)


def interrupt_at(monkeypatch, number):
    """Ctrl-C in the first step of the so-manieth run of EM; returns a list of all runs."""
    runs, run = [], em.run

    def impatient(*arguments, **options):
        runs.append(1)
        if len(runs) == number:
            raise KeyboardInterrupt
        return run(*arguments, **options)

    monkeypatch.setattr(em, "run", impatient)
    return runs


def check_model(model, counts):
    words, mix, shares = learned(model)
    for rows in (words, mix, shares, model.transform(counts)):
        np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert model.stopped_ == "interrupted"


@BOTH
def test_ctrl_c_in_the_first_run_keeps_one_node(estimator, monkeypatch):
    counts, _ = planted(60)
    interrupt_at(monkeypatch, 1)
    model = estimator(random_state=0).fit(counts)
    assert len(model.tree_) == 1
    assert model.grown_ == "interrupted"
    check_model(model, counts)


@pytest.mark.parametrize(
    "make", [CAM, lambda **options: HPLSA(topic_mix="heldout", **options), lambda **options: HPLSA(**options)]
)
def test_ctrl_c_on_a_given_tree_keeps_the_start(make, monkeypatch):
    counts, _ = planted(60)
    interrupt_at(monkeypatch, 1)
    model = make(tree=SQUARE, random_state=0).fit(counts)
    assert model.tree_ is SQUARE
    check_model(model, counts)


@BOTH
def test_ctrl_c_in_the_last_run_keeps_the_tree_that_has_grown(estimator, monkeypatch):
    counts, _ = planted(60)
    runs = interrupt_at(monkeypatch, -1)
    wanted = estimator(4, random_state=0).fit(counts)
    last = len(runs)
    for number, reason in ((last, wanted.grown_), (last - 1, "interrupted")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(em, "run", em.run)
            interrupt_at(patch, number)
            model = estimator(4, random_state=0).fit(counts)
        assert model.tree_ == wanted.tree_ or number < last
        assert len(model.tree_.leaves) == 4
        assert model.grown_ == reason
        assert model.n_iter_ == 0 or number < last
        check_model(model, counts)


def test_ctrl_c_while_lengths_are_tried_keeps_the_best_so_far(monkeypatch):
    counts, _ = planted(60)
    fitted, calls, tried, prepared = CamGrowingModel.fit, [], [], preparation.prepare_growth

    def impatient(self, *arguments, **options):
        calls.append(1)
        if len(tried) == 2:
            raise KeyboardInterrupt
        return fitted(self, *arguments, **options)

    monkeypatch.setattr(CamGrowingModel, "fit", impatient)
    monkeypatch.setattr(preparation, "prepare_growth", lambda *a: tried.append(a[2]) or prepared(*a))
    model = CAM(4, effective_length="heldout", random_state=0).fit(counts)
    assert tried == [15.0, 35.0]
    assert model.effective_length_ == 15.0
    assert len(model.tree_.leaves) == 4
    assert model.stopped_ == "interrupted"


@BOTH
def test_predict_does_not_depend_on_the_container_of_transform(estimator, monkeypatch):
    counts, _ = planted(60)
    model = estimator(4, random_state=0).fit(counts)
    labels = model.labels_
    containers = {"default": np.ndarray}
    with suppress(ImportError):
        import pandas

        containers["pandas"] = pandas.DataFrame
    for container, kind in containers.items():
        found = model.set_output(transform=container).predict(counts)
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, labels)
        assert isinstance(model.transform(counts), kind)

    def wrapped(self, X):
        raise AssertionError("predict went through transform")

    monkeypatch.setattr(estimator, "transform", wrapped)
    np.testing.assert_array_equal(model.predict(counts), labels)


@pytest.mark.parametrize(
    ("model", "counts"),
    [
        (CAM(40, heldout_fraction=0.001, random_state=0), np.random.default_rng(0).poisson(0.3, (400, 60))),
        (HPLSA(5, growth="annealed", heldout_fraction=0.9, random_state=0), np.eye(5)),
        (CAM(5, growth="annealed", heldout_fraction=0.9, random_state=0), np.eye(5)),
        (HPLSA(5, topic_mix="heldout", heldout_fraction=0.001, random_state=0), np.eye(5)),
    ],
)
def test_hardly_any_tokens_on_one_side(model, counts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(counts)
    for rows in learned(model):
        assert np.isfinite(rows).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    assert np.isfinite(model.history_).all()
    assert model.curve_.chosen >= len(model.tree_.leaves)
