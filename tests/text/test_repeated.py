"""Lines that many documents share are found wherever they stand, and nothing else is."""

from __future__ import annotations

import random

import pytest

from topiarist.text.repeated import (
    FrequencyCounter,
    LineCounter,
    find_repeated,
    has_letters,
    plain_line,
    spans,
    without,
)

NAVIGATION = ["Home", "News", "About us", "Contact"]
FOOTER = ["This message is confidential and may be privileged.", "Please delete it if it was not meant for you."]
WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in ("a", "e", "io", "u") for c in ("rt", "st", "nd", "lk", "x")]


def documents(number: int = 120, lines: int = 8) -> list[list[str]]:
    """Documents of lines that no two of them share."""
    chance = random.Random(0)
    return [[" ".join(chance.choices(WORDS, k=9)) for _ in range(lines)] for _ in range(number)]


def texts(made: list[list[str]]) -> list[str]:
    return ["\n".join(lines) for lines in made]


def test_plain_line_ignores_case_spacing_numbers() -> None:
    assert plain_line("  Page 3\tof 12 ") == "page # of #"
    assert plain_line("1,234.50  —") == ""


def test_find_repeated_finds_blocks_at_any_place() -> None:
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


def test_find_repeated_is_empty_for_distinct_lines() -> None:
    assert find_repeated(texts(documents())).lines == ()


def test_find_repeated_keeps_frequent_short_word() -> None:
    made = documents()
    for number, lines in enumerate(made):
        lines.insert(2 + number % 5, "Yes")
    assert find_repeated(texts(made)).lines == ()


def test_find_repeated_keeps_table_rows_and_subjects() -> None:
    made = documents()
    for number, lines in enumerate(made[:60]):
        lines.insert(3, f"net profit {number} mln vs {number + 1} mln last year")
        lines.insert(0, "Subject: Re: the strange behaviour of the new printer")
    assert find_repeated(texts(made)).lines == ()


@pytest.mark.parametrize("changed", [0, 1])
def test_find_repeated_keeps_lines_of_copies(changed: int) -> None:
    """Thirty copies of one text, exact ones or with a word changed here and there."""
    made, chance = documents(), random.Random(1)
    text = documents(1, lines=20)[0]
    for number in range(30):
        copy = list(text)
        for place in chance.sample(range(20), 6 * changed):
            copy[place] = copy[place].replace(copy[place].split()[3], f"other{number}", 1)
        made.append(copy)
    assert find_repeated(texts(made)).lines == ()


def test_find_repeated_keeps_documents_of_one_line() -> None:
    answers = ["I have nothing to add to what was said before"] * 50 + texts(documents())
    assert find_repeated(answers).lines == ()
    assert without("please delete it", {"please delete it"}) == "please delete it"


def test_spans_give_places_of_repeated_lines() -> None:
    text = "Home\n  News \n\nThe text itself.\nHOME\nIts end.\n"
    found = spans(text, {"home", "news"})
    assert [text[start:end] for start, end in found] == ["Home\n  News", "HOME"]
    assert without(text, {"home", "news"}).split() == ["The", "text", "itself.", "Its", "end."]


def test_frequency_counter_bounds_memory() -> None:
    counts = FrequencyCounter(max_counts=100)
    for number in range(5_000):
        counts.add([7, 1_000 + number])
    assert len(counts.counts) <= 200
    assert 5_000 - 5_000 / 50 <= counts.counts[7] <= 5_000


@pytest.mark.parametrize("line", ["", "12 34", "3rd", "— · —", "İ", "9.5%", "第3页", "_x_", "½ ²", "ǅ 7"])
def test_has_letters_agrees_with_plain_line(line):
    assert has_letters(line) == bool(plain_line(line))


def test_lines_of_one_topic_are_not_repeated() -> None:
    """Lines of parts of one thing, of a category, and of a signature, a footer and a spread line."""
    chance, made = random.Random(0), []
    for number in range(400):
        topic = number % 4
        words = [
            f"{word}{other}{'aeiu'[topic]}" for word in WORDS for other in WORDS[:5]
        ]  # each topic has words of its own
        lines = [" ".join([*chance.choices(words, k=3), *chance.choices(WORDS, k=6)]) for _ in range(8)]
        if topic == 0:
            lines.insert(4, "This is a matter of one kind alone")
        if topic == 1 and number < 80:  # parts of one thing: they share most of their words
            lines[:0] = ["Frame is a tool to make pictures"]
            lines[2:] = [" ".join(chance.choices(words[:30], k=9)) for _ in range(4)]
        if topic == 2 and number % 3 == 0:
            lines += ["A wise word is at the end of letters", "of Ann Example in the town of Samplehausen"]
        if chance.random() < 0.2:
            lines.insert(3, "This is a matter of every possible kind")
        if chance.random() < 0.2:
            lines += FOOTER
        made.append(lines)
    assert find_repeated(texts(made)).forms == {
        plain_line(line)
        for line in (
            *FOOTER,
            "This is a matter of every possible kind",
            "A wise word is at the end of letters",
            "of Ann Example in the town of Samplehausen",
        )
    }


def test_line_counter_skips_single_lines_and_duplicates():
    lines = LineCounter()
    for text in ("one line", "a first line\nand a second one", "a first line\nand a second one"):
        lines.add(text)
    assert lines.n_documents == 3
    assert set(lines._counts.counts.values()) == {1}
