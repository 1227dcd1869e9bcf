"""Command ``topiarist learn``: learn categories from labels and measure them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topiarist.cli.options import ALL_OPTIONS, WritingOptions, choice_option, examples, option
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import count_noun, list_some, one_line, percent
from topiarist.errors import InputError, UsageError

if TYPE_CHECKING:
    from topiarist.collection.classify.label_mixture import LabelMixture
    from topiarist.collection.classify.learning import CategoryQuality, Quality
    from topiarist.collection.collection import Collection
    from topiarist.text.readers.items import ReadFailure

EPILOG = examples(
    "topiarist learn mail.topiary",
    "topiarist learn tickets.topiary --from-column team",
    "topiarist learn mail.topiary --labels labels.csv --several --separator ';'",
    "topiarist learn tickets.topiary --from-column team --model ggm",
)
WRITES = ALL_OPTIONS
MODELS = ("learner", "ggm")
MAX_CATEGORIES, LEFT_OUT_SHOWN = 10, 5  # categories
MIN_TABLE = 20  # held-out documents; from fewer, figures of single categories mean nothing


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
    """Learn categories from the labels of documents, a column, or a table of ids and labels.

    Without labels and options, the column called label, labels, category, categories, class, tags or subject is used.
    """

    from_column: str | None = option(
        None, "Column to learn from. `topiarist groups FOLDER` lists them.", metavar="NAME"
    )
    labels: str | None = option(None, "Table (CSV, TSV or JSON lines) with the columns id and label.", metavar="FILE")
    several: bool | None = option(None, "Whether a document may have several labels.", "--several/--single")
    separator: str | None = option(None, "Separator of labels in a cell. Default: | or ; in a table, none in a column.")
    unlabelled_weight: float | None = option(None, "Weight of unlabelled documents. Default: chosen.", min=0, max=1)
    model: str = choice_option("learner", "Learner of categories, or a mixture that only shows their parts.", *MODELS)
    holdout: float = option(0.2, "Share of the labelled documents that measure the quality.", min=0, max=0.9)


def run(options: Options) -> None:
    """Learn categories or a label mixture, and print its quality. Print ids that the collection lacks."""
    from topiarist.collection.classify.label_mixture import learn_mixture
    from topiarist.collection.classify.learning import learn_categories

    if options.model == "ggm" and options.several:
        raise UsageError("--model ggm learns one label for each document", hint="Leave --several out.")
    with open_collection(options) as (screen, collection):
        failures: list[ReadFailure] = []
        labels, strangers = _load_labels(collection, options, failures)
        if failures:
            number = count_noun(len(failures), "row")
            reason = one_line(failures[0].reason)
            screen.say(f"{number} of {options.labels} cannot be read: {reason} (line {failures[0].place})")
        if strangers:
            number = count_noun(len(strangers), "id")
            screen.say(f"{number} of {options.labels} not in the collection: {', '.join(map(one_line, strangers[:3]))}")
        settings: dict[str, Any] = {
            "column": options.from_column or "", "separator": options.separator or "", "holdout": options.holdout,
            "unlabelled_weight": options.unlabelled_weight,
        }  # fmt: skip
        with screen.waiting("Learning the categories"):
            if options.model == "ggm":
                mixture = learn_mixture(collection, labels, **settings)
            else:
                quality = learn_categories(collection, labels, several=options.several, **settings)
    if options.model == "ggm":
        if options.json:
            screen.json(mixture.to_dict() | {"unknown_ids": strangers})
        else:
            _show_mixture(screen, mixture)
        return
    if options.json:
        screen.json(quality.to_dict() | {"unknown_ids": strangers})
        return
    _print_quality(screen, quality)
    screen.print_next("file FOLDER NEW…", "shape FOLDER --undo")


def _load_labels(
    collection: Collection, options: Options, failures: list[ReadFailure]
) -> tuple[dict[str, tuple[str, ...]] | None, list[str]]:
    """Return the labels in a file by document id, and unknown ids; None and no ids without a file.

    Rows that cannot be read are appended to ``failures``.
    """
    from topiarist.collection.classify.label_sources import read_labels

    if options.labels is None:
        return None, []
    rows = read_labels(options.labels, options.separator, failures=failures)
    known_ids = set(collection.documents.ids())
    strangers = [name for name in rows if name not in known_ids]
    if len(strangers) == len(rows):
        near_ids = collection.documents.near_ids(strangers[0])
        raise InputError(
            f"no id of {options.labels} is in the collection, such as {strangers[0]!r:.40}",
            hint=f"Use the id {' or '.join(near_ids)}." if near_ids else "Use ids that topiarist find shows.",
        )
    return {name: labels for name, labels in rows.items() if name in known_ids}, strangers


def _print_quality(screen: Screen, quality: Quality) -> None:
    """Print accuracy on held-out documents, a table of categories and the words of each."""
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
        right = _describe_accuracy(quality.n_held_out, measure, quality.accuracy, quality.accuracy_between)
        screen.print(f"{right}." if quality.accuracy_between else f"{right}, F {quality.f1:.2f} ({mean}).")
    screen.print((quality.reason, "dim"))
    if quality.categories and quality.n_held_out >= MIN_TABLE:
        screen.print()
        screen.print((f"{'held out':>9}  precision  recall     F  category", "dim"))
        screen.list_items(
            quality.categories, MAX_CATEGORIES, lambda category: _print_category(screen, category), "{}: --json"
        )
    if quality.words:
        screen.heading("Words of the categories")
        for name in [category.name for category in quality.categories][:MAX_CATEGORIES] or list(quality.words):
            screen.cut(f"  {one_line(name)}: ", (", ".join(quality.words.get(name, ())), "dim"))
        screen.print(("show FOLDER ID --labels marks the words of a document by its labels", "dim"))
    if quality.left_out:
        screen.print(f"\nOf too few documents to learn: {list_some(quality.left_out, LEFT_OUT_SHOWN)}.")


def _print_category(screen: Screen, category: CategoryQuality) -> None:
    scores = f"{category.precision:9.2f}  {category.recall:6.2f}  {category.f1:4.2f}"
    screen.cut(f"{category.documents:>9,}  {scores}  {one_line(category.name)}")


def _describe_accuracy(n_held_out: int, measure: str, accuracy: float, interval: tuple[float, float] | None) -> str:
    """Return a sentence on the accuracy, with its interval if the sample is small."""
    lead = f"Of {count_noun(n_held_out, 'document')} held out: {measure}"
    if interval is None:
        return f"{lead} {percent(accuracy)}"
    return f"{lead} {percent(interval[0])} to {percent(interval[1])} (95% interval, because the sample is small)"


def _show_mixture(screen: Screen, mixture: LabelMixture) -> None:
    """Print the accuracy of a mixture, and its labels with components and typical documents."""
    if mixture.column:
        screen.print(f"Labels are taken from the column {one_line(mixture.column)}.")
    screen.print(
        f"{count_noun(len(mixture.labels), 'category', 'categories')} in {count_noun(len(mixture.components), 'component')}"
        f" of {mixture.features}, learned from {mixture.n_labelled:,} labelled and {mixture.n_unlabelled:,} unlabelled "
        "documents."
    )
    if mixture.n_several:
        screen.print("Only the first label of a document is used.")
    if mixture.accuracy is None:
        screen.print("No documents were held out, so the quality is unknown.")
    else:
        right = _describe_accuracy(mixture.n_held_out, "label right", mixture.accuracy, mixture.accuracy_between)
        screen.print(f"{right}.")
    screen.print(("Nothing is stored: the categories that `file` predicts stay as they are.", "dim"))
    for label in mixture.labels:
        screen.heading(f"{one_line(label.name)}  ({count_noun(label.documents, 'labelled document')})")
        for number, probability in label.components.items():
            component = mixture.components[number]
            words = ", ".join(component.words)
            screen.share(f"  {percent(probability):>5}  ", probability, f"  component {number}: ", (words, "bold"))
            for document in component.typical:
                screen.print_titled("           ", document.title, document.id)
