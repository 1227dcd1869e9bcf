"""Opening an index: nothing in its folder is believed before it was looked at.

A manifest may name only files of its own folder, by plain names, and every file that is read must be among them, in
full. Then the arrays must fit together (``soundness``). Arrays are memory-mapped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from topiarist.collection.find.index.index_folder import AGAIN, INDEX, LENS_ARRAYS, LENS_NUMBERS, SEGMENT, Kept
from topiarist.collection.find.index.segments import Documents, Segment
from topiarist.collection.find.index.soundness import check_sound
from topiarist.collection.find.index.topics import Shape
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, TopiaristError
from topiarist.hierarchy import Tree
from topiarist.models.engine import Postings
from topiarist.models.fisher.scores import Lens
from topiarist.store.array_files import mapped
from topiarist.store.seal import NAME, FileEntry, check_file, plain, read_body

VOCABULARY = "vocabulary.json"
# what reading values that somebody made up may end in
WRONG = (
    TopiaristError, KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError, OSError,
)  # fmt: skip


def opened(cls: Any, folder: Path, *, check: bool) -> Any:
    """The index in a folder. One that is added to while it is opened is opened again, as it is now."""
    folder = folder.resolve()
    body, stamp = read_body(folder, INDEX)
    while True:
        try:
            return _index(cls, folder, body, stamp, check=check)
        except TopiaristError:
            before = stamp
            body, stamp = read_body(folder, INDEX)
            if stamp == before:
                raise


def _index(cls: Any, folder: Path, body: dict[str, Any], stamp: str, *, check: bool) -> Any:
    try:
        files = _checked_files(folder, body["files"], check=check)
        lenses = tuple(_lens(folder, files, number, known) for number, known in enumerate(body["lenses"]))
        names = [name if SEGMENT.fullmatch(plain(name)) else plain("/") for name in body["segments"]]
        segments = tuple(_segment(folder, files, name, body["same_rows"]) for name in names)
        phrases = body["settings"]["phrases"]
        settings = CountSettings(
            **{**body["settings"], "phrases": None if phrases is None else PhraseSettings(**phrases)}
        )
        vocabulary = None
        if VOCABULARY in files:
            vocabulary = Vocabulary(**json.loads((folder / VOCABULARY).read_text(encoding="utf-8")))
        words = tuple(tuple(tuple(topic) for topic in model) for model in body["topic_words"])
        shape = _shape(body["shape"], words)
        index = cls(
            lenses, segments, tuple(map(tuple, body["parts"])), body["normalise"], body["dtype"], vocabulary,
            settings, shape, words, _class_words(body, words, shape, lenses), Kept(folder, tuple(names), stamp),
        )  # fmt: skip
        check_sound(index, numbers=check)
    except WRONG as error:
        if isinstance(error, TopiaristError) and error.hint == AGAIN:  # a file that is named
            raise
        said = error.message if isinstance(error, TopiaristError) else repr(error)
        raise InputError(f"{folder / NAME} is damaged: {said}", hint=AGAIN) from error
    return index


def _checked_files(folder: Path, files: Any, *, check: bool) -> dict[str, Path]:
    """The files that the manifest names: of this folder, no links to others, and in full."""
    found = {}
    for name, entry in files.items():
        parts = name.split("/")
        path = folder.joinpath(*map(plain, parts))
        if len(parts) > 2 or path.is_symlink() or path.parent.is_symlink():
            raise ValueError(f"a file called {name!r}")
        check_file(path, FileEntry(int(entry["bytes"]), str(entry["sha256"])), contents=check, again=AGAIN)
        found[name] = path
    return found


def _shape(known: Any, words: Any) -> Shape | None:
    if known is None:
        return None
    model = known["model"]
    if isinstance(model, bool) or not isinstance(model, int) or not 0 <= model < len(words):
        raise ValueError(f"the tree of model {model!r}")
    return Shape(Tree.from_dict(known["tree"]), tuple(map(int, known["class_nodes"])), model, words[model])


def _class_words(body: dict[str, Any], words: Any, shape: Shape | None, lenses: Any) -> Any:
    """The words of classes; folders of the first version tell those of the first tree only."""
    if "class_words" in body:
        return tuple(tuple(tuple(of_class) for of_class in model) for model in body["class_words"])
    found = [
        of_topics if len(of_topics) == lens.n_classes else ((),) * lens.n_classes
        for of_topics, lens in zip(words, lenses, strict=True)
    ]
    if shape is not None:
        found[shape.model] = tuple(shape.words[node] for node in shape.class_nodes)
    return tuple(found)


def _lens(folder: Path, files: dict[str, Path], number: int, known: dict[str, Any]) -> Lens:
    paths = {name: files.get(f"lens-{number}/{name}.npy") for name in LENS_ARRAYS}
    arrays: dict[str, Any] = {name: None if path is None else mapped(path) for name, path in paths.items()}
    if set(known) - set(LENS_NUMBERS) or any(arrays[name] is None for name in ("by_word", "class_prior")):
        raise ValueError(f"model {number} is not complete")
    return Lens(**arrays, **known)


def _segment(folder: Path, files: dict[str, Path], name: str, same_rows: list[bool]) -> Segment:
    known = json.loads(files[f"{name}/documents.json"].read_text(encoding="utf-8"))
    documents = Documents(tuple(known["ids"]), tuple(known["titles"]), tuple(map(tuple, known["labels"])))

    def array(part: str) -> Any:
        return mapped(files[f"{name}/{part}.npy"])

    rows = tuple(array(f"rows-{number}") for number in range(len(same_rows)))
    topical = tuple(
        own if same else array(f"topical-{number}")
        for number, (own, same) in enumerate(zip(rows, same_rows, strict=True))
    )
    scales = tuple(array(f"scales-{number}") for number in range(len(same_rows)))
    words = array("words") if f"{name}/words.npy" in files else None
    postings = Postings(array("ends"), array("docs"), array("counts"))
    return Segment(documents, postings, array("lengths"), rows, topical, scales, array("nodes"), words)
