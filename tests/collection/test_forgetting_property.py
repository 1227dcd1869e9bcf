"""Removals, additions and undo in any order: after a document is forgotten, no byte of it is in any file."""

import shutil
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.grown import documents, new_documents
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.errors import InputError, UsageError

N_DOCS = 60
SECRET = "secret/letter.eml"
TITLE, WORD = "Quorl", "xylophantic"
STEPS = ("add", "remove", "undo", "forget", "add other", "remove other", "forget other")


@pytest.fixture(scope="module")
def small_once(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "c.topiary"
    Collection.grow(documents()[:N_DOCS], path, Recipe(topics=2, headings=False)).close()
    return path


def take_step(collection, step, number):
    """Take one step; one that cannot be taken now is an error in words, and changes nothing."""
    others = [id for id in collection.documents.ids() if id != SECRET]
    one = new_documents(number + 1)[number]
    match step:
        case "add":
            text = f"{one.text} {number} {WORD} instruments of the embassy {number}"
            collection.add([replace(one, id=SECRET, title=TITLE, text=text)], learn=number % 2 == 0)
        case "remove":
            collection.remove([SECRET])
        case "undo":
            collection.undo()
        case "forget":
            collection.remove([SECRET], forget=True)
        case "add other":
            collection.add([replace(one, id=f"other/{number}")], learn=False)
        case "remove other":
            collection.remove([others[number]])
        case "forget other":
            collection.remove([others[number]], forget=True)


@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=6))
@settings(
    max_examples=12, derandomize=True, database=None, phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
def test_no_byte_of_a_forgotten_document_is_left(small_once, tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("steps") / "c.topiary"
    shutil.copytree(small_once, path)
    with Collection.open(path) as collection:
        for number, step in enumerate(("add", *steps)):
            try:
                take_step(collection, step, number)
            except (InputError, UsageError):
                continue
        try:
            collection.remove([SECRET], forget=True)
        except UsageError:  # its addition was undone, or it is forgotten: nothing of it may be left either
            assert SECRET not in collection.documents
        with collection.folder.writing():
            pass  # the next writer removes what no generation needs
    data = {file: file.read_bytes().lower() for file in path.rglob("*") if file.is_file()}
    for text in (TITLE, WORD, SECRET, "instruments of the embassy"):
        assert [file for file, body in data.items() if text.lower().encode() in body] == []
    assert [one for one in check_folder(path) if one.severity != "note"] == []
    shutil.rmtree(path.parent)
