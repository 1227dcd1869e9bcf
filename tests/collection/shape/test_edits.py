"""Edits are functions of shapes: what they change, what they leave alone, what they refuse."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiarist import Collection, Recipe, Tree
from topiarist.collection.shape import (
    Branch,
    Delete,
    Describe,
    Forget,
    Group,
    Ignore,
    Merge,
    Move,
    Pin,
    Rename,
    Seed,
    Split,
    Unite,
    Unpin,
    previews,
)
from topiarist.collection.shape.edits import apply
from topiarist.collection.shape.previews import preview_split
from topiarist.collection.shape.tree_state import TreeState
from topiarist.errors import DamagedError, UsageError

#            0 Everything: 1 energy (2 oil, 3 gas), 4 law (5 court, 6 bail), 7 sport
TREE = Tree(
    (-1, 0, 1, 1, 0, 4, 4, 0),
    ("Everything", "energy", "oil · barrel", "gas", "law", "court · judge", "bail", "sport"),
)


@pytest.fixture
def shape():
    return TreeState.from_tree(TREE, TREE.leaves)


def paths(shape):
    return {topic: shape.path(topic) for topic in shape.topics}


def test_a_topic_is_found_by_number_name_path_and_word(shape):
    assert shape.find(2) == shape.find("2") == shape.find("#2") == 2
    assert shape.find("oil · barrel") == shape.find("Oil · Barrel") == 2
    assert shape.find("energy/gas") == shape.find("Everything / energy / gas") == shape.find("energy ▸ gas") == 3
    assert (shape.find("barrel"), shape.find("judge court")) == (2, 5)
    with pytest.raises(UsageError, match=r"no topic is called 'bial'\n  Try: .*'bail'"):
        shape.find("bial")
    with pytest.raises(UsageError, match="there is no topic 77"):
        shape.find(77)


def test_heading_called_by_two_topics_is_found_by_its_name_and_they_by_their_words():
    tree = Tree((-1, 0, 1, 1, 0), ("Everything", "oil · barrel, gas", "oil · barrel", "gas", "sport"))
    shape = TreeState.from_tree(tree, tree.leaves)
    assert shape.find("Oil · barrel, gas") == shape.find("everything/oil · barrel, gas") == 1
    assert (shape.find("gas"), shape.find("barrel"), shape.find("oil gas")) == (3, 2, 1)
    moved = apply(shape, Move("sport", "oil · barrel, gas"))
    assert moved.path(4) == "oil · barrel, gas ▸ sport"
    again = apply(shape, Rename("oil · barrel, gas", "Energy, fuels"))
    assert (again.find("energy, fuels"), again.name(1)) == (1, "Energy, fuels")


def test_a_name_that_several_have_is_not_guessed():
    tree = Tree((-1, 0, 0, 1, 2), ("Everything", "here", "there", "other", "other"))
    with pytest.raises(UsageError, match=r"2 topics are called 'other': #3 here ▸ other; #4 there ▸ other"):
        TreeState.from_tree(tree, tree.leaves).find("other")


def test_names_and_notes_hold_no_control_characters(shape):
    hostile = "\x1b]0;Petro\x07leum\x9b\u202e\u2066"
    named = apply(apply(shape, Rename("oil", hostile)), Describe(2, f"{hostile}\nnext"))
    assert (named.name(2), named.notes[2]) == ("]0;Petro leum", "]0;Petro leum \nnext")
    assert named.find(hostile) == 2
    assert apply(shape, Group((2, 3), f"a{hostile}")).find("a ]0;Petro leum")
    with pytest.raises(UsageError, match="has the name 'gas' already"):
        apply(shape, Rename(2, "g\u200eas"))


def test_rename_and_its_return(shape):
    named = apply(shape, Rename("oil", "Petroleum"))
    assert named.name(2) == "Petroleum"
    assert named.titles == {2: "Petroleum"}
    assert not named.pending, "a name is no reason to fit again"
    assert apply(named, Rename(2, "")).rename_unnamed({2: "oil · barrel"}) == shape
    with pytest.raises(UsageError, match="sibling of 'Petroleum'"):
        apply(named, Rename(2, "gas"))


def test_names_of_people_stay_when_labels_change(shape):
    named = apply(shape, Rename("oil", "Petroleum")).rename_unnamed({2: "crude", 3: "lng", 6: "bail"})
    assert [named.name(topic) for topic in (2, 3, 6)] == ["Petroleum", "lng", "bail"]


def test_labels_that_siblings_share_get_numbers(shape):
    same = shape.rename_unnamed({2: "fuel", 3: "fuel"})
    assert [same.name(2), same.name(3)] == ["fuel", "fuel (2)"]


def test_notes(shape):
    noted = apply(shape, Describe("law", "  all of it "))
    assert noted.notes == {4: "all of it"}
    assert apply(noted, Describe("law", "")) == shape


def test_merging_siblings_joins_documents_words_pins_and_notes(shape):
    said = apply(apply(apply(shape, Pin(("a",), "gas")), Describe("oil", "one")), Describe("gas", "two"))
    merged = apply(said, Merge(("oil", "gas"), "Fuel"))
    assert 3 not in merged.topics
    assert merged.name(2) == "Fuel"
    assert merged.class_topics.count(2) == 2, "both classes of the model lie there now"
    assert merged.node_topics.count(2) == 2
    assert merged.pins == {"a": 2}
    assert merged.notes == {2: "one\ntwo"}
    assert merged.merged_topics == {2}
    assert merged.pending


def test_merging_from_elsewhere_moves_first(shape):
    merged = apply(shape, Merge(("sport", "bail")))
    assert 6 not in merged.topics
    assert merged.tree.parents[merged.node(7)] == merged.tree.root
    with pytest.raises(UsageError, match=r"'gas' is below 'energy'"):
        apply(shape, Merge(("gas", "energy")))
    with pytest.raises(UsageError, match="at least two topics"):
        apply(shape, Merge(("gas", "gas")))


def test_merging_inner_topics_keeps_what_is_below(shape):
    merged = apply(shape, Merge(("energy", "law")))
    assert {merged.tree.parents[merged.node(topic)] for topic in (2, 3, 5, 6)} == {merged.node(1)}


def test_split_makes_new_topics(shape):
    parted = apply(shape, Split("sport", 3))
    assert parted.topics[-3:] == (8, 9, 10)
    assert parted.next_topic == 11
    assert {parted.tree.parents[parted.node(topic)] for topic in (8, 9, 10)} == {parted.node(7)}
    with pytest.raises(UsageError, match="'energy' has subtopics already"):
        apply(shape, Split("energy"))
    with pytest.raises(UsageError, match="2 to 100 parts, got 1"):
        apply(shape, Split("sport", 1))


def test_numbers_are_never_used_again(shape):
    again = apply(apply(apply(shape, Split("sport", 2)), Delete(8)), Split(9))
    assert again.topics[-2:] == (10, 11)


def test_move(shape):
    moved = apply(shape, Move("bail", "sport"))
    assert moved.path(6) == "sport ▸ bail"
    assert apply(shape, Move("bail", "law")) is shape
    for topic, under in (("law", "bail"), ("law", "law"), ("Everything", "law")):
        with pytest.raises(UsageError, match="cannot be moved"):
            apply(shape, Move(topic, under))


def test_moving_beside_a_topic_of_the_same_name_adds_a_number(shape):
    moved = apply(shape.rename_unnamed({6: "gas"}), Move(6, "energy"))
    assert {moved.name(3), moved.name(6)} == {"gas", "gas (2)"}


def test_deleting_a_leaf_gives_its_documents_to_its_parent(shape):
    fewer = apply(apply(shape, Pin(("a",), "bail")), Delete("bail"))
    assert 6 not in fewer.topics
    assert fewer.class_topics == (2, 3, 5, 4, 7)
    assert fewer.node_topics[6] == -1
    assert fewer.pins == {"a": 4}


def test_deleting_an_inner_topic_lifts_what_is_below_or_takes_it_along(shape):
    lifted = apply(shape, Delete("law"))
    assert {lifted.tree.parents[lifted.node(topic)] for topic in (5, 6)} == {lifted.tree.root}
    gone = apply(shape, Delete("law", below=True))
    assert not {4, 5, 6} & set(gone.topics)
    assert gone.class_topics == (2, 3, 0, 0, 7)
    with pytest.raises(UsageError, match="root cannot be deleted"):
        apply(shape, Delete("Everything"))


def test_pins(shape):
    pinned = apply(shape, Pin(("a", "b"), "gas"))
    assert pinned.pins == {"a": 3, "b": 3}
    assert apply(pinned, Unpin(("a",))).pins == {"b": 3}
    with pytest.raises(UsageError, match="'c' is not pinned"):
        apply(pinned, Unpin(("c",)))
    with pytest.raises(UsageError, match="no documents to pin"):
        apply(shape, Pin((), "gas"))


def test_a_new_topic_for_some_documents(shape):
    grown = apply(shape, Branch("law", "Appeals", ("a", "b")))
    assert grown.path(8) == "law ▸ Appeals"
    assert grown.pins == {"a": 8, "b": 8}
    assert grown.titles == {8: "Appeals"}
    assert grown.added_topics == {8}
    with pytest.raises(UsageError, match="called 'bail' exists already under 'law'"):
        apply(shape, Branch("law", "bail", ("a",)))
    with pytest.raises(UsageError, match="a new topic needs documents"):
        apply(shape, Branch("law", "x", ()))


def test_topics_of_one_parent_get_a_heading_under_it(shape):
    more = apply(shape, Branch("law", "prison", ("a",)))
    said = apply(apply(more, Pin(("b",), "court")), Describe("bail", "a note"))
    grouped = apply(said, Group(("court", "bail"), " Before  the trial "))
    assert paths(grouped) | {9: ""} == paths(said) | {
        5: "law ▸ Before the trial ▸ court · judge", 6: "law ▸ Before the trial ▸ bail", 9: "",
    }  # fmt: skip
    assert grouped.path(9) == "law ▸ Before the trial"
    assert (grouped.pins, grouped.notes, grouped.class_topics) == (said.pins, said.notes, said.class_topics)
    assert grouped.titles == {8: "prison", 9: "Before the trial"}
    assert grouped.heading_topics == {9}
    assert grouped.pending


def test_topics_from_anywhere_meet_under_the_nearest_above_all(shape):
    deep = apply(apply(shape, Split("gas", 2)), Branch("energy", "wind", ("a",)))
    grouped = apply(deep, Group((8, "oil"), "Fossil"))
    assert (grouped.path(11), grouped.path(8)) == ("energy ▸ Fossil", "energy ▸ Fossil ▸ gas.1")
    assert grouped.path(3) == "energy ▸ gas", "it has its own documents, though one topic only"
    grouped = apply(shape, Group(("oil", "court", "sport"), "Mixed"))
    assert grouped.path(8) == "Mixed"
    assert {grouped.path(topic) for topic in (2, 5, 7)} == {
        "Mixed ▸ oil · barrel", "Mixed ▸ court · judge", "Mixed ▸ sport",
    }  # fmt: skip


def test_a_heading_of_one_topic_gives_way_to_it_unless_people_spoke_of_it(shape):
    grouped = apply(apply(shape, Rename("law", "Law")), Group(("oil", "court"), "Mixed"))
    assert grouped.path(3) == "gas"
    assert grouped.path(6) == "Law ▸ bail"
    assert 1 not in grouped.topics
    assert grouped.node_topics[1] == -1
    noted = apply(apply(shape, Describe("law", "of it")), Group(("oil", "court"), "Mixed"))
    assert noted.path(6) == "law ▸ bail"


def test_a_heading_of_nothing_goes_unless_it_has_documents(shape):
    grouped = apply(apply(shape, Rename("law", "Law")), Group(("court", "bail", "sport"), "Mixed"))
    assert 4 not in grouped.topics
    assert 4 not in grouped.titles
    pinned = apply(apply(shape, Pin(("a",), "law")), Group(("court", "bail", "sport"), "Mixed"))
    assert pinned.path(4) == "law"
    assert pinned.pins == {"a": 4}


def test_a_heading_over_all_of_another_takes_its_place_and_may_have_its_name(shape):
    grouped = apply(shape, Group(("court", "bail"), "law"))
    assert (grouped.path(8), grouped.path(5)) == ("law", "law ▸ court · judge")
    assert 4 not in grouped.topics
    named = apply(apply(shape, Rename("law", "Law")), Group(("court", "bail"), "Criminal"))
    assert named.path(5) == "Law ▸ Criminal ▸ court · judge"


def test_headings_that_cannot_be(shape):
    with pytest.raises(UsageError, match=r"'bail' is below 'law' and is grouped with it\n  Try: Leave out #6"):
        apply(shape, Group(("law", "bail"), "x"))
    with pytest.raises(UsageError, match="at least two topics"):
        apply(shape, Group(("law", 4), "x"))
    with pytest.raises(UsageError, match="a heading needs a name"):
        apply(shape, Group(("law", "gas"), " "))
    with pytest.raises(UsageError, match="root"):
        apply(shape, Group((0, "gas"), "x"))
    with pytest.raises(UsageError, match="cannot hold all topics"):
        apply(shape, Group(("law", "energy", "sport"), "x"))
    with pytest.raises(UsageError, match="#7, a sibling of the heading"):
        apply(shape, Group(("law", "gas"), "sport"))
    assert apply(shape, Group(("sport", "gas"), "sport")).path(7) == "sport ▸ sport"


def test_a_heading_is_made_of_the_topics_below_it_until_the_model_knows_it(shape):
    merged = apply(shape, Merge(("oil", "sport")))
    grouped = apply(apply(merged, Group(("oil", "court"), "Mixed")), Split("bail"))
    inner = apply(grouped, Group((8, "gas"), "More"))
    assert grouped.model_nodes(8) == (2, 5, 7)
    assert inner.model_nodes(inner.find("More")) == (2, 3, 5, 7)
    assert [grouped.model_nodes(topic) for topic in (6, 9)] == [(6,), ()]


def test_several_topics_are_split_alike(shape):
    parted = apply(shape, Split("gas", 3, ("bail", 3)))
    assert [len(parted.tree.children(parted.node(topic))) for topic in (3, 6)] == [3, 3]
    assert parted.next_topic == 14


def test_an_untrusted_shape_is_refused(shape):
    for damage in ({}, {**shape.to_dict(), "topics": "x"}, {**shape.to_dict(), "tree": {"parents": [5]}}):
        with pytest.raises(DamagedError, match="the shape of this tree is damaged"):
            TreeState.from_dict(damage)


def random_edit(draw, shape):
    topic, other = draw(st.sampled_from(shape.topics)), draw(st.sampled_from(shape.topics))
    document, word = draw(st.sampled_from("abc")), draw(st.sampled_from("abcd"))
    return draw(
        st.sampled_from([
            Rename(topic, draw(st.sampled_from(["x", "y", "gas", ""]))), Describe(topic, "note"),
            Merge((topic, other)), Group((topic, other), draw(st.sampled_from(["x", "gas"]))), Split(topic, 2),
            Split(topic, 2, (other,)), Move(topic, other), Delete(topic), Delete(topic, below=True),
            Pin((document,), topic), Unpin((document,)), Branch(topic, "new", (document,)),
            Seed(topic, (word,)), Ignore((word,)), Unite((word, document)), Forget((word,)),
        ])
    )  # fmt: skip


@given(st.data())
def test_any_edits_leave_a_whole_shape(data):
    shape = TreeState.from_tree(TREE, TREE.leaves)
    for _ in range(data.draw(st.integers(1, 12))):
        before = shape.to_dict()
        edit = random_edit(data.draw, shape)
        try:
            after = apply(shape, edit)
        except UsageError:
            after = shape
        assert shape.to_dict() == before, "the old shape is as it was"
        shape = after
        topics = set(shape.topics)
        assert len(topics) == len(shape.tree) == len(shape.topics)
        assert max(topics) < shape.next_topic
        assert set(shape.class_topics) <= topics
        assert set(shape.node_topics) <= topics | {-1}
        assert (
            set(shape.titles) | set(shape.notes) | set(shape.pins.values()) | shape.merged_topics | shape.added_topics
            <= topics
        )
        assert shape.heading_topics <= topics
        assert set(shape.seeds) <= topics
        wanted = {word for words in shape.seeds.values() for word in words}
        assert not wanted.intersection(shape.ignored), "nobody wants what is ignored"
        assert not set(shape.united).intersection((*wanted, *shape.ignored, *shape.united.values()))
        assert 0 in topics, "the root stays"
        assert TreeState.from_dict(json.loads(json.dumps(shape.to_dict()))) == shape


def test_words_belong_to_topics_and_follow_them(shape):
    first, second = shape.topics[shape.tree.leaves[0]], shape.topics[shape.tree.leaves[1]]
    said = apply(apply(shape, Seed(first, ("Oil", " natural  gas "))), Seed(second, ("oil",)))
    assert said.seeds == {first: ("oil", "natural gas"), second: ("oil",)}
    assert said.pending
    assert apply(said, Seed(first, ("OIL",))) is said
    assert apply(said, Merge((second, first))).seeds == {second: ("oil", "natural gas")}
    assert apply(said, Delete(first)).seeds == {second: ("oil",)}
    assert apply(said, Split(first, 2)).seeds == said.seeds
    assert apply(said, Forget(("oil",))).seeds == {first: ("natural gas",)}


def test_words_that_are_one(shape):
    topic = shape.topics[shape.tree.leaves[0]]
    said = apply(apply(shape, Seed(topic, ("color",))), Unite(("colour", "color")))
    assert (said.united, said.seeds) == ({"color": "colour"}, {topic: ("colour",)})
    assert said.word("color") == "colour"
    both = apply(said, Unite(("couleur", "color")))
    assert both.united == {"color": "couleur", "colour": "couleur"}
    assert apply(both, Unite(("colour", "color"))) is both
    assert apply(both, Forget(("colour",))).united == {"color": "couleur"}
    assert apply(both, Forget(("couleur",))).united == {}
    with pytest.raises(UsageError, match="two spellings"):
        apply(shape, Unite(("colour", "Colour")))


def test_what_is_ignored_belongs_nowhere(shape):
    topic = shape.topics[shape.tree.leaves[0]]
    ignored = apply(shape, Ignore(("Misc", "misc")))
    assert ignored.ignored == ("misc",)
    with pytest.raises(UsageError, match="'misc' is ignored"):
        apply(ignored, Seed(topic, ("misc",)))
    with pytest.raises(UsageError, match="cannot be ignored"):
        apply(apply(shape, Seed(topic, ("misc",))), Ignore(("misc",)))
    with pytest.raises(UsageError, match="'misc' is a seed word of"):
        apply(apply(apply(shape, Seed(topic, ("misc",))), Unite(("misc", "miscellaneous"))), Ignore(("miscellaneous",)))
    with pytest.raises(UsageError, match="no edit uses"):
        apply(ignored, Forget(("other",)))
    with pytest.raises(UsageError, match="no words are named"):
        apply(shape, Ignore((" ",)))


def test_parts_of_a_large_topic_are_estimated_from_some_of_its_documents(monkeypatch):
    texts = [f"{word} {word} {other} river" for word in ("boat", "court") for other in ("lake", "judge") * 20]
    with Collection.grow(texts, recipe=Recipe(topics=1)) as collection:
        leaf = collection.outline.topics[collection.outline.tree.leaves[0]]
        whole = preview_split(collection, leaf, 2)
        monkeypatch.setattr(previews, "MAX_SAMPLE", 20)
        some = preview_split(collection, leaf, 2)
    assert {one.sampled for one in whole} == {0}
    assert {one.sampled for one in some} == {20}
    assert sum(one.documents for one in some) == sum(one.documents for one in whole) == 80
