"""Command ``topiarist export``: write tables, trees and models for other programs."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from functools import partial
from pathlib import PurePath

from topiarist.cli.options import FolderOptions, examples, option
from topiarist.cli.terminal.console import binary_output
from topiarist.cli.terminal.screen import opened
from topiarist.display.formats import count_noun
from topiarist.errors import UsageError
from topiarist.text.spelling import format_proposals

EPILOG = examples(
    "topiarist export mail.topiary -o documents.csv",
    "topiarist export mail.topiary -o topics.parquet --what topics",
    "topiarist export mail.topiary -o tree.json",
    "topiarist export mail.topiary -o thesaurus.ttl",
    "topiarist export mail.topiary -o model --what model",
)
WRITES = ()
WHAT = ("documents", "wholes", "topics", "words", "searches", "tree", "model")
SUFFIXES = {"ndjson": "jsonl", "txt": "paths"}  # that are not the name of a format
STANDARD_OUTPUT = "-"
PLURALS = {"search": "searches"}
THINGS = {"wholes": "whole document", "searches": "search"}


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Write documents with their topics, topics, words, the tree or the model for other programs."""

    output: str = option(MISSING, "Output file; `-` is standard output.", "--output", "-o", metavar="FILE")
    what: str | None = option(None, "documents, wholes (of passages), topics, words, searches, tree or model.")
    format: str | None = option(None, "csv, excel, jsonl, parquet; a tree: json, paths, ttl, rdf. Default: by suffix.")
    rho: float = option(0.5, "How certain the level of a document is.", min=0, max=1)
    words: int = option(20, "Words of each topic.", min=1)
    texts: bool = option(False, "The texts of the documents too.")
    force: bool = option(False, "Replace an existing file.")


def run(options: Options) -> None:
    from topiarist.cli.terminal.targets import check_file, check_model
    from topiarist.collection.describe.export import format_tree, make_table
    from topiarist.collection.describe.tables import write_table
    from topiarist.estimators.model_folder import replace_model, save_model

    kind, what = _settled(options)
    target = options.output
    if options.json and target == STANDARD_OUTPUT:
        raise UsageError("--json describes a file, but the rows go to standard output", hint="--format jsonl -o -")
    if what == "model":
        check_model(target, force=options.force)
    elif target != STANDARD_OUTPUT:
        check_file(target, force=options.force)
    with opened(options) as (screen, collection):
        if what == "model":
            save = partial(save_model, collection.model, vocabulary=collection.counting.vocabulary)
            number, things = replace_model(save, target), "file"
        elif what == "tree":
            _write(format_tree(collection, kind, options.words).encode("utf-8", "replace"), target)
            number, things = 1, "topic"
        else:
            table = make_table(collection, what, n_words=options.words, texts=options.texts, rho=options.rho)
            to = binary_output() if target == STANDARD_OUTPUT else target
            number = write_table(table.rows, to, kind, table.fields, table.types)
            things = THINGS.get(what, what.removesuffix("s"))
        tree = collection.outline.tree
        numbers = {things: number}
        if things == "topic":
            numbers = {"topic": len(tree.leaves), "heading": len(tree.headings)}
    plurals = {noun: PLURALS.get(noun, f"{noun}s") for noun in numbers}
    if options.json:
        if target != STANDARD_OUTPUT:
            screen.json(
                {"output": target, "what": what, "format": kind} | {plurals[noun]: numbers[noun] for noun in numbers}
            )
        return
    if target != STANDARD_OUTPUT:
        screen.say(
            f"{' and '.join(count_noun(numbers[noun], noun, plurals[noun]) for noun in numbers)} written to {target}"
        )
        screen.next("tree FOLDER" if what != "model" else "check FOLDER")


def _settled(options: Options) -> tuple[str, str]:
    from topiarist.collection.describe.export import TREE_FORMATS
    from topiarist.collection.describe.tables import TABLE_FORMATS

    what, kind, tables, trees = options.what, options.format, TABLE_FORMATS, TREE_FORMATS
    known = (*tables, *trees, "model")
    if kind is not None and kind not in known:
        raise UsageError(f"there is no format {kind!r}", hint=format_proposals(kind, known).replace("'", ""))
    if what is not None and what not in WHAT:
        raise UsageError(f"there is no {what!r} to export", hint=format_proposals(what, WHAT).replace("'", ""))
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
        raise UsageError(f"no format is known for {options.output}", hint=f"--format {', '.join(known)}")
    what = what or ("tree" if kind in trees else "documents")
    if what == "tree" and kind in tables:
        what = "topics"
    if (what == "tree") != (kind in trees):
        raise UsageError(f"{what} cannot be written as {kind}", hint=", ".join(trees if what == "tree" else tables))
    if kind == "parquet" and options.output == STANDARD_OUTPUT:
        raise UsageError("Parquet needs a file", hint="-o documents.parquet")
    return kind, what


def _write(text: bytes, target: str) -> None:
    from topiarist.storage.sealed_folder import new_file

    if target == STANDARD_OUTPUT:
        output = binary_output()
        output.write(text)
        output.flush()
        return
    with new_file(target) as file:
        file.write(text)
