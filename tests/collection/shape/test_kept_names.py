"""Topics keep their number and name; other topics get numbers and names that no topic had before."""

from dataclasses import replace

import pytest

from tests.grown import N_DOCS, documents, new_documents
from topiarist.collection.collection import Collection
from topiarist.collection.describe.nodes import assign_names
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.history import last_step
from topiarist.collection.shape.kept_names import NameChanges, find_name_changes, renumber_topics, retire_names
from topiarist.collection.shape.tree_state import TreeState
from topiarist.text.documents import Document
from topiarist.trees.tree import Tree

SUBJECTS = (
    "stars galaxies telescope light orbit", "court judge appeal statute verdict", "goal match league striker coach",
    "flour oven butter yeast dough", "guitar melody chorus concert drums", "vaccine patient dose trial nurse",
)  # fmt: skip


def write_documents(subjects):
    return [
        Document(f"{subject}-{number}", " ".join(SUBJECTS[subject].split()[number % 3 :] * 3))
        for subject in subjects
        for number in range(30)
    ]


def grow(path, documents, topics):
    return grow_collection(documents, path, Recipe(topics=topics), force=True)


def list_names(collection):
    outline = collection.outline
    return dict(zip(outline.topics, outline.tree.names, strict=True))


def test_grow_again_keeps_numbers_and_names(path):
    with Collection.open(path) as collection:
        collection.shape(["split 1 2"], refit=True)
        before, size = list_names(collection), len(collection.outline.tree.leaves)
    with grow(path, documents()[:N_DOCS], size) as collection:
        number_of = {name: topic for topic, name in before.items()}
        for topic, name in list_names(collection).items():
            assert before.get(topic, name) == name
            assert number_of.get(name, topic) == topic


def test_grow_from_other_sources_reuses_no_name_or_number(tmp_path):
    path = tmp_path / "subjects.topiary"
    with grow(path, write_documents(range(4)), 4) as collection:
        first = list_names(collection)
    with grow(path, write_documents([0, 1, 4, 5]), 4) as collection:
        second = list_names(collection)
        changes = NameChanges.from_dict(last_step_of(collection).body)
        kept = first.keys() & second.keys()
        assert len(kept) == 3  # the root and two subjects
        assert all(first[topic] == second[topic] for topic in kept)
        assert not (set(first.values()) & {second[topic] for topic in second.keys() - kept})
        assert changes.gone == tuple((topic, name) for topic, name in first.items() if topic not in kept)
        assert changes.new == tuple((topic, name) for topic, name in second.items() if topic not in kept)
    with grow(path, write_documents(range(4)), 4) as collection:  # subjects 2 and 3 are back, as new topics
        third = list_names(collection)
        fresh = third.keys() - second.keys()
        assert len(fresh) == 2
        assert min(fresh) > max(second)
        assert not ({*first.values(), *second.values()} & {third[topic] for topic in fresh})


def test_log_lists_name_changes(path):
    from typer.testing import CliRunner

    from topiarist.cli.commands import app

    with Collection.open(path) as collection:
        collection.shape(["split 3 2"], refit=True)
        changes = NameChanges.from_dict(last_step(collection.generation).body)
    assert changes.renamed
    shown = " ".join(CliRunner().invoke(app, ["shape", str(path), "--log"]).stdout.split())
    assert all(sentence in shown for sentence in changes.sentences)


def last_step_of(collection):
    from topiarist.collection.describe.provenance import find_growth

    return find_growth(collection)


def test_addition_keeps_names_and_lists_changes(path):
    with Collection.open(path) as collection:
        before = list_names(collection)
        list(collection.add(new_documents()))
        after = list_names(collection)
        changes = NameChanges.from_dict(last_step(collection.generation).body)
        assert [(topic, before[topic], after[topic]) for topic in before if before[topic] != after[topic]] == list(
            changes.renamed
        )
        assert len(changes.renamed) <= 2


def test_renumbering_keeps_every_reference():
    shape = replace(
        TreeState.from_tree(Tree((-1, 0, 0, 1, 1)), [2, 3, 4]),
        titles={3: "Bail"},
        pins={"a": 4},
        node_topics=(0, 1, 2, 3, -1),
    )
    numbered = renumber_topics(shape, {0: 0, 3: 7}, 9)
    assert numbered.topics == (0, 9, 10, 7, 11)
    assert numbered.class_topics == (10, 7, 11)
    assert numbered.node_topics == (0, 9, 10, 7, -1)
    assert (numbered.titles, numbered.pins, numbered.next_topic) == ({7: "Bail"}, {"a": 11}, 12)
    assert numbered.class_nodes == shape.class_nodes


def test_retired_names_belong_to_their_topic():
    old = TreeState.from_tree(Tree((-1, 0, 0), ("All", "Oil", "Law")), [1, 2])
    new = replace(old, tree=Tree((-1, 0, 0), ("All", "Gas", "Law")))
    assert find_name_changes(old, new).sentences == ("Renamed (1): #1 Oil → Gas",)
    assert retire_names(old, new).former_names == {"oil": 1}
    assert retire_names(new, replace(old, former_names={"oil": 1})).former_names == {"gas": 1}
    assert TreeState.from_dict(retire_names(old, new).to_dict()).former_names == {"oil": 1}


@pytest.mark.parametrize(("owner", "name"), [(1, "oil"), (2, "gas"), (-1, "gas")])
def test_former_name_is_given_to_its_topic_only(owner, name):
    words, names = [(), ("oil",), ("law",)], [(), ("oil", "gas"), ("law",)]
    tree = assign_names(Tree((-1, 0, 0)), words, names=names, former_names={"oil": owner})
    assert tree.names[1] == name
