"""A question that looks at some documents finds what one that looks at all does, as far as it has looked."""

import gc
import shutil
import weakref
from dataclasses import replace

import numpy as np
import pytest

from topiarist.collection.check import find_disagreements
from topiarist.collection.collection import Collection
from topiarist.collection.search import shortlist
from topiarist.collection.search.search import Search
from topiarist.collection.search.words import cells, line_file, word_index
from topiarist.collection.search.words.word_index import WordIndex, select_nearest
from topiarist.errors import DamagedError
from topiarist.execution.threads import Threads

QUERIES = ("quantum field theory", "galaxies of dark matter", "learning", "xyzzy graphs", "magnetic -quantum")


@pytest.fixture
def opened(grown_once, monkeypatch):
    """The collection as it is, and as one that counts as large and looks at so many documents."""

    def both(each, few=0):
        monkeypatch.setattr(shortlist, "MAX_CANDIDATES", each)
        monkeypatch.setattr(shortlist, "MAX_UNRANKED", few)
        whole = Collection.open(grown_once)
        assert whole.index.shortlist is None
        monkeypatch.setattr(shortlist, "MAX_EXACT_DOCUMENTS", 100)
        large = Collection.open(grown_once)
        assert len(large.index.shortlist) == len(large)
        return whole, large

    return both


def rows_and_scores(found):
    return [hit.row for hit in found.hits], [hit.score for hit in found.hits]


def ranked(search, n, **options):
    """Rows, scores and explanations of the best documents, whether they match or not."""
    allowed, why = options.get("allowed"), options.get("why", False)
    ranking = search.default.rank(allowed)
    rows, scores = (values.tolist() for values in ranking.slice(n, 0, allowed))
    return rows, scores, search.default.explain_rows(rows, ranking) if why else None


@pytest.mark.parametrize("by", ["both", "meaning"])
@pytest.mark.parametrize("query", [*QUERIES, "like:ID", "theory like:ID", "-like:ID theory"])
def test_who_looks_at_everybody_finds_the_same(opened, query, by):
    whole, large = opened(10**6)
    query = query.replace("ID", whole.documents.ids()[7])
    pages = [Search(one, query, by).page(50, why=True) for one in (whole, large)]
    (rows, scores), (some, approximate) = map(rows_and_scores, pages)
    assert some == rows
    assert len(rows) >= 10
    np.testing.assert_allclose(approximate, scores, rtol=1e-6)
    for hit in pages[1].hits[:5]:
        assert hit.why.score == pytest.approx(hit.score, rel=1e-5) or "-like" in query
        amounts = (*hit.why.words, *hit.why.topics)
        total = sum(one.amount for one in amounts) + hit.why.of_all + hit.why.alike + hit.why.vectors
        assert total == pytest.approx(hit.why.score, rel=1e-6)


def test_likeness_looks_at_some(opened):
    whole, large = opened(10**6)
    for like, unlike in (((3,), ()), ((3, 9), (20,)), (("a text of quantum fields",), ())):
        found = [rows_and_scores(Search.from_examples(one, like, unlike).page(20)) for one in (whole, large)]
        assert found[0][0] == found[1][0]
        np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)


@pytest.mark.parametrize("query", QUERIES[:3])
def test_the_best_are_found_among_few_and_the_others_follow_by_their_words(opened, query):
    whole, large = opened(40)
    best = ranked(Search(whole, query), 10)[0]
    search = Search(large, query)
    rows, scores, _ = ranked(search, 400)
    looked_at = search.default.choose_candidates()
    assert 40 <= len(looked_at) <= 80
    assert len(set(best) & set(rows[:10])) >= 8
    seen = [row in set(looked_at.tolist()) for row in rows]
    assert any(seen)
    assert seen == sorted(seen, reverse=True)  # whoever was not looked at comes behind
    words = search.default.words.scores.values
    behind = [float(words[row]) for row, known in zip(rows, seen, strict=True) if not known]
    assert behind == sorted(behind, reverse=True)
    assert all(score > 0 for score in scores)
    reasons = ranked(search, 400, why=True)[2]
    matches = [[hit.row for hit in Search(one, query).page(400) if not hit.related] for one in (whole, large)]
    assert sorted(matches[0]) == sorted(matches[1])  # matches are counted in all documents
    assert search.page(1).exact
    assert search.page(1).total == len(matches[0])
    for why, score, known in zip(reasons, scores, seen, strict=True):
        assert (why is not None) == known
        assert why is None or why.score == pytest.approx(score, rel=1e-5)


def test_what_is_told_of_documents_that_were_pointed_at_adds_up(opened):
    large = opened(40)[1]
    some = large.documents.ids()[7]
    for query in (f"theory like:{some}", f"like:{some}"):
        found = Search(large, query).page(20, why=True)
        assert len(found.hits) == 20
        assert not found.exact
        for hit in found.hits:
            assert hit.why.score == pytest.approx(hit.score, rel=1e-5)


def test_the_nearest_by_vectors_are_looked_at(opened):
    large = opened(5)[1]
    question = Search(large, "theory").default
    plain = question.choose_candidates()
    far = next(row for row in range(len(large)) if row not in plain)
    pointed = np.zeros(len(large), np.float32)
    pointed[far] = 0.9
    vars(question)["vector_scores"] = pointed
    assert far in question.choose_candidates()
    assert int(question.scores.argmax()) == far


def test_another_index_has_no_shortlist_of_the_old_one(opened):
    index = opened(40)[1].index
    fewer = index.among(np.arange(len(index)) > 3)
    assert fewer.shortlist is None
    assert len(fewer.scores("theory")) == len(index) - 4


def test_few_documents_that_are_allowed_are_all_looked_at(opened):
    whole, large = opened(5, few=400)
    topic = whole.outline.topics[1]
    searches = [Search(one, "theory") for one in (whole, large)]
    every, some = (ranked(search, 400, allowed=search.under(topic))[0] for search in searches)
    assert 10 < len(every) < 400
    assert sorted(every) == sorted(some)
    assert every[:5] == some[:5]


def test_a_filter_chooses_among_what_it_allows(opened):
    whole, large = opened(5)
    question = Search(large, "theory").default
    allowed = np.arange(len(large)) % 2 == 1
    rows = question.choose_candidates(allowed)
    assert len(rows)
    assert allowed[rows].all()
    assert not set(rows.tolist()) <= set(question.choose_candidates().tolist())
    assert len(whole) == len(large)


def test_documents_near_a_query_are_found_in_the_cells_near_it(opened, tmp_path, monkeypatch):
    large = opened(40)[1]
    for module, name, number in (
        (word_index, "MIN_SEARCHED", 100), (cells, "MIN_SEARCHED", 100),
        (cells, "SEARCHED_FRACTION", 3), (cells, "MAX_CELLS", 12),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, number)
    (tmp_path / "words").mkdir()
    large.words.save(tmp_path / "words")
    kept = WordIndex.open(tmp_path / "words")
    assert sorted(kept.cells.rows.tolist()) == list(range(len(large)))
    shares = []
    for query in QUERIES:
        direction = kept.space.direction(Search(large, query).default.words.times)
        rows, cosines = kept.cells.near(kept.space, direction, Threads(1))
        assert 100 <= len(rows) < 400
        np.testing.assert_allclose(
            cosines, large.words.space.cosines(large.words.coordinates, direction)[rows], rtol=1e-6
        )
        few, every = (
            set(select_nearest(one.around(direction, Threads(1)), 20, None).tolist()) for one in (kept, large.words)
        )
        shares.append(len(few & every) / len(every))
    assert np.mean(shares) >= 0.8
    longer, stay = kept.added(["one more text"])
    assert (stay, longer.cells) == (1, kept.cells)
    assert len(select_nearest(longer.around(direction, Threads(1)), 20, None)) >= 20
    assert kept.among(np.arange(len(large)) > 5).cells is None


FORGED = {
    "cells/rows": [lambda rows: rows + 1, lambda rows: rows * 0, lambda rows: rows.astype(np.int64)],
    "cells/starts": [lambda starts: starts[:-1], lambda starts: starts.astype(np.uint64), lambda starts: starts[::-1]],
    "cells/places": [lambda places: places[:-1], lambda places: places[:, :-1], lambda places: places.astype(np.int16)],
    "cells/centres": [lambda centres: centres[:-1], lambda centres: centres[:, :-1]],
    "segment-1/space": [
        lambda space: space[:-1], lambda space: space[:, :-1], lambda space: space.astype(np.int16),
        lambda space: space[:, :, None], lambda space: space[:, :1],
    ],
    "space/scales": [lambda scales: np.ones(3000, np.float32), lambda scales: scales[:, None]],
    "space/vectors": [
        lambda vectors: vectors[:, :1], lambda vectors: vectors[:-1], lambda vectors: vectors.astype(">f2"),
    ],
    "space/worth": [lambda worth: worth[:-1]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "number"), [(name, at) for name, faults in FORGED.items() for at in range(len(faults))]
)
def test_forged_arrays_are_refused(opened, tmp_path, monkeypatch, name, number):
    large = opened(40)[1]
    monkeypatch.setattr(word_index, "MIN_SEARCHED", 100)
    (tmp_path / "words").mkdir()
    large.words.save(tmp_path / "words")
    path = tmp_path / "words" / f"{name}.npy"
    np.save(path, FORGED[name][number](np.load(path)))
    with pytest.raises(ValueError, match=r"space|dimensions|no vectors"):
        WordIndex.open(tmp_path / "words")


def test_one_dimension_is_not_made_as_wide_as_forged_scales(opened):
    words = opened(40)[1].words
    forged = replace(words.space, scales=np.ones(10**6, np.float32))
    with pytest.raises(DamagedError, match="different dimensions"):
        forged.cosines(np.zeros((5, 1), np.int8), np.ones(1, np.float32))


def test_words_that_are_no_text_and_words_out_of_order_are_told(grown_once, tmp_path, monkeypatch):
    path = tmp_path / "words.topiary"
    shutil.copytree(grown_once, path)
    monkeypatch.setattr(line_file, "MAX_LINES_IN_MEMORY", 0)
    (stems,) = path.rglob("segment-1/stems.txt")
    with Collection.open(path) as collection:
        assert list(find_disagreements(collection)) == []
    lines = stems.read_bytes().split(b"\n")
    stems.write_bytes(b"\n".join(lines[::-1]))
    with Collection.open(path) as collection:
        assert any("not sorted" in said for said in find_disagreements(collection))
    stems.write_bytes(bytes(one if one == ord("\n") else 0xFF for one in b"\n".join(lines)))
    with Collection.open(path) as collection:
        assert any("not UTF-8 text" in said for said in find_disagreements(collection))
        with pytest.raises(DamagedError, match="not UTF-8 text"):
            list(collection.words.segments[0].stems)


@pytest.mark.parametrize("which", [0, 1])
def test_a_search_is_gone_when_nobody_holds_it(opened, which):
    """Its scores are as many as there are documents: they do not wait for somebody to look for cycles."""
    search = Search(opened(40)[which], "quantum field theory")
    search.page(10, why=True)
    held = [weakref.ref(one) for one in (search, search.default, search.default.words, search.default.kernel)]
    gc.disable()
    try:
        del search
        assert [one() for one in held] == [None] * 4
    finally:
        gc.enable()
