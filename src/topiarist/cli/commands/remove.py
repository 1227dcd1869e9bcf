"""Command ``topiarist remove``: remove or erase documents."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from topiarist.cli.options import WritingOptions, argument, examples, option
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import list_some, one_line
from topiarist.errors import UsageError

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.remove.removal import EarlierRemovals, Removal

EPILOG = examples(
    "topiarist remove mail.topiary inbox/17.eml inbox/18.eml",
    "topiarist remove mail.topiary --query 'tag:private' --dry-run",
    "topiarist remove mail.topiary --query '\"Jane Doe\"' --forget",
    "topiarist remove mail.topiary inbox/17.eml --forget",
)
WRITES = ("",)
MAX_LISTED = 10  # titles and topics


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Remove documents from the tree, lists and searches. `shape --undo` restores them.

    The source files stay.
    """

    ids: list[str] | None = argument(None, "Ids of documents. With `--forget` also of removed documents.", "ID…")
    query: str | None = option(None, "Remove all documents that match this query by words.", metavar="QUERY")
    forget: bool = option(False, "Erase the documents from all files of the collection. This cannot be undone.")
    yes: bool = option(False, "Do not ask for confirmation.", "--yes", "-y")
    dry_run: bool = option(False, "List the documents without removing them.")


def run(options: Options) -> None:
    """Remove or forget the chosen documents and print them. ``--dry-run`` only prints."""
    from topiarist.collection.remove.erasure import preview_forgetting
    from topiarist.collection.remove.removal import choose_documents, preview_removal, remove_documents

    with open_collection(options) as (screen, collection):
        ids, query = options.ids or (), options.query or ""
        if options.forget:
            _forget(screen, collection, *preview_forgetting(collection, ids, query))
            return
        removal = preview_removal(collection, choose_documents(collection, ids, query))
        if options.dry_run:
            _print_preview(screen, collection, removal, "would be removed")
            screen.print_next("remove FOLDER … without --dry-run")
            return
        with screen.waiting("Removing"):
            remove_documents(collection, removal.ids)
        _print_preview(screen, collection, removal, "removed")
        screen.say("The topics keep their words until the tree is fitted again; what it was is kept for undo.")
        screen.print_next("shape FOLDER --undo", "shape FOLDER --refit", "tree FOLDER")


def _print_preview(
    screen: Screen, collection: Collection, removal: Removal, verb: str, earlier: EarlierRemovals | None = None
) -> None:
    """Print the documents, their topics and what is left, or all as JSON."""
    from topiarist.collection.remove.erasure import describe_extent

    outline = collection.outline
    removed = [] if earlier is None else list(earlier.ids)
    if screen.options.json:
        body = removal.to_dict()
        body["topics"] = [{**document, "name": outline.name(document["topic"])} for document in body["topics"]]
        screen.json({**body, "what": verb} | ({} if earlier is None else {"removed_before": removed}))
        return
    extent = str(removal.extent) if earlier is None else describe_extent(removal, earlier)
    screen.print((f"{extent} {verb}", "bold"), f"; {removal.left_text} left")
    titles = {} if earlier is None else {document.id: document.title for document in earlier.documents}
    for listed in ([(id, titles.get(id) or id) for id in removed], [*zip(removal.ids, removal.titles, strict=True)]):
        screen.list_items(listed, MAX_LISTED, lambda item: screen.print_titled("  ", one_line(item[1]), item[0]))
    if len(removal):
        topics = [f"{outline.name(topic)} ({number:,})" for topic, number in removal.topics.items()]
        screen.print(f"From: {list_some(topics, MAX_LISTED)}")


def _forget(screen: Screen, collection: Collection, removal: Removal, earlier: EarlierRemovals) -> None:
    """Erase documents for good after a confirmation, and print a report. Exit with 1 if traces are left."""
    from topiarist.collection.remove.erasure import describe_extent, forget_documents

    if screen.options.dry_run:  # type: ignore[attr-defined]
        _print_preview(screen, collection, removal, "would be forgotten", earlier)
        screen.print_next("remove FOLDER … without --dry-run")
        return
    if not screen.options.yes:  # type: ignore[attr-defined]
        _confirm_erasure(screen, collection, removal, earlier)
    with screen.waiting("Forgetting"):
        report = forget_documents(collection, [*removal.ids, *earlier.ids])
    if screen.options.json:
        screen.json(report.to_dict())
    else:
        screen.print(
            (f"{describe_extent(removal, earlier)} forgotten for good", "bold"),
            f"; {removal.left_text} left. This cannot be undone, nor anything before it.",
        )
    for sentence in report.notes:
        screen.say(sentence)
    screen.print_next("tree FOLDER", "check FOLDER")
    if report.traces.left:
        raise SystemExit(1)


def _confirm_erasure(screen: Screen, collection: Collection, removal: Removal, earlier: EarlierRemovals) -> None:
    """Print what would be erased and ask for confirmation. Raise UsageError without terminal or consent."""
    if screen.options.json or not sys.stdin.isatty():
        raise UsageError(
            "--forget cannot be undone and needs confirmation", hint="Check the list with --dry-run, then add --yes."
        )
    _print_preview(screen, collection, removal, "to be forgotten for good", earlier)
    if not typer.confirm("This cannot be undone. Forget them?", default=False, err=True):
        raise UsageError(
            "the erasure was not confirmed, and nothing was changed", hint="Omit --forget to bring documents back."
        )
