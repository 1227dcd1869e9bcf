"""Word pieces of BERT (uncased), split by the package ``blingfire``, as the encoder reads them."""

from __future__ import annotations

from functools import cache
from typing import Any

FIRST, LAST, UNKNOWN = 101, 102, 100  # numbers of the marks at both ends, and of an unknown piece
CHARACTERS_PER_PIECE = 40  # characters that are split for each wanted piece


def split_word_pieces(text: str, max_pieces: int) -> list[int]:
    """Return the numbers of at most ``max_pieces`` word pieces of a text, including the marks at both ends."""
    import blingfire

    numbers = blingfire.text_to_ids(
        _load_table(), text[: CHARACTERS_PER_PIECE * max_pieces], max_pieces - 2, UNKNOWN, no_padding=True
    )
    return [FIRST, *numbers.tolist(), LAST]


@cache
def _load_table() -> Any:
    """Load the table of word pieces once."""
    from importlib.resources import files

    import blingfire

    return blingfire.load_model(str(files("blingfire").joinpath("bert_base_tok.bin")))
