"""Proposed names share most letters with what was typed."""

from topiarist.text.spelling import find_similar_names, format_proposals


def test_names_are_proposed_by_the_letters_that_they_share():
    ways = ("words", "meaning", "both")
    assert find_similar_names("meanin", ways) == ["meaning"]
    assert format_proposals("meanin", ways) == "Choose 'meaning'."
    assert format_proposals("xyz", ["", *ways], 2) == "Choose 'words', 'meaning'."
