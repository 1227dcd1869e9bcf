"""Tests of the tokeniser against its definition, scikit-learn and many scripts."""

import random
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from tests.work import promptly
from topiarist.text.characters import align_normalised, normalise, patterns
from topiarist.text.tokens import Tokenizer, is_unspaced

UNSPACED_NAMES = (
    "CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "HENTAIGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "BOPOMOFO",
    "IDEOGRAPHIC ITERATION", "IDEOGRAPHIC NUMBER", "IDEOGRAPHIC CLOSING", "HANGZHOU NUMERAL", "VERTICAL KANA REPEAT",
    "VERTICAL IDEOGRAPHIC ITERATION", "MASU MARK",
)  # fmt: skip
ALPHABET = (
    "abcXYZ019_'-. \n" "éßÄłİıǰ" "ДаёжΣσςά" "שָׁלוֹם" "مُحَمَّد" "हिन्दीक्षे" "தமிழ்" "ภาษาไทย่๒" "ລາວ"
    "ភាសាខ្មែរ" "မြန်မာ" "漢字日本語年" "ひらカナー々" "한국어각" "ｆＡｶﾞ①ﬁ²½Ⅷ" "“”—…€"
    "\u00ad\u200d\u200c\u0301\u0307\ufe0f\u2060" "😀𝒳𑀓𑀸𐐀"
)  # fmt: skip
mixed_text = st.one_of(st.text(ALPHABET, max_size=40), st.text(max_size=30))


def unspaced(character: str) -> bool:
    name = unicodedata.name(character, "")
    return (
        name.startswith(UNSPACED_NAMES)
        and not character.isdecimal()
        and "FULLWIDTH" not in name
        and "MINNAN" not in name
    )


def reference(text: str, numbers: bool) -> list[str]:
    """Character by character, from the definitions."""
    ignorable = {"\u00ad", "\u2060", "\ufeff"}
    text = "".join(c for c in text if c not in ignorable and "VARIATION SELECTOR" not in unicodedata.name(c, ""))
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    runs: list[list[str]] = []  # characters, each with its marks
    inside = False
    for c in text:
        if c.isalnum() or c == "_":
            if not inside:
                runs.append([])
            runs[-1].append(c)
            inside = True
        elif inside and (unicodedata.category(c)[0] == "M" or c in "\u200c\u200d"):
            runs[-1][-1] += c
        else:
            inside = False
    words = []
    for run in runs:
        while run:
            kind = unspaced(run[0][0])
            n = next((i for i, c in enumerate(run) if unspaced(c[0]) != kind), len(run))
            part, run = run[:n], run[n:]
            if kind and n > 1:
                words += [part[i] + part[i + 1] for i in range(n - 1)]
            elif kind or len("".join(part)) > 1:
                words.append("".join(part))
    return [w for w in words if numbers or any(c.isalpha() for c in w)]


@given(mixed_text, st.booleans())
@example("i̇stanbul İ Σ", False)
@example("\U0001b002 \u3021 \u303b \U0001aff0", False)
def test_tokenizer_matches_definitions(text: str, numbers: bool) -> None:
    assert Tokenizer(numbers=numbers)(text) == reference(text, numbers)


@given(st.text(st.characters(max_codepoint=0x24F, exclude_characters="İ"), max_size=60))
def test_tokenizer_matches_scikit_learn_on_latin_texts(text: str) -> None:
    theirs = CountVectorizer(preprocessor=normalise).build_analyzer()
    assert Tokenizer(numbers=True)(text) == theirs(text)


@given(mixed_text)
def test_tokenizer_idempotent(text: str) -> None:
    tokens = Tokenizer()
    spaced = [word for word in tokens(text) if not is_unspaced(word)]
    assert tokens(" ".join(spaced)) == spaced


@given(mixed_text)
def test_offsets_match_words_and_sources(text: str) -> None:
    tokens = Tokenizer()
    found = list(tokens.offsets(text))
    assert [word for word, _, _ in found] == tokens(text)
    for word, start, end in found:
        assert 0 <= start < end <= len(text)
        source = normalise(text[start:end]).replace("ς", "σ")
        assert word.replace("ς", "σ") in source
    assert [start for _, start, _ in found] == sorted(start for _, start, _ in found)


@given(mixed_text)
def test_align_normalised_covers_all_characters(text: str) -> None:
    slices = align_normalised(text)
    assert len(slices) == len(normalise(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World! It's 1984.", ["hello", "world", "it"]),
        ("well-known snake_case R2D2", ["well", "known", "snake_case", "r2d2"]),
        ("हिन्दी में लिखा हुआ", ["हिन्दी", "में", "लिखा", "हुआ"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("می‌خواهم بروم", ["می‌خواهم", "بروم"]),
        ("iPhone手机 A股", ["iphone", "手机", "股"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("ภาษาที่", ["ภา", "าษ", "ษา", "าที่"]),
        ("한국어 문서", ["한국어", "문서"]),
        ("co\u00adoperate ﬁnance Ｗｉｄｅ", ["cooperate", "finance", "wide"]),
        ("Straße ÇA", ["straße", "ça"]),
        ("", []),
    ],
)
def test_tokenizer_splits_many_scripts(text: str, words: list[str]) -> None:
    assert Tokenizer()(text) == words


def test_offsets_with_characters_that_change_length() -> None:
    text = "İstanbul: e\u0301te\u0301 ﬁn"
    assert [text[start:end] for _, start, end in Tokenizer().offsets(text)] == [
        "İstanbul",
        "e\u0301te\u0301",
        "ﬁn",
    ]


def test_tokenizer_keeps_numbers_on_request() -> None:
    assert Tokenizer(numbers=True)("in 1984, 7 of __ x²") == ["in", "1984", "of", "__", "x2"]


@pytest.mark.parametrize("marks", ["\u0301\u0323", "\u0f73", "\uff9e\u0301", "\U0001d165\U0001d16d"])
def test_tokenizer_limits_marks_of_a_letter(marks: str) -> None:
    # Normalisation sorts marks in time that grows with the square of their number: this took half a minute.
    text = "xy" + marks * 100_000 + " word"
    with promptly(15):
        words = Tokenizer()(text)
    assert words[-1] == "word"
    found = list(Tokenizer().offsets(text))
    assert [word for word, _, _ in found] == words
    assert found[-1] == ("word", len(text) - 4, len(text))


def test_normalise_finds_long_runs_of_marks() -> None:
    for before in range(70):
        text = "é" * before + "\u0301" * 256
        assert len(normalise(text)) <= before + 30
        assert len(normalise(text[:-1])) >= before + 254  # one less is left alone, and what it is does not matter
        assert len(align_normalised(text)) == len(normalise(text))


def test_mark_pattern_includes_normalised_marks() -> None:
    for code in range(0x300, 0x1F000):
        character = chr(code)
        first = unicodedata.normalize("NFKD", character)[:1]
        if unicodedata.combining(first) and not patterns().ignorable.match(character):
            assert patterns().mark_run.fullmatch(character * 256)
            assert patterns().many_marks.fullmatch(character * 8)


def test_latin_shortcut_matches_word_pattern() -> None:
    signs = [*range(32, 256), *range(0x2010, 0x2028), *range(0x2030, 0x205F), 0x300, 0x200D, 0x3B1, 0x153, 0x17F]
    chance = random.Random(0)
    for _ in range(2_000):
        text = "".join(map(chr, chance.choices(signs, k=chance.randint(1, 30))))
        form = normalise(text)
        if not patterns().unusual.search(form):
            assert Tokenizer().split_candidates(text) == patterns().word.findall(form)
    allowed = [chr(sign) for sign in signs if sign > 255 and not patterns().beyond_latin.match(chr(sign))]
    assert allowed
    assert not any(map(str.isalnum, allowed))
