"""Corpus: counts, vocabulary and metadata of documents, as models use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from topiarist.arrays import ArrayLike, Csr, Matrix
from topiarist.cards import render_card
from topiarist.counts.counting import SignatureSink, count, count_in
from topiarist.counts.pruning import build_vocabulary
from topiarist.counts.scratch import split_range
from topiarist.counts.settings import CountSettings
from topiarist.counts.validation import check_counts, count_all_tokens, count_tokens
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError
from topiarist.text.documents import Document, as_documents
from topiarist.text.passages import get_parent_title, is_passage, parse_part
from topiarist.text.repeated import Repeated, without
from topiarist.text.titles import has_own_title

T = TypeVar("T")
ROWS_PER_LOOKUP = 2_000  # documents that are looked up together


@dataclass(frozen=True)
class LookupSequence(Sequence[T]):
    """Sequence with one value per document that is looked up on access; as ids, the values must differ."""

    number: int
    of: Callable[[Sequence[int]], Sequence[T]]  # values of rows

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return tuple(self.of(range(*row.indices(self.number))))
        if not -self.number <= row < self.number:
            raise IndexError(row)
        return self.of([int(row) % self.number])[0]

    def __iter__(self) -> Iterator[T]:
        for span in split_range(self.number, ROWS_PER_LOOKUP):
            yield from self.of(range(span.start, span.stop))

    def select(self, rows: Sequence[int]) -> LookupSequence[T]:
        """Return the sequence of the values of ``rows``."""
        places = np.asarray(rows, np.int64)
        return LookupSequence(len(places), lambda subset: self.of(places[np.asarray(subset, np.int64)].tolist()))

    @classmethod
    def numbers(cls, number: int) -> LookupSequence[str]:
        """Return row numbers as the ids of documents."""
        return LookupSequence(number, lambda rows: [str(row) for row in rows])


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Counts of documents × words with metadata of the documents, usually made by ``Corpus.from_documents``.

    Metadata fields have one entry per document, or are empty (``texts``: None). A document with a single label may
    give it as a string. ``settings`` are those of the counts, for counting new texts. ``vectorizer`` is the
    scikit-learn vectorizer that computed the counts, if any.
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
                raise InputError(f"expected {name}, one per document, got a single string", hint=f"Pass [{values!r}].")
            if not isinstance(values, LookupSequence):
                object.__setattr__(self, name, tuple(map(_to_labels, values) if name == "labels" else values))
        n_docs, n_words = counts.shape
        if n_words != len(self.vocabulary):
            raise InputError(f"expected counts with {len(self.vocabulary)} columns (words), got {n_words}")
        if len(self.ids) != n_docs:
            raise InputError(f"expected {n_docs} ids, one per row of the counts, got {len(self.ids)}")
        for name in ("titles", "texts", "labels", "sources", "dates"):
            values = getattr(self, name)
            has_values = values is not None and (name == "texts" or len(values) > 0)
            if has_values and len(values) != n_docs:
                raise InputError(f"expected {n_docs} {name}, one per document, or none; got {len(values)}")
        if not isinstance(self.ids, LookupSequence) and len(set(self.ids)) < n_docs:
            repeated_id, times = Counter(self.ids).most_common(1)[0]
            raise InputError(
                f"expected a different id for each document, got {repeated_id!r} {times} times",
                hint="Number the documents.",
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
        minima: SignatureSink | None = None,
    ) -> Corpus:
        """Return the corpus of documents or texts from any iterable.

        ``keep_texts=False`` frees each text after it is counted. ``vectorizer`` is a fitted or unfitted scikit-learn
        vectorizer to count with, which needs all texts in memory. ``minima`` is a list or file that receives the
        signatures of the texts (see ``duplicates``).
        """
        settings = settings or CountSettings()
        records = _Records(keep_texts)
        texts = records.iterate(as_documents(documents), titles=settings.titles)
        if vectorizer is None:
            counts, vocabulary = count(texts, settings, n_jobs=n_jobs, minima=minima)
        else:
            counts = count_with_vectorizer(vectorizer, texts)
            vocabulary = read_vocabulary(vectorizer, counts)
        fields = {name: tuple(values) for name, values in records.fields.items() if any(values)}
        return cls(
            tuple(records.ids),
            counts,
            vocabulary,
            texts=records.texts,
            settings=settings,
            vectorizer=vectorizer,
            **fields,
        )

    @classmethod
    def from_texts(cls, texts: Iterable[str], settings: CountSettings | None = None, **options: Any) -> Corpus:
        """Return the corpus of an iterable of strings, such as a list or series; see ``from_documents``."""
        if isinstance(texts, str):
            raise InputError("expected several texts, got a single string", hint="Pass [text].")
        return cls.from_documents(texts, settings, **options)

    def __repr__(self) -> str:
        return f"<Corpus of {self.n_docs:,} documents, {self.n_words:,} words, {self.n_tokens:,} tokens>"

    def _repr_html_(self) -> str:
        frequent_columns = np.argsort(-np.asarray(self.counts.sum(axis=0)).ravel(), kind="stable")[:8]
        facts = {"documents": self.n_docs, "words": self.n_words, "tokens": self.n_tokens, "empty": self.n_empty}
        word_list = ", ".join(self.vocabulary.words[column] for column in frequent_columns.tolist())
        return render_card("Corpus", facts, note=f"most frequent: {word_list}" if word_list else "")

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
        return round(count_all_tokens(self.counts))

    @property
    def n_empty(self) -> int:
        """Return the number of documents without a counted word; their rows are zero."""
        return int((np.diff(self.counts.indptr) == 0).sum())

    def lengths(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the number of counted tokens of each document."""
        return count_tokens(self.counts)

    def summary(self) -> str:
        """Return one sentence about the size of the collection."""
        sentence = f"{self.n_docs:,} documents, {self.n_words:,} different words, {self.n_tokens:,} tokens"
        return sentence + (f"; {self.n_empty:,} documents hold none of the words" if self.n_empty else "")

    def subset(self, rows: ArrayLike) -> Corpus:
        """Return the corpus of the documents in a mask, or in an array of row numbers in any order.

        The vocabulary and its frequencies do not change.
        """
        selection = np.asarray(rows)
        if selection.dtype == np.bool_ and selection.shape != (self.n_docs,):
            raise InputError(f"expected a mask of {self.n_docs} documents, got shape {selection.shape}")
        numbers = np.flatnonzero(selection) if selection.dtype == np.bool_ else selection.astype(np.int64)
        if numbers.size and not (-self.n_docs <= numbers.min() and numbers.max() < self.n_docs):
            raise InputError(f"expected row numbers below {self.n_docs}, got {numbers.min()}…{numbers.max()}")
        if numbers.size == 0:
            raise InputError("expected at least one document in a subset, got none")
        pick = numbers.tolist()
        names = ("ids", "titles", "labels", "sources", "dates")
        parts: dict[str, Any] = {name: _select_rows(getattr(self, name), pick) for name in names}
        texts = None if self.texts is None else [self.texts[row] for row in pick]
        return replace(self, counts=self.counts[numbers], texts=texts, **parts)

    def vectorise(self, texts: Iterable[str | Document], *, n_jobs: int | None = 1) -> Csr:
        """Return the counts of new texts or documents over this vocabulary, counted with the settings of this corpus.

        For the documents of the corpus, these are its own counts.
        """
        titles = self.settings.titles
        plain = (text if isinstance(text, str) else build_counted_text(text, titles) for text in _check_texts(texts))
        if self.vectorizer is not None:
            return count_with_vectorizer(self.vectorizer, plain)
        return check_counts(count_in(plain, self.vocabulary, self.settings, n_jobs=n_jobs), name="counts", min_docs=0)


def build_counted_text(document: Document, titles: bool = True, repeated: Repeated | None = None) -> str:
    """Return the text of a document for counting: its title, unless the text begins with it, and its text.

    Repeated lines are removed.
    """
    text = without(document.text, repeated.forms) if repeated is not None and repeated.lines else document.text
    if not titles:
        return text
    if is_passage(document):  # the title of the parent document counts once, with its first passage
        part = parse_part(document.id)
        if part is None or part.first > 1 or part.inner > 1:
            return text
        document = replace(document, title=get_parent_title(document.title, part))
    if not has_own_title(document if text is document.text else replace(document, text=text)):
        return text
    return f"{document.title}\n{text}"


def _check_texts(texts: Iterable[str | Document]) -> Iterable[str | Document]:
    if isinstance(texts, str | Document):
        raise InputError("expected an iterable of texts, got a single one", hint="Pass [text].")
    return texts


def _to_labels(labels: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(labels, str):
        return (labels,) if labels else ()
    return tuple(labels)


def _select_rows(values: Sequence[Any], rows: Sequence[int]) -> Sequence[Any]:
    if isinstance(values, LookupSequence):
        return values.select(rows)
    return tuple(values[row] for row in rows) if values else ()


class _Records:
    """Recorder of metadata of documents while their texts are counted."""

    def __init__(self, keep_texts: bool) -> None:
        self.ids: list[str] = []
        self.texts: list[str] | None = [] if keep_texts else None
        self.fields: dict[str, list[Any]] = {"titles": [], "labels": [], "sources": [], "dates": []}

    def iterate(self, documents: Iterable[Document], titles: bool) -> Iterator[str]:
        """Record the ids, titles and dates of documents; yield the text of each."""
        for document in documents:
            self.ids.append(document.id)
            for name, values in self.fields.items():
                values.append(getattr(document, name if name == "labels" else name.removesuffix("s")))
            if self.texts is not None:
                self.texts.append(document.text)
            yield build_counted_text(document, titles)


class Vectorizer(Protocol):
    """Text vectorizer with the methods of scikit-learn."""

    fit_transform: Callable[[list[str]], Matrix]
    transform: Callable[[list[str]], Matrix]
    get_feature_names_out: Callable[[], Iterable[object]]


def count_with_vectorizer(vectorizer: Vectorizer, texts: Iterable[str]) -> Csr:
    """Return the counts of texts by a scikit-learn vectorizer; fit it first if necessary."""
    if not hasattr(vectorizer, "transform") or not hasattr(vectorizer, "get_feature_names_out"):
        raise UsageError(
            f"expected a fitted or unfitted text vectorizer, got {type(vectorizer).__name__}",
            hint="Use CountVectorizer or TfidfVectorizer of scikit-learn.",
        )
    from sklearn.exceptions import NotFittedError

    text_list = list(texts)
    try:
        vectorizer.get_feature_names_out()
    except NotFittedError:
        return check_counts(vectorizer.fit_transform(text_list), name="counts")
    return check_counts(vectorizer.transform(text_list), name="counts")


def read_vocabulary(vectorizer: Vectorizer, counts: Csr) -> Vocabulary:
    """Return the vocabulary of counts made by a scikit-learn vectorizer."""
    words = tuple(map(str, vectorizer.get_feature_names_out()))
    if len(words) != counts.shape[1]:
        raise InputError(f"expected {counts.shape[1]} words from the vectorizer, got {len(words)}")
    return build_vocabulary(counts, words)
