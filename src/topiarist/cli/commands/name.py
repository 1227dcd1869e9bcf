"""Command ``topiarist name``: list or choose names for topics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import WritingOptions, examples, option, topic_option
from topiarist.cli.terminal.console import PATIENCE as BAR_PATIENCE
from topiarist.cli.terminal.console import Console
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import count_noun, describe_naming, join_path, one_line, verb
from topiarist.errors import UsageError
from topiarist.progress import RichReporter

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.shape.language_model import NamingProgram, NamingServer
    from topiarist.collection.shape.names import NameProposal

EPILOG = examples(
    "topiarist name mail.topiary",
    "topiarist name mail.topiary --pick 12=2 --pick court=1",
    "topiarist name mail.topiary --with 'PROGRAM OPTION…' -o names.json",
    "topiarist name mail.topiary --at http://127.0.0.1:8080/v1 --topic 12 --apply",
)
WRITES = ("apply", "pick")
PATIENCE = 60.0  # seconds
LEFT_OUT = 1  # a topic at least has no proposal


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """List possible names of topics, pick among them, or let your language model propose others.

    Proposals are printed. `--apply` renames the topics in one step. Nothing is sent without `--with` or `--at`.
    """

    with_: str | None = option(None, "Program that reads a prompt and prints an answer.", metavar="COMMAND")
    at: str | None = option(None, "Server on this machine with the chat-completions interface.", metavar="URL")
    model: str = option("", "Model of the server.", metavar="NAME")
    allow_remote: bool = option(False, "Allow a server on another machine. It receives titles and words.")
    timeout: float = option(PATIENCE, "Seconds to wait for an answer.", min=0.1, max=86_400)
    topic: str | None = topic_option()
    all: bool = option(False, "Include topics that were named by users.")
    apply: bool = option(False, "Rename the topics. `shape --undo` restores the names.")
    pick: list[str] | None = option(None, "Give a topic one of the listed names, such as 12=2.", metavar="TOPIC=NUMBER")
    output: str | None = option(None, "File for the proposals, as edits for `shape`.", "--output", "-o", metavar="FILE")
    force: bool = option(False, "Replace the file of --output.")


def run(options: Options) -> None:
    """Print candidate names, apply picked names, or ask a language model for names."""
    from topiarist.collection.shape.language_model import NamingProgram, NamingServer

    _check_options(options)
    source: NamingProgram | NamingServer | None = None
    if options.with_ is not None:
        source = NamingProgram.of(options.with_, options.timeout)
    elif options.at is not None:
        source = NamingServer.of(options.at, options.model, options.timeout, allow_remote=options.allow_remote)
    with open_collection(options) as (screen, collection):
        top = None if options.topic is None else collection.topic(options.topic)
        if options.pick:
            _apply_picks(screen, collection, options.pick)
        elif source is not None:
            _propose_names(screen, collection, top, source, options)
        else:
            _print_candidates(screen, collection, top)


def _check_options(options: Options) -> None:
    """Raise UsageError if options exclude each other or the output file cannot be written."""
    typed = {"--with": options.with_ is not None, "--at": options.at is not None, "--pick": bool(options.pick)}
    ways = [name for name, is_typed in typed.items() if is_typed]
    if len(ways) > 1:
        raise UsageError(f"{' and '.join(ways)} cannot be used together", hint="Use them one after the other.")
    if options.pick and options.topic is not None:
        raise UsageError("--topic cannot be used with --pick, which names its topics", hint="Omit --topic.")
    needs = {"--apply": options.apply, "--all": options.all, "--output": options.output is not None}
    of_server = {"--model": bool(options.model), "--allow-remote": options.allow_remote}
    if options.with_ is None and options.at is None and (unused := [name for name, value in needs.items() if value]):
        raise UsageError(f"{unused[0]} needs --with or --at", hint="Use --with COMMAND or --at URL.")
    if options.at is None and (unused := [name for name, value in of_server.items() if value]):
        raise UsageError(f"{unused[0]} requires a server", hint="Add --at URL.")
    if options.output is not None:
        from topiarist.cli.terminal.targets import check_file

        if not options.output.lower().endswith(".json"):
            raise UsageError(
                f"expected a .json file for edits, got {options.output}", hint="Write to a file such as names.json."
            )
        check_file(options.output, force=options.force)


def _print_candidates(screen: Screen, collection: Collection, top: int | None) -> None:
    """Print each topic with its candidate names, or all as JSON."""
    from topiarist.collection.shape.names import collect_topic_facts

    outline, topics = collection.outline, collect_topic_facts(collection, top, titles=False)
    paths = {facts.topic: outline.tree.path_names(outline.node(facts.topic)) for facts in topics}
    if screen.options.json:
        bodies = [
            {"id": facts.topic, "name": paths[facts.topic][-1],
             "named_by": describe_naming(facts.topic in outline.titles), "path": list(paths[facts.topic]),
             "candidates": list(facts.names)}
            for facts in topics
        ]  # fmt: skip
        screen.json({"topics": bodies})
        return
    for facts in topics:
        *path, name = paths[facts.topic][1:]
        note = "  (named by a person)" if facts.topic in outline.titles else ""
        lead = f"  {join_path(path)}" if path else ""
        screen.cut(f"{facts.topic:>4}  ", (one_line(name), "bold"), (f"{note}{lead}", "dim"))
        for number, candidate in enumerate(facts.names, 1):
            screen.cut((f"{number:>8}  ", "dim"), one_line(candidate))
    if not topics:
        screen.print("There is no topic to name.")
    first = next((facts.topic for facts in topics if facts.names), "TOPIC")
    screen.print_next(f"name FOLDER --pick {first}=1", "shape FOLDER rename TOPIC NAME", "name FOLDER --with COMMAND")


def _apply_picks(screen: Screen, collection: Collection, picks: Sequence[str]) -> None:
    """Rename topics to their picked candidates and print the changes."""
    from topiarist.collection.shape.names import collect_topic_facts, make_renames, pick_names

    topics = collect_topic_facts(collection, titles=False)
    proposals = pick_names(collection.outline, topics, picks)
    collection.shape(make_renames(proposals), refit=False)
    _print_proposals(screen, proposals, is_applied=True)


def _propose_names(
    screen: Screen, collection: Collection, top: int | None, name_source: NamingProgram | NamingServer, options: Options
) -> None:
    """Ask a language model for names, write or apply them, and print them. Exit if a proposal is refused."""
    from topiarist.collection.shape.edit_language import encode_edit
    from topiarist.collection.shape.names import collect_topic_facts, make_renames, propose_names, update_proposals

    topics = collect_topic_facts(collection, top, given_names=options.all)

    def ask(prompt: str) -> str:
        if options.verbose:
            screen.say(prompt)
        return name_source.ask(prompt)

    with RichReporter("Asking for names", Console(stderr=True), BAR_PATIENCE) as reporter:
        proposals = propose_names(collection.outline, topics, ask, reporter.show_steps)
    if collection.refresh():
        proposals = update_proposals(collection.outline, proposals)
    edits = make_renames(proposals)
    if options.output is not None:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump([encode_edit(edit) for edit in edits], file, indent=1, ensure_ascii=False)
    is_applied = options.apply and bool(edits)
    if is_applied:
        collection.shape(edits, refit=False)
    _print_proposals(screen, proposals, is_applied=is_applied)
    if any(proposal.refused for proposal in proposals):
        raise SystemExit(LEFT_OUT)


def _print_proposals(screen: Screen, proposals: Sequence[NameProposal], *, is_applied: bool) -> None:
    """Print old and proposed names with the next commands, or all as JSON."""
    if screen.options.json:
        screen.json({"applied": is_applied, "proposals": [proposal.to_dict() for proposal in proposals]})
        return
    if proposals:
        screen.print((f"{'id':>4}  name → proposal", "dim"))
    for proposal in proposals:
        ending = f"  stays: {proposal.refused or 'no other name was proposed'}", "yellow" if proposal.refused else "dim"
        if proposal.changes and not proposal.refused:
            ending = f" → {one_line(proposal.new or '')}", "green"
        screen.cut(f"{proposal.topic:>4}  {one_line(proposal.old)}", ending)
    n_changed = sum(proposal.changes for proposal in proposals)
    n_kept = len(proposals) - n_changed
    pending = f"{count_noun(n_changed, 'proposal')}, nothing renamed yet"
    summary = f"{count_noun(n_changed, 'topic')} renamed" if is_applied else pending
    kept_text = f"; {count_noun(n_kept, 'topic')} {verb(n_kept, 'keeps', 'keep')} the name" if n_kept else ""
    nothing = "No proposals: all topics have names by users (--all includes them)."
    screen.print(f"{summary}{kept_text}." if proposals else nothing)
    kept_in: str | None = getattr(screen.options, "output", None)
    if is_applied:
        screen.print_next("tree FOLDER", "shape FOLDER --undo")
    elif n_changed and kept_in:
        screen.print_next(("shape FOLDER {}", kept_in), "name FOLDER … --apply")
    else:
        screen.print_next("name FOLDER … --apply" if n_changed else "name FOLDER", "shape FOLDER rename TOPIC NAME")
