"""Summary sentence of a collection: its documents, dates, languages and topics.

The terminal and JSON have this sentence in English, pages and reports in the current language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiarist.display.locale.catalogues import CountedNoun, current_language, translate, translate_table
from topiarist.display.locale.locales import LOCALES

if TYPE_CHECKING:
    from topiarist.collection.describe.collection_facts import CollectionFacts

MAX_LANGUAGES = 5  # named; the others are counted together
MIN_SHARE = 0.01  # smaller languages are counted together, unless there is only one
LANGUAGES = {
    "Afrikaans": "Afrikaans", "Amharic": "Amharic", "Arabic": "Arabic", "Armenian": "Armenian", "Basque": "Basque",
    "Bengali": "Bengali", "Bulgarian": "Bulgarian", "Burmese": "Burmese", "Catalan": "Catalan", "Chinese": "Chinese",
    "Croatian": "Croatian", "Czech": "Czech", "Danish": "Danish", "Dutch": "Dutch", "English": "English",
    "Estonian": "Estonian", "Finnish": "Finnish", "French": "French", "Georgian": "Georgian", "German": "German",
    "Greek": "Greek", "Gujarati": "Gujarati", "Hebrew": "Hebrew", "Hindi": "Hindi", "Hungarian": "Hungarian",
    "Indonesian": "Indonesian", "Irish": "Irish", "Italian": "Italian", "Japanese": "Japanese", "Korean": "Korean",
    "Latin": "Latin", "Latvian": "Latvian", "Lithuanian": "Lithuanian", "Norwegian": "Norwegian",
    "Persian": "Persian", "Polish": "Polish", "Portuguese": "Portuguese", "Romanian": "Romanian",
    "Russian": "Russian", "Serbian": "Serbian", "Slovak": "Slovak", "Slovenian": "Slovenian", "Spanish": "Spanish",
    "Swedish": "Swedish", "Tamil": "Tamil", "Thai": "Thai", "Turkish": "Turkish", "Ukrainian": "Ukrainian",
    "Urdu": "Urdu", "Vietnamese": "Vietnamese", "Yiddish": "Yiddish",
}  # fmt: skip

REASONS = {
    "between": "between topics",
    "unknown": "no known words",
    "short": "too few known words",
    "language": "in another language",
    "nowhere": "fits no topic",
}


def first_sentence(facts: CollectionFacts) -> str:
    """Return the summary sentence of a collection."""
    documents = translate("{documents}", documents=CountedNoun(facts.documents, "document"))
    if facts.passages != facts.documents:
        passages = CountedNoun(facts.passages, "passage")
        documents = translate("{documents} in {passages}", documents=documents, passages=passages)
    dates, languages = _describe_dates(facts), _describe_languages(facts)
    separator = "," if dates.startswith(",") and languages else ""
    return f"{documents}{dates}{separator}{languages}{_describe_topics(facts)}{_describe_unsorted(facts)}."


def _describe_languages(facts: CollectionFacts) -> str:
    """Return a clause on the languages and undetected documents; empty without languages."""
    names = translate_table(LANGUAGES)
    if not facts.languages:
        return ""
    undetected_clause = _describe_undetected(facts)
    if len(facts.languages) == 1:
        main_language = facts.languages[0]
        name = names.get(main_language.name, main_language.name)
        if undetected_clause:
            name = translate(
                "{name} ({share}; {undetected})",
                name=name,
                share=_percent(main_language.share),
                undetected=undetected_clause,
            )
        return translate(" in {language}", language=name)
    named = [language for language in facts.languages[:MAX_LANGUAGES] if language.share >= MIN_SHARE] or list(
        facts.languages[:1]
    )
    named = list(facts.languages) if len(facts.languages) == len(named) + 1 else named
    clauses = [_with_share(names.get(language.name, language.name), language.share) for language in named]
    if rest := facts.languages[len(named) :]:
        other_languages = translate("{languages}", languages=CountedNoun(len(rest), "other language"))
        clauses.append(_with_share(other_languages, sum(language.share for language in rest)))
    return translate(" in {languages}", languages=_join_clauses(clauses)) + (
        f", {undetected_clause}" if undetected_clause else ""
    )


def _describe_undetected(facts: CollectionFacts) -> str:
    """Return a clause on documents without a detected language; empty if all have one."""
    if not facts.undetected:
        return ""
    if facts.passages == facts.documents:
        return translate("{number} without a detected language", number=facts.undetected)
    return translate("{passages} without a detected language", passages=CountedNoun(facts.undetected, "passage"))


def _with_share(name: str, share: float) -> str:
    return translate("{name} ({share})", name=name, share=_percent(share))


def _percent(share: float) -> str:
    return LOCALES[current_language()].fine_percent(share)


def _describe_dates(facts: CollectionFacts) -> str:
    """Return the number of documents with and without a date, and the years of the dates."""
    first, last = facts.first[:4], facts.last[:4]
    years = translate("from {first} to {last}", first=first, last=last) if first != last else ""
    years = years or translate("from {year}", year=first)
    if facts.dated == facts.documents:
        return f" {years}"
    clauses = [translate("{number} dated {years}", number=facts.dated, years=years)] if facts.dated else []
    if facts.file_dated:
        clauses.append(translate("{number} with a file date only", number=facts.file_dated))
    if facts.undated:
        clauses.append(translate("{number} undated", number=facts.undated) if clauses else translate("all undated"))
    return f", {_join_clauses(clauses)}"


def _describe_topics(facts: CollectionFacts) -> str:
    """Return a clause on topics and headings; empty for a tree of one topic."""
    if facts.topics < 2:
        return ""
    topics, headings = CountedNoun(facts.topics, "topic"), CountedNoun(facts.headings, "heading")
    if not facts.headings:
        return translate(", sorted into {topics}", topics=topics)
    if facts.headings == facts.first_level:
        return translate(", sorted into {topics} under {headings}", topics=topics, headings=headings)
    return translate(
        ", sorted into {topics} and {headings} ({first} at the first level)",
        topics=topics,
        headings=headings,
        first=facts.first_level,
    )


def describe_reason(reason: str) -> str:
    """Return the reason why a document is unsorted."""
    return translate_table(REASONS)[reason]


def _describe_unsorted(facts: CollectionFacts) -> str:
    if not facts.unsorted:
        return ""
    return translate(", {number} unsorted", number=facts.unsorted)


def _join_clauses(clauses: list[str]) -> str:
    """Return a list in words: a, b and c."""
    if len(clauses) < 2:
        return "".join(clauses)
    return translate("{first} and {last}", first=", ".join(clauses[:-1]), last=clauses[-1])
