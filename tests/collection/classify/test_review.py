"""A review and its judgements: what was taken back comes again."""

import pytest

from topiarist.collection.classify.judgements import ACCEPT, MOVE, TAKE_BACK, Judgements
from topiarist.collection.review.review import Review


@pytest.mark.parametrize("lot", range(12))
def test_what_is_taken_back_is_proposed_again(collection, lot, monkeypatch):
    monkeypatch.setattr("topiarist.collection.review.review.new_lot", lambda: lot)
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
    assert [ids[row] for row in collection.documents.labelled_rows("wanted")] == [ids[5], ids[7], ids[9]]


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


@pytest.mark.parametrize("opened_again", [False, True])
def test_undo_takes_back_what_an_earlier_version_had_undone_by_another_judgement(collection, opened_again):
    before = labels(collection, 8)
    review = Review(collection, "wanted")
    review.answer(8, "y")
    with review.hold_lock(), review._writing.database.transaction():  # as undo was once written
        review._judgement_by_row[8] = 0
        Judgements(review._writing.database).judge(8, MOVE, before, expected=judgement(collection, 8).number)
    review.undo()
    assert labels(collection, 8) == before
    review.answer(8, "y")
    if opened_again:
        review = Review(collection, "wanted")
    review.undo()
    assert labels(collection, 8) == before
    assert not review.has_label(8)


def test_undo_of_a_yes_to_a_label_that_is_there_takes_its_acceptance_back_and_no_other(collection):
    review = Review(collection, "wanted")
    judged(collection, 9, MOVE, "wanted", "law")
    review.answer(9, "y")
    assert judgement(collection, 9).kind == ACCEPT
    review.undo()
    assert judgement(collection, 9).kind == TAKE_BACK
    held = {one.row: one.kind for one in Judgements(collection.generation.database).list_current()}
    assert held[9] == MOVE  # what the other said still holds
    assert labels(collection, 9) == ("wanted", "law")
    assert review.has_label(9)
    review.answer(10, "y")
    judged(collection, 10, ACCEPT, *labels(collection, 10))
    review.undo()
    assert judgement(collection, 10).kind == ACCEPT
    assert review.has_label(10)


def judgement(collection, row):
    return Judgements(collection.generation.database).of([row])[row]
