"""The likelihood of documents."""

import numpy as np
from scipy.sparse import csr_array

from tests.oracles import trees as oracle
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.models import misfits, plsa
from topiarist.models.engine.host import Engine

MASK = oracle.balanced(2)


def planted(seed, n_docs=600, length=60):
    counts, _, words = oracle.planted(np.random.default_rng(seed), MASK, n_docs=n_docs, length=length)
    model = plsa.Plsa(Engine(load(), Threads(1)), 0.0, 0.1)
    return csr_array(counts.astype(float)), model, plsa.Params.of(MASK / 3 @ words)


def test_completion_scores_match_definition():
    from topiarist.metrics.topic_quality import completion_perplexity

    counts, model, shared = planted(0)
    scores = misfits.completion_scores(model, shared, counts, seed=3)
    perplexity = completion_perplexity(
        shared.word_given_component, lambda half: model.fold_in(shared, misfits.CountsView.from_matrix(half)), counts, 3
    )
    np.testing.assert_allclose(np.exp(-scores.mean), perplexity)
    assert (scores.tokens == 30).all()
