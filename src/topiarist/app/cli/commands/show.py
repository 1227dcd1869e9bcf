"""``topiarist show``: what is this topic about, and what is in it? What does this document say, and why is it here?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from topiarist.app.cli.commands import document as documents
from topiarist.app.cli.commands.tree import PENDING, typical
from topiarist.app.cli.terminal.printing import counted, one_line
from topiarist.app.cli.terminal.screen import STEP, Screen, bar, opened, path_of, percent
from topiarist.app.cli.using_options import ShowOptions
from topiarist.collection.collection import Collection
from topiarist.collection.describe.closeup import topic_words
from topiarist.errors import UsageError

NOTHING = "there is no topic and no document {thing!r}"
PINS_SHOWN = 5
LONGEST_WORD = 28  # columns
SCALE = 12  # columns from general to special


def run(options: ShowOptions) -> None:
    """A topic if there is one that is called so, else a document."""
    with opened(options) as collection:
        show(Screen(options), collection, options)


def show(screen: Screen, collection: Collection, options: ShowOptions) -> None:
    """Print what is called so."""
    topic = _topic(collection, options.thing)
    if topic is None:
        documents.show(screen, collection, options)
        return
    found = told(collection, topic, options)
    if options.json:
        screen.json(found)
    else:
        _show(screen, found)


def _topic(collection: Collection, thing: str) -> int | None:
    """The topic that is meant, or None for a document. An id comes before a word of a topic's name."""
    known = collection.generation.database.one("SELECT row FROM documents WHERE id = ?", (thing,))
    try:
        topic = collection.topic(thing)
    except UsageError as error:
        if known is not None:
            return None
        near = collection.documents.near_ids(thing)
        if error.message.startswith("no topic"):
            raise UsageError(NOTHING.format(thing=thing), hint=" or ".join(near) or error.hint) from None
        raise
    exact = thing.lstrip("#").isdecimal() or collection.outline.name(topic).casefold() == thing.casefold()
    return None if known is not None and not exact else topic


def told(collection: Collection, topic: int, options: ShowOptions) -> dict[str, Any]:
    """What is known of a topic."""
    outline, found = collection.outline, collection.tree
    node = outline.node(topic)
    tree = outline.tree
    pinned = [name for name, pin in outline.pins.items() if pin == topic]
    return {
        "id": topic,
        "name": tree.names[node],
        "named_by": "person" if topic in outline.titles else "words",
        "path": list(tree.path_names(node)),
        "path_ids": [outline.topics[step] for step in tree.path(node)],
        "documents": found.sizes[node],
        "share": round(found.nodes[node].share, 6),
        "coherence": round(found.nodes[node].coherence, 4),
        "note": outline.notes.get(topic, ""),
        "words": [asdict(word) for word in topic_words(collection, topic, options.words, likely=options.likely)],
        "subtopics": [
            {
                "id": outline.topics[child], "name": tree.names[child], "documents": found.sizes[child],
                "words": list(found.nodes[child].words[:5]),
            }
            for child in sorted(tree.children(node), key=lambda child: -found.sizes[child])
        ],
        "typical": typical(collection, node, options.number),
        "pinned": pinned,
        "pending": outline.pending,
    }  # fmt: skip


def _show(screen: Screen, found: dict[str, Any]) -> None:
    screen.print((path_of(found["path"][:-1]) + STEP if len(found["path"]) > 1 else "", "dim"), (found["name"], "bold"))
    named = "named by a person" if found["named_by"] == "person" else "named by its words"
    parts = len(found["subtopics"])
    splits = f" It splits into {counted(parts, 'subtopic')}." if parts else ""
    size = f"{counted(found['documents'], 'document')} ({percent(found['share'])} of all)"
    screen.print(f"{size}. Topic {found['id']}, {named}.{splits}")
    if found["note"]:
        screen.print((found["note"], "italic"))
    if found["words"]:
        _print_words(screen, found)
    if found["subtopics"]:
        _print_subtopics(screen, found)
    if found["typical"]:
        screen.heading("Typical documents")
        for document in found["typical"]:
            screen.titled("  ", document["title"], document["id"])
    if pins := found["pinned"]:
        more = f" and {len(pins) - PINS_SHOWN:,} more" if len(pins) > PINS_SHOWN else ""
        screen.heading("Pinned by people")
        screen.print(f"{', '.join(map(one_line, pins[:PINS_SHOWN]))}{more}", indent=2)
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
        screen.cut(
            f"  {screen.fits(word['word'], room):<{room}}  ", (f"{bar(word['probability'] / most, 8):<8}", "green"),
            f"  {word['probability']:.4f}  ", (f"├{'─' * special}", "dim"), "●", (f"{'─' * (SCALE - special)}┤", "dim"),
            f"{word['documents']:>13,}",
        )  # fmt: skip


def _print_subtopics(screen: Screen, found: dict[str, Any]) -> None:
    screen.heading("Splits into")
    most = max(child["documents"] for child in found["subtopics"]) or 1
    wide = max(len(f"{child['documents']:,}") for child in found["subtopics"])
    for child in found["subtopics"]:
        words = " · ".join(child["words"])
        named = not child["words"] or not child["name"].startswith(child["words"][0])
        tail = f"  (topic {child['id']})"
        room = (screen.width or 0) - wide - len(tail) - 14
        text = screen.fits(f"{child['name']}: {words}" if named else words, room)
        screen.cut(
            f"  {child['documents']:>{wide},}  ", (f"{bar(child['documents'] / most, 8):<8}", "green"), f"  {text}",
            (tail, "dim"),
        )  # fmt: skip
