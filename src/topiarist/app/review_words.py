"""What a review says, on the terminal and in pages: how a document was drawn, how far it is, when one may stop."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topiarist.app.words import counted

if TYPE_CHECKING:
    from topiarist.collection import ReviewProgress

DRAWN = {
    "ranked": "most probably relevant", "unsure": "to learn from", "random": "drawn at random",
    "control": "drawn at random, to see what is unfound", "given": "skipped before",
}  # fmt: skip


def exactly(share: float) -> str:
    """A share that somebody has chosen, as they chose it."""
    return f"{100 * share:g} %"


def at_least(share: float) -> str:
    """A bound from below in percent: never rounded up."""
    return f"{math.floor(100 * share + 1e-9)} %"


def label_stays(label: str, document: str = "It") -> str:
    """That a document has the label though the answer was taken back."""
    return f"{document} still has the label {label}: others gave it, or judged it since."


def progress_sentence(progress: ReviewProgress) -> str:
    """How far a review is, in a line."""
    said = f"{progress.judged:,} of {counted(progress.documents, 'document')} judged, {progress.found:,} relevant; "
    if not progress.drawn_at_random:
        said += "how much is unfound is not known before documents were drawn at random"
    else:
        said += (
            f"unfound: probably {progress.unfound:,}, {progress.unfound_least:,} to {progress.unfound_most:,} "
            f"(at least {at_least(progress.recall_least)} found)"
        )
    skipped = f"; {progress.skipped:,} skipped count as unfound" if progress.skipped else ""
    return f"{said}{skipped}."


def stop_sentence(progress: ReviewProgress) -> str:
    """That it is enough, or what is still to be done."""
    if progress.judged == progress.documents:
        return "Every document is judged: all that is relevant is found."
    if progress.enough:
        return (
            f"At least {exactly(progress.target)} found, with {exactly(progress.confidence)} confidence: you may stop."
        )
    return (
        f"Not enough yet: {exactly(progress.target)} are to be found, with {exactly(progress.confidence)} confidence."
    )
