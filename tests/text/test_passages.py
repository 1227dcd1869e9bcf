"""Tests of splitting long documents into passages."""

import random

import pytest

from topiarist.counts.corpus import build_counted_text
from topiarist.text.documents import Document
from topiarist.text.passages import (
    MIN_SPLIT_WORDS,
    PASSAGE_WORDS,
    PassageSplitter,
    count_words,
    get_parent_title,
    is_passage,
    parse_part,
    split_passages,
)


def sentences(number, words=12, seed=0):
    chance = random.Random(seed)
    one = ["alpha", "beta", "gamma", "delta"]
    return " ".join(f"{' '.join(chance.choice(one) for _ in range(words)).capitalize()}." for _ in range(number))


def cut(text, id="minutes.txt", title="Minutes"):
    return split_passages(Document(id, text, title, ("law",), id, "2020-01-02"))


def test_split_passages_keeps_short_documents():
    document = Document("a.txt", sentences(MIN_SPLIT_WORDS // 12), "A")
    assert split_passages(document) == [document]


def test_split_passages_cuts_at_sentence_ends():
    text = sentences(100)
    found = cut(text)
    assert [one.id for one in found] == [f"minutes.txt#passage={number}" for number in range(1, 5)]
    assert [one.title for one in found][1] == "Minutes, passage 2"
    assert all(one.text.endswith(".") and one.text[0].isupper() for one in found)
    assert all(abs(count_words(one.text) - PASSAGE_WORDS) <= 24 for one in found)
    assert " ".join(one.text for one in found) == text
    assert {(one.labels, one.source, one.date) for one in found} == {(("law",), "minutes.txt", "2020-01-02")}


def test_split_passages_joins_short_pages():
    pages = ["Cover", sentences(20), "", sentences(20, seed=1), sentences(200), sentences(20), "End."]
    found = cut("\n\f".join(pages), "report.pdf", "Report")
    assert [one.id.partition("#")[2] for one in found] == [
        "page=1-2", "page=4", *(f"page=5.{number}" for number in range(1, 9)), "page=6-7",
    ]  # fmt: skip
    assert [one.title for one in found][:3] == ["Report, pages 1–2", "Report, page 4", "Report, page 5, passage 1"]
    assert all("\f" not in one.text for one in found)


def test_split_passages_by_sections():
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
    assert {parse_part(one.id).kind for one in prose} == {"passage"}


@pytest.mark.parametrize("text", ["天" * 3_000, "word " * 3_000, "one word\n" * 1_500, "a" * 90_000 + " b" * 600])
def test_split_passages_without_sentences_keeps_all_text(text):
    found = cut(text, "strange")
    assert len(found) > 1
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.split())
    assert max(count_words(one.text) for one in found) <= MIN_SPLIT_WORDS


def test_parse_part_of_ids():
    for id, label in (
        ("a.pdf#page=12", "page 12"), ("a.pdf#page=1-2", "pages 1–2"), ("b#section=3.2", "section 3, passage 2"),
    ):  # fmt: skip
        part = parse_part(id)
        assert (part.id, part.label) == (id, label)
        assert is_passage(Document(id, "text", f"Title, {label}"))
        assert not is_passage(Document(id, "text", "Title"))
        assert get_parent_title(f"Title, {label}", part) == "Title"
    for id in ("a.pdf", "note.eml#report.pdf", "#page=3", "a.pdf#page=x", "a.pdf#page=3 "):
        assert parse_part(id) is None


def test_corpus_counts_parent_titles_once():
    counted = [build_counted_text(one) for one in cut(sentences(100))]
    assert counted[0].startswith("Minutes\nAlpha") or counted[0].startswith("Minutes\n")
    assert not any("Minutes" in text or "passage" in text for text in counted[1:])


def test_passage_splitter_counts_and_splits_once():
    cutter = PassageSplitter()
    once = list(cutter.split([Document("s", "short", "S"), Document("l", sentences(100), "L")]))
    assert cutter.facts == {"documents": 2, "long": 1, "passages": 4}
    again = PassageSplitter()
    assert list(again.split(once)) == once
    assert again.facts == cutter.facts
