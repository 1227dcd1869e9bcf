"""What holds of a collection whatever is done to it, by whom, and however often it is interrupted."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import topiarist
from tests.grown import N_DOCS, N_WORDS, NoteCollector, documents, new_documents
from topiarist.collection.check import check_folder
from topiarist.collection.classify import learning
from topiarist.collection.collection import Collection
from topiarist.collection.describe.documents import list_topic_words
from topiarist.collection.file import arrivals
from topiarist.collection.file.additions import MAX_UNDOABLE_ADDITIONS
from topiarist.collection.file.new_topics import propose_topics
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.collection.search.search import Search
from topiarist.collection.shape import history
from topiarist.collection.shape.edit_language import format_edit, parse_edit_line
from topiarist.collection.shape.edits import Branch, Group, Merge, Pin, Rename, Split
from topiarist.collection.state import open_state_before_last
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.storage import edit_log
from topiarist.storage.document_table import Documents
from topiarist.storage.marks import Marks
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document


def agree(collection):
    """Documents, counts, shares and indexes are of the same number, and shares are shares."""
    number = len(collection)
    assert len(collection.documents) == collection.counts.shape[0] == collection.shares.shape[0] == number
    assert len(collection.index) == number
    sums = np.asarray(collection.shares.sum(axis=1)).ravel()  # unsorted documents have no shares
    assert np.allclose(sums, sums > 0.5, atol=1e-3)
    assert collection.hard_to_place[sums < 0.5].all()
    assert collection.tree.sizes[collection.outline.tree.root] == number


def bits(collection):
    """Everything that can be seen of a state, to the last bit."""
    fitted = collection.tree_model
    matrices = [collection.counts, collection.shares]
    arrays = [getattr(matrix, name) for matrix in matrices for name in ("data", "indices", "indptr")]
    arrays += [fitted.word_given_node, fitted.node_given_class, fitted.class_prior]
    labels = None if collection.categories is None else collection.categories.predict(collection.counts[:20])
    return collection.state, [np.asarray(array).tobytes() for array in arrays], collection.tree.to_dict(), labels


def test_it_is_one_of_the_public_names(path):
    with topiarist.Collection.open(path) as collection:
        assert repr(collection) == f"<Collection {str(path)!r}: 500 documents, 6 topics>"


def test_everything_agrees_when_it_is_grown(collection):
    agree(collection)
    assert check_folder(collection.folder.path) == []


def test_nothing_is_loaded_before_it_is_asked_for(collection):
    assert not {"model", "tree_model", "counts", "shares", "index", "placer", "tree"} & set(collection.cache.values)
    assert len(collection) == N_DOCS
    assert collection.search("model", by="words").total > 0
    assert not {"model", "crown", "index", "placer"} & set(collection.cache.values)


def test_the_reasons_of_a_default_search_add_up(collection):
    found = collection.search("dark matter in halos of galaxies", 20, why=True)
    assert found.hits[0].score >= found.hits[-1].score > 0
    for hit in found:
        why = hit.why
        parts = sum(one.amount for one in (*why.words, *why.topics)) + why.of_all + why.alike
        assert parts == pytest.approx(why.score)
        assert why.score == pytest.approx(hit.score, rel=1e-4)
        assert why.by_words + why.by_meaning == pytest.approx(why.score)
    assert any(match for _, match in found.hits[0].snippet)


def test_a_search_reads_few_texts(collection, monkeypatch):
    from topiarist.collection.search.words.word_scorer import FEEDBACK_DOCUMENTS
    from topiarist.storage.document_table import Documents

    read, many = [], Documents.load_many

    def counting(self, rows, *, texts=True):
        read.extend(rows if texts else ())
        return many(self, rows, texts=texts)

    monkeypatch.setattr(Documents, "load_many", counting)
    monkeypatch.setattr(Documents, "iterate", None)
    assert len(collection.search("how do galaxies form in dark matter", 7).hits) == 7
    assert len(read) <= FEEDBACK_DOCUMENTS + 7


def test_operators_stay_exact_by_default(collection):
    for query in ('"dark matter"', "galax*", "galaxies OR graphs", '"dark matter" -galaxies'):
        exact = {hit.id for hit in collection.search(query, N_DOCS, by="words")}
        assert {hit.id for hit in collection.search(query, N_DOCS)} == exact
    without = {hit.id for hit in collection.search("model -galaxies", N_DOCS)}
    assert not without & {hit.id for hit in collection.search("galaxies", N_DOCS, by="words")}


def test_search_by_words_ranks_prefix_queries(collection):
    for query in ("galax*", '"dark mat"*', "galax* model"):
        hits = collection.search(query, N_DOCS, by="words").hits
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] > scores[-1] > 0
    hits = collection.search("model*", N_DOCS, by="words").hits
    texts = [collection.documents.get(hit.row).text.lower() for hit in hits]
    times = [text.count("model") for text in texts]
    assert len(hits) > 40
    assert sum(times[:10]) > 2 * sum(times[-10:])


def test_a_phrase_is_required(collection):
    question = "what do astronomers say about the halos and the mergers of many massive distant galaxies"
    for query in ('"no such phrase anywhere" galaxies', f'"no such phrase anywhere" {question}', "xyzzy* galaxies"):
        found = collection.search(query)
        assert (found.total, found.hits) == (0, ())
        assert found.message.startswith("No document contains ")
        assert collection.search(found.widened).hits
    found = collection.search('"dark matter" galaxies graphs', N_DOCS)
    exact = {hit.id for hit in collection.search('"dark matter"', N_DOCS, by="words")}
    assert found.total < len(found) <= len(exact)
    assert {hit.id for hit in found} <= exact


def test_a_phrase_that_no_document_has_is_reported_beside_a_liked_document(collection):
    found = collection.search(f'"no such phrase anywhere" like:{documents()[0].id}')
    assert (found.total, found.hits) == (0, ())
    assert found.message.startswith("No document contains ")


def test_a_phrase_is_required_by_meaning(collection):
    exact = {hit.id for hit in collection.search('"dark matter"', N_DOCS, by="words")}
    search = Search(collection, '"dark matter" galaxies', "meaning")
    assert {hit.id for hit in search.page(N_DOCS)} == exact
    assert len(search.rows()) == len(exact)
    assert collection.search('"no such phrase anywhere" galaxies', by="meaning").message.startswith("No document con")


def test_matches_come_before_related_documents(collection):
    every = collection.search("dark matter", N_DOCS)
    words = collection.search("dark matter", N_DOCS, by="words")
    assert {hit.id for hit in words} <= {hit.id for hit in every.hits[: every.total]}
    assert [hit.related for hit in every] == [False] * every.total + [True] * 20
    for part in (every.hits[: every.total], every.hits[every.total :]):
        scores = [hit.score for hit in part]
        assert scores == sorted(scores, reverse=True)
    search = Search(collection, "dark matter")
    assert sorted(search.rows().tolist()) == sorted(hit.row for hit in every if not hit.related)
    pages = [search.page(7, start) for start in range(0, len(every) + 7, 7)]
    assert [hit.id for page in pages for hit in page] == [hit.id for hit in every]
    assert {page.total for page in pages} == {every.total}
    last = search.page(7, 7 * ((every.total - 1) // 7), related=20)
    assert sum(hit.related for hit in last) == 20


def test_some_information_is_enough_if_no_document_has_all_words(collection):
    question = "how do galaxies and graphs of magnetic algebras form in dark matter theorems"
    found = collection.search(question, N_DOCS)
    assert found.all_words == 0
    assert found.not_required
    assert 1 < found.total < N_DOCS / 2
    assert found.only_some_words
    assert found.message == ""
    order = Search(collection, question).best_rows(N_DOCS).tolist()
    assert set(order[:5]) <= {hit.row for hit in found}


def test_documents_left_by_the_conditions_decide_which_match(collection):
    search = Search(collection, "dark matter")
    rows = search.rows()
    collection.tag(rows.tolist(), "both")
    found = collection.search("dark matter -tag:both", N_DOCS)
    assert (found.total > 0, found.all_words) == (True, 0)
    assert not {hit.row for hit in found} & set(rows.tolist())
    assert collection.search('"dark such matter" -tag:both').widened == "dark such matter -tag:both"


def test_all_that_match_are_tagged_in_one_step(collection, path):
    from typer.testing import CliRunner

    from topiarist.cli.commands import app

    done = CliRunner().invoke(app, ["find", str(path), '"dark matter"', "-n", "1", "--tag", "dark"])
    assert done.exit_code == 0, done.stderr
    rows = collection.marks.rows_with("dark")
    assert rows == sorted(hit.row for hit in collection.search('"dark matter"', N_DOCS, by="words"))
    assert f"Tagged {len(rows)} documents “dark”." in done.stderr
    assert {hit.row for hit in collection.search("tag:dark", N_DOCS)} == set(rows)


def test_added_documents_are_found_and_counted(collection):
    new = Document("new/1", "The flurbing of wombats in dark matter halos of galaxies.", "Wombats", ("zoo",))
    (filed,) = collection.add([new])
    assert filed.document == new
    agree(collection)
    assert [hit.id for hit in collection.search("wombats", by="words")] == ["new/1"]
    found = collection.search("flurbings wombat")  # words of one document, in other forms
    assert (found.hits[0].id, found.all_words) == ("new/1", 1)
    assert collection.search("label:zoo wombats").hits[0].labels == ("zoo",)
    assert "new/1" in [hit.id for hit in collection.search("galaxies halos dark", 20, by="meaning")]
    assert collection.similar("new/1")
    assert check_folder(collection.folder.path) == []


def test_added_documents_lie_where_filing_said(collection):
    new = new_documents()
    said = list(collection.file(new))
    assert [one.topic for one in said] == [one.topic for one in collection.add(new, learn=False)]
    outline, mask = collection.outline, collection.outline.tree.path_mask(collection.outline.class_nodes)
    for row, one in enumerate(said, N_DOCS):
        if one.certainty:
            certainty = float(collection.certainties([row])[0] @ mask[:, outline.node(one.topic)])
            assert certainty == pytest.approx(one.certainty[-1], abs=2e-3)
            assert certainty < 0.9996
            assert outline.path(one.topic).split(" ▸ ") == list(one.path)


def test_filing_is_the_same_in_batches_and_one_by_one(collection):
    new = new_documents(12)
    together = list(collection.file(new))
    assert [next(iter(collection.file([one]))) for one in new] == together
    assert list(arrivals.file_documents(collection, iter(new), live=True)) == together


def test_filing_leaves_the_collection_as_it_is(collection):
    before = bits(collection)
    list(collection.file(new_documents(5)))
    assert bits(collection) == before


def test_many_additions_become_one_piece(path):
    with Collection.open(path) as collection:
        for one in new_documents(10):
            collection.add([one], learn=False)
            agree(collection)
        assert len(collection.state.pieces("counts")) < 10
        assert collection.documents.ids()[N_DOCS:] == [one.id for one in new_documents(10)]


def test_an_id_that_is_taken_is_refused_or_renamed(collection):
    twice = documents()[0]
    with pytest.raises(InputError, match="already"):
        collection.add([new_documents(1)[0], twice])
    agree(collection)
    assert len(collection) == N_DOCS
    (filed,) = arrivals.add_documents(collection, [twice], rename=True)
    assert filed.document.id == f"{twice.id}#2"
    assert len(collection) == N_DOCS + 1


def test_an_addition_whose_rows_nobody_takes_is_kept(collection):
    """A reader of the rows that goes away, as head does, must not take the documents with it."""
    rows = arrivals.add_documents(collection, new_documents(5))
    assert len(collection) == N_DOCS + 5
    next(rows)
    del rows
    with Collection.open(collection.folder.path) as other:
        assert len(other) == N_DOCS + 5
        agree(other)


def test_an_addition_that_fails_adds_nothing(collection):
    def failing():
        yield new_documents(1)[0]
        raise RuntimeError("the source is gone")

    with pytest.raises(RuntimeError, match="gone"):
        collection.add(failing())
    assert not collection.refresh()
    agree(collection)
    assert len(collection) == N_DOCS


def test_rows_of_an_addition_tell_where_the_documents_lie_after_learning(collection):
    rows = collection.add(new_documents(), rho=0.5)
    nodes = collection.outline.tree.path_mask(collection.outline.class_nodes)
    lie = collection.certainties(range(len(collection))) @ nodes
    for row, one in enumerate(rows, N_DOCS):
        if one.certainty:
            share = lie[row, collection.outline.node(one.topic)]
            assert share == pytest.approx(one.certainty[-1], abs=2e-3)


def test_topics_are_described_again_after_learning(collection):
    before = collection.description
    words = "zebra giraffe okapi savanna antelope"
    new = [Document(f"zoo/{n}", f"{one.text} {words}", one.title) for n, one in enumerate(new_documents() * 3)]
    collection.add(new, learn=True)
    now = collection.description
    assert [node.coherence for node in now.nodes] != [node.coherence for node in before.nodes]
    assert any(row >= N_DOCS for node in now.nodes for row in node.rows)
    assert now.facts["reason"] == before.facts["reason"]


def test_words_are_counted_with_general_ones_and_those_that_were_added(collection):
    settings, tree = collection.settings, collection.tree
    assert (tree.n_tokens, tree.n_words) == (settings["n_tokens"], settings["n_words"])
    assert tree.n_tokens > collection.counts.sum()
    for learn in (True, False):
        before = collection.tree.n_tokens
        (one,) = [new_documents()[int(learn)]]
        collection.add([one], learn=learn)
        assert before < collection.tree.n_tokens <= before + len(one.text.split()) + len(one.title.split())


FRENCH = (
    "Les chevaux de la ferme voisine mangent du foin pendant que les enfants jouent dans le jardin, et leur mère "
    "prépare le repas du soir avec des légumes frais du marché",
    "Le conseil municipal a voté hier soir le budget de la commune malgré les protestations de nombreux habitants "
    "réunis devant la mairie",
    "Une nouvelle bibliothèque ouvrira ses portes au printemps prochain, annonce le maire, qui promet des milliers de "
    "livres pour petits et grands",
)


def test_documents_of_another_language_are_unusual_and_ordinary_ones_are_not(collection):
    french = [Document(f"fr/{n}", text) for n, text in enumerate(FRENCH)]
    assert all(one.unusual for one in collection.file(french))
    mixed = [Document(f"mix/{n}", f"dark matter halos {text}") for n, text in enumerate(FRENCH)]
    assert all(one.unusual for one in collection.file(mixed))


def test_groups_of_new_documents_are_named_by_words_that_nobody_knew(collection):
    rng = np.random.default_rng(0)
    words = [word for text in FRENCH for word in text.lower().replace(",", "").split() if len(word) > 3]
    french = [Document(f"fr/{n}", " ".join(rng.choice(words, 40))) for n in range(24)]
    filed = list(collection.file(french))
    groups = propose_topics(collection, french, [one.topic for one in filed])
    assert groups
    assert all(group.words and group.name for group in groups)
    assert set(groups[0].words) & set(words)
    assert len(groups[0].documents) >= 10
    collection.add(french, learn=False)
    collection.shape([groups[0].edit])
    agree(collection)


def test_documents_without_a_common_word_are_no_group(collection):
    strange = [Document("x/1", "qwertz uiop"), Document("x/2", "asdfgh jkl"), Document("x/3", "")]
    assert propose_topics(collection, strange, [0, 0, 0]) == ()


def test_ordinary_new_documents_are_seldom_unusual(collection):
    new = [replace(one, text=" ".join(one.text.split()[:N_WORDS])) for one in islice(demo_documents(), 540, 1540)]
    assert np.mean([one.unusual for one in collection.file(new)]) <= 0.03


def test_learning_from_additions_keeps_what_is_pinned(collection):
    id = collection.documents.ids()[7]
    collection.shape([Pin((id,), 3)], refit=False)
    collection.add(new_documents(5), learn=True)
    agree(collection)
    collection.shape([])
    assert collection.shares_under(3)[7] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "edits",
    [
        ["rename 1 Waves"],
        [Merge((1, 2), "Both")],
        [Group((2, 3, 5), "Ours")],
        [Split(3, 2), Rename(3, "Parts")],
        [{"describe": {"topic": 1, "note": "again"}}],
        [Branch(0, "New", ("1401.0276", "1401.0261"))],
        ["move 1 under 2", "delete 3"],
    ],
    ids=lambda edits: str(edits[0]).split("(")[0].split(":")[0].strip("{'"),
)
@pytest.mark.parametrize("refit", [True, False])
def test_undo_gives_back_every_bit(collection, edits, refit):
    before = bits(collection)
    collection.shape(edits, refit=refit)
    agree(collection)
    assert bits(collection)[0] != before[0]
    collection.undo()
    assert bits(collection) == before
    with pytest.raises(UsageError, match="nothing to undo"):
        collection.undo()


def test_undo_of_learning_gives_back_every_bit(collection):
    before = bits(collection)
    collection.learn(several=False)
    first = bits(collection)
    assert first[3]
    collection.learn(several=True)
    assert collection.undo() == "categories learned"
    assert bits(collection) == first
    collection.undo()
    assert bits(collection) == before


def test_undo_goes_back_step_by_step_also_before_documents_that_were_added(collection):
    seen = [bits(collection)]
    for edit in ("rename 1 A", "rename 1 B", "merge 2 3"):
        collection.shape([edit], refit=False)
        seen.append(bits(collection))
    while len(seen) > 1:
        assert bits(collection) == seen.pop()
        collection.undo()
    assert bits(collection) == seen[0]
    collection.shape(["rename 1 C"])
    before, ids = bits(collection), collection.documents.ids()
    collection.add(new_documents(2))
    with collection.folder.writing() as generation:
        Marks(generation.database).tag([0, N_DOCS], "mine")
    assert collection.undo() == "2 documents added"
    assert bits(collection) == before
    assert collection.documents.ids() == ids
    assert collection.marks.tags() == {"mine": 1}
    assert not [finding for finding in check_folder(collection.folder.path) if finding.severity != "note"]
    agree(collection)
    assert "rename" in collection.undo()  # it goes on before the addition
    assert bits(collection) == seen[0]
    collection.add(new_documents(3), learn=False)
    assert len(collection) == N_DOCS + 3


def test_undo_crosses_documents_that_were_added_and_removed(collection):
    new, seen = new_documents(8), [bits(collection)]
    steps = [
        lambda: collection.shape(["rename 1 A"], refit=False),
        lambda: collection.add(new[:2]),
        lambda: collection.remove([collection.documents.ids()[5], new[0].id]),
        lambda: collection.add(new[2:4], learn=False),
        lambda: collection.shape(["rename 2 B"], refit=False),
    ]
    ids = [collection.documents.ids()]
    for step in steps:
        step()
        seen.append(bits(collection))
        ids.append(collection.documents.ids())
    while len(seen) > 1:
        assert (bits(collection), collection.documents.ids()) == (seen.pop(), ids.pop())
        collection.undo()
    assert (bits(collection), collection.documents.ids()) == (seen[0], ids[0])
    assert not [finding for finding in check_folder(collection.folder.path) if finding.severity != "note"]
    agree(collection)
    collection.remove([ids[0][0]])
    for one in new[4:]:
        collection.add([one], learn=False)
    assert not collection.folder.manifest.kept  # three additions since
    for _ in range(3):
        collection.undo()
    with pytest.raises(UsageError, match="cannot be undone"):
        collection.undo()


def test_what_was_before_the_last_step_can_be_looked_at(collection):
    sizes = collection.tree.sizes
    collection.shape(["merge 1 2"])
    before, entry = open_state_before_last(collection)
    with before:
        assert before.tree.sizes == sizes
        assert history.summarise_step(entry) == "merge 1 2"
    assert len(collection.outline.topics) == 6


def test_a_fit_holds_names_pins_and_merges(collection):
    ids = collection.documents.ids()
    collection.shape(["rename 4 Four", Merge((1, 2), "Both"), Pin((ids[0], ids[1]), 5), "describe 4 'a note'"])
    for _ in range(2):
        outline = collection.outline
        assert not outline.pending
        assert (outline.name(4), outline.name(1), outline.notes[4]) == ("Four", "Both", "a note")
        assert 2 not in outline.topics
        assert collection.shares_under(5)[:2] == pytest.approx(1.0)
        agree(collection)
        collection.shape([])  # fit again


def leaves(collection, n=3):
    return [collection.outline.topics[leaf] for leaf in collection.outline.tree.leaves[:n]]


def held_by(collection, name):
    """The topics under a heading."""
    outline = collection.outline
    return [outline.topics[child] for child in outline.tree.children(outline.node(collection.topic(name)))]


def members_of(collection, topic):
    """The documents that lie mostly under a topic."""
    shares = collection.shares_under(topic)
    return {id for id, share in zip(collection.documents.ids(), shares, strict=True) if share > 0.5}


def test_a_group_is_seen_before_any_fit(collection):
    topics, was, before = leaves(collection), collection.tree, collection.outline
    collection.shape([Group(tuple(topics), "Ours")], refit=False)
    outline = collection.outline
    heading = outline.node(collection.topic("Ours"))
    node = collection.tree.nodes[heading]
    assert held_by(collection, "Ours") == topics
    assert [outline.name(topic) for topic in topics] == [before.name(topic) for topic in topics]
    assert node.size == pytest.approx(sum(was.nodes[topic].size for topic in topics), rel=1e-6)
    first = {word for topic in topics for word in was.nodes[topic].words[:2]}
    assert set(node.words[: len(first)]) == first
    assert 0 < node.gain <= was.nodes[was.tree.root].gain or not was.nodes[was.tree.root].gain
    assert node.prototypes
    assert [word.word for word in list_topic_words(collection, outline.topics[heading], 3)] == list(node.words[:3])
    agree(collection)
    assert check_folder(collection.folder.path) == []


def test_a_group_outlives_fits_additions_and_growing_anew(collection, path):
    topics, every = leaves(collection), islice(demo_documents(), N_DOCS, N_DOCS + N_DOCS // 5)
    more = [replace(one, text=" ".join(one.text.split()[:N_WORDS])) for one in every]
    collection.shape([Rename(topics[0], "Mine"), f"group {' '.join(map(str, topics))} as 'All of ours'"])
    for _ in range(2):
        assert not collection.outline.pending
        assert held_by(collection, "All of ours") == topics
        assert collection.outline.name(topics[0]) == "Mine"
        assert collection.tree.nodes[collection.outline.node(collection.topic("All of ours"))].words
        agree(collection)
        if len(collection) == N_DOCS:
            collection.add(more)
            assert held_by(collection, "All of ours") == topics
        collection.shape([])  # fit again
    before = [members_of(collection, topic) for topic in topics]
    told = grown_anew(path, [*documents()[:N_DOCS], *more])
    assert "Carried over: 1 heading over the same topics" in told
    with Collection.open(path) as other:
        members = held_by(other, "All of ours")
        assert len(members) == len(topics)
        assert other.topic("Mine") in members
        after = [members_of(other, topic) for topic in members]
        for then in before:
            assert max(len(then & now) / len(then | now) for now in after) > 0.4
        other.shape([])
        assert held_by(other, "All of ours") == members
        assert check_folder(other.folder.path) == []


def test_a_branch_holds_its_documents(collection):
    ids = tuple(collection.documents.ids()[:6])
    collection.shape([Branch(0, "Mine", ids)])
    topic = collection.topic("Mine")
    assert collection.shares_under(topic)[:6] == pytest.approx(1.0)
    assert collection.tree.sizes[collection.outline.node(topic)] >= 6


def test_edits_that_cannot_be_made_leave_everything_as_it_is(collection):
    before = bits(collection)
    with pytest.raises(UsageError, match="no topic is called"):
        collection.shape(["rename 1 A", "rename nonsense B"])
    with pytest.raises(UsageError, match="there is no document"):
        collection.shape([Pin(("nobody",), 1)])
    assert bits(collection) == before


def test_the_log_can_be_typed_again(collection):
    edits = [Rename(1, "it's mine"), Merge((2, 3), "Both of them"), Split(4, 3), Branch(0, "a b", ("1401.0276",))]
    collection.shape(edits, refit=False)
    entry = edit_log.history(collection.generation.database)[0]
    again = [parse_edit_line(line) for line in history.summarise_step(entry).split("; ")]
    assert list(map(format_edit, again)) == list(map(format_edit, edits))


def test_the_log_tells_which_topic_a_word_meant(collection):
    """A word that meant one topic then may mean another, or none, when the log is read."""
    name = collection.outline.name(1)
    word = name.split(" · ")[0]
    collection.shape([f"rename {word} Waves", "rename Waves Water"])
    entry = edit_log.history(collection.generation.database)[0]
    assert [one["topic"] for known in entry.body["topics"] for one in known.values()] == [1, 1]
    assert history.summarise_step(entry) == f"{format_edit(Rename(name, 'Waves'))}; rename Waves Water"


def size_of(path):
    """Bytes on the disk; files with two names count once."""
    found = {(known.st_ino, known.st_size) for file in path.rglob("*") if (known := file.stat()) and file.is_file()}
    return sum(size for _, size in found)


@pytest.mark.parametrize("learn", [True, False])
def test_single_additions_do_not_fill_the_disk(collection, path, learn):
    new = new_documents(13)
    collection.add(new[:1], learn=learn)
    first = size_of(path)
    for one in new[1:]:
        collection.add([one], learn=learn)
    assert size_of(path) < 2 * first
    assert not [finding for finding in check_folder(path) if finding.severity != "note"]
    agree(collection)
    before = bits(collection)
    collection.shape([Rename(1, "A")])
    collection.shape([Merge((2, 3))])
    collection.undo()
    collection.undo()
    assert bits(collection) == before
    for _ in range(3):
        assert collection.undo() == "1 document added"
    agree(collection)
    with pytest.raises(UsageError, match="cannot be undone"):
        collection.undo()


def test_readers_see_the_old_state_until_they_look_again(collection, path):
    with Collection.open(path) as reader:
        before = bits(reader)
        collection.shape(["merge 1 2"])
        for one in new_documents(MAX_UNDOABLE_ADDITIONS + 1):  # after which the state that it sees is forgotten
            collection.add([one], learn=False)
        assert bits(reader) == before
        assert reader.search("model", by="words").total >= 1
        found = reader.search("model")  # its index has gone with its state
        assert found.total >= 1
        assert "only words were used" in found.message
        assert reader.refresh()
        assert "only words were used" not in reader.search("model").message
        assert len(reader) == N_DOCS + MAX_UNDOABLE_ADDITIONS + 1
        agree(reader)
        assert not reader.refresh()


def test_a_collection_that_was_grown_anew_is_seen(collection, path):
    from topiarist.collection.grow.recipe import Recipe

    Collection.grow(documents()[:80], path, Recipe(topics=2), force=True).close()
    collection.refresh()
    collection.shape([f"rename {collection.outline.topics[1]} A"])
    assert len(collection) == 80
    agree(collection)


def test_a_reader_goes_on_while_the_collection_is_grown_anew(collection, path):
    Collection.grow(documents()[:60], path, Recipe(topics=3), force=True).close()
    agree(collection)  # parts that were not opened before, of the generation that was
    assert len(collection) == N_DOCS
    with Collection.open(path) as other:
        other.marks.read()
        other.shape([Rename(other.outline.topics[1], "A")])  # the next writer sweeps
    with Collection.open(path) as other:
        assert len(other) == 60
    assert len(list(path.glob("g-*"))) == 1


def test_a_reader_whose_generation_is_gone_is_not_told_of_damage(collection, path):
    Collection.grow(documents()[:60], path, Recipe(topics=3), force=True).close()
    assert len(collection.documents) == N_DOCS
    with Collection.open(path) as other:
        other.shape([Rename(other.outline.topics[1], "A")])
    with pytest.raises(ResourceError, match="was grown anew during this call"):
        _ = collection.shares
    assert collection.refresh()
    assert len(collection) == 60
    agree(collection)


@pytest.mark.parametrize("anew", [True, False])
def test_categories_are_not_kept_with_documents_that_they_were_not_learned_from(collection, path, monkeypatch, anew):
    fitted = learning._fit_learner

    def slowly(*arguments):
        if len(arguments[1]) > 300:  # the last of the two fits
            if anew:
                Collection.grow(documents()[:60], path, Recipe(topics=3), force=True).close()
            else:
                with Collection.open(path) as other:
                    other.add(new_documents(2))
        return fitted(*arguments)

    monkeypatch.setattr(learning, "_fit_learner", slowly)
    with pytest.raises(ResourceError, match="changed meanwhile"):
        collection.learn(holdout=0)
    collection.refresh()
    assert collection.categories is None
    assert next(entry.kind for entry in edit_log.history(collection.generation.database)) == ("grow" if anew else "add")


def test_two_writers_are_one_too_many(collection, path):
    with collection.folder.writing(), Collection.open(path) as other:
        with pytest.raises(ResourceError, match="is being written by this process"):
            other.shape(["rename 1 A"])
        with pytest.raises(ResourceError, match="is being written"):
            other.add(new_documents(1))
        assert other.search("model").total


WRITER = """
import sys
from topiarist.collection.collection import Collection
collection = Collection.open(sys.argv[1])
number = 0
while True:
    number += 1
    print(number, flush=True)
    collection.shape([f"rename 1 N{number}"])
    collection.shape(["merge 2 3"])
    collection.undo()
"""


def writing(path):
    """A process that edits as fast as it can."""
    running = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "1\n"
    return running


def test_reading_while_another_process_writes(path):
    with Collection.open(path) as collection:
        running = writing(path)
        try:
            seen, until = set(), time.monotonic() + 60
            while time.monotonic() < until and len(seen) < 6:
                collection.refresh()
                agree(collection)
                seen.add(collection.number)
                assert collection.search("model").total
        finally:
            running.kill()
            running.wait()
        assert len(seen) == 6


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed_at_any_moment_it_is_the_old_state_or_the_new_one(path):
    for moment in (0.01, 0.1, 0.3):
        running = writing(path)
        running.stdout.readline()  # it has begun in earnest
        time.sleep(moment)
        running.send_signal(signal.SIGKILL)
        running.wait()
        with Collection.open(path) as collection:
            agree(collection)
            assert len(collection.outline.topics) in (6, 7)
            collection.shape([f"rename 1 After{moment}"], refit=False)  # sweeps up, and goes on
            agree(collection)
        assert [one for one in check_folder(path) if one.severity == "error"] == []


def grown_anew(path, some, topics=6):
    collector = NoteCollector()
    grow_collection(some, path, Recipe(topics=topics), GrowOptions(reporter=collector), force=True).close()
    return " | ".join(collector.notes)


def test_growing_anew_carries_over_what_people_did(collection, path):
    ids = collection.documents.ids()
    leaf = collection.outline.topics[collection.outline.tree.leaves[0]]
    pin = next(id for id, share in zip(ids, collection.shares_under(leaf), strict=True) if share > 0.9)
    collection.shape([Rename(leaf, "Mine"), f"describe {leaf} 'All about it'", Pin((pin,), leaf)], refit=False)
    collection.learn(holdout=0)
    with collection.folder.writing() as generation:
        Marks(generation.database).tag([3, 4], "later")
        Marks(generation.database).mark_read([5])
    told = grown_anew(path, documents()[:N_DOCS])
    with Collection.open(path) as other:
        topic = other.topic("Mine")
        assert other.outline.notes[topic] == "All about it"
        assert other.outline.pins == {pin: topic}
        assert other.marks.rows_with("later") == [3, 4]
        assert other.marks.read() == [5]
        agree(other)
    assert "1 names and 1 notes" in told
    assert "2 tags carried over" in told
    assert "learn them again" in told


def test_what_is_doubtful_is_told_and_not_carried_over(collection, path):
    leaf = collection.outline.topics[collection.outline.tree.leaves[0]]
    grouped = Group(tuple(leaves(collection)), "Ours")
    collection.shape([Rename(leaf, "Mine"), Pin((collection.documents.ids()[0],), leaf), grouped], refit=False)
    with collection.folder.writing() as generation:
        Marks(generation.database).tag([3], "later")
    others = [Document(f"other/{n}", one.text, one.title) for n, one in enumerate(documents()[:60])]
    told = grown_anew(path, others, topics=3)
    assert "Not carried over, for no new topic is surely the same: Mine" in told
    assert "Headings not restored, because their topics have no match: Ours" in told
    assert "1 pins are not carried over" in told
    assert "1 of documents that are gone" in told
    with Collection.open(path) as other:
        assert not other.outline.titles
        assert not other.outline.pins


def test_nothing_is_said_of_a_collection_that_nobody_has_touched(collection, path):
    assert "arried" not in grown_anew(path, documents()[:60], topics=3)


@pytest.mark.parametrize("at", ["leaf", "inner"])
def test_a_pin_holds_before_the_tree_is_fitted(collection, at):
    topic = 1
    if at == "inner":
        collection.shape(["move 2 under 1"], refit=False)
    row = int(np.argmin(collection.shares_under(topic)))
    before = bits(collection)
    collection.shape([Pin((collection.documents.ids()[row],), topic)], refit=False)
    assert collection.shares_under(topic)[row] == pytest.approx(1.0)
    assert collection.outline.pending
    agree(collection)
    assert check_folder(collection.folder.path) == []
    collection.undo()
    assert bits(collection) == before


def test_a_pin_to_a_topic_that_is_new_waits_for_the_fit(collection):
    row_before = collection.shares[[0]].toarray()
    collection.shape([Branch(1, "New", collection.documents.ids()[:3])], refit=False)
    np.testing.assert_array_equal(collection.shares[[0]].toarray(), row_before)
    assert collection.outline.pending


def test_a_clock_that_is_set_back_changes_no_order(collection, path, monkeypatch):
    """What came after what is told by numbers: a time is only ever shown."""
    times = iter(f"{year}-01-01T00:00:00+00:00" for year in range(2050, 1950, -10))
    monkeypatch.setattr("topiarist.storage.edit_log.get_time", lambda: next(times))
    for name in ("First", "Second", "Third"):
        collection.shape([Rename(1, name)])
    collection.undo()
    assert collection.outline.name(1) == "Second"
    collection.undo()
    assert collection.outline.name(1) == "First"
    assert check_folder(path) == []
    with Collection.open(path) as again:
        assert again.outline.name(1) == "First"
        assert [one.time[:4] for one in edit_log.history(again.generation.database)][:2] == ["2010", "2020"]


@pytest.mark.parametrize("after", [0, 3, 40])
def test_a_disk_that_is_full_ends_a_grow_at_once_whenever_it_is_found_out(tmp_path, monkeypatch, after):
    def full(self, documents, **_):
        for number, _ in enumerate(documents):
            if number == after:
                raise OSError(errno.ENOSPC, "No space left on device")
        raise OSError(errno.ENOSPC, "No space left on device")  # at the commit

    def grow():
        with pytest.raises(OSError, match="No space left"):
            Collection.grow(texts, tmp_path / "full.topiary", Recipe(topics=2))
        ended.set()

    monkeypatch.setattr(Documents, "load", full)
    texts, ended = [Document(str(row), f"boat sail {row} mast") for row in range(40)], threading.Event()
    threading.Thread(target=grow, daemon=True).start()
    assert ended.wait(60)  # it was for ever


def test_a_list_of_strings_is_enough(tmp_path):
    texts = [f"boat sail {row} mast" if row % 2 else f"oven {row} bread flour" for row in range(40)]
    with Collection.grow(texts, tmp_path / "texts.topiary", Recipe(topics=2)) as grown:
        assert len(grown) == 40
        (filed,) = grown.file(["a boat with a sail and a mast"])
        assert "boat" in filed.words
        (added,) = grown.add(["flour and bread for the oven"])
        assert added.document.id == "41"


def test_typical_documents_are_told_by_their_titles(collection):
    titles = set(collection.documents.titles())
    told = {name for node in collection.description.nodes for name in node.prototypes}
    assert told
    assert told <= titles
