"""What a fit says while it runs: nothing unless asked, one line that keeps changing if asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from topiarist.cards import LiveCard, in_notebook
from topiarist.models.em import Loop, Rules

RECENT = 3  # gains from which the next ones are expected


class Watching:
    """What a fit tells whoever waits for it; nothing, unless somebody listens."""

    def step(self, done: int, about: int | None) -> None:
        """So many steps are done, of about so many. To stop here, with the best so far, raise KeyboardInterrupt."""

    def finishing(self) -> None:
        """There will be no more steps: what was learned is described and written."""


def watched(
    watching: Watching | None, rules: Rules, shown: Callable[[Loop], None] | None
) -> Callable[[Loop], None] | None:
    """A watcher for ``em.run`` that tells somebody how far the fit is, beside what is drawn anyway."""
    if watching is None:
        return shown

    def watch(loop: Loop) -> None:
        if shown is not None:
            shown(loop)
        if loop.steps:  # before the first one there is nothing to keep
            watching.step(loop.steps, expected_steps(loop.objectives, loop.steps, rules))

    return watch


def expected_steps(objectives: Sequence[float], steps: int, rules: Rules) -> int | None:
    """About how many steps a fit will take that ends when it gains little: gains are taken to fall at one rate.

    None as long as too few were seen.
    """
    recent = [after - before for before, after in pairwise(objectives[-RECENT - 2 :])]
    least = rules.tol * rules.weight
    if len(recent) <= RECENT:
        return None
    if recent[-1] <= least:
        return min(steps + 1, rules.max_iter)
    rate = (recent[-1] / max(recent[0], least)) ** (1 / RECENT)
    if not 0 < rate < 1:
        return rules.max_iter
    return min(steps + math.ceil(math.log(least / recent[-1]) / math.log(rate)) + 1, rules.max_iter)


@contextmanager
def _live(title: str) -> Iterator[LiveCard]:
    """A card in a notebook, as long as something is done."""
    card = LiveCard(title)
    try:
        yield card
    finally:
        card.close()


@contextmanager
def fitting(title: str, rules: Rules, *, show: bool) -> Iterator[Callable[[Loop], None] | None]:
    """A watcher for ``em.run`` that draws a progress bar, or None when nobody asked for one."""
    if not show:
        yield None
        return
    if in_notebook():
        with _live(title) as live:
            yield lambda loop: live.show(f"step {loop.steps} of at most {rules.max_iter}", loop.steps / rules.max_iter)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(30),
        TextColumn("step {task.completed:.0f} of at most {task.total:.0f}{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=rules.max_iter, state="")

        def watch(loop: Loop) -> None:
            text = ""
            if loop.heldout:
                text = f", held-out perplexity {math.exp(-loop.heldout[-1]):,.0f}"
            elif len(loop.objectives) > 1:
                gain = (loop.objectives[-1] - loop.objectives[-2]) / rules.weight
                text = f", gained {gain:.5f}" + (f" (stops below {rules.tol:g})" if rules.movement is None else "")
            progress.update(task, completed=loop.steps, state=text)

        yield watch


@contextmanager
def growing_tree(title: str, *, show: bool) -> Iterator[Callable[[Any], None] | None]:
    """A watcher for ``growth.grow`` that shows leaves and held-out perplexity as they change, or None."""
    if not show:
        yield None
        return
    if in_notebook():
        with _live(f"Growing the tree ({title})") as live:
            yield lambda record: live.show(
                f"{record.n_leaves[-1]} leaves, held-out perplexity {record.perplexity[-1]:,.0f}"
            )
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"Growing the tree ({title})", total=None)

        def watch(record: Any) -> None:
            leaves, perplexity = record.n_leaves[-1], record.perplexity[-1]
            said = f"Growing the tree ({title}): {leaves} leaves, held-out perplexity {perplexity:,.0f}"
            progress.update(task, description=said)

        yield watch
        progress.update(task, total=1, completed=1)


@contextmanager
def counting(title: str, total: int, show: int | bool) -> Iterator[Callable[[], None]]:
    """A function to call after each of at most ``total`` pieces of work; draws a bar when asked for one."""
    if not show:
        yield lambda: None
        return
    if in_notebook():
        with _live(title) as live:
            pieces = iter(range(1, total + 1))
            yield lambda: live.show(f"{(done := next(pieces, total)):,} of {total:,}", done / max(total, 1))
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)
