"""Edits as people write them: a YAML or JSON file, or the words of a command.

- rename: {topic: oil, name: Energy}
- merge: {topics: [court, police], name: Justice}
- group: {topics: [court, prison], name: Justice}
- pin: {documents: [a.txt], topic: Energy}
- seed: {topic: Energy, words: [oil, gas]}
"""

from __future__ import annotations

import json
import re
import reprlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, replace
from typing import Any

from topiarist.collection.shape.edits import (
    KINDS,
    Branch,
    Delete,
    Describe,
    Edit,
    Forget,
    Group,
    Ignore,
    Merge,
    Move,
    Pin,
    Rename,
    Seed,
    Split,
    Unite,
    Unpin,
)
from topiarist.errors import UsageError
from topiarist.text.spelling import proposed

WORDS = {  # of a command, for messages
    "rename": "rename TOPIC NAME",
    "describe": "describe TOPIC NOTE",
    "merge": "merge TOPIC TOPIC… [as NAME]",
    "group": "group TOPIC TOPIC… as NAME",
    "split": "split TOPIC… [into NUMBER]",
    "move": "move TOPIC under TOPIC",
    "delete": "delete TOPIC [below]",
    "pin": "pin DOCUMENT… to TOPIC",
    "unpin": "unpin DOCUMENT…",
    "branch": "branch NAME under TOPIC with DOCUMENT…",
    "seed": "seed TOPIC with WORD…",
    "ignore": "ignore WORD…",
    "unite": "unite WORD = WORD…",
    "forget": "forget WORD…",
}
EXAMPLE = "- rename: {topic: oil, name: Energy}"


def read_edits(text: str, *, format: str = "yaml") -> tuple[Edit, ...]:
    """The edits of a file: a list with one edit an entry."""
    try:
        if format == "json":
            found = json.loads(text)
        else:
            import yaml

            found = yaml.safe_load(text)
    except RecursionError as error:
        raise UsageError("the edits cannot be read: they are nested too deeply", hint=EXAMPLE) from error
    except ValueError as error:
        raise UsageError(f"the edits cannot be read as JSON: {error}", hint=EXAMPLE) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        raise UsageError(f"the edits cannot be read as YAML{place}", hint=EXAMPLE) from error
    if isinstance(found, Mapping):
        found = [found]
    if not isinstance(found, list) or not found:
        raise UsageError(f"expected a list of edits, got {type(found).__name__}", hint=EXAMPLE)
    return tuple(edit_from(entry, place) for place, entry in enumerate(found, 1))


def edit_from(entry: Any, place: int = 1) -> Edit:
    """An edit from {kind: {its parts}}."""
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise UsageError(f"edit {place}: expected one edit with its name, got {shown(entry)}", hint=EXAMPLE)
    (kind, given), *_ = entry.items()
    if kind not in KINDS:
        raise UsageError(f"edit {place}: there is no edit called {kind!r}", hint=proposed(str(kind), list(KINDS)))
    if not isinstance(given, Mapping):
        raise UsageError(f"edit {place}: expected the parts of {kind}, got {shown(given)}", hint=_parts(kind))
    known = {one.name: one for one in fields(KINDS[kind])}
    wrong = next((str(name) for name in given if name not in known), None)
    missing = next((n for n, one in known.items() if one.default is MISSING and n not in given), None)
    if wrong is not None or missing is not None:
        what = f"has no part called {wrong!r}" if wrong is not None else f"needs its part {missing!r}"
        raise UsageError(f"edit {place}: {kind} {what}", hint=_parts(kind))
    values = {name: _value(str(known[name].type), value, f"edit {place}: {name}") for name, value in given.items()}
    edit: Edit = KINDS[kind](**values)
    return edit


def shown(value: Any) -> str:
    """A value in a message, cut short before it is written out: a few lines of YAML may stand for billions."""
    short = reprlib.Repr()
    short.maxlevel, short.maxdict, short.maxlist, short.maxtuple, short.maxstring = 2, 3, 3, 3, 60
    return short.repr(value)[:80]


def to_entry(edit: Edit) -> dict[str, Any]:
    """The edit as ``edit_from`` reads it."""
    return {type(edit).__name__.lower(): asdict(edit)}


def to_words(edit: Edit) -> str:
    """The edit as it would be typed."""
    match edit:
        case Rename(topic, name) | Describe(topic, name):
            words = [topic, name]
        case Merge(topics, name):
            words = [*topics, *(["as", name] if name else [])]
        case Group(topics, name):
            words = [*topics, "as", name]
        case Split(topic, into, others):
            words = [topic, *others, *(["into"] if others else []), into]
        case Move(topic, under):
            words = [topic, "under", under]
        case Delete(topic, below):
            words = [topic, *(["below"] if below else [])]
        case Pin(documents, topic):
            words = [*documents, "to", topic]
        case Unpin(documents):
            words = [*documents]
        case Branch(under, name, documents):
            words = [name, "under", under, "with", *documents]
        case Seed(topic, seeds):
            words = [topic, "with", *seeds]
        case Unite(spellings):
            words = [spellings[0], *(part for word in spellings[1:] for part in ("=", word))]
        case Ignore(chosen) | Forget(chosen):
            words = [*chosen]
    return " ".join([type(edit).__name__.lower(), *(_quoted(str(word)) for word in words)])


def to_sentence(edit: Edit) -> str:
    """The edit as people say it, for pages."""
    match edit:
        case Rename(topic, name):
            return f"rename {topic} to “{name}”" if name else f"call {topic} by its words"
        case Describe(topic, note):
            return f"{'write a note about' if note else 'take the note away from'} {topic}"
        case Merge(topics, name):
            return f"merge {_listed(topics)}" + (f" as “{name}”" if name else "")
        case Group(topics, name):
            return f"put {_listed(topics)} under a new heading “{name}”"
        case Split(topic, into, others):
            return f"split {_listed((topic, *others))} in {into}{' each' if others else ''}"
        case Move(topic, under):
            return f"move {topic} under {under}"
        case Delete(topic, below):
            return f"delete {topic}{' and its subtopics' if below else ''}"
        case Pin(documents, topic):
            return f"pin {_documents(documents)} to {topic}"
        case Unpin(documents):
            return f"unpin {_documents(documents)}"
        case Branch(under, name, documents):
            return f"add “{name}” under {under} with {_documents(documents)}"
        case Seed(topic, words):
            return f"say that {_listed(words)} {'belong' if len(words) > 1 else 'belongs'} to {topic}"
        case Ignore(words):
            return f"ignore the word{'s' * (len(words) > 1)} {_listed(words)}"
        case Unite(words):
            return f"count {_listed(words[1:])} as {words[0]}"
        case Forget(words):
            return f"forget what was said of {_listed(words)}"


def _listed(topics: Sequence[str | int]) -> str:
    return f"{', '.join(map(str, topics[:-1]))} and {topics[-1]}" if len(topics) > 1 else str(topics[0])


def _documents(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids):,} documents"


def spoken_of(edit: Edit) -> tuple[str | int, ...]:
    """The topics that an edit names, as it names them."""
    match edit:
        case Merge(topics) | Group(topics):
            return topics
        case Split(topic, _, others):
            return topic, *others
        case Move(topic, under):
            return topic, under
        case Branch(under):
            return (under,)
        case Unpin() | Ignore() | Unite() | Forget():
            return ()
        case _:
            return (edit.topic,)


def named_as(edit: Edit, names: Mapping[str, str], *, numbers: bool = True) -> Edit:
    """The edit with the full names of topics in place of words that stood for them.

    ``numbers`` stay numbers for whoever types them; for whoever reads a page they become names as well.
    """

    def full(said: str | int) -> str | int:
        number = isinstance(said, int) or re.fullmatch(r"#?\d+", said)
        return said if number and numbers else names.get(str(said), said)

    match edit:
        case Merge(topics) | Group(topics):
            return replace(edit, topics=tuple(map(full, topics)))
        case Split(topic, _, others):
            return replace(edit, topic=full(topic), others=tuple(map(full, others)))
        case Move(topic, under):
            return replace(edit, topic=full(topic), under=full(under))
        case Branch(under):
            return replace(edit, under=full(under))
        case Unpin() | Ignore() | Unite() | Forget():
            return edit
        case _:
            return replace(edit, topic=full(edit.topic))


def _quoted(word: str) -> str:
    """In quotes where a shell, or we, would take it for several words or for nothing."""
    return word if word and not re.search(r"[^\w.,:@%+=/·-]", word) else shlex.quote(word)


def _value(kind: str, value: Any, where: str) -> Any:
    """A value of the type that the part of an edit has."""
    if kind.startswith("tuple"):
        values = value if isinstance(value, list | tuple) else [value]
        if not all(isinstance(one, str | int) and not isinstance(one, bool) for one in values):
            raise UsageError(f"{where}: expected a list of names, got {shown(value)}")
        return tuple(values if "int" in kind else map(str, values))
    wanted: tuple[type, ...] = {"bool": (bool,), "int": (int,), "str": (str,)}.get(kind, (str, int))
    if value is None and "None" in kind:
        return None
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise UsageError(f"{where}: expected {' or '.join(one.__name__ for one in wanted)}, got {shown(value)}")
    return value


def _parts(kind: str) -> str:
    return f"- {kind}: {{{', '.join(f'{one.name}: …' for one in fields(KINDS[kind]))}}}"


def edits_of(given: Iterable[Any]) -> tuple[Edit, ...]:
    """Edits in whatever form they come: as values, as entries of a file, or as lines of words."""
    found: list[Edit] = []
    for place, one in enumerate([given] if isinstance(given, str | Mapping) else given, 1):
        if isinstance(one, str):
            found.append(edit_of_line(one))
        else:
            found.append(one if isinstance(one, Edit) else edit_from(one, place))
    return tuple(found)


def edit_of_line(line: str) -> Edit:
    """An edit from a line as it would be typed, with quotes around names of several words."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that nobody closes, as in: rename oil Driver's
        words = line.split()
    if not words:
        raise UsageError("expected an edit, got an empty line", hint=WORDS["rename"])
    return edit_of_words(words)


def edit_of_words(words: Sequence[str]) -> Edit:
    """An edit from the words of a command: rename oil Energy."""
    kind, *rest = words
    if kind not in KINDS:
        raise UsageError(f"there is no edit called {kind!r}", hint=proposed(kind, list(KINDS)))
    edit = _of_words(kind, rest)
    if edit is None:
        raise UsageError(f"{kind} does not go with {shown(' '.join(rest))}", hint=WORDS[kind])
    return edit


def _of_words(kind: str, rest: list[str]) -> Edit | None:
    match kind, rest:
        case "rename", [topic, *name] if name:
            return Rename(topic, " ".join(name))
        case "describe", [topic, *note] if note:
            return Describe(topic, " ".join(note))
        case "merge", [*topics, "as", name] if len(topics) > 1:
            return Merge(tuple(topics), name)
        case "merge", topics if len(topics) > 1:
            return Merge(tuple(topics))
        case "group", [*topics, "as", name] if len(topics) > 1:
            return Group(tuple(topics), name)
        case "split", [topic, *others, "into", number] if number.isdecimal():
            return Split(topic, int(number), tuple(others))
        case "split", [topic, number] if number.isdecimal():
            return Split(topic, int(number))
        case "split", [topic, *others] if not (others and others[-1].isdecimal()):  # a number, or a topic's?
            return Split(topic, others=tuple(others))
        case "move", [topic, "under", parent] | [topic, parent]:
            return Move(topic, parent)
        case "delete", [topic]:
            return Delete(topic)
        case "delete", [topic, "below"]:
            return Delete(topic, below=True)
        case "pin", [*documents, "to", topic] if documents:
            return Pin(tuple(documents), topic)
        case "unpin", documents if documents:
            return Unpin(tuple(documents))
        case "branch", [name, "under", parent, "with", *documents] if documents:
            return Branch(parent, name, tuple(documents))
        case "seed", [topic, "with", *words] if words:
            return Seed(topic, tuple(words))
        case "ignore", words if words:
            return Ignore(tuple(words))
        case "unite", words:
            spellings = [" ".join(part.split()) for part in " ".join(words).split("=")]
            return Unite(tuple(spellings)) if len(spellings) > 1 and all(spellings) else None
        case "forget", words if words:
            return Forget(tuple(words))
    return None
