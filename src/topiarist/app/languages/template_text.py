"""The text of a template, message by message: what stands between its tags and in attributes that people read.

A message is a run of text with the values in it: ``{{ page.read|number }} of {{ page.total|number }} read.`` is the
message ``{page.read|number} of {page.total|number} read.``; tags of HTML and of the template end it. So every text of a
template is in the catalogue without a mark of its own, and a page in another language is a template of its own: nothing
is looked up while it is made. Texts in a value are translated there: ``{"copy" if n == 1 else "copies"}`` may become
``{"Kopie" if n == 1 else "Kopien"}``, and nothing but its texts may differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

READ = ("title", "aria-label", "placeholder", "alt", "data-label", "data-said")  # attributes that people read or hear
SILENT = ("script", "style", "code", "kbd")  # elements whose text is no language
_PIECE = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<!--.*?-->|[<>\"]|[^<>\"{]+|\{", re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*$")
_TAG = re.compile(r"^/?\s*([\w-]+)")
_VALUE = re.compile(r"^\{\{-?\s*(.*?)\s*-?\}\}$", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_STRING = re.compile(r'"([^"]*)"')
_CODE = re.compile(  # strings that are no text: names, paths, what something is compared with, formats
    r'(?:\w=|==\s*|!=\s*|\bin\s*|\[)"[^"]*"|"[^"]*"\s*(?:==|!=|:|\]|\|format|\.format)|"/[^"]*"'
    r'|(?:map|selectattr|values|bar)\([^")]*"[^"]*"'
)
_LETTER = re.compile(r"[^\W\d_]")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Piece:
    """A part of a template's source: its text, and whether it is of a message."""

    source: str
    kind: str  # "text" or "value" of a message; nothing for all else


def pieces(source: str) -> Iterator[Piece]:
    """A template's source in parts, which make it up again."""
    state, attribute, tag, element = "text", "", "", ""
    for found in _PIECE.finditer(source):
        text = found[0]
        if text.startswith(("{#", "{%", "<!--")):
            yield Piece(text, "")
            continue
        read = (state == "text" and element not in SILENT) or (state == "value" and attribute in READ)
        if text.startswith("{{"):
            yield Piece(text, "value" if read else "")
            tag += "" if state == "text" else "x"
            continue
        kind = ""
        if state == "text":
            if text == "<":
                state, tag = "tag", ""
            else:
                kind = "text" if read else ""
        elif state == "tag":
            if text == ">":
                state = "text"
                element = _element(tag, element)
            elif text == '"':
                named = _ATTRIBUTE.search(tag)
                state, attribute = "value", named[1] if named else ""
            else:
                tag += text
        elif text == '"':
            state, tag = "tag", f'{tag}""'
        else:
            kind = "text" if read else ""
        yield Piece(text, kind)


def _element(tag: str, element: str) -> str:
    """The silent element that we are in behind a tag."""
    named = _TAG.match(tag)
    name = named[1] if named else ""
    if tag.startswith("/"):
        return "" if name == element else element
    return name if name in SILENT else element


def messages(source: str) -> Iterator[str]:
    """The messages of a template."""
    for _, message in _runs(source):
        if message:
            yield message


def translated(source: str, say: Callable[[str], str]) -> str:
    """A template in another language; ``say`` returns the message itself where the catalogue has none."""
    made = []
    for run, message in _runs(source):
        text = "".join(piece.source for piece in run)
        said = say(message) if message else ""
        made.append(_filled(run, text, said) if said and said != message else text)
    return "".join(made)


def _runs(source: str) -> Iterator[tuple[list[Piece], str]]:
    """Parts that belong together, and the message that they are; an empty one for what is no message."""
    run: list[Piece] = []
    for piece in pieces(source):
        if piece.kind:
            run.append(piece)
            continue
        if run:
            yield from _told(run)
        run = []
        yield [piece], ""
    if run:
        yield from _told(run)


def _told(run: list[Piece]) -> Iterator[tuple[list[Piece], str]]:
    """A run as a message: values that hold no text, and texts without a letter, are none."""
    yield run, _message(run) if any(map(_speaks, run)) else ""


def _speaks(piece: Piece) -> bool:
    """Whether there is something to read in a part."""
    if piece.kind == "text":
        return _LETTER.search(_without_entities(piece.source)) is not None
    return any(_LETTER.search(text) for text in _STRING.findall(_CODE.sub("", piece.source)))


def _without_entities(text: str) -> str:
    return re.sub(r"&#?\w+;", "", text)


def _message(run: list[Piece]) -> str:
    """What a run says; where a value takes the spaces beside it away, the message has none there."""
    said, taking = "", False
    for piece in run:
        if piece.kind == "text":
            said += piece.source.lstrip() if taking else piece.source
            taking = False
        else:
            said = said.rstrip() if piece.source.startswith("{{-") else said
            said += f"{{{name(piece.source)}}}"
            taking = piece.source.endswith("-}}")
    return _SPACES.sub(" ", said).strip()


def name(value: str) -> str:
    """What a value is called in a message: what it is in the template."""
    found = _VALUE.match(value)
    return _SPACES.sub(" ", found[1]) if found else value


def _filled(run: list[Piece], text: str, said: str) -> str:
    """The translation with the values in it, and the spaces that stood around, or were taken away there."""
    known = {form(name(piece.source)) for piece in run if piece.kind == "value"}

    def value(found: re.Match[str]) -> str:  # the same, perhaps with other texts in it; all else stays a text
        return f"{{{{ {found[1]} }}}}" if form(found[1]) in known else found[0]

    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if text.lstrip().startswith("{{-"):
        before = '{{- "" }}'
    if text.rstrip().endswith("-}}"):
        after = '{{ "" -}}'
    return f"{before}{_PLACEHOLDER.sub(value, said)}{after}"


def form(value: str) -> str:
    """A value without its texts: what must be the same in every language."""
    code = [found.span() for found in _CODE.finditer(value)]
    return _STRING.sub(lambda one: one[0] if any(a <= one.start() < b for a, b in code) else '""', value)


def placeholders(message: str) -> list[str]:
    """The values of a message without their texts, each once, in the order of their names."""
    return sorted({form(value) for value in _PLACEHOLDER.findall(message)})
