"""How steady the topics of a collection are, in lines: how many of each kind, and those that came back least."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topiarist.app.cli.terminal.bar import Bar
from topiarist.app.words import counted, one_line, whole_percent
from topiarist.collection import TREES_GROWN_AGAIN, check_steadiness
from topiarist.estimators.common.progress import Watching

if TYPE_CHECKING:
    from topiarist.collection import Collection, Steadiness

LEAST_SHOWN = 10


class _Told(Watching):
    """Tells a bar how many of the trees are grown."""

    def __init__(self, bar: Bar) -> None:
        self.bar = bar

    def step(self, done: int, about: int | None) -> None:
        """See ``Watching``."""
        self.bar(done, about or done)


def checked(collection: Collection, n_threads: int | None = None) -> Steadiness | None:
    """Grow other trees, with a bar on a terminal; None if somebody stopped it before the first was grown."""
    with Bar("Growing trees from other halves of the documents") as bar:
        bar(0, TREES_GROWN_AGAIN)
        return check_steadiness(collection, watching=_Told(bar), n_threads=n_threads)


def lines(collection: Collection, found: Steadiness) -> Iterator[str]:
    """What is said of it."""
    told = ", ".join(f"{number:,} {word}" for word, number in found.counts().items())
    yield (
        f"Of {counted(len(found.shares), 'topic')}, {told}: how much of each came back in {found.n_trees} trees "
        "grown from other halves of the documents."
    )
    least = sorted((share, topic) for topic, share in found.shares.items())[:LEAST_SHOWN]
    if least:
        yield "Those that came back least:"
    for share, topic in least:
        yield f"  {whole_percent(share):>5}  {one_line(collection.outline.name(topic))}  (topic {topic})"
