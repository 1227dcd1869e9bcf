"""Vectors that documents came with: kept, used in growing, placing, adding, shaping and removing; and not needed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.grown import NoteCollector, documents
from topiarist.collection import document_vectors
from topiarist.collection.check import find_disagreements
from topiarist.collection.collection import Collection
from topiarist.collection.describe.account import build_account
from topiarist.collection.describe.documents import load_document_details
from topiarist.collection.document_vectors import describe_missing_vectors
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.collection.search import vector_scores
from topiarist.counts.corpus import Corpus
from topiarist.counts.lsi import compute_document_directions
from topiarist.errors import InputError

N, NEW, DIMS = 160, 20, 12
RECIPE = Recipe(topics=4, headings=False)


def pile():
    return [replace(one, text=" ".join(one.text.split()[:40])) for one in documents()[: N + NEW]]


@pytest.fixture(scope="module")
def vectors():
    """Those of an encoder that has read more: latent directions of the whole texts."""
    return compute_document_directions(Corpus.from_documents(documents()[: N + NEW]).counts, DIMS)


@pytest.fixture(scope="module")
def grown(tmp_path_factory, vectors):
    path = tmp_path_factory.mktemp("vectors") / "notes.topiary"
    Collection.grow(pile()[:N], path, RECIPE, vectors=vectors[:N]).close()
    return path


@pytest.fixture
def opened(grown, tmp_path):
    import shutil

    shutil.copytree(grown, tmp_path / "notes.topiary")
    with Collection.open(tmp_path / "notes.topiary") as collection:
        yield collection


def test_vectors_are_kept_in_half_precision_and_the_tree_knows_them(opened, vectors):
    assert opened.vectors.dtype == np.float16
    np.testing.assert_allclose(opened.vectors, vectors[:N], atol=1e-3)
    assert opened.model.directions_.shape == (4, DIMS)
    assert opened.model.concentration_ == 40.0
    assert opened.settings["vectors"]["dimensions"] == DIMS
    again = opened.model.transform(opened.counts, vectors=opened.vectors)
    assert (again.argmax(axis=1) == opened.shares.toarray().argmax(axis=1)).mean() > 0.99


def test_new_documents_are_placed_with_vectors_and_without(opened, vectors):
    new = pile()[N:]
    with_them = [row.path for row in opened.file(new, vectors=vectors[N:])]
    without = [row.path for row in opened.file(new)]
    assert len(with_them) == len(without) == NEW
    rows = opened.placer.place(opened.count_words(new), 0.0, vectors=vectors[N:]).posterior
    alone = opened.placer.place(opened.count_words(new), 0.0).posterior
    assert not np.allclose(rows, alone)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-5)


def test_added_documents_bring_vectors_or_none(opened, vectors):
    new = pile()[N:]
    opened.add(new[:5], vectors=vectors[N : N + 5])
    assert opened.vectors.shape == (N + 5, DIMS)
    np.testing.assert_allclose(opened.vectors[N:], vectors[N : N + 5], atol=1e-3)
    opened.add(new[5:8], learn=False)
    assert not opened.vectors[N + 5 :].any()
    assert opened.shares.shape[0] == len(opened) == N + 8
    opened.undo()
    assert len(opened.vectors) == N + 5


def test_a_shaped_tree_learns_its_directions_anew(opened):
    topics = [opened.outline.topics[node] for node in opened.outline.class_nodes]
    opened.shape([f"merge {topics[0]} {topics[1]}"])
    assert opened.model.directions_.shape == (len(opened.tree_model.class_nodes), DIMS)
    assert opened.model.concentration_ == 40.0


def test_rows_too_many_are_refused_when_documents_are_added(opened, vectors):
    with pytest.raises(InputError, match="6 vectors, and there are 5 documents"):
        opened.add(pile()[N : N + 5], vectors=vectors[N : N + 6])
    assert len(opened) == N
    with pytest.raises(InputError, match="6 vectors, and there are 5 documents"):
        list(opened.file(pile()[N : N + 5], vectors=vectors[N : N + 6]))
    with pytest.raises(InputError, match="one of the 1 ids"):
        opened.add(pile()[N : N + 5], vectors={"nobody": vectors[0]})
    assert len(opened) == N


def test_who_came_without_a_vector_is_told(opened, collection_without, vectors):
    said = [one.said for one in build_account(opened) if one.what == "vectors"]
    assert said == [f"{N} documents have a vector"]
    opened.add(pile()[N : N + 5])
    said = [one.said for one in build_account(opened) if one.what == "vectors"]
    assert said == [f"{N} documents have a vector, 5 have none and are placed by their words"]
    opened.undo()
    assert "came without" in describe_missing_vectors(opened)
    assert describe_missing_vectors(opened, "vectors.npz") == ""
    assert describe_missing_vectors(collection_without) == ""


def test_a_check_finds_vectors_that_are_no_numbers(opened, monkeypatch):
    assert not list(find_disagreements(opened))
    broken = np.array(opened.vectors)
    broken[3, 0] = np.inf
    monkeypatch.setattr(opened, "vectors", broken)
    assert list(find_disagreements(opened)) == ["the vectors of 1 documents are not all finite numbers"]


def test_vectors_that_a_grow_brings_no_more_are_missed(tmp_path, vectors):
    Collection.grow(pile()[:60], tmp_path / "a", RECIPE, vectors=vectors[:60]).close()
    collector = NoteCollector()
    grow_collection(pile()[:60], tmp_path / "a", RECIPE, GrowOptions(reporter=collector), force=True).close()
    assert any("had vectors" in note for note in collector.notes)


def test_removed_documents_take_their_vectors_along(opened, vectors):
    ids = opened.documents.ids()
    opened.remove(ids[:3])
    np.testing.assert_allclose(opened.vectors, vectors[3:N], atol=1e-3)
    opened.undo()
    assert len(opened.vectors) == N
    opened.remove(ids[:2], forget=True)
    np.testing.assert_allclose(opened.vectors, vectors[2:N], atol=1e-3)


def test_vectors_by_ids_may_miss_some(tmp_path, vectors):
    some = pile()[:60]
    known = {one.id: row for one, row in zip(some[5:], vectors[5:60], strict=True)} | {"nobody": vectors[0]}
    with Collection.grow(some, tmp_path / "a", RECIPE, vectors=known) as collection:
        assert not collection.vectors[:5].any()
        assert collection.vectors[5:].any(axis=1).all()
        assert collection.settings["vectors"]["documents"] == 55
        assert "1 more" in collection.settings["vectors"]["from"]


def test_a_collection_without_vectors_says_so(collection_without):
    with pytest.raises(InputError, match="grown without vectors"):
        list(collection_without.file(pile()[N:], vectors=np.ones((NEW, DIMS))))
    assert collection_without.vectors is None


@pytest.fixture
def collection_without(tmp_path):
    with Collection.grow(pile()[:60], tmp_path / "plain", replace(RECIPE, vectors="none")) as collection:
        yield collection


def test_what_came_before_a_stop_is_not_asked_for_again(tmp_path, vectors, monkeypatch):
    monkeypatch.setattr(document_vectors, "BATCH", 25)
    asked = []

    class Slow:
        def load(self, first, some):
            if first >= 50 and not asked.count("again"):
                raise KeyboardInterrupt
            asked.append((first, len(some)))
            return vectors[first : first + len(some)]

        def check(self, n_docs):
            assert n_docs == 60

        def describe(self):
            return "slowly"

    with pytest.raises(KeyboardInterrupt):
        Collection.grow(pile()[:60], tmp_path / "a", RECIPE, vectors=Slow())
    assert asked == [(0, 25), (25, 25)]
    asked.append("again")
    with Collection.grow(pile()[:60], tmp_path / "a", RECIPE, vectors=Slow(), resume=True) as collection:
        np.testing.assert_allclose(collection.vectors, vectors[:60], atol=1e-3)
    assert asked[3:] == [(50, 10)]


@pytest.mark.parametrize("model", ["hplsa", "ggm"])
def test_trees_of_words_learn_directions_afterwards(tmp_path, vectors, model):
    recipe = Recipe(topics=3, headings=False, model=model)
    with Collection.grow(pile()[:80], tmp_path / "a", recipe, vectors=vectors[:80]) as collection:
        assert collection.model.directions_.shape[1] == DIMS
        np.testing.assert_allclose(np.asarray(collection.shares.sum(axis=1)).ravel(), 1.0, rtol=1e-5)


def test_settings_are_plain_data(opened):
    json.dumps(opened.settings["vectors"])


def test_likeness_hears_vectors_and_says_what_they_add(opened):
    first = opened.documents.ids()[0]
    found = opened.similar(first, 5, why=True)
    near = opened.vectors.astype(float) @ opened.vectors[0].astype(float)
    near -= near.mean()
    for hit in found:
        assert hit.why.vectors == pytest.approx(2.0 * max(near[hit.row], 0.0), abs=1e-4)
        parts = sum(one.amount for one in hit.why.words) + sum(one.amount for one in hit.why.topics)
        assert parts + hit.why.of_all + hit.why.vectors == pytest.approx(hit.score, rel=1e-4)
    assert "vectors lie near" in str(found.hits[0].why)
    others = opened.similar([first], 5, unlike=[opened.documents.ids()[1]])
    assert len(others) == 5


def test_a_document_is_told_which_of_the_two_decided(opened):
    found = load_document_details(opened, opened.documents.ids()[0])
    told = found.voices
    assert told.said.startswith(("Its words", "Its vector", "Words and vector"))
    assert 0 < told.words_certainty <= 1
    assert 0 < told.vector_certainty <= 1
    assert len(told.near) == 3
    assert told.near[0].cosine >= told.near[-1].cosine
    json.dumps(told.to_dict())


def test_a_query_is_encoded_where_the_encoder_is_here(opened, monkeypatch, vectors):
    class Known:
        def load(self, first, some):
            return vectors[:1]

    monkeypatch.setattr(vector_scores, "find_encoder", lambda _: Known())
    text = " ".join(opened.documents.get(0).text.split()[:6])
    found = opened.search(text, 5, why=True)
    hit = found.hits[0]
    assert hit.row == 0
    assert hit.why.vectors > 0
    monkeypatch.setattr(vector_scores, "find_encoder", lambda _: None)
    assert opened.search(text, 5, why=True).hits[0].why.vectors == 0


def test_who_has_no_vector_is_as_if_it_lay_like_all():
    near = np.array([0.9, 0.0, 0.5, 0.4, 0.0], np.float32)
    lean = vector_scores.subtract_mean(near)
    np.testing.assert_allclose(lean, [0.3, 0.0, -0.1, -0.2, 0.0], atol=1e-6)
    assert not vector_scores.subtract_mean(np.zeros(3, np.float32)).any()
    assert len(vector_scores.subtract_mean(np.zeros(0, np.float32))) == 0


def test_words_that_the_collection_does_not_know_are_found_by_their_vector(opened, monkeypatch, vectors):
    class Known:
        def load(self, first, some):
            return vectors[7:8]

    assert not opened.search("zyzzyva", 5).hits
    monkeypatch.setattr(vector_scores, "find_encoder", lambda _: Known())
    found = opened.search("zyzzyva", 5, why=True)
    near = np.asarray(opened.vectors, float) @ vectors[7]
    assert found.hits[0].row == int(near.argmax())
    why = found.hits[0].why
    assert why.vectors > 0
    assert why.vectors + why.of_all == pytest.approx(found.hits[0].score, rel=1e-4)


def test_a_far_vector_takes_nobody_out_who_has_the_words(opened, monkeypatch, vectors):
    class Far:
        def load(self, first, some):
            return -vectors[:1]

    text = " ".join(opened.documents.get(0).text.split()[:6])
    monkeypatch.setattr(vector_scores, "find_encoder", lambda _: Far())
    hits = opened.search(text, N, why=True).hits
    (mine,) = [hit for hit in hits if hit.row == 0]
    assert mine.why.vectors < 0
    assert mine.score == pytest.approx(
        sum(one.amount for one in (*mine.why.words, *mine.why.topics))
        + mine.why.of_all + mine.why.alike + mine.why.vectors, rel=1e-4,
    )  # fmt: skip


def test_documents_that_lie_far_from_every_topic_are_unusual(opened, vectors):
    new = pile()[N:]
    away = np.random.default_rng(0).normal(size=(NEW, DIMS)) - 3 * opened.model.directions_.mean(axis=0)
    usual, strange = (list(opened.file(new, vectors=given)) for given in (vectors[N:], away))
    assert sum(row.far for row in usual) <= NEW // 4
    assert sum(row.far for row in strange) >= NEW // 2
    assert all(row.unusual for row in strange if row.far)
    assert all(row.to_dict().get("far", False) == row.far for row in strange)
    assert not any(row.far for row in opened.file(new))  # without vectors nobody can tell


def test_what_is_far_is_so_of_one_document_in_a_hundred(opened):
    from topiarist.collection.document_vectors import find_outlier_threshold

    some = find_outlier_threshold(opened, share=0.1)
    assert some.is_outlier(opened.vectors).mean() == pytest.approx(0.1, abs=0.02)
    assert not some.is_outlier(np.zeros((3, DIMS), np.float16)).any()


def test_documents_that_are_alike_by_meaning_are_listed_and_nothing_is_folded(opened):
    from topiarist.collection.alike import find_similar_pairs

    found, rows = find_similar_pairs(opened, 0.8), opened.vectors.astype(np.float64)
    assert found.number >= len(found.pairs) > 0
    topics, near = opened.shares.toarray().argmax(axis=1), rows @ rows.T
    kept = opened.copies.find_first_documents(N)
    naive = [
        (one, other)
        for one in range(N)
        for other in range(one + 1, N)
        if topics[one] == topics[other] and near[one, other] >= 0.8 and kept[one] and kept[other]
    ]
    told = {(one.first.row, one.second.row): one for one in found.pairs}
    assert abs(len(naive) - found.number) <= 2  # a cosine at the limit may be rounded to either side
    assert len(set(naive) ^ set(told)) <= 2
    for pair, one in told.items():
        assert one.cosine == pytest.approx(near[pair], abs=1e-3)
        assert 0 <= one.shared <= 1
    assert [one.cosine for one in found.pairs] == sorted((one.cosine for one in found.pairs), reverse=True)
    assert len(opened.copies) == 0
    assert find_similar_pairs(opened, 0.8, max_pairs=1).pairs == found.pairs[:1]


def test_of_many_pairs_that_are_alike_all_are_counted_and_few_are_kept(monkeypatch):
    from topiarist.collection import alike

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    rows[20:] = rows[20]  # forms that are equal
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    numbers, nothing = np.arange(60), (np.zeros((0, 3)), 0)
    every, number = alike._add_close_pairs(rows, numbers, 0.5, 10_000, nothing)
    assert number == len(every) >= 40 * 39 // 2
    kept = []
    monkeypatch.setattr(alike, "MAX_CELLS", 500)
    largest = alike._find_largest
    monkeypatch.setattr(alike, "_find_largest", lambda values, most: kept.append(largest(values, most)) or kept[-1])
    best, told = alike._add_close_pairs(rows, numbers, 0.5, 25, nothing)
    assert told == number
    assert len(kept) > 3
    assert max(map(len, kept)) <= 25  # of each block
    np.testing.assert_allclose(best[:, 2], every[:25, 2], rtol=1e-6)
    values = np.array([1.0, 3.0, 2.0, 2.0, 2.0, 0.0])
    assert largest(values, 3).tolist() == [1, 2, 3]
    assert largest(values, 0).tolist() == []


def test_file_says_what_counts_as_far(grown, opened, tmp_path):
    from typer.testing import CliRunner

    from topiarist.cli.commands import app

    away = np.random.default_rng(0).normal(size=(NEW, DIMS)) - 3 * opened.model.directions_.mean(axis=0)
    np.save(tmp_path / "away.npy", away)
    table = [{"id": one.id, "text": one.text} for one in pile()[N:]]
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, table)), "utf-8")
    given = ["--vectors", str(tmp_path / "away.npy")]
    shown = CliRunner().invoke(app, ["file", str(grown), str(tmp_path / "new.jsonl"), *given])
    assert shown.exit_code == 0
    assert "than 99% of the documents in the collection" in " ".join((shown.stdout + shown.stderr).split())


def test_newer_documents_that_lie_elsewhere_are_told(opened):
    from topiarist.collection.describe.statistics import Figures
    from topiarist.collection.trends import newer

    groups = np.where(np.arange(N) < 120, 0, 1)
    told = newer._measure_distance_shift(Figures(opened), groups)
    assert told.documents == 40
    assert told.low <= told.share <= told.high
    assert told.before == pytest.approx(0.05, abs=0.01)
    opened.vectors = np.where(groups[:, None] == 1, -opened.vectors, opened.vectors)
    moved = newer._measure_distance_shift(Figures(opened), groups)
    assert moved.far > told.far + 10
    assert moved.certain
    assert (moved.known, moved.unfitted) == (120, 0)


def test_alike_by_meaning_on_the_terminal(grown):
    from typer.testing import CliRunner

    from topiarist.cli.commands import app

    shown = CliRunner().invoke(app, ["duplicates", str(grown), "--by-meaning", "--least", "0.8"])
    assert shown.exit_code == 0
    assert "alike by meaning: of one topic, cosine of vectors at least 0.8. No copies." in shown.stdout
    told = json.loads(CliRunner().invoke(app, ["duplicates", str(grown), "--by-meaning", "--json"]).stdout)
    assert told["least"] == 0.9
