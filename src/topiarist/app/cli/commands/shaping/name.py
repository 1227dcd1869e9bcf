"""``topiarist name``: what could the topics be called, by their words or by a language model of yours?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import UNDER, WritingOptions, examples, option
from topiarist.app.cli.terminal.bar import Bar
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted, named_by, one_line, path_of
from topiarist.errors import UsageError

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
    """List names that topics could have, pick among them, or let a language model of yours propose others: shown
    first, applied with --apply as one step. Nothing is sent anywhere without --with or --at.
    """

    with_: Annotated[
        str | None,
        option("A program that reads a prompt and answers; run without a shell.", "--with", metavar="COMMAND"),
    ] = None
    at: Annotated[
        str | None, option("A server on this machine with the chat-completions interface.", "--at", metavar="URL")
    ] = None
    model: Annotated[str, option("Which model the server should use.", "--model", metavar="NAME")] = ""
    allow_remote: Annotated[
        bool, option("The server may be another machine: titles and words leave this one.", "--allow-remote")
    ] = False
    timeout: Annotated[float, option("Seconds for an answer.", "--timeout", min=0.1, max=86_400)] = PATIENCE
    topic: Annotated[str | None, UNDER] = None
    all: Annotated[bool, option("Propose names for topics that people have named, too.", "--all")] = False
    apply: Annotated[bool, option("Rename, in one step that shape --undo takes back.", "--apply")] = False
    pick: Annotated[
        list[str] | None, option("Rename a topic to a candidate: 12=2.", "--pick", metavar="TOPIC=NUMBER")
    ] = None
    output: Annotated[
        str | None, option("Keep the proposals as edits, to be read by shape.", "--output", "-o", metavar="FILE")
    ] = None
    force: Annotated[bool, option("Replace the file of --output.", "--force")] = False


def run(options: Options) -> None:
    """Candidates, what was picked of them, or proposals."""
    screen = Screen(options)
    _check(options)
    asked = _asked(options)
    with door.Collection.open(options.folder) as collection:
        top = None if options.topic is None else collection.topic(options.topic)
        if options.pick:
            _pick(screen, collection, options.pick)
        elif asked is not None:
            _propose(screen, collection, top, asked, options)
        else:
            _candidates(screen, collection, top)


def _check(options: Options) -> None:
    """One thing at a time, and nothing said that would not be heeded."""
    asks = [name for name, given in (("--with", options.with_), ("--at", options.at)) if given is not None]
    chosen = [*asks, *(["--pick"] if options.pick else [])]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do not go together", hint="one after the other")
    needs = {
        "--apply": options.apply, "--all": options.all, "--output": options.output is not None,
    }  # fmt: skip
    if not asks and (lost := [name for name, given in needs.items() if given]):
        raise UsageError(f"{lost[0]} goes with proposals, and nobody is asked for any", hint="--with COMMAND, --at URL")
    of_server = {"--model": bool(options.model), "--allow-remote": options.allow_remote}
    if options.at is None and (lost := [name for name, given in of_server.items() if given]):
        raise UsageError(f"{lost[0]} goes with a server", hint="--at URL")
    if options.pick and options.topic is not None:
        raise UsageError("--topic does not go with --pick, which names its topics", hint="without --topic")
    if options.output is None:
        return
    from topiarist.app.cli.terminal.targets import check_file

    if not options.output.lower().endswith(".json"):
        raise UsageError(f"edits are kept in a .json file, got {options.output}", hint="names.json")
    check_file(options.output, force=options.force)


def _asked(options: Options) -> door.NamingProgram | door.NamingServer | None:
    """Whom to ask."""
    if options.with_ is not None:
        return door.NamingProgram.of(options.with_, options.timeout)
    if options.at is not None:
        return door.NamingServer.of(options.at, options.model, options.timeout, allow_remote=options.allow_remote)
    return None


def _candidates(screen: Screen, collection: door.Collection, top: int | None) -> None:
    """The names that each topic could have, with numbers to pick them by."""
    outline, topics = collection.outline, door.topic_facts(collection, top, titles=False)
    if screen.options.json:
        screen.json({"topics": [_candidate_body(outline, facts) for facts in topics]})
        return
    for facts in topics:
        *above, name = outline.tree.path_names(outline.node(facts.topic))[1:]
        given = "  (named by a person)" if facts.topic in outline.titles else ""
        lead = f"  {path_of(above)}" if above else ""
        screen.cut(f"{facts.topic:>4}  ", (one_line(name), "bold"), (f"{given}{lead}", "dim"))
        for number, candidate in enumerate(facts.names, 1):
            screen.cut((f"{number:>8}  ", "dim"), one_line(candidate))
    if not topics:
        screen.print("No topic lies there that could be named.")
    first = next((facts.topic for facts in topics if facts.names), "TOPIC")
    screen.next(f"name FOLDER --pick {first}=1", "shape FOLDER rename TOPIC NAME", "name FOLDER --with COMMAND")


def _candidate_body(outline: door.Shape, facts: door.TopicFacts) -> dict[str, object]:
    path = outline.tree.path_names(outline.node(facts.topic))
    return {
        "id": facts.topic, "name": path[-1], "named_by": named_by(facts.topic in outline.titles), "path": list(path),
        "candidates": list(facts.names),
    }  # fmt: skip


def _pick(screen: Screen, collection: door.Collection, picks: Sequence[str]) -> None:
    """Call topics as a person has picked, all or none."""
    topics = door.topic_facts(collection, titles=False)
    found = door.picked_names(collection.outline, topics, picks)
    collection.shape(door.renames_of(found), refit=False)
    _tell(screen, found, applied=True)


def _propose(
    screen: Screen,
    collection: door.Collection,
    top: int | None,
    asked: door.NamingProgram | door.NamingServer,
    options: Options,
) -> None:
    """Ask for each topic, show what came, and apply it only if that was asked for."""
    topics = door.topic_facts(collection, top, given_names=options.all)

    def ask(prompt: str) -> str:
        if options.verbose:
            screen.say(prompt)
        return asked.ask(prompt)

    with Bar("Asking for names") as bar:
        found = door.propose_names(collection.outline, topics, ask, bar)
    if collection.refresh():
        found = door.still_wanted(collection.outline, found)
    edits = door.renames_of(found)
    if options.output is not None:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump([door.edit_to_entry(edit) for edit in edits], file, indent=1, ensure_ascii=False)
    applied = options.apply and bool(edits)
    if applied:
        collection.shape(edits, refit=False)
    _tell(screen, found, applied=applied)
    if any(one.refused for one in found):
        raise SystemExit(LEFT_OUT)


def _tell(screen: Screen, found: Sequence[door.NameProposal], *, applied: bool) -> None:
    """The table of old names and new ones, how many, and what to type next."""
    if screen.options.json:
        screen.json({"applied": applied, "proposals": [one.to_dict() for one in found]})
        return
    changed = sum(one.changes for one in found)
    if found:
        screen.print((f"{'id':>4}  name → proposal", "dim"))
    for one in found:
        old = one_line(one.old)
        if one.refused:
            screen.cut(f"{one.topic:>4}  {old}", (f"  stays: {one.refused}", "yellow"))
        elif one.changes:
            screen.cut(f"{one.topic:>4}  {old} → ", (one_line(one.new or ""), "green"))
        else:
            screen.cut(f"{one.topic:>4}  {old}", ("  stays: the same was proposed", "dim"))
    stay = len(found) - changed
    what = f"{counted(changed, 'topic')} renamed" if applied else f"{counted(changed, 'proposal')}, nothing renamed yet"
    kept = f"; {counted(stay, 'topic')} keep{'s' if stay == 1 else ''} the name" if stay else ""
    screen.print(f"{what}{kept}." if found else "Nobody was asked: all topics there were named by people (--all).")
    kept_in: str | None = getattr(screen.options, "output", None)
    if applied:
        screen.next("tree FOLDER", "shape FOLDER --undo")
    elif changed and kept_in:
        screen.next(("shape FOLDER {}", kept_in), "name FOLDER … --apply")
    else:
        screen.next("name FOLDER … --apply" if changed else "name FOLDER", "shape FOLDER rename TOPIC NAME")
