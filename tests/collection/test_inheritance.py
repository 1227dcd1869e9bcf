"""A collection that is grown anew loses no document without a word."""

import pytest

from tests.grown import documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow.grower import Grower
from topiarist.collection.grow.inheritance import _gathered
from topiarist.collection.grow.journal import Teller
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Group, apply
from topiarist.collection.shape.shape import Shape
from topiarist.hierarchy.tree import Tree

RECIPE = Recipe(topics=2, headings=False)


class Heard(Teller):
    def __init__(self):
        super().__init__()
        self.sentences = []

    def said(self, text):
        self.sentences.append(text)


@pytest.fixture(scope="module")
def every():
    return documents()[:88]


def again(path, given):
    heard = Heard()
    with Grower(RECIPE, tell=heard).grow(given, path, force=True) as grown:
        return grown.documents.ids(), " | ".join(heard.sentences)


def test_added_documents_outlive_growing_anew_again_and_again(tmp_path, every):
    path = tmp_path / "x.topiary"
    with Collection.grow(every[:80], path, RECIPE) as collection:
        collection.add(every[80:84])
        collection.add(every[84:])
        before = collection.documents.ids()
    for _ in range(2):
        ids, heard = again(path, every[:80])
        assert ids == before
        assert "8 documents that people added before are carried over" in heard


def test_who_is_in_the_sources_now_is_read_from_there_and_who_is_gone_is_named(tmp_path, every):
    path = tmp_path / "x.topiary"
    with Collection.grow(every[:80], path, RECIPE) as collection:
        collection.add(every[80:])
    ids, heard = again(path, every[1:85])
    assert ids == [one.id for one in (*every[1:85], *every[85:])]
    assert "3 documents that people added before are carried over" in heard
    assert f"1 document of before is not in the sources any more, and so not here: {every[0].id}" in heard


def test_a_heading_that_lost_some_of_its_topics_is_not_said_to_be_over_the_same():
    was = apply(Shape.of(Tree.star(6), range(1, 7)), Group((1, 2, 3, 4), "Ours"))
    shape, known, told = _gathered(was, Shape.of(Tree.star(6), range(1, 7)), {1: 2, 3: 5})
    assert {shape.topics[child] for child in shape.tree.children(shape.node(known[7]))} == {2, 5}
    assert told == [
        "Carried over in part, for no new topics are surely the same: "
        f"Ours over 2 of its 4 topics, without {was.name(2)}, {was.name(4)}"
    ]
    _, _, told = _gathered(was, Shape.of(Tree.star(6), range(1, 7)), {1: 1, 2: 2, 3: 3, 4: 5})
    assert told == ["Carried over: 1 heading over the same topics"]
    _, _, told = _gathered(was, Shape.of(Tree.star(6), range(1, 7)), {1: 1})
    assert told == ["Not put under a heading again, for no new topics are surely the same: Ours"]
