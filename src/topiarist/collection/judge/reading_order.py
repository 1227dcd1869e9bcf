"""In which order documents are read in a review, and what is known after each judgement.

First the ranking: what is most probably relevant, with a share of what the model is least sure of, from the topics that
were read least. Where it finds nothing for a while, documents are drawn at random from all that are unjudged: they tell
how much is unfound (``recall_bound``). If one of them is relevant, the ranking has its turn again.

What was skipped counts as relevant and not found, until it is judged: so the bound holds whatever is skipped and why.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Csr, Doubles
from topiarist.collection.judge.recall_bound import CONFIDENCE, RecallBound
from topiarist.collection.judge.relevance_model import RelevanceModel

RANKED, UNSURE, RANDOM, CONTROL, GIVEN = "ranked", "unsure", "random", "control", "given"
LABELLED = "labelled"  # had the label when the review began, or got it elsewhere: not judged here, and not undone
BY_LOT = (RANDOM, CONTROL)  # from all unjudged documents: random to begin with, control where the ranking has ended
TARGET = 0.95
PATIENCE, SHARE = 50, 0.3  # ranked documents without a hit before control: at least, and of what control would take
AGAIN, SHARE_AGAIN = 20, 0.05  # after a hit by control
MOST_PATIENCE = 0.1  # of all documents
UNSURE_EVERY = 20  # ranked documents


@dataclass(frozen=True)
class Progress:
    """How far a review is. ``unfound`` is the likeliest number; both ends each hold with the confidence."""

    documents: int
    judged: int
    found: int
    skipped: int
    drawn_at_random: int
    unfound: int
    unfound_least: int
    unfound_most: int
    recall_least: float  # with the confidence; 0 while nothing is found
    target: float
    confidence: float

    @property
    def enough(self) -> bool:
        """Whether as much is found as was asked for, with the confidence."""
        return self.judged == self.documents or self.recall_least >= self.target


class ReadingOrder:
    """The documents of a review: which comes next, and what the judgements so far tell.

    ``lot`` is an order of all documents that was drawn before the review began; nothing depends on it but what is drawn
    at random, and the ranking does not know it. ``start`` scores documents before anything is known (a query),
    ``strata`` are their topics.
    """

    def __init__(
        self,
        documents: Csr,
        lot: Array,
        *,
        start: Doubles | None = None,
        strata: Array | None = None,
        target: float = TARGET,
        confidence: float = CONFIDENCE,
    ) -> None:
        self.n_docs = documents.shape[0]
        self.model = RelevanceModel(documents)
        self.lot, self.start, self.strata = lot, start, strata
        self.target, self.confidence = target, confidence
        self.bound = RecallBound.at_first(self.n_docs, confidence)
        self.answers: dict[int, bool] = {}
        self.skipped: dict[int, str] = {}
        self.found = 0  # that are known to be relevant
        self.dry = 0  # ranked documents since one was relevant
        self._last_hit = False
        self._controlled = False  # whether the ranking has ended once
        self._unread = np.ones(self.n_docs, bool)
        self._at = 0  # in the order by lot
        self._read_in = np.zeros(0 if strata is None else int(strata.max(initial=0)) + 1, np.int64)

    def judge(self, row: int, relevant: bool | None, drawn: str = GIVEN) -> None:
        """A document was judged, or skipped (None); one that was read before stays as it is."""
        if not self._unread[row]:
            return
        counted = self.found + len(self.skipped)
        unread = self.n_docs - len(self.answers) - len(self.skipped)
        is_hit = relevant is not False
        if drawn in BY_LOT:
            self.bound = self.bound.after(counted, unread, is_hit, tail=drawn == CONTROL)
        elif is_hit:
            self.bound = self.bound.anew()
        self.bound = self.bound.known(counted + is_hit, unread - 1)
        self._controlled = self._controlled or drawn == CONTROL
        self._unread[row] = False
        if relevant is None:
            self.skipped[row] = drawn
        else:
            self.answers[row] = relevant
            self.found += relevant
        self._last_hit = bool(relevant)
        if self.strata is not None:
            self._read_in[self.strata[row]] += 1
        if relevant:
            self.dry = 0
        elif drawn in (RANKED, UNSURE):
            self.dry += 1

    def is_unread(self, row: int) -> bool:
        """Whether a document was neither judged nor skipped."""
        return bool(self._unread[row])

    @property
    def patience(self) -> int:
        """How many ranked documents are read without a hit before others are drawn at random."""
        least, share = (AGAIN, SHARE_AGAIN) if self._controlled else (PATIENCE, SHARE)
        if not self.found:
            return least
        return max(least, round(min(share * self.control_draws, MOST_PATIENCE * self.n_docs)))

    @property
    def control_draws(self) -> int:
        """How many documents must be drawn at random until enough is found for sure, if none of them is relevant."""
        found = self.found
        too_many = int(found / self.target) - found + 1
        share: float = 1 - (1 - self.confidence) ** (1 / too_many)
        return round(int(self._unread.sum()) * share)

    def next(self) -> tuple[int, str] | None:
        """The document to judge next, and how it is drawn; None where all were read."""
        if not self._unread.any():
            return None
        scores = self.model.scores(self.answers, hit=self._last_hit)
        knows = scores is not None
        if self.dry >= self.patience:
            return self._by_lot(), CONTROL if knows else RANDOM
        if scores is None:
            scores = self.start
        if scores is None:
            return self._by_lot(), RANDOM
        left = np.flatnonzero(self._unread)
        if knows and len(self.answers) % UNSURE_EVERY == UNSURE_EVERY - 1:
            return self._least_sure(left, scores), UNSURE
        return int(left[scores[left].argmax()]), RANKED

    def _by_lot(self) -> int:
        """The next document of the order by lot that was not read."""
        while not self._unread[self.lot[self._at]]:
            self._at += 1
        return int(self.lot[self._at])

    def _least_sure(self, left: Array, scores: Doubles) -> int:
        """What the model is least sure of, in the topic of which the fewest were read."""
        if self.strata is not None:
            topics = self.strata[left]
            there = np.unique(topics)
            left = left[topics == there[self._read_in[there].argmin()]]
        return int(left[np.abs(scores[left] - 0.5).argmin()])

    @property
    def progress(self) -> Progress:
        """How far it is."""
        found, most = self.found, self.bound.most
        return Progress(
            documents=self.n_docs, judged=len(self.answers), found=found, skipped=len(self.skipped),
            drawn_at_random=self.bound.drawn,
            unfound=max(self.bound.likeliest - found, 0),
            unfound_least=max(min(self.bound.lowest, most) - found - len(self.skipped), 0), unfound_most=most - found,
            recall_least=found / most if most else 0.0, target=self.target, confidence=self.confidence,
        )  # fmt: skip
