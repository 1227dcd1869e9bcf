"""Sentences about a review for the terminal and pages, in the current language."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topiarist.display.locale.catalogues import CountedNoun, current_language, translate
from topiarist.display.locale.locales import LOCALES

if TYPE_CHECKING:
    from topiarist.collection.review.reading_order import ReviewProgress

SELECTION_REASONS = {
    "ranked": "most probably relevant", "unsure": "most informative", "random": "random",
    "control": "random, to estimate missing documents", "given": "skipped before",
}  # fmt: skip


def describe_selection(kind: str) -> str:
    """Return why a document is proposed."""
    return translate(SELECTION_REASONS[kind])


def format_target(share: float) -> str:
    """Return a target share in percent with the digits of the user."""
    locale = LOCALES[current_language()]
    return f"{locale.signs(f'{100 * share:g}')}{locale.percent}"


def format_lower_bound(share: float) -> str:
    """Return a lower bound in percent, rounded down."""
    return f"{math.floor(100 * share + 1e-9)}{LOCALES[current_language()].percent}"


def describe_kept_label(label: str) -> str:
    """Return the note that a document keeps its label after undo."""
    return translate("It keeps the label {label} from its source or from a later judgement.", label=label)


def describe_kept_label_of(document: str, label: str) -> str:
    """Return the note that a document keeps its label, with the title of the document."""
    return translate(
        "{document} keeps the label {label} from its source or from a later judgement.", document=document, label=label
    )


def describe_progress(progress: ReviewProgress) -> str:
    """Return the progress of a review in one line."""
    judged_text = translate(
        "{judged} of {documents} judged, {found} relevant",
        judged=progress.judged, documents=CountedNoun(progress.documents, "document"), found=progress.found,
    )  # fmt: skip
    if not progress.drawn_at_random:
        unfound = translate("missing documents unknown until random documents are judged")
    else:
        unfound = translate(
            "missing: probably {probably}, {least} to {most} (at least {share} found)",
            probably=progress.unfound, least=progress.unfound_least, most=progress.unfound_most,
            share=format_lower_bound(progress.recall_least),
        )  # fmt: skip
    skipped = [translate("{number} skipped, counted as missing", number=progress.skipped)] if progress.skipped else []
    return "; ".join((judged_text, unfound, *skipped)) + "."


def describe_stopping(progress: ReviewProgress) -> str:
    """Return the advice to stop or to continue a review."""
    if progress.judged == progress.documents:
        return translate("All documents are judged. Every relevant document is found.")
    target, confidence = format_target(progress.target), format_target(progress.confidence)
    if progress.enough:
        return translate(
            "At least {target} found with {confidence} confidence. You can stop.", target=target, confidence=confidence
        )
    return translate("Target not reached: {target} with {confidence} confidence.", target=target, confidence=confidence)
