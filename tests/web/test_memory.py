"""What is worked out once: kept while there is room, waited for by those only who want the same."""

import threading

import numpy as np
import pytest

from tests.web.test_jobs import PATIENCE
from topiarist.collection.collection import Collection
from topiarist.collection.shape.edits import Merge, Rename
from topiarist.storage.marks import Marks
from topiarist.web.memory import PageCache
from topiarist.web.view import View


def test_the_latest_are_kept():
    memory, made = PageCache(max_entries=2), []
    for key in "abacab":
        memory(key, lambda key=key: made.append(key))
    assert made == ["a", "b", "c", "b"]


def test_there_is_room_for_so_many_bytes():
    memory, made = PageCache(largest=3_000), []

    def make(key):
        made.append(key)
        return np.zeros(125)  # 1,000 bytes

    for key in [1, 2, 3, 1, 4, 2, 1]:
        memory(key, lambda key=key: make(key))
    assert made == [1, 2, 3, 4, 2]
    assert len(memory) == 3


def test_what_fails_is_made_again():
    memory = PageCache()
    with pytest.raises(ZeroDivisionError):
        memory("key", lambda: 1 // 0)
    assert memory("key", lambda: 5) == 5


def test_only_those_who_want_the_same_wait():
    memory, going, may_end = PageCache(), threading.Event(), threading.Event()
    made = []

    def slow():
        going.set()
        assert may_end.wait(20)
        made.append("slow")
        return 1

    threads = [threading.Thread(target=memory, args=("slow", slow)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert going.wait(20)
    assert memory("other", lambda: 2) == 2  # while the slow one is still being made
    may_end.set()
    for thread in threads:
        thread.join(20)
    assert made == ["slow"]


def test_a_new_name_leaves_everything_else_as_it_was(copied):
    view = View.open(str(copied))
    leaf = next(node for node in range(len(view.tree)) if view.tree.is_leaf(node))
    rows, homes = view.list_rows(leaf, "typical", "all"), view.assigned_nodes
    with Collection.open(copied) as collection:
        collection.shape([Rename(view.shape.topics[leaf], "Something else")], refit=False)
    renamed = View.open(str(copied), view)
    assert renamed.names[leaf] == "Something else"
    assert renamed.list_rows(leaf, "typical", "all") is rows
    assert renamed.assigned_nodes is homes


def test_another_form_of_the_tree_is_worked_out_anew(copied):
    view = View.open(str(copied))
    leaves = [node for node in range(len(view.tree)) if view.tree.is_leaf(node)]
    siblings = [node for node in leaves if view.tree.parents[node] == view.tree.parents[leaves[0]]][:2]
    homes = view.assigned_nodes
    with Collection.open(copied) as collection:
        collection.shape([Merge(tuple(view.shape.topics[node] for node in siblings))], refit=False)
    merged = View.open(str(copied), view)
    assert merged.assigned_nodes is not homes
    assert merged.numbers is not view.numbers


def test_marks_are_read_again_as_soon_as_somebody_writes(copied):
    with Collection.open(copied) as reader, Collection.open(copied) as writer:
        assert reader.marks.read() == []
        with writer.folder.writing() as generation:
            Marks(generation.database).mark_read([3, 5])
        assert reader.marks.read() == [3, 5]
        assert reader.marks.read_rows() is reader.marks.read_rows()
        with writer.folder.writing() as generation:
            Marks(generation.database).mark_read([5], read=False)
            Marks(generation.database).tag([7], "later")
        assert reader.marks.read() == [3]
        assert reader.marks.tags() == {"later": 1}
        assert reader.marks.tagged_rows().tolist() == [7]


def test_what_is_made_beside_is_there_for_who_asks_again():
    memory, gate, made = PageCache(), threading.Event(), []

    def make():
        assert gate.wait(PATIENCE)
        made.append(1)
        return "made"

    assert memory.start_or_get("key", make) is None
    assert memory.start_or_get("key", make) is None
    gate.set()
    assert memory("key", make) == "made"  # waits for whoever makes it
    assert memory.start_or_get("key", make) == "made"
    assert made == [1]


def test_what_failed_beside_is_told_once_and_tried_again():
    memory, asked = PageCache(), threading.Event()

    def fail():
        raise ValueError("no")

    assert memory.start_or_get("key", fail) is None
    for thread in [one for one in threading.enumerate() if one.name == "key"]:
        thread.join(PATIENCE)
    with pytest.raises(ValueError, match="no"):
        memory.start_or_get("key", asked.set)
    assert not asked.is_set()
    assert memory.start_or_get("key", asked.set) is None
    assert asked.wait(PATIENCE)
