"""``topiarist remove``: which documents should not be in here, and what goes with them?"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from topiarist import collection as door
from topiarist.app.cli.options import WritingOptions, examples, option
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import and_more, one_line
from topiarist.errors import UsageError

EPILOG = examples(
    "topiarist remove mail.topiary inbox/17.eml inbox/18.eml",
    "topiarist remove mail.topiary --query 'tag:private' --dry-run",
    "topiarist remove mail.topiary --query '\"Jane Doe\"' --forget",
)
WRITES = ("",)
SHOWN = 10  # titles and topics


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Take documents out of the tree, the lists and every search; `shape --undo` brings them back.

    Files that they came from are not touched.
    """

    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="Documents, by the ids that `find` and `show` print.")
    ] = None
    query: Annotated[str | None, option("All documents that a query finds by its words.", metavar="QUERY")] = None
    forget: Annotated[
        bool, option("Gone for good, from every byte of the folder; it cannot be undone. Asks.", "--forget")
    ] = False
    yes: Annotated[bool, option("Do not ask.", "--yes", "-y")] = False
    dry_run: Annotated[bool, option("Only say which documents these are.", "--dry-run")] = False


def run(options: Options) -> None:
    """Find them, show them, take them out."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        found = door.preview_removal(
            collection, door.chosen_documents(collection, options.ids or (), options.query or "")
        )
        if options.dry_run:
            _shown(screen, collection, found, "would be forgotten" if options.forget else "would be removed")
            screen.next("remove FOLDER … without --dry-run")
            return
        if options.forget:
            _forget(screen, collection, found)
            return
        with screen.waiting("Removing"):
            door.remove_documents(collection, found.ids)
        _shown(screen, collection, found, "removed")
        screen.say("The topics keep their words until the tree is fitted again; what it was is kept for undo.")
        screen.next("shape FOLDER --undo", "shape FOLDER --refit", "tree FOLDER")


def _shown(screen: Screen, collection: door.Collection, found: door.Removal, verb: str) -> None:
    """How many, which, and from which topics."""
    outline = collection.outline
    if screen.options.json:
        body = found.to_dict()
        body["topics"] = [{**one, "name": outline.name(one["topic"])} for one in body["topics"]]
        screen.json({**body, "what": verb})
        return
    screen.print((f"{found.extent} {verb}", "bold"), f"; {found.left_said} left")
    for id, title in list(zip(found.ids, found.titles, strict=True))[:SHOWN]:
        screen.titled("  ", one_line(title), id)
    if len(found) > SHOWN:
        screen.print(f"  {and_more(found.ids, SHOWN)}")
    topics = [f"{one_line(outline.name(topic))} ({number:,})" for topic, number in found.topics.items()]
    screen.print("From: " + ", ".join(topics[:SHOWN]) + (f" {and_more(topics, SHOWN)}" if len(topics) > SHOWN else ""))


def _forget(screen: Screen, collection: door.Collection, found: door.Removal) -> None:
    if not screen.options.yes:  # type: ignore[attr-defined]
        _agreed(screen, collection, found)
    with screen.waiting("Forgetting"):
        forgotten = door.forget_documents(collection, found.ids)
    if screen.options.json:
        screen.json(forgotten.to_dict())
    else:
        screen.print(
            (f"{found.extent} forgotten for good", "bold"),
            f"; {found.left_said} left. This cannot be undone, nor anything before it.",
        )
    for sentence in forgotten.told:
        screen.say(sentence)
    screen.next("tree FOLDER", "check FOLDER")
    if forgotten.traces.left:
        raise SystemExit(1)


def _agreed(screen: Screen, collection: door.Collection, found: door.Removal) -> None:
    """Show what would be forgotten, and wait for a yes; where nobody can be asked, an error."""
    if screen.options.json or not sys.stdin.isatty():
        raise UsageError("--forget cannot be undone, and there is nobody to ask", hint="--yes, after --dry-run")
    _shown(screen, collection, found, "to be forgotten for good")
    if not typer.confirm("This cannot be undone. Forget them?", default=False, err=True):
        raise UsageError("nothing was forgotten", hint="without --forget they can be brought back")
