"""A vocabulary that only grows."""

from itertools import islice

import numpy as np
import pytest

from topiarist import PLSA
from topiarist.counts import CountSettings, StreamCounter, count_in, stream_counter
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document


def test_columns_keep_their_places_and_new_ones_come_last():
    counter = StreamCounter(CountSettings(min_documents=2))
    first = counter.count(["red green", "red blue", "red"])
    assert counter.words == ["red"]
    np.testing.assert_array_equal(first.toarray(), [[1], [1], [1]])
    assert counter.left_out == pytest.approx(2 / 5)
    second = counter.count(["blue blue red", "green yellow"])
    assert counter.words == ["red", "blue", "green"]  # sorted within a batch
    np.testing.assert_array_equal(second.toarray(), [[1, 2, 0], [0, 0, 1]])
    third = counter.count(["nothing known"])
    assert third.shape == (1, 3)
    assert third.nnz == 0
    assert counter.left_out == 1.0


def test_it_counts_what_the_counter_of_collections_counts():
    documents = list(islice(demo_documents(), 300))
    settings = CountSettings(min_documents=3, stop_words="en", stem="en")
    counter = StreamCounter(settings)
    for start in range(0, 300, 100):
        counter.count(documents[start : start + 100])
    order = np.argsort(counter.words)
    vocabulary = Vocabulary.of(sorted(counter.words))
    texts = [f"{one.title}\n{one.text}" for one in documents[:50]]
    again = counter.count(texts)
    expected = count_in(texts, vocabulary, settings)
    known = len(order)
    np.testing.assert_array_equal(again[:, order].toarray()[:, :known], expected.toarray())


def test_settings_hold():
    counter = StreamCounter(CountSettings(min_documents=1, max_words=2, stop_words=("the",), stem="en", titles=False))
    counts = counter.count([Document("a", "models model the 1984", title="Other"), Document("b", "zebra trees")])
    assert counter.words == ["model", "trees"]  # a column is shown as the most frequent of its forms
    assert "the" not in counter.words
    assert counts.shape == (2, 2)
    assert counts[0].sum() == 2


def test_words_that_wait_are_bounded(monkeypatch):
    monkeypatch.setattr(stream_counter, "MAX_WAITING", 10)
    counter = StreamCounter(CountSettings(min_documents=3))
    counter.count(["often", "often"])
    for number in range(40):
        counter.count([f"word{chr(97 + number % 26)}{chr(97 + number // 26)}"])
    counter.count(["often"])
    assert counter.words == ["often"]
    assert len(counter._waiting) <= 10


@pytest.mark.parametrize("settings", [{"max_document_share": 0.5}, {"phrases": True}])
def test_what_needs_the_whole_collection_is_refused(settings):
    from topiarist.counts import PhraseSettings

    if "phrases" in settings:
        settings = {"phrases": PhraseSettings()}
    with pytest.raises(UsageError, match="needs a complete collection"):
        StreamCounter(CountSettings(**settings))


def test_a_single_text_is_a_mistake():
    with pytest.raises(InputError, match="single one"):
        StreamCounter().count("one text")


def test_a_stream_of_texts_with_words_that_nobody_knew():
    counter = StreamCounter(CountSettings(min_documents=2))
    model = PLSA(2, random_state=0)
    early = ["cats and dogs", "dogs and cats", "votes and laws", "laws and votes"] * 5
    late = ["modem and cable", "cable and modem"] * 10
    for start, batch in enumerate([early, early, late, late, late]):
        counts = counter.count(batch)
        if start:
            model.extend_words(len(counter))
        model.partial_fit(counts)
    assert counter.words[-2:] == ["cable", "modem"]
    assert model.stream_[1].new_words == pytest.approx(2 / 3)
    assert model.components_[:, -2:].sum(axis=1).max() > 0.3
