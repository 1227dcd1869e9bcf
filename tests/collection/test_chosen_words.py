"""What people say of words holds: through fits, additions, undo and growing anew."""

from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.collection.test_collection import agree, bits, grown_anew, held_by, leaves
from tests.grown import N_DOCS, N_WORDS, documents, new_documents
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.describe.documents import load_document_details
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.describe.topic_tree import contains_word
from topiarist.collection.shape.edits import Forget, Group, Ignore, Rename, Seed, Unite
from topiarist.collection.shape.words import count_occurrences_by_node, find_word_uses
from topiarist.errors import UsageError
from topiarist.estimators.tree.abstraction import word_levels
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel

SEEDS = ("optical", "laser", "density")


def column(collection, word):
    return collection.counting.vocabulary.columns[word]


def spoken(collection):
    """Every word and name that topics are described by."""
    nodes = collection.tree.nodes
    return {word for node in nodes for word in node.words}, [
        *collection.outline.tree.names,
        *sum((n.names for n in nodes), ()),
    ]


def first_words(collection, topic):
    """The first words of a topic, as many as there are seeds."""
    return collection.tree.nodes[collection.outline.node(topic)].words[: len(SEEDS)]


def having(collection, words):
    """Rows of documents with one of some words."""
    columns = [column(collection, word) for word in words]
    return np.flatnonzero(np.asarray(collection.all_counts[:, columns].sum(axis=1)).ravel())


def test_seeds_and_a_group_are_exactly_there_after_a_fit_an_addition_and_growing_anew(collection, path):
    every = islice(demo_documents(), N_DOCS, N_DOCS + N_DOCS // 5)
    more = [replace(one, text=" ".join(one.text.split()[:N_WORDS])) for one in every]
    topics = leaves(collection)[:4]
    seeded = topics[-1]
    collection.shape([Seed(seeded, SEEDS), Group(tuple(topics), "Ours"), Rename(seeded, "Mine")])

    def there(one):
        topic = one.topic("Mine")
        assert one.outline.seeds == {topic: SEEDS}
        members = held_by(one, "Ours")
        assert len(members) == len(topics)
        assert topic in members
        return members

    for _ in range(2):
        assert not collection.outline.pending
        assert there(collection) == topics
        assert first_words(collection, seeded) == SEEDS
        agree(collection)
        if len(collection) == N_DOCS:
            collection.add(more)
            assert there(collection) == topics
        collection.shape([])  # fit again
    told = grown_anew(path, [*documents()[:N_DOCS], *more])
    assert "3 words belong to the same topics again" in told
    with Collection.open(path) as other:
        members = there(other)
        assert other.outline.pending
        other.shape([])
        assert there(other) == members
        assert first_words(other, other.topic("Mine")) == SEEDS
        assert check_folder(other.folder.path) == []


def test_a_seed_draws_documents_and_the_others_stay(collection):
    collection.shape([])
    topic = leaves(collection)[0]
    rows, before = having(collection, SEEDS), collection.shares_under(topic)
    was = collection.tree_model.word_given_node[collection.outline.node(topic), column(collection, "laser")]
    collection.shape([Seed(topic, SEEDS)])
    after = collection.shares_under(topic)
    others = np.setdiff1d(np.arange(len(collection)), rows)
    n_sorted = np.count_nonzero(np.diff(collection.shares.indptr)[rows])  # unsorted documents have no shares
    assert after[rows].sum() > before[rows].sum() + 0.1 * n_sorted
    assert after[rows].sum() < len(rows), "the other words of a document still have a say"
    assert np.abs(after - before)[others].mean() < 0.02
    words = collection.tree_model.word_given_node[collection.outline.node(topic)]
    assert words[column(collection, "laser")] > was + 0.005
    assert (words > words[column(collection, "laser")]).sum() < 10
    history = collection.model.history_
    assert (np.diff(history) >= -1e-9 * np.abs(history[:-1])).all()


@pytest.mark.parametrize("refit", [True, False])
def test_ignored_words_are_named_nowhere_and_still_found(collection, refit):
    words, names = spoken(collection)
    barred = ["networks", "dark", "phase"]
    assert set(barred) <= words
    assert any(contains_word(name, barred) for name in names)
    found = collection.search("dark", by="words").total
    collection.shape([Ignore(tuple(barred))], refit=refit)
    words, names = spoken(collection)
    assert not words.intersection(barred)
    assert not any(contains_word(name, barred) for name in names)
    assert collection.search("dark", by="words").total == found > 0
    assert collection.search("dark networks", by="meaning").hits
    columns = [column(collection, word) for word in barred]
    assert collection.counts[:, columns].nnz == 0
    assert collection.all_counts[:, columns].nnz > 0
    if refit:
        assert (collection.tree_model.word_given_node[:, columns] == 0).all()
    agree(collection)
    assert check_folder(collection.folder.path) == []


def test_filing_does_not_see_ignored_words(collection):
    plain, odd = (
        Document(name, text)
        for name, text in (("a", "groups and algebras"), ("b", "groups and algebras dark dark dark"))
    )
    apart = [collection.placer.place(collection.count_words([one]), 0.9).posterior for one in (plain, odd)]
    assert not np.allclose(*apart)
    collection.shape([Ignore(("dark",))])
    alike = [collection.placer.place(collection.count_words([one]), 0.9).posterior for one in (plain, odd)]
    np.testing.assert_array_equal(*alike)
    filed = list(collection.file([plain, odd]))
    assert filed[0].certainty == filed[1].certainty
    assert "dark" not in filed[1].words
    collection.add([odd])
    assert collection.all_counts[-1:, [column(collection, "dark")]].sum() == 3
    assert collection.counts[-1:, [column(collection, "dark")]].nnz == 0


def test_united_words_are_counted_together(collection):
    one, two = column(collection, "behavior"), column(collection, "behaviour")
    together = collection.counts[:, [one, two]].sum()
    collection.shape([Unite(("behaviour", "behavior"))])
    assert collection.counts[:, [two]].sum() == together
    assert collection.counts[:, [one]].nnz == 0
    assert collection.tree_model.word_given_node[:, one].max() == 0
    row = int(np.flatnonzero(collection.all_counts[:, [one]].toarray())[0])
    marked = {mark.word for mark in load_document_details(collection, collection.documents.ids()[row]).marks}
    assert "behavior" in marked, "a spelling has the level of its word"
    assert collection.search("behavior", by="words").total > 0


def test_undo_gives_back_every_bit(collection):
    before = bits(collection)
    collection.shape([Seed(1, SEEDS), "ignore networks", "unite behavior = behaviour"])
    seen = bits(collection)
    collection.shape([Forget(("networks", "laser", "behavior"))])
    assert collection.outline.seeds == {1: ("optical", "density")}
    assert (collection.outline.ignored, collection.outline.united) == ((), {})
    assert collection.undo() == "forget networks laser behavior"
    assert bits(collection) == seen
    assert collection.undo() == f"seed 1 with {' '.join(SEEDS)}; ignore networks; unite behavior = behaviour"
    assert bits(collection) == before


def test_a_tree_grown_anew_does_not_see_what_was_ignored(collection, path):
    collection.shape([Ignore(("networks", "dark")), Unite(("behaviour", "behavior"))])
    told = grown_anew(path, documents()[:N_DOCS])
    assert "Grown with 2 ignored and 1 united words, as before" in told
    with Collection.open(path) as other:
        assert (other.outline.ignored, other.outline.united) == (("networks", "dark"), {"behavior": "behaviour"})
        assert not other.outline.pending
        words, names = spoken(other)
        assert not words.intersection(("networks", "dark", "behavior"))
        assert not any(contains_word(name, ("networks", "dark")) for name in names)
        hidden = [column(other, word) for word in ("networks", "dark", "behavior")]
        assert (other.tree_model.word_given_node[:, hidden] == 0).all()
        assert other.search("dark", by="words").total > 0
        other.add(new_documents(5))  # the model learns on, and does not see them either
        assert other.tree_model.word_given_node[:, hidden].max() < 1e-4
        assert not spoken(other)[0].intersection(("networks", "dark", "behavior"))
        agree(other)


def test_seeds_of_a_topic_that_is_gone_are_told_and_lost(collection, path):
    collection.shape([Seed(1, SEEDS)], refit=False)
    others = [Document(f"other/{n}", one.text, one.title) for n, one in enumerate(documents()[:60])]
    assert "Words are not given to a topic again" in grown_anew(path, others, topics=3)


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (["ignore opticl"], "'opticl' is not in the vocabulary\n.*'optical'"),
        (["seed 1 with zzzzqq"], "not in the vocabulary\n.*at least 3 documents"),
        (["ignore the"], "general word"),
        (["seed 1 with laser", "ignore laser"], "'laser' is a seed word of .* cannot be ignored"),
        (["ignore laser", "seed 1 with laser"], "'laser' is ignored"),
        (["ignore laser", "unite laser = optical"], "'laser' is ignored"),
        (["forget laser"], "no edit uses the word 'laser'"),
        (["seed nonsense with laser"], "no topic is called"),
    ],
)
def test_what_cannot_be_said_of_words_leaves_everything_as_it_is(collection, edits, message):
    before = collection.state
    with pytest.raises(UsageError, match=message):
        collection.shape(edits)
    assert collection.state == before


@pytest.mark.parametrize("mixes_classes", [False, True])
def test_word_counts_follow_kind_of_documents(mixes_classes):
    tree, rng = Tree.from_paths(["a", "b"]), np.random.default_rng(0)
    words, mix = rng.dirichlet(np.ones(4), 3), np.array([[0.4, 0.6, 0.0], [0.3, 0.0, 0.7]])
    model = TreeModel(tree, tree.leaves, words, mix, np.full(2, 0.5), mixes_classes=mixes_classes)
    counts, shares = rng.poisson(1.0, (6, 4)).astype(float), rng.dirichlet(np.ones(2), 6)
    collection = SimpleNamespace(tree_model=model, counts=csr_array(counts), shares=csr_array(shares))
    readings = word_levels(csr_array(counts), model, shares, np.arange(3))
    expected = np.zeros(3)
    for row in range(6):
        for word, _, nodes in zip(*readings.document(row), strict=True):
            expected += counts[row, 1] * nodes if word == 1 else 0.0
    np.testing.assert_allclose(count_occurrences_by_node(collection, 1), expected)


def test_where_a_seed_word_is_said_is_told_by_documents_and_not_by_prior_tokens(collection):
    topic = leaves(collection)[0]
    collection.shape([Seed(topic, ("laser", "dark"))])
    dark = column(collection, "dark")
    occurrences = collection.counts[:, [dark]].toarray().ravel()
    inside = float(occurrences @ collection.shares_under(topic))
    n_sorted = occurrences[np.diff(collection.shares.indptr) > 0].sum()  # unsorted documents have no nodes
    (use,) = find_word_uses(collection, [Seed(topic, ("dark",))])
    assert 0 < n_sorted < use.occurrences == occurrences.sum()
    assert count_occurrences_by_node(collection, dark).sum() == pytest.approx(n_sorted, rel=1e-3)
    assert use.topic_share <= inside / n_sorted + 1e-3
    homes = dict(Figures(collection).find_nodes_of_word("dark", 10))
    assert homes[collection.outline.node(topic)] == pytest.approx(use.topic_share, abs=0.01)


def test_what_is_known_of_words_before_an_edit(collection):
    uses = find_word_uses(
        collection, [Seed(1, ("Laser",)), Ignore(("dark",)), Unite(("behaviour", "behavior")), Rename(1, "x")]
    )
    assert [use.word for use in uses] == ["laser", "dark", "behaviour", "behavior"]
    assert [use.what for use in uses] == ["seed", "ignore", "unite", "unite"]
    for use in uses:
        own = collection.all_counts[:, [column(collection, use.word)]]
        assert (use.documents, use.occurrences) == (own.nnz, own.sum())
        assert 0 < use.share < 0.05
    assert uses[0].topic == collection.outline.name(1)
    assert 0 <= uses[0].topic_share <= 1
    assert [use.counts_for for use in uses] == ["", "", "", "behaviour"]
