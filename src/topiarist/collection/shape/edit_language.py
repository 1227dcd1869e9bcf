"""Text forms of edits: a YAML or JSON file, or the words of a command.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, replace
from typing import Any

from topiarist.collection.shape.edits import (
    EDIT_KINDS,
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
from topiarist.text.spelling import format_proposals

EDIT_FORMS = {  # syntax of the commands, for messages
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
TOPIC_FIELDS = ("topics", "topic", "others", "under")  # of edits
EXAMPLE = "Write an edit such as - rename: {topic: oil, name: Energy}."


def read_edits(text: str, *, format: str = "yaml") -> tuple[Edit, ...]:
    """Return the edits of a file, a list with one edit for each entry."""
    try:
        if format == "json":
            entries = json.loads(text)
        else:
            import yaml

            entries = yaml.safe_load(text)
    except RecursionError as error:
        raise UsageError("the edits cannot be read: they are nested too deeply", hint=EXAMPLE) from error
    except ValueError as error:
        raise UsageError(f"the edits cannot be read as JSON: {error}", hint=EXAMPLE) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        raise UsageError(f"the edits cannot be read as YAML{place}", hint=EXAMPLE) from error
    if isinstance(entries, Mapping):
        entries = [entries]
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"expected a list of edits, got {type(entries).__name__}", hint=EXAMPLE)
    return tuple(parse_edit(entry, place) for place, entry in enumerate(entries, 1))


def parse_edit(entry: Any, place: int = 1) -> Edit:
    """Return the edit of an entry ``{kind: {its parts}}``; ``place`` is the number of the entry in errors."""
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise UsageError(f"edit {place}: expected one edit with its name, got {shorten(entry)}", hint=EXAMPLE)
    (kind, parts), *_ = entry.items()
    if kind not in EDIT_KINDS:
        raise UsageError(
            f"edit {place}: there is no edit called {kind!r}", hint=format_proposals(str(kind), list(EDIT_KINDS))
        )
    if not isinstance(parts, Mapping):
        raise UsageError(
            f"edit {place}: expected the parts of {kind}, got {shorten(parts)}", hint=_describe_parts(kind)
        )
    field_by_name = {field.name: field for field in fields(EDIT_KINDS[kind])}
    wrong = next((str(name) for name in parts if name not in field_by_name), None)
    missing = next((n for n, field in field_by_name.items() if field.default is MISSING and n not in parts), None)
    if wrong is not None or missing is not None:
        fault = f"has no part called {wrong!r}" if wrong is not None else f"needs its part {missing!r}"
        raise UsageError(f"edit {place}: {kind} {fault}", hint=_describe_parts(kind))
    values = {
        name: _check_value(str(field_by_name[name].type), value, f"edit {place}: {name}")
        for name, value in parts.items()
    }
    edit: Edit = EDIT_KINDS[kind](**values)
    return edit


def shorten(value: Any) -> str:
    """Return a value for a message, cut before it is formatted; a few lines of YAML can expand to billions."""
    short = reprlib.Repr()
    short.maxlevel, short.maxdict, short.maxlist, short.maxtuple, short.maxstring = 2, 3, 3, 3, 60
    return short.repr(value)[:80]


def encode_edit(edit: Edit) -> dict[str, Any]:
    return {type(edit).__name__.lower(): asdict(edit)}


def format_edit(edit: Edit) -> str:
    """Return an edit as a line that ``parse_edit_line`` reads."""
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
    return " ".join([type(edit).__name__.lower(), *(_quote_word(str(word)) for word in words)])


def describe_edit(edit: Edit) -> str:
    """Return an edit as an English phrase."""
    match edit:
        case Rename(topic, name):
            return f"rename {topic} to “{name}”" if name else f"call {topic} by its words"
        case Describe(topic, note):
            return f"{'write a note about' if note else 'take the note away from'} {topic}"
        case Merge(topics, name):
            return f"merge {_join_names(topics)}" + (f" as “{name}”" if name else "")
        case Group(topics, name):
            return f"put {_join_names(topics)} under a new heading “{name}”"
        case Split(topic, into, others):
            return f"split {_join_names((topic, *others))} in {into}{' each' if others else ''}"
        case Move(topic, under):
            return f"move {topic} under {under}"
        case Delete(topic, below):
            return f"delete {topic}{' and its subtopics' if below else ''}"
        case Pin(documents, topic):
            return f"pin {_describe_documents(documents)} to {topic}"
        case Unpin(documents):
            return f"unpin {_describe_documents(documents)}"
        case Branch(under, name, documents):
            return f"add “{name}” under {under} with {_describe_documents(documents)}"
        case Seed(topic, words):
            return f"assign {_join_names(words)} to {topic}"
        case Ignore(words):
            return f"ignore the word{'s' * (len(words) > 1)} {_join_names(words)}"
        case Unite(words):
            return f"count {_join_names(words[1:])} as {words[0]}"
        case Forget(words):
            return f"forget the edits of {_join_names(words)}"


def _join_names(topics: Sequence[str | int]) -> str:
    return f"{', '.join(map(str, topics[:-1]))} and {topics[-1]}" if len(topics) > 1 else str(topics[0])


def _describe_documents(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids):,} documents"


def map_topics(edit: Edit, function: Callable[[str | int], str | int]) -> Edit:
    """Return the edit with a function applied to every topic that it names."""
    changes: dict[str, Any] = {name: getattr(edit, name) for name in TOPIC_FIELDS if hasattr(edit, name)}
    for name, value in changes.items():
        changes[name] = tuple(map(function, value)) if isinstance(value, tuple) else function(value)
    return replace(edit, **changes)


def list_topics_in_edit(edit: Edit) -> tuple[str | int, ...]:
    """Return the topics that an edit names, as it names them."""
    values = [getattr(edit, name, ()) for name in TOPIC_FIELDS]
    return tuple(topic for value in values for topic in (value if isinstance(value, tuple) else (value,)))


def replace_topic_names(edit: Edit, names: Mapping[str, str], *, numbers: bool = True) -> Edit:
    """Return the edit with full topic names; without ``numbers``, names replace topic numbers too."""

    def find_name(topic: str | int) -> str | int:
        number = isinstance(topic, int) or re.fullmatch(r"#?\d+", topic)
        return topic if number and numbers else names.get(str(topic), topic)

    return map_topics(edit, find_name)


def _quote_word(word: str) -> str:
    """Quote a word that a shell or ``parse_edit_line`` would split or drop."""
    return word if word and not re.search(r"[^\w.,:@%+=/·-]", word) else shlex.quote(word)


def _check_value(kind: str, value: Any, where: str) -> Any:
    """Return a value as the type ``kind``; raise UsageError for a value of another type."""
    if kind.startswith("tuple"):
        values = value if isinstance(value, list | tuple) else [value]
        if not all(isinstance(item, str | int) and not isinstance(item, bool) for item in values):
            raise UsageError(f"{where}: expected a list of names, got {shorten(value)}")
        return tuple(values if "int" in kind else map(str, values))
    kinds: tuple[type, ...] = {"bool": (bool,), "int": (int,), "str": (str,)}.get(kind, (str, int))
    if value is None and "None" in kind:
        return None
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise UsageError(f"{where}: expected {' or '.join(item.__name__ for item in kinds)}, got {shorten(value)}")
    return value


def _describe_parts(kind: str) -> str:
    return f"Write - {kind}: {{{', '.join(f'{field.name}: …' for field in fields(EDIT_KINDS[kind]))}}}"


def parse_edits(entries: Iterable[Any]) -> tuple[Edit, ...]:
    """Return edits from values, entries of a file or lines of words."""
    edits: list[Edit] = []
    for place, entry in enumerate([entries] if isinstance(entries, str | Mapping) else entries, 1):
        if isinstance(entry, str):
            edits.append(parse_edit_line(entry))
        else:
            edits.append(entry if isinstance(entry, Edit) else parse_edit(entry, place))
    return tuple(edits)


def parse_edit_line(line: str) -> Edit:
    """Return the edit of a typed line, with quotes around names of several words."""
    try:
        words = shlex.split(line)
    except ValueError:  # an unclosed quote, as in: rename oil Driver's
        words = line.split()
    if not words:
        raise UsageError("expected an edit, got an empty line", hint=f"Write an edit such as {EDIT_FORMS['rename']}.")
    return parse_edit_words(words)


def parse_edit_words(words: Sequence[str]) -> Edit:
    """Return the edit of the words of a command, such as ``rename oil Energy``."""
    kind, *rest = words
    if kind not in EDIT_KINDS:
        raise UsageError(f"there is no edit called {kind!r}", hint=format_proposals(kind, list(EDIT_KINDS)))
    edit = _match_words(kind, rest)
    if edit is None:
        raise UsageError(f"{kind} cannot be used with {shorten(' '.join(rest))}", hint=f"Write {EDIT_FORMS[kind]}.")
    return edit


def _match_words(kind: str, rest: list[str]) -> Edit | None:
    """Return the edit of these words; None if they do not fit its kind."""
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
