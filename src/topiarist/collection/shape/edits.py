"""The edits: what each of them says, and what it makes of a shape. Nothing else is changed by any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from topiarist.collection.shape.shape import Shape, check_length, unlike
from topiarist.errors import UsageError
from topiarist.hierarchy import edits as trees
from topiarist.hierarchy.tree import Tree
from topiarist.text.spelling import proposed

LONGEST_NAME, LONGEST_NOTE, LONGEST_WORD = 200, 10_000, 200
MOST_PARTS = 100


@dataclass(frozen=True)
class Rename:
    """Call a topic something; an empty name gives it its words back."""

    topic: str | int
    name: str


@dataclass(frozen=True)
class Describe:
    """Write a note about a topic; an empty one removes it."""

    topic: str | int
    note: str


@dataclass(frozen=True)
class Merge:
    """Make topics one: the first, where it hangs."""

    topics: tuple[str | int, ...]
    name: str | None = None


@dataclass(frozen=True)
class Group:
    """Put topics under a new heading, which hangs from the nearest topic above all of them."""

    topics: tuple[str | int, ...]
    name: str


@dataclass(frozen=True)
class Split:
    """Divide a topic that has no subtopics into some, and others like it."""

    topic: str | int
    into: int = 2
    others: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class Move:
    """Hang a topic, with all below it, under another one."""

    topic: str | int
    under: str | int


@dataclass(frozen=True)
class Delete:
    """Remove a topic. Its subtopics go one level up, or go with it (``below``); its documents find other places."""

    topic: str | int
    below: bool = False


@dataclass(frozen=True)
class Pin:
    """Say that documents, by their ids, belong to a topic."""

    documents: tuple[str, ...]
    topic: str | int


@dataclass(frozen=True)
class Unpin:
    """Let pinned documents go where the model puts them."""

    documents: tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """Add a topic under another one, for documents that belong to it."""

    under: str | int
    name: str
    documents: tuple[str, ...]


@dataclass(frozen=True)
class Seed:
    """Say that words belong to a topic: they draw documents there when the tree is fitted."""

    topic: str | int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Ignore:
    """Say that the tree must not see some words; full text finds them as before."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Unite:
    """Say that spellings are one word: the first."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Forget:
    """Take back whatever was said of some words: that they belong to topics, are ignored, or are one with others."""

    words: tuple[str, ...]


WordEdit = Seed | Ignore | Unite | Forget
Edit = Rename | Describe | Merge | Group | Split | Move | Delete | Pin | Unpin | Branch | WordEdit
_EVERY = (Rename, Describe, Merge, Group, Split, Move, Delete, Pin, Unpin, Branch, Seed, Ignore, Unite, Forget)
KINDS: Mapping[str, type[Any]] = {kind.__name__.lower(): kind for kind in _EVERY}
T = TypeVar("T")


def apply(shape: Shape, edit: Edit) -> Shape:
    """The shape after an edit, or an error that leaves everything as it is."""
    return _HOW[type(edit)](shape, edit)


def _rename(shape: Shape, edit: Rename) -> Shape:
    topic, name = shape.find(edit.topic), " ".join(edit.name.split())
    check_length("name", name, LONGEST_NAME)
    titles = _without(shape.titles, {topic})
    if not name:
        return replace(shape, titles=titles)
    node = shape.node(topic)
    siblings = [n for n in _siblings(shape.tree, node) if shape.tree.names[n] == name]
    if siblings:
        raise UsageError(
            f"#{shape.topics[siblings[0]]}, beside {shape.name(topic)!r}, is called {name!r} already",
            hint="another name, or merge them",
        )
    tree = trees.rename(shape.tree, node, name).tree
    return replace(shape, tree=tree, titles={**titles, topic: name})


def _describe(shape: Shape, edit: Describe) -> Shape:
    topic, note = shape.find(edit.topic), edit.note.strip()
    check_length("note", note, LONGEST_NOTE)
    notes = _without(shape.notes, {topic})
    return replace(shape, notes={**notes, topic: note} if note else notes)


def _merge(shape: Shape, edit: Merge) -> Shape:
    topics = list(dict.fromkeys(shape.find(topic) for topic in edit.topics))
    if len(topics) < 2:
        raise UsageError(f"merging needs at least two topics, got {len(topics)}", hint="merge A B")
    first = topics[0]
    for other in topics[1:]:
        one, two = shape.node(first), shape.node(other)
        if one in shape.tree.path(two) or two in shape.tree.path(one):
            above, below = (first, other) if one in shape.tree.path(two) else (other, first)
            raise UsageError(
                f"{shape.name(below)!r} lies under {shape.name(above)!r}; they cannot be merged as they are",
                hint=f"delete #{below}, and its documents stay under #{above}",
            )
        parent = shape.tree.parents[one]
        if shape.tree.parents[two] != parent:
            shape = _hung(shape, other, shape.topics[parent])
        shape = _joined(shape, first, other)
    return _rename(shape, Rename(first, edit.name)) if edit.name else shape


def _joined(shape: Shape, first: int, other: int) -> Shape:
    """Two siblings are one; what their children are called stays different."""
    one, two = shape.node(first), shape.node(other)
    names, taken = list(shape.tree.names), {shape.tree.names[child] for child in shape.tree.children(one)}
    for child in shape.tree.children(two):
        names[child] = unlike(names[child], taken)
        taken.add(names[child])
    changed = trees.merge(Tree(shape.tree.parents, tuple(names)), [one, two])
    notes = dict(shape.notes)
    if other in notes:
        notes[first] = "\n".join(note for note in (notes.get(first), notes.pop(other)) if note)
    pins = {document: first if topic == other else topic for document, topic in shape.pins.items()}
    held = shape.held - {other} | {first}
    merged = replace(
        shape,
        grafted=shape.grafted - {other},
        gathered=shape.gathered - {other} | ({first} if other in shape.gathered else set()),
        seeds=_sown(_without(shape.seeds, {other}), first, shape.seeds.get(other, ())),
        notes=notes,
        titles=_without(shape.titles, {other}),
        pins=pins,
        held=held,
    )
    return _changed(merged, changed, {other: first}, {other: first})


def _group(shape: Shape, edit: Group) -> Shape:
    topics, name = list(dict.fromkeys(shape.find(topic) for topic in edit.topics)), " ".join(edit.name.split())
    check_length("name", name, LONGEST_NAME)
    _check_group(shape, topics, name)
    above = shape.topics[_common(shape.tree, [shape.tree.parents[shape.node(topic)] for topic in topics])]
    emptied = dict.fromkeys(shape.topics[shape.tree.parents[shape.node(topic)]] for topic in topics)
    heading, parent = shape.next_topic, shape.node(above)
    passing = unlike(name, (shape.tree.names[child] for child in shape.tree.children(parent)))
    shape = replace(
        shape, tree=Tree((*shape.tree.parents, parent), (*shape.tree.names, passing)),
        topics=(*shape.topics, heading), titles={**shape.titles, heading: name}, next_topic=heading + 1,
        grafted=shape.grafted | {heading}, gathered=shape.gathered | {heading},
    )  # fmt: skip
    for topic in topics:
        shape = _hung(shape, topic, heading)
    for topic in (*emptied, above):
        shape = _without_empty(shape, topic)
    node = shape.node(heading)
    others = _siblings(shape.tree, node)
    if not others and shape.tree.parents[node] == shape.tree.root:
        raise UsageError("these are all topics there are, and a heading over all says nothing", hint="leave one out")
    taken = [other for other in others if shape.tree.names[other] == name]
    if taken:
        raise UsageError(
            f"#{shape.topics[taken[0]]}, which would be beside it, is called {name!r} already",
            hint="another name, or move them under it",
        )
    return replace(shape, tree=_called(shape.tree, node, name))


def _check_group(shape: Shape, topics: Sequence[int], name: str) -> None:
    """At least two topics, none of them above another, and a name for their heading."""
    if len(topics) < 2 or not name:
        missing = "a name" if not name else f"at least two topics, got {len(topics)}"
        raise UsageError(f"a heading needs {missing}", hint="group TOPIC TOPIC… as NAME")
    for below in topics:
        above = next((topic for topic in topics if shape.node(topic) in shape.tree.path(shape.node(below))[:-1]), None)
        if above == shape.root:
            raise UsageError("the topic above all others cannot be put under a heading", hint="topics below it")
        if above is not None:
            raise UsageError(
                f"{shape.name(below)!r} lies under {shape.name(above)!r}, and comes with it",
                hint=f"without #{below}, or first move it elsewhere",
            )


def _common(tree: Tree, nodes: Sequence[int]) -> int:
    """The nearest node that is above all of these, or one of them."""
    shared = tree.path(nodes[0])
    for node in nodes[1:]:
        shared = tuple(one for one, other in zip(shared, tree.path(node), strict=False) if one == other)
    return shared[-1]


def _without_empty(shape: Shape, topic: int) -> Shape:
    """Without a heading that lost its topics, and those above it that lose their last one by that.

    A heading of nothing goes. Of a heading of one topic that topic takes the place, unless people have named the
    heading or written a note about it. What has documents of its own stays.
    """
    while topic in shape.node_of and topic != shape.root:
        below = len(shape.tree.children(shape.node(topic)))
        own = topic in shape.class_topics or topic in shape.pins.values() or topic in shape.seeds
        if below > 1 or own or (below and (topic in shape.titles or topic in shape.notes)):
            break
        above = shape.topics[shape.tree.parents[shape.node(topic)]]
        shape, topic = _deleted(shape, topic, above), above
    return shape


def _split(shape: Shape, edit: Split) -> Shape:
    for topic in dict.fromkeys(shape.find(topic) for topic in (edit.topic, *edit.others)):
        shape = _parted(shape, topic, edit)
    return shape


def _parted(shape: Shape, topic: int, edit: Split) -> Shape:
    """One topic divided."""
    if not 2 <= edit.into <= MOST_PARTS:
        raise UsageError(f"a topic splits into 2 to {MOST_PARTS}, got {edit.into}", hint="split TOPIC 2")
    node = shape.node(topic)
    if not shape.tree.is_leaf(node):
        below = ", ".join(shape.tree.names[child] for child in shape.tree.children(node)[:3])
        raise UsageError(
            f"{shape.name(topic)!r} has subtopics already", hint=f"split one of them ({below}), or delete them first"
        )
    changed = trees.split(shape.tree, node, edit.into)
    numbers = range(shape.next_topic, shape.next_topic + edit.into)
    topics = (*shape.topics, *numbers)
    held = shape.held - {topic}
    return replace(shape, tree=changed.tree, topics=topics, held=held, next_topic=numbers.stop, pending=True)


def _move(shape: Shape, edit: Move) -> Shape:
    topic, under = shape.find(edit.topic), shape.find(edit.under)
    node, parent = shape.node(topic), shape.node(under)
    if node == shape.tree.root:
        raise UsageError("the topic above all others cannot be moved", hint="move one below it")
    if node in shape.tree.path(parent):
        raise UsageError(
            f"{shape.name(topic)!r} cannot be moved under {shape.name(under)!r}, which is itself or below it",
            hint="a topic outside of it",
        )
    return shape if shape.tree.parents[node] == parent else _hung(shape, topic, under)


def _hung(shape: Shape, topic: int, under: int) -> Shape:
    """The topic under another parent, with a number behind its name if a new sibling has it."""
    node, parent = shape.node(topic), shape.node(under)
    name = unlike(shape.tree.names[node], (shape.tree.names[child] for child in shape.tree.children(parent)))
    tree = shape.tree if name == shape.tree.names[node] else _called(shape.tree, node, name)
    return _changed(shape, trees.move(tree, node, parent), {}, {})


def _delete(shape: Shape, edit: Delete) -> Shape:
    topic = shape.find(edit.topic)
    node = shape.node(topic)
    if node == shape.tree.root:
        raise UsageError("the topic above all others cannot be deleted", hint="delete one below it")
    if edit.below and not shape.tree.is_leaf(node):
        for below in [shape.topics[lower] for lower in reversed(shape.tree.descendants(node))]:
            shape = _deleted(shape, below, topic)
    return _deleted(shape, topic, shape.topics[shape.tree.parents[shape.node(topic)]])


def _deleted(shape: Shape, topic: int, heir: int) -> Shape:
    """Without one topic; its documents, and what was pinned to it, go to another."""
    node, tree = shape.node(topic), shape.tree
    if tree.is_leaf(node):
        parents = tuple(parent - (parent > node) for n, parent in enumerate(tree.parents) if n != node)
        kept = tuple(n for n in range(len(tree)) if n != node)
        changed = trees.Edit(Tree(parents, tuple(tree.names[n] for n in kept)), kept)
    else:
        names, taken = list(tree.names), {tree.names[n] for n in tree.children(tree.parents[node]) if n != node}
        for child in tree.children(node):
            names[child] = unlike(names[child], taken)
            taken.add(names[child])
        changed = trees.collapse(Tree(tree.parents, tuple(names)), [node])
    pins = {document: heir if pinned == topic else pinned for document, pinned in shape.pins.items()}
    titles, notes = _without(shape.titles, {topic}), _without(shape.notes, {topic})
    held, grafted, gathered = shape.held - {topic}, shape.grafted - {topic}, shape.gathered - {topic}
    gone = replace(
        shape, titles=titles, notes=notes, pins=pins, held=held, grafted=grafted, gathered=gathered,
        seeds=_without(shape.seeds, {topic}),
    )  # fmt: skip
    return _changed(gone, changed, {topic: heir}, {topic: -1})


def _pin(shape: Shape, edit: Pin) -> Shape:
    topic = shape.find(edit.topic)
    if not edit.documents:
        raise UsageError("no documents to pin", hint="pin DOCUMENT… to TOPIC")
    return replace(shape, pins={**shape.pins, **dict.fromkeys(edit.documents, topic)}, pending=True)


def _unpin(shape: Shape, edit: Unpin) -> Shape:
    free = [document for document in edit.documents if document not in shape.pins]
    if free or not edit.documents:
        said = f"{free[0]!r} is not pinned to a topic" if free else "no documents to unpin"
        raise UsageError(said, hint=", ".join(list(shape.pins)[:3]) or "pin DOCUMENT… to TOPIC")
    return replace(shape, pins=_without(shape.pins, set(edit.documents)), pending=True)


def _branch(shape: Shape, edit: Branch) -> Shape:
    under, name, topic = shape.find(edit.under), " ".join(edit.name.split()), shape.next_topic
    check_length("name", name, LONGEST_NAME)
    if not name or not edit.documents:
        missing = "a name" if not name else "documents"
        raise UsageError(f"a new topic needs {missing}", hint="branch NAME under TOPIC with DOCUMENT…")
    parent = shape.node(under)
    if name in {shape.tree.names[child] for child in shape.tree.children(parent)}:
        raise UsageError(f"there is a topic called {name!r} under {shape.name(under)!r} already", hint="pin them to it")
    tree = Tree((*shape.tree.parents, parent), (*shape.tree.names, name))
    grown = replace(
        shape, tree=tree, topics=(*shape.topics, topic), titles={**shape.titles, topic: name},
        grafted=shape.grafted | {topic}, next_topic=topic + 1,
    )  # fmt: skip
    return _pin(grown, Pin(edit.documents, topic))


def _seed(shape: Shape, edit: Seed) -> Shape:
    topic, words = shape.find(edit.topic), _words(edit.words, "seed TOPIC with WORD…")
    words = [shape.word(word) for word in words]
    barred = next((word for word in words if word in shape.ignored), None)
    if barred is not None:
        raise UsageError(
            f"{barred!r} is ignored, and a word that the tree does not see cannot belong to a topic",
            hint=f"first: forget {barred}",
        )
    seeds = _sown(shape.seeds, topic, words)
    return shape if seeds == shape.seeds else replace(shape, seeds=seeds, pending=True)


def _ignore(shape: Shape, edit: Ignore) -> Shape:
    words = [shape.word(word) for word in _words(edit.words, "ignore WORD…")]
    for topic, seeds in shape.seeds.items():
        barred = next((word for word in words if word in seeds), None)
        if barred is not None:
            raise UsageError(
                f"{barred!r} belongs to {shape.name(topic)!r}, as somebody said, and cannot be ignored as well",
                hint=f"first: forget {barred}",
            )
    ignored = tuple(dict.fromkeys((*shape.ignored, *words)))
    return shape if ignored == shape.ignored else replace(shape, ignored=ignored, pending=True)


def _unite(shape: Shape, edit: Unite) -> Shape:
    words = list(dict.fromkeys(shape.word(word) for word in _words(edit.words, "unite WORD = WORD")))
    if len(_words(edit.words, "")) < 2:
        raise UsageError("uniting needs two spellings of a word", hint="unite WORD = WORD")
    barred = next((word for word in words if word in shape.ignored), None)
    if barred is not None:
        raise UsageError(f"{barred!r} is ignored, and is one with no other word", hint=f"first: forget {barred}")
    if len(words) < 2:
        return shape
    first, others = words[0], words[1:]
    united = {spelling: first if word in others else word for spelling, word in shape.united.items()}
    united |= dict.fromkeys(others, first)
    seeds = {
        topic: tuple(dict.fromkeys(first if word in others else word for word in known))
        for topic, known in shape.seeds.items()
    }
    return replace(shape, united=united, seeds=seeds, pending=True)


def _forget(shape: Shape, edit: Forget) -> Shape:
    for word in _words(edit.words, "forget WORD…"):
        seeds = {topic: tuple(one for one in known if one != word) for topic, known in shape.seeds.items()}
        seeds = {topic: known for topic, known in seeds.items() if known}
        united = {spelling: other for spelling, other in shape.united.items() if word not in (spelling, other)}
        ignored = tuple(one for one in shape.ignored if one != word)
        if (seeds, united, ignored) == (dict(shape.seeds), dict(shape.united), shape.ignored):
            known = [*shape.ignored, *shape.united, *(one for words in shape.seeds.values() for one in words)]
            raise UsageError(f"nothing was said of the word {word!r}", hint=proposed(word, known) or "ignore WORD…")
        shape = replace(shape, seeds=seeds, united=united, ignored=ignored, pending=True)
    return shape


def _sown(seeds: Mapping[int, tuple[str, ...]], topic: int, words: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Seeds with some more at a topic."""
    return {**seeds, topic: tuple(dict.fromkeys((*seeds.get(topic, ()), *words)))} if words else dict(seeds)


def _words(words: Sequence[str], form: str) -> list[str]:
    """Words as they are counted: in small letters, each once."""
    plain = list(dict.fromkeys(" ".join(word.casefold().split()) for word in words))
    plain = [word for word in plain if word]
    for word in plain:
        check_length("word", word, LONGEST_WORD)
    if not plain:
        raise UsageError("no words are named", hint=form)
    return plain


def _changed(shape: Shape, edit: trees.Edit, classes: Mapping[int, int], nodes: Mapping[int, int]) -> Shape:
    """The shape on the changed tree; classes and nodes of the model follow the topics that are gone."""
    return replace(
        shape,
        tree=edit.tree,
        topics=tuple(shape.topics[old] for old in edit.origin),
        class_topics=tuple(classes.get(topic, topic) for topic in shape.class_topics),
        node_topics=tuple(nodes.get(topic, topic) for topic in shape.node_topics),
        pending=True,
    )


def _called(tree: Tree, node: int, name: str) -> Tree:
    """The tree with a name that may for a moment be that of nobody else's sibling."""
    return Tree(tree.parents, (*tree.names[:node], name, *tree.names[node + 1 :]))


def _siblings(tree: Tree, node: int) -> tuple[int, ...]:
    parent = tree.parents[node]
    return tuple(n for n in tree.children(parent) if n != node) if parent >= 0 else ()


def _without(mapping: Mapping[Any, T], keys: set[Any]) -> dict[Any, T]:
    return {key: value for key, value in mapping.items() if key not in keys}


_HOW: dict[type[Any], Callable[[Shape, Any], Shape]] = {
    Rename: _rename, Describe: _describe, Merge: _merge, Group: _group, Split: _split,
    Move: _move, Delete: _delete, Pin: _pin, Unpin: _unpin, Branch: _branch,
    Seed: _seed, Ignore: _ignore, Unite: _unite, Forget: _forget,
}  # fmt: skip
