"""What a grow says in a notebook: a card that keeps changing, with what was done and what is done now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from topiarist.cards import LiveCard, in_notebook
from topiarist.collection.grow.journal import Teller
from topiarist.hierarchy.growth.loop import Record


class NotebookTeller(Teller):
    """Phases with the second at which they ended, what was found, and how far the phase is that runs."""

    def __init__(self) -> None:
        self.card = LiveCard("Growing a collection")
        self.now = ""

    def phase(self, text: str) -> None:
        """A new phase begins."""
        self.ended()
        self.now = text
        self.card.show(text, at_once=True)

    def ended(self) -> None:
        """The phase has ended."""
        if self.now:
            self.card.step(self.now)
        self.now = ""

    def reading(self, number: int) -> None:
        """So many documents have been read."""
        self.card.show(f"{self.now}: {number:,} documents")

    def said(self, text: str) -> None:
        """A finding of the phase."""
        self.card.step(text)

    def doing(self, text: str) -> None:
        """What is done now in the phase."""
        self.card.show(f"{self.now}: {text}")

    def grown(self, record: Record) -> None:
        """The tree has grown a little."""
        self.card.show(f"{self.now}: {record.n_leaves[-1]:,} topics")


@contextmanager
def told_in_notebook(verbose: bool | None) -> Iterator[Teller]:
    """Whoever tells in a notebook, unless nobody wants to hear; elsewhere somebody who is silent."""
    if verbose is False or not in_notebook():
        yield Teller()
        return
    teller = NotebookTeller()
    try:
        yield teller
        teller.ended()  # not where an error has stopped the phase
    finally:
        teller.card.close()
