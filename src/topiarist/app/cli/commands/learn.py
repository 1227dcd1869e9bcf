"""``topiarist learn``: given categories, learned from examples; how good are they?"""

from __future__ import annotations

from topiarist.app.cli.terminal.printing import counted, one_line
from topiarist.app.cli.terminal.screen import Screen, opened, percent
from topiarist.app.cli.using_options import LearnOptions
from topiarist.collection.collection import Collection
from topiarist.collection.judge.label_table import read_labels
from topiarist.collection.judge.learner import Quality, learn
from topiarist.errors import InputError

SHOWN = 10  # categories


def run(options: LearnOptions) -> None:
    """Read labels, learn, judge, keep."""
    screen = Screen(options)
    with opened(options) as collection:
        labels, strangers = _labels(collection, options)
        if strangers:
            shown = ", ".join(map(one_line, strangers[:3]))
            screen.say(f"{counted(len(strangers), 'id')} of {options.labels} not in the collection: {shown}")
        with screen.waiting("Learning the categories"):
            quality = learn(
                collection, labels, several=options.several, holdout=options.holdout,
                unlabelled_weight=options.unlabelled_weight,
            )  # fmt: skip
    if options.json:
        screen.json(quality.to_dict() | {"unknown_ids": strangers})
        return
    _show(screen, quality)
    screen.next("file FOLDER NEW…", "shape FOLDER --undo")


def _labels(collection: Collection, options: LearnOptions) -> tuple[dict[str, tuple[str, ...]] | None, list[str]]:
    """Labels by id, and ids that no document has."""
    if options.labels is None:
        return None, []
    given = read_labels(options.labels, options.separator)
    known = set(collection.documents.ids())
    strangers = [name for name in given if name not in known]
    if len(strangers) == len(given):
        near = collection.documents.near_ids(strangers[0])
        raise InputError(
            f"no id of {options.labels} is in the collection, such as {strangers[0]!r:.40}",
            hint=" or ".join(near) or "ids as topiarist find shows them",
        )
    return {name: labels for name, labels in given.items() if name in known}, strangers


def _show(screen: Screen, quality: Quality) -> None:
    kind = "several a document" if quality.several else "one a document"
    screen.print(
        f"{counted(quality.n_categories, 'category', 'categories')}, {kind}, "
        f"learned from {counted(quality.n_labelled, 'document')}."
    )
    if quality.accuracy is not None and quality.f1 is not None:
        what = "all labels right" if quality.several else "label right"
        mean = "mean over documents" if quality.several else "mean over categories"
        screen.print(f"Of {counted(quality.n_held_out, 'document')} held out: {what} {percent(quality.accuracy)}, "
                     f"F {quality.f1:.2f} ({mean}).")  # fmt: skip
    else:
        screen.print("None were held out: how good it is cannot be said.")
    if quality.categories:
        screen.print()
        screen.print((f"{'held out':>9}  precision  recall     F  category", "dim"))
        for one in quality.categories[:SHOWN]:
            screen.cut(
                f"{one.documents:>9,}  {one.precision:9.2f}  {one.recall:6.2f}  {one.f1:4.2f}  {one_line(one.name)}"
            )
        if len(quality.categories) > SHOWN:
            screen.print((f"and {len(quality.categories) - SHOWN:,} more: --json", "dim"))
    if quality.left_out:
        shown = ", ".join(map(one_line, quality.left_out[:5]))
        more = f" and {len(quality.left_out) - 5:,} more" if len(quality.left_out) > 5 else ""
        screen.print(f"\nOf too few documents to learn: {shown}{more}.")
