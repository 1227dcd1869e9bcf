"""What a review says, on the terminal and in pages: how a document was drawn, how far it is, when one may stop.

In the language that is spoken: English on the terminal, that of the reader in pages.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topiarist.app.languages.catalogues import Counted, language, worded
from topiarist.app.languages.locales import LOCALES

if TYPE_CHECKING:
    from topiarist.collection import ReviewProgress

DRAWN = {
    "ranked": "most probably relevant", "unsure": "to learn from", "random": "drawn at random",
    "control": "drawn at random, to see what is unfound", "given": "skipped before",
}  # fmt: skip


def how_drawn(kind: str) -> str:
    """Why a document is proposed."""
    return worded(DRAWN[kind])


def exactly(share: float) -> str:
    """A share that somebody has chosen, as they chose it."""
    return LOCALES[language()].signs(f"{100 * share:g} %")


def at_least(share: float) -> str:
    """A bound from below in percent: never rounded up."""
    return f"{math.floor(100 * share + 1e-9)} %"


def label_stays(label: str) -> str:
    """That the document that was judged last has the label though the answer was taken back."""
    return worded("It still has the label {label}: others gave it, or judged it since.", label=label)


def label_stays_at(document: str, label: str) -> str:
    """The same of a document by its title."""
    return worded(
        "{document} still has the label {label}: others gave it, or judged it since.", document=document, label=label
    )


def progress_sentence(progress: ReviewProgress) -> str:
    """How far a review is, in a line."""
    judged = worded(
        "{judged} of {documents} judged, {found} relevant",
        judged=progress.judged, documents=Counted(progress.documents, "document"), found=progress.found,
    )  # fmt: skip
    if not progress.drawn_at_random:
        unfound = worded("how much is unfound is not known before documents were drawn at random")
    else:
        unfound = worded(
            "unfound: probably {probably}, {least} to {most} (at least {share} found)",
            probably=progress.unfound, least=progress.unfound_least, most=progress.unfound_most,
            share=at_least(progress.recall_least),
        )  # fmt: skip
    skipped = [worded("{number} skipped count as unfound", number=progress.skipped)] if progress.skipped else []
    return "; ".join((judged, unfound, *skipped)) + "."


def stop_sentence(progress: ReviewProgress) -> str:
    """That it is enough, or what is still to be done."""
    if progress.judged == progress.documents:
        return worded("Every document is judged: all that is relevant is found.")
    target, confidence = exactly(progress.target), exactly(progress.confidence)
    if progress.enough:
        return worded(
            "At least {target} found, with {confidence} confidence: you may stop.", target=target, confidence=confidence
        )
    return worded(
        "Not enough yet: {target} are to be found, with {confidence} confidence.", target=target, confidence=confidence
    )
