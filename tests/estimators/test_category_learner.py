"""One estimator from few labels to many: what it chooses, what it says of it, and how certain it is."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.estimators.test_categorisers import planted
from topiarist import CategoryLearner, Tree
from topiarist.errors import InputError
from topiarist.estimators.category import calibration, class_words, linear, one_label


@pytest.fixture(scope="module")
def data():
    """Sparse documents of four classes that share most of their words."""
    counts, labels, tree = planted(n_docs=900, n_words=300, length=25, seed=3)
    return sp.csr_array(counts.astype(float)), labels, tree


def few(labels, number, rows=600):
    """So many labels of each class among the first documents; none of the others."""
    given = np.full(rows, None, object)
    for name in np.unique(labels):
        given[np.flatnonzero(labels[:rows] == name)[:number]] = name
    return given


def test_one_label_for_each_class_is_enough_to_begin_and_unlabelled_documents_help(data):
    counts, labels, tree = data
    given = few(labels, 1)
    learner = CategoryLearner(tree).fit(counts[:600], given)
    assert learner.n_unseen_ == 0
    assert "nothing could be held out" in learner.reason_
    rows = learner.predict_proba(counts[600:])
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert rows.max() <= calibration.MAX_UNCHECKED + 1e-9
    alone = CategoryLearner(tree, unlabelled_weight=0).fit(counts[:600], given)
    assert learner.score(counts[600:], labels[600:]) > alone.score(counts[600:], labels[600:]) + 0.02


def test_documents_without_a_label_that_count_nothing_change_nothing(data):
    counts, labels, _ = data
    given = few(labels, 6)
    known = given != None  # noqa: E711 - elementwise
    with_them = CategoryLearner(unlabelled_weight=0).fit(counts[:600], given)
    without = CategoryLearner().fit(counts[:600][np.flatnonzero(known)], given[known].astype(str))
    assert with_them.unlabelled_weight_ == 0
    np.testing.assert_allclose(with_them.predict_proba(counts[600:]), without.predict_proba(counts[600:]), atol=1e-9)


def test_certainties_are_those_of_unseen_documents(data):
    counts, labels, _ = data
    learner = CategoryLearner().fit(counts[:300], labels[:300])
    rows = learner.predict_proba(counts[300:])
    right = learner.classes_[rows.argmax(axis=1)] == labels[300:]
    assert abs(rows.max(axis=1).mean() - right.mean()) < 0.05
    sure = rows.max(axis=1) >= 0.9
    assert right[sure].mean() >= 0.88


def test_two_documents_held_out_make_nobody_certain():
    told = calibration.fit_calibration(np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([0, 1]))
    assert told(np.array([[30.0, 0.0]]), np.zeros(2)).max() <= 0.75


def test_documents_are_not_confirmed_by_the_words_that_they_lent(data):
    counts, labels, _ = data
    given = few(labels, 3)
    free = np.flatnonzero(given == None)  # noqa: E711 - elementwise
    learner = CategoryLearner(unlabelled_weight=0.5, generative_weight=1).fit(counts[:600], given)
    assert learner._model.words.other_lifts.shape == (class_words.PARTS - 1, counts.shape[1], len(learner.classes_))
    own, new = (learner.predict_proba(part).max(axis=1).mean() for part in (counts[:600][free], counts[600:]))
    assert abs(own - new) < 0.04
    words = learner._model.words
    alike = class_words.ClassWords(words.log_lift, np.repeat(words.log_lift[None], class_words.PARTS - 1, axis=0))
    np.testing.assert_allclose(
        alike(counts[600:]), class_words.ClassWords(words.log_lift)(counts[600:]), rtol=1e-5, atol=1e-5
    )


def test_the_part_of_a_document_is_that_of_its_copies(data):
    counts, _, _ = data
    parts = class_words.assign_parts(counts)
    assert np.bincount(parts, minlength=class_words.PARTS).min() > len(parts) / class_words.PARTS / 2
    np.testing.assert_array_equal(class_words.assign_parts(counts[::-1].astype(np.float32)), parts[::-1])
    one = counts[[5]]
    turned = type(one)((one.data[::-1], one.indices[::-1], one.indptr), shape=one.shape)
    assert class_words.assign_parts(turned)[0] == parts[5]


def test_few_unseen_documents_lean_on_how_far_those_agree_who_learned_from_different_parts():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 4000)
    scores = np.stack([-2.0 * truth, 2.0 * truth], axis=1) + rng.normal(0, 1.0, (4000, 2))
    right = (scores.argmax(axis=1) == truth).mean()
    wrong = np.argsort(scores[np.arange(4000), truth] - scores[np.arange(4000), 1 - truth])[:6]  # by bad luck
    none = np.zeros(2)

    def opinions(turned):
        """Five who each turn so many answers round, of the documents that are least certain."""
        sure = np.abs(scores[:600, 0] - scores[:600, 1])
        likely = turned * 600 * (1 / sure) / (1 / sure).sum()
        return calibration.FoldScores(
            np.arange(600),
            np.stack([np.where(rng.random((600, 1)) < likely[:, None], -scores[:600], scores[:600]) for _ in range(5)]),
        )

    rare, often = opinions(0.04), opinions(0.4)
    assert rare.error_rates(1.0, none).mean() < often.error_rates(1.0, none).mean()
    assert (opinions(0.0).error_rates(1.0, none) == 0).all()
    for said, bounds in ((None, (0.0, right - 0.2)), (rare, (right - 0.1, right + 0.12)), (often, (0.5, right - 0.02))):
        told = calibration.shrink_to_agreement(1.0, scores[wrong], truth[wrong], none, scores, said)(scores, none)
        assert bounds[0] <= told.max(axis=1).mean() <= bounds[1]
    told = calibration.shrink_to_agreement(1.0, scores, truth, none, scores, often)(scores, none)
    assert told.max(axis=1).mean() == pytest.approx(right, abs=0.04)  # many unseen documents know better


def test_the_largest_score_stays_the_largest_probability():
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.full(5, 0.3), 500)
    for slope, shift, most in ((0.05, -3.0, 0.9), (1.1, 2.0, 0.6), (1.0, 0.0, 1.0)):
        told = calibration.Calibration(1.0, slope, shift, most).calibrate_rows(rows)
        np.testing.assert_allclose(told.sum(axis=1), 1.0)
        np.testing.assert_array_equal(told.argmax(axis=1), rows.argmax(axis=1))


def test_shares_of_classes_are_found_among_documents_without_a_label():
    rng = np.random.default_rng(1)
    truth = (rng.random(4000) < 0.9).astype(int)
    scores = np.stack([-1.0 * truth, 1.0 * truth], axis=1) + rng.normal(0, 0.7, (4000, 2))
    shares = calibration.estimate_class_shares(calibration.to_probabilities(2 * scores), np.array([0.5, 0.5]), 10)
    assert 0.6 < shares[1] < 0.9  # steadied by what labelled documents say


def test_weights_that_are_given_are_used_and_words_alone_have_no_linear_part(data):
    counts, labels, _ = data
    given = few(labels, 8)
    ends = [CategoryLearner(generative_weight=weight).fit(counts[:600], given) for weight in (0, 1)]
    assert [one.generative_weight_ for one in ends] == [0, 1]
    assert ends[0].reason_.startswith("A linear classifier alone")
    assert ends[1].reason_.startswith("The words of the categories alone")
    assert not np.array_equal(*(one.predict_proba(counts[600:]) for one in ends))


def test_the_parts_of_words_add_up_to_the_scores(data):
    counts, labels, _ = data
    learner = CategoryLearner().fit(counts[:600], few(labels, 10))
    model, one = learner._model, counts[[700]]
    whole = model.scores(one)[0] * model.calibration.sharpness
    constant = model.calibration.sharpness * (1 - model.weight) * one_label.MARGIN_LOG_ODDS * model.linear.constant
    np.testing.assert_allclose(model.word_parts(one).sum(axis=0) + constant, whole, rtol=1e-4, atol=1e-4)
    told = learner.explain(one, n_words=3)
    assert told.labels[0].name == learner.predict(one)[0]
    assert told.labels[0].for_it[0].weight > 0
    assert "Labels" in str(told)


def test_steps_down_a_tree_add_up_to_the_label(data):
    counts, labels, tree = data
    learner = CategoryLearner(tree).fit(counts[:600], labels[:600])
    told = learner.explain(counts[[700]], n_words=400)
    total = {word: weight for word, _, weight in (*told.labels[0].for_it, *told.labels[0].against)}
    steps: dict = {}
    for step in told.levels:
        for word, _, weight in (*step.for_it, *step.against):
            steps[word] = steps.get(word, 0) + weight
    assert total
    for word, weight in total.items():
        assert steps.get(word, 0) == pytest.approx(weight, abs=1e-9)


def test_headings_hold_the_classes_below_them(data):
    counts, labels, tree = data
    learner = CategoryLearner(tree).fit(counts[:600], labels[:600])
    nodes = learner.node_posterior(counts[600:])
    np.testing.assert_allclose(nodes[:, tree.root], 1.0)
    deepest = learner.predict_path(counts[600:], 0.9)
    assert set(learner.paths(deepest[:5])[0][:1]) == {"all"}


def test_words_of_a_class_lean_on_its_heading():
    tree = Tree.from_paths(["x/a", "x/b", "y/c"])
    nodes = tuple(tree.find(name) for name in "abc")
    counts = sp.csr_array(np.array([[9.0, 0, 1, 0], [0, 9, 1, 0], [0, 0, 1, 9]]))
    told = class_words.fit_class_words(counts, np.eye(3), tree, nodes).log_lift
    assert told[0, 1] > told[0, 2]  # a word of a is likelier in b, under the same heading, than in c


def test_a_document_without_known_words_gets_the_shares_of_the_classes(data):
    counts, labels, _ = data
    learner = CategoryLearner().fit(counts[:600], labels[:600])
    np.testing.assert_allclose(learner.predict_proba(sp.csr_array((1, 300)))[0], learner.class_prior_)


def test_more_documents_are_learned_with_what_was_chosen(data, monkeypatch):
    counts, labels, _ = data
    first = CategoryLearner().fit(counts[:300], labels[:300])
    monkeypatch.setattr(one_label, "deal_group_folds", lambda *_: pytest.fail("held out again"))
    more = first.refit(counts[:600], labels[:600])
    assert (more.generative_weight_, more.n_unseen_) == (first.generative_weight_, first.n_unseen_)
    assert more.score(counts[600:], labels[600:]) >= first.score(counts[600:], labels[600:]) - 0.01
    assert "_previous" not in vars(more)


def several(labels):
    names = np.unique(labels)
    matrix = (labels[:, None] == names).astype(int)
    matrix[:, 0] |= matrix[:, 2]  # whoever has the third has the first too
    return matrix


def test_several_labels_at_least_one_each(data):
    counts, labels, _ = data
    given = several(labels)
    learner = CategoryLearner().fit(counts[:600], given[:600])
    told = learner.predict(counts[600:])
    assert (told.sum(axis=1) >= 1).all()
    assert learner.score(counts[600:], given[600:]) > 0.8
    assert learner.several_
    assert "A linear classifier for each label" in learner.reason_
    margins, rows = learner.decision_function(counts[600:]), learner.predict_proba(counts[600:])
    np.testing.assert_array_equal(margins > 0, told > 0)
    for low, high in ((0.0, 0.3), (0.7, 1.0)):
        here = (rows >= low) & (rows <= high)
        assert abs(given[600:][here].mean() - rows[here].mean()) < 0.1
    assert sp.issparse(CategoryLearner().fit(counts[:100], sp.csr_array(given[:100])).predict(counts[:5]))


def test_a_handful_of_documents_with_several_labels():
    counts = np.array([[3, 0, 1], [0, 3, 1], [2, 2, 1]])
    learner = CategoryLearner().fit(counts, np.array([[1, 0], [0, 1], [1, 1]]))
    assert "too few documents" in learner.reason_
    np.testing.assert_array_equal(learner.predict(counts[:2]), [[1, 0], [0, 1]])


def test_the_same_documents_give_the_same_bits_and_a_reading_needs_no_other_documents(data):
    counts, labels, _ = data
    given = few(labels, 5)
    one, two = (CategoryLearner().fit(counts[:600], given) for _ in range(2))
    rows = one.predict_proba(counts[600:])
    np.testing.assert_array_equal(rows, two.predict_proba(counts[600:]))
    alone = np.concatenate([one.predict_proba(counts[[row]]) for row in range(600, 620)])
    np.testing.assert_allclose(alone, rows[:20], rtol=1e-6)


def test_latent_dimensions_are_rows_of_length_one():
    counts = sp.csr_array(np.random.default_rng(0).poisson(0.3, (50, 40)).astype(float))
    features = linear.Features.of(counts, 0)
    lengths = np.linalg.norm(features.latent(features.words(counts))[0], axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-6) | (lengths == 0))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([0, 0, 0], "at least two classes"),
        ([["a"], ["a", "b"], ["b"]], "got lists"),
        (None, "requires y"),
    ],
)
def test_refusals(labels, said):
    with pytest.raises(InputError, match=said):
        CategoryLearner().fit(np.eye(3), labels)


def test_scores_that_favour_rare_classes_are_put_right_before_shares_are_told():
    rng = np.random.default_rng(2)
    known = np.array([0.9, 0.06, 0.04])
    truth = rng.choice(3, 3000, p=known)
    scores = np.eye(3)[truth] * 1.5 + rng.normal(0, 0.5, (3000, 3))  # as if all classes were as frequent
    bias = calibration.fit_class_bias(scores[:1500], truth[:1500], known)
    told = calibration.to_probabilities(scores[:1500] + bias).mean(axis=0)
    np.testing.assert_allclose(told, known, atol=0.02)
    shares = [
        calibration.estimate_class_shares(calibration.to_probabilities(scores[1500:] + each), known, 1500)
        for each in (bias, 0.0)
    ]
    assert np.abs(shares[0] - known).max() < 0.02 < np.abs(shares[1] - known).max()


def test_documents_of_a_group_are_held_out_together():
    classes = np.repeat([0, 1, 2, 3], [12, 8, 6, 1])
    groups = np.array([0, 0, 0, 3, 3, 5, 6, 7, 8, 9, 10, 11, *range(12, 20), 20, 20, 20, 20, 20, 20, 11])
    folds = one_label.deal_group_folds(classes, 0, groups)
    for group in np.unique(groups):
        assert len(set(folds[groups == group])) == 1
    assert (folds[classes == 2] == -1).all()  # one group alone is all of its class
    assert (folds[groups == 11] == -1).all()  # held out, a class would have none
    assert (folds[(classes < 2) & (groups != 11)] >= 0).all()
    alone = one_label.deal_group_folds(classes, 0, np.arange(len(classes)))
    assert (np.flatnonzero(alone == -1) == [26]).all()


def test_copies_do_not_make_answers_look_right(data):
    """Labels are drawn by lot here: only a copy can know what a document was called."""
    counts = sp.csr_array(data[0][np.tile(np.arange(60), 4)])
    lot = np.tile(np.random.default_rng(0).integers(2, size=60), 4)
    one, many = CategoryLearner(), CategoryLearner()
    one.fit(counts, lot, groups=np.tile(np.arange(60), 4))
    many.fit(counts, lot)
    assert one.predict_proba(counts[:60]).max() < 0.8
    assert many.predict_proba(counts[:60]).max() > 0.9
    several = np.stack([lot, 1 - lot], axis=1)
    apart = CategoryLearner().fit(counts, several, groups=[f"{n}" for n in np.tile(np.arange(60), 4)])
    assert apart._tuned.trial.f < 0.75
    assert CategoryLearner().fit(counts, several)._tuned.trial.f > 0.95
    with pytest.raises(InputError, match="a number for each"):
        CategoryLearner().fit(counts, lot, groups=[1, 2])
