"""Which headings have few subtopics or many, and why."""

from types import SimpleNamespace

import numpy as np
import pytest

from topiarist.collection.judge.tree_quality import judged, odd_headings
from topiarist.hierarchy.tree import Tree


def told(parents, gains):
    tree = Tree(tuple(parents))
    nodes = [SimpleNamespace(gain=gain) for gain in gains]
    return odd_headings(SimpleNamespace(tree=tree, collection=SimpleNamespace(tree=SimpleNamespace(nodes=nodes))))


def test_headings_with_two_subtopics_are_told_with_why():
    #        0        1 (pair)  2 (insists: 7 tells little)      3: three leaves
    parents = [-1, 0, 0, 0, 1, 1, 2, 2, 7, 7, 7, 3, 3, 3]
    odd = told(parents, [9.0, 1.0, 5.0, 1.0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0, 0])
    assert (odd.pairs, odd.insisted, odd.others, odd.wide) == ((1,), (2,), (), ())
    assert odd.sentence == (
        "2 of 5 headings have fewer than 3 subtopics: 1 hold two last topics and no more, "
        "1 would tell less than 40% of what parts them if either were opened."
    )
    assert told(parents, [9.0, 1.0, 5.0, 1.0, 0, 0, 0, 4.0, 0, 0, 0, 0, 0, 0]).others == (2,)


def test_where_nothing_is_odd_nothing_is_said():
    assert told([-1, 0, 0, 0], [1.0, 0, 0, 0]).sentence == ""
    assert told([-1] + [0] * 9, [1.0] + [0.0] * 9).sentence == "1 have more than 8."


def test_coherence_is_that_of_the_words_that_topics_show(collection):
    quality, nodes = judged(collection), collection.tree.nodes
    below = [node for place, node in enumerate(nodes) if place != collection.outline.tree.root]
    assert quality.coherence == pytest.approx(np.mean([node.coherence for node in below]))
    words = [word for node in below for word in node.words[:10]]
    assert quality.diversity == pytest.approx(len(set(words)) / len(words))
