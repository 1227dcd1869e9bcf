"""What is read next in a review, and what is known after it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.collection.review.reading_order import (
    CONTROL,
    RANDOM,
    RANDOM_DRAWS,
    RANKED,
    UNSURE,
    USER_CHOICE,
    ReadingOrder,
)
from topiarist.collection.review.relevance_model import compute_features

N, RELEVANT = 600, 60


@pytest.fixture(scope="module")
def documents():
    """Every tenth document speaks of other words than the rest, most of the time."""
    rng = np.random.default_rng(3)
    relevant = np.arange(N) % (N // RELEVANT) == 0
    chances = np.where(relevant[:, None], np.r_[np.full(20, 0.3), np.full(60, 0.05)], 0.08)
    return compute_features(csr_array((rng.random((N, 80)) < chances).astype(np.float32))), relevant


def test_a_review_ends_with_enough_and_without_reading_all(documents) -> None:
    texts, relevant = documents
    order = ReadingOrder(texts, np.random.default_rng(1).permutation(N), strata=np.arange(N) % 4)
    drawn = []
    while not order.progress.enough:
        row, how = order.next()
        drawn.append(how)
        order.judge(row, bool(relevant[row]), how)
    progress = order.progress
    assert progress.found >= 0.95 * RELEVANT
    assert progress.judged < 0.9 * N
    assert progress.unfound_least <= RELEVANT - progress.found <= progress.unfound_most
    assert drawn[0] == RANDOM
    assert drawn[-1] == CONTROL
    assert UNSURE in drawn
    assert progress.drawn_at_random == sum(how in RANDOM_DRAWS for how in drawn)
    ranked = [relevant[row] for row, how in zip(order.answers, drawn, strict=True) if how == RANKED]
    assert np.mean(ranked) > 2 * RELEVANT / N


def test_a_query_decides_while_nothing_is_known_and_chance_where_it_finds_nothing(documents) -> None:
    texts, _ = documents
    start = np.linspace(0, 1, N)
    order = ReadingOrder(texts, np.random.default_rng(1).permutation(N), start=start)
    assert order.next() == (N - 1, RANKED)
    while (proposed := order.next())[1] == RANKED:
        order.judge(proposed[0], False, RANKED)
    assert proposed[1] == RANDOM
    assert order.progress.recall_least == 0


def test_what_was_skipped_counts_as_unfound(documents) -> None:
    texts, relevant = documents
    order, other = (ReadingOrder(texts, np.arange(N)) for _ in range(2))
    for row in range(400):
        order.judge(row, bool(relevant[row]), CONTROL)
        other.judge(row, None if row == 10 else bool(relevant[row]), CONTROL)
    assert other.progress.unfound_most == order.progress.unfound_most + 1
    assert other.progress.recall_least < order.progress.recall_least
    assert other.progress.skipped == 1


def test_what_was_given_tells_nothing_of_the_rest(documents) -> None:
    texts, relevant = documents
    order = ReadingOrder(texts, np.arange(N))
    for row in range(300):
        order.judge(row, bool(relevant[row]), USER_CHOICE)
    assert order.progress.unfound_most == 300
    assert not order.progress.enough


def test_the_ranking_does_not_know_the_lot(documents) -> None:
    """Else what it leaves unread were no fair draw, and the bound were wrong."""
    texts, relevant = documents
    read = []
    for seed in (1, 2):
        order = ReadingOrder(texts, np.random.default_rng(seed).permutation(N))
        order.judge(0, relevant=True, draw=USER_CHOICE)
        for _ in range(45):
            row, how = order.next()
            assert how in (RANKED, UNSURE)
            order.judge(row, bool(relevant[row]), how)
        read.append(list(order.answers))
    assert read[0] == read[1]
