"""Search as people meet it: exact, explained, filtered, added to, kept in a folder; and questions with no answer."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.oracles import similarity
from topiarist import CAM, HPLC, HPLSA, PLSA, Corpus, FisherKernel, HierarchicalMixture, Tree
from topiarist.collection.search.index import SearchIndex, search_index, segments
from topiarist.collection.search.index.kernel_scorer import KernelScorer
from topiarist.collection.search.index.ranking import Ranking, nth_largest
from topiarist.collection.search.index.segments import narrow_postings, pack_rows, unpack_rows
from topiarist.counts import CountSettings
from topiarist.counts.settings import PhraseSettings
from topiarist.errors import InputError, UsageError
from topiarist.estimators.similarity.lenses import make_coarse_model, make_kernel_view, tree_of
from topiarist.kernels import load
from topiarist.kernels.search import Postings, compiled
from topiarist.text.documents import Document

SUBJECTS = {
    "courts": ["judge", "court", "bail", "appeal", "lawyer", "sentence", "jury", "trial", "bank"],
    "money": ["bank", "market", "share", "price", "loan", "credit", "money", "trade", "bond"],
    "rivers": ["river", "bank", "water", "flood", "fish", "boat", "bridge", "stream", "trade"],
    "stars": ["star", "galaxy", "orbit", "planet", "light", "telescope", "moon", "comet", "mass"],
}


def corpus_of(n_docs=120, seed=0, length=25, settings=None, first=0):
    rng = np.random.default_rng(seed)
    documents = []
    for number in range(n_docs):
        subject = list(SUBJECTS)[number % 4]
        words = rng.choice(SUBJECTS[subject], length).tolist() + rng.choice(["said", "year", "people"], 6).tolist()
        documents.append(
            Document(
                f"d{first + number}", " ".join(words), title=f"On {subject}", labels=(subject, f"half{number % 2}")
            )
        )
    return Corpus.from_documents(documents, settings or CountSettings(titles=False))


@pytest.fixture(scope="module")
def corpus():
    return corpus_of()


@pytest.fixture(scope="module")
def kernel(corpus):
    tree = CAM(4, random_state=0).fit(corpus.counts)
    return FisherKernel([*FisherKernel((1, 4), random_state=0).fit(corpus.counts).models_, tree]).fit(corpus.counts)


@pytest.fixture(scope="module")
def index(kernel, corpus):
    return SearchIndex.build(kernel, corpus)


def found_rows(index, *query, **options):
    return [row for row, _ in index.search(*query, **options)]


def documents_of(corpus):
    return [Document(id, text) for id, text in zip(corpus.ids, corpus.texts, strict=True)]


def text_scores(index, kernel, corpus, text):
    return kernel.kernel(corpus.vectorise([text]), corpus.counts)[0]


@pytest.mark.parametrize("options", [
    {}, {"normalise": "total"}, {"normalise": None}, {"information": "diagonal"}, {"parts": ("topical",)},
    {"parts": ("lexical",)}, {"parts": ("plain",)}, {"parts": ("topical", "plain"), "normalise": "total"},
])  # fmt: skip
def test_scores_are_the_kernel(kernel, corpus, options):
    hplsa = HPLSA(4, random_state=0).fit(corpus.counts)
    chosen = FisherKernel([*kernel.models_, hplsa], **options).fit(corpus.counts)
    index = SearchIndex.build(chosen, corpus)
    for text in ("bank loan", "galaxy", "judge judge bail river said"):
        wanted = text_scores(index, chosen, corpus, text)
        np.testing.assert_allclose(index.scores(text), wanted, atol=1e-10 * max(1, wanted.max()))
    rows, found = zip(*index.search("bank loan", 7), strict=True)
    scores = text_scores(index, chosen, corpus, "bank loan")
    assert found == pytest.approx(np.sort(scores)[::-1][:7])
    assert list(rows) == sorted(range(len(scores)), key=lambda d: (-index.scores("bank loan")[d], d))[:7]


def test_single_precision_keeps_documents_in_few_bytes(kernel, corpus, index):
    single = SearchIndex.build(kernel, corpus, dtype="float32")
    assert (single.dtype, index.dtype) == ("float32", "float64")
    segment = single.segments[0]
    kinds = segment.rows[1], segment.postings.docs, segment.postings.counts, segment.lengths, segment.scales[1]
    assert [one.dtype for one in kinds] == [np.uint8, np.uint16, np.uint8, np.float32, np.float32]
    np.testing.assert_allclose(single.scores("bank loan"), index.scores("bank loan"), rtol=2e-2)
    answer = single.search("bank loan", 20)
    assert [row for row, _ in answer][:5] == found_rows(index, "bank loan", 5)
    for row, score in answer:
        assert single.explain("bank loan", row).score == pytest.approx(score, rel=1e-5), "reasons add up"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nothing_is_compiled_for_a_search_that_was_not_prepared(kernel, corpus, tmp_path, dtype):
    """A kernel for arrays that nobody may write is another one, and takes a second where somebody waits."""
    index = SearchIndex.build(kernel, corpus, dtype=dtype).save(tmp_path / dtype)
    for one in ("float64", dtype):
        compiled.prepare(one)
    compiled_verbs = {name: verb for name, verb in vars(compiled).items() if hasattr(verb, "signatures")}
    before = {name: len(verb.signatures) for name, verb in compiled_verbs.items()}
    for by in ("meaning", "words", "both"):
        assert index.explain("bank loan", found_rows(index, "bank loan", by=by)[0], by=by).words
    for by in ("meaning", "words", "both"):
        scorer, rows = KernelScorer(index, "bank loan", by), np.arange(0, len(index), 3)
        np.testing.assert_allclose(scorer.score(rows), scorer.scores[rows], rtol=1e-6)
    assert {name: len(verb.signatures) for name, verb in compiled_verbs.items()} == before


def test_gathered_documents_have_their_words_however_they_are_laid_out(kernel, corpus, monkeypatch):
    index = SearchIndex.build(kernel, corpus, dtype="float32")
    rows, columns = np.arange(0, len(index), 2), np.arange(index.n_words)
    found = segments.gather_documents(index.segments, rows, index.threads)
    whole = segments.attach_postings(found, index.segments, rows, columns, index.threads)
    monkeypatch.setattr(segments, "DENSE_CELLS", 7)
    cut = segments.attach_postings(found, index.segments, rows, columns, index.threads)
    for one, other in zip(whole.postings, cut.postings, strict=True):
        np.testing.assert_array_equal(one, other)
    counts = corpus.counts[rows].tocsc()
    np.testing.assert_array_equal(whole.postings.ends, counts.indptr)
    np.testing.assert_array_equal(whole.postings.docs, counts.indices)
    np.testing.assert_array_equal(whole.postings.counts, counts.data)


def test_counts_that_do_not_fit_into_a_byte_stay_as_they_are():
    ends, docs = np.array([0, 2], np.int64), np.array([0, 70_000], np.int32)
    small = narrow_postings(Postings(ends, docs[:1], np.array([255.0])), 1)
    assert (small.docs.dtype, small.counts.dtype) == (np.uint16, np.uint8)
    large = narrow_postings(Postings(ends, docs, np.array([1.0, 256.0])), 70_001)
    assert (large.docs.dtype, large.counts.dtype) == (np.int32, np.float64)
    assert narrow_postings(Postings(ends, docs, np.array([1.0, 0.5])), 70_001).counts.dtype == np.float64


def test_a_byte_tells_the_share_of_a_class():
    rows = np.array([[0.5, 0.3, 0.2, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.97, 0.02, 0.009, 0.001]])
    kept = pack_rows(rows)
    assert kept.dtype == np.uint8
    np.testing.assert_allclose(unpack_rows(kept), rows, atol=3e-3, rtol=5e-2)
    np.testing.assert_allclose(unpack_rows(kept).sum(axis=1), [1, 1, 0, 1], rtol=1e-6)
    assert unpack_rows(rows) is rows


def test_meaning_finds_what_words_do_not(index, corpus):
    assert {corpus.labels[row][0] for row in found_rows(index, "loan credit", 20)} == {"money"}
    with_words = found_rows(index, "loan", 120, by="words")
    assert not set(with_words).issuperset(found_rows(index, "loan", 30))


def test_a_large_tree_is_seen_from_further_away(corpus):
    tree = CAM(8, random_state=0).fit(corpus.counts)
    assert make_coarse_model(tree, tree.tree_model_.n_classes) is tree
    upper = make_coarse_model(tree, 4)
    assert 1 < upper.tree_model_.n_classes <= 4 < tree.tree_model_.n_classes
    index = SearchIndex.build(FisherKernel([*FisherKernel(1).fit(corpus.counts).models_, upper]), corpus)
    assert index.lenses[1].n_classes == upper.tree_model_.n_classes
    assert index.lenses[1].effective_length == make_kernel_view(tree).effective_length
    nearest = [found_rows(index, corpus.counts[[row]], 2) for row in range(20)]
    assert [[one % 4 for one in rows] for rows in nearest] == [[row % 4] * 2 for row in range(20)], "of one subject"


def test_bm25_is_the_formula(index, corpus):
    dense = corpus.counts.toarray().tolist()
    for text in ("bank loan loan", "galaxy"):
        query = corpus.vectorise([text]).toarray()[0].tolist()
        np.testing.assert_allclose(index.scores(text, by="words"), similarity.bm25(query, dense), atol=1e-12)


def test_bm25_is_that_of_a_known_library(index, corpus):
    import bm25s

    known = bm25s.BM25(k1=1.2, b=0.75, method="lucene")  # which leaves out the constant factor k1 + 1
    known.index([text.split() for text in corpus.texts], show_progress=False)
    for text in ("bank loan loan", "galaxy said"):
        np.testing.assert_allclose(index.scores(text, by="words"), 2.2 * known.get_scores(text.split()), rtol=1e-5)


def test_both_is_a_mean_kernel_and_a_share_of_words(index):
    text = "bank loan"
    words = index.scores(text, by="words")
    columns = [index.vocabulary.column(word) for word in text.split()]
    most = sum(index.word_information[column] * 2.2 for column in columns)
    expected = 2 * index.scores(text) / 7 + 1.25 * words / most  # three models of two parts, and plain words
    np.testing.assert_allclose(index.scores(text, by="both"), expected, atol=1e-12)
    assert (words / most < 1).all()


@pytest.mark.parametrize("by", ["meaning", "words", "both"])
def test_reasons_add_up_to_the_score(index, by):
    for text in ("bank loan", "galaxy river said"):
        for row, score in index.search(text, 5, by=by):
            why = index.explain(text, row, by=by)
            parts = sum(word.amount for word in why.words) + sum(topic.amount for topic in why.topics) + why.of_all
            assert why.score == pytest.approx(score, abs=1e-10)
            assert parts == pytest.approx(score, abs=1e-10)
            assert {word.word for word in why.words} <= set(text.split())
            assert [w.amount for w in why.words] == sorted((w.amount for w in why.words), reverse=True)
            assert (by == "words") == (not why.topics)
            alone = {way: index.explain(text, row, by=way).score for way in ("meaning", "words")}
            weights = KernelScorer(index, text, by).weights
            assert why.by_meaning == pytest.approx(weights[0] * alone["meaning"], abs=1e-10)
            assert why.by_meaning + why.by_words == pytest.approx(score, abs=1e-10)
            assert (why.by_words > 0) == (by != "meaning" and alone["words"] > 0)
            assert (" in meaning, " in str(why)) == (why.by_meaning > 0 and why.by_words > 0)


def test_a_word_is_explained_in_its_sense(index):
    """The bank of a river and the bank that lends: the same word, another topic."""
    senses = {}
    for text in ("bank loan credit", "bank river flood"):
        (row,) = found_rows(index, text, 1)
        (reason,) = [word for word in index.explain(text, row).words if word.word == "bank"]
        senses[text] = set(reason.sense)
    assert senses["bank loan credit"] & {"loan", "market", "money", "share", "credit", "price"}
    assert senses["bank river flood"] & {"river", "water", "flood", "fish", "stream", "boat"}
    assert "the topic" in str(index.explain("bank loan", 1))


def test_document_as_query_finds_its_subject(index, corpus, kernel):
    assert {corpus.labels[row][0] for row in found_rows(index, corpus.counts[[1]], 10)} == {"money"}
    whole = kernel.kernel(corpus.counts[[1]], corpus.counts)[0]
    np.testing.assert_allclose(index.scores(corpus.counts[[1]]), whole, atol=1e-10)


def test_queries_of_every_kind_are_the_same(index, corpus):
    row = corpus.vectorise(["bank loan loan"])
    wanted = index.scores("bank loan loan")
    for query in (row, row.toarray(), row.toarray()[0]):
        np.testing.assert_array_equal(index.scores(query), wanted)
    with pytest.raises(InputError, match="one row of counts of the"):
        index.scores(corpus.counts[:2])
    with pytest.raises(InputError, match="one row of counts of the"):
        index.search(np.ones((1, 3)))
    with pytest.raises(UsageError, match="by must be"):
        index.search("bank", by="magic")
    with pytest.raises(UsageError, match="n must be"):
        index.search("bank", 0)


def test_coarse_to_fine(index):
    steps = index.descend("galaxy orbit comet")
    tree = index.shape.tree
    assert steps[0].branch.node == tree.root
    assert steps[0].branch.probability == pytest.approx(1)
    assert steps[0].branch.documents == len(index)
    assert not steps[-1].branches
    assert set(steps[-1].branch.words) & set(SUBJECTS["stars"])
    for step, following in pairwise(steps):
        probabilities = [branch.probability for branch in step.branches]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) == pytest.approx(step.branch.probability)
        assert sum(branch.documents for branch in step.branches) == step.branch.documents
        assert following.branch.node == step.branches[0].node
        for branch in step.branches:
            assert [below.node for below in branch.below] == sorted(
                tree.children(branch.node),
                key=lambda node: -index.descend("galaxy orbit comet", node)[0].branch.probability,
            )
            assert all(not below.below for below in branch.below)
    other = steps[0].branches[-1].node
    assert index.descend("galaxy", other)[0].branch.node == other


@pytest.mark.parametrize("kind", [HPLC, HierarchicalMixture])
def test_a_given_tree_is_searched_too(corpus, kind, tmp_path):
    """Classes that people gave: the way down has their names, and a folder keeps how the model reads documents."""
    tree = Tree.from_paths(["all/people/courts", "all/people/money", "all/nature/rivers", "all/nature/stars"])
    model = kind(tree).fit(corpus.counts, [labels[0] for labels in corpus.labels])
    kernel = FisherKernel([1, model], random_state=0).fit(corpus.counts)
    index = SearchIndex.build(kernel, corpus)
    kept = SearchIndex.open(index.save(tmp_path / "kept").folder)
    for text in ("galaxy orbit", "bank loan credit"):
        wanted = text_scores(index, kernel, corpus, text)
        np.testing.assert_allclose(index.scores(text), wanted, atol=1e-9)
        np.testing.assert_array_equal(kept.scores(text), index.scores(text))
        assert kept.explain(text, 3).score == pytest.approx(wanted[3], abs=1e-9)
    assert [step.branch.name for step in kept.descend("galaxy orbit")] == ["all", "nature", "stars"]


def test_without_a_tree_there_is_no_way_down(corpus):
    flat = SearchIndex.build(FisherKernel([PLSA(3, random_state=0).fit(corpus.counts)]), corpus)
    with pytest.raises(UsageError, match="none of the models"):
        flat.descend("bank")


def test_an_index_of_counts_alone(corpus, kernel):
    index = SearchIndex.build(kernel, corpus.counts)
    assert found_rows(index, corpus.counts[[0]], 1) == [0]
    assert index.explain(corpus.counts[[0]], 0).words[0].word.isdigit()
    with pytest.raises(UsageError, match="words of the index"):
        index.search("bank")
    with pytest.raises(UsageError, match="documents cannot be counted"):
        index.add([Document("new", "bank")])


def test_documents_are_added(index, kernel, corpus, tmp_path):
    some, more = corpus.subset(np.arange(50)), documents_of(corpus)[50:]
    grown = SearchIndex.build(kernel, some).add(more)
    kept = SearchIndex.build(kernel, some).save(tmp_path / "kept").add(more)
    assert len(SearchIndex.open(tmp_path / "kept")) == 50
    again = kept.save(tmp_path / "again")
    for other in (grown, kept, again):
        assert len(other) == 120
        for by in ("meaning", "words", "both"):
            np.testing.assert_allclose(other.scores("bank loan", by=by), index.scores("bank loan", by=by), atol=1e-12)
        assert found_rows(other, "bank", 5) == found_rows(index, "bank", 5)
        assert other.explain("bank", 70).score == pytest.approx(index.explain("bank", 70).score)
    later = again.add([Document("new", "judge jury brandnewword")])
    assert later.scores("jury")[120] > 0


def test_a_vocabulary_that_differs_is_refused(kernel, corpus):
    other = corpus_of(settings=CountSettings(stop_words=("bank",), titles=False))
    with pytest.raises(InputError, match=r"the models know .* words, the documents were counted with"):
        SearchIndex.build(kernel, other)


def test_an_index_that_is_written_in_runs_scores_the_same_and_knows_documents_by_their_rows(
    kernel, corpus, index, tmp_path, monkeypatch
):
    monkeypatch.setattr(search_index, "RUN", 50)
    SearchIndex.write(kernel, corpus, tmp_path / "index")
    written = SearchIndex.open(tmp_path / "index")
    assert [len(segment) for segment in written.segments] == [50, 50, 20]
    for by in ("meaning", "words", "both"):
        np.testing.assert_array_equal(written.scores("bank loan", by=by), index.scores("bank loan", by=by))
    assert found_rows(written, "bank loan") == found_rows(index, "bank loan")
    longer = written.add([Document("new", "a bank and its loan")])
    assert len(longer) == len(index) + 1
    fewer = longer.among(np.arange(len(longer)) != 3)
    np.testing.assert_array_equal(fewer.scores("bank"), np.delete(longer.scores("bank"), 3))


def test_kernel_independent_of_threads(kernel, corpus, monkeypatch):
    monkeypatch.setattr("topiarist.collection.search.index.segments.BLOCK", 16)
    one, three = (SearchIndex.build(kernel, corpus, n_threads=n) for n in (1, 3))
    for by in ("meaning", "words", "both"):
        np.testing.assert_array_equal(one.scores("bank loan", by=by), three.scores("bank loan", by=by))


def test_the_reference_ranks_alike(index, monkeypatch):
    wanted = {by: index.scores("bank loan", by=by) for by in ("meaning", "words")}
    monkeypatch.setitem(vars(index), "_engine", replace(index._engine, kernels=load("reference")))
    for by, scores in wanted.items():
        np.testing.assert_allclose(index.scores("bank loan", by=by), scores, rtol=1e-12)


def test_phrases_are_read_as_they_were_counted():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["dark matter", "room", "light"], 20)) for _ in range(60)]
    documents = [Document(f"p{number}", text) for number, text in enumerate(texts)]
    corpus = Corpus.from_documents(documents, CountSettings(titles=False, phrases=PhraseSettings(min_count=5)))
    assert "dark matter" in corpus.vocabulary
    index = SearchIndex.build(FisherKernel((1, 2), random_state=0).fit(corpus.counts), corpus)
    asked = index.read("Dark matter light")
    assert {corpus.vocabulary[column] for column in asked.columns.tolist()} == {"dark matter", "light"}
    assert not asked.unknown
    np.testing.assert_array_equal(
        index.scores("Dark matter light"), index.scores(corpus.vectorise(["dark matter light"]))
    )


def test_stems_are_read_as_they_were_counted():
    settings = CountSettings(stem="en", titles=False)
    corpus = corpus_of(settings=settings)
    index = SearchIndex.build(FisherKernel((1, 3), random_state=0).fit(corpus.counts), corpus)
    np.testing.assert_array_equal(index.scores("banks loans"), index.scores("bank loan"))


def test_kept_in_a_folder(index, tmp_path):
    kept = index.save(tmp_path / "index")
    for by in ("meaning", "words", "both"):
        np.testing.assert_array_equal(kept.scores("bank loan", by=by), index.scores("bank loan", by=by))
    assert kept.search("bank", 5) == index.search("bank", 5)
    assert str(kept.explain("bank loan", 3)) == str(index.explain("bank loan", 3))
    assert kept.descend("galaxy") == index.descend("galaxy")
    assert isinstance(kept.segments[0].rows[0].base, np.memmap)
    assert isinstance(kept.segments[0].postings.docs.base, np.memmap)
    with pytest.raises(UsageError, match="exists already"):
        index.save(tmp_path / "index")


def test_levels_cannot_be_searched(corpus):
    with pytest.raises(UsageError, match="an index cannot search by 'levels'"):
        SearchIndex.build(
            FisherKernel([CAM(2, random_state=0)], parts=("topical", "levels")).fit(corpus.counts), corpus
        )


@pytest.mark.parametrize("options", [
    {"parts": ("topical",)}, {"normalise": "total"}, {"parts": ("topical", "lexical", "plain")},
])  # fmt: skip
def test_both_is_calibrated_for_every_kernel_that_has_an_end(kernel, corpus, options):
    """The kernel counts as a share of what it can be at most, so that BM25 weighs the same beside any of them."""
    index = SearchIndex.build(FisherKernel(kernel.models_, **options), corpus)
    itself = corpus.counts[[5]]
    assert KernelScorer(index, itself, "both").weights[0] * index.scores(itself)[5] == pytest.approx(2.0)
    with pytest.raises(UsageError, match="got normalise=None"):
        SearchIndex.build(FisherKernel(kernel.models_, normalise=None), corpus).search("bank", by="both")


def test_every_tree_is_explained_in_its_own_words(corpus):
    """Classes are nodes, each model's own: a class has the words of its node, not of the node of its number."""
    first, second = CAM(4, random_state=0).fit(corpus.counts), HPLSA(4, random_state=1).fit(corpus.counts)
    index = SearchIndex.build(FisherKernel([first, second]), corpus)
    for model, fitted in enumerate((first, second)):
        nodes = tree_of(fitted)[1]
        assert index.class_words[model] == tuple(index.topic_words[model][node] for node in nodes)
    why = index.explain("galaxy orbit comet", *found_rows(index, "galaxy orbit comet", 1))
    for model in (0, 1):
        told = next(reason for reason in why.topics if reason.model == model)
        assert set(told.words) & set(SUBJECTS["stars"]), model


def test_a_stranger_without_a_tree_is_indexed(corpus):
    """Two classes that share three topics."""
    known = PLSA(3, random_state=0).fit(corpus.counts)
    stranger = type("Stranger", (), {})()
    stranger.word_given_topic_, stranger.class_prior_ = known.components_, np.array([0.5, 0.5])
    stranger.topic_given_class_ = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    index = SearchIndex.build(FisherKernel([stranger]), corpus)
    assert (len(index.topic_words[0]), len(index.class_words[0])) == (3, 2)
    assert index.explain("bank loan", *found_rows(index, "bank loan", 1)).topics


def test_documents_without_known_words_are_no_hits(kernel, corpus):
    index = SearchIndex.build(kernel, corpus).add([Document("blank", "zzz"), Document("court", "judge bail")])
    assert index.scores("bank loan")[120] == 0
    assert 120 not in found_rows(index, "bank", 500)
    counts = np.vstack([corpus.counts[[0]].toarray(), np.zeros((1, index.n_words))])
    for normalise in ("parts", "total", None):
        chosen = FisherKernel(kernel.models_, normalise=normalise)
        assert not chosen.kernel(counts)[1].any()
        assert chosen.transform(counts)[[1]].nnz == 0


@pytest.mark.parametrize("query", ["", "   ", "42 !", "zzz", np.zeros((1, 36))], ids=list("01234"))
def test_a_query_without_words_is_like_nothing(index, query):
    for by in ("meaning", "words", "both"):
        assert not index.scores(query, by=by).any()
        assert not index.search(query, by=by)
        why = index.explain(query, 0, by=by)
        assert (why.score, why.words, why.topics, why.of_all) == (0, (), (), 0)
    with pytest.raises(InputError, match=r"no words to look for|not in the vocabulary"):
        index.descend(query)


def test_ranking_pages_show_every_document_once():
    """Of documents with equal scores the first comes first, on whatever page."""
    scores = np.array([1.0, 2.0, 1.0, 1.0, 0.0, 1.0] * 20)
    ties = [row for start in range(0, 120, 7) for row in Ranking(scores).slice(7, start)[0].tolist()]
    assert ties == sorted(np.flatnonzero(scores).tolist(), key=lambda number: (-scores[number], number))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (5, "expected a text or one row of counts as query, got int"),
        (None, "got NoneType"),
        (["bank"], "got list"),
        (b"bank", "got bytes"),
    ],
)
def test_queries_that_are_none_say_so(index, query, message):
    for ask in (index.search, index.scores, index.descend, lambda given: index.explain(given, 0)):
        with pytest.raises((InputError, UsageError), match=message):
            ask(query)


def test_nothing_to_add_is_nothing_to_do(index):
    assert index.add([]) is index


def test_only_kernels_can_be_indexed(corpus):
    with pytest.raises(UsageError, match="expected a FisherKernel, got PLSA"):
        SearchIndex.build(PLSA(2), corpus)


def test_documents_that_come_one_by_one_end_in_few_segments(kernel, corpus, index):
    grown = SearchIndex.build(kernel, corpus.subset(np.arange(40)))
    for document in documents_of(corpus)[40:]:
        grown = grown.add([document])
    assert len(grown) == 120
    assert len(grown.segments) <= 6
    for by in ("meaning", "words", "both"):
        np.testing.assert_allclose(grown.scores("bank loan", by=by), index.scores("bank loan", by=by), atol=1e-12)


def test_an_addition_holds_the_words_that_occur(kernel, corpus):
    index = SearchIndex.build(kernel, corpus).add([Document("one", "judge bail")])
    (words,) = (segment.words for segment in index.segments[1:])
    assert [corpus.vocabulary[column] for column in words] == ["bail", "judge"]
    assert index.scores("judge", by="words")[120] > 0


@pytest.mark.parametrize("n", [1, 50, 900, 30_000])
def test_the_nth_largest_of_many_is_that_of_all(n):
    rng = np.random.default_rng(n)
    few = np.where(rng.random(30_000) < 0.01, rng.random(30_000), 0.0)  # a rare word: most have no score at all
    for values in (rng.normal(size=30_000), rng.integers(0, 3, 30_000) * 1.0, np.sort(rng.normal(size=30_000)), few):
        assert nth_largest(values, n) == np.sort(values)[-n]


def test_values_that_are_all_the_same_are_not_sorted(monkeypatch):
    sizes = []
    partition = np.partition
    monkeypatch.setattr(np, "partition", lambda values, at: sizes.append(len(values)) or partition(values, at))
    few = np.where(np.arange(30_000) % 3_000 == 7, 1.0, 0.0)
    assert (nth_largest(few, 50), nth_largest(few, 5)) == (0.0, 1.0)
    assert max(sizes) < 3_000
