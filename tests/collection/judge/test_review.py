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


def test_what_was_judged_while_a_document_was_out_is_kept_when_it_comes_back(collection):
    """Entries of the removed document leave their numbers to newer ones; none may take the place of another."""
    review, ids = Review(collection, "wanted"), collection.documents.ids()
    review.answer(5, "y")
    review.answer(7, "y")
    collection.remove([ids[7]])
    again = Review(collection, "wanted")
    again.answer(collection.documents.row_of(ids[9]), "y")
    again.answer(collection.documents.row_of(ids[11]), "n")
    again.undo()
    collection.undo()
    back = Review(collection, "wanted")
    assert {ids[row]: answer for row, answer in back.order.answers.items()} == dict.fromkeys(
        (ids[5], ids[7], ids[9]), True
    )
    assert [ids[row] for row in collection.documents.with_label("wanted")] == [ids[5], ids[7], ids[9]]
