"""Recipe of a grow: every choice of the user as one value that is stored with the collection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topiarist.counts.settings import MIN_DOCUMENTS, MIN_SHARE, CountSettings, PhraseSettings
from topiarist.errors import UsageError
from topiarist.estimators.tree_models import TREE_MODELS, join_names, list_online_models
from topiarist.text.dates import AUTO as DATES_AUTO
from topiarist.text.dates import ORDERS
from topiarist.text.fields import ALL
from topiarist.text.language import AUTO, Language, get_language_code
from topiarist.text.segmenters import find_installed_extra
from topiarist.text.stems import has_stemmer
from topiarist.text.stop_words import has_stop_words, stop_words_from_file

if TYPE_CHECKING:  # the command line takes its defaults from here, and its help loads nothing numerical
    from topiarist.trees.tree import Tree

APART, TOGETHER, ONE = LANGUAGE_WAYS = ("apart", "together", "one")  # of documents in several languages
JOINED = "cam"  # the model whose trees can be joined
GUIDED = "guided"  # the growth that every model offers
AUTO_VECTORS, NO_VECTORS = VECTOR_CHOICES = ("auto", "none")  # of the bundled word vectors
ALTERNATIVES = {"growth": "growths", "topic_mix": "topic_mixes"}  # where a kind of model lists the values of a setting


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
    ``growth``: "guided", by geometry and EM, or "annealed", by temperature as in the papers, in memory only.
    ``topic_mix``: how the model "hplsa" mixes the levels of a topic: "ml", "uniform" or "heldout"; None: "ml".
    ``fields``: names of fields that topics may have: "auto" (the bundled ones, for English), "none", or the lines of a
    list, ``name: typical words``. ``vectors``: "auto" lets bundled word vectors decide with the words where the texts
    are short and English and no other vectors are given; "none": words alone.
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
    growth: str = GUIDED
    topic_mix: str | None = None
    fields: str = AUTO
    vectors: str = AUTO_VECTORS

    def __post_init__(self) -> None:
        if self.model not in TREE_MODELS:
            raise UsageError(f"there is no model called {self.model!r}", hint=f"Use one of {', '.join(TREE_MODELS)}.")
        self._check_growth()
        if self.dates not in (DATES_AUTO, *ORDERS):
            raise UsageError(
                f"expected dates to be {', '.join(ORDERS)} or {DATES_AUTO}, got {self.dates!r}",
                hint=f"Use {ORDERS[0]}.",
            )
        if self.vectors not in VECTOR_CHOICES:
            raise UsageError(
                f"expected vectors {' or '.join(VECTOR_CHOICES)}, got {self.vectors!r}", hint=f"Use {NO_VECTORS}."
            )
        if self.languages not in LANGUAGE_WAYS:
            raise UsageError(
                f"expected languages to be one of {', '.join(LANGUAGE_WAYS)}, got {self.languages!r}",
                hint=f'Set languages = "{TOGETHER}".',
            )
        if self.languages == APART and (self.model != JOINED or self.hierarchy is not None or self.online):
            raise UsageError(f"separate languages require the model {JOINED}, without online learning")
        if self.language != AUTO:
            get_language_code(self.language)  # an unknown one is an error now, not after an hour of reading
        if self.topics is not None and self.topics < 1:
            raise UsageError(
                f"a tree has at least 1 topic, got {self.topics}", hint="Use a number such as 12, or auto."
            )
        if self.online and (not TREE_MODELS[self.model].online or self.hierarchy is not None):
            models = join_names(list_online_models(), "and")
            raise UsageError(f"online learning requires one of the models {models}, without a hierarchy")

    def _check_growth(self) -> None:
        """Raise UsageError for a growth or topic mix that the model does not offer."""
        kind = TREE_MODELS[self.model]
        _check_offered("growth", self.growth, self.model, kind.growths)
        if self.topic_mix is not None:
            _check_offered("topic_mix", self.topic_mix, self.model, kind.topic_mixes)
        if self.hierarchy is not None and (self.growth != GUIDED or self.topic_mix is not None):
            raise UsageError(
                "growth and topic_mix require a grown tree, got a hierarchy",
                hint="Leave out growth and topic_mix, or the hierarchy.",
            )

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
                hint="Use none, auto, a language such as en, or a file.",
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
            segmenter=find_installed_extra(language.code),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain JSON data."""
        body = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {**body, "hierarchy": None if self.hierarchy is None else self.hierarchy.to_dict()}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Recipe:
        """Return the recipe of a value that ``to_dict`` returned."""
        from topiarist.trees.tree import Tree

        tree = body.get("hierarchy")
        return cls(**{**body, "hierarchy": None if tree is None else Tree.from_dict(tree)})


def _check_offered(name: str, value: str, model: str, choices: tuple[str, ...]) -> None:
    """Raise UsageError if a model does not offer a value of a setting."""
    if not choices:
        others = [other for other, kind in TREE_MODELS.items() if getattr(kind, ALTERNATIVES[name])]
        raise UsageError(
            f"the model {model} has no {name}, got {value!r}", hint=f"Use the model {' or '.join(others)}."
        )
    if value not in choices:
        expected = " or ".join(map(repr, choices))
        raise UsageError(
            f"expected {expected} as {name} of the model {model}, got {value!r}", hint=f"Use {choices[0]}."
        )
