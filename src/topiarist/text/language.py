"""Languages: their names, and which one a collection is written in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from topiarist.errors import UsageError
from topiarist.text.documents import Document

# ISO 639-1 codes for which stop words or a stemmer exist.
NAMES = {
    "af": "afrikaans", "ar": "arabic", "bg": "bulgarian", "bn": "bengali", "br": "breton", "ca": "catalan",
    "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "eo": "esperanto",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "gl": "galician", "gu": "gujarati", "ha": "hausa", "he": "hebrew", "hi": "hindi",
    "hr": "croatian", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "ja": "japanese", "ko": "korean", "ku": "kurdish", "la": "latin", "lt": "lithuanian", "lv": "latvian",
    "mr": "marathi", "ms": "malay", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sk": "slovak", "sl": "slovenian", "so": "somali",
    "sr": "serbian", "st": "sesotho", "sv": "swedish", "sw": "swahili", "ta": "tamil", "th": "thai",
    "tl": "tagalog", "tr": "turkish", "uk": "ukrainian", "ur": "urdu", "vi": "vietnamese", "yi": "yiddish",
    "yo": "yoruba", "zh": "chinese", "zu": "zulu",
}  # fmt: skip
_CODES = {name: code for code, name in NAMES.items()}
_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "farsi": "fa", "norsk": "no"}

LANGUAGE = "language"  # the column that is found out where documents are in several languages
LANGUAGE_COLUMN = "language_column"  # a setting of a collection: whether it has that column
AUTO = "auto"  # in place of a language: that of the first documents
SAMPLE = 200  # documents looked at
_LETTERS = 2000  # characters of each
_LEAST = 20  # a text shorter than this says little about its language


@dataclass(frozen=True, slots=True)
class Language:
    """The language most documents of a sample are written in."""

    code: str  # ISO 639-1, "" when the sample holds no text to judge by
    share: float  # of the judged documents
    judged: int  # documents that were long enough to judge

    @property
    def name(self) -> str:
        """Return the English name of the language, or its code."""
        return NAMES.get(self.code, self.code)


@dataclass
class Tally:
    """How many texts there are in each language, and how many letters of them were looked at."""

    texts: Counter[str] = field(default_factory=Counter)
    letters: Counter[str] = field(default_factory=Counter)

    def see(self, code: str, text: str) -> None:
        """One text more; of no language, it says nothing."""
        if code:
            self.texts[code] += 1
            self.letters[code] += len(text[:_LETTERS].strip())

    @property
    def most_frequent(self) -> Language:
        """The language of most texts; of several with as many, that of most letters, and of these the first one met."""
        if not self.texts:
            return Language("", 0.0, 0)
        code = max(self.texts, key=lambda one: (self.texts[one], self.letters[one]))
        return Language(code, self.texts[code] / self.texts.total(), self.texts.total())

    @property
    def tied(self) -> list[str]:
        """The languages that have as many texts as the most frequent one, it among them; none where it is alone."""
        most = max(self.texts.values(), default=0)
        found = [code for code, times in self.texts.items() if times == most]
        return found if len(found) > 1 else []


def known_code(language: str) -> str:
    """Return the ISO 639-1 code of a language given as code or English name, or ``""`` if it is not known here."""
    wanted = language.strip().lower().split("-")[0].split("_")[0]
    wanted = _ALIASES.get(wanted, wanted)
    return wanted if wanted in NAMES else _CODES.get(wanted, "")


def language_code(language: str) -> str:
    """Return the ISO 639-1 code of a language given as code or English name (``"de"``, ``"German"``)."""
    code = known_code(language)
    if not code:
        raise UsageError(
            f"expected a language such as 'en' or 'english', got {language!r}",
            hint=f"one of {', '.join(sorted(NAMES))}",
        )
    return code


def detect_language(texts: Iterable[str], sample: int = SAMPLE) -> Language:
    """Return the language of a collection, judged by at most ``sample`` texts.

    From a sequence the sample is taken at even distances, from any other iterable it is the beginning.
    """
    if isinstance(texts, Sequence):
        step = max(1, -(-len(texts) // sample))
        chosen = list(texts[::step])
    else:
        chosen = list(islice(texts, sample))
    found = Tally()
    for text in chosen:
        found.see(language_of_text(text), text)
    return found.most_frequent


def language_name(code: str) -> str:
    """The English name of a language, as people write it; the code of one that is not known here."""
    return NAMES.get(code, code).title() if code in NAMES else code


def languages_in_words(codes: Sequence[str], sizes: Sequence[int], n_unknown: int) -> str:
    """The languages of a collection in a line: one by its name alone, several with how many documents each has."""
    names = [language_name(code) for code in codes]
    listed = [f"{name} {size:,}" for name, size in zip(names, sizes, strict=True)] if len(names) > 1 else names
    short = [f"{n_unknown:,} too short or too mixed to tell"] if n_unknown else []
    return ", ".join([*listed, *short])


def language_of_text(text: str) -> str:
    """The language of one text, or nothing where it is too short to tell."""
    import py3langid

    start = text[:_LETTERS].strip()
    return str(py3langid.classify(start)[0]) if len(start) >= _LEAST else ""


def language_of(documents: Iterator[Document], given: str) -> tuple[Language, Iterator[Document]]:
    """The language as it was given or as the first documents have it, and all documents."""
    if given != AUTO:
        return Language(language_code(given), 1.0, 0), documents
    first = list(islice(documents, SAMPLE))
    return detect_language(document.text for document in first), chain(first, documents)
