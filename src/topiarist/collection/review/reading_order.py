"""Order in which a review proposes documents, and its progress after each judgement.

The ranking comes first: probably relevant documents, with a share of uncertain ones from the least-read topics. After
a number of documents without a hit, documents are drawn at random from all unjudged ones. They estimate how many
relevant documents are missing (``recall_bound``). The ranking resumes after a relevant random document.

A skipped document counts as relevant and not found until it is judged. The bound therefore holds for every reason to
skip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Csr, Doubles
from topiarist.collection.review.recall_bound import CONFIDENCE, RecallBound
from topiarist.collection.review.relevance_model import RelevanceModel

# Ways in which a document was drawn, as stored with its judgement.
RANKED, UNSURE, RANDOM, CONTROL, USER_CHOICE = "ranked", "unsure", "random", "control", "given"
HAD_LABEL = "labelled"  # had the label before the review or got it outside of it: never judged or undone here
# Both draw from all unjudged documents: random at the start, control after the end of the ranking.
RANDOM_DRAWS = (RANDOM, CONTROL)
TARGET = 0.95  # recall
PATIENCE, SHARE = 50, 0.3  # ranked documents without a hit before control: minimum, and share of the control draws
REPEAT_PATIENCE, REPEAT_SHARE = 20, 0.05  # the same after the first control draw
MAX_PATIENCE_SHARE = 0.1  # of all documents
UNSURE_EVERY = 20  # judgements between two uncertain documents


@dataclass(frozen=True)
class ReviewProgress:
    """Progress of a review; ``unfound`` is the likeliest number; both ends of its range hold with the confidence."""

    documents: int
    judged: int
    found: int
    skipped: int
    drawn_at_random: int
    unfound: int
    unfound_least: int
    unfound_most: int
    recall_least: float  # lower bound with the confidence; 0 without a relevant document
    target: float
    confidence: float

    @property
    def enough(self) -> bool:
        """Return whether the target recall is reached with the confidence."""
        return self.judged == self.documents or self.recall_least >= self.target


class ReadingOrder:
    """Order of the documents of a review, updated by each judgement.

    ``lot`` is a random order of all documents, drawn before the review began. Only random draws depend on it, and the
    ranking does not know it. ``start`` has a score for each document before the first judgement, from a query.
    ``strata`` has the topic of each document.
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
        self.bound = RecallBound.create(self.n_docs, confidence)
        self.answers: dict[int, bool] = {}
        self.skipped: dict[int, str] = {}
        self.n_found = 0  # relevant documents judged so far
        self.n_without_hit = 0  # ranked documents since the last relevant one
        self._last_hit = False
        self._has_controlled = False  # whether control draws have begun
        self._unread = np.ones(self.n_docs, bool)
        self._next_draw = 0  # position in ``lot``
        self._n_read_by_topic = np.zeros(0 if strata is None else int(strata.max(initial=0)) + 1, np.int64)

    def judge(self, row: int, relevant: bool | None, draw: str = USER_CHOICE) -> None:
        """Record a judgement, or a skip (None), and update the bound; ignore a document that was read before."""
        if not self._unread[row]:
            return
        n_counted = self.n_found + len(self.skipped)
        n_unread = self.n_docs - len(self.answers) - len(self.skipped)
        is_hit = relevant is not False
        if draw in RANDOM_DRAWS:
            self.bound = self.bound.add_draw(n_counted, n_unread, is_hit, tail=draw == CONTROL)
        elif is_hit:
            self.bound = self.bound.restart()
        self.bound = self.bound.exclude_impossible(n_counted + is_hit, n_unread - 1)
        self._has_controlled = self._has_controlled or draw == CONTROL
        self._unread[row] = False
        if relevant is None:
            self.skipped[row] = draw
        else:
            self.answers[row] = relevant
            self.n_found += relevant
        self._last_hit = bool(relevant)
        if self.strata is not None:
            self._n_read_by_topic[self.strata[row]] += 1
        if relevant:
            self.n_without_hit = 0
        elif draw in (RANKED, UNSURE):
            self.n_without_hit += 1

    def is_unread(self, row: int) -> bool:
        return bool(self._unread[row])

    @property
    def patience(self) -> int:
        """Number of ranked documents without a hit before documents are drawn at random."""
        minimum, share = (REPEAT_PATIENCE, REPEAT_SHARE) if self._has_controlled else (PATIENCE, SHARE)
        if not self.n_found:
            return minimum
        return max(minimum, round(min(share * self.control_draws, MAX_PATIENCE_SHARE * self.n_docs)))

    @property
    def control_draws(self) -> int:
        """Number of random documents without a hit that would prove the target recall."""
        n_found = self.n_found
        too_many = int(n_found / self.target) - n_found + 1
        share: float = 1 - (1 - self.confidence) ** (1 / too_many)
        return round(int(self._unread.sum()) * share)

    def next(self) -> tuple[int, str] | None:
        """Return the row to judge next and how it was drawn; None if every document was read."""
        if not self._unread.any():
            return None
        scores = self.model.scores(self.answers, hit=self._last_hit)
        has_model = scores is not None
        if self.n_without_hit >= self.patience:
            return self._draw_at_random(), CONTROL if has_model else RANDOM
        if scores is None:
            scores = self.start
        if scores is None:
            return self._draw_at_random(), RANDOM
        rows = np.flatnonzero(self._unread)
        if has_model and len(self.answers) % UNSURE_EVERY == UNSURE_EVERY - 1:
            return self._find_least_certain(rows, scores), UNSURE
        return int(rows[scores[rows].argmax()]), RANKED

    def _draw_at_random(self) -> int:
        while not self._unread[self.lot[self._next_draw]]:
            self._next_draw += 1
        return int(self.lot[self._next_draw])

    def _find_least_certain(self, rows: Array, scores: Doubles) -> int:
        """Return the row with a probability nearest 0.5 in the topic with the fewest read documents."""
        if self.strata is not None:
            topics = self.strata[rows]
            topics_left = np.unique(topics)
            rows = rows[topics == topics_left[self._n_read_by_topic[topics_left].argmin()]]
        return int(rows[np.abs(scores[rows] - 0.5).argmin()])

    @property
    def progress(self) -> ReviewProgress:
        """Progress of the review, with bounds of the number of unfound documents."""
        n_found, maximum = self.n_found, self.bound.maximum
        return ReviewProgress(
            documents=self.n_docs, judged=len(self.answers), found=n_found, skipped=len(self.skipped),
            drawn_at_random=self.bound.n_drawn,
            unfound=max(self.bound.likeliest - n_found, 0),
            unfound_least=max(min(self.bound.lowest, maximum) - n_found - len(self.skipped), 0),
            unfound_most=maximum - n_found,
            recall_least=n_found / maximum if maximum else 0.0, target=self.target, confidence=self.confidence,
        )  # fmt: skip
