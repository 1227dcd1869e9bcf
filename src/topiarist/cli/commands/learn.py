"""Command ``topiarist learn``: learn categories from labels and measure them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiarist.cli.options import ALL_OPTIONS, WritingOptions, examples, option
from topiarist.cli.terminal.screen import Screen, opened
from topiarist.display.formats import count_noun, list_some, one_line, percent
from topiarist.errors import InputError

if TYPE_CHECKING:
    from topiarist.collection.classify.learning import CategoryQuality, Quality
    from topiarist.collection.collection import Collection

EPILOG = examples(
    "topiarist learn mail.topiary",
    "topiarist learn tickets.topiary --from-column team",
    "topiarist learn mail.topiary --labels labels.csv --several --separator ';'",
)
WRITES = ALL_OPTIONS
MAX_CATEGORIES, LEFT_OUT_SHOWN = 10, 5  # categories
MIN_TABLE = 20  # held-out documents; from fewer, figures of single categories mean nothing


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Learn given categories: from the labels of the documents, from a column, or from a table of ids and labels.

    Without labels and options, the only column that is called label, labels, category, categories, class, tags or
    subject is taken.
    """

    from_column: str | None = option(
        None, "Column to learn from. `topiarist groups FOLDER` lists them.", metavar="NAME"
    )
    labels: str | None = option(None, "CSV, TSV or JSON lines with the columns id and label.")
    several: bool | None = option(None, "Whether a document may have several labels.", "--several/--single")
    separator: str | None = option(None, "Separator of labels in a cell. Default: | or ; in a table, none in a column.")
    unlabelled_weight: float | None = option(None, "Weight of unlabelled documents. Default: chosen.", min=0, max=1)
    holdout: float = option(0.2, "Share of the labelled documents to judge by.", min=0, max=0.9)


def run(options: Options) -> None:
    from topiarist.collection.classify.learning import learn_categories

    with opened(options) as (screen, collection):
        labels, strangers = _labels(collection, options)
        if strangers:
            number = count_noun(len(strangers), "id")
            screen.say(f"{number} of {options.labels} not in the collection: {', '.join(map(one_line, strangers[:3]))}")
        with screen.waiting("Learning the categories"):
            quality = learn_categories(
                collection, labels, column=options.from_column or "", separator=options.separator or "",
                several=options.several, holdout=options.holdout, unlabelled_weight=options.unlabelled_weight,
            )  # fmt: skip
    if options.json:
        screen.json(quality.to_dict() | {"unknown_ids": strangers})
        return
    _show(screen, quality)
    screen.next("file FOLDER NEW…", "shape FOLDER --undo")


def _labels(collection: Collection, options: Options) -> tuple[dict[str, tuple[str, ...]] | None, list[str]]:
    from topiarist.collection.classify.label_sources import read_labels

    if options.labels is None:
        return None, []
    rows = read_labels(options.labels, options.separator)
    known_ids = set(collection.documents.ids())
    strangers = [name for name in rows if name not in known_ids]
    if len(strangers) == len(rows):
        near_ids = collection.documents.near_ids(strangers[0])
        raise InputError(
            f"no id of {options.labels} is in the collection, such as {strangers[0]!r:.40}",
            hint=f"Use the id {' or '.join(near_ids)}." if near_ids else "Use ids that topiarist find shows.",
        )
    return {name: labels for name, labels in rows.items() if name in known_ids}, strangers


def _show(screen: Screen, quality: Quality) -> None:
    if quality.column:
        screen.print(f"Labels are taken from the column {one_line(quality.column)}.")
    kind = "several a document" if quality.several else "one a document"
    number = count_noun(quality.n_categories, "category", "categories")
    screen.print(f"{number}, {kind}, learned from {count_noun(quality.n_labelled, 'document')}.")
    if quality.accuracy is None or quality.f1 is None:
        screen.print("No documents were held out, so the quality is unknown.")
    else:
        measure = "all labels right" if quality.several else "label right"
        mean = "mean over documents" if quality.several else "mean over categories"
        result = f"{percent(quality.accuracy)}, F {quality.f1:.2f} ({mean})"
        if quality.accuracy_between is not None:
            low, high = map(percent, quality.accuracy_between)
            result = f"{low} to {high} (95% interval, because the sample is small)"
        screen.print(f"Of {count_noun(quality.n_held_out, 'document')} held out: {measure} {result}.")
    screen.print((quality.reason, "dim"))
    if quality.categories and quality.n_held_out >= MIN_TABLE:
        screen.print()
        screen.print((f"{'held out':>9}  precision  recall     F  category", "dim"))
        screen.list_items(
            quality.categories, MAX_CATEGORIES, lambda category: _print_category(screen, category), "{}: --json"
        )
    if quality.left_out:
        screen.print(f"\nOf too few documents to learn: {list_some(quality.left_out, LEFT_OUT_SHOWN)}.")


def _print_category(screen: Screen, category: CategoryQuality) -> None:
    scores = f"{category.precision:9.2f}  {category.recall:6.2f}  {category.f1:4.2f}"
    screen.cut(f"{category.documents:>9,}  {scores}  {one_line(category.name)}")
