"""A document is called the same everywhere: by its own title, its first line, or its file."""

from __future__ import annotations

import pytest

from topiarist.counts.corpus import text_of
from topiarist.text.documents import Document
from topiarist.text.repeated import Repeated
from topiarist.text.titles import first_line, title_of, titled


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
def test_the_first_line_that_says_something(text: str, title: str) -> None:
    assert first_line(text) == title


def test_own_title_then_first_line_then_file_name() -> None:
    assert title_of(" Own \n title ", "First line\n", "a/b.txt") == "Own title"
    assert title_of("", "First line\n", "a/b.txt") == "First line"
    assert title_of("", "1 2 3", "a/b.txt") == "b.txt"


def test_a_repeated_line_is_no_title() -> None:
    document = Document("a.txt", "Home\nNews\nThe text itself\n", title="Home")
    assert titled(document, {"home", "news"}).title == "The text itself"
    assert titled(Document("a.txt", "Home\nText", title="Own"), {"home"}).title == "Own"


def test_a_title_that_is_not_the_documents_own_is_not_counted_twice() -> None:
    for text in ("First line\nmore", "\n first  line of it\nmore", "From: x\nSubject: y z\n\nmore", "12 34"):
        document = titled(Document("folder/name.txt", text))
        assert document.title
        assert text_of(document) == text
    assert text_of(Document("a", "text", title="Own")) == "Own\ntext"


def test_repeated_lines_are_not_counted() -> None:
    repeated = Repeated((("home", 20), ("news", 20)))
    document = titled(Document("a.txt", "Home\nNews\nThe text itself\nits end"), repeated.forms)
    assert text_of(document, repeated=repeated).split() == ["The", "text", "itself", "its", "end"]
