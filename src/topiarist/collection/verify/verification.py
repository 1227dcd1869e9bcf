"""Do the bits agree? A collection, and what comes out when it is grown and edited again from its own texts.

Where they do not, it is told what differs, by how much, and which of the things that may change bits are not the same
here: versions, processor, device. Where nothing of that differs, somebody has changed the folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.collection.grow.made_with import MADE_WITH, circumstances, differences, mixed, stages
from topiarist.collection.verify.digests import Digests, digests, parameters, text_digest
from topiarist.collection.verify.replay import CannotReplayError, Plan, Tell, plan, replayed
from topiarist.errors import InputError, TopiaristError, UsageError, reading

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

RECOUNTED = 500  # documents whose words are counted at a time
MEANS = {
    "texts": "the texts are not those that it was grown from",
    "counts": "the words that are counted are not those of the texts",
    "parameters": "the parameters of the model come out otherwise",
    "shares": "documents lie elsewhere",
    "words": "other words describe the topics",
    "tree": "the tree, its names or what people said of it is another",
}


@dataclass(frozen=True)
class Verdict:
    """What a verification has found.

    ``agrees``: True, False, or None where the growth cannot be done again. ``differs``: which digests differ, in the
    order in which they are made from each other. ``reasons``: why bits may differ though nothing is wrong.
    """

    digests: Digests
    agrees: bool | None
    differs: tuple[str, ...] = ()
    told: tuple[str, ...] = ()  # sentences: what differs, or what was checked instead
    reasons: tuple[str, ...] = ()
    given: tuple[str, ...] = ()  # what was taken as it is
    steps: int = 0  # that were done again after the growth
    made_with: Mapping[str, Any] | None = None

    @property
    def explained(self) -> bool:
        """Whether a difference may come from another version or machine."""
        return bool(self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "digest": self.digests.whole, "digests": self.digests.to_dict(), "agrees": self.agrees,
            "differs": list(self.differs), "told": list(self.told), "reasons": list(self.reasons),
            "taken_as_given": list(self.given), "steps": self.steps, "made_with": dict(self.made_with or {}),
            "here": circumstances(),
        }  # fmt: skip


def verify(
    collection: Collection, *, tell: Tell = lambda _: None, n_threads: int | None = None, work: str | None = None
) -> Verdict:
    """Grow and edit a collection once more from the texts that it keeps, in a folder for the moment; compare the bits.

    Needs as much time and disk as growing did, and nothing of the sources. ``work``: where the other folder is made.
    """
    known = collection.settings.get(MADE_WITH)
    known = known if isinstance(known, dict) else None
    tell("Reading what is kept")
    here, reasons = digests(collection), _reasons(stages(collection.settings))
    changed = _changed_texts(collection, known)
    try:
        planned = plan(collection)
    except CannotReplayError as error:
        wrong = _recounted(collection, tell)
        cannot = (
            f"It cannot be grown again: {error.message}.",
            wrong or f"What can be said: the words of all {len(collection):,} texts were counted again, and agree.",
        )
        return Verdict(here, False if wrong else None, ("counts",) if wrong else (), cannot, reasons, made_with=known)
    with tempfile.TemporaryDirectory(prefix="topiarist-verify-", dir=work) as folder:
        steps = len(planned.steps) - 1
        try:
            again = _done_again(collection, planned, Path(folder), tell, n_threads)
        except (UsageError, InputError) as error:  # an edit that does not fit the tree that comes out
            stuck = (*changed, f"The steps of the log cannot be done again: {error.message}.")
            return Verdict(here, False, ("tree",), stuck, reasons, planned.given, steps, known)
        with again:
            there = digests(again)
            differs = tuple(dict.fromkeys([*(("texts",) if changed else ()), *here.differing(there)]))
            told = [*changed, *(f"{MEANS[one]}" for one in differs if one != "texts")]
            if "parameters" in differs:
                told.append(_how_far(collection, again))
    agrees = not differs
    return Verdict(here, agrees, differs, tuple(told), () if agrees else reasons, planned.given, steps, known)


def _done_again(collection: Collection, planned: Plan, work: Path, tell: Tell, n_threads: int | None) -> Collection:
    """The collection again; settings and a log that nobody could have written are damage."""
    try:
        return replayed(collection, planned, work, tell, n_threads)
    except TopiaristError:
        raise
    except Exception as error:
        with reading(f"what {collection.folder.shown} says of itself"):
            raise error


def _reasons(known: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What is not as it was when the collection was made, in each of the stages in which it was grown."""
    if not known:
        return ("an earlier version made it, which did not write down what it ran on",)
    now, found = circumstances(), list[str]()
    for stage in known:
        then = "was" if stage is known[0] else "was, when the grow was taken up again,"
        found += [f"{name} {then} {stage.get(name, 'unknown')}, and is {now[name]} here"
                  for name in differences(stage, now)]  # fmt: skip
    if mixed(known):
        found.append("one part of the tree was grown in memory or within another allowance, and the rest otherwise")
    return tuple(dict.fromkeys(found))


def _changed_texts(collection: Collection, known: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Whether the texts that were read are those that are kept, where that was written down and none has gone."""
    number = (known or {}).get("documents")
    grown_with = collection.settings.get("grown_with", number)
    if known is None or not isinstance(number, int) or grown_with != number or number > len(collection):
        return ()
    with reading(f"the texts of {collection.folder.shown}"):
        same = text_digest(collection, number) == known.get("texts")
    return () if same else (MEANS["texts"],)


def _recounted(collection: Collection, tell: Tell) -> str:
    """Whether counts are those of the texts, as long as the tree cannot be grown again; what differs, or nothing."""
    tell("Counting words again")
    counts = collection.all_counts
    for start in range(0, len(collection), RECOUNTED):
        rows = range(start, min(start + RECOUNTED, len(collection)))
        found = collection.heard(collection.documents.many(rows)).counts
        differ = abs(found - counts[start : rows.stop]).sum(axis=1)
        wrong = np.flatnonzero(np.asarray(differ).ravel() > 0)
        if len(wrong):
            return f"{MEANS['counts']}, first in document {collection.documents.get(start + int(wrong[0])).id!r}"
    return ""


def _how_far(collection: Collection, again: Collection) -> str:
    """How far parameters are apart: rounding is not a change."""
    ours, theirs = parameters(collection), parameters(again)
    if {name: one.shape for name, one in ours.items()} != {name: one.shape for name, one in theirs.items()}:
        return "The two models are not even of one size"
    apart = {
        name: float(np.max(np.abs(one.astype(np.float64) - theirs[name]), initial=0.0))
        for name, one in ours.items()
        if one.dtype.kind == "f"
    }
    far = max(apart, key=lambda name: apart[name], default="")
    return f"The largest difference of a parameter is {apart[far]:.3g} (in {far})" if far else ""
