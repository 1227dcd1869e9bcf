"""``topiarist grow``: which topics, and which of them belong together? Kept in a folder, and printed."""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topiarist import collection as door
from topiarist.app.cli.options import (
    ALWAYS,
    COUNTING,
    DATE_ORDERS,
    DATES_HELP,
    READING,
    STDIN,
    WAIT,
    SourceOptions,
    examples,
    flag,
    one_of,
    option,
    printing,
    reading,
)
from topiarist.app.cli.source_stream import Extra, Stream, default_folder, digest
from topiarist.app.cli.terminal.console import Console, print_json
from topiarist.app.words import counted, duration, one_line, size
from topiarist.errors import TopiaristError, UsageError
from topiarist.estimators.tree_models import TREE_MODELS, listed
from topiarist.text.readers.file_systems import without_secret

if TYPE_CHECKING:
    from topiarist.app.cli.terminal.grow_progress import Progress
    from topiarist.app.cli.terminal.stop_signal import Stop
    from topiarist.hierarchy.tree import Tree

EXIT_CODES = (
    "Exit codes: 0 done · 1 done, with something left out · 2 wrong use · 3 no usable text · 4 damaged or too new · "
    "5 memory, disk or device · 70 a fault of ours · 130 stopped"
)
EPILOG = examples(
    "topiarist grow demo",
    "topiarist grow ./mail --stop-words en --phrases",
    "topiarist grow 's3://bucket/parts/*.parquet' --cluster tcp://scheduler:8786",
    "topiarist grow tickets.csv --text-column description --topics 12 -o tickets.topiary",
    "zcat news.jsonl.gz | topiarist grow - --json > tree.json",
    EXIT_CODES,
)
WRITES = ALWAYS
OUTPUT_HELP = "The folder of the collection; without it `NAME.topiary` here, called like the source."
MODEL_HELP = f"Kind of tree: {listed([f'`{name}`' for name in TREE_MODELS])}."
HIERARCHY_HELP = "Learn this tree from labelled documents instead of growing one: paths on lines, JSON, YAML or SKOS."
NO_HEADINGS_HELP = "Keep the upper tree as it grew instead of building headings over the topics."
ONLINE_HELP = "Grow on a sample, then learn from all documents in batches: for very large collections."
CLUSTER_HELP = "Count, grow and index on a Dask cluster that sees the folder, or on N workers here."
MEMORY_HELP = "Grow from blocks in files, in no more memory than this: `2GB`. Reading and indexing take their own."
DEPTH_HELP = "Levels to print below the root; without it about twenty topics."
KEEP_HELP = "Count lines that many documents share, too: navigation bars, footers, disclaimers."
VECTORS_HELP = "Vectors to decide beside words: .npy, in the order of the documents; .npz, .parquet or .jsonl with ids."
ENCODER_HELP = "Encode the documents on this machine, by `topiarist[encoder]`: vectors decide beside words."
EMBED_HELP = "A program of yours that reads JSON lines (id, text) and prints JSON lines (id, vector)."
STABILITY_HELP = "Grow five more trees from other halves of the documents, and say how much of each topic comes back."
LANGUAGE_WAYS = ("together", "apart", "one")
LANGUAGES_HELP = "Several languages: `together` under one root, `apart` as branches, or `one` without the others."
PASSAGES_HELP = "Cut long documents into passages (pages, sections, else about 300 words) and grow on these."
COLUMNS_HELP = "Further columns to keep with the documents: names with commas, `all` or `none`."
DEMO_TITLE = "the demonstration collection: abstracts of arXiv, 2014"
DEVICES = ("cpu", "cuda")
FEWEST_FILES = 20  # of which the share that was read says how long the rest takes


def topics_number(text: str) -> int | None:
    """A number of topics; None for ``auto``."""
    if str(text) == "auto":
        return None
    if not str(text).isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"expected a whole number of at least 1, or auto; got {text}")
    return int(text)


def memory_size(text: str) -> int:
    """Bytes: ``2GB``, ``500MB``, ``1.5 GiB``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b?)", str(text).strip().lower())
    if not found:
        raise typer.BadParameter(f"expected a size such as 2GB or 500MB, got {text}")
    number, letter, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** (" kmgt".index(letter) if letter else 0))


@dataclass(frozen=True, kw_only=True)
class Options(SourceOptions):
    """Grow a tree of topics, general words at the root and special ones at the leaves; keep and print it."""

    wait: Annotated[float, WAIT] = 0.0
    output: Annotated[str | None, option(OUTPUT_HELP, "--output", "-o", metavar="FOLDER")] = None
    topics: Annotated[
        int | None,
        option(
            "How many topics at the leaves; `auto`: held-out words choose.",
            "--topics",
            "--leaves",
            "-k",
            metavar="auto|N",
            parser=topics_number,
        ),
    ] = door.Recipe.topics
    model: Annotated[str, option(MODEL_HELP, metavar="NAME", parser=one_of(TREE_MODELS))] = door.Recipe.model
    hierarchy: Annotated[str | None, option(HIERARCHY_HELP, metavar="FILE")] = None
    no_headings: Annotated[bool, flag(NO_HEADINGS_HELP, "--no-headings")] = not door.Recipe.headings
    online: Annotated[bool, flag(ONLINE_HELP, "--online")] = door.Recipe.online
    device: Annotated[str, option("`cpu`, or `cuda` for an NVIDIA GPU.", metavar="NAME", parser=one_of(DEVICES))] = (
        DEVICES[0]
    )
    cluster: Annotated[str | None, option(CLUSTER_HELP, metavar="ADDRESS|local:N")] = None
    memory: Annotated[int | None, option(MEMORY_HELP, metavar="SIZE", parser=memory_size)] = None
    force: Annotated[bool, flag("Grow anew what is there; it stays until then.", "--force")] = False
    take_removed: Annotated[
        bool, flag("With --force: read documents again that `remove` took out.", "--take-removed")
    ] = False
    resume: Annotated[bool, flag("Go on with a grow that was stopped or killed.", "--resume")] = False
    dry_run: Annotated[bool, flag("Count files, estimate time and memory, write nothing.", "--dry-run")] = False
    date_column: Annotated[str | None, reading("Column that holds the date.", metavar="NAME")] = None
    label_column: Annotated[str | None, reading("Column that holds labels, with ; between them.", metavar="NAME")] = (
        None
    )
    dates: Annotated[str, reading(DATES_HELP, metavar="ORDER", parser=one_of(DATE_ORDERS))] = door.Recipe.dates
    columns: Annotated[str, reading(COLUMNS_HELP, metavar="a,b|none")] = door.Recipe.columns
    labels: Annotated[str | None, reading("A table of labels with the columns id and label.", metavar="FILE")] = None
    vectors: Annotated[str | None, reading(VECTORS_HELP, metavar="FILE")] = None
    encoder: Annotated[bool, flag(ENCODER_HELP, "--encoder", panel=READING)] = False
    embed: Annotated[str | None, reading(EMBED_HELP, metavar="COMMAND")] = None
    keep_repeated: Annotated[bool, flag(KEEP_HELP, "--keep-repeated", panel=COUNTING)] = door.Recipe.keep_repeated
    passages: Annotated[bool, flag(PASSAGES_HELP, "--passages", panel=COUNTING)] = door.Recipe.passages
    languages: Annotated[str, option(LANGUAGES_HELP, panel=COUNTING, metavar="WAY", parser=one_of(LANGUAGE_WAYS))] = (
        door.Recipe.languages
    )
    words: Annotated[int, printing("Words per topic.", metavar="N", min=1, max=20)] = 8
    depth: Annotated[int | None, printing(DEPTH_HELP, metavar="N", min=0)] = None
    figure: Annotated[str | None, printing("Draw the tree into a .png, .svg or .pdf file.", metavar="FILE")] = None
    check_stability: Annotated[bool, flag(STABILITY_HELP, "--check-stability")] = False
    curve: Annotated[str | None, printing("Draw how the number of topics was chosen.", metavar="FILE")] = None


def run(options: Options) -> None:
    """Read, count, grow, index, keep, print."""
    from topiarist.app.cli import grow_result
    from topiarist.app.cli.terminal import figures
    from topiarist.app.cli.terminal.stop_signal import Stop, stoppable

    began = time.perf_counter()
    figures.check(options.figure, force=options.force)
    figures.check(options.curve, force=options.force)
    recipe = _recipe(options)
    folder = options.output or default_folder(options)
    extra = Extra(options.date_column, options.label_column, options.labels)
    stream = Stream(options, extra)
    if options.dry_run:
        _dry_run(stream, options)
        return
    vectors = door.vector_source(options.vectors, options.embed, encoder=options.encoder, n_threads=options.threads)
    if vectors is not None and options.device != DEVICES[0]:
        raise UsageError("vectors and words are fitted together by the processor", hint="without --device")
    if in_blocks := options.cluster is not None or options.memory is not None:
        door.InBlocks(options.cluster, options.memory).check(recipe, vectors)
    blocks = {"blocks": True} if in_blocks else {}
    made_from = digest(stream, {**recipe.identity, **_vectors_named(options), **blocks})
    known = None if options.force else door.existing_collection(folder, made_from, resume=options.resume)
    if known is not None:
        if options.json:
            grow_result.print_summary(grow_result.Grown(known, folder), up_to_date=True)
        else:
            print(f"{folder}: Already up to date (force with --force)")
        return
    stop = Stop()
    with ExitStack() as ends, _progress(options, stop) as progress, stoppable(progress.say, stop):
        progress.share_read = lambda: _share_read(stream)
        grower = door.Grower(
            recipe, options.threads, options.device, take_removed=options.take_removed, tell=progress, vectors=vectors,
            place=_place(options, ends) if in_blocks else None,
        )  # fmt: skip
        shown = options.shown_sources
        settings = {
            door.MADE_FROM: made_from,
            "sources": shown,
            "options": {**options.selection, "sources": shown},
            "command": ["topiarist", *map(without_secret, sys.argv[1:])],
            door.PLACES: _places(options),
        }
        try:
            collection = grower.grow(stream, folder, force=options.force, resume=options.resume, told=settings)
        except TopiaristError as error:
            raise grow_result.with_problems(error, stream.problems) from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(door.kept_after_stop(folder)) from None
        finally:
            stream.close()
    grown = grow_result.Grown(collection, folder, stream, time.perf_counter() - began, progress.seconds)
    grow_result.tell(grown, options, stopped=stop.wanted)


def _place(options: Options, ends: ExitStack) -> door.InBlocks:
    """Who computes blocks of documents; a cluster is let go at the end."""
    if options.cluster is None:
        return door.InBlocks(memory=options.memory)
    from topiarist.scale.cluster_address import connected

    return door.InBlocks(ends.enter_context(connected(options.cluster)))


def _places(options: Options) -> list[str]:
    """Where the sources are, in full; nothing for those that are no files."""
    named = [] if options.is_demo else options.sources
    return [os.path.abspath(one) if os.path.exists(one) else "" for one in named]


def _vectors_named(options: Options) -> dict[str, Any]:
    """What makes other vectors: nothing where there are none, so that a collection without them is what it was."""
    if options.vectors is not None:
        known = os.stat(options.vectors)
        return {"vectors": [os.path.abspath(options.vectors), known.st_size, known.st_mtime_ns]}
    named = {"embed": options.embed, "encoder": options.encoder or None}
    return {name: value for name, value in named.items() if value is not None}


def _recipe(options: Options) -> door.Recipe:
    """What to grow; everything that can be refused before the work begins is refused here."""
    from topiarist.estimators.common.options import check_device

    check_device(options.device)
    if options.device not in TREE_MODELS[options.model].devices:
        raise UsageError(f"the model {options.model} is fitted by the processor", hint="without --device")
    if STDIN in options.sources and len(options.sources) > 1:
        raise UsageError("standard input goes alone", hint="one grow for each, or files only")
    hierarchy = None
    if options.hierarchy is not None:
        if not Path(options.hierarchy).is_file():
            raise UsageError(f"there is no hierarchy at {options.hierarchy}", hint="a file with one path on each line")
        if options.topics is not None:
            raise UsageError("--topics does not go with --hierarchy, which says how many there are")
        hierarchy = _hierarchy(options.hierarchy)
    recipe = options.recipe(
        model=options.model,
        topics=options.topics,
        online=options.online,
        keep_repeated=options.keep_repeated,
        hierarchy=hierarchy,
        headings=not options.no_headings,
        dates=options.dates,
        columns=options.columns,
        passages=options.passages,
        languages=options.languages,
    )
    recipe.check()
    return recipe


def _hierarchy(name: str) -> Tree:
    """The tree of a file that somebody wrote, or of a thesaurus; what of this is not in the tree is said."""
    from topiarist.hierarchy import exchange, thesaurus

    text = Path(name).read_text("utf-8")
    if not thesaurus.is_thesaurus(name):
        return exchange.read_tree(text, exchange.format_of(name))
    found = thesaurus.from_skos(text, name)
    if found.told():
        print(f"topiarist: {found.told()}", file=sys.stderr)
    return found.tree


def _dry_run(stream: Stream, options: Options) -> None:
    """Print what growing would read and take."""
    found = door.dry_run(stream.files, stream, files_read=stream.files_read, leaves=options.topics, limit=options.limit)
    stream.close()
    if options.json:
        print_json(found)
        return
    print(f"Would read {', '.join(map(one_line, options.shown_sources))}")
    for kind, known in found["files"].items():
        print(f"  {known['number']:>9,}  {kind:<16}{size(known['bytes']):>9}")
    if not found["files"]:
        print("  the bundled abstracts")
    if found["left_out"]:
        print(f"  {found['left_out']:>9,}  not a known type")
    if "documents" in found:
        free = f" ({size(found['free'])} free)" if found["free"] else ""
        print(
            f"About {counted(found['documents'], 'document')}; growing takes about {duration(found['seconds'])} "
            f"and {size(found['memory'])} of memory{free}."
        )
    print("Nothing was written.")


def _progress(options: Options, stop: Stop) -> Progress:
    """What is said on the way: nothing, JSON lines, a line that keeps changing, or plain lines."""
    from topiarist.app.cli.terminal.grow_progress import Events, Lines, Progress, Screen

    title = ", ".join(options.shown_sources)
    title = DEMO_TITLE if options.is_demo else "standard input" if options.sources == [STDIN] else title
    given: tuple[Any, ...] = (stop, options.topics, title)
    if options.quiet:
        return Progress(*given)
    if options.json:
        return Events(*given)
    notes = Console(stderr=True, highlight=False)
    return Screen(notes, *given) if notes.is_terminal else Lines(notes, *given)


def _share_read(stream: Stream) -> float | None:
    """How much of many files has been read; nobody knows how much of a stream."""
    n_files = len(stream.files)
    n_read = stream.files_read() if n_files >= FEWEST_FILES else None
    return None if n_read is None else n_read / n_files
