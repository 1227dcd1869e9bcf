"""Certainties of topics without labels: as high as unseen halves of documents agree."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CAM
from topiarist.counts.split import completion_split
from topiarist.estimators.tree.topic_certainty import calibrate_posterior, calibrate_topics
from topiarist.trees.levels import calibration_error

N_TOPICS, N_WORDS, N_DOCS = 8, 600, 1_200


def make_counts(seed, n_docs=N_DOCS):
    """Return documents whose topics share most of their words, so that halves often disagree."""
    words = np.random.default_rng(7).dirichlet(np.full(N_WORDS, 0.3), N_TOPICS + 1)
    rng = np.random.default_rng(seed)
    mix = rng.dirichlet(np.full(N_TOPICS, 0.05), n_docs)
    rows = [rng.multinomial(rng.integers(20, 80), 0.5 * words[-1] + 0.5 * shares @ words[:-1]) for shares in mix]
    return csr_array(np.array(rows, np.float32))


@pytest.fixture(scope="module")
def model():
    return CAM(N_TOPICS, random_state=0).fit(make_counts(1))


@pytest.fixture(scope="module")
def calibration(model):
    return calibrate_topics(model, make_counts(1))


def test_certainties_match_agreement_of_unseen_halves(model, calibration):
    first, second = map(model.transform, completion_split(make_counts(2, 3_000)))
    right = first.argmax(axis=1) == second.argmax(axis=1)
    assert calibration_error(first.max(axis=1), right, 10) > 0.12  # as the model has it
    shown = calibrate_posterior(first, calibration)
    assert calibration_error(shown.max(axis=1), right, 10) < 0.05
    assert np.allclose(shown.sum(axis=1), 1)
    assert (shown.argmax(axis=1) == first.argmax(axis=1)).all()


def test_calibration_repeats_for_any_threads(model, calibration):
    assert calibrate_topics(model, make_counts(1), n_threads=1) == calibration


def test_calibration_leaves_the_model_unchanged(model):
    before = model.word_given_node_.copy()
    calibrate_topics(model, make_counts(1), np.arange(400))
    assert np.array_equal(model.word_given_node_, before)


def test_few_documents_are_not_calibrated(model):
    assert calibrate_topics(model, make_counts(1), np.arange(40)) is None
    rows = model.transform(make_counts(2, 3))
    assert np.array_equal(calibrate_posterior(rows, None), rows)
