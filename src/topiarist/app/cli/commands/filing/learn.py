"""``topiarist learn``: given categories, learned from examples; how good are they?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topiarist import collection as door
from topiarist.app.cli.options import ALWAYS, WritingOptions, examples, option
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import and_more, counted, one_line, percent
from topiarist.errors import InputError

EPILOG = examples(
    "topiarist learn mail.topiary", "topiarist learn mail.topiary --labels labels.csv --several --separator ';'"
)
WRITES = ALWAYS
SHOWN, LEFT_OUT_SHOWN = 10, 5  # categories


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Learn given categories: from the labels that documents came with, or from a table of ids and labels."""

    labels: Annotated[str | None, option("CSV, TSV or JSON lines with the columns id and label.")] = None
    several: Annotated[bool | None, option("Whether a document may have several labels.", "--several/--single")] = None
    separator: Annotated[str, option("What stands between several labels in one cell.")] = "|"
    unlabelled_weight: Annotated[
        float | None, option("How much documents without a label count; chosen unless said.", min=0, max=1)
    ] = None
    holdout: Annotated[float, option("Share of the labelled documents to judge by.", min=0, max=0.9)] = 0.2


def run(options: Options) -> None:
    """Read labels, learn, judge, keep."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        labels, strangers = _labels(collection, options)
        if strangers:
            shown = ", ".join(map(one_line, strangers[:3]))
            screen.say(f"{counted(len(strangers), 'id')} of {options.labels} not in the collection: {shown}")
        with screen.waiting("Learning the categories"):
            quality = door.learn_categories(
                collection,
                labels,
                several=options.several,
                holdout=options.holdout,
                unlabelled_weight=options.unlabelled_weight,
            )
    if options.json:
        screen.json(quality.to_dict() | {"unknown_ids": strangers})
        return
    _show(screen, quality)
    screen.next("file FOLDER NEW…", "shape FOLDER --undo")


def _labels(collection: door.Collection, options: Options) -> tuple[dict[str, tuple[str, ...]] | None, list[str]]:
    """Labels by id, and ids that no document has."""
    if options.labels is None:
        return None, []
    given = door.read_labels(options.labels, options.separator)
    known = set(collection.documents.ids())
    strangers = [name for name in given if name not in known]
    if len(strangers) == len(given):
        near = collection.documents.near_ids(strangers[0])
        raise InputError(
            f"no id of {options.labels} is in the collection, such as {strangers[0]!r:.40}",
            hint=" or ".join(near) or "ids as topiarist find shows them",
        )
    return {name: labels for name, labels in given.items() if name in known}, strangers


def _show(screen: Screen, quality: door.Quality) -> None:
    kind = "several a document" if quality.several else "one a document"
    screen.print(
        f"{counted(quality.n_categories, 'category', 'categories')}, {kind}, "
        f"learned from {counted(quality.n_labelled, 'document')}."
    )
    if quality.accuracy is not None and quality.f1 is not None:
        what = "all labels right" if quality.several else "label right"
        mean = "mean over documents" if quality.several else "mean over categories"
        screen.print(
            f"Of {counted(quality.n_held_out, 'document')} held out: {what} {percent(quality.accuracy)}, "
            f"F {quality.f1:.2f} ({mean})."
        )
        if quality.accuracy_between is not None:
            low, high = quality.accuracy_between
            screen.print(f"So few say little: of others {percent(low)} to {percent(high)} may be right.")
    else:
        screen.print("None were held out: how good it is cannot be said.")
    screen.print((quality.reason, "dim"))
    if quality.categories:
        screen.print()
        screen.print((f"{'held out':>9}  precision  recall     F  category", "dim"))
        for one in quality.categories[:SHOWN]:
            screen.cut(
                f"{one.documents:>9,}  {one.precision:9.2f}  {one.recall:6.2f}  {one.f1:4.2f}  {one_line(one.name)}"
            )
        if len(quality.categories) > SHOWN:
            screen.print((f"{and_more(quality.categories, SHOWN)}: --json", "dim"))
    if quality.left_out:
        shown = ", ".join(map(one_line, quality.left_out[:LEFT_OUT_SHOWN]))
        more = and_more(quality.left_out, LEFT_OUT_SHOWN)
        screen.print(f"\nOf too few documents to learn: {f'{shown} {more}'.rstrip()}.")
