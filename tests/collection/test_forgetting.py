"""Documents that are forgotten have left no trace, and the model is the one of the others."""

import shutil
import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from tests.collection.test_collection import agree
from tests.grown import N_DOCS, new_documents
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.describe.account import write_problem_list
from topiarist.collection.remove.erasure import Mentions, forget_documents
from topiarist.collection.remove.traces import LETTERS, Sequences, scan_folder
from topiarist.collection.search.saved_searches import SavedSearch, list_saved_searches, save_search
from topiarist.collection.shape.edits import Describe, Pin, Rename
from topiarist.errors import UsageError
from topiarist.storage import edit_log, facts
from topiarist.storage.marks import Marks, PassageNotes
from topiarist.text.documents import Problem

SECRET = "The Zürich affair of Quellenschutzbeauftragter Öztürk concerns grumbolated xylophantic instruments; " * 3


@pytest.fixture
def secret(collection):
    """A collection with documents that must go: in texts, tags, edits, earlier states and old generations."""
    new = [
        replace(one, id=f"secret/informant-{number}.eml", title="The informant Öztürk writes", text=SECRET + one.text)
        for number, one in enumerate(new_documents(2))
    ]
    collection.add(new)
    with collection.folder.writing() as generation:
        Marks(generation.database).tag([N_DOCS], "sources")
    topic = collection.outline.topics[1]
    collection.shape([Rename(topic, "Mine"), Pin((new[0].id,), topic)], refit=True)
    collection.remove([new[1].id, collection.documents.ids()[0]])  # its old generation has both of them
    return collection


def raw(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_nothing_of_a_forgotten_document_is_in_any_byte_of_the_folder(secret):
    path, topic = secret.folder.path, secret.outline.topics[1]
    (path / "growing").mkdir()
    (path / "growing" / "left").write_text(SECRET)
    with secret.folder.writing() as generation:
        problems = [Problem("other.txt", "empty"), Problem("secret/informant-0.eml", "no text in it")]
        facts.add_problems(generation.database, problems)
    write_problem_list(secret)
    assert "informant-0" in (path / "problems.csv").read_text()
    found = forget_documents(secret, ["secret/informant-0.eml"])
    assert not found.traces.left
    told = " ".join(found.notes)
    assert "no sequence of 20 letters from the documents remains" in told
    assert "checkpoint of an unfinished grow was deleted" in told
    small = " ".join(unicodedata.normalize("NFKC", SECRET).lower().split())
    for text in (SECRET, small, unicodedata.normalize("NFD", SECRET)):
        for data in raw(path).values():
            for start in range(0, len(text) // 3, 7):
                here = text[start : start + LETTERS].encode()
                assert here not in data
                assert here not in data.lower()
    for word in ("xylophantic", "grumbolated", "informant-0", "informant-1"):
        assert not any(word.encode() in data for data in raw(path).values())
    agree(secret)
    assert len(secret) == N_DOCS - 1
    assert secret.outline.name(topic) == "Mine"
    assert not secret.outline.pins
    assert secret.marks.tags() == {}
    assert len(list(path.glob("g-*"))) == 1
    assert (path / "problems.csv").read_text().split()[:2] == ["source,reason", "other.txt,empty"]
    assert check_folder(path) == []
    with pytest.raises(UsageError, match=r"forgotten for good.*erasure is permanent"):
        secret.undo()
    secret.add(new_documents(3))
    agree(secret)


NOTE = "Handed over by the gardener of the embassy"


def test_dates_columns_and_problems_of_a_forgotten_document_are_gone_and_those_of_others_stay(collection):
    path, new = collection.folder.path, new_documents(3)
    dates = ("on the eve of Candlemas", "on the eve of Lammas", "soon")
    rows = [
        replace(one, id=f"{number}", title=f"{number}", source="rows.csv", date=dates[number - 7], columns=columns)
        for number, one, columns in zip((7, 8, 9), new, ((("note", NOTE),), (("note", "short"),), ()), strict=True)
    ]
    collection.add(rows)
    with collection.folder.writing() as generation:
        Marks(generation.database).tag([N_DOCS], "x")
    topic = collection.outline.topics[1]
    collection.shape([Rename(topic, "7 sisters"), Pin(("8",), topic)], refit=False)
    for name, query in (("weeks", "7 weeks"), ("seven", "7"), ("alike", "bond like:7"), ("notes", new[0].text[:40])):
        save_search(collection, SavedSearch(name, query))
    write_problem_list(collection)
    assert "Candlemas" in (path / "problems.csv").read_text()
    found = forget_documents(collection, ["7"])
    assert not found.traces.left
    data = b"".join(raw(path).values())
    assert b"Candlemas" not in data
    assert b"gardener of the embassy" not in data
    assert b"Lammas" in data  # of a row of the same table that stays
    assert collection.dates.account.examples == ("on the eve of Lammas", "soon")
    assert collection.dates.account.unread == 2
    assert [one.name for one in list_saved_searches(collection)] == ["weeks"]
    assert "3 saved searches mentioned the documents and were deleted" in found.notes
    log = [one.kind for one in edit_log.history(collection.generation.database)]
    assert "an edit of documents that were forgotten" not in log
    assert collection.outline.pins == {"8": topic}
    (path / "left").write_text(f"… {NOTE} …")
    assert scan_folder(path, [NOTE], []).left
    forget_documents(collection, ["8"])
    log = [one.kind for one in edit_log.history(collection.generation.database)]
    assert log.count("an edit of documents that were forgotten") == 1


def test_the_model_is_that_of_a_fit_without_the_documents(path, tmp_path, collection):
    shutil.copytree(path, tmp_path / "other.topiary")
    rarest = np.argsort(collection.counting.vocabulary.document_frequency)[:3]
    rows = np.flatnonzero(collection.all_counts[:, rarest].sum(axis=1))
    gone = [collection.documents.ids()[row] for row in rows]
    collection.remove(gone, forget=True)
    with Collection.open(tmp_path / "other.topiary") as other:
        other.remove(gone)
        other.shape([], refit=True)
        columns = [other.counting.vocabulary.column(word) for word in collection.counting.vocabulary]
        assert len(columns) < len(other.counting.vocabulary)
        here, there = collection.tree_model, other.tree_model
        assert np.abs(here.word_given_node - there.word_given_node[:, columns]).max() < 1e-9
        assert np.abs(here.class_prior - there.class_prior).max() < 1e-9
        assert np.abs(here.node_given_class - there.node_given_class).max() < 1e-9
        assert (collection.all_counts != other.all_counts[:, columns]).nnz == 0
        frequency = np.bincount(collection.all_counts.indices, minlength=len(columns))
        assert np.array_equal(collection.counting.vocabulary.document_frequency, frequency)


def test_traces_are_found_however_they_are_written(tmp_path):
    text = "Überraschend wenige Leute wussten vom Geheimtreffen in Köln am Rhein."
    writings = [
        text.encode(), text.lower().encode(), text.casefold().encode(), unicodedata.normalize("NFD", text).encode(),
        b"\x00\xff" * 5 + text[10:30].encode() + b"\x00", repr(text.encode("ascii", "backslashreplace")).encode(),
    ]  # fmt: skip
    for number, data in enumerate(writings[:5]):
        (tmp_path / "file").write_bytes(b"x" * (1 << 22) + data if number == 0 else data)
        assert scan_folder(tmp_path, [text], []).left, number
    (tmp_path / "file").write_bytes(text[:19].encode() + b"|" + text[30:49].encode())
    assert not scan_folder(tmp_path, [text], []).left
    (tmp_path / "file").write_bytes(text.encode())
    found = scan_folder(tmp_path, [text], ["Wer wusste schon? " + text])
    assert not found.left
    assert found.shared > 0
    assert not Sequences(["-" * 60]).find_in_bytes(b"-" * 100)


def test_names_are_meant_however_they_are_written():
    named = Mentions(["John Smith", "7", "report.pdf"], Sequences([]))
    assert named.in_text("search for john smith again")
    assert named.in_text("REPORT.PDF")
    assert not named.in_text("page 17, or 7 of them")


def bytes_of(path):
    return b"".join(raw(path).values()).lower()


def test_removed_document_is_forgotten_with_its_title(secret):
    path, gone = secret.folder.path, secret.documents.ids()[3]
    before = {entry.kind for entry in edit_log.history(secret.generation.database)}
    assert "remove" in before
    forgotten = forget_documents(secret, ["secret/informant-1.eml"])
    assert (len(forgotten.removal), forgotten.earlier.ids) == (0, ("secret/informant-1.eml",))
    assert forgotten.to_dict()["forgotten"] == 1
    assert not forgotten.traces.left
    assert "remove" not in {entry.kind for entry in edit_log.history(secret.generation.database)}
    assert b"informant-1" not in bytes_of(path)
    assert len(secret) == N_DOCS  # one of the two secrets stays
    agree(secret)
    assert check_folder(path) == []
    assert gone in secret.documents
    with pytest.raises(UsageError, match="there is no document 'never/was'"):
        forget_documents(secret, ["never/was"])
    with pytest.raises(UsageError, match="there is no document 'never/was'"):
        secret.remove(["secret/informant-1.eml", "never/was"], forget=True)


def test_present_and_removed_documents_are_forgotten_together(secret):
    path = secret.folder.path
    forgotten = forget_documents(secret, ["secret/informant-0.eml", "secret/informant-1.eml"])
    assert (len(forgotten.removal), len(forgotten.earlier.ids), len(secret)) == (1, 1, N_DOCS - 1)
    data = bytes_of(path)
    for text in ("öztürk", "xylophantic", "informant"):
        assert text.encode() not in data
    (last,) = edit_log.history(secret.generation.database, limit=1)
    assert last.body["said"] == "1 document and 1 removed document"
    agree(secret)


def test_title_leaves_the_log_when_no_generation_has_the_text(collection):
    path, ids = collection.folder.path, collection.documents.ids()
    new = [replace(one, id=f"new/{number}", title=f"Quorl {number}") for number, one in enumerate(new_documents(2))]
    collection.add(new)
    collection.remove(["new/0"])
    forget_documents(collection, [ids[5]])
    assert b"quorl 0" in bytes_of(path)  # in the log, by its removal
    forgotten = forget_documents(collection, ["new/0"])
    assert forgotten.earlier.n_unread == 1
    assert "No text of 1 removed document was left" in " ".join(forgotten.notes)
    assert b"quorl 0" not in bytes_of(path)
    assert "new/1" in collection.documents


def test_earlier_text_of_a_document_that_was_added_again_is_forgotten(collection):
    one = replace(new_documents(1)[0], id="again", title="Quorl", text=SECRET)
    collection.add([one])
    collection.remove(["again"])
    collection.add([replace(one, title="Another title", text=new_documents(2)[1].text)])
    forget_documents(collection, ["again"])
    data = bytes_of(collection.folder.path)
    assert b"quorl" not in data
    assert b"xylophantic" not in data


def test_places_of_words_that_only_forgotten_documents_had_are_listed(secret):
    topic = secret.outline.topics[1]
    secret.shape([Rename(topic, "Xylophantic matters"), Describe(topic, "see Öztürk")], refit=False)
    save_search(secret, SavedSearch("tools", "grumbolated"))
    with secret.folder.writing() as generation:
        Marks(generation.database).tag([3, 4], "xylophantic")
        PassageNotes(generation.database).write(5, 0, secret.documents.get(5).text[:10], "like xylophantic ones")
    secret.refresh()
    ids = secret.documents.ids()
    forgotten = forget_documents(secret, ["secret/informant-0.eml", "secret/informant-1.eml"])
    log = [one for one in forgotten.places if one.endswith("of the log")]
    assert len(log) == 1
    assert [one for one in forgotten.places if one not in log] == [
        f"the name of topic {topic}", f"the note on topic {topic}", f"a note on a passage of {ids[5]}",
        f"a tag of 2 documents, first {ids[3]}", "saved search 1 in the order of names",
    ]  # fmt: skip
    assert forgotten.to_dict()["places"] == list(forgotten.places)
    told = " ".join(forgotten.notes)
    assert f"Words that only these documents had remain in the name of topic {topic}, " in told
    assert "xylophantic" not in told.lower()
