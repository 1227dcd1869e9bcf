"""Stop words, stems and the language of a collection."""

from pathlib import Path

import pytest

from topiarist.errors import UsageError
from topiarist.text.language import Language, Tally, detect_language, language_code
from topiarist.text.stems import has_stemmer, stem_languages, stems
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


def test_english_stop_words_leave_topics_alone() -> None:
    words = stop_words("english")
    assert {"the", "of", "and"} <= words
    assert "computer" not in words
    assert "information" not in words
    assert "research" not in words


def test_other_languages_have_their_lists() -> None:
    assert {"der", "und", "nicht"} <= stop_words("de")
    assert stop_words("German") == stop_words("de")
    assert all(word == word.lower() for word in stop_words("fr"))


def test_function_words_name_nothing_and_stop_words_may() -> None:
    words = function_words("english")
    assert {"from", "between", "which", "as"} <= words
    assert not {"system", "interest", "fire", "mill", "bill", "two"} & words
    assert {"der", "und", "zwischen"} <= function_words("de")
    assert "mathbb" in function_words("de")
    assert function_words("") == function_words("xx")
    assert not {"the", "der"} & function_words("")


def test_entries_that_the_tokeniser_splits_count_by_their_parts() -> None:
    assert as_tokens(["c'est", "Über", "一方面", "但是", "a"]) == {"est", "über", "但是"}


def test_stop_words_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# my words\nfoo bar\n\nBaz\n", encoding="utf-8")
    assert stop_words_from_file(file) == {"foo", "bar", "baz"}
    with pytest.raises(UsageError, match="expected a UTF-8 file of stop words"):
        stop_words_from_file(tmp_path / "none.txt")


def test_no_choice_means_no_stop_words() -> None:
    assert resolve_stop_words(None) == frozenset()
    assert resolve_stop_words(["One", "two"]) == {"one", "two"}


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(UsageError, match="expected a language such as 'en' or 'english', got 'klingon'"):
        language_code("klingon")
    with pytest.raises(UsageError, match="no stop list for tamil"):
        stop_words("ta")
    with pytest.raises(UsageError, match="no stemmer for chinese"):
        stems(["词"], "zh")


@pytest.mark.parametrize(("given", "code"), [("EN", "en"), ("german", "de"), ("pt-BR", "pt"), ("nb", "no")])
def test_languages_by_code_or_name(given: str, code: str) -> None:
    assert language_code(given) == code


def test_the_language_of_most_documents_is_found() -> None:
    found = detect_language([GERMAN] * 6 + [FRENCH] * 3 + ["", "?!"])
    assert (found.code, found.name, found.judged) == ("de", "german", 9)
    assert found.share == pytest.approx(2 / 3)
    assert detect_language(iter([FRENCH] * 3)).code == "fr"


def test_a_long_sequence_is_sampled_all_along() -> None:
    found = detect_language([GERMAN] * 400 + [FRENCH] * 1600)
    assert (found.code, found.judged) == ("fr", 200)


def test_of_languages_with_as_many_texts_that_with_more_letters_is_found_and_not_that_of_the_alphabet() -> None:
    assert detect_language([GERMAN, FRENCH * 2]).code == detect_language([FRENCH * 2, GERMAN]).code == "fr"
    assert detect_language([GERMAN * 2, FRENCH]).code == "de"
    tally = Tally()
    for code in ("fr", "de", "", "fr", "de"):
        tally.see(code, "text")
    assert (tally.tied, tally.most_frequent.code) == (["fr", "de"], "fr")  # the first one met


def test_nothing_to_judge_by_is_an_answer() -> None:
    assert detect_language(["", "12"]).code == ""


def test_stems_of_words_and_phrases() -> None:
    assert stems(["networks", "neural networks", "networking"], "english") == [
        "network",
        "neural network",
        "network",
    ]
    assert "de" in stem_languages()


@pytest.mark.parametrize(
    ("code", "listed", "stemmed"),
    [("en", True, True), ("German", True, True), ("nb", True, True), ("zh", True, False), ("ta", False, True)],
)
def test_whether_a_language_has_stop_words_and_a_stemmer(code: str, listed: bool, stemmed: bool) -> None:
    assert (has_stop_words(code), has_stemmer(code)) == (listed, stemmed)


def test_every_language_that_can_be_detected_has_an_answer() -> None:
    import py3langid

    codes = [code for code, _ in py3langid.rank("words")]
    assert len(codes) > 90
    for code in [*codes, "", "klingon"]:
        if has_stop_words(code):
            assert stop_words(code)
        if has_stemmer(code):
            assert stems(["words"], code)
        assert Language(code, 1.0, 1).name or not code
    assert not has_stop_words("xh")
    assert not has_stemmer("xh")
