"""``topiarist show``: what is this topic about, and what is in it? What does this document say, and why is it here?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from rich.style import Style
from rich.text import Text

from topiarist import collection as door
from topiarist.app.cli.commands.exploring.tree import typical
from topiarist.app.cli.options import NUMBER, FolderOptions, examples, option, printing
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import DOT, PENDING, STEP, and_more, counted, named_by, one_line, path_of, percent
from topiarist.errors import UsageError

EPILOG = examples(
    "topiarist show mail.topiary 12",
    "topiarist show mail.topiary 'court · judge' --words 30",
    "topiarist show mail.topiary inbox/0231.txt",
    "topiarist show tickets.topiary",
)
WRITES = ()
NOTHING = "there is no topic and no document {thing!r}"
PINS_SHOWN, COPIES_SHOWN, PASSAGES_SHOWN = 5, 5, 40
LONGEST_WORD = 28  # columns
SCALE = 12  # columns from general to special
SHOWN = 3_000  # characters of a text, unless all are wanted
UNCOUNTED = "dim strike"
SURE = 0.5  # probability of a level below which a word is not marked as its
# From general to special: brighter and stronger, so that the level can be told without the colour.
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
STYLES = ("dim", "cyan", "cyan underline", "bold cyan", "bold cyan underline", "bold cyan reverse")


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Show a topic (its words, subtopics, typical documents), a document (its text, word by word, and why it is where
    it is), or which columns and dates the documents of the collection have.
    """

    thing: Annotated[
        str, typer.Argument(metavar="TOPIC|DOCUMENT", help="A topic, or the id of a document; without: the collection.")
    ] = ""
    words: Annotated[int, printing("Words of a topic.", min=1, max=200)] = 12
    number: Annotated[int, NUMBER] = 5
    all: Annotated[bool, printing("The whole text, however long it is.", "--all")] = False
    likely: Annotated[bool, option("A topic's words by probability, not by what sets it apart.", "--likely")] = False


def run(options: Options) -> None:
    """A topic if there is one that is called so, else a document."""
    with door.Collection.open(options.folder) as collection:
        show(Screen(options), collection, options)


def show(screen: Screen, collection: door.Collection, options: Options) -> None:
    """Print what is called so; of the collection, where it came from and what is known of its documents."""
    if not options.thing:
        _show_collection(screen, collection, options)
        return
    topic = topic_meant(collection, options.thing)
    if topic is None:
        _show_document(screen, collection, options)
        return
    found = topic_body(collection, topic, options)
    if options.json:
        screen.json(found)
    else:
        _show_topic(screen, found)


def topic_meant(collection: door.Collection, thing: str) -> int | None:
    """The topic that is meant, or None for a document. An id comes before a word of a topic's name."""
    known = thing in collection.documents or door.look_at_whole(collection, thing) is not None
    try:
        topic = collection.topic(thing)
    except UsageError as error:
        if known:
            return None
        near = collection.documents.near_ids(thing)
        if error.message.startswith("no topic"):
            raise UsageError(NOTHING.format(thing=thing), hint=" or ".join(near) or error.hint) from None
        raise
    exact = thing.lstrip("#").isdecimal() or collection.outline.name(topic).casefold() == thing.casefold()
    return None if known and not exact else topic


def topic_body(collection: door.Collection, topic: int, options: Options) -> dict[str, Any]:
    """What is known of a topic, as plain JSON data."""
    outline, found, known = collection.outline, collection.tree, door.known_steadiness(collection)
    node = outline.node(topic)
    tree = outline.tree
    pinned = [name for name, pin in outline.pins.items() if pin == topic]
    return {
        "id": topic,
        "name": tree.names[node],
        "named_by": named_by(topic in outline.titles),
        "path": list(tree.path_names(node)),
        "path_ids": [outline.topics[step] for step in tree.path(node)],
        "documents": found.sizes[node],
        "share": round(found.nodes[node].share, 6),
        "coherence": round(found.nodes[node].coherence, 4),
        "steadiness": None if known is None else known.shares.get(topic),
        "steadiness_said": "" if known is None else known.said(topic),
        "note": outline.notes.get(topic, ""),
        "seeds": list(outline.seeds.get(topic, ())),
        "words": [asdict(word) for word in door.topic_words(collection, topic, options.words, likely=options.likely)],
        "subtopics": [
            {
                "id": outline.topics[child],
                "name": tree.names[child],
                "documents": found.sizes[child],
                "words": list(found.nodes[child].words[:5]),
            }
            for child in sorted(tree.children(node), key=lambda child: -found.sizes[child])
        ],
        "typical": typical(collection, node, options.number),
        "pinned": pinned,
        "pending": outline.pending,
    }


def _show_topic(screen: Screen, found: dict[str, Any]) -> None:
    screen.print((path_of(found["path"][:-1]) + STEP if len(found["path"]) > 1 else "", "dim"), (found["name"], "bold"))
    named = "named by a person" if found["named_by"] == "person" else "named by its words"
    parts = len(found["subtopics"])
    splits = f" It splits into {counted(parts, 'subtopic')}." if parts else ""
    size = f"{counted(found['documents'], 'document')} ({percent(found['share'])} of all)"
    screen.print(f"{size}. Topic {found['id']}, {named}.{splits}")
    if found["steadiness_said"]:
        screen.print(f"How sure is this topic? It is {found['steadiness_said']}.")
    if found["note"]:
        screen.print((found["note"], "italic"))
    if found["seeds"]:
        screen.print("Said to belong here: ", (", ".join(found["seeds"]), "bold"))
    if found["words"]:
        _print_words(screen, found)
    if found["subtopics"]:
        _print_subtopics(screen, found)
    if found["typical"]:
        screen.heading("Typical documents")
        for document in found["typical"]:
            screen.titled("  ", document["title"], document["id"])
    if pins := found["pinned"]:
        screen.heading("Pinned by people")
        screen.print(f"{', '.join(map(one_line, pins[:PINS_SHOWN]))} {and_more(pins, PINS_SHOWN)}", indent=2)
    if found["pending"]:
        screen.print((f"\n{PENDING}.", "yellow"))
    below = found["subtopics"][0]["id"] if found["subtopics"] else None
    screen.next(
        f"show FOLDER {below}" if below is not None else f"tree FOLDER --topic {found['path_ids'][-2:][0]}",
        f"find FOLDER WORDS --topic {found['id']}",
        f"shape FOLDER rename {found['id']} NAME",
    )


def _print_words(screen: Screen, found: dict[str, Any]) -> None:
    """Words with their probability, and how far they set the topic apart from what is above it."""
    screen.heading("Own words")
    most = max(word["probability"] for word in found["words"]) or 1.0
    room = min(max(len(word["word"]) for word in found["words"]), LONGEST_WORD)
    screen.cut((f"  {'':<{room}}  {'probability':<16}  general–special   in documents", "dim"))
    for word in found["words"]:
        special = round(SCALE * word["special"])
        scale = (
            f"  {word['probability']:.4f}  ",
            (f"├{'─' * special}", "dim"),
            "●",
            (f"{'─' * (SCALE - special)}┤", "dim"),
            f"{word['documents']:>13,}",
        )
        label = f"  {screen.fits(word['word'], room):<{room}}  "
        screen.share(label, word["probability"] / most, *scale)


def _print_subtopics(screen: Screen, found: dict[str, Any]) -> None:
    screen.heading("Splits into")
    most = max(child["documents"] for child in found["subtopics"]) or 1
    wide = max(len(f"{child['documents']:,}") for child in found["subtopics"])
    for child in found["subtopics"]:
        words = DOT.join(child["words"])
        named = not child["words"] or not child["name"].startswith(child["words"][0])
        tail = f"  (topic {child['id']})"
        room = (screen.width or 0) - wide - len(tail) - 14
        text = screen.fits(f"{child['name']}: {words}" if named else words, room)
        screen.share(f"  {child['documents']:>{wide},}  ", child["documents"] / most, f"  {text}", (tail, "dim"))


def _show_collection(screen: Screen, collection: door.Collection, options: Options) -> None:
    """Print which columns the documents have, how their dates were read, and what was left out."""
    found, account = door.known_columns(collection), door.account_of(collection)
    if options.json:
        screen.json({**found, "account": door.account_body(collection)})
        return
    screen.print((one_line(found["folder"]), "bold"), f": {door.documents_said(collection)}")
    told = {f"{one_line(one.said)}." for one in account}
    for one in account[1:]:
        screen.print(f"{one_line(one.said)}", (f"  find FOLDER '{one.query}'" if one.query else "", "dim"))
    for sentence in found["said"]:
        if f"{one_line(sentence)}." not in told:
            screen.print(f"{one_line(sentence)}.")
    if found["columns"]:
        screen.heading("Columns")
        wide = max(len(one["query"]) for one in found["columns"])
        for one in found["columns"]:
            screen.cut(f"  {one['query']:<{min(wide, LONGEST_WORD)}}  ", (door.field_said(one["field"]), "dim"))
        first = found["columns"][0]["query"]
        screen.next(f"find FOLDER {first}:VALUE", "tree FOLDER")
        return
    screen.next("tree FOLDER")


def _show_document(screen: Screen, collection: door.Collection, options: Options) -> None:
    """Print a document; one that is kept in passages with its topics over all of them."""
    whole = None if options.thing in collection.documents else door.look_at_whole(collection, options.thing)
    if whole is not None:
        _show_whole(screen, whole, options)
        return
    found = door.look_at(collection, options.thing)
    similar = collection.similar(found.document.id, options.number) if options.number else ()
    if options.json:
        screen.json(document_body(found, similar))
        return
    document = found.document
    screen.print((one_line(document.title or document.id), "bold"))
    facts = [one_line(document.source), document.date, counted(len(document.text.split()), "word")]
    screen.print((DOT.join(fact for fact in [one_line(document.id), *facts] if fact), "dim"))
    if found.given_date:
        screen.print(("Date as given: ", "dim"), one_line(found.given_date))
    for name, values in (("Labels", document.labels), ("Tags", found.tags), *found.columns.items()):
        if values:
            screen.print((f"{one_line(name)}: ", "dim"), ", ".join(map(one_line, values)))
    for one in found.notes:
        screen.print(("Note on ", "dim"), one_line(str(one)))
    within = door.look_at_whole(collection, document.id)
    if within is not None:
        screen.print(
            ("Passage of: ", "dim"), one_line(within.document.title), (f"  [{one_line(within.document.id)}], ", "dim"),
            (f"{counted(len(within.whole.passages), 'passage')} in {counted(len(within.places), 'topic')}", "dim"),
        )  # fmt: skip
    _copies(screen, found)
    _places(screen, found)
    _legend(screen, found)
    screen.print()
    _text(screen, found, whole=options.all)
    if found.repeated:
        number = counted(sum(1 + found.document.text.count("\n", *one) for one in found.repeated), "line")
        screen.print(
            (f"{number} of it {'are' if number != '1 line' else 'is'} in many documents, and not counted", "dim")
        )
    absent = [level for level in found.levels if level.absent]
    if absent:
        screen.heading("Expected but absent")
        for level in absent:
            screen.print((f"{one_line(level.name)}: ", "dim"), ", ".join(level.absent), indent=2)
    if similar:
        screen.heading("Like this")
        for hit in similar:
            screen.titled(f"  {hit.score:.2f}  ", hit.title, hit.id)
    place = found.places[0].topic if found.places else collection.outline.root
    screen.next(f"show FOLDER {place}", ("similar FOLDER {} --why", document.id))


def _show_whole(screen: Screen, found: door.WholeLook, options: Options) -> None:
    """Print a document in passages: what it is about, and where each passage lies."""
    document, passages = found.document, found.whole.passages
    if options.json:
        screen.json(whole_body(found))
        return
    screen.print((one_line(document.title or document.id), "bold"))
    facts = [one_line(document.source), document.date, counted(len(passages), "passage")]
    screen.print((DOT.join(fact for fact in [one_line(document.id), *facts] if fact), "dim"))
    if document.labels:
        screen.print(("Labels: ", "dim"), ", ".join(map(one_line, document.labels)))
    screen.heading("Topics, by the words of its passages")
    for place in found.places:
        number = counted(found.passages_under(place.topic), "passage")
        told = (f"  {path_of(place.path)}  ", (f"(topic {place.topic}, {number})", "dim"))
        screen.share(f"  {percent(place.share):>5}  ", place.share, *told)
    screen.heading("Passages")
    shown = passages if options.all else passages[:PASSAGES_SHOWN]
    for one, place in zip(shown, found.lying, strict=False):
        screen.cut(f"  {one.label:<18}  {path_of(place.path)}  ", (f"[{one_line(one.id)}]", "dim"))
    if len(shown) < len(passages):
        screen.print((f"  {and_more(passages, len(shown))}: --all", "dim"))
    screen.next(("show FOLDER {}", passages[0].id), ("similar FOLDER {}", document.id))


def whole_body(found: door.WholeLook) -> dict[str, Any]:
    """What is known of a document in passages, as plain JSON data."""
    document = found.document
    return {
        "id": document.id, "title": document.title, "source": document.source, "date": document.date,
        "labels": list(document.labels),
        "places": [
            {"topic": place.topic, "path": list(place.path), "share": round(place.share, 6),
             "passages": found.passages_under(place.topic)}
            for place in found.places
        ],
        "passages": [
            {"id": one.id, "label": one.label, "topic": place.topic, "path": list(place.path),
             "share": round(place.share, 6)}
            for one, place in zip(found.whole.passages, found.lying, strict=True)
        ],
    }  # fmt: skip


def _copies(screen: Screen, found: door.Look) -> None:
    """What it is a copy of, or which copies there are."""
    for one in found.copies:
        if one.id != found.document.id:
            screen.print(("A copy of: ", "dim"), one_line(one.title), (f"  [{one_line(one.id)}]", "dim"))
        else:
            ids = [one_line(copy.id) for copy in one.copies]
            more = and_more(ids, COPIES_SHOWN)
            screen.print((f"{counted(len(ids), 'copy', 'copies')}: ", "dim"), f"{', '.join(ids[:COPIES_SHOWN])} {more}")


def _places(screen: Screen, found: door.Look) -> None:
    screen.heading("Lies under")
    for place in found.places:
        pinned = "  pinned by people" if place.topic == found.pinned else ""
        place_of = (f"  {path_of(place.path)}  ", (f"(topic {place.topic}){pinned}", "dim"))
        screen.share(f"  {percent(place.share):>5}  ", place.share, *place_of)
    rest = 1.0 - sum(place.share for place in found.places)
    if rest > 0.001:
        screen.cut((f"  {percent(rest):>5}  {'':8}  rest", "dim"))
    if found.voices is not None:
        screen.print(one_line(found.voices.said), indent=2)
        for one in found.voices.near:
            screen.titled(f"  {one.cosine:.2f} near  ", one.title, one.id)


def _legend(screen: Screen, found: door.Look) -> None:
    """How levels look, and how much of the text each explains."""
    screen.heading("Words by level")
    for number, level in enumerate(found.levels):
        name = (one_line(level.name), _style(number))
        raised = "" if screen.out.is_terminal else _raised(number, screen.ascii)
        screen.share(f"  {percent(level.share):>5}  ", level.share, f"  {number} ", name, raised)


def _text(screen: Screen, found: door.Look, *, whole: bool) -> None:
    """The text with its words marked, spacing kept; what a file says never moves the cursor."""
    source = found.document.text
    cut = source if whole or len(source) <= SHOWN else source[:SHOWN].rsplit(None, 1)[0]
    plain = "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in cut)
    text, end = Text(), 0
    for mark in found.marks:
        if mark.end > len(plain):
            break
        sure = not mark.level or mark.probability >= SURE
        _unmarked(text, plain, (end, mark.start), found.repeated)
        text.append(plain[mark.start : mark.end], _style(mark.level) if sure else None)
        if sure and not screen.out.is_terminal:
            text.append(_raised(mark.level, screen.ascii))
        end = mark.end
    _unmarked(text, plain, (end, len(plain)), found.repeated)
    for line in text.split("\n", allow_blank=True):
        screen.print(line)
    if len(cut) < len(source):
        screen.print((f"… {len(source) - len(cut):,} more characters: --all", "dim"))


def _unmarked(text: Text, plain: str, piece: tuple[int, int], repeated: Sequence[tuple[int, int]]) -> None:
    """A piece of the text without marked words; lines that are not counted are faint and struck through."""
    here, end = piece
    for start, stop in repeated:
        if here < stop and start < end:
            text.append(plain[here : max(here, start)])
            text.append(plain[max(here, start) : min(stop, end)], UNCOUNTED)
            here = min(stop, end)
    text.append(plain[here:end])


def _style(level: int) -> str:
    return str(Style.parse(STYLES[min(level, len(STYLES) - 1)]))


def _raised(level: int, ascii: bool) -> str:
    """The level as a small figure behind a word, where there are no styles; nothing behind a general one."""
    return "" if not level else f"^{level}" if ascii else str(level).translate(RAISED)


def document_body(found: door.Look, similar: Any) -> dict[str, Any]:
    """What is known of a document, as plain JSON data."""
    document = found.document
    return {
        "id": document.id, "title": document.title, "source": document.source, "date": document.date,
        "labels": list(document.labels), "tags": list(found.tags), "columns": dict(found.columns),
        "passage_notes": [{"start": one.start, "quote": one.quote, "note": one.note} for one in found.notes],
        "date_given": found.given_date or document.date, "pinned": found.pinned, "text": document.text,
        "places": [
            {"topic": place.topic, "path": list(place.path), "share": round(place.share, 6)} for place in found.places
        ],
        "levels": [
            {"level": number, "topic": level.topic, "name": level.name, "share": round(level.share, 6),
             "absent": list(level.absent)}
            for number, level in enumerate(found.levels)
        ],
        "words": [
            {"start": mark.start, "end": mark.end, "word": mark.word, "level": mark.level,
             "probability": round(mark.probability, 4)}
            for mark in found.marks
        ],
        "repeated": [{"start": start, "end": end} for start, end in found.repeated],
        "copies": [
            {"id": one.id, "title": one.title, "copies": [{"id": copy.id, "shared": round(copy.shared, 4)}
             for copy in one.copies]}
            for one in found.copies
        ],
        "voices": None if found.voices is None else found.voices.to_dict(),
        "similar": [{"id": hit.id, "title": hit.title, "score": round(hit.score, 6)} for hit in similar],
    }  # fmt: skip
