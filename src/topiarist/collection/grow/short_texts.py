"""Choice of the bundled word vectors for a collection of short English texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from topiarist.arrays import Ints
from topiarist.collection.contents import Counting
from topiarist.collection.document_vectors import create_word_encoder
from topiarist.collection.grow.language_trees import group_rows
from topiarist.collection.grow.recipe import JOINED, NO_VECTORS, Recipe
from topiarist.collection.grow.state import GrowState
from topiarist.counts.corpus import Corpus
from topiarist.counts.embeddings.word_encoder import WordEncoder
from topiarist.counts.languages import Languages
from topiarist.counts.word_vectors import LANGUAGE, load_word_vectors
from topiarist.storage import facts
from topiarist.storage.document_table import Documents
from topiarist.text.language import language_name

MAX_WORDS = 30  # median of the counted words of a document; longer texts have trees of words
MIN_DOCUMENTS = 60  # fewer do not change a word vector
MIN_KNOWN_SHARE = 0.6  # of the words, each counted as often as it occurs, that have a bundled vector


def are_short(corpus: Corpus, rows: Ints | None, recipe: Recipe) -> bool:
    """Return whether the recipe allows word vectors and the texts are short; ``rows`` are the fitted documents."""
    if recipe.vectors == NO_VECTORS or recipe.model != JOINED or recipe.hierarchy is not None or recipe.online:
        return False
    lengths = np.asarray(corpus.counts.sum(axis=1)).ravel()
    lengths = lengths if rows is None else lengths[rows]
    lengths = lengths[lengths > 0]
    return len(lengths) >= MIN_DOCUMENTS and float(np.median(lengths)) < MAX_WORDS


def find_unknown_language(corpus: Corpus, sizes: Mapping[str, int]) -> str:
    """Return what the vectors do not know, a language or the words; empty for English texts.

    ``sizes`` has the number of documents of each detected language. Few titles have enough function words.
    """
    detected = {code: number for code, number in sizes.items() if code}
    main = max(detected, key=lambda code: detected[code]) if detected else ""
    if main not in ("", LANGUAGE) and detected[main] > corpus.n_docs / 2:
        return f"in {language_name(main)}"
    known, _ = load_word_vectors().select(corpus.vocabulary.words)
    tokens = np.asarray(corpus.counts.sum(axis=0), np.float64).ravel()
    return "" if tokens[known].sum() >= MIN_KNOWN_SHARE * tokens.sum() else "not in English"


def choose_word_encoder(
    state: GrowState, counting: Counting, corpus: Corpus, languages: Languages, rows: Ints | None
) -> WordEncoder | None:
    """Return the encoder of a collection of short English texts, adapted to them; None for other texts.

    ``rows`` are the documents without duplicates, None for all.
    """
    if state.options.device != "cpu" or not are_short(corpus, rows, state.recipe):
        return None
    if len(group_rows(languages, rows)) > 1:  # their trees grow apart, from words
        return None
    if unknown := find_unknown_language(corpus, facts.languages(state.database)):
        state.options.reporter.add_note(f"The texts are short and {unknown}: words alone decide, without word vectors")
        return None
    documents = Documents(state.database)
    kept: Sequence[int] = range(len(documents)) if rows is None else rows.tolist()
    encoder = create_word_encoder(counting).fit(documents.load_many(kept))
    return encoder if encoder.has_vectors else None
