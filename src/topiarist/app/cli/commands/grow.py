"""``topiarist grow``: which topics, and which of them belong together? Kept in a folder, and printed."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from topiarist.app.cli import ending, estimates
from topiarist.app.cli.options import STDIN, Common
from topiarist.app.cli.source_stream import Extra, Stream, default_folder, digest
from topiarist.app.cli.terminal import figures
from topiarist.app.cli.terminal.console import Console
from topiarist.app.cli.terminal.grow_progress import Events, Lines, Progress, Screen
from topiarist.app.cli.terminal.printing import one_line
from topiarist.app.cli.terminal.stop_signal import Stop, stoppable
from topiarist.collection.collection import Collection
from topiarist.collection.grow.grower import MADE_FROM, PLACES, Grower
from topiarist.collection.grow.recipe import Recipe
from topiarist.counts.corpus import Corpus
from topiarist.errors import DamagedError, TopiaristError, UsageError
from topiarist.estimators.common.options import check_device
from topiarist.hierarchy.exchange import format_of, read_tree
from topiarist.store.collection_folder import is_collection, unfinished
from topiarist.store.collection_manifest import NAME


@dataclass(frozen=True)
class Wish:
    """Which tree, and where it goes."""

    output: str | None = None
    topics: int | None = None
    model: str = "cam"
    hierarchy: str | None = None
    online: bool = False
    device: str = "cpu"


@dataclass(frozen=True)
class Manner:
    """What to do about a folder that is there, and whether to do anything at all."""

    force: bool = False
    resume: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Printing:
    """What to print and to draw."""

    words: int = 8
    depth: int | None = None
    figure: str | None = None
    curve: str | None = None


def run(common: Common, wish: Wish, manner: Manner, extra: Extra, printing: Printing) -> None:
    """Read, count, grow, index, keep, print."""
    began = time.perf_counter()
    figures.check(printing.figure, force=manner.force)
    figures.check(printing.curve, force=manner.force)
    recipe = _checked(common, wish)
    folder = wish.output or default_folder(common.reading)
    stream = Stream(common.reading, extra)
    if manner.dry_run:
        _dry_run(stream, common, wish)
        return
    made_from = digest(stream, recipe.to_dict())
    if not manner.force:
        known = _there(folder, made_from, manner)
        if known is not None:
            _up_to_date(known, folder, common)
            return
    stop = Stop()
    with _progress(common, wish, stop) as progress, stoppable(progress.say, stop):
        progress.share_read = _share_read(stream)
        grower = Grower(recipe, common.threads, wish.device, tell=progress)
        told = {
            MADE_FROM: made_from, "sources": list(common.reading.sources), "options": asdict(common.reading),
            "command": ["topiarist", *sys.argv[1:]], PLACES: _places(common),
        }  # fmt: skip
        try:
            collection = grower.grow(stream, folder, force=manner.force, resume=manner.resume, told=told)
        except TopiaristError as error:
            raise ending.with_problems(error, stream.problems) from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_kept(folder)) from None
        finally:
            stream.close()
    grown = ending.Grown(collection, folder, stream, time.perf_counter() - began, progress.seconds)
    ending.tell(grown, common, printing, stopped=stop.wanted)


def _places(common: Common) -> list[str]:
    """Where the sources are, in full; nothing for those that are no files."""
    named = () if common.reading.is_demo else common.reading.sources
    return [os.path.abspath(one) if os.path.exists(one) else "" for one in named]


def _checked(common: Common, wish: Wish) -> Recipe:
    """Everything that can be refused before the work begins."""
    check_device(wish.device)
    if wish.device != "cpu" and wish.model == "ggm":
        raise UsageError("the model ggm is fitted by the processor", hint="without --device")
    if STDIN in common.reading.sources and len(common.reading.sources) > 1:
        raise UsageError("standard input goes alone", hint="one grow for each, or files only")
    hierarchy = None
    if wish.hierarchy is not None:
        if not Path(wish.hierarchy).is_file():
            raise UsageError(f"there is no hierarchy at {wish.hierarchy}", hint="a file with one path on each line")
        if wish.topics is not None:
            raise UsageError("--topics does not go with --hierarchy, which says how many there are")
        hierarchy = read_tree(Path(wish.hierarchy).read_text("utf-8"), format_of(wish.hierarchy))
    recipe = Recipe(
        **asdict(common.counting), model=wish.model, topics=wish.topics, hierarchy=hierarchy, online=wish.online,
        seed=common.seed,
    )  # fmt: skip
    recipe.check()
    return recipe


def _there(folder: str, made_from: str | None, manner: Manner) -> Collection | None:
    """The collection that is there, if it is the one that would be made; anything else that is there is an error."""
    root = Path(folder)
    if not is_collection(root):
        return None
    if not (root / NAME).is_file():
        if not manner.resume:
            raise unfinished(folder)
        return None
    try:
        known = Collection.open(folder)
    except DamagedError as error:
        raise DamagedError(error.message, hint=f"{error.hint}; or --force to grow it anew") from None
    if made_from is not None and known.settings.get(MADE_FROM) == made_from:
        if known.tree.stopped != "interrupted":
            return known
        raise UsageError(
            f"{folder} holds the tree of a grow that was stopped early", hint="--force to grow it to the end"
        )
    if manner.resume and (root / "growing").is_dir():
        return None
    raise UsageError(
        f"there is a collection at {folder} already, from other files or with other settings",
        hint="--force to grow it anew, or another folder with -o",
    )


def _up_to_date(known: Collection, folder: str, common: Common) -> None:
    if common.json:
        ending.print_summary(ending.Grown(known, folder), up_to_date=True)
    else:
        print(f"{folder}: Already up to date (force with --force)")


def _dry_run(stream: Stream, common: Common, wish: Wish) -> None:
    found = estimates.dry_run(stream, wish.topics)
    if common.json:
        ending.print_json(found)
    else:
        print(f"Would read {', '.join(map(one_line, common.reading.sources))}")
        print("\n".join(estimates.told(found)))


def _progress(common: Common, wish: Wish, stop: Stop) -> Progress:
    reading = common.reading
    title = (
        "the demonstration collection: abstracts of arXiv, 2014"
        if reading.is_demo
        else "standard input"
        if reading.sources == (STDIN,)
        else ", ".join(reading.sources)
    )
    given = (stop, wish.topics, title)
    if common.quiet:
        made: Progress = Progress(*given)
    elif common.json:
        made = Events(*given)
    else:
        notes = Console(stderr=True, highlight=False)
        made = Screen(notes, *given) if notes.is_terminal else Lines(notes, *given)
    checked = made.counted

    def counted(corpus: Corpus) -> None:
        checked(corpus)
        estimates.check_memory(corpus, wish.topics)

    made.counted = counted  # type: ignore[method-assign]
    return made


def _share_read(stream: Stream) -> Any:
    """How much of many files has been read; nobody knows how much of a stream."""
    total = sum(1 for _ in stream.files())

    def share() -> float | None:
        return None if total < 20 or stream.counts is None else stream.counts.files / total

    return share


def _kept(folder: str) -> str:
    """What is left of a grow that was stopped."""
    if (Path(folder) / "growing").is_dir():
        return f"What was done so far is kept in {folder}: the same command with --resume goes on."
    if (Path(folder) / NAME).is_file():
        return f"What was in {folder} before is still there."
    return "Nothing was kept."
