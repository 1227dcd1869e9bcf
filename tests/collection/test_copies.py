"""A dirty pile: repeated lines are not counted, copies once; both stay in the collection and are known later."""

from dataclasses import replace

import numpy as np
import pytest

from tests.grown import (  # noqa: F401
    FOOTER,
    NAVIGATION,
    documents,
    grown_once,
    path,
    piled,
    piled_documents,
    piled_once,
)
from topiarist import CAM
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.grow.exclusions import find_exclusions
from topiarist.collection.grow.recipe import Recipe
from topiarist.counts.duplicates import Duplicates
from topiarist.errors import DamagedError
from topiarist.text.documents import Document


@pytest.fixture
def pile(piled):  # noqa: F811
    with Collection.open(piled) as collection:
        yield collection


def test_repeated_lines_are_not_counted_and_stay_in_the_texts(pile):
    known = pile.counting.vocabulary
    assert not {"confidential", "contact", "news"} & set(known.words)
    assert {form for form, _ in pile.counting.repeated.lines} == {
        "home", "news", "contact", "its end.", "this message is confidential and meant for nobody but its reader."
    }  # fmt: skip
    assert pile.documents.get(1).text.startswith(NAVIGATION)
    assert pile.documents.get(1).text.endswith(FOOTER)
    told = find_exclusions(pile)
    assert told.repeated_documents == 218
    assert told.repeated_said.startswith("5 lines that documents share are not counted, in 218 documents")


def test_counts_are_those_of_the_clean_texts(pile):
    clean = [replace(one, title="", text=one.text) for one in documents()[:200]]
    np.testing.assert_array_equal(pile.counts[:200].toarray(), pile.count_words(clean).toarray())


def test_a_title_is_the_first_line_that_is_not_repeated(pile):
    for row in (0, 1):
        document = pile.documents.get(row)
        assert document.title.removesuffix(" …") in " ".join(documents()[row].text.split())
    assert check_folder(pile.folder.path) == []


def test_copies_are_known_and_lie_where_the_first_of_their_kind_does(pile):
    copies = pile.copies
    assert copies.rows.tolist() == list(range(200, 218))
    assert copies.originals.tolist() == [n // 4 for n in range(12)] + list(range(10, 16))
    assert (copies.shared[:12] == 1).all()
    assert ((copies.shared[12:] >= 0.95) & (copies.shared[12:] < 1)).all()
    np.testing.assert_array_equal(pile.shares[copies.rows].toarray(), pile.shares[copies.originals].toarray())
    assert find_exclusions(pile).copies_said == "18 documents are copies or near-copies of 9 others"
    typical = {row for node in pile.description.nodes for row in node.rows}
    assert not typical & set(range(200, 218))


def test_a_model_is_fitted_to_each_kind_once(tmp_path, monkeypatch):
    fitted = []
    real = CAM.fit

    def watched(self, counts, *rest, **options):
        fitted.append(counts.shape[0])
        return real(self, counts, *rest, **options)

    monkeypatch.setattr(CAM, "fit", watched)
    some = documents()[:60]
    Collection.grow([*some, replace(some[3], id="again")], tmp_path / "a", Recipe(topics=2)).close()
    assert fitted == [60]


def test_lists_are_folded(pile):
    words = " ".join(documents()[0].text.split()[3:9])
    for by in ("words", "meaning", "both"):
        found = pile.search(words, 50, by=by)
        rows = [hit.row for hit in found.hits]
        assert 0 in rows
        assert not set(rows) & set(range(200, 204))
        assert next(hit.copies for hit in found.hits if hit.row == 0) == 4
    by_words = pile.search(words, 50, by="words")
    assert by_words.total == len(by_words.hits) + by_words.folded
    assert by_words.folded >= 4


def test_a_copy_that_alone_is_found_is_listed(pile):
    found = pile.search("other", 50, by="words")  # the word of near-copies only
    near = [hit for hit in found.hits if hit.id.startswith("near/")]
    assert near
    assert all(hit.copies == 1 for hit in near)


def test_added_documents_are_compared_with_what_is_there(pile):
    clean, dirty = documents()[250], piled_documents()[5]
    new = [
        replace(clean, id="new", title=""),
        replace(dirty, id="once more"),
        replace(clean, id="newer", title="", text=f"Home\nNews\nContact\n{clean.text}"),
    ]
    filed = pile.add(new)
    assert [one.copy_of for one in filed] == ["", "pile/" + documents()[5].id + ".txt", "new"]
    assert filed[1].shared == 1.0
    assert pile.copies.rows.tolist()[-2:] == [219, 220]
    assert pile.minima.shape[0] == len(pile) == 221
    np.testing.assert_array_equal(pile.shares[[219]].toarray(), pile.shares[[5]].toarray())
    assert filed[2].document.title == filed[0].document.title
    assert check_folder(pile.folder.path) == []


def test_nothing_but_copies_can_be_added(pile):
    assert pile.add([replace(piled_documents()[3], id="again")])[0].copy_of


def test_fitting_again_counts_copies_once(pile):
    pile.shape(["rename 1 Something"], refit=True)
    largest = pile.outline.topics[pile.outline.tree.leaves[0]]
    pile.shape([f"split {largest} 2"])
    copies = pile.copies
    np.testing.assert_array_equal(pile.shares[copies.rows].toarray(), pile.shares[copies.originals].toarray())


def test_state_without_signatures_is_damaged(pile):
    with Collection.open(pile.folder.path) as forged:
        parts = {role: name for role, name in forged.state.parts.items() if not role.startswith("minima")}
        forged.state = replace(forged.state, parts=parts)
        with pytest.raises(DamagedError, match="has no minima"):
            _ = forged.minima


def test_no_copies_change_nothing():
    none = Duplicates.none()
    assert none.find_originals(3).tolist() == [0, 1, 2]
    assert none.find_first_documents(3).all()


def test_same_text_with_another_title_is_a_copy(path):  # noqa: F811
    with Collection.open(path) as collection:
        text = collection.documents.get(0).text
        added = [Document("long", text, "Another title of the text"), Document("one", "No comment", "First question")]
        collection.add([*added, Document("two", "No comment", "Second question")], learn=False)
        assert collection.copies.groups == {0: [500]}
        assert collection.copies.shared.tolist() == [1.0]
