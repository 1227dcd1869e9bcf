"""Reviewing by keys, from a file, taken up again, kept with the collection; and what is like a set of documents."""

import pytest

from topiarist.collection.collection import Collection
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.review.review import Review
from topiarist.errors import UsageError
from topiarist.text.documents import Document


@pytest.fixture
def truth(path):
    """What is relevant here: the documents of the largest leaf."""
    with Collection.open(path) as collection:
        homes = collection.shares.argmax(axis=1)
        ids = collection.documents.ids()
    largest = max(set(homes.tolist()), key=homes.tolist().count)
    return {id: "y" if home == largest else "n" for id, home in zip(ids, homes, strict=True)}


@pytest.fixture
def judged(path, truth):
    file = path.parent / "judged.csv"
    file.write_text("id,label\n" + "".join(f'"{id}",{answer}\n' for id, answer in truth.items()), encoding="utf-8")
    return file


def test_a_file_of_judgements_is_asked_until_it_is_enough(typed, path, judged, truth):
    body = typed("review", "--label", "wanted", "--judgements", judged, "--json")
    relevant = {id for id, answer in truth.items() if answer == "y"}
    assert body["enough"]
    assert body["recall_least"] >= 0.95 or body["judged"] == body["documents"]
    assert body["found"] >= 0.95 * len(relevant)
    assert body["applied"] == body["judged"]
    assert body["applied"] + body["unused"] == len(truth)
    with Collection.open(path) as collection:
        labelled = {collection.documents.get(row).id for row in collection.documents.labelled_rows("wanted")}
    assert len(labelled) == body["found"]
    assert labelled <= relevant
    again = typed("review", "--label", "wanted", "--json")
    assert {**body, "applied": 0, "unused": 0} == again


def test_keys_judge_skip_undo_and_quit(typed, path):
    done = typed("review", "--label", "wanted", stdin="y\nn\nu\ns\nx\nq\n")
    assert "wanted" in done.stderr
    assert "1 relevant" in done.stdout
    body = typed("review", "--label", "wanted", "--json")
    assert (body["judged"], body["found"], body["skipped"]) == (1, 1, 1)
    typed("review", "--label", "wanted", "--skipped", stdin="n\nq\n")
    body = typed("review", "--label", "wanted", "--json")
    assert (body["judged"], body["found"], body["skipped"]) == (2, 1, 0)
    typed("review", "--label", "wanted", stdin="u\nu\nu\nu\nq\n")
    body = typed("review", "--label", "wanted", "--json")
    assert (body["judged"], body["found"], body["skipped"]) == (0, 0, 0)
    with Collection.open(path) as collection:
        assert not collection.documents.labelled_rows("wanted")


def test_nothing_is_claimed_before_documents_were_drawn(typed):
    done = typed("review", "--label", "wanted", stdin="q\n")
    assert "Target not reached: 95% with 95% confidence." in done.stdout
    assert "unknown" in done.stdout


def test_an_answer_that_is_none_is_refused(typed, path, truth):
    file = path.parent / "judged.csv"
    file.write_text(f'id,label\n"{next(iter(truth))}",perhaps\n', encoding="utf-8")
    done = typed("review", "--judgements", file, code=3)
    assert "expected y, n or skip" in done.stderr
    assert typed("review", "--json")["judged"] == 0


def test_documents_with_the_label_count_as_found_and_a_query_begins(collection):
    ids = collection.documents.ids()
    review = Review(collection, "wanted", query="the")
    review.answer(3, "y")
    label = Review(collection, "other")
    label.answer(0, "n")
    assert Review(collection, "wanted").progress.found == 1
    collection.refresh()
    with collection.folder.writing() as generation:
        from topiarist.storage.document_table import Documents

        Documents(generation.database).change_labels(7, ["given"])
    assert Review(collection, "given").progress.found == 1
    assert Review(collection, "given").progress.unfound_most == len(ids) - 1


def test_undo_never_takes_a_label_that_was_there_before_the_review(collection):
    from topiarist.storage.document_table import Documents

    with collection.folder.writing() as generation:
        Documents(generation.database).change_labels(7, ["given"])
    review = Review(collection, "given")
    review.answer(3, "y")
    assert (review.undo(), review.undo(), review.last) == (3, None, None)
    with collection.folder.writing() as generation:  # one more got it elsewhere, between two judgements
        Documents(generation.database).change_labels(8, ["given"])
    review = Review(collection, "given")
    review.answer(4, "n")
    assert (review.undo(), review.undo()) == (4, None)
    assert collection.documents.labelled_rows("given") == [7, 8]
    assert Review(collection, "given").progress.found == 2


def test_draws_from_documents_that_were_since_removed_tell_nothing_however_many_there_are(collection):
    review = Review(collection, "wanted")
    for _ in range(3):
        row, drawn = review.next()
        review.answer(row, "n", drawn)
    assert review.progress.drawn_at_random == 3
    n_docs, unread = len(collection), review.next()[0]
    text = collection.documents.get(unread)
    collection.remove([text.id])
    assert Review(collection, "wanted").progress.drawn_at_random == 0
    collection.add([Document("another", text.text)])
    assert len(collection) == n_docs
    assert Review(collection, "wanted").progress.judged == 3
    assert Review(collection, "wanted").progress.drawn_at_random == 0


def test_documents_in_another_order_are_drawn_by_another_lot(path):
    with Collection.open(path) as old:
        review = Review(old, "wanted")
        review.answer(*review.next()[:1], "n")
        documents, lot = list(old.documents.iterate()), review.lot
    grow_collection(documents[::-1], path, Recipe(topics=4, headings=False), force=True).close()
    with Collection.open(path) as new:
        assert Review(new, "wanted").progress.judged == 1
        assert Review(new, "wanted").lot != lot


def test_reviews_are_carried_over_when_a_collection_is_grown_anew(path, judged, typed):
    before = typed("review", "--label", "wanted", "--judgements", judged, "--json")
    with Collection.open(path) as old:
        documents = list(old.documents.iterate())
    grow_collection(documents, path, Recipe(topics=4, headings=False), force=True).close()
    after = typed("review", "--label", "wanted", "--json")
    for name in ("judged", "found", "drawn_at_random", "unfound_most", "enough"):
        assert after[name] == before[name]


def test_more_like_these_and_not_like_those(typed, collection):
    one, other, third = collection.documents.ids()[:3]
    found = typed("similar", one, other, "--not", third, "--json")
    assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in collection.similar([one, other], unlike=[third])]
    assert {one, other, third}.isdisjoint(hit["id"] for hit in found["hits"])
    assert f"not like {third}" in typed("similar", one, "--not", third).stdout
    with pytest.raises(UsageError, match="is in both like and unlike"):
        collection.similar([one], unlike=[one])


def test_more_like_these_is_saved_and_asked_again(typed, collection):
    one, other, third = collection.documents.ids()[:3]
    found = typed("similar", one, other, "--not", third, "--save", "letters", "--json")
    again = typed("find", "--saved", "letters", "--json")
    assert again["query"] == f"like:{one} like:{other} -like:{third}"
    assert [hit["id"] for hit in again["hits"]] == [hit["id"] for hit in found["hits"]]
    assert "is a file" in typed("similar", __file__, "--save", "letters", code=2).stderr
    word = collection.tree.nodes[1].words[0]
    with_words = typed("find", word, "--like", one, "--not", third, "--save", "both", "--why", "--json")
    ids = [hit["id"] for hit in with_words["hits"]]
    assert with_words["query"] == f"{word} like:{one} -like:{third}"
    assert {one, third}.isdisjoint(ids)
    assert all(hit["why"]["words"] for hit in with_words["hits"])
    assert [hit["id"] for hit in typed("find", "--saved", "both", "--json")["hits"]] == ids
    assert "no document" in typed("find", word, "--like", "nobody", code=2).stderr


def test_likes_change_the_order_and_conditions_still_hold(typed, collection):
    word = collection.tree.nodes[1].words[0]
    everything = ("--number", "500", "--json")
    plain = [hit["id"] for hit in typed("find", word, *everything)["hits"]]
    last = plain[-1]
    liked = [hit["id"] for hit in typed("find", f"{word} like:{last}", *everything)["hits"]]
    assert last not in liked
    near = {hit["id"] for hit in typed("similar", last, "--number", "20", "--json")["hits"]}
    assert sum(id in near for id in liked[:40]) > sum(id in near for id in plain[:40])
    exact = typed("find", f'"{word}" like:{last}', "--number", "40", "--json")
    matching = {hit["id"] for hit in typed("find", f'"{word}"', "--by", "words", "--number", "400", "--json")["hits"]}
    assert {hit["id"] for hit in exact["hits"]} <= matching
    assert last not in {hit["id"] for hit in exact["hits"]}


def test_what_likes_cannot_say_is_said(typed, collection):
    one = collection.documents.ids()[0]
    word = collection.tree.nodes[1].words[0]
    gone = typed("find", f"{word} like:nobody", "--json")
    assert "No document is called 'nobody'" in " ".join(gone["remarks"])
    assert gone["hits"]
    both = typed("find", f"{word} like:{one} -like:{one}", "--json")
    assert "in both like: and -like: is ignored" in " ".join(both["remarks"])
    assert "only -like: filters" in typed("find", "--not", one, "--json", code=1)["message"]
    assert typed("find", "like:nobody", "--json", code=1)["hits"] == []
    words = typed("find", f"{word} like:{one}", "--by", "words", "--json")
    assert words["hits"]
    with pytest.raises(UsageError, match="ranks all documents"):
        collection.remove(query=f"{word} like:{one}")
