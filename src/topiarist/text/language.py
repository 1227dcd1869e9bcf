"""Names of languages, and the detection of the language of a text or a collection.

A script of a single language decides the language of a text of any length. Longer texts in other scripts are
classified by their letters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from topiarist.errors import UsageError
from topiarist.text.documents import Document

# ISO 639-1 codes with stop words, a stemmer, or a script of their own.
NAMES = {
    "af": "afrikaans", "am": "amharic", "ar": "arabic", "bg": "bulgarian", "bn": "bengali", "br": "breton",
    "ca": "catalan",
    "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "eo": "esperanto",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "gl": "galician", "gu": "gujarati", "ha": "hausa", "he": "hebrew", "hi": "hindi",
    "hr": "croatian", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "ja": "japanese", "ka": "georgian", "km": "khmer", "kn": "kannada", "ko": "korean", "ku": "kurdish",
    "la": "latin", "lo": "lao", "lt": "lithuanian", "lv": "latvian", "ml": "malayalam", "mr": "marathi",
    "ms": "malay", "my": "burmese", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pa": "punjabi",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "si": "sinhala", "sk": "slovak",
    "sl": "slovenian", "so": "somali", "sr": "serbian", "st": "sesotho", "sv": "swedish", "sw": "swahili",
    "ta": "tamil", "te": "telugu", "th": "thai", "tl": "tagalog", "tr": "turkish", "uk": "ukrainian",
    "ur": "urdu", "vi": "vietnamese", "yi": "yiddish", "yo": "yoruba", "zh": "chinese", "zu": "zulu",
}  # fmt: skip
_CODES = {name: code for code, name in NAMES.items()}
_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "farsi": "fa", "norsk": "no"}

LANGUAGE = "language"  # the column of a collection in several languages
LANGUAGE_COLUMN = "language_column"  # name of the setting: whether the collection has that column
AUTO = "auto"  # detect the language from the first documents
SAMPLE = 200  # documents
_MAX_LETTERS = 2000  # characters of each document in the sample
_MIN_LENGTH = 20  # characters below which only the script decides

_SPACED_LETTERS = {  # scripts of one language, with spaces between words
    "am": "\u1200-\u139f\u2d80-\u2ddf\uab01-\uab2f", "bn": "\u0980-\u09ff", "el": "\u0370-\u03ff\u1f00-\u1fff",
    "gu": "\u0a80-\u0aff", "he": "\u0590-\u05ff\ufb1d-\ufb4f", "hy": "\u0530-\u058f\ufb13-\ufb17",
    "ka": "\u10a0-\u10ff\u1c90-\u1cbf\u2d00-\u2d2f", "kn": "\u0c80-\u0cff",
    "ko": "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa1-\uffdc", "ml": "\u0d00-\u0d7f",
    "pa": "\u0a00-\u0a7f", "si": "\u0d80-\u0dff", "ta": "\u0b80-\u0bff", "te": "\u0c00-\u0c7f",
}  # fmt: skip
_UNSPACED_LETTERS = {  # the same for scripts without spaces between words
    "ja": "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d", "km": "\u1780-\u17ff",
    "lo": "\u0e80-\u0eff", "my": "\u1000-\u109f", "th": "\u0e01-\u0e7f",
    "zh": "\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
}  # fmt: skip
SCRIPT_LANGUAGES = (*_SPACED_LETTERS, *_UNSPACED_LETTERS, "yi")
_SCRIPT_LETTERS = {code: re.compile(f"[{letters}]") for code, letters in _UNSPACED_LETTERS.items()}
_SCRIPT_LETTERS |= {code: re.compile(f"[{letters}]+") for code, letters in _SPACED_LETTERS.items()}
_SCRIPT_RUN = re.compile(f"[{''.join((*_SPACED_LETTERS.values(), *_UNSPACED_LETTERS.values()))}]+")
_OTHER_WORD = re.compile(r"[^\W\d_]+")
_YIDDISH = re.compile("[\u05f0-\u05f2\ufb1f\ufb2e\ufb2f]")  # letters that Hebrew does not have
_LETTERS_PER_WORD = {"km": 4, "lo": 4, "my": 4, "th": 4}  # letters of a word, on average; 2 for Han and kana
_LETTERS_PER_FOREIGN = 20  # one kana in 20 letters makes a text Japanese, one word of Hangul in 20 Korean


@dataclass(frozen=True, slots=True)
class Language:
    """Most frequent language of a sample of documents."""

    code: str  # ISO 639-1; empty if the sample holds no usable text
    share: float  # of the judged documents, from 0 to 1
    n_judged: int  # documents that were long enough to judge

    @property
    def name(self) -> str:
        """English name of the language, or its code if the name is not known."""
        return NAMES.get(self.code, self.code)


@dataclass
class LanguageCounts:
    """Numbers of texts by language, and numbers of their letters."""

    texts: Counter[str] = field(default_factory=Counter)
    letters: Counter[str] = field(default_factory=Counter)

    def add(self, code: str, text: str) -> None:
        """Count a text; an empty code adds nothing."""
        if code:
            self.texts[code] += 1
            self.letters[code] += len(text[:_MAX_LETTERS].strip())

    @property
    def most_frequent(self) -> Language:
        """Language of most texts; ties are decided by letters, then by the first text."""
        if not self.texts:
            return Language("", 0.0, 0)
        code = max(self.texts, key=lambda candidate: (self.texts[candidate], self.letters[candidate]))
        return Language(code, self.texts[code] / self.texts.total(), self.texts.total())

    @property
    def ties(self) -> list[str]:
        """Languages with as many texts as the most frequent one; empty without a tie."""
        max_texts = max(self.texts.values(), default=0)
        codes = [code for code, times in self.texts.items() if times == max_texts]
        return codes if len(codes) > 1 else []


def find_language_code(language: str) -> str:
    """Return the ISO 639-1 code of a language from a code or an English name; an empty string if unknown."""
    name = language.strip().lower().split("-")[0].split("_")[0]
    name = _ALIASES.get(name, name)
    return name if name in NAMES else _CODES.get(name, "")


def get_language_code(language: str) -> str:
    """Return the ISO 639-1 code of a language from a code or an English name (``"de"``, ``"German"``)."""
    code = find_language_code(language)
    if not code:
        raise UsageError(
            f"expected a language such as 'en' or 'english', got {language!r}",
            hint=f"Choose one of {', '.join(sorted(NAMES))}.",
        )
    return code


def detect_language(texts: Iterable[str], sample: int = SAMPLE) -> Language:
    """Return the language of a collection, by at most ``sample`` texts.

    The sample of a sequence is evenly spaced; that of any other iterable is its beginning.
    """
    if isinstance(texts, Sequence):
        step = max(1, -(-len(texts) // sample))
        sampled = list(texts[::step])
    else:
        sampled = list(islice(texts, sample))
    counts = LanguageCounts()
    for text in sampled:
        counts.add(detect_text_language(text), text)
    return counts.most_frequent


def language_name(code: str) -> str:
    """Return the English name of a language, in title case; an unknown code is returned unchanged."""
    return NAMES.get(code, code).title() if code in NAMES else code


def describe_languages(codes: Sequence[str], sizes: Sequence[int], n_unknown: int) -> str:
    """Return the languages of a collection in one line, with their numbers of documents if there are several."""
    names = [language_name(code) for code in codes]
    named = [f"{name} {size:,}" for name, size in zip(names, sizes, strict=True)] if len(names) > 1 else names
    short = [f"{n_unknown:,} in an unknown language"] if n_unknown else []
    return ", ".join([*named, *short])


def detect_text_language(text: str) -> str:
    """Return the language of a text; an empty string for a short text in a script of many languages."""
    import py3langid

    start = text[:_MAX_LETTERS].strip()
    if code := detect_script_language(start):
        return code
    return str(py3langid.classify(start)[0]) if len(start) >= _MIN_LENGTH else ""


def detect_language_among(text: str, codes: Collection[str]) -> str:
    """Return the language of a text that is added to a collection in the languages ``codes``.

    The script decides first. A language detected otherwise counts only if it is one of ``codes``.
    """
    if code := detect_script_language(text):
        return code
    detected = detect_text_language(text) if codes else ""
    return detected if detected in codes else ""


def detect_script_language(text: str) -> str:
    """Return the language whose script most words of a text have; an empty string if no script decides.

    Kana make a text Japanese, Hangul Korean, Han characters without either Chinese.
    """
    start = text[:_MAX_LETTERS]
    if start.isascii() or _SCRIPT_RUN.search(start) is None:
        return ""
    words = {code: len(pattern.findall(start)) / _letters_per_word(code) for code, pattern in _SCRIPT_LETTERS.items()}
    kana, hangul = words.pop("ja"), words.pop("ko")
    east = words.pop("zh") + kana + hangul
    rare = max(kana, hangul) * _LETTERS_PER_FOREIGN < east
    words["zh" if rare else "ja" if kana > hangul else "ko"] = east
    code = max(words, key=lambda candidate: words[candidate])
    if 2 * words[code] <= sum(words.values()) + len(_OTHER_WORD.findall(_SCRIPT_RUN.sub(" ", start))):
        return ""
    return "yi" if code == "he" and _YIDDISH.search(start) else code


def _letters_per_word(code: str) -> int:
    """Return how many matches of the pattern of a language are one word."""
    return 1 if code in _SPACED_LETTERS else _LETTERS_PER_WORD.get(code, 2)


def detect_or_parse_language(documents: Iterator[Document], setting: str) -> tuple[Language, Iterator[Document]]:
    """Return the language of a setting, or the detected one for ``auto``, and all documents."""
    if setting != AUTO:
        return Language(get_language_code(setting), 1.0, 0), documents
    sample = list(islice(documents, SAMPLE))
    return detect_language(document.text for document in sample), chain(sample, documents)
