"""A collection as the models see it: counts, the words of their columns, what is known of each document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from topiarist.arrays import ArrayLike, Csr, Matrix
from topiarist.cards import card
from topiarist.counts.counting import Minima, count, count_in
from topiarist.counts.pruning import vocabulary_of
from topiarist.counts.room import runs
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts, grand_total, token_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.text.documents import Document, as_documents
from topiarist.text.passages import is_passage, part_of, whole_title
from topiarist.text.repeated import Repeated, without
from topiarist.text.titles import is_own

T = TypeVar("T")
LOOKED_UP = 2_000  # documents of which something is looked up together


@dataclass(frozen=True)
class ByRow(Sequence[T]):
    """Something known of each of so many documents that is looked up when it is asked for; of ids: all different."""

    number: int
    of: Callable[[Sequence[int]], Sequence[T]]  # what is known of some rows

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return tuple(self.of(range(*row.indices(self.number))))
        if not -self.number <= row < self.number:
            raise IndexError(row)
        return self.of([int(row) % self.number])[0]

    def __iter__(self) -> Iterator[T]:
        for here in runs(self.number, LOOKED_UP):
            yield from self.of(range(here.start, here.stop))

    def picked(self, rows: Sequence[int]) -> ByRow[T]:
        """The same of some documents."""
        places = np.asarray(rows, np.int64)
        return ByRow(len(places), lambda some: self.of(places[np.asarray(some, np.int64)].tolist()))

    @classmethod
    def numbers(cls, number: int) -> ByRow[str]:
        """Ids of documents that are told apart by their rows."""
        return ByRow(number, lambda rows: [str(row) for row in rows])


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents × words, and what is known of the documents. Made by ``Corpus.from_documents`` as a rule.

    Fields that describe documents hold one entry for each, or are empty (``texts``: None) when nothing is
    known; the labels of a document that has only one may be a string. ``settings`` say how the counts were made,
    so that new texts can be counted in the same way; ``vectorizer`` is the scikit-learn vectorizer that made them
    instead, if one did.
    """

    ids: Sequence[str]
    counts: Csr
    vocabulary: Vocabulary
    titles: Sequence[str] = ()
    texts: Sequence[str] | None = field(default=None, repr=False)
    labels: Sequence[tuple[str, ...]] = ()
    sources: Sequence[str] = ()
    dates: Sequence[str] = ()
    settings: CountSettings = field(default_factory=CountSettings)
    vectorizer: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        counts = check_counts(self.counts, name="counts")
        object.__setattr__(self, "counts", counts)
        for name in ("ids", "titles", "labels", "sources", "dates"):
            values = getattr(self, name)
            if isinstance(values, str):
                raise InputError(f"expected {name}, one per document, got a single string", hint=f"[{values!r}]")
            if not isinstance(values, ByRow):
                object.__setattr__(self, name, tuple(map(_labels, values) if name == "labels" else values))
        n_docs, n_words = counts.shape
        if n_words != len(self.vocabulary):
            raise InputError(f"expected counts with {len(self.vocabulary)} columns (words), got {n_words}")
        if len(self.ids) != n_docs:
            raise InputError(f"expected {n_docs} ids, one per row of the counts, got {len(self.ids)}")
        for name in ("titles", "texts", "labels", "sources", "dates"):
            values = getattr(self, name)
            given = values is not None and (name == "texts" or len(values) > 0)
            if given and len(values) != n_docs:
                raise InputError(f"expected {n_docs} {name}, one per document, or none; got {len(values)}")
        if not isinstance(self.ids, ByRow) and len(set(self.ids)) < n_docs:
            twice, times = Counter(self.ids).most_common(1)[0]
            raise InputError(
                f"expected a different id for each document, got {twice!r} {times} times",
                hint="number the documents",
            )

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document | str],
        settings: CountSettings | None = None,
        *,
        vectorizer: Vectorizer | None = None,
        keep_texts: bool = True,
        n_jobs: int | None = 1,
        minima: Minima | None = None,
    ) -> Corpus:
        """Return the corpus of documents or texts, which may come from a generator.

        ``keep_texts=False`` lets each text go as soon as it is counted. ``vectorizer``: a scikit-learn
        vectorizer to count with instead (fitted, or to be fitted here); it needs all texts at once. ``minima``: a list
        that is given what tells copies of the texts (see ``copies``).
        """
        settings = settings or CountSettings()
        records = _Records(keep_texts)
        texts = records.passing(as_documents(documents), titles=settings.titles)
        if vectorizer is None:
            counts, vocabulary = count(texts, settings, n_jobs=n_jobs, minima=minima)
        else:
            counts = count_with(vectorizer, texts)
            vocabulary = vocabulary_with(vectorizer, counts)
        known = {name: tuple(values) for name, values in records.fields.items() if any(values)}
        return cls(
            tuple(records.ids),
            counts,
            vocabulary,
            texts=records.texts,
            settings=settings,
            vectorizer=vectorizer,
            **known,
        )

    @classmethod
    def from_texts(cls, texts: Iterable[str], settings: CountSettings | None = None, **more: Any) -> Corpus:
        """Return the corpus of texts: a list, a series, anything that holds strings; see ``from_documents``."""
        if isinstance(texts, str):
            raise InputError("expected several texts, got a single string", hint="[text]")
        return cls.from_documents(texts, settings, **more)

    def __repr__(self) -> str:
        return f"<Corpus of {self.n_docs:,} documents, {self.n_words:,} words, {self.n_tokens:,} tokens>"

    def _repr_html_(self) -> str:
        often = np.argsort(-np.asarray(self.counts.sum(axis=0)).ravel(), kind="stable")[:8]
        facts = {"documents": self.n_docs, "words": self.n_words, "tokens": self.n_tokens, "empty": self.n_empty}
        said = ", ".join(self.vocabulary.words[column] for column in often.tolist())
        return card("Corpus", facts, note=f"most frequent: {said}" if said else "")

    @property
    def n_docs(self) -> int:
        """Return the number of documents."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Return the number of different words."""
        return int(self.counts.shape[1])

    @property
    def n_tokens(self) -> int:
        """Return the number of counted tokens."""
        return round(grand_total(self.counts))

    @property
    def n_empty(self) -> int:
        """Return the number of documents without a counted word. They are kept, as rows of zeros."""
        return int((np.diff(self.counts.indptr) == 0).sum())

    def lengths(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the number of counted tokens of each document."""
        return token_counts(self.counts)

    def summary(self) -> str:
        """Return one sentence about the size of the collection."""
        sentence = f"{self.n_docs:,} documents, {self.n_words:,} different words, {self.n_tokens:,} tokens"
        return sentence + (f"; {self.n_empty:,} documents hold none of the words" if self.n_empty else "")

    def subset(self, rows: ArrayLike) -> Corpus:
        """Return the corpus of some documents: a mask, or row numbers in the wanted order.

        The vocabulary stays as it is, with the frequencies of the whole collection.
        """
        chosen = np.asarray(rows)
        if chosen.dtype == np.bool_ and chosen.shape != (self.n_docs,):
            raise InputError(f"expected a mask of {self.n_docs} documents, got shape {chosen.shape}")
        numbers = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        if numbers.size and not (-self.n_docs <= numbers.min() and numbers.max() < self.n_docs):
            raise InputError(f"expected row numbers below {self.n_docs}, got {numbers.min()}…{numbers.max()}")
        if numbers.size == 0:
            raise InputError("expected at least one document in a subset, got none")
        pick = numbers.tolist()
        described = ("ids", "titles", "labels", "sources", "dates")
        parts: dict[str, Any] = {name: _picked(getattr(self, name), pick) for name in described}
        texts = None if self.texts is None else [self.texts[row] for row in pick]
        return replace(self, counts=self.counts[numbers], texts=texts, **parts)

    def vectorise(self, texts: Iterable[str | Document], *, n_jobs: int | None = 1) -> Csr:
        """Return the counts of new texts (or documents) over this vocabulary, counted as this corpus was.

        Of the documents the corpus was made from, the counts are its own.
        """
        titles = self.settings.titles
        plain = (text if isinstance(text, str) else text_of(text, titles) for text in _each(texts))
        if self.vectorizer is not None:
            return count_with(self.vectorizer, plain)
        return check_counts(count_in(plain, self.vocabulary, self.settings, n_jobs=n_jobs), name="counts", min_docs=0)


def text_of(document: Document, titles: bool = True, repeated: Repeated | None = None) -> str:
    """Return the text of a document to be counted: after its title, unless it begins with that anyway.

    Lines that many documents share, if they are known, are left out.
    """
    text = without(document.text, repeated.forms) if repeated is not None and repeated.lines else document.text
    if not titles:
        return text
    if is_passage(document):  # the title of the whole is counted once, with its beginning
        part = part_of(document.id)
        if part is None or part.first > 1 or part.within > 1:
            return text
        document = replace(document, title=whole_title(document.title, part))
    if not is_own(document if text is document.text else replace(document, text=text)):
        return text
    return f"{document.title}\n{text}"


def _each(texts: Iterable[str | Document]) -> Iterable[str | Document]:
    """Return the texts; a single text in their place is a mistake."""
    if isinstance(texts, str | Document):
        raise InputError("expected an iterable of texts, got a single one", hint="[text]")
    return texts


def _labels(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the labels of one document; a string is one label, and an empty one none."""
    if isinstance(given, str):
        return (given,) if given else ()
    return tuple(given)


def _picked(values: Sequence[Any], rows: Sequence[int]) -> Sequence[Any]:
    """Return the values of some rows; nothing when nothing is known."""
    if isinstance(values, ByRow):
        return values.picked(rows)
    return tuple(values[row] for row in rows) if values else ()


class _Records:
    """Takes note of documents while their texts pass by on the way to the counter."""

    def __init__(self, keep_texts: bool) -> None:
        self.ids: list[str] = []
        self.texts: list[str] | None = [] if keep_texts else None
        self.fields: dict[str, list[Any]] = {"titles": [], "labels": [], "sources": [], "dates": []}

    def passing(self, documents: Iterable[Document], titles: bool) -> Iterator[str]:
        """Yield the text of each document, having noted the rest of it."""
        notes: tuple[tuple[list[Any], Callable[[Document], Any]], ...] = (
            (self.ids, lambda document: document.id),
            (self.fields["titles"], lambda document: document.title),
            (self.fields["labels"], lambda document: document.labels),
            (self.fields["sources"], lambda document: document.source),
            (self.fields["dates"], lambda document: document.date),
        )
        for document in documents:
            for noted, part in notes:
                noted.append(part(document))
            if self.texts is not None:
                self.texts.append(document.text)
            yield text_of(document, titles)


class Vectorizer(Protocol):
    """A text vectorizer of scikit-learn, or one like it."""

    fit_transform: Callable[[list[str]], Matrix]
    transform: Callable[[list[str]], Matrix]
    get_feature_names_out: Callable[[], Iterable[object]]


def count_with(vectorizer: Vectorizer, texts: Iterable[str]) -> Csr:
    """Return the counts of texts by a scikit-learn vectorizer, which is fitted to them if it is not yet."""
    if not hasattr(vectorizer, "transform") or not hasattr(vectorizer, "get_feature_names_out"):
        raise UsageError(
            f"expected a fitted or unfitted text vectorizer, got {type(vectorizer).__name__}",
            hint="CountVectorizer or TfidfVectorizer of scikit-learn",
        )
    from sklearn.exceptions import NotFittedError

    kept = list(texts)
    try:
        vectorizer.get_feature_names_out()
    except NotFittedError:
        return check_counts(vectorizer.fit_transform(kept), name="counts")
    return check_counts(vectorizer.transform(kept), name="counts")


def vocabulary_with(vectorizer: Vectorizer, counts: Csr) -> Vocabulary:
    """Return the vocabulary of counts made by a scikit-learn vectorizer."""
    words = tuple(map(str, vectorizer.get_feature_names_out()))
    if len(words) != counts.shape[1]:
        raise InputError(f"expected {counts.shape[1]} words from the vectorizer, got {len(words)}")
    return vocabulary_of(counts, words)
