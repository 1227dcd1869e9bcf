"""The bound on relevant documents: right by hand, and wrong no more often than it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from topiarist.collection.review.recall_bound import PRIOR_EXPOSURE, PRIOR_HITS, TAIL_SHARE, RecallBound


def test_capital_is_what_the_equations_say() -> None:
    bound = RecallBound.create(10).add_draw(2, 8, relevant=False, tail=True)
    r = 5
    p, bet = (r - 2) / 8, PRIOR_HITS / PRIOR_EXPOSURE
    assert bound.tail[r - bound.minimum] == pytest.approx(math.log((1 - bet * p) / (1 - p)))
    again = bound.add_draw(2, 7, relevant=True, tail=True)
    assert again.tail[r - again.minimum] - bound.tail[r - bound.minimum] == pytest.approx(
        math.log(PRIOR_HITS / (PRIOR_EXPOSURE + p))
    )


def test_before_a_draw_only_what_cannot_be_is_excluded() -> None:
    bound = RecallBound.create(100).exclude_impossible(7, 50)
    assert (bound.minimum, bound.maximum, bound.lowest) == (7, 57, 7)


def test_draws_that_find_nothing_exclude_large_numbers_and_all_of_them_every_one() -> None:
    bound, most = RecallBound.create(200), []
    for drawn in range(200):
        bound = bound.add_draw(0, 200 - drawn, relevant=False, tail=True)
        most.append(bound.maximum)
    assert most == sorted(most, reverse=True)
    assert most[0] > 150
    assert 10 < most[39] < 30  # of 20 or more, none would come in 40 draws by less than 2 in 100
    assert most[-1] == 0


def test_a_bet_is_fair_under_the_truth() -> None:
    """The expectation of the capital after a draw is the capital before it: what the bound rests on."""
    bound = RecallBound.create(40)
    for draw, relevant in enumerate((False, True, False)):
        bound = bound.add_draw(1 + (draw == 2), 30 - draw, relevant, tail=draw != 1)
    found, unjudged, r = 2, 27, 9
    p = (r - found) / unjudged
    for name in ("tail", "all_draws", "lower"):
        before = getattr(bound, name)[r - bound.minimum]
        after = [bound.add_draw(found, unjudged, relevant, tail=True) for relevant in (False, True)]
        no, yes = (math.exp(getattr(one, name)[r - one.minimum] - before) for one in after)
        assert p * yes + (1 - p) * no == pytest.approx(1)
    assert 0 < TAIL_SHARE < 1


@pytest.mark.parametrize("quality", [0.0, 2.0, 4.0])
def test_the_truth_is_excluded_in_no_more_than_one_of_twenty_runs(quality: float) -> None:
    """Looked at after every document, stopped at the first that is enough; reading is by a ranking and by lot."""
    rng, runs, wrong = np.random.default_rng(5), 120, 0
    for _ in range(runs):
        relevant = rng.permutation(np.arange(150) < 30)
        ranking = np.argsort(-(quality * relevant + rng.normal(size=150)))
        lot, read, bound, dry = rng.permutation(150), np.zeros(150, bool), RecallBound.create(150), 0
        while not read.all():
            found, control = int(relevant[read].sum()), dry >= 8
            row = next(row for row in (lot if control else ranking) if not read[row])
            if control:
                bound = bound.add_draw(found, int((~read).sum()), bool(relevant[row]), tail=True)
            dry = dry + 1 if not relevant[row] else 4 if control else 0
            read[row] = True
            bound = bound.exclude_impossible(found + int(relevant[row]), int((~read).sum()))
            if relevant[read].sum() >= 0.95 * bound.maximum:
                break
        wrong += bool(relevant[read].sum() < 0.95 * 30)
    assert wrong <= 0.05 * runs + 2 * math.sqrt(0.05 * 0.95 * runs)
