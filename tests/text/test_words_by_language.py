"""Stop words, stems and the language of a collection."""

from pathlib import Path

import pytest

from topiarist.errors import UsageError
from topiarist.text.language import Language, LanguageCounts, detect_language, get_language_code
from topiarist.text.stems import find_stems, has_stemmer, list_stem_languages
from topiarist.text.stop_words import (
    as_tokens,
    function_words,
    has_stop_words,
    resolve_stop_words,
    stop_words,
    stop_words_from_file,
)

GERMAN = "Die Regierung hat gestern beschlossen, dass die neuen Gesetze im nächsten Jahr in Kraft treten sollen."
FRENCH = "Le gouvernement a décidé hier que les nouvelles lois entreront en vigueur au cours de l'année prochaine."


def test_english_stop_words_exclude_topical_words() -> None:
    words = stop_words("english")
    assert {"the", "of", "and"} <= words
    assert "computer" not in words
    assert "information" not in words
    assert "research" not in words


def test_stop_words_of_other_languages() -> None:
    assert {"der", "und", "nicht"} <= stop_words("de")
    assert stop_words("German") == stop_words("de")
    assert all(word == word.lower() for word in stop_words("fr"))


def test_function_words_differ_from_stop_words() -> None:
    words = function_words("english")
    assert {"from", "between", "which", "as"} <= words
    assert not {"system", "interest", "fire", "mill", "bill", "two"} & words
    assert {"der", "und", "zwischen"} <= function_words("de")
    assert "mathbb" in function_words("de")
    assert function_words("") == function_words("xx")
    assert not {"the", "der"} & function_words("")


def test_as_tokens_splits_entries() -> None:
    assert as_tokens(["c'est", "Über", "一方面", "但是", "a"]) == {"est", "über", "但是"}


def test_stop_words_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# my words\nfoo bar\n\nBaz\n", encoding="utf-8")
    assert stop_words_from_file(file) == {"foo", "bar", "baz"}
    with pytest.raises(UsageError, match="file of stop words"):
        stop_words_from_file(tmp_path / "none.txt")


def test_resolve_stop_words_of_settings() -> None:
    assert resolve_stop_words(None) == frozenset()
    assert resolve_stop_words(["One", "two"]) == {"one", "two"}


def test_unknown_language_rejected() -> None:
    with pytest.raises(UsageError, match="got 'klingon'"):
        get_language_code("klingon")
    with pytest.raises(UsageError, match="no stop list for tamil"):
        stop_words("ta")
    with pytest.raises(UsageError, match="no stemmer for chinese"):
        find_stems(["词"], "zh")


@pytest.mark.parametrize(("given", "code"), [("EN", "en"), ("german", "de"), ("pt-BR", "pt"), ("nb", "no")])
def test_get_language_code_of_names(given: str, code: str) -> None:
    assert get_language_code(given) == code


def test_detect_language_of_most_documents() -> None:
    found = detect_language([GERMAN] * 6 + [FRENCH] * 3 + ["", "?!"])
    assert (found.code, found.name, found.n_judged) == ("de", "german", 9)
    assert found.share == pytest.approx(2 / 3)
    assert detect_language(iter([FRENCH] * 3)).code == "fr"


def test_detect_language_samples_evenly() -> None:
    found = detect_language([GERMAN] * 400 + [FRENCH] * 1600)
    assert (found.code, found.n_judged) == ("fr", 200)


def test_language_counts_break_ties_by_letters() -> None:
    assert detect_language([GERMAN, FRENCH * 2]).code == detect_language([FRENCH * 2, GERMAN]).code == "fr"
    assert detect_language([GERMAN * 2, FRENCH]).code == "de"
    tally = LanguageCounts()
    for code in ("fr", "de", "", "fr", "de"):
        tally.add(code, "text")
    assert (tally.ties, tally.most_frequent.code) == (["fr", "de"], "fr")  # the first one met


def test_detect_language_without_usable_text() -> None:
    assert detect_language(["", "12"]).code == ""


def test_stem_words_and_phrases() -> None:
    assert find_stems(["networks", "neural networks", "networking"], "english") == [
        "network",
        "neural network",
        "network",
    ]
    assert "de" in list_stem_languages()


@pytest.mark.parametrize(
    ("code", "listed", "stemmed"),
    [("en", True, True), ("German", True, True), ("nb", True, True), ("zh", True, False), ("ta", False, True)],
)
def test_stop_words_and_stemmers_by_language(code: str, listed: bool, stemmed: bool) -> None:
    assert (has_stop_words(code), has_stemmer(code)) == (listed, stemmed)


def test_detectable_languages_supported() -> None:
    import py3langid

    codes = [code for code, _ in py3langid.rank("words")]
    assert len(codes) > 90
    for code in [*codes, "", "klingon"]:
        if has_stop_words(code):
            assert stop_words(code)
        if has_stemmer(code):
            assert find_stems(["words"], code)
        assert Language(code, 1.0, 1).name or not code
    assert not has_stop_words("xh")
    assert not has_stemmer("xh")
