"""Lines that many documents share are found wherever they stand, and nothing else is."""

from __future__ import annotations

import random

import pytest

from topiarist.text.repeated import Frequent, find_repeated, plain_line, says_something, spans, without

NAVIGATION = ["Home", "News", "About us", "Contact"]
FOOTER = ["This message is confidential and may be privileged.", "Please delete it if it was not meant for you."]
WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in ("a", "e", "io", "u") for c in ("rt", "st", "nd", "lk", "x")]


def documents(number: int = 120, lines: int = 8) -> list[list[str]]:
    """Documents of lines that no two of them share."""
    chance = random.Random(0)
    return [[" ".join(chance.choices(WORDS, k=9)) for _ in range(lines)] for _ in range(number)]


def texts(made: list[list[str]]) -> list[str]:
    return ["\n".join(lines) for lines in made]


def test_a_line_is_compared_without_case_spacing_and_numbers() -> None:
    assert plain_line("  Page 3\tof 12 ") == "page # of #"
    assert plain_line("1,234.50  —") == ""


def test_blocks_at_top_bottom_and_in_between_are_found_and_nothing_else() -> None:
    made = documents()
    for number, lines in enumerate(made):
        if number % 2:
            lines[:0] = NAVIGATION
        if number % 3 == 0:
            lines += FOOTER
        if number % 4 == 0:
            lines.insert(5, f"Yearly report of the Example company {number}")
            lines.insert(8, f"Page {number} of 120")
    found = dict(find_repeated(texts(made)).lines)
    assert found == {
        "home": 60, "news": 60, "about us": 60, "contact": 60,
        "this message is confidential and may be privileged.": 40,
        "please delete it if it was not meant for you.": 40,
        "yearly report of the example company #": 30, "page # of #": 30,
    }  # fmt: skip


def test_documents_without_repeated_lines_have_none() -> None:
    assert find_repeated(texts(documents())).lines == ()


def test_a_frequent_word_that_fills_a_line_is_content() -> None:
    made = documents()
    for number, lines in enumerate(made):
        lines.insert(2 + number % 5, "Yes")
    assert find_repeated(texts(made)).lines == ()


def test_rows_of_tables_and_subjects_are_content() -> None:
    made = documents()
    for number, lines in enumerate(made[:60]):
        lines.insert(3, f"net profit {number} mln vs {number + 1} mln last year")
        lines.insert(0, "Subject: Re: the strange behaviour of the new printer")
    assert find_repeated(texts(made)).lines == ()


@pytest.mark.parametrize("changed", [0, 1])
def test_lines_of_copies_are_no_boilerplate(changed: int) -> None:
    """Thirty copies of one text, exact ones or with a word changed here and there."""
    made, chance = documents(), random.Random(1)
    text = documents(1, lines=20)[0]
    for number in range(30):
        copy = list(text)
        for place in chance.sample(range(20), 6 * changed):
            copy[place] = copy[place].replace(copy[place].split()[3], f"other{number}", 1)
        made.append(copy)
    assert find_repeated(texts(made)).lines == ()


def test_documents_of_one_line_are_left_alone() -> None:
    answers = ["I have nothing to add to what was said before"] * 50 + texts(documents())
    assert find_repeated(answers).lines == ()
    assert without("please delete it", {"please delete it"}) == "please delete it"


def test_what_is_left_out_is_told_by_its_place() -> None:
    text = "Home\n  News \n\nThe text itself.\nHOME\nIts end.\n"
    found = spans(text, {"home", "news"})
    assert [text[start:end] for start, end in found] == ["Home\n  News", "HOME"]
    assert without(text, {"home", "news"}).split() == ["The", "text", "itself.", "Its", "end."]


def test_counts_of_the_most_frequent_are_kept_in_a_bounded_memory() -> None:
    counts = Frequent(places=100)
    for number in range(5_000):
        counts.see([7, 1_000 + number])
    assert len(counts.counts) <= 200
    assert 5_000 - 5_000 / 50 <= counts.counts[7] <= 5_000


@pytest.mark.parametrize("line", ["", "12 34", "3rd", "— · —", "İ", "9.5 %", "第3页", "_x_", "½ ²", "ǅ 7"])
def test_a_line_says_something_where_it_has_a_form(line):
    assert says_something(line) == bool(plain_line(line))
