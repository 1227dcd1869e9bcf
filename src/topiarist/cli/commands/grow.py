"""Command ``topiarist grow``: grow a topic tree, save it and print it."""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topiarist.cli.options import (
    ALL_OPTIONS,
    READING,
    MetadataOptions,
    dates_option,
    examples,
    one_of,
    option,
    printing,
    reading,
    setting,
    wait_setting,
)
from topiarist.cli.settings_file import format_assignments
from topiarist.cli.source_stream import MORE_SETTINGS, STDIN, SourceOptions, Stream, choose_default_folder, digest
from topiarist.cli.terminal.console import Console, print_json
from topiarist.collection.grow.recipe import NO_VECTORS, Recipe
from topiarist.display.formats import count_noun, duration, one_line, size
from topiarist.errors import TopiaristError, UsageError
from topiarist.estimators.tree_models import TREE_MODELS, join_names
from topiarist.text.readers.file_systems import remove_secret

if TYPE_CHECKING:
    from topiarist.cli.terminal.grow_progress import Progress
    from topiarist.cli.terminal.stop_signal import Stop
    from topiarist.collection.grow.block_growth import BlockGrowth
    from topiarist.trees.tree import Tree

EXIT_CODES = (
    "Exit codes: 0 done · 1 done, with something left out · 2 wrong use · 3 no usable text · 4 damaged or too new · "
    "5 memory, disk or device · 70 a fault of ours · 130 stopped"
)
EPILOG = examples(
    "topiarist grow demo",
    "TOPIARIST_STOP_WORDS=en topiarist grow ./mail",
    "topiarist grow tickets.csv --text-column description --topics 12 -o tickets.topiary",
    "zcat news.jsonl.gz | topiarist grow - --json > tree.json",
    MORE_SETTINGS,
    EXIT_CODES,
)
WRITES = ALL_OPTIONS
OUTPUT_HELP = "Folder of the collection. Default: `NAME.topiary` with the name of the source."
TOPICS_HELP = "Number of topics; `auto`: chosen by held-out words."
MODEL_HELP = f"Kind of tree: {join_names([f'`{name}`' for name in TREE_MODELS])}."
HIERARCHY_HELP = "Fit this tree to labelled documents instead of growing one: paths, JSON, YAML or SKOS."
GROWTH_HELP = "How a tree grows: `guided`, by geometry and EM, or `annealed`, by temperature as in the papers."
MIX_HELP = "How `hplsa` mixes the levels of a topic: `ml`, `uniform` or `heldout`."
FIELDS_HELP = "Names for topics: a file of fields (lines, JSON, SKOS), `none`, or `auto` (bundled, English)."
NO_HEADINGS_HELP = "Keep the upper tree as it grew instead of building headings over the topics."
ONLINE_HELP = "Grow on a sample, then learn from all documents in batches: for very large collections."
CLUSTER_HELP = "Count, grow and index on a Dask cluster with access to the folder, or on N local workers."
MEMORY_HELP = "Memory limit for growing the tree, such as `2GB`. Reading and indexing are not included."
DEPTH_HELP = "Number of levels to print. Default: about twenty topics."
KEEP_HELP = "Count repeated lines, such as navigation bars, footers and disclaimers."
VECTORS_HELP = "Embeddings: .npy in order, or .npz, .parquet, .jsonl with ids. `none`: words alone for short texts."
ENCODER_HELP = "Compute embeddings on this machine with `topiarist[encoder]`."
EMBED_HELP = "Program that reads JSON lines (id, text) and prints JSON lines (id, vector)."

LANGUAGE_WAYS = ("together", "apart", "one")
LANGUAGES_HELP = "Mixed languages: `together` (one tree), `apart` (one branch each) or `one` (main language only)."
PASSAGES_HELP = "Cut long documents into passages (pages, sections, else about 300 words) and grow on these."
COLUMNS_HELP = "Further columns to keep with the documents: names with commas, `all` or `none`."
DEMO_TITLE = "the demonstration collection: abstracts of arXiv, 2014"
DEVICES = ("cpu", "cuda")
MAX_LISTED = 5  # fields without a known word
FEWEST_FILES = 20  # of which the share that was read says how long the rest takes


def topics_number(text: str) -> int | None:
    """Return a number of topics, or None for ``auto``. Other texts are a BadParameter error."""
    if str(text) == "auto":
        return None
    if not str(text).isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"expected a whole number of at least 1, or auto; got {text}")
    return int(text)


def memory_size(text: str) -> int:
    """Return bytes of a size such as ``2GB`` or ``1.5 GiB``. Other texts are a BadParameter error."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b?)", str(text).strip().lower())
    if not match:
        raise typer.BadParameter(f"expected a size such as 2GB or 500MB, got {text}")
    number, letter, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** (" kmgt".index(letter) if letter else 0))


@dataclass(frozen=True, kw_only=True)
class Options(SourceOptions, MetadataOptions):
    """Grow a topic tree from documents, save it as a collection and print it."""

    wait: float = wait_setting()
    output: str | None = option(None, OUTPUT_HELP, "--output", "-o", metavar="FOLDER")
    topics: int | None = option(
        Recipe.topics, TOPICS_HELP, "--topics", "--leaves", "-k", metavar="auto|N", parser=topics_number
    )
    model: str = option(Recipe.model, MODEL_HELP, metavar="NAME", parser=one_of(TREE_MODELS))
    hierarchy: str | None = option(None, HIERARCHY_HELP, metavar="FILE")
    fields: str = option(Recipe.fields, FIELDS_HELP, metavar="FILE|none")
    growth: str = setting(Recipe.growth, GROWTH_HELP)
    topic_mix: str | None = setting(Recipe.topic_mix, MIX_HELP)
    no_headings: bool = setting(not Recipe.headings, NO_HEADINGS_HELP)
    online: bool = setting(Recipe.online, ONLINE_HELP)
    device: str = setting(DEVICES[0], "`cpu`, or `cuda` for an NVIDIA GPU.", parser=one_of(DEVICES))
    cluster: str | None = option(None, CLUSTER_HELP, metavar="ADDRESS|local:N")
    memory: int | None = option(None, MEMORY_HELP, metavar="SIZE", parser=memory_size)
    force: bool = option(False, "Replace an existing collection once the new one is complete.")
    take_removed: bool = setting(False, "With --force, read documents again that `remove` took out.")
    resume: bool = option(False, "Continue a grow that was stopped or killed.")
    dry_run: bool = option(False, "Estimate time and memory without writing anything.")
    dates: str = dates_option(Recipe.dates)
    columns: str = setting(Recipe.columns, COLUMNS_HELP)
    labels: str | None = reading(None, "A table of labels with the columns id and label.", metavar="FILE")
    vectors: str | None = reading(None, VECTORS_HELP, metavar="FILE|none")
    encoder: bool = option(False, ENCODER_HELP, panel=READING)
    embed: str | None = reading(None, EMBED_HELP, metavar="COMMAND")
    keep_repeated: bool = setting(Recipe.keep_repeated, KEEP_HELP)
    passages: bool = setting(Recipe.passages, PASSAGES_HELP)
    languages: str = setting(Recipe.languages, LANGUAGES_HELP, parser=one_of(LANGUAGE_WAYS))
    words: int = setting(8, "Number of words to print for each topic.", min=1, max=20)
    depth: int | None = setting(None, DEPTH_HELP, min=0)
    figure: str | None = printing(None, "Draw the tree into a .png, .svg or .pdf file.", metavar="FILE")


def run(options: Options) -> None:
    """Grow, save and print a tree, or only estimate it. Grow nothing if the same collection exists."""
    from topiarist.cli import grow_result
    from topiarist.cli.terminal.stop_signal import Stop, handle_interrupts
    from topiarist.cli.terminal.targets import check_figure
    from topiarist.collection.document_vectors import vector_source
    from topiarist.collection.grow.allowed_folders import PLACES
    from topiarist.collection.grow.block_growth import BlockGrowth
    from topiarist.collection.grow.made_with import MADE_FROM
    from topiarist.collection.grow.pipeline import describe_stopped, find_same_collection, grow_collection
    from topiarist.collection.grow.state import GrowOptions

    began = time.perf_counter()
    check_figure(options.figure, force=options.force)

    recipe = _build_recipe(options)
    folder = options.output or choose_default_folder(options)
    stream = Stream(options)
    if options.dry_run:
        _print_dry_run(stream, options)
        return
    vectors = vector_source(
        _get_vector_file(options), options.embed, encoder=options.encoder, n_threads=options.threads
    )
    if vectors is not None and options.device != DEVICES[0]:
        raise UsageError("vectors and words cannot be fitted together on a GPU", hint="Remove the setting device.")
    if in_blocks := options.cluster is not None or options.memory is not None:
        BlockGrowth(options.cluster, options.memory).check(recipe, vectors)
    blocks = {"blocks": True} if in_blocks else {}
    made_from = digest(stream, {**recipe.to_dict(), **_read_vector_options(options), **blocks})
    existing = None if options.force else find_same_collection(folder, made_from, resume=options.resume)
    if existing is not None:
        if options.json:
            grow_result.print_summary(grow_result.GrowResult(existing, folder), up_to_date=True)
        else:
            print(f"{folder}: Already up to date (force with --force)")
        return
    stop = Stop()
    with (
        ExitStack() as ends,
        _create_progress(options, stop) as progress,
        handle_interrupts(progress.print_message, stop),
    ):
        progress.share_read = lambda: _estimate_share_read(stream)
        progress.find_slow_file = stream.find_slow_file
        grow_options = GrowOptions(
            n_threads=options.threads, device=options.device, take_removed=options.take_removed, reporter=progress,
            vectors=vectors, blocks=_open_blocks(options, ends) if in_blocks else None,
        )  # fmt: skip
        shown_sources = options.shown_sources
        settings = {
            MADE_FROM: made_from,
            "sources": shown_sources,
            "options": {**options.selection, "sources": shown_sources},
            "command": [*format_assignments(options, sys.argv[1:]), "topiarist", *map(remove_secret, sys.argv[1:])],
            PLACES: _list_places(options),
        }
        try:
            collection = grow_collection(
                stream, folder, recipe, grow_options, force=options.force, resume=options.resume, settings=settings
            )
        except TopiaristError as error:
            raise grow_result.add_problems(error, stream.problems) from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(describe_stopped(folder)) from None
        finally:
            stream.close()
    result = grow_result.GrowResult(collection, folder, stream, time.perf_counter() - began, progress.seconds)
    grow_result.print_result(result, options, stopped=stop.is_requested)


def _open_blocks(options: Options, ends: ExitStack) -> BlockGrowth:
    """Return the plan for growth in blocks of documents; the stack closes its cluster."""
    from topiarist.collection.grow.block_growth import BlockGrowth

    if options.cluster is None:
        return BlockGrowth(memory=options.memory)
    from topiarist.execution.dask import connect

    return BlockGrowth(ends.enter_context(connect(options.cluster)))


def _list_places(options: Options) -> list[str]:
    """Return the absolute paths of the sources; empty for a source that is no file."""
    named = [] if options.is_demo else options.sources
    return [os.path.abspath(source) if os.path.exists(source) else "" for source in named]


def _get_vector_file(options: Options) -> str | None:
    """Return the file of embeddings; None without one."""
    return None if options.vectors == NO_VECTORS else options.vectors


def _read_vector_options(options: Options) -> dict[str, Any]:
    """Return what identifies the embeddings: file, size and time, or program names; empty without any."""
    if (file := _get_vector_file(options)) is not None:
        status = os.stat(file)
        return {"vectors": [os.path.abspath(file), status.st_size, status.st_mtime_ns]}
    named = {"embed": options.embed, "encoder": options.encoder or None}
    return {name: value for name, value in named.items() if value is not None}


def _build_recipe(options: Options) -> Recipe:
    """Return the checked recipe of the options. Read the files of hierarchy and fields. Raise UsageError."""
    from topiarist.estimators.common.options import check_device

    check_device(options.device)
    if options.device not in TREE_MODELS[options.model].devices:
        raise UsageError(f"the model {options.model} cannot be fitted on a GPU", hint="Remove the setting device.")
    if STDIN in options.sources and len(options.sources) > 1:
        raise UsageError(
            "standard input cannot be combined with other sources",
            hint="Grow one collection for each source, or name files only.",
        )
    hierarchy = None
    if options.hierarchy is not None:
        if not Path(options.hierarchy).is_file():
            raise UsageError(
                f"there is no hierarchy at {options.hierarchy}", hint="Pass a file with one path on each line."
            )
        if options.topics is not None:
            raise UsageError("--topics cannot be used with --hierarchy, which sets the number of topics")
        hierarchy = _read_hierarchy(options.hierarchy)
    recipe = options.recipe(
        hierarchy=hierarchy,
        headings=not options.no_headings,
        fields=_read_fields(options.fields),
        vectors=NO_VECTORS if options.vectors == NO_VECTORS else Recipe.vectors,
    )
    recipe.check()
    return recipe


def _read_fields(setting: str) -> str:
    """Return the fields in a file as lines, "auto" or "none". Print fields without known words to stderr."""
    if setting in ("auto", "none"):
        return setting
    if not Path(setting).is_file():
        raise UsageError(f"expected auto, none or a file of fields, got {setting}", hint="Write one field a line.")
    from topiarist.trees.naming.fields import parse_fields

    if Path(setting).suffix.lower() in ("", ".txt"):
        text = Path(setting).read_text("utf-8")
    else:
        tree = _read_hierarchy(setting)
        nodes = (node for node in tree.depth_first() if node != tree.root)
        text = "\n".join("  " * (tree.depths[node] - 1) + tree.names[node] for node in nodes)
    if unknown := parse_fields(text).unknown:
        names = ", ".join(unknown[:MAX_LISTED])
        print(f"{len(unknown)} fields have no known word and name no topic: {names}", file=sys.stderr)
    return text


def _read_hierarchy(name: str) -> Tree:
    """Read a tree or thesaurus from a file. Print a note on skipped concepts to standard error."""
    from topiarist.trees import exchange, thesaurus

    text = Path(name).read_text("utf-8")
    if not thesaurus.is_thesaurus(name):
        return exchange.read_tree(text, exchange.detect_format(name))
    thesaurus_ = thesaurus.from_skos(text, name)
    if thesaurus_.describe_skipped():
        print(f"topiarist: {thesaurus_.describe_skipped()}", file=sys.stderr)
    return thesaurus_.tree


def _print_dry_run(stream: Stream, options: Options) -> None:
    """Print the files that would be read, and the estimated time and memory. Close the stream."""
    from topiarist.collection.grow.estimate import estimate_grow

    limits = {"leaves": options.topics, "limit": options.limit}
    estimate = estimate_grow(stream.files, stream, files_read=stream.files_read, **limits)
    stream.close()
    if options.json:
        print_json(estimate)
        return
    print(f"Would read {', '.join(map(one_line, options.shown_sources))}")
    for kind, files in estimate["files"].items():
        print(f"  {files['number']:>9,}  {kind:<16}{size(files['bytes']):>9}")
    if not estimate["files"]:
        print("  the bundled abstracts")
    if estimate["left_out"]:
        print(f"  {estimate['left_out']:>9,}  not a known type")
    if "documents" in estimate:
        free = f" ({size(estimate['free'])} free)" if estimate["free"] else ""
        cost = f"{duration(estimate['seconds'])} and {size(estimate['memory'])} of memory{free}"
        print(f"About {count_noun(estimate['documents'], 'document')}; growing takes about {cost}.")
    print("Nothing was written.")


def _create_progress(options: Options, stop: Stop) -> Progress:
    """Return the reporter of the output mode: silent, JSON lines, a terminal screen or plain lines."""
    from topiarist.cli.terminal.grow_progress import Events, Lines, Progress, Screen

    title = ", ".join(options.shown_sources)
    title = DEMO_TITLE if options.is_demo else "standard input" if options.sources == [STDIN] else title
    arguments: tuple[Any, ...] = (stop, options.topics, title)
    if options.quiet:
        return Progress(*arguments)
    if options.json:
        return Events(*arguments)
    notes = Console(stderr=True, highlight=False)
    return Screen(notes, *arguments) if notes.is_terminal else Lines(notes, *arguments)


def _estimate_share_read(stream: Stream) -> float | None:
    """Return the share of the files that has been read; None for a stream."""
    n_files = len(stream.files)
    n_read = stream.files_read() if n_files >= FEWEST_FILES else None
    return None if n_read is None else n_read / n_files
