"""The ranking that a user gets: words in every form, what the tree knows of them, and words that are used alike.

Three scores of every document, each divided by its own spread over the collection (z-scores; what all documents have
does not change their order): BM25 over stems with feedback, the Fisher kernel of the tree's models, and the cosine in
the space of words. How much the two kinds of meaning count is decided for each query by how far they agree with its
words about the best documents: where they know nothing of what is asked, words decide.

Where the collection was grown with an encoder that is here, the cosine to the encoded query is one more. It knows words
that the collection does not have, so it counts for itself, twice as much as the words, and the other two kinds of
meaning, much of which it knows as well, count by half.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection.find.index import Answer, Explanation, Hit
from topiarist.collection.find.index.answers import WordReason
from topiarist.collection.find.index.question import Question, over_spread
from topiarist.collection.find.index.ranking import best, hit, nth_largest
from topiarist.collection.find.vector_voice import cosines, direction_of, leaning
from topiarist.collection.find.words.word_index import WordIndex
from topiarist.collection.find.words.word_question import Amount, WordQuestion
from topiarist.counts.corpus import text_of

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.find.shortlist import Shortlist

LOOKED_AT, FEWEST = 50, 5  # best documents by words, and by meaning, that tell how far both agree
MEANING, AGREEING = 0.6, 0.8  # what meaning counts where nothing is agreed on, and how much more where all is
LEAST, MOST = 0.2, 1.2
OF_KERNEL, OF_SPACE = 0.6, 1.2  # of that weight
OF_VECTORS, BESIDE_VECTORS = 2.0, 0.5  # what vectors count, and what they leave of that weight


class _Looked(NamedTuple):
    """Documents that are looked at, and what each of them has of a query; ``rows``: None for all of them."""

    rows: Array | None
    asked: Floats
    words: Floats
    kernel: Floats
    near: Any
    pointed: Floats | None


class DefaultQuestion:
    """A query that is asked of a collection in its words and in their meaning; every document is scored once."""

    def __init__(self, collection: Collection, words: WordIndex, query: str) -> None:
        self.collection, self.query = collection, query
        self.words = WordQuestion(words, query, partial(_texts, collection), collection.index.threads)
        self.kernel = Question(collection.index, self.words.meant, "meaning")

    @property
    def empty(self) -> bool:
        """Whether nothing that was asked for is known here."""
        return not self.words.known and not len(self.kernel.counts.columns) and self.pointed is None

    @cached_property
    def direction(self) -> Floats | None:
        """Where the query points in the space of words; None where it has no place there."""
        return self.words.index.space.direction(self.words.times)

    def near(self, rows: Array | None = None) -> Floats | None:
        """The cosines of documents in the space of words: of all of them, or of some."""
        if self.direction is None:
            return None
        if rows is None:
            return self._all_near
        if self._shortlist is not None:
            return self._shortlist.near(self.direction, rows)
        index = self.words.index
        return index.space.cosines(index.places_of(rows, self.words.threads), self.direction)

    @cached_property
    def _all_near(self) -> Floats | None:
        return self.words.index.near(self.words.times)

    @cached_property
    def pointed(self) -> Floats | None:
        """How near documents lie to the encoded query; None where there are no vectors, or no encoder for them."""
        direction = direction_of(self.collection, [self.query])
        vectors = self.collection.vectors
        if vectors is None or direction is None:
            return None
        return leaning(cosines(vectors, direction, self.collection.index.threads))

    @cached_property
    def of_vectors(self) -> float:
        """By what that is multiplied."""
        return 0.0 if self.pointed is None else OF_VECTORS * over_spread(self.pointed)

    @cached_property
    def _of_all(self) -> float:
        """What every document has, so that a far vector takes nobody out who has the words."""
        return 0.0 if self.pointed is None else self.of_vectors * -min(float(self.pointed.min(initial=0.0)), 0.0)

    @cached_property
    def shares(self) -> tuple[float, float, float]:
        """By what words, kernel and space are multiplied."""
        some = self._shortlist
        near = self.near() if some is None or self.direction is None else some.near(self.direction)
        of_words, of_kernel = self.words.by_all.per_spread, self.kernel.per_spread
        of_space = 0.0 if near is None else over_spread(near)
        looked = self._looked_at
        weight = _weight(looked.asked, of_kernel * looked.kernel + of_space * looked.near) if of_words else 1.0
        weight *= 1.0 if self.pointed is None else BESIDE_VECTORS
        return of_words, weight * OF_KERNEL * of_kernel, weight * OF_SPACE * of_space

    @property
    def _shortlist(self) -> Shortlist | None:
        found: Shortlist | None = self.collection.index.shortlist
        return found

    @cached_property
    def _looked_at(self) -> _Looked:
        """What is known of the documents that are looked at where all may answer."""
        return self._look(None if self._shortlist is None else self.looked_at())

    def looked_at(self, allowed: Any = None) -> Array:
        """The rows of the documents that are looked at, where these are very many."""
        assert self._shortlist is not None  # noqa: S101
        return self._shortlist.rows(self.words.by_all, self._around, self.pointed, allowed=allowed)

    @cached_property
    def _around(self) -> Any:
        """The documents that may lie nearest to the query, whoever is allowed; None where it has no place."""
        if self._shortlist is None or self.direction is None:
            return None
        return self._shortlist.around(self.direction)

    def scores_of(self, rows: Array) -> Floats:
        """The scores of some documents."""
        return self._total(self._look(rows))

    def _look(self, rows: Array | None) -> _Looked:
        near, kernel = (self.near(), self.kernel.scores) if rows is None else self._seen(rows)
        return _Looked(
            rows,
            self.words.asked if rows is None else self.words.asked[rows],
            self.words.scores if rows is None else self.words.scores[rows],
            kernel,
            0.0 if near is None else near,
            self.pointed if rows is None or self.pointed is None else self.pointed[rows],
        )

    def _seen(self, rows: Array) -> tuple[Floats | None, Floats]:
        """Cosines and kernel of some documents, by their rising rows; those that were looked at before are known."""
        known, nears, kernels = self._known
        at = np.minimum(np.searchsorted(known, rows), max(len(known) - 1, 0))
        new = rows if not len(known) else rows[known[at] != rows]
        near, kernel = self.near(new), self.kernel.scores_of(new)
        every = np.concatenate([known, new])
        order = np.argsort(every, kind="stable")
        nears = np.concatenate([nears, np.zeros(len(new), np.float32) if near is None else near])[order]
        every, kernels = every[order], np.concatenate([kernels, kernel])[order]
        self._known = every, nears, kernels
        places = np.searchsorted(every, rows)
        return None if near is None else nears[places], kernels[places]

    _known: tuple[Array, Floats, Floats] = (np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0))

    @cached_property
    def scores(self) -> Floats:
        """The score of every document."""
        return self.scored()

    def scored(self, allowed: Any = None) -> Floats:
        """The same for a query that some documents may answer: of many, it looks at others.

        Those that are not looked at follow behind the others for whom something speaks, by their words alone.
        """
        if self._shortlist is None:
            return self._whole
        (rows, total), by_words = self._seen_scores(allowed), self.words.by_all
        least = float(total[total > 0].min(initial=1.0))
        every = by_words.values * np.float32(0.5 * least / max(by_words.most, 1e-30))
        every[rows] = total
        return every

    def _seen_scores(self, allowed: Any) -> tuple[Array, Floats]:
        """Of very many documents those that are looked at, and their scores."""
        if self._last is None or self._last[0] is not allowed:
            looked = self._looked_at if allowed is None else self._look(self.looked_at(allowed))
            assert looked.rows is not None  # noqa: S101
            self._last = allowed, looked.rows, self._total(looked).astype(np.float32)
        return self._last[1:]

    _last: tuple[Any, Array, Floats] | None = None  # who was allowed last, who was looked at, and their scores

    @cached_property
    def _whole(self) -> Floats:
        return self._total(self._looked_at)

    def _total(self, looked: _Looked) -> Floats:
        of_words, of_kernel, of_space = self.shares
        total = of_words * looked.words + of_kernel * looked.kernel
        total = total if self.direction is None else total + of_space * looked.near
        if looked.pointed is None:
            return np.asarray(total)
        return np.asarray(total + (self.of_vectors * looked.pointed + self._of_all))

    @cached_property
    def per_spread(self) -> float:
        """By what scores are multiplied so that their spread over the collection is one."""
        return over_spread(
            self.scores if self._shortlist is None else self._total(self._look(self._shortlist.everywhere))
        )

    def page(self, n: int, offset: int = 0, *, allowed: Any = None, why: bool = False, exact: bool = False) -> Answer:
        """The ``n`` best documents after the ``offset`` best; with ``exact`` all that are allowed are found."""
        if self.empty and not exact:
            return Answer((), "", (), self.words.unknown)
        hits, total = self._hits(n, offset, allowed, exact=exact)
        if why:
            looked = None if self._shortlist is None else frozenset(self._seen_scores(allowed)[0].tolist())
            seen = [one.number for one in hits if looked is None or one.number in looked]
            brought = self.words.amounts_of(seen)  # the others have no reasons but their words
            hits = tuple(self._explained(one, brought[one.number]) if one.number in brought else one for one in hits)
        words = tuple(word.forms[0] for word in self.words.words)
        return Answer(hits, "", words, self.words.unknown, {}, total, exact=self._shortlist is None)

    def _hits(self, n: int, offset: int, allowed: Any, *, exact: bool) -> tuple[tuple[Hit, ...], int]:
        """A page of hits, and how many documents have any score."""
        segments = self.collection.index.segments
        if self._shortlist is not None and not exact:
            rows, scores = self._seen_scores(allowed)
            if offset + n <= np.count_nonzero(scores > 0):  # nobody who was not looked at comes before these
                order = np.lexsort((rows, -scores))[offset : offset + n]
                first = tuple(hit(segments, int(rows[place]), float(scores[place])) for place in order)
                return first, self._number(rows, scores, allowed)
        scores = self.scored(allowed)
        if exact and allowed is not None and allowed.any():
            scores = scores - min(float(scores[allowed].min()), 0.0) + 1e-9
        total = int(np.count_nonzero(scores > 0 if allowed is None else (scores > 0) & allowed))
        return best(scores, segments, allowed, n, offset), total

    def _number(self, rows: Array, scores: Floats, allowed: Any) -> int:
        """How many documents have any score: by their words, but for those that were looked at."""
        found = self.words.by_all
        number = found.above if allowed is None else int(np.count_nonzero((found.values > 0) & allowed))
        return number + int(np.count_nonzero(scores > 0)) - int(np.count_nonzero(found.values[rows] > 0))

    def with_all_words(self, allowed: Any = None) -> tuple[int, tuple[str, ...]]:
        """How many documents have all words; if none, those that the one with most information does not have."""
        words = self.words
        if not words.known or (allowed is not None and not allowed.any()):
            return 0, ()
        number, fullest = words.with_all(allowed)
        if number:
            return (0 if words.unknown else number), ()
        there = {word for word, _, asked in words.amounts(fullest) if asked}
        return 0, tuple(word.forms[0] for word in words.known if word.forms[0] not in there)

    def _explained(self, found: Hit, amounts: Sequence[Amount]) -> Hit:
        segments = self.collection.index.segments
        reasons = self.explained(found.number, amounts)
        own = hit(segments, found.number, found.score)
        return Hit(own.number, own.id, own.score, own.title, own.labels, own.node, reasons)

    def explained(self, row: int, brought: Sequence[Amount] | None = None) -> Explanation:
        """Why a document is there: all amounts add up to its score. ``brought`` is what its words bring, if known."""
        of_words, of_kernel, of_space = self.shares
        kernel = self.kernel.explained(row) if of_kernel and len(self.kernel.counts.columns) else None
        amounts: dict[str, list[Any]] = {}
        by_words = 0.0
        for word, amount, _ in self.words.amounts(row) if brought is None else brought:
            amounts.setdefault(word, [0.0, WordReason(word, 0.0)])[0] += of_words * amount
            by_words += of_words * amount
        for reason in kernel.words if kernel else ():
            entry = amounts.setdefault(reason.word, [0.0, reason])
            entry[0] += of_kernel * reason.amount
            entry[1] = reason
        words = [
            WordReason(word, float(amount), reason.sense, reason.model, reason.topic)
            for word, (amount, reason) in amounts.items()
        ]
        topics = [
            type(reason)(reason.words, of_kernel * reason.amount, reason.model, reason.topic)
            for reason in (kernel.topics if kernel else ())
        ]
        of_all = (of_kernel * kernel.of_all if kernel else 0.0) + self._of_all
        near = self.near(np.array([row]))
        alike = 0.0 if near is None else of_space * float(near[0])
        lies = 0.0 if self.pointed is None else self.of_vectors * float(self.pointed[row])
        score = sum(one.amount for one in words) + sum(one.amount for one in topics) + of_all + alike + lies
        return Explanation(
            score, tuple(sorted(words, key=lambda one: (-one.amount, one.word))), tuple(topics), of_all,
            score - by_words, by_words, alike, lies,
        )  # fmt: skip


def _texts(collection: Collection, rows: Sequence[int]) -> list[str]:
    """Texts of documents; a question that knew itself by this would outlive its answer, with all its scores."""
    return [text_of(document) for document in collection.documents.many(rows)]


def _weight(by_words: Floats, by_meaning: Floats) -> float:
    """What meaning counts beside words: more, the more both agree about the best documents of either."""
    some = min(LOOKED_AT, max(FEWEST, len(by_words) // 10), len(by_words))
    rows = np.union1d(*(_best(one, some) for one in (by_words, by_meaning)))
    words, meaning = by_words[rows].astype(np.float64), by_meaning[rows].astype(np.float64)
    if len(rows) < 3 or words.std() < 1e-12 or meaning.std() < 1e-12:
        return MEANING
    agreed = float(np.corrcoef(words, meaning)[0, 1])
    return float(np.clip(MEANING + AGREEING * agreed, LEAST, MOST))


def _best(scores: Floats, n: int) -> Array:
    """The rows of the best; of equal ones the first."""
    least = nth_largest(scores, n)
    above = np.flatnonzero(scores > least)
    return np.concatenate([above, np.flatnonzero(scores == least)[: n - len(above)]])
