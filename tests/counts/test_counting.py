"""Counts equal those of scikit-learn, in any number of pieces and processes; phrases, stems and pruning."""

import subprocess
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from topiarist.arrays import Csr
from topiarist.counts import CountSettings, PhraseSettings, count, count_in, general_words
from topiarist.errors import InputError, UsageError
from topiarist.text.characters import normalise

EVERYTHING = CountSettings(min_documents=1, numbers=True)
words = st.sampled_from(["tree", "trees", "leaf", "Leaf", "branch", "the", "of", "12", "x", "año", "木の葉"])
texts = st.lists(st.lists(words, max_size=8).map(" ".join), min_size=1, max_size=8)


def equal(a: Csr, b: Csr) -> bool:
    return a.shape == b.shape and (a != b).nnz == 0


def test_counts_are_those_of_scikit_learn(real_texts: list[str]) -> None:
    theirs = CountVectorizer(preprocessor=normalise)
    expected = theirs.fit_transform(real_texts)
    counts, vocabulary = count(real_texts, EVERYTHING)
    assert vocabulary.words == tuple(theirs.get_feature_names_out())
    assert equal(counts, expected)
    assert counts.has_canonical_format
    assert counts.dtype == np.int32
    assert np.array_equal(vocabulary.totals, np.asarray(expected.sum(axis=0)).ravel())
    assert np.array_equal(vocabulary.document_frequency, np.asarray((expected > 0).sum(axis=0)).ravel())


@given(texts, st.integers(1, 60))
def test_how_texts_are_cut_is_irrelevant(texts: list[str], chunk: int) -> None:
    settings = CountSettings(min_documents=1, phrases=PhraseSettings(threshold=0.1, min_count=1))
    for chosen in (EVERYTHING, settings):
        try:
            whole = count(texts, chosen)
        except InputError:
            with pytest.raises(InputError):
                count(texts, chosen, chunk=chunk)
            continue
        cut = count(iter(texts), chosen, chunk=chunk)
        assert equal(whole[0], cut[0])
        assert whole[1] == cut[1]


def test_the_number_of_processes_is_irrelevant(real_texts: list[str]) -> None:
    settings = CountSettings(phrases=PhraseSettings(), stem="en")
    for chosen in (EVERYTHING, settings):
        alone = count(real_texts, chosen)
        together = count(iter(real_texts), chosen, n_jobs=2, chunk=200_000)
        assert equal(alone[0], together[0])
        assert alone[1] == together[1]


def test_workers_need_no_main_guard() -> None:
    script = "from topiarist.counts import count; print(count(['tree leaf'] * 9, n_jobs=2, chunk=10)[0].sum())"
    done = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "18"


@given(texts, st.randoms(use_true_random=False))
def test_permuting_texts_permutes_rows(texts: list[str], random: object) -> None:
    order = list(range(len(texts)))
    random.shuffle(order)  # type: ignore[attr-defined]
    texts = ["tree", *texts]
    order = [0, *(i + 1 for i in order)]
    counts, vocabulary = count(texts, EVERYTHING)
    permuted, same = count([texts[i] for i in order], EVERYTHING)
    assert vocabulary == same
    assert equal(counts[order], permuted)


@pytest.mark.parametrize(
    "settings",
    [
        CountSettings(),
        CountSettings(stop_words="en", stem="en"),
        CountSettings(phrases=PhraseSettings(min_count=5), stem="en", max_words=900, max_document_share=0.3),
        CountSettings(phrases=PhraseSettings(min_count=5), stop_words=("the", "of"), numbers=True),
    ],
)
def test_counting_known_texts_again_gives_the_same_counts(real_texts: list[str], settings: CountSettings) -> None:
    some = real_texts[:300]
    counts, vocabulary = count(some, settings)
    assert equal(counts, count_in(some, vocabulary, settings))
    assert equal(counts[5:6], count_in([some[5]], vocabulary, settings))


def test_new_texts_are_counted_over_known_words_only() -> None:
    counts, vocabulary = count(["tree leaf tree", "leaf", "leaf tree"], CountSettings(min_documents=2))
    assert vocabulary.words == ("leaf", "tree")
    assert count_in(["a Tree, a bush", ""], vocabulary).toarray().tolist() == [[0, 1], [0, 0]]
    assert counts.toarray().tolist() == [[1, 2], [1, 0], [1, 1]]


def test_empty_texts_keep_their_rows() -> None:
    counts, _ = count(["", "tree", "...", "tree tree", "tree"])
    assert counts.toarray().ravel().tolist() == [0, 1, 0, 2, 1]


def test_stems_merge_columns_and_show_the_most_frequent_form() -> None:
    texts = ["networks network", "networks", "networking networks", "tree"]
    settings = CountSettings(min_documents=1, stem="english")
    counts, vocabulary = count(texts, settings)
    assert vocabulary.words == ("networks", "tree")
    assert vocabulary.forms == (("networks", "network", "networking"), ("tree",))
    assert counts.toarray().tolist() == [[2, 0], [1, 0], [2, 0], [0, 1]]
    assert vocabulary.column("networking") == 0
    assert vocabulary.document_frequency.tolist() == [3, 1]
    assert count_in(["networked trees"], vocabulary, settings).toarray().tolist() == [[1, 1]]


def test_phrases_are_joined_with_a_space() -> None:
    texts = [
        "machine learning is fun",
        "fun machine learning",
        "a tree is a tree",
        "the fun of machine learning",
    ] * 3
    counts, vocabulary = count(texts, CountSettings(phrases=PhraseSettings(threshold=0.5, min_count=5)))
    assert vocabulary.phrases == ("machine learning",)
    assert "machine learning" in vocabulary
    assert "machine" not in vocabulary
    assert counts[:, [vocabulary.columns["machine learning"]]].sum() == 9


def test_overlapping_phrases_go_to_the_left_and_stay_within_documents() -> None:
    settings = CountSettings(min_documents=1, phrases=PhraseSettings(threshold=-1, min_count=2))
    counts, vocabulary = count(["aa aa aa", "aa", "bb aa aa"], settings)
    assert vocabulary.phrases == ("aa aa",)
    assert dict(zip(vocabulary.words, counts.sum(axis=0).tolist(), strict=True)) == {
        "aa": 2,
        "aa aa": 2,
        "bb": 1,
    }


@given(texts)
def test_phrases_by_the_slow_way(texts: list[str]) -> None:
    chosen = PhraseSettings(threshold=0.2, min_count=1)
    settings = CountSettings(min_documents=1, phrases=chosen)
    tokens = [settings.tokenizer.split_candidates(text) for text in texts]
    single = Counter(t for document in tokens for t in document)
    pairs = Counter(p for document in tokens for p in pairwise(document))
    n = single.total()
    expected = set()
    for (a, b), both in pairs.items():
        usable = all(settings.tokenizer.is_word(t) and t.isalpha() and t < "ぁ" for t in (a, b))
        surprise = np.log(n / both)
        npmi = np.log(both * n / (single[a] * single[b])) / surprise if surprise > 0 else 1.0
        if usable and npmi >= chosen.threshold + 1e-9:
            expected.add(f"{a} {b}")
        elif usable and npmi >= chosen.threshold - 1e-9:
            return  # on the edge: rounding decides
    try:
        found = set(count(texts, settings)[1].phrases)
    except InputError:
        return
    assert found == expected


def test_stop_words_are_left_out_only_on_request() -> None:
    texts = ["the tree of life", "the tree", "the life"]
    assert "the" in count(texts)[1]
    assert count(texts, CountSettings(min_documents=1, stop_words="en"))[1].words == ("life", "tree")
    assert count(texts, CountSettings(min_documents=1, stop_words=("Tree",)))[1].words == (
        "life",
        "of",
        "the",
    )


def test_pruning_by_document_frequency() -> None:
    texts = ["aa bb cc", "aa bb", "aa cc dd", "aa bb ee ee ee"]
    assert count(texts, CountSettings(min_documents=2))[1].words == ("aa", "bb", "cc")
    assert count(texts, CountSettings(min_documents=2, max_document_share=0.75))[1].words == ("bb", "cc")
    assert count(texts, CountSettings(min_documents=1, max_words=3))[1].words == ("aa", "bb", "cc")
    _, vocabulary = count(texts, CountSettings(min_documents=1))
    assert general_words(vocabulary, 4).tolist() == [True, True, False, False, False]


def test_nothing_left_says_what_came_and_what_to_try() -> None:
    with pytest.raises(InputError) as caught:
        count(["one two", "two three", "four"], CountSettings(min_documents=5))
    message = str(caught.value)
    assert "no word occurs in at least 5 documents; 3 documents with 4 different words" in message
    assert "the most frequent word is in 2" in message
    assert "Set min_documents to 1, or add documents." in message
    with pytest.raises(InputError, match="no documents to count: 0 documents"):
        count([])
    with pytest.raises(InputError, match="no words to count: 2 documents"):
        count(["1 2", ""])
    with pytest.raises(InputError, match="at most 50% of all"):
        count(["aa bb", "aa bb"], CountSettings(min_documents=2, max_document_share=0.5))


def test_what_is_not_a_collection_of_texts_is_refused() -> None:
    with pytest.raises(InputError, match="got a single text"):
        count("tree")
    with pytest.raises(InputError, match="expected texts, got bytes at position 1"):
        count(["tree", b"leaf"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="n_jobs must not be 0"):
        count(["tree"], n_jobs=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_documents": 0}, "min_documents must be at least 1, got 0"),
        ({"max_document_share": 0.0}, "max_document_share must be above 0"),
        ({"max_words": 0}, "max_words must be at least 1"),
    ],
)
def test_impossible_settings_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CountSettings(**options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="between -1 and 1, got 2"):
        PhraseSettings(threshold=2)
