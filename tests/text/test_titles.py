"""Tests of titles of documents."""

from __future__ import annotations

import pytest

from topiarist.counts.corpus import build_counted_text
from topiarist.text.documents import Document
from topiarist.text.repeated import Repeated
from topiarist.text.titles import add_title, get_first_line, make_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n\n  The first   line\nand more", "The first line"),
        ("-----\n## Heading ##\n", "Heading"),
        ("From: a@b.org (A. B.)\nSubject: Re: the printer\n\nText", "Re: the printer"),
        ("From the beginning: a tale\nSubject: none", "From the beginning: a tale"),
        ("12 34\n", ""),
        ("word " * 60, "word " * 20 + "…"),
    ],
)
def test_get_first_line_of_texts(text: str, title: str) -> None:
    assert get_first_line(text) == title


def test_make_title_order_of_candidates() -> None:
    assert make_title(" Own \n title ", "First line\n", "a/b.txt") == "Own title"
    assert make_title("", "First line\n", "a/b.txt") == "First line"
    assert make_title("", "1 2 3", "a/b.txt") == "b.txt"


def test_add_title_skips_repeated_lines() -> None:
    document = Document("a.txt", "Home\nNews\nThe text itself\n", title="Home")
    assert add_title(document, {"home", "news"}).title == "The text itself"
    assert add_title(Document("a.txt", "Home\nText", title="Own"), {"home"}).title == "Own"


def test_corpus_counts_own_titles_only() -> None:
    for text in ("First line\nmore", "\n first  line of it\nmore", "From: x\nSubject: y z\n\nmore", "12 34"):
        document = add_title(Document("folder/name.txt", text))
        assert document.title
        assert build_counted_text(document) == text
    assert build_counted_text(Document("a", "text", title="Own")) == "Own\ntext"


def test_corpus_skips_repeated_lines() -> None:
    repeated = Repeated((("home", 20), ("news", 20)))
    document = add_title(Document("a.txt", "Home\nNews\nThe text itself\nits end"), repeated.forms)
    assert build_counted_text(document, repeated=repeated).split() == ["The", "text", "itself", "its", "end"]
