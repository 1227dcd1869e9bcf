"""Texts to the word pieces that the encoder reads: those of BERT (uncased), by the package ``blingfire``."""

from __future__ import annotations

from functools import cache
from typing import Any

FIRST, LAST, UNKNOWN = 101, 102, 100  # the numbers of the marks at the ends of a text, and of what is not known
LONGEST_TEXT = 40  # characters of a text for each piece that is wanted: further ones are not looked at


def pieces(text: str, most: int) -> list[int]:
    """The numbers of the pieces of a text, from the first mark to the last; at most so many."""
    import blingfire

    found = blingfire.text_to_ids(_table(), text[: LONGEST_TEXT * most], most - 2, UNKNOWN, no_padding=True)
    return [FIRST, *found.tolist(), LAST]


@cache
def _table() -> Any:
    """The pieces as the package keeps them; read once."""
    from importlib.resources import files

    import blingfire

    return blingfire.load_model(str(files("blingfire").joinpath("bert_base_tok.bin")))
