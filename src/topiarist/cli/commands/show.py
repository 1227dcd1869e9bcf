"""Command ``topiarist show``: print a topic, a document, or the account of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.text import Text

from topiarist.cli.commands.tree import list_typical_documents
from topiarist.cli.options import FolderOptions, argument, examples, number_option, option, printing
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.first_sentence import describe_reason
from topiarist.display.formats import (
    DOT,
    PENDING,
    STEP,
    count_noun,
    describe_naming,
    join_path,
    list_some,
    one_line,
    percent,
    verb,
)
from topiarist.errors import MissingError, UsageError

if TYPE_CHECKING:
    from topiarist.collection.classify.word_labels import WordLabels
    from topiarist.collection.collection import Collection
    from topiarist.collection.describe.documents import DocumentDetails, ParentDetails
    from topiarist.collection.passages import Passage
    from topiarist.collection.search.results import Place

EPILOG = examples(
    "topiarist show mail.topiary 12",
    "topiarist show mail.topiary 'court · judge' --words 30",
    "topiarist show mail.topiary inbox/0231.txt",
    "topiarist show tickets.topiary",
)
WRITES = ()
PINS_SHOWN, COPIES_SHOWN, PASSAGES_SHOWN = 5, 5, 40
LONGEST_WORD = 28  # columns
SCALE = 12  # columns from general to special
MAX_CHARACTERS = 3_000  # characters of a text, unless all are wanted
UNCOUNTED_STYLE = "dim strike"
MIN_PROBABILITY = 0.5  # probability of a level below which a word is not marked as its
# From general to special: brighter and stronger, so that the level can be told without the colour.
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MIN_LABEL_PROBABILITY = 0.6  # probability of a label below which a word is not marked as its
LABEL_STYLES = ("cyan", "magenta", "yellow", "green", "blue", "red")  # of labels, in turn; the number is told, too
STYLES = ("dim", "cyan", "cyan underline", "bold cyan", "bold cyan underline", "bold cyan reverse")


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Show a topic, a document, or the columns and dates of the collection.

    A topic has words, subtopics and typical documents. A document has its text with the level of each word, and the
    reasons for its topics.
    """

    thing: str = argument("", "Topic, or id of a document. Omit it to show the collection.", "TOPIC|DOCUMENT")
    words: int = printing(12, "Words of a topic.", min=1, max=200)
    number: int = number_option(5)
    all: bool = printing(False, "Print the complete text of a document.")
    likely: bool = option(False, "List the most probable words of a topic, not the characteristic ones.")
    labels: bool = option(False, "Mark the words of a document by its labels, not by levels.")


def run(options: Options) -> None:
    """A topic if there is one that is called so, else a document."""
    with open_collection(options) as (screen, collection):
        show(screen, collection, options)


def show(screen: Screen, collection: Collection, options: Options) -> None:
    """Print a topic or a document; without a name, the origin and columns of the collection."""
    topic = find_topic(collection, options.thing) if options.thing else None
    if not options.thing:
        _show_collection(screen, collection, options)
    elif topic is None:
        _show_document(screen, collection, options)
    elif options.json:
        screen.json(describe_topic(collection, topic, options))
    else:
        _show_topic(screen, describe_topic(collection, topic, options))


def find_topic(collection: Collection, thing: str) -> int | None:
    """Return the topic with this id or name, or None for a document. Raise UsageError if neither exists."""
    from topiarist.collection.describe.documents import load_parent_details

    is_document = thing in collection.documents or load_parent_details(collection, thing) is not None
    try:
        topic = collection.topic(thing)
    except UsageError as error:
        if is_document:
            return None
        if isinstance(error, MissingError):
            near_ids = " or ".join(collection.documents.near_ids(thing))
            message = f"there is no topic and no document {thing!r}"
            raise UsageError(message, hint=f"Use the id {near_ids}." if near_ids else error.hint) from None
        raise
    exact = thing.lstrip("#").isdecimal() or collection.outline.name(topic).casefold() == thing.casefold()
    return None if is_document and not exact else topic


def describe_topic(collection: Collection, topic: int, options: Options) -> dict[str, Any]:
    """Return a topic as JSON data."""
    from topiarist.collection.describe.documents import list_topic_words
    from topiarist.collection.grow.regrowth import load_stability

    outline, topic_tree, stability = collection.outline, collection.tree, load_stability(collection)
    tree, node = outline.tree, outline.node(topic)
    summary, words = (
        topic_tree.nodes[node],
        list_topic_words(collection, topic, options.words, most_probable=options.likely),
    )
    children = sorted(tree.children(node), key=lambda child: -topic_tree.sizes[child])
    return {
        "id": topic,
        "name": tree.names[node],
        "named_by": describe_naming(topic in outline.titles),
        "path": list(tree.path_names(node)),
        "path_ids": [outline.topics[step] for step in tree.path(node)],
        "documents": topic_tree.sizes[node],
        "share": round(summary.share, 6),
        "coherence": round(summary.coherence, 4),
        "steadiness": None if stability is None else stability.shares.get(topic),
        "steadiness_said": "" if stability is None else stability.describe(topic),
        "note": outline.notes.get(topic, ""),
        "seeds": list(outline.seeds.get(topic, ())),
        "words": [asdict(word) for word in words],
        "subtopics": [
            {"id": outline.topics[child], "name": tree.names[child], "documents": topic_tree.sizes[child],
             "words": list(topic_tree.nodes[child].words[:5])}
            for child in children
        ],
        "typical": list_typical_documents(collection, node, options.number),
        "pinned": [name for name, pin in outline.pins.items() if pin == topic],
        "pending": outline.pending,
    }  # fmt: skip


def _show_topic(screen: Screen, body: dict[str, Any]) -> None:
    """Print a topic: size, stability, words, subtopics, typical and pinned documents."""
    screen.print((join_path(body["path"][:-1]) + STEP if len(body["path"]) > 1 else "", "dim"), (body["name"], "bold"))
    named = "named by a person" if body["named_by"] == "person" else "named by its words"
    subtopics = body["subtopics"]
    splits = f" It splits into {count_noun(len(subtopics), 'subtopic')}." if subtopics else ""
    size = f"{count_noun(body['documents'], 'document')} ({percent(body['share'])} of all)"
    screen.print(f"{size}. Topic {body['id']}, {named}.{splits}")
    if body["steadiness_said"]:
        screen.print(f"How sure is this topic? It is {body['steadiness_said']}.")
    if body["note"]:
        screen.print((body["note"], "italic"))
    if body["seeds"]:
        screen.print("Seed words: ", (", ".join(body["seeds"]), "bold"))
    if body["words"]:
        _print_words(screen, body["words"])
    if subtopics:
        _print_subtopics(screen, subtopics)
    if body["typical"]:
        screen.heading("Typical documents")
        for document in body["typical"]:
            screen.print_titled("  ", document["title"], document["id"])
    if body["pinned"]:
        screen.heading("Pinned by people")
        screen.print(list_some(body["pinned"], PINS_SHOWN), indent=2)
    if body["pending"]:
        screen.print((f"\n{PENDING}.", "yellow"))
    screen.print_next(
        f"show FOLDER {subtopics[0]['id']}" if subtopics else f"tree FOLDER --topic {body['path_ids'][-2:][0]}",
        f"find FOLDER WORDS --topic {body['id']}",
        f"shape FOLDER rename {body['id']} NAME",
    )


def _print_words(screen: Screen, words: list[dict[str, Any]]) -> None:
    """Print words as bars with probability, specificity and number of documents."""
    screen.heading("Own words")
    largest = max(word["probability"] for word in words) or 1.0
    room = min(max(len(word["word"]) for word in words), LONGEST_WORD)
    screen.cut((f"  {'':<{room}}  {'probability':<16}  general–special   in documents", "dim"))
    for word in words:
        special = round(SCALE * word["special"])
        scale = (
            f"  {word['probability']:.4f}  ", (f"├{'─' * special}", "dim"), "●", (f"{'─' * (SCALE - special)}┤", "dim"),
            f"{word['documents']:>13,}",
        )  # fmt: skip
        screen.share(f"  {screen.shorten(word['word'], room):<{room}}  ", word["probability"] / largest, *scale)


def _print_subtopics(screen: Screen, subtopics: list[dict[str, Any]]) -> None:
    """Print subtopics with numbers of documents, names and words."""
    screen.heading("Splits into")
    largest = max(child["documents"] for child in subtopics) or 1
    wide = max(len(f"{child['documents']:,}") for child in subtopics)
    for child in subtopics:
        words = DOT.join(child["words"])
        is_named = not child["words"] or not child["name"].startswith(child["words"][0])
        tail = f"  (topic {child['id']})"
        text = screen.shorten(
            f"{child['name']}: {words}" if is_named else words, (screen.width or 0) - wide - len(tail) - 14
        )
        screen.share(f"  {child['documents']:>{wide},}  ", child["documents"] / largest, f"  {text}", (tail, "dim"))


def _show_collection(screen: Screen, collection: Collection, options: Options) -> None:
    """Print how the documents were read, and the columns of the collection."""
    from topiarist.collection.describe.account import build_account
    from topiarist.collection.describe.collection_facts import describe_field, summarise_columns
    from topiarist.collection.passages import count_documents

    body, account = summarise_columns(collection), build_account(collection)
    if options.json:
        screen.json({**body, "account": [asdict(entry) for entry in account]})
        return
    screen.print((one_line(body["folder"]), "bold"), f": {count_documents(collection)}")
    for entry in account[1:]:
        screen.print(one_line(entry.said), (f"  find FOLDER '{entry.query}'" if entry.query else "", "dim"))
    for sentence in body["said"]:
        if one_line(sentence) not in {one_line(entry.said) for entry in account}:
            screen.print(f"{one_line(sentence)}.")
    if not (columns := body["columns"]):
        screen.print_next("tree FOLDER")
        return
    screen.heading("Columns")
    wide = min(max(len(column["query"]) for column in columns), LONGEST_WORD)
    for column in columns:
        screen.cut(f"  {column['query']:<{wide}}  ", (describe_field(column["field"]), "dim"))
    screen.print_next(f"find FOLDER {columns[0]['query']}:VALUE", "tree FOLDER")


def _show_document(screen: Screen, collection: Collection, options: Options) -> None:
    """Print a document with its topics, marked text and similar ones. Raise UsageError without labels."""
    from topiarist.collection.classify.word_labels import find_word_labels
    from topiarist.collection.describe.documents import load_document_details, load_parent_details

    parent = load_parent_details(collection, options.thing)
    if parent is not None and options.thing not in collection.documents:
        _show_parent(screen, parent, options)
        return
    details = load_document_details(collection, options.thing)
    document = details.document
    similar = collection.similar(document.id, options.number) if options.number else ()
    word_labels = find_word_labels(collection, details.row)
    if options.labels and word_labels is None:
        raise UsageError(
            f"{document.id!r} has fewer than two learned labels", hint="Run topiarist learn FOLDER --several."
        )
    if options.json:
        similar_documents = [{"id": hit.id, "title": hit.title, "score": round(hit.score, 6)} for hit in similar]
        labels_of_words = None if word_labels is None else word_labels.to_dict()
        screen.json(details.to_dict() | {"similar": similar_documents, "word_labels": labels_of_words})
        return
    _print_head(screen, details, count_noun(len(document.text.split()), "word"))
    if details.given_date:
        screen.fact("Date as given", one_line(details.given_date))
    for name, values in (("Labels", document.labels), ("Tags", details.tags), *details.columns.items()):
        if values:
            screen.fact(name, ", ".join(map(one_line, values)))
    for note in details.notes:
        screen.print(("Note on ", "dim"), one_line(str(note)))
    if parent is not None:
        numbers = f"{count_noun(len(parent.parent.passages), 'passage')} in {count_noun(len(parent.places), 'topic')}"
        screen.fact("Passage of", one_line(parent.document.title), f"  [{one_line(parent.document.id)}], {numbers}")
    for group in details.copies:
        if group.id != document.id:
            screen.fact("A copy of", one_line(group.title), f"  [{one_line(group.id)}]")
        else:
            ids = [copy.id for copy in group.copies]
            screen.fact(count_noun(len(ids), "copy", "copies"), list_some(ids, COPIES_SHOWN))
    _print_places(screen, details)
    if not options.labels:
        _print_legend(screen, details)
    if word_labels is not None:
        _print_label_legend(screen, word_labels, is_marked=options.labels)
    screen.print()
    marks = _mark_levels(details) if word_labels is None or not options.labels else _mark_labels(word_labels)
    _print_text(screen, details, marks, is_complete=options.all)
    if details.repeated:
        number = sum(1 + document.text.count("\n", *span) for span in details.repeated)
        lines = f"{count_noun(number, 'line')} of it {verb(number)}"
        screen.print((f"{lines} in many documents, and not counted", "dim"))
    if absent_levels := [level for level in details.levels if level.absent]:
        screen.heading("Expected but absent")
        for level in absent_levels:
            screen.print((f"{one_line(level.name)}: ", "dim"), ", ".join(level.absent), indent=2)
    if similar:
        screen.heading("Like this")
        for hit in similar:
            screen.print_titled(f"  {hit.score:.2f}  ", hit.title, hit.id)
    place = details.places[0].topic if details.places else collection.outline.root
    screen.print_next(f"show FOLDER {place}", ("similar FOLDER {} --why", document.id))


def _print_head(screen: Screen, details: DocumentDetails | ParentDetails, size: str) -> None:
    """Print the title, then id, source, date and size in one line."""
    document = details.document
    screen.print((one_line(document.title or document.id), "bold"))
    date = f"{document.date} (file date)" if details.has_file_date else document.date
    facts = [one_line(document.id), one_line(document.source), date, size]
    screen.print((DOT.join(filter(None, facts)), "dim"))


def _show_parent(screen: Screen, details: ParentDetails, options: Options) -> None:
    """Print a parent document with its topics and passages."""
    document, passages = details.document, details.parent.passages
    if options.json:
        screen.json(details.to_dict())
        return
    _print_head(screen, details, count_noun(len(passages), "passage"))
    if document.labels:
        screen.fact("Labels", ", ".join(map(one_line, document.labels)))
    screen.heading("Topics, by the words of its passages")
    for place in details.places:
        number = count_noun(details.passages_under(place.topic), "passage")
        place_text = (f"  {join_path(place.path)}  ", (f"(topic {place.topic}, {number})", "dim"))
        screen.share(f"  {percent(place.share):>5}  ", place.share, *place_text)
    screen.heading("Passages")

    def print_passage(entry: tuple[Passage, Place]) -> None:
        passage, place = entry
        screen.cut(f"  {passage.label:<18}  {join_path(place.path)}  ", (f"[{one_line(passage.id)}]", "dim"))

    entries = [*zip(passages, details.places_of_passages, strict=True)]
    screen.list_items(entries, len(entries) if options.all else PASSAGES_SHOWN, print_passage, "  {}: --all")
    screen.print_next(("show FOLDER {}", passages[0].id), ("similar FOLDER {}", document.id))


def _print_places(screen: Screen, details: DocumentDetails) -> None:
    """Print the topics of a document with shares, the unsorted reason, and nearest documents."""
    screen.heading("Lies under")
    for place in details.places:
        pin_text = "  pinned by people" if place.topic == details.pinned else ""
        place_of = (f"  {join_path(place.path)}  ", (f"(topic {place.topic}){pin_text}", "dim"))
        screen.share(f"  {percent(place.share):>5}  ", place.share, *place_of)
    if details.unsorted:
        screen.cut(f"  unsorted: {describe_reason(details.unsorted)}")
    rest = 1.0 - sum(place.share for place in details.places)
    if rest > 0.001 and details.places:
        screen.cut((f"  {percent(rest):>5}  {'':8}  rest", "dim"))
    if details.voices is not None:
        screen.print(one_line(details.voices.said), indent=2)
        for neighbour in details.voices.near:
            screen.print_titled(f"  {neighbour.cosine:.2f} near  ", neighbour.title, neighbour.id)


def _print_legend(screen: Screen, details: DocumentDetails) -> None:
    """Print the levels with their shares of the words and their styles."""
    screen.heading("Words by level")
    for number, level in enumerate(details.levels):
        name = (one_line(level.name), _choose_style(number))
        raised = "" if screen.out.is_terminal else _format_level(number, screen.ascii)
        screen.share(f"  {percent(level.share):>5}  ", level.share, f"  {number} ", name, raised)


def _print_label_legend(screen: Screen, word_labels: WordLabels, *, is_marked: bool) -> None:
    """Print the labels with their shares of the words, and their marks if words are marked."""
    screen.heading("Words by predicted label" if word_labels.predicted else "Words by label")
    for number, label in enumerate(word_labels.labels, 1):
        name = (one_line(label.name), _choose_label_style(number) if is_marked else "bold")
        raised = _format_level(number, screen.ascii) if is_marked and not screen.out.is_terminal else ""
        words = f": {', '.join(label.words)}" if label.words else ""
        screen.share(f"  {percent(label.share):>5}  ", label.share, f"  {number} ", name, raised, words)


class TextMark(NamedTuple):
    """Marked word of a text: its position, the number behind it without colours, and its style."""

    start: int
    end: int
    number: int
    style: str | None


def _mark_levels(details: DocumentDetails) -> list[TextMark]:
    """Return the marks of words by level; uncertain words get no style."""
    marks = []
    for mark in details.marks:
        is_certain = not mark.level or mark.probability >= MIN_PROBABILITY
        marks.append(
            TextMark(mark.start, mark.end, mark.level * is_certain, _choose_style(mark.level) if is_certain else None)
        )
    return marks


def _mark_labels(word_labels: WordLabels) -> list[TextMark]:
    """Return the marks of words by label, without uncertain words."""
    return [
        TextMark(word.start, word.end, word.label + 1, _choose_label_style(word.label + 1))
        for word in word_labels.words
        if word.probability >= MIN_LABEL_PROBABILITY
    ]


def _print_text(screen: Screen, details: DocumentDetails, marks: Sequence[TextMark], *, is_complete: bool) -> None:
    """Print the text with its words marked; control characters never move the cursor."""
    source = details.document.text
    cut = source if is_complete or len(source) <= MAX_CHARACTERS else source[:MAX_CHARACTERS].rsplit(None, 1)[0]
    plain = "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in cut)
    text, end = Text(), 0
    for mark in marks:
        if mark.end > len(plain):
            break
        _append_unmarked(text, plain, (end, mark.start), details.repeated)
        text.append(plain[mark.start : mark.end], mark.style)
        if not screen.out.is_terminal:
            text.append(_format_level(mark.number, screen.ascii))
        end = mark.end
    _append_unmarked(text, plain, (end, len(plain)), details.repeated)
    for line in text.split("\n", allow_blank=True):
        screen.print(line)
    if len(cut) < len(source):
        screen.print((f"… {len(source) - len(cut):,} more characters: --all", "dim"))


def _append_unmarked(text: Text, plain: str, piece: tuple[int, int], repeated: Sequence[tuple[int, int]]) -> None:
    """Append a stretch of text without marks. Repeated lines are faint and struck through."""
    stop_here, end = piece
    for start, stop in repeated:
        if stop_here < stop and start < end:
            text.append(plain[stop_here : max(stop_here, start)])
            text.append(plain[max(stop_here, start) : min(stop, end)], UNCOUNTED_STYLE)
            stop_here = min(stop, end)
    text.append(plain[stop_here:end])


def _choose_style(level: int) -> str:
    return STYLES[min(level, len(STYLES) - 1)]


def _choose_label_style(number: int) -> str:
    return LABEL_STYLES[(number - 1) % len(LABEL_STYLES)]


def _format_level(level: int, ascii: bool) -> str:
    """The level as a small figure behind a word, where there are no styles; nothing behind a general one."""
    return "" if not level else f"^{level}" if ascii else str(level).translate(RAISED)
