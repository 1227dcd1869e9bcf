"""Long documents are cut where a reader would: at pages, at headings, at the ends of sentences."""

import random

import pytest

from topiarist.counts.corpus import text_of
from topiarist.text.documents import Document
from topiarist.text.passages import LONG, WORDS, Cutter, is_passage, n_words, part_of, passages, whole_title


def sentences(number, words=12, seed=0):
    chance = random.Random(seed)
    one = ["alpha", "beta", "gamma", "delta"]
    return " ".join(f"{' '.join(chance.choice(one) for _ in range(words)).capitalize()}." for _ in range(number))


def cut(text, id="minutes.txt", title="Minutes"):
    return passages(Document(id, text, title, ("law",), id, "2020-01-02"))


def test_a_short_document_stays_whole():
    document = Document("a.txt", sentences(LONG // 12), "A")
    assert passages(document) == [document]


def test_a_long_text_is_cut_at_the_ends_of_sentences():
    text = sentences(100)
    found = cut(text)
    assert [one.id for one in found] == [f"minutes.txt#passage={number}" for number in range(1, 5)]
    assert [one.title for one in found][1] == "Minutes, passage 2"
    assert all(one.text.endswith(".") and one.text[0].isupper() for one in found)
    assert all(abs(n_words(one.text) - WORDS) <= 24 for one in found)
    assert " ".join(one.text for one in found) == text
    assert {(one.labels, one.source, one.date) for one in found} == {(("law",), "minutes.txt", "2020-01-02")}


def test_pages_keep_their_numbers_and_hardly_a_word_goes_with_the_next():
    pages = ["Cover", sentences(20), "", sentences(20, seed=1), sentences(200), sentences(20), "End."]
    found = cut("\n\f".join(pages), "report.pdf", "Report")
    assert [one.id.partition("#")[2] for one in found] == [
        "page=1-2", "page=4", *(f"page=5.{number}" for number in range(1, 9)), "page=6-7",
    ]  # fmt: skip
    assert [one.title for one in found][:3] == ["Report, pages 1–2", "Report, page 4", "Report, page 5, passage 1"]
    assert all("\f" not in one.text for one in found)


def test_sections_of_books_and_of_texts_with_headings():
    book = cut("\n\f".join([sentences(30), sentences(50)]), "novel.epub", "Novel")
    assert [one.title for one in book] == [
        "Novel, section 1",
        "Novel, section 2, passage 1",
        "Novel, section 2, passage 2",
    ]
    notes = cut(f"Before.\n\n# One\n{sentences(30)}\n\n## Two\n{sentences(25)}", "notes.md")
    assert [one.id for one in notes] == ["notes.md#section=1-2", "notes.md#section=3"]
    plain = cut(f"CHAPTER I\n\n{sentences(30)}\n\nChapter II. The end\n\n{sentences(25)}", "book.txt")
    assert [one.text.split("\n")[0] for one in plain] == ["CHAPTER I", "Chapter II. The end"]
    prose = cut(f"{sentences(40)} He came to chapter 3\n and stayed. {sentences(40)}", "prose.txt")
    assert {part_of(one.id).kind for one in prose} == {"passage"}


@pytest.mark.parametrize("text", ["天" * 3_000, "word " * 3_000, "one word\n" * 1_500, "a" * 90_000 + " b" * 600])
def test_texts_without_sentences_are_cut_as_well_and_nothing_is_lost(text):
    found = cut(text, "strange")
    assert len(found) > 1
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.split())
    assert max(n_words(one.text) for one in found) <= LONG


def test_an_id_says_which_part_of_which_document_it_is():
    for id, label in (
        ("a.pdf#page=12", "page 12"), ("a.pdf#page=1-2", "pages 1–2"), ("b#section=3.2", "section 3, passage 2"),
    ):  # fmt: skip
        part = part_of(id)
        assert (part.id, part.label) == (id, label)
        assert is_passage(Document(id, "text", f"Title, {label}"))
        assert not is_passage(Document(id, "text", "Title"))
        assert whole_title(f"Title, {label}", part) == "Title"
    for id in ("a.pdf", "note.eml#report.pdf", "#page=3", "a.pdf#page=x", "a.pdf#page=3 "):
        assert part_of(id) is None


def test_the_title_of_the_whole_is_counted_once():
    counted = [text_of(one) for one in cut(sentences(100))]
    assert counted[0].startswith("Minutes\nAlpha") or counted[0].startswith("Minutes\n")
    assert not any("Minutes" in text or "passage" in text for text in counted[1:])


def test_a_cutter_tells_how_many_and_cuts_nothing_twice():
    cutter = Cutter()
    once = list(cutter.cut([Document("s", "short", "S"), Document("l", sentences(100), "L")]))
    assert cutter.facts == {"documents": 2, "long": 1, "passages": 4}
    again = Cutter()
    assert list(again.cut(once)) == once
    assert again.facts == cutter.facts
