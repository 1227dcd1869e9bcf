"""The colours of the style sheet, measured as WCAG does: in both themes, and where people ask for more contrast."""

import re
from itertools import pairwise

import pytest

from topiarist.web.coloured_text import DEEPEST, TOPICS, UNDERLINES
from topiarist.web.report import read_asset

SHEET = re.sub(r"/\*.*?\*/", "", read_asset("style.css"), flags=re.S)
LIGHT = ("",)
DARK = ("", "(prefers-color-scheme: dark)")
MORE = "(prefers-contrast: more)"
THEMES = {
    "light": LIGHT,
    "dark": DARK,
    "more, light": (*LIGHT, MORE),
    "more, dark": (*DARK, MORE, f"{MORE} and (prefers-color-scheme: dark)"),
}


def blocks():
    """The custom properties of the sheet, with the query that they stand under, in its order."""
    found = []
    for query, inside in re.findall(r"@media ([^{]+?)\s*\{\s*:root\s*\{([^}]*)\}", SHEET):
        found.append((query, inside))
    first = re.search(r"^:root\s*\{([^}]*)\}", SHEET, re.M)
    return [("", first[1]), *found]


def colours(theme):
    found = {}
    for query, inside in blocks():
        if query in THEMES[theme]:
            found.update(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]+)", inside))
    return found


def luminance(colour):
    digits = colour.lstrip("#")
    digits = "".join(2 * sign for sign in digits) if len(digits) == 3 else digits
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_contrast_is_what_everybody_else_measures():
    assert contrast("#fff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_all_text_can_be_read(theme):
    known = colours(theme)
    pairs = [(ink, paper) for ink in ("text", "dim", "link") for paper in ("back", "panel")]
    pairs += [(f"on-l{level}", f"l{level}") for level in range(DEEPEST + 1)]
    pairs += [("on-t", f"t{number}") for number in range(1, TOPICS + 1)]
    pairs += [("on-mark", "mark"), ("on-strip", "strip"), ("text", "bad"), ("on-chosen", "chosen"), ("accent", "back")]
    found = {pair: round(contrast(known[pair[0]], known[pair[1]]), 2) for pair in pairs}
    assert {pair: value for pair, value in found.items() if value < 4.5} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_bars_frames_and_the_focus_can_be_seen(theme):
    known = colours(theme)
    pairs = [(line, paper) for line in ("bar", "focus", "dim") for paper in ("back", "panel")] + [("bar", "chosen")]
    pairs += [("text", "else"), ("way", "else"), ("way", "back")]  # the strip: here, the way there, and the others
    found = {pair: round(contrast(known[pair[0]], known[pair[1]]), 2) for pair in pairs}
    assert {pair: value for pair, value in found.items() if value < 3.0} == {}
    assert contrast(known["text"], known["way"]) >= 1.3


@pytest.mark.parametrize("theme", THEMES)
def test_neighbouring_levels_differ(theme):
    known = colours(theme)
    ramp = [known[f"l{level}"] for level in range(DEEPEST + 1)]
    assert [round(contrast(one, other), 2) for one, other in pairwise(ramp) if contrast(one, other) < 1.3] == []
    lights = [luminance(colour) for colour in ramp]
    assert lights == sorted(lights, reverse=known["back"] != "#000" and luminance(known["back"]) > 0.5)


def test_levels_differ_without_colour_too():
    said = [re.findall(rf"span\.l{level} \{{[^}}]*text-decoration-style: (\w+)", SHEET) for level in range(DEEPEST + 1)]
    assert [one[0] if one else "none" for one in said] == list(UNDERLINES)
    assert len(set(UNDERLINES[:DEEPEST])) == DEEPEST  # only levels that lie deeper share one
    numbers = set(re.findall(r'span\.t(\d):not\(\.swatch\)::after \{ content: "\1"', SHEET))
    assert numbers == {str(number) for number in range(1, TOPICS + 1)}


def test_letters_follow_the_size_that_people_have_chosen():
    assert re.findall(r"font(?:-size)?:[^;}]*\dpx", SHEET) == []
    assert re.findall(r"@media[^{]*\dpx", SHEET) == []
