"""All words of a collection: BM25 by its formula, stems, forms, words of one document, additions, feedback."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from topiarist.collection.find.index.question import over_spread
from topiarist.collection.find.index.ranking import largest_rows
from topiarist.collection.find.index.segments import K1, B
from topiarist.collection.find.words import posting_lists, word_question, word_scores, word_space
from topiarist.collection.find.words.posting_lists import PostingLists
from topiarist.collection.find.words.word_index import WordIndex
from topiarist.collection.find.words.word_question import EXACT, WordQuestion
from topiarist.errors import DamagedError
from topiarist.models.engine import STRETCH
from topiarist.scale.threads import Threads
from topiarist.text.stems import stems
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
    return WordQuestion(index, query, lambda rows: [texts[row] for row in rows])


def by_the_formula(query, texts, said):
    """BM25 over stems, one document and one word after the other; the typed form counts a little more."""
    words = [TOKENS(text) for text in texts]
    counted = [Counter(stems(of_text, "en")) for of_text in words]
    average = sum(map(len, words)) / len(words)
    typed = [word for word in TOKENS(query) if word not in said]
    found = np.zeros(len(texts))
    forms = {(stems([word], "en")[0], word) for of_text in words for word in of_text}
    several = Counter(stem for stem, _ in forms)
    for word, stem in zip(typed, stems(typed, "en"), strict=True):
        holding = sum(stem in one for one in counted)
        worth = math.log1p((len(texts) - holding + 0.5) / (holding + 0.5)) if holding else 0.0
        for row, one in enumerate(counted):
            norm = K1 * (1 - B + B * len(words[row]) / average)
            exact = words[row].count(word) if several[stem] > 1 else 0
            part = one[stem] / (one[stem] + norm) + EXACT * exact / (exact + norm)
            found[row] += worth * (K1 + 1) * part / sum(any(s in c for c in counted) for s in stems(typed, "en"))
    return found


def test_pieces_and_threads_change_no_score(monkeypatch):
    texts = [f"{TEXTS[number % 7]} {TEXTS[number * 5 % 6]}" for number in range(900)]
    index = WordIndex.build(texts[:640], TOKENS, "en").added(texts[640:])[0]
    index = replace(index, segments=(*WordIndex.build(texts[:300], TOKENS, "en").segments, *index.segments))
    whole = asked(index, "courts hear appeals of judges", [*texts[:300], *texts])
    monkeypatch.setattr(word_scores, "PIECE", STRETCH)
    with Threads(2) as threads:
        cut = WordQuestion(index, "courts hear appeals of judges", whole.texts, threads)
        np.testing.assert_array_equal(cut.asked, whole.asked)
        np.testing.assert_array_equal(cut.scores, whole.scores)
        assert cut.with_all() == whole.with_all()
        assert cut.by_all.above == np.count_nonzero(whole.scores)
        assert cut.by_all.per_spread == pytest.approx(over_spread(whole.scores), rel=1e-6)


def test_the_best_are_found_by_the_peaks_of_stretches():
    texts = [f"{'judge ' * (number * 7 % 11)}{TEXTS[number % 7]}" for number in range(1000)]
    parts = [WordIndex.build(some, TOKENS, "en").segments[0] for some in (texts[:333], texts[333:])]
    index = replace(WordIndex.build(texts, TOKENS, "en"), segments=tuple(parts))
    scores = asked(index, "judge", texts).by_asked
    for n in (1, 2, 7, 8, 9, 400, 999, 1000, 2000):
        np.testing.assert_array_equal(scores.largest(n), largest_rows(scores.values, n))
    assert len(scores.peaks) == 9
    allowed = np.arange(1000) % 3 == 1
    np.testing.assert_array_equal(scores.largest(5, allowed), largest_rows(scores.values, 5, allowed))
    assert scores.most == scores.values.max()


def test_who_has_all_words_is_counted_among_the_allowed(index):
    question = asked(index, "judge bail")
    assert question.with_all() == (2, 0)
    assert question.with_all(np.arange(len(TEXTS)) > 0) == (1, 5)
    assert question.with_all(np.arange(len(TEXTS)) == 2) == (0, 2)
    assert question.with_all(np.zeros(len(TEXTS), bool)) == (0, -1)


def test_lists_that_name_no_document_are_told(index):
    lists = index.segments[0]
    for wrong in (-1, len(TEXTS), 2**31 - 1):
        docs = np.where(lists.docs == lists.docs.max(), wrong, lists.docs).astype(np.int32)
        forged = replace(index, segments=(replace(lists, docs=docs),))
        with pytest.raises(DamagedError, match="not there"):
            assert asked(forged, "judge bail court appeal heard").asked.any()


def test_of_very_many_documents_frequent_words_are_not_added(index, monkeypatch):
    few = asked(index, "court").added
    monkeypatch.setattr(word_question, "MANY", 1)
    monkeypatch.setattr(word_question, "POSTINGS", 3)
    many = asked(index, "court")
    assert 1 <= len(many.added) < len(few)
    assert [*many.added] == [*few][: len(many.added)], "those that tell most"
    assert sum(weight for _, weight in many.added.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("query", ["bail hearing", "courts of appeal", "tennis", "the judge heard appeals"])
def test_words_are_scored_by_the_formula(index, query):
    question = asked(index, query)
    np.testing.assert_allclose(question.asked, by_the_formula(query, TEXTS, index.unsaid), rtol=1e-5)


def test_inflections_are_found_and_the_typed_form_comes_first(index):
    assert set(np.flatnonzero(asked(index, "courts").asked)) == {0, 1}
    texts = ["one judge here", "two judges here", "a dog and a cat", "cats and dogs"]
    index = WordIndex.build(texts, TOKENS, "en")
    assert asked(index, "judges", texts).asked.argmax() == 1
    assert asked(index, "judge", texts).asked.argmax() == 0


def test_a_word_of_one_document_is_found(index):
    assert asked(index, "qx731").scores.argmax() == 4
    assert asked(index, "where is part QX731?").scores.argmax() == 4


def test_a_question_never_finds_nothing_because_of_one_word(index):
    question = asked(index, "why did the xyzzy judge refuse bail")
    assert question.unknown == ("xyzzy",)
    assert question.scores.argmax() == 5
    assert question.with_all() == (1, 5)


def test_amounts_add_up_to_the_score(index):
    question = asked(index, "judges and bail")
    for row in range(len(TEXTS)):
        assert sum(amount for _, amount, _ in question.amounts(row)) == pytest.approx(question.scores[row], abs=1e-5)


def test_amounts_of_several_documents_are_those_of_each_and_every_list_is_read_once(index, monkeypatch):
    more = ["Bail for a judge", "no judge"]
    question, read, times_of = (
        asked(index.added(more)[0], "judges and bail", [*TEXTS, *more]),
        [],
        PostingLists.times_of,
    )
    rows = list(range(len(question.index)))[::-1]
    alone = {row: question.amounts(row) for row in rows}
    monkeypatch.setattr(PostingLists, "times_of", lambda *given: read.append(given) or times_of(*given))
    assert question.amounts_of(rows) == alone
    forms = sum(len(word.forms) for word in question.known)
    assert 0 < len(read) <= len(question.index.segments) * (len(question.known) + forms + len(question.added))


def test_the_best_documents_add_their_words(index, monkeypatch):
    monkeypatch.setattr(word_question, "BEST", 1)
    question = asked(index, "racket")
    assert {"tenni", "ball"} <= set(question.added)
    assert sum(weight for _, weight in question.added.values()) == pytest.approx(word_question.BESIDE)
    assert question.scores[3] > question.asked[3] > 0


def test_added_texts_score_as_if_they_had_been_there(index, tmp_path):
    new = ["A new judge, elected by courts.", "Rackets for sale", "Nothing", "Bail, bail, bail"]
    longer, stay = index.added(new)
    assert (stay, len(longer)) == (0, len(TEXTS) + 4)
    whole = WordIndex.build(TEXTS + new, TOKENS, "en")
    for query in ("judge court", "rackets"):
        every = TEXTS + new
        np.testing.assert_allclose(asked(longer, query, every).scores, asked(whole, query, every).scores, rtol=1e-5)
    (tmp_path / "words").mkdir()
    index.save(tmp_path / "words")
    longer.save_after(tmp_path / "words", stay, 1)
    opened = WordIndex.open(tmp_path / "words")
    assert opened.segments[0].forms == longer.segments[0].forms
    np.testing.assert_array_equal(opened.near({"judg": 1.0}), longer.near({"judg": 1.0}))


def test_segments_of_very_different_sizes_stay_apart():
    index = WordIndex.build(TEXTS * 4, TOKENS, "en")
    longer, stay = index.added(["one more judge"])
    assert stay == 1
    assert [len(one) for one in longer.segments] == [28, 1]
    assert longer.n_documents("judg") == 13
    assert longer.located(28) == (1, 0)


@pytest.mark.parametrize("run", [1, 3, 7, 100])
def test_texts_that_are_indexed_in_runs_give_the_same_files(tmp_path, monkeypatch, run):
    texts = [*TEXTS, "", "A judge's café", *TEXTS[:3], "Rackets \U0001d4ac for sale"]
    for name in ("whole", "runs"):
        (tmp_path / name).mkdir()
    WordIndex.build(texts, TOKENS, "en").save(tmp_path / "whole")
    monkeypatch.setattr(posting_lists, "RUN", run)
    monkeypatch.setattr(posting_lists, "PIECE", 5)
    WordIndex.write(tmp_path / "runs", iter(texts), TOKENS, "en")
    files = sorted(path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*.*"))
    assert files == sorted(path.relative_to(tmp_path / "runs") for path in (tmp_path / "runs").rglob("*.*"))
    for path in files:
        assert (tmp_path / "whole" / path).read_bytes() == (tmp_path / "runs" / path).read_bytes(), path


def test_the_space_is_kept_in_bytes_and_nearly_exact(index):
    lists = index.segments[0]
    space = word_space.learned([lists])
    assert space.placed(lists).dtype == np.int8
    directions = space._directions(lists)
    point = space.direction({"judg": 1.0, "court": 1.0})
    np.testing.assert_allclose(index.near({"judg": 1.0, "court": 1.0}), directions @ point, atol=0.02)
    assert index.near({"xyzzy": 1.0}) is None


@pytest.mark.parametrize("texts", [[""], ["", ""], ["word"], ["a word", "a word"]])
def test_hardly_any_text_is_no_trouble(texts):
    index = WordIndex.build(texts, TOKENS, "en")
    longer, _ = index.added(["another word", ""])
    assert len(longer) == len(texts) + 2
    assert len(asked(longer, "word xyz", [*texts, "another word", ""]).scores) == len(longer)


def test_words_without_a_stemmer_and_with_accents():
    assert posting_lists.keys(["cafés", "naïve"], "en") == ["cafe", "naiv"]
    assert posting_lists.keys(["考研", "word"], "zh") == ["考研", "word"]
    texts = ["Un café noir", "cafe society", "thé vert"]
    index = WordIndex.build(texts, TOKENS, "")
    assert set(np.flatnonzero(asked(index, "CAFÉ", texts).asked)) == {0, 1}


@pytest.mark.parametrize("number", [1, 2726, 4565])
def test_scores_that_are_all_the_same_have_no_spread(number):
    index = WordIndex.build(["judge bail court"] * number, TOKENS, "en")
    assert asked(index, "judge", ["judge bail court"] * number).by_asked.per_spread == 0.0


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
