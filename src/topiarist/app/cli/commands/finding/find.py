"""``topiarist find``: where is it? Also prints what ``similar`` finds."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from topiarist import collection as door
from topiarist.app.cli.options import NUMBER, UNDER, WHY, WritingOptions, examples, option
from topiarist.app.cli.terminal.screen import Screen, bar
from topiarist.app.words import DOT, and_more, counted, one_line, path_of, percent
from topiarist.errors import UsageError
from topiarist.text.passages import part_of
from topiarist.text.query import liking, phrase
from topiarist.text.spelling import proposed

EPILOG = examples(
    "topiarist find mail.topiary what did the judge say about bail --why",
    "topiarist find mail.topiary '\"bail hearing\" -football after:2004'",
    "topiarist find tickets.topiary 'printer status:open price:10..20 date:2025'",
    "topiarist find mail.topiary bail --like inbox/0231.txt --not inbox/0100.txt --tag bail --save bail",
    "topiarist find mail.topiary --saved bail",
    "topiarist find mail.topiary --queries questions.txt --json > answers.jsonl",
)
WRITES = ("tag", "save", "delete_saved")
NOTHING_FOUND = 1
TOPICS_SHOWN = 5
REASONS, SENSE = 4, 3
NOTABLE = 0.01  # of a score: less is no reason


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Find documents, the best first: words in every form, none of them required, and what they mean. Exact are
    phrases in quotes, prefix*, -not, this OR that, topic:, tag:, label:, type:, before:, after:, date:, and any column
    of the documents: status:open, price:10..20. like:ID asks for more like a document, -like:ID for others.
    """

    query: Annotated[list[str] | None, typer.Argument(metavar="QUERY…", help="What to look for.")] = None
    like: Annotated[
        list[str] | None, option("More like this document; may be given several times.", "--like", metavar="ID")
    ] = None
    not_: Annotated[
        list[str] | None, option("Not like this one; may be given several times.", "--not", metavar="ID")
    ] = None
    by: Annotated[str, option("`both`; `words`: all of them, as typed; or `meaning`.")] = "both"
    topic: Annotated[str | None, UNDER] = None
    number: Annotated[int, NUMBER] = 10
    why: Annotated[bool, WHY] = False
    queries: Annotated[
        str | None,
        option("A file with a query on each line (- for standard input): one table, or JSON lines.", "--queries"),
    ] = None
    tag: Annotated[
        str | None, option("Tag all that match; where documents are only near, those that are shown.", "--tag")
    ] = None
    save: Annotated[str | None, option("Keep the query with the collection, under a name.", metavar="NAME")] = None
    saved: Annotated[str | None, option("Ask a query that was saved.", metavar="NAME")] = None
    list_saved: Annotated[bool, option("List the queries that were saved.", "--list-saved")] = False
    delete_saved: Annotated[str | None, option("Let a saved query go.", metavar="NAME")] = None


@dataclass(frozen=True)
class Answer:
    """A query, what it found, and which topics hold how many of so many hits."""

    query: str
    found: door.Found
    held: tuple[door.Held, ...] = ()
    n_rows: int = 0
    matching: bool = False  # all that match exactly, not those that are nearest
    rows: tuple[int, ...] = ()  # to be tagged
    said: str = ""  # how many documents, or passages of how many, all of them are
    unit: str = "document"  # or passage


def run(options: Options) -> None:
    """Search, print, leave with 1 if nothing was found."""
    screen = Screen(options)
    typed = bool(options.query or options.like or options.not_)
    ways = [typed, options.queries, options.saved, options.list_saved, options.delete_saved]
    if sum(map(bool, ways)) != 1:
        raise UsageError("expected a query, a file of them, or a saved one", hint="topiarist find FOLDER bail hearing")
    if options.save and not typed:
        raise UsageError("--save keeps a query that is typed", hint="topiarist find FOLDER bail hearing --save bail")
    with door.Collection.open(options.folder) as collection:
        if options.list_saved or options.delete_saved:
            _saved(screen, collection, options)
            return
        if options.saved:
            known = door.saved_search(collection, options.saved)
            topic = options.topic
            if topic is None:
                found, gone = door.topic_of_search(collection, known)
                topic = None if found is None else str(found)
                if gone:
                    screen.say(f"“{one_line(known.name)}”: {gone} (--save keeps it with another --topic)")
            options = replace(options, query=[known.query], by=known.by, topic=topic)
        if options.queries:
            _find_all(screen, collection, options)
            return
        for id in (*(options.like or []), *(options.not_ or [])):
            collection.documents.row_of(id)
        pointed = [*liking(options.like or []), *liking(options.not_ or [], exclude=True)]
        answer = answered(collection, options, " ".join(filter(None, [_typed(options.query or []), *pointed])))
        _tag(screen, collection, options, [answer])
        if options.save:
            save(screen, collection, door.SavedSearch(options.save, answer.query, options.by, options.topic or ""))
    if options.json:
        screen.json(answer_body(answer))
    else:
        _show(screen, options, answer)
    if not answer.found.hits:
        raise SystemExit(NOTHING_FOUND)


def save(screen: Screen, collection: door.Collection, search: door.SavedSearch) -> None:
    """Keep a search, and say how it is asked again."""
    again = " in place of the one before" if door.save_search(collection, search) else ""
    screen.say(f"Saved as “{one_line(search.name)}”{again}: find FOLDER --saved {phrase(search.name)}")


def _saved(screen: Screen, collection: door.Collection, options: Options) -> None:
    """List the saved queries, or let one go."""
    if options.delete_saved:
        gone = door.delete_search(collection, options.delete_saved)
        if not options.json:
            screen.print(f"The saved search “{one_line(gone.name)}” ({one_line(gone.query)}) is gone.")
    known = door.saved_searches(collection)
    if options.json:
        screen.json({"saved": [one.to_dict() for one in known]})
    elif options.list_saved and not known:
        screen.print("No search was saved yet.")
        screen.next("find FOLDER WORDS --save NAME")
    elif options.list_saved:
        wide = max(len(one.name) for one in known)
        for one in known:
            said = [one.by] if one.by != door.DEFAULT_WAY else []
            lost = door.topic_of_search(collection, one)[1]
            how = DOT.join([*said, *([lost] if lost else [f"topic {one.topic}"] * bool(one.topic))])
            screen.cut(f"  {one_line(one.name):<{wide}}  ", (one_line(one.query), "bold"), (f"  {how}", "dim"))
        screen.next(("find FOLDER --saved {}", known[0].name))


def _typed(words: list[str]) -> str:
    return " ".join(word if len(words) == 1 else phrase(word) for word in words)


def _find_all(screen: Screen, collection: door.Collection, options: Options) -> None:
    """One query after the other: a row for each hit, or a line of JSON for each query; 1 if none finds anything."""
    answers = []
    if not options.json:
        print("query", "rank", "score", "id", "title", sep="\t")
    for query in _lines(options.queries or ""):
        answer = answered(collection, options, query)
        answers.append(answer)
        if options.json:
            print(json.dumps(answer_body(answer)))
            continue
        for rank, hit in enumerate(answer.found.hits, 1):
            print(one_line(query), rank, f"{hit.score:.4f}", one_line(hit.id), one_line(hit.title), sep="\t")
    _tag(screen, collection, options, answers)
    nothing = [answer.query for answer in answers if not answer.found.hits]
    if nothing:
        screen.say(f"{counted(len(nothing), 'query', 'queries')} found nothing: {one_line(', '.join(nothing[:5]))}")
    if len(nothing) == len(answers):
        raise SystemExit(NOTHING_FOUND)


def _lines(path: str) -> list[str]:
    """The queries of a file; empty lines and those that begin with # are none."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the queries in {path}: {error}", hint="a UTF-8 file, a query on each line"
        ) from error
    found = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not found:
        raise UsageError(f"there is no query in {path}", hint="a query on each line")
    return found


def _tag(screen: Screen, collection: door.Collection, options: Options, answers: list[Answer]) -> None:
    """Give the documents that were found a tag, all of them or none."""
    if options.tag is None:
        return
    rows = sorted({row for answer in answers for row in answer.rows})
    if rows:
        collection.tag(rows, options.tag)
    screen.say(f"Tagged {door.extent(collection, rows)} “{one_line(options.tag)}”.")


def answered(collection: door.Collection, options: Options, query: str) -> Answer:
    """What a query finds, and which topics hold it."""
    if options.by not in door.WAYS:
        raise UsageError(
            f"a search goes by {', '.join(door.WAYS)}; got {options.by!r}",
            hint=f"--by {proposed(options.by, door.WAYS).split(',')[0]}".replace("'", ""),
        )
    search = door.Search(collection, query, options.by)
    rows = search.rows(options.topic)
    found = search.page(options.number, topic=options.topic, why=options.why)
    chosen = [hit.row for hit in found.hits] if search.nearest else rows.tolist()
    held = door.topics_of(collection, rows)
    said = str(door.extent(collection, rows)) if found.exact else counted(found.total, door.unit(collection))
    return Answer(
        query, found, held, len(rows), matching=not search.nearest, rows=tuple(chosen), said=said,
        unit=door.unit(collection),
    )  # fmt: skip


def _show(screen: Screen, options: Options, answer: Answer) -> None:
    found, held = answer.found, answer.held
    if found.read_as:
        screen.say(f"Read as: {found.read_as}")
    for remark in found.remarks:
        screen.say(one_line(remark))
    if found.hits:
        screen.print(*_sentence(options, answer))
    if found.message:
        screen.print(found.message)
    if found.suggestions:
        screen.print("Did you mean ", (" or ".join(found.suggestions[:3]), "bold"), "?")
    if len(held) > 1:
        _where(screen, answer)
    for number, hit in enumerate(found.hits, 1):
        show_hit(screen, number, hit)
    typed = options.query or []
    again = f"find FOLDER {' '.join(['{}'] * len(typed))}"
    if options.by == "words" and found.total < door.FEW:
        screen.next(
            (f"{again} --by meaning", *typed),
            *([("show FOLDER {}", found.hits[0].id)] if found.hits else []),
        )
    elif found.hits:
        further: tuple[str, ...] = ("similar FOLDER {}", found.hits[0].id)
        if len(held) > 1 and options.topic is None:
            most = max(held, key=lambda one: (one.documents, len(one.path)))
            by = "" if options.by == door.DEFAULT_WAY else f" --by {options.by}"
            further = (f"{again}{by} --topic {most.topic}", *typed)
        screen.next(("show FOLDER {}", found.hits[0].id), further)
    else:
        screen.next("tree FOLDER")


def _sentence(options: Options, answer: Answer) -> list[str | tuple[str, str]]:
    """How many there are, and where most of them lie."""
    total, query = answer.found.total, (one_line(answer.query), "bold")
    half = [held for held in answer.held if held.documents > answer.n_rows / 2 and answer.n_rows > 1]
    deepest = path_of(max(half, key=lambda held: len(held.path)).path) if half else ""
    if options.by == "words" or answer.matching:
        least = "" if answer.found.exact else "at least "
        most = f", most of them under {deepest}" if half else ""
        return [f"{least}{answer.said} match{'es' if total == 1 else ''} ", query, f"{most}."]
    if answer.found.all_words is not None:
        number = answer.found.all_words
        has = f"{counted(number, answer.unit)} {'has' if number == 1 else 'have'} all words of "
        has = has if number else "Best for "
        most = f"; of the {answer.n_rows} best most are under {deepest}" if half else ""
        return [has, query, f"; the {len(answer.found.hits):,} best by words and meaning{most}."]
    lead = "Nearest in meaning to " if options.by == "meaning" else "Best by words and meaning for "
    shown = f", {len(answer.found.hits):,} of {counted(total, answer.unit)}"
    return [lead, query, f"{shown}; of the {answer.n_rows} best most are under {deepest}." if half else f"{shown}."]


def _where(screen: Screen, answer: Answer) -> None:
    """Which topics hold the hits: the next step of a search that found too much."""
    screen.heading("Where in the tree")
    for held in answer.held[:TOPICS_SHOWN]:
        indent = "  " * len(held.path)
        name = screen.fits(held.path[-1], (screen.width or 100) - 40 - len(indent))
        screen.cut(
            f"{indent}{name}  ",
            (f"{held.documents:,} / {held.all:,} ", "dim"),
            (bar(held.documents / max(answer.n_rows, 1), 8), "green"),
            (f"  (topic {held.topic})", "dim"),
        )
    if len(answer.held) > TOPICS_SHOWN:
        screen.print((f"  {and_more(answer.held, TOPICS_SHOWN)}", "dim"))


def show_hit(screen: Screen, number: int, hit: door.FoundDocument) -> None:
    """A document that was found: title, place, and the text around the words."""
    screen.print()
    screen.cut(f"{number:>3}  ", (one_line(hit.title or hit.id), "bold"))
    place = f"{path_of(hit.place.path)}  {percent(hit.place.share)}"
    facts = [one_line(hit.id), hit.date, ", ".join(map(one_line, hit.labels))]
    screen.cut("     ", place, ("  " + DOT.join(fact for fact in facts if fact), "dim"))
    snippet = Text()
    for piece, match in hit.snippet:
        plain = "".join(sign if sign.isprintable() else " " for sign in piece)
        snippet.append(plain if not match or screen.out.is_terminal else f"*{plain}*", "bold yellow" if match else None)
    screen.print(snippet, indent=5)
    if hit.copies:
        screen.print((f"and {counted(hit.copies, 'copy', 'copies')}", "dim"), indent=5)
    if hit.why is not None:
        _why(screen, hit.why)


def _why(screen: Screen, why: door.Explanation) -> None:
    """The largest reasons, as shares of the score; the sense of the root is no sense in particular."""
    total = max(why.score, 1e-300)
    for reason in why.words[:REASONS]:
        sense = f"  in the sense of {', '.join(reason.sense[:SENSE])}" if reason.sense and reason.topic > 0 else ""
        screen.cut((f"     {percent(reason.amount / total):>5}  word  ", "dim"), reason.word, (sense, "dim"))
    for topic in [one for one in why.topics[:2] if one.amount >= NOTABLE * total]:
        screen.cut((f"     {percent(topic.amount / total):>5}  topic ", "dim"), ", ".join(topic.words[:5]))


def answer_body(answer: Answer) -> dict[str, Any]:
    """What was found, as plain JSON data."""
    found = answer.found
    return {
        "query": answer.query, "total": found.total, "exact": found.exact, "read_as": found.read_as,
        "message": found.message, "suggestions": list(found.suggestions), "remarks": list(found.remarks),
        "all_words": found.all_words, "not_required": list(found.not_required),
        "folded": found.folded,
        "topics": [
            {"id": held.topic, "path": list(held.path), "matching": held.documents, "documents": held.all}
            for held in answer.held
        ],
        "hits": [_hit_body(hit) for hit in found.hits],
    }  # fmt: skip


def _hit_body(hit: door.FoundDocument) -> dict[str, Any]:
    why, part = None, part_of(hit.id)
    part = part if part and hit.title.endswith(f", {part.label}") else None
    if hit.why is not None:
        why = {
            "words": [
                {"word": one.word, "amount": round(one.amount, 6), "sense": list(one.sense)} for one in hit.why.words
            ],
            "topics": [{"words": list(one.words), "amount": round(one.amount, 6)} for one in hit.why.topics],
        }
    return {
        "id": hit.id, "title": hit.title, "score": round(hit.score, 6), "date": hit.date, "labels": list(hit.labels),
        "snippet": [{"text": text, "match": match} for text, match in hit.snippet],
        "topic": hit.place.topic, "path": list(hit.place.path), "share": round(hit.place.share, 6), "why": why,
        "copies": hit.copies, "whole": part.whole if part else "", "passage": part.label if part else "",
    }  # fmt: skip
