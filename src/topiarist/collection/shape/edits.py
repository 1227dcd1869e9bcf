"""Edits of a topic tree, and their effect on its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from topiarist.collection.shape.tree_state import TreeState, check_length, make_unique, number_names, without_key
from topiarist.errors import UsageError
from topiarist.text.characters import clean_name, remove_controls
from topiarist.text.spelling import format_proposals
from topiarist.trees import edits as trees
from topiarist.trees.tree import Tree

MAX_NAME, MAX_NOTE, MAX_WORD = 200, 10_000, 200  # characters
MAX_PARTS = 100  # of a split


@dataclass(frozen=True)
class Rename:
    """Rename a topic; an empty name restores its words as its name."""

    topic: str | int
    name: str


@dataclass(frozen=True)
class Describe:
    """Write a note about a topic; an empty note removes it."""

    topic: str | int
    note: str


@dataclass(frozen=True)
class Merge:
    """Merge topics into the first one, at its place in the tree."""

    topics: tuple[str | int, ...]
    name: str | None = None


@dataclass(frozen=True)
class Group:
    """Group topics under a new heading below their nearest common ancestor."""

    topics: tuple[str | int, ...]
    name: str


@dataclass(frozen=True)
class Split:
    """Split a topic without subtopics into parts, and also the topics in ``others``."""

    topic: str | int
    into: int = 2
    others: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class Move:
    """Move a topic with its branch under another topic."""

    topic: str | int
    under: str | int


@dataclass(frozen=True)
class Delete:
    """Remove a topic; its documents are reassigned. Subtopics move up one level, or are removed with it (``below``)."""

    topic: str | int
    below: bool = False


@dataclass(frozen=True)
class Pin:
    """Pin documents, by their ids, to a topic."""

    documents: tuple[str, ...]
    topic: str | int


@dataclass(frozen=True)
class Unpin:
    """Release pinned documents to the topics that the model chooses."""

    documents: tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """Add a topic under another one and pin documents to it."""

    under: str | int
    name: str
    documents: tuple[str, ...]


@dataclass(frozen=True)
class Seed:
    """Assign seed words to a topic; they attract documents when the tree is fitted."""

    topic: str | int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Ignore:
    """Exclude words from the model; the full-text search still finds them."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Unite:
    """Count spellings as one word, the first."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Forget:
    """Revert the edits of words: seed words, ignored words and united spellings."""

    words: tuple[str, ...]


WordEdit = Seed | Ignore | Unite | Forget
Edit = Rename | Describe | Merge | Group | Split | Move | Delete | Pin | Unpin | Branch | WordEdit


def apply(shape: TreeState, edit: Edit) -> TreeState:
    """Return the state after an edit; an error leaves the state unchanged."""
    return _APPLY[type(edit)](shape, edit)


def _rename(shape: TreeState, edit: Rename) -> TreeState:
    """Return the state with a new topic name; an empty name removes the user's name."""
    topic, name = shape.find(edit.topic), clean_name(edit.name)
    check_length("name", name, MAX_NAME)
    titles = without_key(shape.titles, topic)
    if not name:
        return replace(shape, titles=titles)
    _check_name_is_free(shape, topic, name, repr(shape.name(topic)), "merge the topics")
    tree = trees.rename(shape.tree, shape.node(topic), name).tree
    return replace(shape, tree=tree, titles={**titles, topic: name})


def _check_name_is_free(shape: TreeState, topic: int, name: str, noun: str, alternative: str) -> None:
    """Raise UsageError if a sibling has the name."""
    for sibling in shape.siblings(topic):
        if shape.name(sibling) == name:
            raise UsageError(
                f"#{sibling}, a sibling of {noun}, has the name {name!r} already",
                hint=f"Choose another name, or {alternative}.",
            )


def _describe(shape: TreeState, edit: Describe) -> TreeState:
    topic, note = shape.find(edit.topic), remove_controls(edit.note).strip()
    check_length("note", note, MAX_NOTE)
    notes = without_key(shape.notes, topic)
    return replace(shape, notes={**notes, topic: note} if note else notes)


def _merge(shape: TreeState, edit: Merge) -> TreeState:
    """Return the state with topics merged into the first one; no topic can contain another."""
    topics = list(dict.fromkeys(shape.find(topic) for topic in edit.topics))
    if len(topics) < 2:
        raise UsageError(f"expected at least two topics to merge, got {len(topics)}", hint="Write merge TOPIC TOPIC.")
    first = topics[0]
    for other in topics[1:]:
        first_node, other_node = shape.node(first), shape.node(other)
        if first_node in shape.tree.path(other_node) or other_node in shape.tree.path(first_node):
            upper_topic, lower_topic = (first, other) if first_node in shape.tree.path(other_node) else (other, first)
            raise UsageError(
                f"{shape.name(lower_topic)!r} is below {shape.name(upper_topic)!r}, so they cannot be merged",
                hint=f"Delete #{lower_topic}; its documents stay under #{upper_topic}.",
            )
        parent = shape.tree.parents[first_node]
        if shape.tree.parents[other_node] != parent:
            shape = _move_topic(shape, other, shape.topics[parent])
        shape = _join_siblings(shape, first, other)
    return _rename(shape, Rename(first, edit.name)) if edit.name else shape


def _join_siblings(shape: TreeState, first: int, other: int) -> TreeState:
    """Merge two siblings; names of their children stay different."""
    first_node, other_node = shape.node(first), shape.node(other)
    names = list(shape.tree.names)
    number_names(names, shape.tree.children(other_node), map(shape.name, shape.children(first)))
    edit = trees.merge(Tree(shape.tree.parents, tuple(names)), [first_node, other_node])
    note = "\n".join(shape.notes[topic] for topic in (first, other) if topic in shape.notes)
    merged = shape.without_texts(other, first)
    merged = replace(
        merged,
        heading_topics=merged.heading_topics | ({first} if other in shape.heading_topics else set()),
        seeds=_add_seeds(merged.seeds, first, shape.seeds.get(other, ())),
        notes={**merged.notes, first: note} if note else merged.notes,
        merged_topics=merged.merged_topics | {first},
    )
    return _follow_tree(merged, edit, {other: first}, {other: first})


def _group(shape: TreeState, edit: Group) -> TreeState:
    """Return the state with topics under a new heading; emptied headings are removed."""
    topics, name = list(dict.fromkeys(shape.find(topic) for topic in edit.topics)), clean_name(edit.name)
    check_length("name", name, MAX_NAME)
    _check_group(shape, topics, name)
    common_topic = shape.topics[
        _find_common_node(shape.tree, [shape.tree.parents[shape.node(topic)] for topic in topics])
    ]
    old_parents = dict.fromkeys(shape.topics[shape.tree.parents[shape.node(topic)]] for topic in topics)
    heading, parent = shape.next_topic, shape.node(common_topic)
    passing_name = make_unique(name, map(shape.name, shape.children(common_topic)))
    shape = replace(
        shape, tree=Tree((*shape.tree.parents, parent), (*shape.tree.names, passing_name)),
        topics=(*shape.topics, heading), titles={**shape.titles, heading: name}, next_topic=heading + 1,
        added_topics=shape.added_topics | {heading}, heading_topics=shape.heading_topics | {heading},
    )  # fmt: skip
    for topic in topics:
        shape = _move_topic(shape, topic, heading)
    for topic in (*old_parents, common_topic):
        shape = _remove_empty_headings(shape, topic)
    node = shape.node(heading)
    if not shape.siblings(heading) and shape.tree.parents[node] == shape.tree.root:
        raise UsageError("a heading cannot hold all topics of the tree", hint="Leave out at least one topic.")
    _check_name_is_free(shape, heading, name, "the heading", "move the topics under it")
    return replace(shape, tree=_set_name(shape.tree, node, name))


def _check_group(shape: TreeState, topics: Sequence[int], name: str) -> None:
    """Raise UsageError for fewer than two topics, a missing name, or a topic below another."""
    if len(topics) < 2 or not name:
        missing = "a name" if not name else f"at least two topics, got {len(topics)}"
        raise UsageError(f"a heading needs {missing}", hint="Write group TOPIC TOPIC… as NAME.")
    for member in topics:
        heading = next(
            (topic for topic in topics if shape.node(topic) in shape.tree.path(shape.node(member))[:-1]), None
        )
        if heading == shape.root:
            raise UsageError("the root cannot be put under a heading", hint="Choose topics below it.")
        if heading is not None:
            raise UsageError(
                f"{shape.name(member)!r} is below {shape.name(heading)!r} and is grouped with it",
                hint=f"Leave out #{member}, or move it out of the branch first.",
            )


def _find_common_node(tree: Tree, nodes: Sequence[int]) -> int:
    shared = tree.path(nodes[0])
    for node in nodes[1:]:
        shared = tuple(step for step, other_step in zip(shared, tree.path(node), strict=False) if step == other_step)
    return shared[-1]


def _remove_empty_headings(shape: TreeState, topic: int) -> TreeState:
    """Remove a heading that lost its topics, and ancestors that lose their last topic by that.

    A heading without topics is removed. A heading with one topic is replaced by it, unless users have named the
    heading or written a note about it. A heading with documents assigned to it directly stays.
    """
    while topic in shape.node_of and topic != shape.root:
        n_children = len(shape.tree.children(shape.node(topic)))
        has_documents = topic in shape.class_topics or topic in shape.pins.values() or topic in shape.seeds
        if n_children > 1 or has_documents or (n_children and (topic in shape.titles or topic in shape.notes)):
            break
        parent_topic = shape.topics[shape.tree.parents[shape.node(topic)]]
        shape, topic = _remove_topic(shape, topic, parent_topic), parent_topic
    return shape


def _split(shape: TreeState, edit: Split) -> TreeState:
    for topic in dict.fromkeys(shape.find(topic) for topic in (edit.topic, *edit.others)):
        shape = _split_topic(shape, topic, edit)
    return shape


def _split_topic(shape: TreeState, topic: int, edit: Split) -> TreeState:
    """Return the state with new subtopics of a leaf, which the next fit fills; raise UsageError otherwise."""
    if not 2 <= edit.into <= MAX_PARTS:
        raise UsageError(f"expected 2 to {MAX_PARTS} parts, got {edit.into}", hint="Write split TOPIC 2.")
    node = shape.node(topic)
    if not shape.tree.is_leaf(node):
        subtopics = ", ".join(shape.tree.names[child] for child in shape.tree.children(node)[:3])
        raise UsageError(
            f"{shape.name(topic)!r} has subtopics already",
            hint=f"Split a subtopic ({subtopics}), or delete the subtopics first.",
        )
    tree_edit = trees.split(shape.tree, node, edit.into)
    numbers = range(shape.next_topic, shape.next_topic + edit.into)
    topics = (*shape.topics, *numbers)
    merged_topics = shape.merged_topics - {topic}
    return replace(
        shape, tree=tree_edit.tree, topics=topics, merged_topics=merged_topics, next_topic=numbers.stop, pending=True
    )


def _move(shape: TreeState, edit: Move) -> TreeState:
    """Return the state with a topic under another; raise UsageError for a move into its own branch."""
    topic, under = shape.find(edit.topic), shape.find(edit.under)
    node, parent = shape.node(topic), shape.node(under)
    if node == shape.tree.root:
        raise UsageError("the root cannot be moved", hint="Move a topic below it.")
    if node in shape.tree.path(parent):
        raise UsageError(
            f"{shape.name(topic)!r} cannot be moved under {shape.name(under)!r}, because that is the topic itself or below it",
            hint="Choose a topic outside of its branch.",
        )
    return shape if shape.tree.parents[node] == parent else _move_topic(shape, topic, under)


def _move_topic(shape: TreeState, topic: int, under: int) -> TreeState:
    """Move a topic under another parent, with a number after its name if a new sibling has the name."""
    node, parent = shape.node(topic), shape.node(under)
    name = make_unique(shape.name(topic), map(shape.name, shape.children(under)))
    tree = shape.tree if name == shape.name(topic) else _set_name(shape.tree, node, name)
    return _follow_tree(shape, trees.move(tree, node, parent), {}, {})


def _delete(shape: TreeState, edit: Delete) -> TreeState:
    """Return the state without a topic, or its branch; its documents and other subtopics go to its parent."""
    topic = shape.find(edit.topic)
    node = shape.node(topic)
    if node == shape.tree.root:
        raise UsageError("the root cannot be deleted", hint="Delete a topic below it.")
    if edit.below and not shape.tree.is_leaf(node):
        for lower_topic in [shape.topics[lower] for lower in reversed(shape.tree.descendants(node))]:
            shape = _remove_topic(shape, lower_topic, topic)
    return _remove_topic(shape, topic, shape.topics[shape.tree.parents[shape.node(topic)]])


def _remove_topic(shape: TreeState, topic: int, heir: int) -> TreeState:
    """Remove one topic and give its documents and pins to another."""
    node, tree = shape.node(topic), shape.tree
    if tree.is_leaf(node):
        parents = tuple(parent - (parent > node) for n, parent in enumerate(tree.parents) if n != node)
        nodes_left = tuple(n for n in range(len(tree)) if n != node)
        edit = trees.Edit(Tree(parents, tuple(tree.names[n] for n in nodes_left)), nodes_left)
    else:
        names = list(tree.names)
        number_names(names, tree.children(node), map(shape.name, shape.siblings(topic)))
        edit = trees.collapse(Tree(tree.parents, tuple(names)), [node])
    return _follow_tree(shape.without_texts(topic, heir), edit, {topic: heir}, {topic: -1})


def _pin(shape: TreeState, edit: Pin) -> TreeState:
    topic = shape.find(edit.topic)
    if not edit.documents:
        raise UsageError("no documents to pin", hint="Write pin DOCUMENT… to TOPIC.")
    return replace(shape, pins={**shape.pins, **dict.fromkeys(edit.documents, topic)}, pending=True)


def _hint_pins(shape: TreeState) -> str:
    documents = ", ".join(list(shape.pins)[:3])
    return f"Choose from the pinned documents, such as {documents}." if documents else "Write pin DOCUMENT… to TOPIC."


def _unpin(shape: TreeState, edit: Unpin) -> TreeState:
    """Return the state without these pins; raise UsageError for a document without a pin."""
    not_pinned = [document for document in edit.documents if document not in shape.pins]
    if not_pinned or not edit.documents:
        message = f"{not_pinned[0]!r} is not pinned to a topic" if not_pinned else "no documents to unpin"
        raise UsageError(message, hint=_hint_pins(shape))
    pins = {document: topic for document, topic in shape.pins.items() if document not in edit.documents}
    return replace(shape, pins=pins, pending=True)


def _branch(shape: TreeState, edit: Branch) -> TreeState:
    """Return the state with a new named topic and documents pinned to it."""
    under, name, topic = shape.find(edit.under), clean_name(edit.name), shape.next_topic
    check_length("name", name, MAX_NAME)
    if not name or not edit.documents:
        missing = "a name" if not name else "documents"
        raise UsageError(f"a new topic needs {missing}", hint="Write branch NAME under TOPIC with DOCUMENT….")
    if name in map(shape.name, shape.children(under)):
        raise UsageError(
            f"a topic called {name!r} exists already under {shape.name(under)!r}", hint="Pin the documents to it."
        )
    tree = Tree((*shape.tree.parents, shape.node(under)), (*shape.tree.names, name))
    extended = replace(
        shape, tree=tree, topics=(*shape.topics, topic), titles={**shape.titles, topic: name},
        added_topics=shape.added_topics | {topic}, next_topic=topic + 1,
    )  # fmt: skip
    return _pin(extended, Pin(edit.documents, topic))


def _seed(shape: TreeState, edit: Seed) -> TreeState:
    """Return the state with seed words of a topic; raise UsageError for an ignored word."""
    topic, words = shape.find(edit.topic), _clean_words(edit.words, "seed TOPIC with WORD…")
    words = [shape.word(word) for word in words]
    ignored_word = next((word for word in words if word in shape.ignored), None)
    if ignored_word is not None:
        raise UsageError(
            f"{ignored_word!r} is ignored and cannot be a seed word",
            hint=f"Write forget {ignored_word} first.",
        )
    seeds = _add_seeds(shape.seeds, topic, words)
    return shape if seeds == shape.seeds else replace(shape, seeds=seeds, pending=True)


def _ignore(shape: TreeState, edit: Ignore) -> TreeState:
    """Return the state with ignored words; raise UsageError for a seed word."""
    words = [shape.word(word) for word in _clean_words(edit.words, "ignore WORD…")]
    for topic, seeds in shape.seeds.items():
        seed_word = next((word for word in words if word in seeds), None)
        if seed_word is not None:
            raise UsageError(
                f"{seed_word!r} is a seed word of {shape.name(topic)!r} and cannot be ignored",
                hint=f"Write forget {seed_word} first.",
            )
    ignored = tuple(dict.fromkeys((*shape.ignored, *words)))
    return shape if ignored == shape.ignored else replace(shape, ignored=ignored, pending=True)


def _unite(shape: TreeState, edit: Unite) -> TreeState:
    """Return the state in which spellings count as the first word, also in seed words."""
    words = list(dict.fromkeys(shape.word(word) for word in _clean_words(edit.words, "unite WORD = WORD")))
    if len(_clean_words(edit.words, "")) < 2:
        raise UsageError("expected two spellings of a word to unite", hint="Write unite WORD = WORD.")
    ignored_word = next((word for word in words if word in shape.ignored), None)
    if ignored_word is not None:
        raise UsageError(
            f"{ignored_word!r} is ignored and cannot be united", hint=f"Write forget {ignored_word} first."
        )
    if len(words) < 2:
        return shape
    first, others = words[0], words[1:]
    word_of_spelling = {spelling: first if word in others else word for spelling, word in shape.united.items()}
    word_of_spelling |= dict.fromkeys(others, first)
    seeds = {
        topic: tuple(dict.fromkeys(first if word in others else word for word in topic_words))
        for topic, topic_words in shape.seeds.items()
    }
    return replace(shape, united=word_of_spelling, seeds=seeds, pending=True)


def _forget(shape: TreeState, edit: Forget) -> TreeState:
    """Return the state without word edits of these words; raise UsageError for a word without one."""
    for word in _clean_words(edit.words, "forget WORD…"):
        seeds = {
            topic: tuple(other_word for other_word in words_left if other_word != word)
            for topic, words_left in shape.seeds.items()
        }
        seeds = {topic: words_left for topic, words_left in seeds.items() if words_left}
        words_united = {spelling: other for spelling, other in shape.united.items() if word not in (spelling, other)}
        ignored = tuple(other_word for other_word in shape.ignored if other_word != word)
        if (seeds, words_united, ignored) == (dict(shape.seeds), dict(shape.united), shape.ignored):
            words_left = [
                *shape.ignored,
                *shape.united,
                *(other_word for words in shape.seeds.values() for other_word in words),
            ]
            raise UsageError(
                f"no edit uses the word {word!r}", hint=format_proposals(word, words_left) or "Write ignore WORD…."
            )
        shape = replace(shape, seeds=seeds, united=words_united, ignored=ignored, pending=True)
    return shape


def _add_seeds(seeds: Mapping[int, tuple[str, ...]], topic: int, words: Sequence[str]) -> dict[int, tuple[str, ...]]:
    return {**seeds, topic: tuple(dict.fromkeys((*seeds.get(topic, ()), *words)))} if words else dict(seeds)


def _clean_words(words: Sequence[str], form: str) -> list[str]:
    """Return distinct lower-case words; raise UsageError for none or for a too long word."""
    plain = list(dict.fromkeys(" ".join(word.casefold().split()) for word in words))
    plain = [word for word in plain if word]
    for word in plain:
        check_length("word", word, MAX_WORD)
    if not plain:
        raise UsageError("no words are named", hint=f"Write {form}.")
    return plain


def _follow_tree(shape: TreeState, edit: trees.Edit, classes: Mapping[int, int], nodes: Mapping[int, int]) -> TreeState:
    """Return the state on the changed tree; classes and nodes of removed topics follow their heirs."""
    return replace(
        shape,
        tree=edit.tree,
        topics=tuple(shape.topics[old] for old in edit.origin),
        class_topics=tuple(classes.get(topic, topic) for topic in shape.class_topics),
        node_topics=tuple(nodes.get(topic, topic) for topic in shape.node_topics),
        pending=True,
    )


def _set_name(tree: Tree, node: int, name: str) -> Tree:
    """Return the tree with another name of a node; a sibling may briefly have the same name."""
    return Tree(tree.parents, (*tree.names[:node], name, *tree.names[node + 1 :]))


_APPLY: dict[type[Any], Callable[[TreeState, Any], TreeState]] = {
    Rename: _rename, Describe: _describe, Merge: _merge, Group: _group, Split: _split,
    Move: _move, Delete: _delete, Pin: _pin, Unpin: _unpin, Branch: _branch,
    Seed: _seed, Ignore: _ignore, Unite: _unite, Forget: _forget,
}  # fmt: skip
EDIT_KINDS: Mapping[str, type[Any]] = {kind.__name__.lower(): kind for kind in _APPLY}
