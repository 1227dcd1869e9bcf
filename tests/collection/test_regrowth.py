"""How steady topics are: kept with their tree, stopped with what is known, refused where it means nothing."""

import random

import pytest

from tests.grown import collection, documents, grown_once, path  # noqa: F401
from topiarist.collection.collection import Collection
from topiarist.collection.grow import regrowth
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.regrowth import check_steadiness, load_stability
from topiarist.collection.shape.edits import Merge, Rename
from topiarist.collection.shape.history import apply_edits
from topiarist.errors import UsageError
from topiarist.progress import ProgressReporter
from topiarist.text.documents import Document


class Stopping(ProgressReporter):
    def __init__(self, after):
        self.after, self.seen = after, []

    def report(self, event):
        self.seen.append((event.done, event.total))
        if event.done == self.after:
            raise KeyboardInterrupt


def test_it_is_kept_with_the_tree_and_forgotten_when_that_is_fitted_again(collection):  # noqa: F811
    assert load_stability(collection) is None
    found = check_steadiness(collection, 2)
    assert found.n_trees == 2
    assert set(found.shares) == set(collection.outline.topics[1:])
    assert all(0 <= share <= 1 for share in found.shares.values())
    assert sum(found.counts().values()) == len(found.shares)
    topic = collection.outline.topics[1]
    assert f"({found.shares[topic]:.0%} came back in 2 other trees)" in found.describe(topic)
    apply_edits(collection, [Rename(topic, "Mine")])
    with Collection.open(collection.folder.path) as again:
        assert load_stability(again) == found
        leaves = [again.outline.topics[leaf] for leaf in again.outline.tree.leaves[:2]]
        others = {topic: share for topic, share in found.shares.items() if topic not in leaves}
        apply_edits(again, [Merge(tuple(leaves))], refit=False)
        assert load_stability(again).describe(leaves[0]) == ""  # it has the documents of two now
        assert set(load_stability(again).shares.items()) <= set(others.items())
        with pytest.raises(UsageError, match="not fitted yet"):
            check_steadiness(again, 2)
        apply_edits(again, [])
        assert load_stability(again) is None


def test_whoever_stops_it_keeps_what_the_trees_so_far_say(collection):  # noqa: F811
    watching = Stopping(after=1)
    assert check_steadiness(collection, 3, reporter=watching).n_trees == 1
    assert watching.seen == [(1, 3)]


def test_topics_of_separate_words_are_steady(tmp_path):
    words = ["boat sail wind harbour mast", "oven flour bread yeast dough", "court judge bail appeal verdict"]
    rng = random.Random(0)  # the same words in another order are no copies
    texts = [Document(str(row), " ".join(rng.sample(words[row % 3].split() * 3, 15))) for row in range(120)]
    with Collection.grow(texts, tmp_path / "three.topiary", Recipe(topics=3)) as grown:
        found = check_steadiness(grown, 2)
        assert found.counts() == {"steady": len(found.shares), "mixed": 0, "may be chance": 0}


def test_copies_count_once(tmp_path, monkeypatch):
    some, seen = documents()[:50], []
    grown_again = regrowth._grow_half
    monkeypatch.setattr(regrowth, "_grow_half", lambda corpus, *rest: seen.append(corpus) or grown_again(corpus, *rest))
    copies = [Document(f"copy/{row}", some[0].text, some[0].title) for row in range(30)]
    with Collection.grow([*some, *copies], tmp_path / "c.topiary", Recipe(topics=2, headings=False)) as grown:
        assert len(grown.copies) == 30
        found = check_steadiness(grown, 1)
        assert [len(corpus.ids) for corpus in seen] == [50]
        assert not any(id.startswith("copy/") for id in seen[0].ids)
        assert set(found.shares) <= set(grown.outline.topics)
    few = Collection.grow([*some[:30], *copies], tmp_path / "d.topiary", Recipe(topics=2, headings=False))
    with few, pytest.raises(UsageError, match="30 documents are too few"):
        check_steadiness(few, 1)


def test_too_few_documents_are_refused(tmp_path):
    words = ("boat sail mast", "oven bread flour", "court judge bail")
    texts = [Document(str(row), words[row % 3]) for row in range(12)]
    with (
        Collection.grow(texts, tmp_path / "few.topiary", Recipe(topics=2)) as grown,
        pytest.raises(UsageError, match="too few"),
    ):
        check_steadiness(grown)
