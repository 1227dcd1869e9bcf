"""All words of a collection: BM25 by its formula, stems, forms, words of one document, additions, feedback."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from topiarist.collection.search.index.kernel_scorer import standardising_factor
from topiarist.collection.search.index.ranking import largest_rows
from topiarist.collection.search.index.segments import K1, B
from topiarist.collection.search.segment_rows import locate_row
from topiarist.collection.search.words import posting_lists, term_scores, word_scorer, word_space
from topiarist.collection.search.words.posting_lists import PostingLists
from topiarist.collection.search.words.word_index import WordIndex
from topiarist.collection.search.words.word_scorer import TYPED_FORM, WordScorer
from topiarist.errors import DamagedError
from topiarist.execution.threads import Threads
from topiarist.models.engine import STRETCH
from topiarist.text.stems import find_stems
from topiarist.text.tokens import Tokenizer

TOKENS = Tokenizer(numbers=True)
TEXTS = [
    "The judge granted bail after the hearing in court.",
    "Courts hear appeals; the judges of a court hear them twice.",
    "A racket and a ball: tennis at the club.",
    "Tennis rackets are strung, and players play the ball.",
    "Part QX731 of the pump, and nothing else.",
    "The appeal was heard; bail was refused by the judge.",
    "",
]


@pytest.fixture
def index():
    return WordIndex.build(TEXTS, TOKENS, "en")


def asked(index, query, texts=TEXTS):
    return WordScorer(index, index.tokenizer(query), lambda rows: [texts[row] for row in rows])


def by_the_formula(query, texts, said):
    """BM25 over stems, one document and one word after the other; the typed form counts a little more."""
    words = [TOKENS(text) for text in texts]
    counted = [Counter(find_stems(of_text, "en")) for of_text in words]
    average = sum(map(len, words)) / len(words)
    typed = [word for word in TOKENS(query) if word not in said]
    found = np.zeros(len(texts))
    forms = {(find_stems([word], "en")[0], word) for of_text in words for word in of_text}
    several = Counter(stem for stem, _ in forms)
    for word, stem in zip(typed, find_stems(typed, "en"), strict=True):
        holding = sum(stem in one for one in counted)
        worth = math.log1p((len(texts) - holding + 0.5) / (holding + 0.5)) if holding else 0.0
        for row, one in enumerate(counted):
            norm = K1 * (1 - B + B * len(words[row]) / average)
            exact = words[row].count(word) if several[stem] > 1 else 0
            part = one[stem] / (one[stem] + norm) + TYPED_FORM * exact / (exact + norm)
            found[row] += worth * (K1 + 1) * part / sum(any(s in c for c in counted) for s in find_stems(typed, "en"))
    return found


def test_pieces_and_threads_change_no_score(monkeypatch):
    texts = [f"{TEXTS[number % 7]} {TEXTS[number * 5 % 6]}" for number in range(900)]
    index = WordIndex.build(texts[:640], TOKENS, "en").added(texts[640:])[0]
    index = replace(index, segments=(*WordIndex.build(texts[:300], TOKENS, "en").segments, *index.segments))
    whole = asked(index, "courts hear appeals of judges", [*texts[:300], *texts])
    monkeypatch.setattr(term_scores, "DOCUMENTS_PER_TASK", STRETCH)
    with Threads(2) as threads:
        cut = WordScorer(index, index.tokenizer("courts hear appeals of judges"), whole.texts, threads)
        np.testing.assert_array_equal(cut.query_scores.values, whole.query_scores.values)
        np.testing.assert_array_equal(cut.scores.values, whole.scores.values)
        stems = frozenset(word.stem for word in whole.terms)
        assert cut.match(stems).documents.tolist() == whole.match(stems).documents.tolist()
        assert cut.scores.standardising_factor == pytest.approx(standardising_factor(whole.scores.values), rel=1e-6)


def test_the_best_are_found_by_the_peaks_of_stretches():
    texts = [f"{'judge ' * (number * 7 % 11)}{TEXTS[number % 7]}" for number in range(1000)]
    parts = [WordIndex.build(some, TOKENS, "en").segments[0] for some in (texts[:333], texts[333:])]
    index = replace(WordIndex.build(texts, TOKENS, "en"), segments=tuple(parts))
    scores = asked(index, "judge", texts).query_scores
    for n in (1, 2, 7, 8, 9, 400, 999, 1000, 2000):
        np.testing.assert_array_equal(scores.largest(n), largest_rows(scores.values, n))
    assert len(scores.peaks) == 9
    allowed = np.arange(1000) % 3 == 1
    np.testing.assert_array_equal(scores.largest(5, allowed), largest_rows(scores.values, 5, allowed))
    assert scores.highest == scores.values.max()


def test_match_requires_all_words_if_some_document_has_them(index):
    question = asked(index, "judge bail")
    stems = frozenset(word.stem for word in question.terms)
    assert np.flatnonzero(question.match(stems).documents).tolist() == [0, 5]
    assert question.match(stems).missing == ()
    neither = question.match(stems, np.arange(len(TEXTS)) == 2)
    assert (neither.documents.any(), neither.missing) == (False, ("judge", "bail"))


def test_match_has_most_of_four_words():
    texts = ["vessel cargo pilot harbour", "vessel cargo pilot", "harbour vessel", "cargo", "pilot", "tide"]
    for query, rows, complete in (
        ("vessel cargo pilot harbour", [0, 1], [0]),
        ("vessel cargo pilot", [0, 1], [0, 1]),
    ):
        scorer = asked(WordIndex.build(texts, TOKENS, "en"), query, texts)
        match = scorer.match(frozenset(word.stem for word in scorer.terms))
        assert (np.flatnonzero(match.documents).tolist(), match.missing) == (rows, ())
        has_all = match.documents if match.complete is None else match.complete
        assert np.flatnonzero(has_all).tolist() == complete


def test_match_needs_a_tenth_of_the_most_information():
    texts = ["common"] * 100 + ["common middling"] * 65 + ["middling"] * 38 + ["rare", "heron"]
    question = asked(WordIndex.build(texts, TOKENS, "en"), "common middling rare heron", texts)
    worth = {word.forms[0]: word.weight for word in question.terms}
    assert 0.04 < worth["common"] / worth["rare"] < 0.06
    assert 0.13 < worth["middling"] / worth["rare"] < 0.17
    match = question.match(frozenset(word.stem for word in question.terms))
    assert np.flatnonzero(match.documents).tolist() == [*range(100, 205)]
    assert match.missing == ("common", "middling", "heron")


def test_lists_that_name_no_document_are_told(index):
    lists = index.segments[0]
    for wrong in (-1, len(TEXTS), 2**31 - 1):
        docs = np.where(lists.docs == lists.docs.max(), wrong, lists.docs).astype(np.int32)
        forged = replace(index, segments=(replace(lists, docs=docs),))
        with pytest.raises(DamagedError, match="do not exist"):
            assert asked(forged, "judge bail court appeal heard").query_scores.values.any()


def test_of_very_many_documents_frequent_words_are_not_added(index, monkeypatch):
    few = asked(index, "court").added
    monkeypatch.setattr(word_scorer, "MANY_DOCUMENTS", 1)
    monkeypatch.setattr(word_scorer, "MAX_POSTINGS", 3)
    many = asked(index, "court")
    assert 1 <= len(many.added) < len(few)
    assert [*many.added] == [*few][: len(many.added)], "those that tell most"
    assert sum(weight for _, weight in many.added.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("query", ["bail hearing", "courts of appeal", "tennis", "the judge heard appeals"])
def test_words_are_scored_by_the_formula(index, query):
    question = asked(index, query)
    np.testing.assert_allclose(question.query_scores.values, by_the_formula(query, TEXTS, index.stop_words), rtol=1e-5)


def test_inflections_are_found_and_the_typed_form_comes_first(index):
    assert set(np.flatnonzero(asked(index, "courts").query_scores.values)) == {0, 1}
    texts = ["one judge here", "two judges here", "a dog and a cat", "cats and dogs"]
    index = WordIndex.build(texts, TOKENS, "en")
    assert asked(index, "judges", texts).query_scores.values.argmax() == 1
    assert asked(index, "judge", texts).query_scores.values.argmax() == 0


def test_a_word_of_one_document_is_found(index):
    assert asked(index, "qx731").scores.values.argmax() == 4
    assert asked(index, "where is part QX731?").scores.values.argmax() == 4


def test_a_question_never_finds_nothing_because_of_one_word(index):
    question = asked(index, "why did the xyzzy judge refuse bail")
    assert question.unknown == ("xyzzy",)
    assert question.scores.values.argmax() == 5
    match = question.match(frozenset(word.stem for word in question.terms))
    assert np.flatnonzero(match.documents).tolist() == [5]


def test_amounts_add_up_to_the_score(index):
    question = asked(index, "judges and bail")
    for row in range(len(TEXTS)):
        assert sum(amount for _, amount, _ in question.explain(row)) == pytest.approx(
            question.scores.values[row], abs=1e-5
        )


def test_amounts_of_several_documents_are_those_of_each_and_every_list_is_read_once(index, monkeypatch):
    more = ["Bail for a judge", "no judge"]
    question, read, times_of = (
        asked(index.added(more)[0], "judges and bail", [*TEXTS, *more]),
        [],
        PostingLists.times_of,
    )
    rows = list(range(len(question.index)))[::-1]
    alone = {row: question.explain(row) for row in rows}
    monkeypatch.setattr(PostingLists, "times_of", lambda *given: read.append(given) or times_of(*given))
    assert question.explain_rows(rows) == alone
    forms = sum(len(word.forms) for word in question.known)
    assert 0 < len(read) <= len(question.index.segments) * (len(question.known) + forms + len(question.added))


def test_the_best_documents_add_their_words(index, monkeypatch):
    monkeypatch.setattr(word_scorer, "FEEDBACK_DOCUMENTS", 1)
    question = asked(index, "racket")
    assert {"tenni", "ball"} <= set(question.added)
    assert sum(weight for _, weight in question.added.values()) == pytest.approx(word_scorer.FEEDBACK_WEIGHT)
    assert question.scores.values[3] > question.query_scores.values[3] > 0


def test_added_texts_score_as_if_they_had_been_there(index, tmp_path):
    new = ["A new judge, elected by courts.", "Rackets for sale", "Nothing", "Bail, bail, bail"]
    longer, stay = index.added(new)
    assert (stay, len(longer)) == (0, len(TEXTS) + 4)
    whole = WordIndex.build(TEXTS + new, TOKENS, "en")
    for query in ("judge court", "rackets"):
        every = TEXTS + new
        np.testing.assert_allclose(
            asked(longer, query, every).scores.values, asked(whole, query, every).scores.values, rtol=1e-5
        )
    (tmp_path / "words").mkdir()
    index.save(tmp_path / "words")
    longer.replace_segments(tmp_path / "words", stay, 1)
    opened = WordIndex.open(tmp_path / "words")
    assert opened.segments[0].forms == longer.segments[0].forms
    np.testing.assert_array_equal(opened.near({"judg": 1.0}), longer.near({"judg": 1.0}))


def test_segments_of_very_different_sizes_stay_apart():
    index = WordIndex.build(TEXTS * 4, TOKENS, "en")
    longer, stay = index.added(["one more judge"])
    assert stay == 1
    assert [len(one) for one in longer.segments] == [28, 1]
    assert longer.n_documents("judg") == 13
    assert locate_row(longer.segments, 28) == (1, 0)


@pytest.mark.parametrize("run", [1, 3, 7, 100])
def test_texts_that_are_indexed_in_runs_give_the_same_files(tmp_path, monkeypatch, run):
    texts = [*TEXTS, "", "A judge's café", *TEXTS[:3], "Rackets \U0001d4ac for sale"]
    for name in ("whole", "runs"):
        (tmp_path / name).mkdir()
    WordIndex.build(texts, TOKENS, "en").save(tmp_path / "whole")
    monkeypatch.setattr(posting_lists, "DOCUMENTS_PER_RUN", run)
    monkeypatch.setattr(posting_lists, "POSTINGS_PER_BLOCK", 5)
    WordIndex.write(tmp_path / "runs", iter(texts), TOKENS, "en")
    files = sorted(path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*.*"))
    assert files == sorted(path.relative_to(tmp_path / "runs") for path in (tmp_path / "runs").rglob("*.*"))
    for path in files:
        assert (tmp_path / "whole" / path).read_bytes() == (tmp_path / "runs" / path).read_bytes(), path


def test_the_space_is_kept_in_bytes_and_nearly_exact(index):
    lists = index.segments[0]
    space = word_space.learn_space([lists])
    assert space.placed(lists).dtype == np.int8
    directions = space._compute_directions(lists)
    point = space.direction({"judg": 1.0, "court": 1.0})
    np.testing.assert_allclose(index.near({"judg": 1.0, "court": 1.0}), directions @ point, atol=0.02)
    assert index.near({"xyzzy": 1.0}) is None


@pytest.mark.parametrize("texts", [[""], ["", ""], ["word"], ["a word", "a word"]])
def test_hardly_any_text_is_no_trouble(texts):
    index = WordIndex.build(texts, TOKENS, "en")
    longer, _ = index.added(["another word", ""])
    assert len(longer) == len(texts) + 2
    assert len(asked(longer, "word xyz", [*texts, "another word", ""]).scores.values) == len(longer)


def test_words_without_a_stemmer_and_with_accents():
    assert posting_lists.stem_words(["cafés", "naïve"], "en") == ["cafe", "naiv"]
    assert posting_lists.stem_words(["考研", "word"], "zh") == ["考研", "word"]
    texts = ["Un café noir", "cafe society", "thé vert"]
    index = WordIndex.build(texts, TOKENS, "")
    assert set(np.flatnonzero(asked(index, "CAFÉ", texts).query_scores.values)) == {0, 1}


@pytest.mark.parametrize("number", [1, 2726, 4565])
def test_scores_that_are_all_the_same_have_no_spread(number):
    index = WordIndex.build(["judge bail court"] * number, TOKENS, "en")
    assert asked(index, "judge", ["judge bail court"] * number).query_scores.standardising_factor == 0.0


@pytest.mark.parametrize(
    ("name", "kind"),
    [("docs", np.int64), ("docs", np.uint32), ("times", np.int8), ("lengths", float), ("ends", np.int32)],
)
def test_lists_of_numbers_of_another_kind_are_not_opened(index, tmp_path, name, kind):
    (tmp_path / "words").mkdir()
    index.save(tmp_path / "words")
    path = tmp_path / "words" / "segment-1" / f"{name}.npy"
    np.save(path, np.load(path).astype(kind))
    with pytest.raises(ValueError, match="another kind"):
        WordIndex.open(tmp_path / "words")


@pytest.mark.parametrize(
    ("query", "trust"),
    [
        ("judge granted bail hearing", 1.0),
        ("judge granted bail", 0.0),  # too few words
        ("judge racket QX731 twice", 0.0),  # no document has most
    ],
)
def test_words_are_trusted_if_one_document_has_them(index, query, trust):
    scorer = asked(index, query)
    assert scorer.trust == trust
    assert scorer.coverage(np.array([6])).tolist() == [0]
    assert scorer.coverage(slice(None)).max() <= 1 + 1e-6
