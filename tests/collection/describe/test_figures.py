"""Figures of a collection: spelling, lists of documents and numbers of words, where there are very many too."""

from types import SimpleNamespace

import numpy as np
import pytest

from topiarist.collection.describe import statistics
from topiarist.collection.describe.statistics import DOCUMENTS_AT_ONCE, MAX_SPELLING_SAMPLE, Figures, select_runs


class Many:
    """A collection of many topics, each with three documents and a word of its own, and who asks for which texts."""

    def __init__(self, topics):
        self.asked = []
        self.outline = SimpleNamespace(tree=SimpleNamespace(root=0))
        own = [SimpleNamespace(words=(f"w{topic}",), rows=range(3 * topic, 3 * topic + 3)) for topic in range(topics)]
        self.tree = SimpleNamespace(nodes=own)
        self.documents = SimpleNamespace(load_many=self.load_many)

    def __len__(self):
        return 3 * len(self.tree.nodes)

    def load_many(self, rows):
        self.asked.append(list(rows))
        return [SimpleNamespace(text="") for _ in rows]


def test_of_many_topics_the_last_are_read_too_and_few_texts_are_held_at_once():
    collection = Many(MAX_SPELLING_SAMPLE - 1)
    assert Figures(collection).spelling == {}
    read = {row // 3 for rows in collection.asked for row in rows}
    assert read == set(range(MAX_SPELLING_SAMPLE - 1))
    assert max(map(len, collection.asked)) == DOCUMENTS_AT_ONCE


@pytest.mark.parametrize(("number", "wanted"), [(10, 3), (1_000, 100), (1_000, 1_000), (5_000, 4_000), (600, 300)])
def test_runs_that_lie_evenly(number, wanted):
    places = select_runs(number, wanted, 4)
    assert wanted - 4 <= len(places) <= wanted
    assert (np.diff(places) > 0).all()
    assert places[0] == 0
    assert number - 4 - number * 4 / wanted <= places[-1] < number
    assert np.diff(places).max() <= max(1, 4 * number / wanted + 1)  # no part of them is passed over


def test_of_very_many_documents_some_are_ordered_by_words_and_the_others_follow(collection, monkeypatch):
    whole = Figures(collection)
    node = max(whole.children(whole.tree.root), key=lambda child: whole.sizes[child])
    every = {show: whole.list_rows(node, "typical", show) for show in ("all", "here")}
    monkeypatch.setattr(statistics, "MAX_RANKED", 20)
    monkeypatch.setattr(statistics, "RUN_LENGTH", 4)
    some, shares = Figures(collection), whole.shares_under(node)
    for show, rows in every.items():
        found = some.list_rows(node, "typical", show)
        assert sorted(found.tolist()) == sorted(rows.tolist())  # nobody is lost, nobody comes twice
        assert shares[found[:20]].round(4).min() >= np.sort(shares[rows].round(4))[-20]
        rest = np.rint(shares[found[20:]] * 10_000)
        assert (np.diff(rest) <= 0).all()
        assert some.n_listed(node, show) == len(rows)


def test_documents_with_a_word_are_counted_alike_by_rows_and_by_postings(collection, monkeypatch):
    whole = Figures(collection)
    columns = [*range(0, len(whole.columns), 7)]
    nodes = [node for node in range(len(whole.tree)) if node != whole.tree.root]
    here = {node: whole.document_counts(node, columns) for node in nodes}
    assert any(any(counts) for counts in here.values())
    monkeypatch.setattr(statistics, "MAX_RANKED", 0)
    asked = []
    monkeypatch.setattr(
        Figures,
        "_count_from_postings",
        lambda self, *given, own=Figures._count_from_postings: asked.append(1) or own(self, *given),
    )
    assert {node: Figures(collection).document_counts(node, columns) for node in nodes} == here
    assert len(asked) == len(nodes)
    counts = collection.counts[whole.select_assigned_under(nodes[0])]
    assert here[nodes[0]] == [int((counts[:, [column]] > 0).sum()) for column in columns]
