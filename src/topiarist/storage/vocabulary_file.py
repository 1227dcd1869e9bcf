"""Vocabulary file: the words of the columns of counts, models and indexes."""

from __future__ import annotations

import json
from pathlib import Path

from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, describe_error, to_limit_error
from topiarist.storage.sealed_folder import write_json

VOCABULARY = "vocabulary.json"


def write_vocabulary(folder: Path, vocabulary: Vocabulary) -> None:
    words = {name: getattr(vocabulary, name) for name in ("words", "forms", "phrases")}
    numbers = {name: getattr(vocabulary, name).tolist() for name in ("document_frequency", "totals")}
    write_json(folder / VOCABULARY, words | numbers)


def read_vocabulary(folder: Path) -> Vocabulary:
    """Read the vocabulary of a folder; raise InputError if the file is damaged."""
    try:
        body = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
        texts = (*body["words"], *body.get("phrases", ()), *(form for forms in body.get("forms", ()) for form in forms))
        if not all(isinstance(text, str) for text in texts) or any(
            pair.count(" ") != 1 for pair in body.get("phrases", ())
        ):
            raise ValueError("the words are not texts, or a phrase has one word")
        return Vocabulary(**body)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError) as error:
        if limit_error := to_limit_error(error, str(folder / VOCABULARY)):
            raise limit_error from error
        raise InputError(
            f"{folder / VOCABULARY} cannot be read: {describe_error(error)}", hint="Write the store again."
        ) from error
