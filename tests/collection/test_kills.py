"""Killed at any moment, a collection holds the old state or the new one, and can be written again."""

import os
import random
import shutil
import signal
import time

import pytest

from tests.grown import new_documents
from tests.small import DOCUMENTS, grown
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.errors import UsageError
from topiarist.storage import edit_log
from topiarist.storage.collection_folder import Folder, begin_generation
from topiarist.storage.document_table import Documents
from topiarist.storage.fulltext import Index
from topiarist.storage.generation import new_part, open_part
from topiarist.text.documents import Document

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def edit(path, step=lambda: None):
    """One edit: a document, and a part that says how many edits there were."""
    with Folder.open(path).writing() as generation:
        number = edit_log.current(generation.database)[1]["number"] + 1
        with new_part(generation, "tree") as part:
            (part.folder / "number").write_text(str(number))
            (part.folder / "arrays").write_bytes(os.urandom(50_000))
        step()
        with generation.database.transaction():
            Documents(generation.database).append([Document(f"new-{number}", f"word{number} " * 500)])
            state = {"number": number, "parts": {"tree": part.name}}
            step()
            edit_log.record(generation.database, "edit", {}, state, parts=[part.part])
            step()
        step()


def whole(path):
    """That a collection is whole, and how many edits it has seen."""
    folder = Folder.open(path)
    database = folder.generation.database
    _, body = edit_log.current(database)
    number = body["number"]
    assert Documents(database).ids() == [
        *(document.id for document in DOCUMENTS),
        *(f"new-{n + 1}" for n in range(number)),
    ]
    if number:
        assert (open_part(folder.generation, body["parts"]["tree"]) / "number").read_text() == str(number)
        assert Index(database).rows(f"word{number}") == [3 + number]
    assert len(edit_log.history(database)) == number + 1
    folder.close()
    return number


def child(function):
    """Run something in a process of its own; its number."""
    process = os.fork()
    if process == 0:
        try:
            function()
        finally:
            os._exit(0)
    return process


def test_killed_at_random_moments(tmp_path):
    path = tmp_path / "x"
    grown(path).close()
    chance, done = random.Random(0), 0

    def work():
        while True:
            edit(path)

    for _ in range(15):
        process = child(work)
        time.sleep(chance.uniform(0.005, 0.3))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        now = whole(path)
        assert now >= done
        edit(path)
        done = whole(path)
        assert done == now + 1
    assert done > 15  # the killed have done something as well
    assert check_folder(path) == []


def dying(monkeypatch, function, step):
    """Run something in a process that kills itself at a step: a call that brings something to the disk, or a mark."""
    taken = 0

    def count():
        nonlocal taken
        taken += 1
        if taken > step:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(call):
        def counted(*arguments, **options):
            count()
            return call(*arguments, **options)

        return counted

    def work():
        for name in ("fsync", "rename", "replace", "mkdir", "unlink"):
            monkeypatch.setattr(os, name, before(getattr(os, name)))
        function(count)

    _, status = os.waitpid(child(work), 0)
    return os.WIFSIGNALED(status)


def test_killed_at_every_step_of_an_edit(tmp_path, monkeypatch):
    path = tmp_path / "x"
    grown(path).close()
    step, seen = 0, []
    while dying(monkeypatch, lambda mark: edit(path, mark), step):
        seen.append(whole(path))
        step += 1
    assert seen == sorted(seen)
    assert seen[0] == 0
    assert step >= 10
    assert check_folder(path) == []
    edit(path)
    assert len(list((Folder.open(path).generation.folder).glob("tree-*"))) == whole(path) + 1


def test_killed_at_every_step_of_a_grow(tmp_path, monkeypatch):
    """The old collection, or the new one; and what was unfinished can be taken up or thrown away."""
    base, path = tmp_path / "base", tmp_path / "x"
    grown(base).close()

    def grow(mark):
        grown(path, [Document("new", "text")], force=True)

    step, seen = 0, []
    while True:
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(base, path)
        killed = dying(monkeypatch, grow, step)
        ids = Documents(Folder.open(path).generation.database).ids()
        seen.append(len(ids))
        assert len(ids) in (1, 4)
        with Folder.open(path).writing():
            pass
        assert [finding.where for finding in check_folder(path)] in ([], ["growing"])
        if not killed:
            break
        step += 1
    assert seen == sorted(seen, reverse=True)
    assert (seen[0], seen[-1]) == (4, 1)
    assert step >= 10


def test_killed_at_every_step_of_the_first_grow(tmp_path, monkeypatch):
    """Whatever is there afterwards opens, resumes, or says what it is."""
    step, path = 0, tmp_path / "x"
    while dying(monkeypatch, lambda mark: grown(path), step):
        if not (path / "manifest.json").exists():
            with pytest.raises(UsageError, match=r"there is no collection|there is an unfinished grow"):
                Folder.open(path)
            with begin_generation(path, resume=True) as growing:
                documents = Documents(growing.generation.database)
                if not len(documents):
                    documents.load(DOCUMENTS)
                if edit_log.current(growing.generation.database) is None:
                    edit_log.record(growing.generation.database, "grow", {}, {"number": 0, "parts": {}})
                growing.publish()
        assert whole(path) == 0
        assert not [finding for finding in check_folder(path) if finding.severity != "note"]
        shutil.rmtree(path)
        step += 1
    assert step >= 10


WRITERS = {
    "edit": lambda collection: collection.shape(["rename 1 Waves", "merge 2 3 as Both"], refit=False),
    "fit": lambda collection: collection.shape(["merge 2 3 as Both"]),
    "add": lambda collection: collection.add(new_documents(3), learn=False),
    "add and learn": lambda collection: collection.add(new_documents(3)),
    "learn": lambda collection: collection.learn(holdout=0, several=False),
    "undo": lambda collection: collection.undo(),
    "remove": lambda collection: collection.remove(collection.documents.ids()[:3]),
    "undo of an addition": lambda collection: collection.undo(),
    "undo of a removal": lambda collection: collection.undo(),
    "forget": lambda collection: collection.remove(collection.documents.ids()[:3], forget=True),
}
STEPS = (
    0,
    2,
    5,
    9,
    14,
    20,
    30,
    90,
    170,
)  # calls that bring something to the disk, before the one at which it is killed


def seen(path):
    """What a collection is: its state, its documents, and what can be read of both."""
    with Collection.open(path) as collection:
        assert len(collection.documents) == collection.counts.shape[0] == collection.shares.shape[0] == len(collection)
        assert len(collection.index) == len(collection)
        assert collection.tree.n_docs == len(collection)
        _ = collection.categories, collection.model
        return collection.number, len(collection), collection.settings["n_tokens"]


@pytest.mark.parametrize("writer", WRITERS)
def test_whoever_writes_is_killed(path, tmp_path, monkeypatch, writer):
    """Through the same calls that people use: the old state or the new one, and a folder that can be written."""
    if writer == "undo":
        with Collection.open(path) as collection:
            collection.shape(["rename 1 Waves"])
    if writer == "undo of an addition":
        with Collection.open(path) as collection:
            collection.add(new_documents(3))
    if writer == "undo of a removal":
        with Collection.open(path) as collection:
            collection.remove(collection.documents.ids()[:3])
    old, copied, found = seen(path), tmp_path / "copy.topiary", set()

    def work(mark):
        with Collection.open(copied) as collection:
            WRITERS[writer](collection)

    for step in STEPS:
        shutil.rmtree(copied, ignore_errors=True)
        shutil.copytree(path, copied)
        killed = dying(monkeypatch, work, step)
        assert killed or step
        now = seen(copied)
        found.add(now)
        if not killed:
            assert now != old
            break
    assert len(found | {old}) <= 2
    with Collection.open(copied) as collection:
        collection.shape(["rename 1 After"])
        assert collection.outline.name(1) == "After"
    assert not [finding for finding in check_folder(copied) if finding.severity != "note"]
