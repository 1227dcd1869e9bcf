"""The topics of a collection as a person reads them."""

import numpy as np
import polars
import pytest

from topiarist import Corpus
from topiarist.collection.describe.flat_topics import distinctive, find_topics, is_general, set_general_words_aside
from topiarist.collection.describe.topic_tree import grow_tree
from topiarist.counts import CountSettings
from topiarist.errors import InputError
from topiarist.text.documents import Document


def corpus(texts, **settings):
    documents = [Document(str(n), text, title=f"title {n}") for n, text in enumerate(texts)]
    return Corpus.from_documents(documents, CountSettings(titles=False, **{"min_documents": 1, **settings}))


@pytest.fixture
def two_subjects():
    rng = np.random.default_rng(0)
    themes = [["cat", "dog", "mouse", "fur", "paw", "tail"], ["star", "moon", "planet", "orbit", "comet", "sky"]]
    return corpus([f"the story of {' '.join(rng.choice(themes[n % 2], 12))}" for n in range(80)])


def test_general_words_are_set_aside_and_the_rest_is_found(two_subjects):
    found = find_topics(two_subjects, 2, n_words=6)
    assert set(found.general_words) == {"the", "story", "of"}
    assert {frozenset(topic.words) for topic in found.topics} == {
        frozenset(["cat", "dog", "mouse", "fur", "paw", "tail"]),
        frozenset(["star", "moon", "planet", "orbit", "comet", "sky"]),
    }
    assert all(topic.documents[0].startswith("title") for topic in found.topics)
    even = {int(title.split()[1]) % 2 for title in found.topics[0].documents}
    assert len(even) == 1
    assert found.topics[0].share >= found.topics[1].share
    assert found.coherence > 0.3
    assert found.diversity == 1.0


def test_topics_and_trees_of_strings_equal_those_of_their_corpus():
    texts = [f"{'cat dog fur' if number % 2 else 'star moon sky'} w{number % 7}" for number in range(60)]
    counted = Corpus.from_documents(texts)
    assert find_topics(texts, 2) == find_topics(counted, 2)
    assert find_topics(polars.Series(texts), 2).topics == find_topics(counted, 2).topics
    assert grow_tree(texts, 2).render() == grow_tree(counted, 2).render()


def test_words_of_other_topics_do_not_fill_up_the_list(two_subjects):
    found = find_topics(two_subjects, 2, n_words=12)
    assert max(len(topic.words) for topic in found.topics) <= 7


def test_one_topic_is_the_most_frequent_words(two_subjects):
    only = find_topics(two_subjects, 1, n_words=3).topics[0]
    assert len(only.words) == 3
    assert only.share == pytest.approx(1.0)


def test_common_language_is_recognised():
    rng = np.random.default_rng(1)
    mixing = rng.dirichlet([0.05] * 5, 500) * 0.85
    shares = np.column_stack([mixing, np.full(500, 0.15)])
    assert is_general(shares, shares.mean(axis=0)).tolist() == [False] * 5 + [True]


def test_distinctive_prefers_what_is_frequent_here_and_not_everywhere():
    words = np.array([[0.5, 0.4, 0.1], [0.5, 0.0, 0.5]])
    scores = distinctive(words, np.array([0.5, 0.5]))
    assert scores[0].argmax() == 1
    assert scores[0, 0] == pytest.approx(0)


def test_nothing_to_tell_documents_apart_by():
    with pytest.raises(InputError, match="more than half of the documents"):
        set_general_words_aside(corpus(["same words"] * 5))


def test_too_few_documents(two_subjects):
    with pytest.raises(InputError, match="documents with words, got 80"):
        find_topics(two_subjects, 100)
