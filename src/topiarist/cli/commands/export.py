"""Command ``topiarist export``: write tables, trees and models for other programs."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from functools import partial
from pathlib import PurePath

from topiarist.cli.options import FolderOptions, examples, option
from topiarist.cli.terminal.console import binary_output
from topiarist.cli.terminal.screen import open_collection
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
WHAT = ("documents", "wholes", "topics", "words", "searches", "columns", "tree", "model")
SUFFIXES = {"ndjson": "jsonl", "txt": "paths"}  # that are not the name of a format
MEANT = ("documents", "wholes", "topics", "words")  # tables with columns to explain
STANDARD_OUTPUT = "-"
NOUNS = {  # of the rows of a table, and of files
    "documents": ("document", "documents"), "wholes": ("whole document", "whole documents"), "topics": ("topic", "topics"),
    "words": ("word", "words"), "searches": ("search", "searches"), "model": ("file", "files"),
    "columns": ("column", "columns"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Write tables, the tree or the model for other programs."""

    output: str = option(MISSING, "Output file; `-` is standard output.", "--output", "-o", metavar="FILE")
    what: str | None = option(
        None, "documents, wholes, topics, words, searches, columns, tree or model.", metavar="KIND"
    )
    format: str | None = option(
        None, "csv, excel, jsonl, parquet; a tree: json, paths, ttl, rdf. Default: by suffix.", metavar="FORMAT"
    )
    rho: float = option(0.5, "Lowest probability of the topic in the column `certain`.", min=0, max=1)
    words: int = option(20, "Number of words of each topic.", min=1)
    texts: bool = option(False, "Include the full texts.")
    force: bool = option(False, "Replace an existing file.")


def run(options: Options) -> None:
    """Write a table, the tree or the model to a file or to standard output, and print the numbers."""
    from topiarist.cli.terminal.targets import check_file, check_model
    from topiarist.collection.describe.export import format_tree, make_table
    from topiarist.collection.describe.tables import write_table
    from topiarist.estimators.model_folder import replace_model, save_model

    kind, what = _choose_format(options)
    target, is_file = options.output, options.output != STANDARD_OUTPUT
    if options.json and not is_file:
        raise UsageError(
            "--json describes a file, but the rows go to standard output", hint="Use --format jsonl with -o -."
        )
    if what == "model":
        check_model(target, force=options.force)
    elif is_file:
        check_file(target, force=options.force)
    with open_collection(options) as (screen, collection):
        tree, number = collection.outline.tree, 0
        if what == "model":
            save = partial(save_model, collection.model, vocabulary=collection.counting.vocabulary)
            number = replace_model(save, target)
        elif what == "tree":
            _write_text(format_tree(collection, kind, options.words).encode("utf-8", "replace"), target)
        else:
            table = make_table(collection, what, n_words=options.words, texts=options.texts, rho=options.rho)
            number = write_table(table.rows, target if is_file else binary_output(), kind, table.fields, table.types)
    numbers = {("topic", "topics"): len(tree.leaves), ("heading", "headings"): len(tree.headings)}
    numbers = numbers if what in ("tree", "topics") else {NOUNS[what]: number}
    if options.json:
        screen.json({"output": target, "what": what, "format": kind} | {nouns[1]: n for nouns, n in numbers.items()})
    elif is_file:
        screen.say(f"{' and '.join(count_noun(n, *nouns) for nouns, n in numbers.items())} written to {target}")
        columns = ("export FOLDER --what columns -o {}", str(PurePath(target).with_name("columns.csv")))
        screen.print_next(*["check FOLDER"] if what == "model" else [columns] if what in MEANT else ["tree FOLDER"])


def _choose_format(options: Options) -> tuple[str, str]:
    """Return file format and content, from options and file name. Raise UsageError if they clash."""
    from topiarist.collection.describe.export import TREE_FORMATS
    from topiarist.collection.describe.tables import TABLE_FORMATS

    what, kind, to_file = options.what, options.format, options.output != STANDARD_OUTPUT
    known = (*TABLE_FORMATS, *TREE_FORMATS, "model")
    for name, names, problem in ((kind, known, "there is no format {!r}"), (what, WHAT, "there is no {!r} to export")):
        if name is not None and name not in names:
            raise UsageError(problem.format(name), hint=format_proposals(name, names).replace("'", ""))
    if what == "model" or kind == "model":
        if not to_file:
            raise UsageError(
                "a model is a folder of files, which does not go to standard output",
                hint="Write to a folder, such as -o model.",
            )
        return "model", "model"
    if kind is None:
        suffix = PurePath(options.output).suffix.lower().removeprefix(".")
        kind = suffix if suffix in known else SUFFIXES.get(suffix)
    kind = kind or ("json" if what == "tree" else None if to_file else "csv")
    if kind is None:
        raise UsageError(
            f"no format is known for {options.output}", hint=f"Use --format with one of {', '.join(known)}."
        )
    what = what or ("tree" if kind in TREE_FORMATS else "documents")
    if what == "tree" and kind in TABLE_FORMATS:
        what = "topics"
    formats = TREE_FORMATS if what == "tree" else TABLE_FORMATS
    if kind not in formats:
        raise UsageError(f"{what} cannot be written as {kind}", hint=f"Use one of {', '.join(formats)}.")
    if kind == "parquet" and not to_file:
        raise UsageError("Parquet needs a file", hint="Write to a file, such as -o documents.parquet.")
    return kind, what


def _write_text(text: bytes, target: str) -> None:
    """Write text to a new file or to standard output."""
    from topiarist.storage.sealed_folder import new_file

    if target == STANDARD_OUTPUT:
        output = binary_output()
        output.write(text)
        output.flush()
        return
    with new_file(target) as file:
        file.write(text)
