"""LaTeX parser of pylatexenc with time in proportion to the length of the text.

The package reads plain text character by character, appends each one to a growing text, and copies the rest of the file
at every environment: 800 kB took 23 s. Here runs of words are one token, long texts are several nodes, and environments
are matched in place. The text is the same.
"""

from __future__ import annotations

import re
from typing import Any

from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexToken, LatexWalker

_MAX_NODE = 10_000  # characters of one text node
_SPACE = r"(?P<space>[^\S\n]*(?:\n[^\S\n]*)?)"  # an empty line is a paragraph, which the package recognises
_WORDS = r"(?P<words>\w(?:[\w ,.;:/\"]|-(?!-)|'(?!')|\n(?!\s)){0,4000})"  # without -- and '', which are one character
_ENVIRONMENT = r"\\(?P<kind>begin|end)\s*\{(?P<name>[\w* ._-]+)\}"
_TOKEN = re.compile(f"{_SPACE}(?:{_WORDS}|{_ENVIRONMENT})")


def convert_latex(latex: str) -> str:
    """Return the text of LaTeX without comments, with formulas as text."""
    nodes = _Walker(latex, tolerant_parsing=True).get_latex_nodes()[0]
    return str(LatexNodes2Text(math_mode="text", keep_comments=False).nodelist_to_text(nodes))


class _Walker(LatexWalker):  # type: ignore[misc]
    """Parser that takes runs of words as one token."""

    _node_start, _word_end = 0, -1

    def get_token(self, pos: int, include_brace_chars: Any = None, environments: bool = True, **options: Any) -> Any:
        """Return the token at a position: an environment, a run of text, or what the base class finds."""
        match = _TOKEN.match(self.s, pos) if environments else None
        if match is None:
            token = super().get_token(pos, include_brace_chars, environments, **options)
            if token.arg == "\n\n" and pos == self._word_end:
                self._word_end = token.pos + token.len
            return token
        begin, end, space = match.end("space"), match.end(), match["space"]
        if match["kind"]:
            return LatexToken(f"{match['kind']}_environment", match["name"], begin, end - begin, space)
        if pos == self._word_end and not 0 <= pos - self._node_start < _MAX_NODE:
            self._node_start = pos
            return LatexToken("comment", "", pos, 0, "", post_space="")  # ends the node before, and is left out
        self._word_end = end
        return LatexToken("char", match["words"], begin, end - begin, space)
