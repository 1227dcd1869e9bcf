"""Notes on passages: written by a form, marked in the text, undone, exported, carried over, gone with the document."""

import csv
import io
import re
import shutil

import pytest
from starlette.testclient import TestClient

from topiarist.collection.collection import Collection
from topiarist.collection.remove.erasure import forget_documents
from topiarist.collection.remove.removal import remove_documents
from topiarist.collection.shape.history import undo_last_step
from topiarist.errors import UsageError
from topiarist.storage.marks import MAX_PASSAGE_LENGTH, PassageNotes, find_passage
from topiarist.web import addresses
from topiarist.web.http.server import explorer


@pytest.fixture
def noted(copied):
    """A copy of the collection to write in."""
    return copied


def client_of(path):
    return TestClient(explorer(path), base_url="http://127.0.0.1")


def ids(path):
    with Collection.open(path) as collection:
        return [collection.documents.get(row).id for row in range(3)]


def post(client, id, **values):
    page = client.get(addresses.document(id)).text
    found = {name: re.search(f'name="{name}" (?:value|content)="([^"]*)"', page)[1] for name in ("token", "state")}
    headers = {"Origin": "http://127.0.0.1"}
    return client.post("/note", headers=headers, data=found | {"document": id, "back": addresses.document(id)} | values)


def shown(client, id):
    return client.get(addresses.as_json(addresses.document(id))).json()


def passage(page, words=4):
    return " ".join("".join(one["text"] for one in page["pieces"]).split()[3 : 3 + words])


def test_a_note_is_written_without_a_script_marked_in_the_text_and_listed(noted):
    client, (id, *_) = client_of(noted), ids(noted)
    text = "".join(one["text"] for one in shown(client, id)["pieces"])
    quote = passage(shown(client, id))
    assert post(client, id, quote=quote.replace(" ", "\n "), note=" <b>odd</b> & new ").status_code == 200
    page = shown(client, id)
    assert [(one["quote"], one["note"]) for one in page["notes"]] == [(quote, "<b>odd</b> & new")]
    assert "".join(one["text"] for one in page["pieces"]) == text
    marked = [one for one in page["pieces"] if one["note"]]
    assert "".join(one["text"] for one in marked) == quote
    html = client.get(addresses.document(id)).text
    assert html.count('id="passage-1"') == 1
    assert "&lt;b&gt;odd&lt;/b&gt; &amp; new" in html
    every = client.get("/notes.json").json()
    assert every["sentence"] == "1 note on passages of 1 document."
    assert every["notes"][0]["document"]["address"].endswith("#passage-1")
    assert "Notes on passages" in client.get("/help").text


def test_every_change_of_a_note_is_undone_in_turn_unless_somebody_was_faster(noted):
    client, (id, *_) = client_of(noted), ids(noted)
    quote = passage(shown(client, id))
    post(client, id, quote=quote, note="first")
    one = shown(client, id)["notes"][0]
    changed = {"does": "change", "passage": one["passage"], "number": one["number"]}
    assert post(client, id, **changed, note="second").status_code == 200
    assert post(client, id, **changed, note="late").status_code == 422
    one = shown(client, id)["notes"][0]
    assert one["note"] == "second"
    post(client, id, does="change", passage=one["passage"], number=one["number"])  # an empty one takes it away
    said = []
    for _ in range(3):
        page = shown(client, id)
        assert post(client, id, does="undo", number=page["last_note"]).status_code == 200
        said.append([one["note"] for one in shown(client, id)["notes"]])
    assert said == [["second"], ["first"], []]
    assert shown(client, id)["last_note"] == 0
    assert post(client, id, does="undo", number=0).status_code == 422
    assert post(client, id, quote="words that nobody wrote here", note="x").status_code == 422


def test_notes_go_out_with_the_reading_list_and_come_along_to_a_new_tree(noted, folder, tmp_path):
    client, (id, *_) = client_of(noted), ids(noted)
    quote = passage(shown(client, id))
    post(client, id, quote=quote, note="look again")
    fresh = shutil.copytree(folder, tmp_path / "fresh.topiary")
    rows = list(csv.DictReader(io.StringIO(client.get("/export.csv?topic=0").text.lstrip("\ufeff"))))
    assert {row["id"]: row["passage_notes"] for row in rows if row["passage_notes"]} == {id: f"“{quote}”: look again"}
    with Collection.open(noted) as collection:
        frame = collection.tables.documents.to_pandas().set_index("id")
        assert list(frame.loc[id, "passage_notes"]) == [f"“{quote}”: look again"]
        with Collection.open(fresh) as new, new.folder.writing() as generation:
            assert PassageNotes(generation.database).carry_over(collection.generation.database) == (1, 1)
            assert [str(one) for one in PassageNotes(generation.database).all()] == [f"“{quote}”: look again"]


def test_notes_that_come_along_keep_their_times_and_the_table_is_looked_through_once(noted, folder, tmp_path):
    fresh, long = shutil.copytree(folder, tmp_path / "fresh.topiary"), "x" * (MAX_PASSAGE_LENGTH + 1)
    with Collection.open(noted) as collection, collection.folder.writing() as generation:
        notes, text = PassageNotes(generation.database), collection.documents.get(0).text
        for start in range(20):
            notes.write(0, start, text[start : start + 30], f"number {start}")
        generation.database.run("UPDATE passage_notes SET time = '2020-01-02T03:04:05+00:00'")
        with pytest.raises(UsageError, match="at most 5,000 characters, got 5,001"):
            notes.write(0, 0, long, "of a wide passage")
        assert find_passage(long, long) == (0, long)
        with Collection.open(fresh) as new, new.folder.writing() as other:
            asked = []
            other.database.connection.set_trace_callback(asked.append)
            assert PassageNotes(other.database).carry_over(generation.database) == (20, 20)
            other.database.connection.set_trace_callback(None)
            assert sum("FROM passage_notes" in one for one in asked) == 1
            carried = PassageNotes(other.database).all()
            assert {one.time[:10] for one in carried} == {"2020-01-02"}
            assert [one.note for one in carried] == [f"number {start}" for start in range(20)]


@pytest.mark.parametrize("does", ["change", "undo"])
def test_a_change_that_comes_between_looking_and_writing_is_not_written_over(noted, does, monkeypatch):
    with Collection.open(noted) as collection, collection.folder.writing() as generation:
        notes = PassageNotes(generation.database)
        one = notes.write(0, 0, "x", "first")
        begin = generation.database.transaction

        def later():
            monkeypatch.undo()
            notes.change(0, one.passage, "somebody else's", expected=one.number)
            return begin()

        monkeypatch.setattr(generation.database, "transaction", later)
        late = {
            "change": lambda: notes.change(0, one.passage, "mine", expected=one.number),
            "undo": lambda: notes.undo(0, expected=one.number),
        }[does]
        with pytest.raises(UsageError, match=r"was changed|no such change"):
            late()
        assert [one.note for one in notes.all()] == ["somebody else's"]


def test_removed_documents_bring_their_notes_back_and_forgotten_ones_leave_none(noted):
    client, (gone, other, _) = client_of(noted), ids(noted)
    for id in (gone, other):
        post(client, id, quote=passage(shown(client, id)), note=f"note on {id[-7:-4]}, peculiar")
    with Collection.open(noted) as collection:
        remove_documents(collection, [gone])
        assert [one.row for one in collection.passage_notes.all()] == [0]
        with collection.folder.writing() as generation:
            notes = PassageNotes(generation.database)
            notes.undo(0, expected=notes.last(0))
            notes.write(0, 0, "x", "written meanwhile")
        undo_last_step(collection)
        held = {one.row: one.note for one in collection.passage_notes.all()}
        assert held == {0: f"note on {gone[-7:-4]}, peculiar", 1: "written meanwhile"}
        told = forget_documents(collection, [gone])
        assert not told.traces.left
        assert [one.note for one in collection.passage_notes.all()] == ["written meanwhile"]


def test_notes_on_other_documents_that_quote_a_forgotten_one_tell_nothing_more(noted):
    with Collection.open(noted) as collection:
        gone, quoted = collection.documents.get(0).id, collection.documents.get(0).text[:60]
        own = collection.documents.get(1).text[:40]
        with collection.folder.writing() as generation:
            notes = PassageNotes(generation.database)
            notes.write(1, 0, own, f"as in: {quoted}")
            notes.write(2, 0, "x", "of its own")
            one = notes.write(2, 1, "y", f"this came from there: {quoted}")
            notes.change(2, one.passage, "quite another thing", expected=one.number)
        told = forget_documents(collection, [gone])
        said = "2 entries of the notes on passages of other documents mentioned the documents and were cleared"
        assert said in told.notes
        assert not told.traces.left
        assert [one.note for one in collection.passage_notes.all()] == ["of its own", "quite another thing"]


def test_notes_within_and_upon_another_have_a_place_each(noted):
    with Collection.open(noted) as collection, collection.folder.writing() as generation:
        document, notes = collection.documents.get(0), PassageNotes(generation.database)
        for start, end in ((0, 60), (20, 30), (0, 60), (40, 60)):
            notes.write(0, start, document.text[start:end], "x")
    html = client_of(noted).get(addresses.document(document.id)).text
    assert sorted(re.findall(r'id="(passage-\d)"', html)) == ["passage-1", "passage-2", "passage-3", "passage-4"]


def test_the_place_of_a_passage_is_the_one_that_was_meant():
    text = "a bail  hearing\nand a bail hearing too"
    assert find_passage(text, "bail hearing") == (2, "bail  hearing")
    assert find_passage(text, "bail hearing", before="and a ") == (22, "bail hearing")
    assert find_passage(text, "bail\thearing", position=30) == (22, "bail hearing")
    assert find_passage(text, "bail.hearing") is None
    assert find_passage(text, "  ") is None


def test_of_passages_that_repeat_the_one_is_noted_that_was_selected(page, changing):
    view = changing.app.state.session.view()
    text = view.collection.documents.get(0).text
    word = next(word for word in text.lower().split() if text.lower().count(f" {word} ") > 1)
    page.goto(changing.address + addresses.document(view.collection.documents.get(0).id))
    page.wait_for_selector('#text .body [tabindex="0"]')
    places = [one.start() for one in re.finditer(rf"(?<= ){re.escape(word)}(?= )", text)]
    at = page.evaluate(
        """([word, place]) => {
        const walk = document.createTreeWalker(document.querySelector("#text .body"), NodeFilter.SHOW_TEXT);
        for (let here = 0, node; (node = walk.nextNode()); here += node.length) {
            if (place < here || place + word.length > here + node.length) continue;
            const range = document.createRange();
            range.setStart(node, place - here);
            range.setEnd(node, place - here + word.length);
            document.getSelection().addRange(range);
            return here + (place - here);
        }
    }""",
        [word, places[-1]],
    )
    assert at == places[-1]
    page.click(".note-here")
    assert page.input_value(".noting [name=near]") == str(places[-1])
    page.evaluate("document.querySelector('.noting [name=before]').value = ''")  # where what is before repeats as well
    page.fill(".noting [name=note]", "this one")
    page.click(".noting form button")
    page.wait_for_selector(".notes .said")
    view = changing.app.state.session.view()
    (note,) = view.collection.passage_notes.of([0])[0]
    assert (note.start, note.quote) == (places[-1], word)
    assert page.problems == []


def test_what_is_selected_in_the_text_is_in_the_form_already(page, served):
    page.goto(served.address + addresses.document("wire/law/bail/000.txt"))
    page.wait_for_selector('#text .body [tabindex="0"]')
    assert not page.is_visible(".note-here")
    page.evaluate("""() => {
        const body = document.querySelector("#text .body");
        const range = document.createRange();
        range.setStart(body.firstChild.firstChild ?? body.firstChild, 0);
        range.setEnd(body.lastChild.firstChild ?? body.lastChild, 1);
        document.getSelection().addRange(range);
    }""")
    page.click(".note-here")
    assert len(page.input_value(".noting [name=quote]")) > 100
    assert page.evaluate("document.activeElement.name") == "note"
    page.keyboard.press("Escape")  # leaves the field
    page.keyboard.press("Escape")  # closes the form
    assert not page.is_visible(".noting form")
    assert not page.problems
