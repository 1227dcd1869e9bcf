"""Which headings have few subtopics or many, and why."""

from types import SimpleNamespace

import numpy as np
import pytest

from topiarist.collection.classify.tree_quality import evaluate_tree, find_odd_headings
from topiarist.trees.tree import Tree


def told(parents, gains):
    tree = Tree(tuple(parents))
    nodes = [SimpleNamespace(gain=gain) for gain in gains]
    return find_odd_headings(SimpleNamespace(tree=tree, collection=SimpleNamespace(tree=SimpleNamespace(nodes=nodes))))


def test_headings_with_two_subtopics_are_told_with_why():
    #        0        1 (pair)  2 (insists: 7 tells little)      3: three leaves
    parents = [-1, 0, 0, 0, 1, 1, 2, 2, 7, 7, 7, 3, 3, 3]
    odd = told(parents, [9.0, 1.0, 5.0, 1.0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0, 0])
    assert (odd.pairs, odd.uninformative, odd.others, odd.wide) == ((1,), (2,), (), ())
    assert odd.sentence == (
        "2 of 4 headings have fewer than 3 subtopics: 1 hold two topics only, "
        "1 have subtopics that gain less than 40% of what the heading gains."
    )
    assert told(parents, [9.0, 1.0, 5.0, 1.0, 0, 0, 0, 4.0, 0, 0, 0, 0, 0, 0]).others == (2,)


def test_where_nothing_is_odd_nothing_is_said():
    assert told([-1, 0, 0, 0], [1.0, 0, 0, 0]).sentence == ""
    assert told([-1] + [0] * 13, [1.0] + [0.0] * 13).sentence == ""  # the root is no heading
    assert told([-1, 0, 0], [1.0, 0, 0]).sentence == ""
    assert told([-1, 0, 0, 0] + [1] * 9, [1.0] + [0.0] * 12).sentence == "1 have more than 8."


def test_coherence_is_that_of_the_words_that_topics_show(collection):
    quality, nodes = evaluate_tree(collection), collection.tree.nodes
    below = [node for place, node in enumerate(nodes) if place != collection.outline.tree.root]
    assert quality.coherence == pytest.approx(np.mean([node.coherence for node in below]))
    words = [word for node in below for word in node.words[:10]]
    assert quality.diversity == pytest.approx(len(set(words)) / len(words))
