"""Words of a query in a text: the same that the index finds."""

import pytest

from topiarist.text.highlights import find_spans, split_at_spans
from topiarist.text.query import parse


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("cafe", ["Café"]),
        ("OL", ["öl"]),
        ("hear*", ["hearing", "hearings"]),
        ('"bail hearing"', ["bail hearing"]),
        ('"bail hear"*', ["bail hearing"]),
        ('"hearing bail"', []),
        ("e-mail", ["e-mail"]),
        ("mail -bail label:law", ["mail"]),
        ("bail bail*", ["bail"]),
        ("label:law", []),
    ],
)
def test_what_is_marked(query, marked):
    text = "Café öl: bail hearing, e-mail of hearings"
    assert [text[start:end] for start, end in find_spans(text, parse(query))] == marked


def test_a_piece_is_cut_where_spans_begin_and_end():
    assert split_at_spans("cdefg", 2, [(0, 3), (5, 9)]) == (("c", True), ("de", False), ("fg", True))
    assert split_at_spans("cdefg", 2, []) == (("cdefg", False),)
