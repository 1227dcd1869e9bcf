"""A review and its judgements: what was taken back comes again."""

import pytest

from topiarist.collection import ACCEPT, MOVE, Judgements, Review


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


def judged(collection, row, kind, *labels):
    """What somebody else says of a document meanwhile."""
    with collection.folder.writing() as generation:
        table = Judgements(generation.database)
        seen = table.of([row]).get(row)
        table.judge(row, kind, labels, expected=seen.number if seen else 0)


def labels(collection, row):
    return collection.documents.labels_of([row])[0]


def test_undo_leaves_a_label_that_another_gave_before_the_answer(collection):
    review = Review(collection, "wanted")
    judged(collection, 3, MOVE, "wanted", "law")
    review.answer(3, "y")
    review.undo()
    assert labels(collection, 3) == ("wanted", "law")
    review.answer(3, "n")
    assert labels(collection, 3) == ("law",)
    review.undo()
    assert labels(collection, 3) == ("wanted", "law")  # what was taken away is there again


@pytest.mark.parametrize("kind", [ACCEPT, MOVE])
def test_undo_leaves_a_label_that_another_has_judged_since(collection, kind):
    review = Review(collection, "wanted")
    before = labels(collection, 5)
    review.answer(4, "y")
    judged(collection, 4, kind, "wanted", "law")
    review.undo()
    assert labels(collection, 4) == ("wanted", "law")
    review.answer(6, "y")
    judged(collection, 6, MOVE, "law")
    judged(collection, 6, MOVE, "wanted")
    review.undo()
    assert labels(collection, 6) == ("wanted",)
    for _ in range(3):  # what nobody else has touched is as before, each time
        review.answer(5, "y")
        assert "wanted" in labels(collection, 5)
        review.undo()
        assert labels(collection, 5) == before
