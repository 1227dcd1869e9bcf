"""Steps of fits and growing trees, shown by progress reporters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, pairwise
from typing import TYPE_CHECKING

from topiarist.models.em import Loop, Rules
from topiarist.progress import STEPS, ProgressEvent, ProgressReporter, open_reporter

if TYPE_CHECKING:
    from topiarist.trees.growth.loop import Record

RECENT = 3  # gains from which the next ones are expected


def watch_steps(
    reporter: ProgressReporter | None, rules: Rules, show: Callable[[Loop], None] | None
) -> Callable[[Loop], None] | None:
    """Return a watcher for ``em.run`` that reports steps with their expected number, after calling ``shown``."""
    if reporter is None:
        return show

    def watch(loop: Loop) -> None:
        if show is not None:
            show(loop)
        if loop.steps:  # before the first step there is nothing to keep
            reporter.show_steps(loop.steps, expected_steps(loop.objectives, loop.steps, rules))

    return watch


def expected_steps(objectives: Sequence[float], steps: int, rules: Rules) -> int | None:
    """Return the expected number of steps of a fit, if gains fall at one rate; None after too few steps."""
    recent = [next_objective - objective for objective, next_objective in pairwise(objectives[-RECENT - 2 :])]
    min_gain = rules.tol * rules.weight
    if len(recent) <= RECENT:
        return None
    if recent[-1] <= min_gain:
        return min(steps + 1, rules.max_iter)
    rate = (recent[-1] / max(recent[0], min_gain)) ** (1 / RECENT)
    if not 0 < rate < 1:
        return rules.max_iter
    return min(steps + math.ceil(math.log(min_gain / recent[-1]) / math.log(rate)) + 1, rules.max_iter)


@contextmanager
def show_fit(title: str, rules: Rules, *, show: bool) -> Iterator[Callable[[Loop], None] | None]:
    """Return a watcher for ``em.run`` that shows the steps of a fit; None without ``show``."""
    with open_reporter(title, show=show) as reporter:
        if reporter is None:
            yield None
            return

        def watch(loop: Loop) -> None:
            """Report an EM step, with the held-out perplexity or the gain."""
            text = ""
            if loop.heldout:
                text = f", held-out perplexity {math.exp(-loop.heldout[-1]):,.0f}"
            elif len(loop.objectives) > 1:
                gain = (loop.objectives[-1] - loop.objectives[-2]) / rules.weight
                text = f", gained {gain:.5f}" + (f" (stops below {rules.tol:g})" if rules.movement is None else "")
            reporter.report(ProgressEvent(kind=STEPS, done=loop.steps, total=rules.max_iter, text=text))

        yield watch


@contextmanager
def show_growth(title: str, *, show: bool) -> Iterator[Callable[[Record], None] | None]:
    """Return a watcher for ``growth.grow`` that shows leaves and held-out perplexity; None without ``show``."""
    with open_reporter(f"Growing the tree ({title})", show=show) as reporter:
        yield None if reporter is None else reporter.show_growth


@contextmanager
def show_pieces(title: str, total: int, *, show: bool) -> Iterator[Callable[[], None]]:
    with open_reporter(title, show=show) as reporter:
        pieces = count(1)
        yield lambda: None if reporter is None else reporter.show_steps(next(pieces), total)
