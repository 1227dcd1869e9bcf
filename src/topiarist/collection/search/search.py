"""Search in a collection: by words and meaning together, by words alone, or by meaning alone.

A query is parsed and tokenised once. Masks decide which documents match, and a scorer ranks the documents once. Hits,
rows, topics and notes of one request all come from this ranking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topiarist.arrays import Array, Bools, Floats
from topiarist.collection.copies import fold_copies
from topiarist.collection.describe.collection_facts import describe_undated
from topiarist.collection.passages import find_parent
from topiarist.collection.search.empty_answer import (
    MAX_SPELLED,
    Remark,
    describe_uncounted_words,
    describe_unknown_words,
    explain_few_matches,
    find_excess_filter,
)
from topiarist.collection.search.hits import list_hits
from topiarist.collection.search.index.kernel_scorer import KernelScorer, Scorer
from topiarist.collection.search.index.ranking import Ranking
from topiarist.collection.search.results import Hit, SearchResult
from topiarist.collection.search.scorers import DefaultScorer, ExampleScorer, score_examples
from topiarist.collection.search.words.word_scorer import Match, WordScorer, score_forms
from topiarist.errors import DamagedError, UsageError
from topiarist.metrics.placed_documents import MIN_CERTAINTY
from topiarist.storage.fulltext import Index, list_prefix_forms
from topiarist.text.highlights import Span, build_snippet, find_form_spans, find_spans, merge_spans
from topiarist.text.query import LIKE as LIKE_FILTER
from topiarist.text.query import NO_VALUE, SIDES, Filter, Query, Term, parse
from topiarist.text.tokens import has_unspaced

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

METHODS = ("words", "meaning", "both")
DEFAULT_METHOD = "both"
FEW_MATCHES = 5  # hits by words: with fewer, a search by meaning is proposed
N_NEAREST = 100  # nearest documents whose topics are counted
DAMAGED_INDEX = "The index of this state is missing or damaged: only words were used. Run topiarist check."
NO_WORDS = "The query holds no words to look for. Try: one or more words of the subject."
MAX_RELATED = 20  # documents that do not match, but are near in words and meaning
MAX_CHARACTERS = 50_000  # of a text in which a snippet is chosen
MAX_FORMS = 200  # most frequent forms of a prefix that rank the documents by words


class Examples(NamedTuple):
    """Rows or texts that documents shall be like, or unlike, and ids without a document."""

    like: tuple[str | int, ...] = ()
    unlike: tuple[str | int, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def rows(self) -> list[int]:
        """Rows of all examples in the collection."""
        return [example for example in (*self.like, *self.unlike) if not isinstance(example, str)]


class _Division(NamedTuple):
    """Masks of documents that match, are listed, or may be related; their numbers; words that are not required."""

    matching: Bools
    listed: Bools
    others: Bools
    n_matching: int
    n_listed: int
    n_complete: int  # documents with all words
    missing: tuple[str, ...]


class Search:
    """Lazily evaluated query over a collection.

    ``page`` returns hits, ``rows`` all documents that match. By meaning every document matches to some degree: ``rows``
    returns the ``near`` best. Both accept a topic. Of duplicates a page lists the first; ``rows`` has all of them.

    By default a document matches if it has all phrases, prefixes and alternatives, and enough of the other words
    (``WordScorer.match``). At most ``MAX_RELATED`` related documents follow the last match. ``best_rows`` returns the
    documents by their scores, including those without a match.
    """

    def __init__(
        self,
        collection: Collection,
        query: Query | str,
        by: str = DEFAULT_METHOD,
        *,
        near: int = N_NEAREST,
        examples: Examples | None = None,
    ) -> None:
        if by not in METHODS:
            raise UsageError(f"expected a search by {', '.join(METHODS)}, got {by!r}", hint="Search by meaning.")
        self.query = parse(query, collection.fields) if isinstance(query, str) else query
        self.collection, self.near = collection, near
        self.by = DEFAULT_METHOD if self.query.likes and by == "words" else by
        by_examples = bool(self.query.likes) or examples is not None
        self.by_words = (by == "words" or not self.query.meaning_text) and not by_examples
        self.examples = self._look_up_examples() if examples is None else examples
        self.trouble = ""  # why the index cannot be used
        self._under: dict[str | int | None, Array | None] = {}
        self._divisions: dict[str | int | None, _Division] = {}

    @classmethod
    def from_examples(
        cls, collection: Collection, like: str | int | Sequence[str | int], unlike: Sequence[str | int] = ()
    ) -> Search:
        """Return a search for documents similar to texts or rows, and different from others."""
        examples = tuple(like) if isinstance(like, Sequence) and not isinstance(like, str) else (like,)
        if not examples:
            raise UsageError("expected at least one example document", hint="Pass a document id or a file.")
        conflicts = sorted({example for example in examples if example in unlike}, key=str)
        if conflicts:
            name = repr(collection.documents.get(conflicts[0]).id) if isinstance(conflicts[0], int) else "a text"
            raise UsageError(f"document {name} is in both like and unlike", hint="Remove it from like or unlike.")
        return cls(collection, Query(), examples=Examples(examples, tuple(unlike)))

    def _look_up_examples(self) -> Examples:
        """Return rows of like and unlike examples, without rows in both, and the examples that do not exist."""
        rows_by_condition = {
            condition: _find_rows(self.collection, condition.value) for condition in dict.fromkeys(self.query.likes)
        }
        like, unlike = (
            tuple(
                dict.fromkeys(
                    row for condition, rows in rows_by_condition.items() if condition.exclude is side for row in rows
                )
            )
            for side in (False, True)
        )
        conflicts = set(like) & set(unlike)
        missing = tuple(condition.value for condition, rows in rows_by_condition.items() if not rows)
        return Examples(
            tuple(row for row in like if row not in conflicts),
            tuple(row for row in unlike if row not in conflicts),
            missing,
        )

    @property
    def has_examples(self) -> bool:
        """Whether the search has example documents."""
        return bool(self.examples.like or self.examples.unlike)

    @cached_property
    def tokens(self) -> dict[Term, tuple[str, ...]]:
        """Tokens of each term that is not excluded."""
        tokenizer = self.collection.words.tokenizer
        return {term: tuple(tokenizer(term.words)) for term in self.query.terms if not term.exclude}

    @cached_property
    def _word_ranking(self) -> Ranking:
        """Ranking of the matches by their words; all are equal if the index of words is damaged."""
        scores = np.zeros(len(self.collection))
        try:
            tokens, prefixes = list[str](), list[list[str]]()
            for term in self.query.wanted_terms:
                words, forms = self._expand_prefix(term)
                tokens += words
                prefixes += [forms] if forms else []
            if (tokens or prefixes) and self.conditions is not None:
                rows = np.flatnonzero(self.conditions)
                scores[rows] = self._score_words(tokens, prefixes, rows)
        except DamagedError:
            self.trouble = DAMAGED_INDEX
        return Ranking(scores)

    def _expand_prefix(self, term: Term) -> tuple[tuple[str, ...], list[str]]:
        """Return the whole words of a term, and the frequent forms that its last word begins if it is a prefix."""
        parts = re.findall(r"\w+", term.words)
        if not term.prefix or not parts or has_unspaced(term.words):
            return self.tokens[term], []
        words = tuple(self.collection.words.tokenizer(" ".join(parts[:-1])))
        return words, list_prefix_forms(self.collection.generation.database, parts[-1], MAX_FORMS)

    def _score_words(self, tokens: Sequence[str], prefixes: Sequence[Sequence[str]], rows: Array) -> Floats:
        """Return BM25 of some documents; the forms of a prefix count as one word."""
        scores, index = np.zeros(len(rows)), self.collection.words
        if tokens:
            share = len(tokens) / (len(tokens) + len(prefixes))
            scores += share * WordScorer(index, tokens, lambda rows: []).score_rows(rows)
        for forms in prefixes:
            scores += score_forms(index, forms, rows) / (len(tokens) + len(prefixes))
        return scores

    @cached_property
    def scorer(self) -> Scorer:
        """Scorer of the query and of the examples, unless words alone decide."""
        like, unlike, _ = self.examples
        if like and not self.query.meaning_text:
            return score_examples(self.collection, like, unlike)
        words = self.default or KernelScorer(self.collection.index, self.query.meaning_text, self.by)
        if not like and not unlike:
            return words
        return ExampleScorer(
            words, *(score_examples(self.collection, side) if side else None for side in (like, unlike))
        )

    @cached_property
    def default(self) -> DefaultScorer | None:
        """Default scorer; None for another way of search, or if no scorer knows anything of the query."""
        if self.by != DEFAULT_METHOD or self.by_words or not self.query.meaning_text:
            return None
        try:
            tokens = [token for term in self.query.wanted_terms for token in self.tokens[term]]
            scorer = DefaultScorer(self.collection, self.query.meaning_text, tokens)
        except DamagedError:  # or of a state that was deleted
            self.trouble = DAMAGED_INDEX
            return None
        return None if scorer.is_empty else scorer

    @cached_property
    def required(self) -> tuple[Term, ...]:
        """Terms that each hit must have: phrases, prefixes and alternatives, or by words alone all terms.

        By default short words of a script without spaces are required too, if some document has all required terms.
        """
        if self.default is None:
            return self.query.wanted_terms if self._only_words else self.query.signed
        required, signed = self.query.required, self.query.signed
        return required if len(required) == len(signed) or self._index.has_match(Query(required)) else signed

    @property
    def ranks_all_documents(self) -> bool:
        """Whether every document is a hit to some degree; otherwise only matches are hits."""
        return self._is_nearest and not self.required

    @property
    def _is_nearest(self) -> bool:
        """Whether hits are the nearest documents, by meaning or to examples, without an edge."""
        return not self._only_words and (self.default is None or self.has_examples)

    def _match(self, left: Array) -> Match:
        """Return the documents of the mask ``left`` that match the words, and the words that were not required.

        If terms are required and no document of the mask has any other word, all of the mask match.
        """
        terms = [term for term in self.query.wanted_terms if term not in self.required]
        if self.default is None or self.has_examples or not terms:
            return Match(left)
        match = self.default.match([token for term in terms for token in self.tokens[term]], left)
        documents = match.documents & left
        complete = None if match.complete is None else match.complete & left
        return Match(left if self.required and not documents.any() else documents, match.missing, complete)

    @cached_property
    def _only_words(self) -> bool:
        """Whether only the full text can answer, because the other indexes know no word of the query."""
        return self.by_words or (
            self.by == DEFAULT_METHOD and self.default is None and not self.query.likes and not self.has_examples
        )

    @cached_property
    def conditions(self) -> Array | None:
        """Mask of the documents that meet all filters but topics, and have what is required; None for all."""
        others = [item for item in self.query.filters if item.kind not in ("topic", LIKE_FILTER)]
        excluded = [term for term in self.query.terms if term.exclude]
        rows, number = self.examples.rows, len(self.collection)
        if not self.query and self._only_words:
            return np.zeros(number, bool)
        if not others and not excluded and not self.required and not rows:
            return None
        rest = Query((*others, *self.required, *excluded))
        mask: Array = self._index.mask_matches(rest, number) if rest else np.ones(number, bool)
        mask[rows] = False
        return mask

    def page(
        self,
        n: int = 10,
        offset: int = 0,
        *,
        topic: str | int | None = None,
        why: bool = False,
        related: int | None = None,
    ) -> SearchResult:
        """Return the ``n`` hits after the ``offset`` best; with ``why``, explanations of hits by meaning.

        Matches come before related documents. ``related`` documents are added to the page with the last match; by
        default they fill a page of ``n``.
        """
        result = replace(self._make_page(n, offset, topic, why, related), read_as=self.query.read_as)
        if not result.total and not result.hits and not result.without:
            result = replace(result, widened=self._widen(topic))
        return replace(result, remarks=self.remarks)

    def _widen(self, topic: str | int | None) -> str:
        """Return the query without quotes, stars and OR, if that finds something."""
        other = self.query.widened
        return str(other) if other.items != self.query.items and self._has_matches(topic, other) else ""

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Notes on parts of the query that were not understood, and on documents without a date."""
        dates = [item for item in self.query.filters if item.kind in (*SIDES, "date") and not item.column]
        has_dates = any(item.value.casefold() != NO_VALUE for item in dates)
        undated_note = describe_undated(self.collection.generation.database) if has_dates else ""
        return (*self.query.notes, *([undated_note] if undated_note else []), *self._example_remarks)

    @property
    def _example_remarks(self) -> Iterator[str]:
        """Yield remarks on missing examples and on examples that are both like and unlike."""
        like, unlike, missing = self.examples
        if missing:
            yield f"No document is called {', '.join(map(repr, missing[:MAX_SPELLED]))}: its like filter is ignored."
        named_rows = {row for condition in self.query.likes for row in _find_rows(self.collection, condition.value)}
        if not named_rows.issubset((*like, *unlike)):
            yield "A document in both like: and -like: is ignored."

    def _make_page(self, n: int, offset: int, topic: str | int | None, why: bool, related: int | None) -> SearchResult:
        """Return one page of hits, filled up with related documents, and its remarks."""
        if self._is_nearest and self.scorer.is_empty:
            return self._explain_nearest(SearchResult((), 0), topic)
        division = self._divide(topic)
        hits = self._make_hits(division.listed, n, offset, why, rank_all=not self._is_nearest)
        if self._is_nearest:
            is_exact = self.collection.index.shortlist is None
            n_folded = division.n_matching - division.n_listed if is_exact else 0  # unknown of unscored documents
            total = self._rank(division.listed).count(division.listed) + n_folded
            return self._explain_nearest(SearchResult(hits, total, is_exact, folded=n_folded), topic)
        start = max(0, offset - division.n_listed)
        room = min(n - len(hits) if related is None else related, MAX_RELATED - start)
        if self.default is not None and offset + n >= division.n_listed and room > 0:
            others = self._make_hits(division.others, room, start, why)
            hits = (*hits, *(replace(hit, related=True) for hit in others))
        n_folded = division.n_matching - division.n_listed
        result = SearchResult(hits, division.n_matching, folded=n_folded)
        return self._explain_matches(result, division, topic)

    def _make_hits(self, mask: Array, n: int, offset: int, why: bool, *, rank_all: bool = False) -> tuple[Hit, ...]:
        """Return ``n`` ranked documents of a mask from ``offset`` on as hits, with the words marked.

        The nearest without words begin with their text.
        """
        ranking = self._rank(mask)
        rows, scores = (values.tolist() for values in ranking.slice(n, offset, mask, rank_all=rank_all))
        reasons = self.scorer.explain_rows(rows, ranking) if why and not self._only_words else None
        has_words = bool(self.query.meaning_text) and (self.has_examples or not self._is_nearest)
        snippets = self._snippets(rows) if has_words else None
        return list_hits(self.collection, rows, snippets, scores=scores, reasons=reasons)

    def _rank(self, mask: Array | None) -> Ranking:
        return self._word_ranking if self._only_words else self.scorer.rank(mask)

    def rows(self, topic: str | int | None = None) -> Array:
        """Return all documents that match: by words in their order, by meaning the best first."""
        if self._is_nearest:
            return self._rank_rows(self.near if self.ranks_all_documents else len(self.collection), self._left(topic))
        mask = self._divide(topic).matching
        return np.flatnonzero(mask) if self._only_words else self._rank(mask).sort(mask)

    def best_rows(self, n: int) -> Array:
        """Return the ``n`` documents with the best scores; by words only matches."""
        if self._only_words:
            return self._word_ranking.sort(self._divide(None).matching)[:n]
        return self._rank_rows(n, self._left(None))

    def _rank_rows(self, n: int, mask: Array | None) -> Array:
        return np.zeros(0, np.int64) if self.scorer.is_empty else self.scorer.rank(mask).slice(n, 0, mask)[0]

    def under(self, topic: str | int | None) -> Array | None:
        """Return the mask of documents under the topics of the query and under this topic; None for all."""
        if topic not in self._under:
            self._under[topic] = _mask_topics(self.collection, self.query, topic)
        return self._under[topic]

    @property
    def _index(self) -> Index:
        return Index(self.collection.generation.database)

    def _suggest(self, word: str) -> Sequence[str]:
        """Return near spellings; none if the index of all words is damaged."""
        try:
            return self.collection.words.suggest(word)
        except DamagedError:
            return []

    def _left(self, topic: str | int | None) -> Array | None:
        """Return the mask of the documents that the filters and the topic leave; None for all."""
        under, conditions = self.under(topic), self.conditions
        return under if conditions is None else conditions if under is None else under & conditions

    def _first_copies(self, *masks: Array) -> Bools:
        """Return the mask of the first document among its copies, where earlier masks go before later ones."""
        rows = np.concatenate([np.flatnonzero(mask) for mask in masks])
        first_copies = np.zeros(len(masks[0]), bool)
        first_copies[rows[fold_copies(self.collection.copies, rows, len(first_copies))]] = True
        return first_copies

    def _divide(self, topic: str | int | None) -> _Division:
        """Return the masks of matching and of other documents that meet the filters and are below ``topic``."""
        if topic not in self._divisions:
            allowed = self._left(topic)
            left = np.ones(len(self.collection), bool) if allowed is None else allowed
            match = self._match(left)
            matching = match.documents
            others = left & ~matching
            matches_listed, others_listed = matching, others
            if len(self.collection.copies):
                first_copies = self._first_copies(matching, others)
                matches_listed, others_listed = matching & first_copies, others & first_copies
            n_complete = int((matching if match.complete is None else match.complete).sum())
            self._divisions[topic] = _Division(
                matching, matches_listed, others_listed, int(matching.sum()), int(matches_listed.sum()), n_complete,
                match.missing,
            )  # fmt: skip
        return self._divisions[topic]

    def _explain_matches(self, result: SearchResult, division: _Division, topic: str | int | None) -> SearchResult:
        """Return the result with remarks on unknown, missing and few words."""
        if self.default is None:
            remark = Remark(self.trouble)
            if not self.trouble and result.total < FEW_MATCHES and (self.query.terms or not result.total):
                finds = partial(self._has_matches, topic)
                remark = explain_few_matches(self._index, self.query, result.total, finds, self._suggest)
            return replace(result, **vars(remark))
        exact = {token for term in self.required for token in self.tokens[term]}
        unknown = tuple(word for word in self.default.words.unknown if word not in exact)
        spellings = {word: self._suggest(word) for word in unknown[:MAX_SPELLED]}
        remark = describe_unknown_words(self.query, unknown, spellings)
        if not result.total:
            remark = self._explain_no_match(topic) or remark
        limited = topic is not None or bool(self.query.filters) or any(term.exclude for term in self.query.terms)
        return replace(
            result, **vars(remark), all_words=0 if unknown or division.missing else division.n_complete,
            not_required=(*unknown, *division.missing), limited=limited,
        )  # fmt: skip

    def _snippets(self, rows: Sequence[int]) -> list[Any]:
        texts = (document.text for document in self.collection.documents.load_many(rows))
        return [build_snippet(text, self.mark(text[:MAX_CHARACTERS])) for text in texts]

    def _explain_nearest(self, result: SearchResult, topic: str | int | None) -> SearchResult:
        """Return the result with remarks on unknown words, examples and filters."""
        scorer, text = self.scorer, self.query.meaning_text
        if self.has_examples:
            texts = not text and all(isinstance(example, str) for example in self.examples.like)
            if not self.examples.like and not text:
                message = "The query has only -like: filters. Add words, or like: and a document."
                result = replace(result, message=message)
            elif scorer.is_empty and texts:
                result = replace(result, message="None of its words is known in this collection.")
        elif isinstance(scorer, KernelScorer):
            remark = describe_uncounted_words(self.query, scorer.counts.unknown, scorer.near_spellings)
            is_wordless = scorer.is_empty and not remark.message
            result = replace(result, **vars(replace(remark, message=NO_WORDS) if is_wordless else remark))
        if not result.hits if self.has_examples else self.required and not result.total:
            no_match = self._explain_no_match(topic)
            return result if no_match is None else replace(result, **vars(no_match))
        return result

    def _explain_no_match(self, topic: str | int | None) -> Remark | None:
        """Return a remark on why no document meets the filters or has what is required."""
        finds = partial(self._has_matches, topic)
        if self.required and not self._index.has_match(Query(self.required)):
            remark = explain_few_matches(self._index, Query(self.required), 0, finds, self._suggest)
            useful = (
                suggestion for suggestion in remark.suggestions if finds(parse(suggestion, self.collection.fields))
            )
            return replace(remark, suggestions=tuple(useful))
        return find_excess_filter(self._index, self.query, finds)

    def _has_matches(self, topic: str | int | None, query: Query) -> bool:
        """Return whether another query matches any document below ``topic``, ranked in the same way."""
        search = Search(self.collection, query, self.by)
        mask = search._divide(topic).listed
        if search._is_nearest:
            return not search.scorer.is_empty and search._rank(mask).count(mask) > 0
        return bool(mask.any())

    def mark(self, text: str) -> list[Span]:
        """Return the spans of the words of the query in a text: by default in all forms, otherwise as typed."""
        if self.default is None:
            return find_spans(text, self.query)
        words = self.default.words
        spans = find_form_spans(text, {term.stem for term in words.terms}, words.index.keys)
        return merge_spans([*spans, *find_spans(text, Query(self.required))])


def _find_rows(collection: Collection, id: str) -> list[int]:
    """Return the rows of a document, or of its passages; empty without such a document."""
    parent = None if id in collection.documents else find_parent(collection, id)
    if parent is not None:
        return list(parent.rows)
    return [collection.documents.row_of(id)] if id in collection.documents else []


def _mask_topics(collection: Collection, query: Query, topic: str | int | None) -> Array | None:
    """Return the mask of documents under the topics of a query and under another; None for all."""
    topics = (*query.topics, *([] if topic is None else [Filter("topic", str(topic))]))
    if not topics:
        return None
    allowed = np.ones(len(collection), bool)
    for condition in topics:
        if collection.outline.is_unsorted(condition.value):
            mask = collection.hard_to_place
        else:
            mask = collection.shares_under(collection.topic(condition.value)) >= MIN_CERTAINTY
        allowed &= ~mask if condition.exclude else mask
    return allowed
