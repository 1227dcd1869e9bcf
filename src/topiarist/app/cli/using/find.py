"""``topiarist find`` and ``topiarist similar``: where is it, and what else is like this?"""

from __future__ import annotations

import os
from typing import Any

from rich.text import Text

from topiarist.app.cli.printing import counted, one_line
from topiarist.app.cli.using.options import FindOptions, SimilarOptions
from topiarist.app.cli.using.screen import Screen, bar, opened, path_of, percent
from topiarist.errors import UsageError
from topiarist.files import finding
from topiarist.files.collection import Collection
from topiarist.files.finding import FEW, Found, FoundDocument
from topiarist.hierarchy.finding import nearest
from topiarist.tasks.search import Explanation
from topiarist.text.readers import read

NOTHING_FOUND = 1
TOPICS_SHOWN = 5
REASONS, SENSE = 4, 3
QUERY_WORDS = 12  # of a text that is repeated in the first line


def run(options: FindOptions | SimilarOptions) -> None:
    """Search, print, leave with 1 if nothing was found."""
    screen = Screen(options)
    with opened(options) as collection:
        if isinstance(options, FindOptions):
            query, found = _find(collection, options)
            spread = finding.spread(collection, query, by=options.by, topic=options.topic) if found.total else ()
        else:
            query, found, spread = options.document, _similar(collection, options), ()
        if options.json:
            screen.json(_told(query, found, spread))
        elif isinstance(options, FindOptions):
            _show(screen, options, query, found, spread)
        else:
            _show_similar(screen, options, found)
        if not found.hits:
            raise SystemExit(NOTHING_FOUND)


def _find(collection: Collection, options: FindOptions) -> tuple[str, Found]:
    if options.by not in finding.WAYS:
        raise UsageError(
            f"a search goes by {', '.join(finding.WAYS)}; got {options.by!r}",
            hint=f"--by {nearest(options.by, finding.WAYS).split(',')[0]}".replace("'", ""),
        )
    query = " ".join(word if " " not in word or len(options.query) == 1 else f'"{word}"' for word in options.query)
    found = finding.search(collection, query, options.number, by=options.by, topic=options.topic, why=options.why)
    return query, found


def _similar(collection: Collection, options: SimilarOptions) -> Found:
    """By id; or a file by its text, where no document is called so."""
    known = collection.generation.database.one("SELECT 1 FROM documents WHERE id = ?", (options.document,))
    if known is None and os.path.isfile(options.document):
        with read([options.document], limit=1) as documents:
            (text,) = [f"{document.title}\n{document.text}" for document in documents]
        return finding.like_text(collection, text, options.number, topic=options.topic, why=options.why)
    return finding.similar(collection, options.document, options.number, topic=options.topic, why=options.why)


def _show(screen: Screen, options: FindOptions, query: str, found: Found, spread: tuple[finding.Held, ...]) -> None:
    least = "at least " if not found.exact else ""
    verb = "match" if found.total != 1 else "matches"
    how = {"words": verb, "meaning": "are near in meaning to", "both": f"{verb} or are near"}[options.by]
    most = ""
    if spread and found.total > 1:
        most = f", most of them under {path_of(spread[0].path)}" if spread[0].documents > found.total / 2 else ""
    if found.read_as:
        screen.say(f"Read as: {found.read_as}")
    if found.hits:
        screen.print(f"{least}{counted(found.total, 'document')} {how} ", (one_line(query), "bold"), f"{most}.")
    if found.message:
        screen.print(found.message)
    if found.suggestions:
        screen.print("Did you mean ", (" or ".join(found.suggestions[:3]), "bold"), "?")
    if len(spread) > 1:
        _where(screen, spread, found.total)
    for number, hit in enumerate(found.hits, 1):
        _hit(screen, number, hit)
    if options.by == "words" and found.total < FEW:
        screen.next(f"find FOLDER {_typed(options.query)} --by meaning")
    elif found.hits:
        screen.next(
            f"show FOLDER {found.hits[0].id}", f"find FOLDER {_typed(options.query)} --topic {spread[0].topic}"
            if len(spread) > 1 and options.topic is None else f"similar FOLDER {found.hits[0].id}",
        )  # fmt: skip
    else:
        screen.next("tree FOLDER")


def _show_similar(screen: Screen, options: SimilarOptions, found: Found) -> None:
    if found.hits:
        screen.print("Most like ", (one_line(options.document), "bold"), f", of {counted(found.total, 'document')}")
    if found.message:
        screen.print(found.message)
    for number, hit in enumerate(found.hits, 1):
        _hit(screen, number, hit)
    if found.hits:
        screen.next(f"show FOLDER {found.hits[0].id}", *([] if options.why else ["similar FOLDER ID --why"]))
    else:
        screen.next("find FOLDER WORDS")


def _where(screen: Screen, spread: tuple[finding.Held, ...], total: int) -> None:
    """Which topics hold the hits: the next step of a search that found too much."""
    screen.heading("Where in the tree")
    for held in spread[:TOPICS_SHOWN]:
        indent = "  " * len(held.path)
        name = screen.fits(held.path[-1] if held.path else "Everything", (screen.width or 100) - 40 - len(indent))
        screen.cut(
            f"{indent}{name}  ", (f"{held.documents:,} / {held.all:,}", "dim"), " ",
            (bar(held.documents / max(total, 1), 8), "green"), (f"  (topic {held.topic})", "dim"),
        )  # fmt: skip
    if len(spread) > TOPICS_SHOWN:
        screen.print((f"  and {len(spread) - TOPICS_SHOWN:,} more", "dim"))


def _hit(screen: Screen, number: int, hit: FoundDocument) -> None:
    screen.print()
    screen.cut(f"{number:>3}  ", (one_line(hit.title or hit.id), "bold"))
    place = f"{path_of(hit.place.path)}  {percent(hit.place.share)}"
    facts = [one_line(hit.id), hit.date, ", ".join(map(one_line, hit.labels))]
    screen.cut("     ", place, ("  " + " · ".join(fact for fact in facts if fact), "dim"))
    snippet = Text()
    for piece, match in hit.snippet:
        plain = "".join(sign if sign.isprintable() else " " for sign in piece)
        snippet.append(plain if not match or screen.out.is_terminal else f"*{plain}*", "bold yellow" if match else None)
    screen.print(snippet, indent=5)
    if hit.why is not None:
        _why(screen, hit.why)


def _why(screen: Screen, why: Explanation) -> None:
    """The largest reasons, as shares of the score."""
    total = max(why.score, 1e-300)
    for reason in why.words[:REASONS]:
        sense = f"  in the sense of {', '.join(reason.sense[:SENSE])}" if reason.sense else ""
        screen.cut((f"     {percent(reason.amount / total):>5}  word  ", "dim"), reason.word, (sense, "dim"))
    for topic in why.topics[:2]:
        screen.cut((f"     {percent(topic.amount / total):>5}  topic ", "dim"), ", ".join(topic.words[:5]))


def _typed(words: list[str]) -> str:
    return " ".join(word if word.isalnum() else f"'{word}'" for word in words)


def _told(query: str, found: Found, spread: tuple[finding.Held, ...]) -> dict[str, Any]:
    return {
        "query": query, "total": found.total, "exact": found.exact, "read_as": found.read_as,
        "message": found.message, "suggestions": list(found.suggestions),
        "topics": [
            {"id": held.topic, "path": list(held.path), "matching": held.documents, "documents": held.all}
            for held in spread
        ],
        "hits": [_told_hit(hit) for hit in found.hits],
    }  # fmt: skip


def _told_hit(hit: FoundDocument) -> dict[str, Any]:
    why = None
    if hit.why is not None:
        why = {
            "words": [{"word": one.word, "amount": round(one.amount, 6), "sense": list(one.sense)} for one in hit.why.words],
            "topics": [{"words": list(one.words), "amount": round(one.amount, 6)} for one in hit.why.topics],
        }
    return {
        "id": hit.id, "title": hit.title, "score": round(hit.score, 6), "date": hit.date, "labels": list(hit.labels),
        "snippet": [{"text": text, "match": match} for text, match in hit.snippet],
        "topic": hit.place.topic, "path": list(hit.place.path), "share": round(hit.place.share, 6), "why": why,
    }  # fmt: skip
