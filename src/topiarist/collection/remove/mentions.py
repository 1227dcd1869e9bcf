"""Mentions of documents: does an entry of the log, a saved search or a problem speak of some that must be forgotten?

It does if it holds twenty letters in a row of theirs, or an id or a title as a whole: as a word or words of its own
where that is long enough to mean it, and as all that is said where it is short, for a document that is called 7 is not
meant by every 7.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from topiarist.collection.remove.traces import Sequences
from topiarist.text.tokens import has_unspaced

SHORT = 5  # letters of a name: a shorter one, or one without a letter, may stand anywhere by chance


class Mentions:
    """What is looked for: names as wholes, and sequences of letters."""

    def __init__(self, names: Iterable[str], known: Sequences) -> None:
        self.names, self.known = {name.strip().casefold() for name in names} - {""}, known
        self.telling = [name for name in self.names if len(name) >= SHORT and any(map(str.isalpha, name))]

    def in_text(self, text: str) -> bool:
        """Whether a text speaks of the documents."""
        folded = text.casefold()
        if folded.strip() in self.names or any(name in folded and _stands_alone(name, folded) for name in self.telling):
            return True
        return bool(self.known.within(text.encode("utf-8", "surrogatepass")))

    def in_value(self, value: Any) -> bool:
        """Whether anything in plain JSON data does: numbers are none, for they are those of topics."""
        if isinstance(value, str):
            return self.in_text(value)
        if isinstance(value, Mapping):
            return any(map(self.in_value, value.values())) or any(self._in_key(str(key)) for key in value)
        return isinstance(value, list | tuple) and any(map(self.in_value, value))

    def _in_key(self, key: str) -> bool:
        """What names a value is no document, however it is called: only words and letters tell."""
        return self.in_text(f"{key} …")


def _stands_alone(name: str, text: str) -> bool:
    """Whether a name stands in a text as words of its own; in scripts without spaces, at all."""
    if has_unspaced(name):
        return True
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
