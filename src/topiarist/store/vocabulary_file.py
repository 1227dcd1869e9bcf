"""The words of columns as a file: what lies beside counts, models and indexes whose words are known."""

from __future__ import annotations

import json
from pathlib import Path

from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, in_words, lack
from topiarist.store.sealed_folder import write_json

VOCABULARY = "vocabulary.json"


def write_vocabulary(folder: Path, vocabulary: Vocabulary) -> None:
    """Write the words of a folder."""
    words = {name: getattr(vocabulary, name) for name in ("words", "forms", "phrases")}
    numbers = {name: getattr(vocabulary, name).tolist() for name in ("document_frequency", "totals")}
    write_json(folder / VOCABULARY, words | numbers)


def read_vocabulary(folder: Path) -> Vocabulary:
    """The words of a folder."""
    try:
        body = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
        texts = (*body["words"], *body.get("phrases", ()), *(form for forms in body.get("forms", ()) for form in forms))
        if not all(isinstance(text, str) for text in texts) or any(
            pair.count(" ") != 1 for pair in body.get("phrases", ())
        ):
            raise ValueError("words that are no texts, or phrases of one word")
        return Vocabulary(**body)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError) as error:
        if missing := lack(error, str(folder / VOCABULARY)):
            raise missing from error
        raise InputError(
            f"{folder / VOCABULARY} cannot be read: {in_words(error)}", hint="write the store again"
        ) from error
