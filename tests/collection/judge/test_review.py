"""A review and its judgements: what was taken back comes again."""

import pytest

from topiarist.collection import Review


@pytest.mark.parametrize("lot", range(12))
def test_what_is_taken_back_is_proposed_again(collection, lot, monkeypatch):
    monkeypatch.setattr("topiarist.collection.judge.review.new_lot", lambda: lot)
    review = Review(collection, "wanted", query="bail")
    seen = []
    for answer in ("y", "n", "y", "skip"):
        seen.append(review.next())
        review.answer(seen[-1][0], answer, seen[-1][1])
    for proposed in reversed(seen):
        review.undo()
        assert review.next() == proposed
        assert Review(collection, "wanted").next() == proposed  # also when it is taken up again
