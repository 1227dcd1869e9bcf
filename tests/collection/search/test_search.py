"""Finding by meaning in a collection: pages that do not repeat, one look at the documents, parts that share files."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.collection.search.test_index import corpus_of
from topiarist import CAM, Corpus, FisherKernel
from topiarist.collection.search import hits, index_part
from topiarist.collection.search.index import SearchIndex
from topiarist.collection.search.index.kernel_scorer import UNLIKE_WEIGHT, pool_documents
from topiarist.collection.search.index.query_counts import QueryCounts
from topiarist.collection.search.index.segments import Segment
from topiarist.collection.search.results import Place
from topiarist.collection.search.scorers import EXAMPLE_METHOD
from topiarist.collection.search.search import Search
from topiarist.collection.search.words.word_index import WordIndex
from topiarist.counts.duplicates import Duplicates
from topiarist.errors import UsageError
from topiarist.storage import edit_log
from topiarist.storage.collection_folder import begin_generation
from topiarist.storage.generation import open_part
from topiarist.text.documents import Document
from topiarist.text.repeated import Repeated


class Stub:
    """As much of a collection as finding asks for."""

    vectors = encoder_vectors = None

    fields = ()

    def __init__(self, index, corpus):
        self.index, self.known, self.counts = index, corpus, corpus.counts
        self.words = WordIndex.build(corpus.texts, corpus.settings.tokenizer)
        self.documents = SimpleNamespace(load_many=self.load_many, row_of=corpus.ids.index)
        self.copies, self.counting = Duplicates.none(), SimpleNamespace(repeated=Repeated())

    def __len__(self):
        return len(self.index)

    def load_many(self, rows, texts=True):
        return [Document(self.known.ids[row], "text", self.known.titles[row]) for row in rows]


@pytest.fixture(scope="module")
def corpus():
    """Documents of which many are the same: their scores are too."""
    some = corpus_of(10)
    documents = [
        Document(f"d{10 * copy + row}", text, some.titles[row])
        for copy in range(4)
        for row, text in enumerate(some.texts)
    ]
    return Corpus.from_documents(documents, some.settings)


@pytest.fixture
def collection(corpus, monkeypatch):
    kernel = FisherKernel((1, 3), random_state=0).fit(corpus.counts)
    monkeypatch.setattr(hits, "find_places", lambda _, rows: [Place(0, (), 1.0)] * len(rows))
    return Stub(SearchIndex.build(kernel, corpus), corpus)


@pytest.mark.parametrize("by", ["meaning", "both"])
def test_pages_by_meaning_show_every_document_once(collection, by):
    whole = Search(collection, "bank", by).page(100)
    pages = [Search(collection, "bank", by).page(6, start) for start in range(0, 42, 6)]
    one = Search(collection, "bank", by)
    assert [one.page(6, start) for start in range(0, 42, 6)] == pages
    assert [hit.id for page in pages for hit in page] == [hit.id for hit in whole]
    assert {page.total for page in pages} == {sum(not hit.related for hit in whole)}
    assert len({hit.row for hit in whole}) == len(whole)


def test_documents_are_scored_once(collection, monkeypatch):
    scored, scores = [], Segment.by_meaning
    monkeypatch.setattr(Segment, "by_meaning", lambda *given: scored.append(1) or scores(*given))
    asked = Search(collection, "bank loan", "meaning")
    assert asked.page(why=True).hits[0].why is not None
    assert [hit.row for hit in asked.page(100)] == asked.rows().tolist()
    assert len(scored) == 1
    likeness = Search.from_examples(collection, 3)
    found, whole = likeness.page(5, why=True), likeness.scorer.explain(3).score
    assert len(scored) == 2
    assert [hit.row for hit in found] == [
        row for row, _ in collection.index.search(collection.counts[[3]], 6, by=EXAMPLE_METHOD) if row != 3
    ][:5]
    assert whole == pytest.approx(found.hits[0].score)  # a copy of it
    assert len(found) == 5
    assert "d3" not in {hit.id for hit in found}
    assert found.hits[0].why.words


def test_unknown_words_are_said(collection):
    found = Search(collection, "galxy", "meaning").page()
    assert (found.total, found.hits) == (0, ())
    assert "is not known here" in found.message
    assert "'zzz' is not known here" in Search(collection, "bank zzz", "meaning").page().message


def test_a_part_that_is_added_to_shares_its_files(tmp_path):
    corpus = corpus_of(60)
    with begin_generation(tmp_path / "c.topiary") as growing:
        generation = growing.generation
        flat = index_part.write_flat(generation, corpus)
        first = index_part.write_index(
            generation, CAM(4, random_state=0).fit(corpus.counts), generation.folder / flat.name, corpus
        )
        parts = [first]
        for name in ("new", "newer"):
            state = {"number": len(parts), "parts": {"search": parts[-1].name}}
            edit_log.record(generation.database, "grow", {}, state, parts=parts[-1:])
            parts.append(index_part.add_to_index(generation, parts[-1].name, [Document(name, "bank river")]))
        edit_log.record(
            generation.database, "grow", {}, {"number": 3, "parts": {"search": parts[-1].name}}, parts=parts[-1:]
        )
        assert [len(index_part.open_index(generation, part.name)) for part in parts] == [60, 61, 62]
        old, new = (open_part(generation, part.name) / index_part.INDEX for part in (parts[0], parts[-1]))
        assert (old / "lens-1" / "by_word.npy").samefile(new / "lens-1" / "by_word.npy")
        assert not list(new.glob("lock"))


def test_more_like_these_and_not_like_those(collection):
    alone, other = (Search.from_examples(collection, row).scorer.scores for row in (3, 10))
    less = Search.from_examples(collection, [3], [10])
    assert less.scorer.scores == pytest.approx(alone - UNLIKE_WEIGHT * other)
    assert {3, 10}.isdisjoint(hit.row for hit in less.page(100))
    assert {3, 10}.isdisjoint(hit.row for hit in Search.from_examples(collection, [3, 10]).page(100))
    assert [hit.row for hit in Search.from_examples(collection, [3]).page(5)] == [
        hit.row for hit in Search.from_examples(collection, 3).page(5)
    ]
    with pytest.raises(UsageError, match="expected at least one example"):
        Search.from_examples(collection, [])


def test_every_document_of_a_set_counts_the_same():
    short = QueryCounts(np.array([1, 4]), np.array([1.0, 1.0]))
    long = QueryCounts(np.array([4, 6]), np.array([10.0, 30.0]), ("zzz",))
    found = pool_documents([short, long])
    assert found.columns.tolist() == [1, 4, 6]
    assert found.shares == pytest.approx([0.25, 0.375, 0.375])
    assert found.counts.sum() == pytest.approx(21)
    assert found.unknown == ("zzz",)


def test_document_with_all_rare_words_stays_on_top(monkeypatch):
    rng = np.random.default_rng(0)
    harbour = ["vessel", "cargo", "pilot", "tide", "quay", "crane", "anchor", "freight"]
    music = ["violin", "sonata", "quartet", "tempo", "choir", "aria", "cello", "opera"]
    texts = [" ".join(["harbour vessel cargo", *rng.choice(harbour, 16)]) for _ in range(12)]
    texts.append(" ".join(["harbour vessel cargo lighthouse", *rng.choice(music, 14)]))
    texts += [" ".join(rng.choice(music, 20)) for _ in range(20)]
    corpus = Corpus.from_documents([Document(str(row), text) for row, text in enumerate(texts)])
    kernel = FisherKernel((1, 3), random_state=0).fit(corpus.counts)
    stub = Stub(SearchIndex.build(kernel, corpus), corpus)
    monkeypatch.setattr(stub, "load_many", lambda rows, texts=True: [Document("", corpus.texts[row]) for row in rows])
    stub.documents.load_many = stub.load_many
    search = Search(stub, "harbour vessel cargo lighthouse")
    assert search.best_rows(1).tolist() == [12]
    explanation = search.default.explain(12)
    assert explanation.score == pytest.approx(float(search.default.score_all()[12]), rel=1e-4)
