"""``topiarist compare`` and ``topiarist evaluate``: what is different, and is it any good?"""

from __future__ import annotations

from topiarist.app.cli.terminal.printing import one_line
from topiarist.app.cli.terminal.screen import Screen, opened
from topiarist.app.cli.using_options import CompareOptions, EvaluateOptions
from topiarist.collection.collection import Collection
from topiarist.collection.history import before_last
from topiarist.collection.judge.tree_quality import judged
from topiarist.collection.shape import changes
from topiarist.errors import UsageError
from topiarist.measures.comparison import compare


def run(options: CompareOptions | EvaluateOptions) -> None:
    """Two trees, or one."""
    screen = Screen(options)
    with opened(options) as collection:
        if isinstance(options, EvaluateOptions):
            _evaluate(screen, collection, options)
        else:
            _compare(screen, collection, options)


def _compare(screen: Screen, collection: Collection, options: CompareOptions) -> None:
    if (options.other is None) != options.before:
        raise UsageError(
            "compare with what? Another collection, or --before", hint=f"compare {options.folder} --before"
        )
    if options.before:
        other, entry = before_last(collection)
        titles = ("before the last step", f"now, after: {one_line(changes.told(entry))}")
        with other:
            found = compare(other.placed, collection.placed)
    else:
        titles = (options.folder, str(options.other))
        with Collection.open(str(options.other)) as other:
            found = compare(collection.placed, other.placed)
    if options.json:
        screen.json({"a": titles[0], "b": titles[1], **found.to_dict()})
        return
    screen.print(("A  ", "dim"), one_line(titles[0]))
    screen.print(("B  ", "dim"), one_line(titles[1]))
    for line in found.lines(options.number):
        screen.hanging(line)
    screen.next("shape FOLDER --undo" if options.before else ("tree {}", options.other), "evaluate FOLDER")


def _evaluate(screen: Screen, collection: Collection, options: EvaluateOptions) -> None:
    with screen.waiting("Judging the tree"):
        found = judged(collection)
    if options.json:
        screen.json(found.to_dict())
        return
    for line in found.lines(options.number):
        screen.cut(line)
    screen.next("tree FOLDER", "shape FOLDER --interactive")
