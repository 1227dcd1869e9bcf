"""Command ``topiarist find``: search a collection; also prints the results of ``similar``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from topiarist.cli.options import WritingOptions, argument, examples, number_option, option, topic_option, why_option
from topiarist.cli.terminal.screen import Screen, bar, open_collection
from topiarist.display.formats import DOT, count_noun, join_path, one_line, percent, verb
from topiarist.errors import UsageError
from topiarist.text.query import format_like_terms, format_phrase
from topiarist.text.spelling import find_similar_names

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.search.hits import Descent, Subtopic
    from topiarist.collection.search.results import Explanation, Hit, SearchResult, TopicHits
    from topiarist.collection.search.saved_searches import SavedSearch

EPILOG = examples(
    "topiarist find mail.topiary decision of the judge about bail --why",
    "topiarist find mail.topiary '\"bail hearing\" -football after:2004'",
    "topiarist find tickets.topiary 'printer status:open price:10..20 date:2025'",
    "topiarist find mail.topiary bail --like inbox/0231.txt --not inbox/0100.txt --tag bail --save bail",
    "topiarist find mail.topiary --saved bail",
    "topiarist find mail.topiary --queries questions.txt --json > answers.jsonl",
)
WRITES = ("tag", "save", "delete_saved")
NOTHING_FOUND = 1
TOPICS_SHOWN = 5
CHOICES_SHOWN = 10  # subtopics among which a search down the tree asks
REASONS, SENSE = 4, 3
NOTABLE = 0.01  # of a score: less is no reason


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Find documents: first the matches, then at most 20 related documents.

    A match has all words, in any form, or most of four or more. If no document has all, matches have at least a tenth
    of the information of the best one. Required: "phrases", prefix*, this OR that, topic:, tag:, label:, type:, date:,
    and columns such as status:open or price:10..20. Excluded: -word. `before:` and `after:` exclude the date, `since:`
    and `until:` include it. `like:ID` finds similar documents, `-like:ID` others.
    """

    query: list[str] | None = argument(None, "Words, phrases and filters to search for.", "QUERY…")
    like: list[str] | None = option(None, "Prefer documents like this one. Can be repeated.", metavar="ID")
    not_: list[str] | None = option(None, "Avoid documents like this one. Can be repeated.", metavar="ID")
    by: str = option("both", "`both`, `words` (all words exactly as typed) or `meaning`.", metavar="METHOD")
    topic: str | None = topic_option()
    number: int = number_option(10)
    why: bool = why_option()
    down: bool = option(False, "Follow the matches down the tree, and list the subtopics.")
    queries: str | None = option(None, "File with a query on each line, `-` for standard input.", metavar="FILE")
    tag: str | None = option(None, "Tag all matches, or the listed documents without matches.", metavar="NAME")
    save: str | None = option(None, "Save the query under this name.", metavar="NAME")
    saved: str | None = option(None, "Repeat a saved query.", metavar="NAME")
    list_saved: bool = option(False, "List the saved queries.")
    delete_saved: str | None = option(None, "Delete a saved query.", metavar="NAME")


@dataclass(frozen=True)
class Answer:
    """Query with its result, the topics of its hits and the rows to be tagged."""

    query: str
    result: SearchResult
    topics: tuple[TopicHits, ...]
    n_rows: int
    matching: bool  # all that match exactly, not those that are nearest
    rows: tuple[int, ...]  # to be tagged
    size: str  # number of documents, or of passages and their documents
    unit: str  # document or passage
    descent: Descent | None  # with --down

    def to_dict(self) -> dict[str, Any]:
        down = {} if self.descent is None else {"down": self.descent.to_dict()}
        return {"query": self.query, "counted": self.n_rows, **self.result.to_dict(self.topics), **down}


def run(options: Options) -> None:
    """Run a query, a file of queries or a saved search, and print the hits. Exit with 1 without hits."""
    typed = bool(options.query or options.like or options.not_)
    ways = [typed, options.queries, options.saved, options.list_saved, options.delete_saved]
    if sum(map(bool, ways)) != 1:
        problem = "expected a query, a file of queries, or a saved search"
        raise UsageError(problem, hint="Run topiarist find FOLDER bail hearing.")
    if options.save and not typed:
        raise UsageError(
            "--save requires a query on the command line", hint="Run topiarist find FOLDER bail hearing --save bail."
        )
    with open_collection(options) as (screen, collection):
        if options.list_saved or options.delete_saved:
            _manage_saved_searches(screen, collection, options)
        elif options.queries:
            _find_all(screen, collection, options)
        else:
            _find(screen, collection, _load_saved(screen, collection, options) if options.saved else options)


def _load_saved(screen: Screen, collection: Collection, options: Options) -> Options:
    """Return the options with the query of a saved search. Print a note if its topic is lost."""
    from topiarist.collection.search.saved_searches import find_saved_search, find_search_topic

    saved, topic = find_saved_search(collection, options.saved or ""), options.topic
    if topic is None:
        number, lost_note = find_search_topic(collection, saved)
        topic = None if number is None else str(number)
        if lost_note:
            screen.say(f"“{one_line(saved.name)}”: {lost_note} (--save keeps it with another --topic)")
    return replace(options, query=[saved.query], by=saved.by, topic=topic)


def _find(screen: Screen, collection: Collection, options: Options) -> None:
    """Run one query, then tag, save and print as the options say. Exit with 1 without hits."""
    from topiarist.collection.search.saved_searches import SavedSearch

    words, like, unlike = options.query or [], options.like or [], options.not_ or []
    for id in (*like, *unlike):
        collection.documents.row_of(id)
    typed_words = words if len(words) == 1 else map(format_phrase, words)
    query = " ".join([*typed_words, *format_like_terms(like), *format_like_terms(unlike, exclude=True)])
    answer = answer_query(collection, options, query)
    _tag_hits(screen, collection, options, [answer])
    if options.save:
        save(screen, collection, SavedSearch(options.save, query, options.by, options.topic or ""))
    if options.json:
        screen.json(answer.to_dict())
    else:
        _print_answer(screen, options, answer)
    if not answer.result.hits:
        raise SystemExit(NOTHING_FOUND)


def save(screen: Screen, collection: Collection, search: SavedSearch) -> None:
    """Save a search and print the command that repeats it."""
    from topiarist.collection.search.saved_searches import save_search

    note = " in place of the one before" if save_search(collection, search) else ""
    screen.say(f"Saved as “{one_line(search.name)}”{note}: find FOLDER --saved {format_phrase(search.name)}")


def _manage_saved_searches(screen: Screen, collection: Collection, options: Options) -> None:
    """Delete a saved search or list all, and print the result."""
    from topiarist.collection.search.saved_searches import delete_search, find_search_topic, list_saved_searches
    from topiarist.collection.search.search import DEFAULT_METHOD

    if options.delete_saved:
        deleted = delete_search(collection, options.delete_saved)
        if not options.json:
            screen.print(f"Deleted the saved search “{one_line(deleted.name)}” ({one_line(deleted.query)}).")
    searches = list_saved_searches(collection)
    if options.json:
        screen.json({"saved": [search.to_dict() for search in searches]})
    elif options.list_saved and not searches:
        screen.print("No search was saved yet.")
        screen.print_next("find FOLDER WORDS --save NAME")
    elif options.list_saved:
        wide = max(len(search.name) for search in searches)
        for search in searches:
            topic = find_search_topic(collection, search)[1] or (f"topic {search.topic}" if search.topic else "")
            details = DOT.join(filter(None, (search.by if search.by != DEFAULT_METHOD else "", topic)))
            lead = f"  {one_line(search.name):<{wide}}  "
            screen.cut(lead, (one_line(search.query), "bold"), (f"  {details}", "dim"))
        screen.print_next(("find FOLDER --saved {}", searches[0].name))


def _find_all(screen: Screen, collection: Collection, options: Options) -> None:
    """Run queries of a file. Print rows of hits, or JSON lines of queries. Exit with 1 without hits."""
    answers = []
    if not options.json:
        print("query", "rank", "score", "id", "title", "related", sep="\t")
    for query in _read_queries(options.queries or ""):
        answer = answer_query(collection, options, query)
        answers.append(answer)
        if options.json:
            print(json.dumps(answer.to_dict()))
            continue
        for rank, hit in enumerate(answer.result.hits, 1):
            cells = one_line(hit.id), one_line(hit.title), "yes" if hit.related else "no"
            print(one_line(query), rank, f"{hit.score:.4f}", *cells, sep="\t")
    _tag_hits(screen, collection, options, answers)
    unanswered = [answer.query for answer in answers if not answer.result.hits]
    if unanswered:
        number = count_noun(len(unanswered), "query", "queries")
        screen.say(f"{number} found nothing: {one_line(', '.join(unanswered[:5]))}")
    if len(unanswered) == len(answers):
        raise SystemExit(NOTHING_FOUND)


def _read_queries(path: str) -> list[str]:
    """Read queries from a file or standard input, without comments. Raise UsageError without any."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        hint = "Pass a UTF-8 file with one query on each line."
        raise UsageError(f"cannot read the queries in {path}: {error}", hint=hint) from error
    queries = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not queries:
        raise UsageError(f"there is no query in {path}", hint="Write one query on each line.")
    return queries


def _tag_hits(screen: Screen, collection: Collection, options: Options, answers: list[Answer]) -> None:
    """Tag the hits of the answers and print their number; nothing without ``--tag``."""
    from topiarist.collection.passages import count_documents

    if options.tag is None:
        return
    rows = sorted({row for answer in answers for row in answer.rows})
    if rows:
        collection.tag(rows, options.tag)
    screen.say(f"Tagged {count_documents(collection, rows)} “{one_line(options.tag)}”.")


def answer_query(collection: Collection, options: Options, query: str) -> Answer:
    """Run a query and return its hits, topics and counts."""
    from topiarist.collection.passages import count_documents
    from topiarist.collection.search.hits import count_topic_hits, descend
    from topiarist.collection.search.search import METHODS, Search

    if options.by not in METHODS:
        hint = f"Use --by {(find_similar_names(options.by, METHODS) or METHODS)[0]}."
        raise UsageError(f"expected a search by {', '.join(METHODS)}, got {options.by!r}", hint=hint)
    search = Search(collection, query, options.by)
    rows = search.rows(options.topic)
    result = search.page(options.number, topic=options.topic, why=options.why)
    unit = count_documents(collection).noun
    return Answer(
        query,
        result,
        count_topic_hits(collection, rows),
        n_rows=len(rows),
        matching=not search.ranks_all_documents,
        rows=tuple([hit.row for hit in result.hits] if search.ranks_all_documents else rows.tolist()),
        size=str(count_documents(collection, rows)) if result.exact else count_noun(result.total, unit),
        unit=unit,
        descent=descend(collection, rows, options.topic) if options.down else None,
    )


def _print_answer(screen: Screen, options: Options, answer: Answer) -> None:
    """Print notes, topics, hits and next commands. ``--down`` prints steps down the tree instead."""
    result = answer.result
    if result.read_as:
        screen.say(f"Read as: {result.read_as}")
    for remark in result.remarks:
        screen.say(one_line(remark))
    if result.hits or (answer.matching and not result.message):
        screen.print(*_describe_answer(options, answer))
    if result.message:
        screen.print(result.message)
    if result.suggestions:
        screen.print("Did you mean ", (" or ".join(result.suggestions[:3]), "bold"), "?")
    if answer.descent is not None and answer.n_rows:
        _print_descent(screen, options, answer.descent)
        return
    if len(answer.topics) > 1:
        _print_topics(screen, answer)
    for number, hit in enumerate(result.hits, 1):
        if hit.related and (number == 1 or not result.hits[number - 2].related):
            screen.heading("Related documents (no matches, near in words and meaning)")
        show_hit(screen, number, hit)
    screen.print_next(*_list_next(options, answer))


def _list_next(options: Options, answer: Answer) -> list[tuple[str, ...]]:
    """Return commands that go on from an answer."""
    from topiarist.collection.search.search import DEFAULT_METHOD, FEW_MATCHES

    result, (command, typed) = answer.result, _format_repeat_command(options)
    first = [("show FOLDER {}", hit.id) for hit in result.hits[:1]]
    if options.by == "words" and result.total < FEW_MATCHES:
        return [(f"{command} --by meaning", *typed), *first]
    if not result.hits:
        return [("find FOLDER {}", result.widened) if result.widened else ("tree FOLDER",)]
    if len(answer.topics) > 1 and options.topic is None:
        largest = max(answer.topics, key=lambda topic: (topic.documents, len(topic.path)))
        by = "" if options.by == DEFAULT_METHOD else f" --by {options.by}"
        return [*first, (f"{command}{by} --topic {largest.topic}", *typed)]
    return [*first, ("similar FOLDER {}", result.hits[0].id)]


def _format_repeat_command(options: Options) -> tuple[str, tuple[str, ...]]:
    """Return the command with ``{}`` for each query word and example, and the values to fill in."""
    query, like, unlike = options.query or [], options.like or [], options.not_ or []
    command = f"find FOLDER{' {}' * len(query)}{' --like {}' * len(like)}{' --not {}' * len(unlike)}"
    return command, (*query, *like, *unlike)


def _describe_answer(options: Options, answer: Answer) -> list[str | tuple[str, str]]:
    """Return the first sentence of an answer, as parts with styles."""
    total, query, unit = answer.result.total, (one_line(answer.query), "bold"), answer.unit
    half = [topic for topic in answer.topics if topic.documents > answer.n_rows / 2 and answer.n_rows > 1]
    deepest = join_path(max(half, key=lambda topic: len(topic.path)).path) if half else ""
    if options.by == "words" or answer.matching:
        topic_text = f", most of them under {deepest}" if half else ""
        if answer.result.only_some_words:
            condition = " that meets the conditions" if answer.result.limited else ""
            have = verb(total, "has", "have")
            return [f"No {unit}{condition} has all words. {answer.size} {have} some of them{topic_text}."]
        size = ("" if answer.result.exact else "at least ") + (answer.size if total else f"No {unit}")
        complete = answer.result.all_words
        complete_text = f", {complete:,} of them with all words" if complete and complete < total else ""
        return [f"{size} match{'es' if total <= 1 else ''} ", query, f"{complete_text}{topic_text}."]
    lead = "Nearest in meaning to " if options.by == "meaning" else "Best by words and meaning for "
    topic_text = f"; of the {answer.n_rows} best most are under {deepest}" if half else ""
    return [lead, query, f", {len(answer.result.hits):,} of {count_noun(total, unit)}{topic_text}."]


def _print_topics(screen: Screen, answer: Answer) -> None:
    """Print the topics of the hits, with their numbers of hits and documents."""
    screen.heading("Topics of the matches" if answer.matching else f"Topics of the {answer.n_rows:,} nearest documents")

    def print_topic(topic: TopicHits) -> None:
        indent = "  " * len(topic.path)
        name = screen.shorten(topic.path[-1], (screen.width or 100) - 40 - len(indent))
        numbers, share = f"{topic.documents:,} / {topic.all:,} ", bar(topic.documents / max(answer.n_rows, 1), 8)
        screen.cut(f"{indent}{name}  ", (numbers, "dim"), (share, "green"), (f"  (topic {topic.topic})", "dim"))

    screen.list_items(answer.topics, TOPICS_SHOWN, print_topic)


def _print_descent(screen: Screen, options: Options, descent: Descent) -> None:
    """Print the steps that the words decide, then the choice that they leave open."""
    screen.heading("Down the tree")
    for depth, step in enumerate(descent.steps):
        others = step.below[1:] if depth < len(descent.steps) - 1 else ()
        _print_branch(screen, step.branch, descent.steps[0].branch.documents, "  " * depth)
        if others:
            left = ", ".join(f"{one_line(branch.name)} {branch.documents:,}" for branch in others[:TOPICS_SHOWN])
            screen.cut("  " * depth, (f"    in other subtopics: {left}", "dim"))
    command, typed = _format_repeat_command(options)
    by = "" if options.by == "both" else f" --by {options.by}"
    if not descent.choices:
        screen.print_next((f"{command}{by} --topic {descent.steps[-1].branch.topic}", *typed))
        return
    screen.heading("Choose a subtopic")
    for branch in descent.choices[:CHOICES_SHOWN]:
        _print_branch(screen, branch, descent.steps[-1].branch.documents, "")
    screen.print_next(*((f"{command}{by} --down --topic {branch.topic}", *typed) for branch in descent.choices[:3]))


def _print_branch(screen: Screen, branch: Subtopic, of: int, indent: str) -> None:
    """Print a topic with its number of hits, their share of ``of``, and its words."""
    name = screen.shorten(branch.name, (screen.width or 100) // 2)
    kept = f"{branch.documents:,} "
    words = ", ".join(map(one_line, branch.words))
    share = bar(branch.documents / max(of, 1), 8)
    screen.cut(f"{indent}{name}  ", (kept, "dim"), (share, "green"), (f"  (topic {branch.topic})  {words}", "dim"))


def show_hit(screen: Screen, number: int, hit: Hit) -> None:
    """Print a hit: title, topic, facts, snippet, number of copies and explanation."""
    screen.print()
    screen.cut(f"{number:>3}  ", (one_line(hit.title or hit.id), "bold"))
    place = join_path(hit.place.path)
    facts = [one_line(hit.id), hit.date, ", ".join(map(one_line, hit.labels))]
    screen.cut("     ", place, ("  " + DOT.join(fact for fact in facts if fact), "dim"))
    snippet = Text()
    for piece, match in hit.snippet:
        plain = "".join(sign if sign.isprintable() else " " for sign in piece)
        snippet.append(plain if not match or screen.out.is_terminal else f"*{plain}*", "bold yellow" if match else None)
    screen.print(snippet, indent=5)
    if hit.copies:
        screen.print((f"and {count_noun(hit.copies, 'copy', 'copies')}", "dim"), indent=5)
    if hit.why is not None:
        _print_explanation(screen, hit.why)


def _print_explanation(screen: Screen, explanation: Explanation) -> None:
    """Print the words and topics that contribute most to the score of a hit."""
    total = max(explanation.score, 1e-300)
    for reason in explanation.words[:REASONS]:
        sense = f"  in the sense of {', '.join(reason.sense[:SENSE])}" if reason.sense and reason.topic > 0 else ""
        screen.cut((f"     {percent(reason.amount / total):>5}  word  ", "dim"), reason.word, (sense, "dim"))
    for topic in [share for share in explanation.topics[:2] if share.amount >= NOTABLE * total]:
        screen.cut((f"     {percent(topic.amount / total):>5}  topic ", "dim"), ", ".join(topic.words[:5]))
