"""How a collection is grown: everything a person may choose, as one value that is kept with the collection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topiarist.counts.settings import MIN_DOCUMENTS, MIN_SHARE, CountSettings, PhraseSettings
from topiarist.errors import UsageError
from topiarist.estimators.tree_models import TREE_MODELS, listed, online_models
from topiarist.text.dates import AUTO as DATES_AUTO
from topiarist.text.dates import ORDERS
from topiarist.text.fields import ALL
from topiarist.text.language import AUTO, Language, language_code
from topiarist.text.segmenters import installed_for
from topiarist.text.stems import has_stemmer
from topiarist.text.stop_words import has_stop_words, stop_words_from_file

if TYPE_CHECKING:  # the command line takes its defaults from here, and its help loads nothing numerical
    from topiarist.hierarchy.tree import Tree

APART, TOGETHER, ONE = LANGUAGE_WAYS = ("apart", "together", "one")  # of documents in several languages
JOINED = "cam"  # the model whose trees can be joined


@dataclass(frozen=True)
class Recipe:
    """What to count, and what to grow. Nothing in it depends on the machine.

    ``language``: of the texts; "auto" looks at the first of them. ``stop_words``: "none", a language, "auto", or a
    file. ``stem``: a language or "auto". ``min_documents``: that must have a word; None: 3, or one in 100,000 where
    that is more. ``topics``: how many leaves; None lets held-out words choose. ``hierarchy``: a tree whose names are
    the labels of documents; then it is fitted, not grown. ``headings``: whether the upper tree is built anew from the
    leaves, or stays as it grew. ``online``: learn from batches after a tree has grown on a sample,
    for collections that are too large to be looked at twice. ``keep_repeated``: count lines that many documents share
    (navigation bars, disclaimers), too. ``dates``: "day-first" or "month-first" where dates such as 05/06/2025 do not
    decide it themselves; "auto" lets each column decide. ``columns``: which further columns are kept with the
    documents, "all", "none", or names with commas between them. ``passages``: cut long documents into passages (pages,
    sections, else about 300 words), and grow the tree on these. ``languages``: how documents in several languages are
    grown: "together" under one root, "apart" as branches, or "one", the most frequent, without the others.
    """

    language: str = AUTO
    stop_words: str = "none"
    stem: str | None = None
    phrases: bool = False
    numbers: bool = False
    min_documents: int | None = None
    model: str = "cam"
    topics: int | None = None
    hierarchy: Tree | None = None
    headings: bool = True
    online: bool = False
    keep_repeated: bool = False
    seed: int = 0
    dates: str = DATES_AUTO
    columns: str = ALL
    passages: bool = False
    languages: str = TOGETHER

    def __post_init__(self) -> None:
        if self.model not in TREE_MODELS:
            raise UsageError(f"there is no model called {self.model!r}", hint=", ".join(TREE_MODELS))
        if self.dates not in (DATES_AUTO, *ORDERS):
            raise UsageError(f"dates are {' or '.join(ORDERS)}, or {DATES_AUTO}; got {self.dates!r}", hint=ORDERS[0])
        if self.languages not in LANGUAGE_WAYS:
            raise UsageError(
                f"languages are grown {', '.join(LANGUAGE_WAYS)}; got {self.languages!r}",
                hint=f"--languages {TOGETHER}",
            )
        if self.languages == APART and (self.model != JOINED or self.hierarchy is not None or self.online):
            raise UsageError(f"languages stand apart in a tree that the model {JOINED} has grown, and not online")
        if self.language != AUTO:
            language_code(self.language)  # an unknown one is an error now, not after an hour of reading
        if self.topics is not None and self.topics < 1:
            raise UsageError(f"a tree has at least 1 topic, got {self.topics}", hint="--topics 12, or auto")
        if self.online and (not TREE_MODELS[self.model].online or self.hierarchy is not None):
            known = listed(online_models(), "and")
            raise UsageError(f"online learning goes with the models {known}, and without a hierarchy")

    def check(self) -> None:
        """Refuse, before anything is read, stop words or a stemmer that do not exist."""
        self.counting(Language("", 0.0, 0))

    def counting(self, language: Language) -> CountSettings:
        """The settings for texts of a language."""
        stop_words: str | tuple[str, ...] | None = self.stop_words
        if stop_words == "none":
            stop_words = None
        elif stop_words == "auto":
            stop_words = language.code if has_stop_words(language.code) else None
        elif Path(self.stop_words).is_file():
            stop_words = tuple(stop_words_from_file(self.stop_words))
        elif os.sep in self.stop_words or "." in self.stop_words:
            raise UsageError(
                f"there is no file of stop words at {self.stop_words}",
                hint="none, auto, a language such as en, or a file",
            )
        stem = self.stem
        if stem == "auto":
            stem = language.code if has_stemmer(language.code) else None
        return CountSettings(
            min_documents=MIN_DOCUMENTS if self.min_documents is None else self.min_documents,
            min_document_share=MIN_SHARE if self.min_documents is None else 0.0,
            numbers=self.numbers,
            stop_words=stop_words,
            stem=stem,
            phrases=PhraseSettings() if self.phrases else None,
            segmenter=installed_for(language.code),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        body = {known.name: getattr(self, known.name) for known in fields(self)}
        return {**body, "hierarchy": None if self.hierarchy is None else self.hierarchy.to_dict()}

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others; a recipe of version 0.1, which wrote 3 where nobody chose, is still the same."""
        return identity(self.to_dict())

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Recipe:
        """What ``to_dict`` has written."""
        from topiarist.hierarchy.tree import Tree

        tree = body.get("hierarchy")
        return cls(**{**body, "hierarchy": None if tree is None else Tree.from_dict(tree)})


def identity(body: Mapping[str, Any]) -> dict[str, Any]:
    """See ``Recipe.identity``, of what ``to_dict`` has written."""
    return {**body, "min_documents": body.get("min_documents") or MIN_DOCUMENTS}
