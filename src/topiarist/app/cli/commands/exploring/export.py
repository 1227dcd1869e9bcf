"""``topiarist export``: how do I hand this to others, and to other programs?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import FolderOptions, examples, option
from topiarist.app.cli.terminal.console import binary_output
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted
from topiarist.errors import UsageError
from topiarist.text.spelling import proposed

EPILOG = examples(
    "topiarist export mail.topiary -o documents.csv",
    "topiarist export mail.topiary -o topics.parquet --what topics",
    "topiarist export mail.topiary -o tree.graphml",
    "topiarist export mail.topiary -o thesaurus.ttl",
    "topiarist export mail.topiary -o model --what model",
)
WRITES = ()
WHAT = ("documents", "wholes", "topics", "words", "searches", "tree", "model")
SUFFIXES = {"ndjson": "jsonl", "nwk": "newick", "tree": "newick", "txt": "paths"}  # that are not the name of a format
STANDARD_OUTPUT = "-"
PLURALS = {"search": "searches"}
THINGS = {"wholes": "whole document", "searches": "search"}


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Write documents with their topics, topics, words, the tree or the model for other programs."""

    output: Annotated[str, option("Where to; `-` is standard output.", "--output", "-o", metavar="FILE")]
    what: Annotated[
        str | None, option("`documents`, `wholes` (of passages), `topics`, `words`, `searches`, `tree` or `model`.")
    ] = None
    format: Annotated[
        str | None,
        option("csv, jsonl, parquet; a tree: json, graphml, newick, paths, ttl, rdf. By the name."),
    ] = None
    rho: Annotated[float, option("How certain the level of a document is.", min=0, max=1)] = 0.5
    words: Annotated[int, option("Words of each topic.", min=1)] = 20
    texts: Annotated[bool, option("The texts of the documents too.", "--texts")] = False
    force: Annotated[bool, option("Replace a file that is there.", "--force")] = False


def run(options: Options) -> None:
    """Settle what and how, write, say so."""
    from topiarist.app.cli.terminal.targets import check_file, check_model
    from topiarist.estimators.model_folder import replace_model

    screen = Screen(options)
    kind, what = _settled(options)
    target = options.output
    if options.json and target == STANDARD_OUTPUT:
        raise UsageError("--json tells about a file, and standard output holds the rows", hint="--format jsonl -o -")
    if what == "model":
        check_model(target, force=options.force)
    elif target != STANDARD_OUTPUT:
        check_file(target, force=options.force)
    with door.Collection.open(options.folder) as collection:
        if what == "model":
            number, things = replace_model(lambda place: door.save_tree_model(collection, place), target), "file"
        elif what == "tree":
            _write(door.tree_text(collection, kind, options.words).encode("utf-8", "replace"), target)
            number, things = len(collection.outline.topics), "topic"
        else:
            table = door.exported_table(collection, what, n_words=options.words, texts=options.texts, rho=options.rho)
            to = binary_output() if target == STANDARD_OUTPUT else target
            number = door.write_table(table.rows, to, kind, table.fields, table.types)
            things = THINGS.get(what, what.removesuffix("s"))
    if options.json:
        if target != STANDARD_OUTPUT:
            screen.json({"output": target, "what": what, "format": kind, PLURALS.get(things, f"{things}s"): number})
        return
    if target != STANDARD_OUTPUT:
        screen.say(f"{counted(number, things, PLURALS.get(things, f'{things}s'))} written to {target}")
        screen.next("tree FOLDER" if what != "model" else "check FOLDER")


def _settled(options: Options) -> tuple[str, str]:
    """The format and what to write, one from the other where only one is said."""
    what, kind, tables, trees = options.what, options.format, door.TABLE_FORMATS, door.TREE_FORMATS
    known = (*tables, *trees, "model")
    if kind is not None and kind not in known:
        raise UsageError(f"there is no format {kind!r}", hint=proposed(kind, known).replace("'", ""))
    if what is not None and what not in WHAT:
        raise UsageError(f"there is no {what!r} to export", hint=proposed(what, WHAT).replace("'", ""))
    if what == "model" or kind == "model":
        if options.output == STANDARD_OUTPUT:
            raise UsageError("a model is a folder of files, which does not go to standard output", hint="-o model")
        return "model", "model"
    if kind is None:
        suffix = PurePath(options.output).suffix.lower().removeprefix(".")
        kind = suffix if suffix in (*tables, *trees) else SUFFIXES.get(suffix)
    if kind is None:
        kind = "json" if what == "tree" else "csv" if options.output == STANDARD_OUTPUT else None
    if kind is None:
        raise UsageError(f"which format should {options.output} have?", hint=f"--format {', '.join(known)}")
    what = what or ("tree" if kind in trees else "documents")
    if what == "tree" and kind in tables:
        what = "topics"
    if (what == "tree") != (kind in trees):
        raise UsageError(f"{what} cannot be written as {kind}", hint=", ".join(trees if what == "tree" else tables))
    if kind == "parquet" and options.output == STANDARD_OUTPUT:
        raise UsageError("Parquet needs a file", hint="-o documents.parquet")
    return kind, what


def _write(text: bytes, target: str) -> None:
    from topiarist.store.sealed_folder import new_file

    if target == STANDARD_OUTPUT:
        output = binary_output()
        output.write(text)
        output.flush()
        return
    with new_file(target) as file:
        file.write(text)
