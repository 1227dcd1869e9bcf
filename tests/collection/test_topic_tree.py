"""A grown tree as a person reads it."""

import json
import warnings
from dataclasses import FrozenInstanceError
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist import CAM, Corpus, Tree
from topiarist.collection.describe import nodes
from topiarist.collection.describe.flat_topics import set_general_words_aside
from topiarist.collection.describe.nodes import NO_WORDS, ROOT, assign_names
from topiarist.collection.describe.topic_tree import _describe_size, describe_tree, grow_tree
from topiarist.counts import CountSettings, PhraseSettings
from topiarist.errors import InputError
from topiarist.estimators.tree.curve import Curve
from topiarist.estimators.tree.growth_sample import draw_sample
from topiarist.text.documents import Document

THEMES = {
    "cat": "cat dog mouse fur paw tail",
    "star": "star moon planet orbit comet sky",
    "court": "judge lawyer verdict trial witness appeal",
}


def corpus(texts, labels=None, **settings):
    documents = [
        Document(str(n), text, title=f"title {n}", labels=(labels[n],) if labels else ())
        for n, text in enumerate(texts)
    ]
    return Corpus.from_documents(documents, CountSettings(titles=False, **{"min_documents": 1, **settings}))


def texts(n_docs=90, length=14):
    rng = np.random.default_rng(0)
    words = [theme.split() for theme in THEMES.values()]
    return [f"the story of {' '.join(rng.choice(words[n % 3], length))}" for n in range(n_docs)]


@pytest.fixture(scope="module")
def three_subjects():
    return corpus(texts(), labels=[list(THEMES)[n % 3] for n in range(90)])


@pytest.fixture(scope="module")
def found(three_subjects):
    return grow_tree(three_subjects, 3, n_words=4)


def test_each_subject_is_a_leaf_with_its_words_size_and_documents(found):
    tree = found.tree
    assert len(tree.leaves) == 3
    themes = {frozenset(theme.split()) for theme in THEMES.values()}
    for leaf in tree.leaves:
        node = found.nodes[leaf]
        own = set(node.words).union(*(found.nodes[above].words for above in tree.ancestors(leaf)))
        (theme,) = [theme for theme in themes if theme & set(node.words)]
        assert set(node.words) <= theme <= own | theme
        assert node.size == pytest.approx(30, abs=1)
        assert node.share == pytest.approx(1 / 3, abs=0.02)
        assert node.depth == tree.depths[leaf] > 0
        assert len({int(title.split()[1]) % 3 for title in node.prototypes}) == 1
        assert len(node.prototypes) == 3
    assert found.agreement == pytest.approx(1.0)


def test_general_words_come_first_at_the_root(found):
    assert set(found.general_words) == {"the", "story", "of"}
    root = found.nodes[found.tree.root]
    assert root.words[:3] == found.general_words
    assert root.size == pytest.approx(90)
    assert found.tree.names[found.tree.root] == ROOT


def test_no_word_is_said_again_below(found):
    for node in range(len(found.tree)):
        above = {word for step in found.tree.ancestors(node) for word in found.nodes[step].words}
        assert not above & set(found.nodes[node].words)


def test_sizes_in_whole_numbers_add_up(found):
    tree = found.tree
    assert found.sizes[tree.root] == 90
    for node in range(len(tree)):
        if tree.children(node):
            assert found.sizes[node] == sum(found.sizes[child] for child in tree.children(node))
        assert abs(found.sizes[node] - found.nodes[node].size) <= len(tree.leaves)


def test_names_are_the_best_candidates_and_share_no_word_between_siblings(found):
    for node in range(len(found.tree)):
        said = [word for child in found.tree.children(node) for word in found.tree.names[child].split(" · ")]
        assert len(said) == len(set(said))
        if node != found.tree.root:
            assert found.tree.names[node] == found.nodes[node].names[0]
    for leaf in found.tree.leaves:
        assert len(found.nodes[leaf].names) >= 2
        assert found.tree.find(found.tree.names[leaf]) == leaf


def test_held_out_words_choose_the_number_and_the_sentence_says_so(three_subjects):
    found = grow_tree(three_subjects)
    assert found.stopped in ("heldout", "exhausted")
    assert found.curve.chosen == len(found.tree.leaves)
    assert found.reason.startswith(f"{len(found.tree.leaves)} topics: the smallest tree within 1% of the best of 1–")


def test_as_many_leaves_as_asked_for(found):
    assert found.reason.startswith("3 topics, as asked for (held-out perplexity")
    assert found.stopped == "reached"


@pytest.mark.parametrize(
    ("n_leaves", "asked", "stopped", "sentence"),
    [
        (
            5,
            None,
            "converged",
            "5 topics: the smallest tree within 1% of the best of 1–6 after a charge for size "
            "(held-out perplexity 790)",
        ),
        (1, None, "converged", "1 topic: no division predicts held-out words better by more than 1% "),
        (5, 5, "converged", "5 topics, as asked for (held-out perplexity 790)"),
        (5, 9, "converged", "5 topics: 9 were requested, but further topics keep no documents "),
        (4, None, "interrupted", "4 topics when growing was stopped (held-out perplexity 800)"),
    ],
)
def test_why_it_has_as_many_leaves(n_leaves, asked, stopped, sentence):
    n_on_the_way, perplexity = np.array([1, 2, 3, 4, 5, 5, 6]), np.array([1000, 900, 850, 800, 795, 790, 788.0])
    place = int(np.flatnonzero(n_on_the_way == n_leaves)[-1])
    curve = Curve(n_on_the_way, perplexity, 1.5 * perplexity, place)
    assert curve.chosen == n_leaves
    tree = Tree.star(n_leaves) if n_leaves > 1 else Tree.single()
    model = SimpleNamespace(tree_=tree, n_clusters=asked, curve_=curve, stopped_=stopped)
    assert _describe_size(model, 100).startswith(sentence)
    assert "perplexity" not in _describe_size(model, 10)  # of few documents it would be chance


def test_more_leaves_than_documents(three_subjects):
    with pytest.raises(InputError, match="documents with words, got 90"):
        grow_tree(three_subjects, 100)


def test_nothing_to_tell_documents_apart_by():
    with pytest.raises(InputError, match="no word distinguishes the 5 documents"):
        grow_tree(corpus(["same words"] * 5))


def test_one_leaf_is_a_tree_too(three_subjects):
    found = grow_tree(three_subjects, 1)
    assert found.tree.leaves == (found.tree.root,)
    assert found.render().startswith("Everything: ")
    assert found.render().endswith("90")


def test_a_node_does_not_borrow_the_words_of_others(three_subjects):
    special, _ = set_general_words_aside(three_subjects)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # there are three subjects: fewer leaves keep documents
        model = CAM(12, random_state=0).fit(special.counts)
    found = describe_tree(model, special)
    for node, summary in enumerate(found.nodes):
        themes = {theme for theme, words in THEMES.items() if set(words.split()) & set(summary.words)}
        assert node == found.tree.root or len(themes) <= 1
    for node in range(len(found.tree)):
        if not found.nodes[node].words and node != found.tree.root:
            assert found.tree.names[node].startswith(NO_WORDS)


def test_a_given_tree_keeps_its_names(three_subjects):
    special, general = set_general_words_aside(three_subjects)
    tree = Tree.from_paths(["world/left", "world/right/up", "world/right/down"])
    found = describe_tree(CAM(tree=tree, random_state=0).fit(special.counts), special, general)
    assert found.tree == tree
    assert found.curve is None
    assert found.stopped == "given"
    assert found.reason == "3 topics, as in the given tree"
    assert "left: " in found.render()


def test_phrases_count_as_words():
    phrased = corpus([*["black hole physics"] * 30, *["machine learning code"] * 30], phrases=PhraseSettings())
    words = {word for node in grow_tree(phrased, 2).nodes for word in node.words}
    assert words & {"black hole", "machine learning"}


def test_documents_without_titles_are_called_by_their_ids():
    nameless = Corpus.from_documents(
        [Document(f"id{n}", text) for n, text in enumerate(texts(30))], CountSettings(min_documents=1)
    )
    prototypes = grow_tree(nameless, 2).nodes[0].prototypes
    assert all(name.startswith("id") for name in prototypes)


def test_labels_are_optional_and_one_label_says_nothing():
    assert grow_tree(corpus(texts(30)), 2).agreement is None
    assert grow_tree(corpus(texts(30), labels=["all"] * 30), 2).agreement is None


def test_same_seed_same_tree_for_any_number_of_threads(three_subjects):
    first, second = (grow_tree(three_subjects, seed=3, n_threads=n) for n in (1, 2))
    assert first.to_dict() == second.to_dict()


def test_as_json(found):
    data = json.loads(json.dumps(found.to_dict()))
    assert data["n_leaves"] == 3
    assert data["n_docs"] == 90
    assert Tree.from_dict(data["tree"]) == found.tree
    assert data["nodes"][0]["words"] == list(found.nodes[0].words)
    assert data["curve"]["chosen"] == 3


def test_drawn_with_matplotlib(found):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = found.draw()
    assert ROOT in {text.get_text() for text in ax.texts}
    assert found.curve.plot(pyplot.subplots()[1]).get_xlabel() == "number of leaves"
    pyplot.close("all")


def test_it_cannot_be_changed(found):
    with pytest.raises(FrozenInstanceError):
        found.n_docs = 1


def test_reading_in_blocks_changes_nothing(monkeypatch):
    uneven = corpus([" ".join([text, *text.split()[3:] * n]) for n, text in enumerate(texts(60, 5))])  # no ties
    special, general = set_general_words_aside(uneven)
    model = CAM(3, random_state=0).fit(special.counts)
    whole = describe_tree(model, special, general)
    monkeypatch.setattr("topiarist.collection.describe.typical_documents.BLOCK", 7)
    parts = describe_tree(model, special, general)
    assert whole.words == parts.words
    assert [whole.nodes[leaf].prototypes for leaf in whole.tree.leaves] == [
        parts.nodes[leaf].prototypes for leaf in parts.tree.leaves
    ]


def test_a_name_is_kept_while_its_words_are_among_the_first():
    tree = Tree.star(3)
    words = [(), ("b", "a", "c"), ("x", "y", "z"), ("a", "b", "d")]
    before = ["Everything", "a · b", "p · q", ""]
    assert assign_names(tree, words, before).names == (
        "Everything",
        "a · b",
        "x · y",
        "d",
    )  # no word twice below one parent
    assert assign_names(tree, words).names == ("Everything", "b · a", "x · y", "d")


def test_a_new_name_keeps_away_from_the_words_of_names_that_stay():
    """As after a fit: one sibling keeps its name, the other is called by the first candidate without a word of it."""
    tree, words = Tree.star(2), [(), ("cup", "goal"), ("racket", "cups", "serve", "court")]
    before, candidates = (
        ["Everything", "goal · cup", "1"],
        [(), ("cup · goal",), ("cup final · racket", "serve · court")],
    )
    assert assign_names(tree, words, before, candidates, frozenset({1})).names[1:] == ("goal · cup", "serve · court")
    candidates[2] = ("cup final · racket",)
    assert assign_names(tree, words, before, candidates, frozenset({1})).names[2] == "racket · serve"
    words[2], candidates[2] = ("cup", "goals"), ("cup final",)
    assert assign_names(tree, words, before, candidates, frozenset({1})).names[2] == "cup final"  # better than none


HEADED = Tree((-1, 0, 1, 1, 0))
HEADED_NAMES = [(), ("oil · gas, goal",), ("oil · gas",), ("goal",), ("court",)]


def test_joined_name_has_the_names_that_the_largest_children_have_now():
    words, sizes = [(name,) for name in "vwxyz"], [9, 7, 3, 4, 2]
    assert assign_names(HEADED, words, names=HEADED_NAMES, sizes=sizes).names[1] == "goal, oil · gas"
    before = ["Everything", "oil · gas, goal", "Energy", "1", "2"]
    found = assign_names(HEADED, words, before, HEADED_NAMES, frozenset({2}), sizes).names
    assert found[1:4] == ("goal, Energy", "Energy", "goal")


def test_joined_name_that_leads_to_its_heading_is_kept():
    names = [(), ("oil, goal", "oil · gas, goal"), *HEADED_NAMES[2:]]
    found = assign_names(HEADED, [(name,) for name in "vwxyz"], names=names, sizes=[9, 7, 4, 3, 2]).names
    assert found[1] == "oil, goal"


def test_no_two_topics_get_the_same_name():
    names = [(), ("goal",), ("cup", "goal"), ("court",), ("goal", "bail")]
    found = assign_names(HEADED, [(f"w{number}",) for number in range(5)], names=names).names
    assert found[1:] == ("goal", "cup", "court", "bail")


def test_of_very_many_documents_some_tell_what_stands_for_a_topic(three_subjects, monkeypatch):
    """How many documents have a word is asked of all; what is asked of some has a bound."""
    special, general = set_general_words_aside(three_subjects)
    model = CAM(3, random_state=0).fit(special.counts)
    whole = describe_tree(model, special, general)
    monkeypatch.setattr("topiarist.estimators.tree.growth_sample.MAX_GROWTH_DOCUMENTS", 60)
    monkeypatch.setattr("topiarist.trees.naming.presence.BLOCK_DOCUMENTS", 37)
    monkeypatch.setattr(nodes, "MIN_DOCUMENTS_PER_CLASS", 0)
    some = describe_tree(model, special, general)
    drawn = set(draw_sample(special.n_docs, 0).tolist())
    assert len(drawn) == 60 < special.n_docs
    assert all(drawn.issuperset(node.rows) for node in some.nodes)
    assert not all(drawn.issuperset(node.rows) for node in whole.nodes)
    assert [node.size for node in some.nodes] == [node.size for node in whole.nodes]
    assert [node.names for node in some.nodes] == [node.names for node in whole.nodes], "names are of all documents"


def test_a_small_topic_is_stood_for_by_its_own_documents(monkeypatch):
    """Of a class that chance left out some documents are looked at all the same."""
    monkeypatch.setattr("topiarist.estimators.tree.growth_sample.MAX_GROWTH_DOCUMENTS", 30)
    own = np.where(np.arange(1000) % 250 == 7, 0, 1 + np.arange(1000) % 2)  # four documents of the first class
    shares = csr_array((np.ones(1000, np.float32), own, np.arange(1001)), shape=(1000, 3))
    looked = nodes._sample_documents(shares)
    assert set(np.flatnonzero(own == 0)) <= set(looked.tolist())
    assert len(looked) <= 30 + 4 + 2 * nodes.MIN_DOCUMENTS_PER_CLASS
    assert (np.diff(looked) > 0).all()
    monkeypatch.setattr("topiarist.estimators.tree.growth_sample.MAX_GROWTH_DOCUMENTS", 1000)
    assert nodes._sample_documents(shares) is None
