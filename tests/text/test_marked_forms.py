"""Words marked in every form, and the piece of a text that shows most of them."""

from topiarist.text.highlights import build_snippet, find_form_spans, find_spans, merge_spans
from topiarist.text.query import parse
from topiarist.text.stems import find_stems
from topiarist.text.tokens import separate_unspaced_letters


def english(words):
    return find_stems(words, "en")


def shown(text, spans):
    return [text[start:end] for start, end in spans]


def test_words_are_marked_in_every_form():
    text = "Judges hear; the judge heard. A hearing, but no heart."
    assert shown(text, find_form_spans(text, {"judg", "hear"}, english)) == ["Judges", "hear", "judge", "hearing"]
    assert find_form_spans(text, set(), english) == []


def test_letters_without_spaces_are_marked_as_one_run():
    text = "2010年考研成绩今日公布"
    assert shown(text, find_form_spans(text, {"考研", "研成", "成绩"}, lambda words: words)) == ["考研成绩"]
    assert shown(text, find_spans(text, parse("成绩 今日"))) == ["成绩今日"]
    assert merge_spans([(3, 5), (0, 2), (2, 3)]) == [(0, 5)]


def test_the_piece_with_most_different_words_is_shown():
    text = f"bail {'word ' * 200}bail was set at the hearing by the judge {'word ' * 200}"
    pieces = build_snippet(text, find_form_spans(text, {"bail", "hear", "judg"}, english))
    assert [piece for piece, match in pieces if match] == ["bail", "hearing", "judge"]
    assert pieces[0] == ("… ", False)
    assert pieces[-1][0].endswith("…")
    assert len("".join(piece for piece, _ in pieces)) < 220
    assert build_snippet("no match\nhere", []) == (("no match here", False),)
    assert build_snippet("", []) == ()


def test_signs_between_runs_keep_them_apart():
    assert separate_unspaced_letters("plain text") == "plain text"
    assert separate_unspaced_letters("考研ok").split() == ["考", "研", "ok"]
    assert separate_unspaced_letters("考，研").split() == ["考", "\ue000", "研"]
