"""The folder of an index: written at once or a segment at a time, opened mapped after a look at everything.

    manifest.json         format, settings, models, segments; size and checksum of every file
    vocabulary.json       the words, if they are known
    lens-0/               by_word.npy, class_prior.npy, and mix.npy or information where there is one
    segment-…/            ends, docs, counts, lengths, nodes, and rows, topical, scales of each model; documents.json;
                          words, where the postings are of some words only
    lock                  held by whoever adds

Killed at any moment, the folder holds the index as it was or as it is. Only one at a time adds, and only to the state
that it has read. Nothing is believed before it was looked at: a manifest may name only files of its own folder, by
plain names, and every file that is read must be among them, in full; then the arrays must fit (``soundness``).
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.collection.find.index.segments import Documents, Segment
from topiarist.collection.find.index.soundness import check_sound
from topiarist.collection.find.index.topics import Shape
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.errors import TopiaristError, UsageError
from topiarist.hierarchy import Tree
from topiarist.models.engine import Postings
from topiarist.models.fisher.scores import Lens
from topiarist.store.array_files import allow_open_files, mapped, save
from topiarist.store.sealed_folder import (
    DAMAGE,
    MANIFEST,
    Format,
    checked_files,
    locked,
    new_folder,
    new_sealed_folder,
    plain,
    read_manifest,
    seal,
    write_json,
    write_manifest,
)  # fmt: skip
from topiarist.store.vocabulary_file import VOCABULARY, read_vocabulary, write_vocabulary

PATIENCE = 30.0  # seconds that whoever adds waits for another one
SEGMENT = re.compile(r"segment-[0-9a-f]{32}")
INDEX = Format(
    name="topiarist-search",
    versions=(1, 2, 3),  # from 3 on numbers lie in as few bytes as they need, and rows in single precision in one
    what="the folder of an index",
    hint="the folder that SearchIndex.save was given",
    again="build the index again and save it to a new folder",
    links=False,
    layout={"ensure_ascii": False},
)
Written = tuple[str, int, dict[str, Any]]  # a segment's name, its documents, and what a manifest says of its files
LENS_ARRAYS = ("by_word", "mix", "class_prior", "class_tokens", "word_information", "class_information")
LENS_NUMBERS = ("one_class", "smoothing", "inverse_temperature", "effective_length", "row_scores")


@dataclass(frozen=True)
class Kept:
    """Where an index lies, and in which state it was read or written: its segments and the manifest's checksum."""

    folder: Path
    segments: tuple[str, ...]
    stamp: str


def write_index(index: Any, folder: Path, segments: Iterable[Segment] | None = None) -> None:
    """Write a whole index: beside its place first, and moved there when it is complete.

    ``segments``, in the place of its own, may come one after the other; none is kept in memory.
    """
    with new_sealed_folder(folder) as partial:
        if index.vocabulary is not None:
            write_vocabulary(partial, index.vocabulary)
        for number, lens in enumerate(index.lenses):
            of_lens = new_folder(partial / f"lens-{number}")
            for name in LENS_ARRAYS:
                if getattr(lens, name) is not None:
                    save(of_lens / f"{name}.npy", np.ascontiguousarray(getattr(lens, name)))
        names = [_write_segment(partial, one) for one in (index.segments if segments is None else segments)]
        write_manifest(partial, INDEX, {**_settings(index), "segments": names, "files": seal(partial)})


def write_beside(folder: Path, segment: Segment) -> Written:
    """Write a segment that no manifest names yet, wherever it is made: its name and files, for ``add_written``."""
    name = _write_segment(folder, segment)
    return name, len(segment), seal(folder, name)


def add_written(folder: Path, segments: Iterable[Written]) -> int:
    """Name segments that others have written into an index that nobody reads yet; how many documents these have."""
    body, _ = read_manifest(folder, INDEX)
    names, files, documents = list(body["segments"]), dict(body["files"]), 0
    for name, number, entries in segments:
        names.append(name)
        files |= entries
        documents += number
    write_manifest(folder, INDEX, {**body, "segments": names, "files": files})
    return documents


def sweep(folder: Path) -> None:
    """Remove what somebody has written who was given up, and whose work others have done."""
    remove_strays(folder, read_manifest(folder, INDEX)[0]["segments"])


def append(kept: Kept, stay: int, segment: Segment) -> Kept:
    """Write a segment that follows the first ``stay`` ones, and then the manifest that names it; the new state.

    From reading the manifest to replacing it nobody else can; and it must be the one that the index was read from.
    """
    folder = kept.folder
    with locked(folder, wait=PATIENCE):
        body, stamp = read_manifest(folder, INDEX)
        if stamp != kept.stamp or tuple(body["segments"]) != kept.segments:
            raise UsageError(
                f"{folder} is not as it was when this index was opened: somebody else added to it, or wrote another",
                hint="SearchIndex.open(folder) again, and add to that",
            )
        remove_strays(folder, kept.segments)
        name = new_name()
        names = (*kept.segments[:stay], name)
        try:
            gone = tuple(f"{old}/" for old in kept.segments[stay:])
            files = {path: entry for path, entry in body["files"].items() if not path.startswith(gone)}
            _write_segment(folder, segment, name)
            files |= seal(folder, name)
            stamp = write_manifest(folder, INDEX, {**body, "segments": names, "files": files})
        except BaseException:
            if name not in read_manifest(folder, INDEX)[0]["segments"]:  # or it is named already, and must stay
                shutil.rmtree(folder / name, ignore_errors=True)
            raise
        remove_strays(folder, names)
    return Kept(folder, names, stamp)


def remove_strays(folder: Path, segments: Iterable[str]) -> None:
    """Remove segments that no manifest names: those of a writer that died, and those that were put together.

    Who has them open keeps what is open; who is about to open them finds the new manifest.
    """
    for path in folder.iterdir():
        if SEGMENT.fullmatch(path.name) and path.name not in segments and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


def _settings(index: Any) -> dict[str, Any]:
    shape = index.shape
    return {
        "parts": list(index.parts), "normalise": index.normalise, "dtype": index.dtype,
        "settings": asdict(index.settings),
        "lenses": [{name: getattr(lens, name) for name in LENS_NUMBERS} for lens in index.lenses],
        "same_rows": [lens.class_information is None for lens in index.lenses],
        "topic_words": index.topic_words, "class_words": index.class_words,
        "shape": None if shape is None else {
            "tree": shape.tree.to_dict(), "class_nodes": [int(node) for node in shape.class_nodes],
            "model": shape.model,
        },
    }  # fmt: skip


def new_name() -> str:
    """The name of a segment that there never was."""
    return f"segment-{uuid.uuid4().hex}"


def _write_segment(folder: Path, segment: Segment, name: str = "") -> str:
    """A segment in a folder of its own within that of an index; its name."""
    name = name or new_name()
    folder = new_folder(folder / name)
    arrays = {"ends": segment.postings.ends, "docs": segment.postings.docs, "counts": segment.postings.counts}
    arrays |= {"lengths": segment.lengths, "nodes": segment.nodes}
    if segment.words is not None:
        arrays["words"] = segment.words
    for number, (rows, topical, scales) in enumerate(zip(segment.rows, segment.topical, segment.scales, strict=True)):
        arrays |= {f"rows-{number}": rows, f"scales-{number}": scales}
        if topical is not rows:
            arrays[f"topical-{number}"] = topical
    for part, array in arrays.items():
        save(folder / f"{part}.npy", np.ascontiguousarray(array))
    write_json(folder / "documents.json", asdict(segment.documents))
    return name


def open_index(cls: Any, folder: Path, *, check: bool) -> Any:
    """The index in a folder. One that is added to while it is opened is opened again, as it is now."""
    folder = folder.resolve()
    body, stamp = read_manifest(folder, INDEX)
    while True:
        try:
            return _index(cls, folder, body, stamp, check=check)
        except TopiaristError:
            before = stamp
            body, stamp = read_manifest(folder, INDEX)
            if stamp == before:
                raise


def _index(cls: Any, folder: Path, body: dict[str, Any], stamp: str, *, check: bool) -> Any:
    try:
        files = checked_files(folder, body["files"], INDEX, contents=check)
        allow_open_files(len(files))
        lenses = tuple(_lens(folder, files, number, known) for number, known in enumerate(body["lenses"]))
        names = [name if SEGMENT.fullmatch(plain(name)) else plain("/") for name in body["segments"]]
        segments = tuple(_segment(folder, files, name, body["same_rows"]) for name in names)
        phrases = body["settings"]["phrases"]
        settings = CountSettings(
            **{**body["settings"], "phrases": None if phrases is None else PhraseSettings(**phrases)}
        )
        vocabulary = read_vocabulary(folder) if VOCABULARY in files else None
        words = tuple(tuple(tuple(topic) for topic in model) for model in body["topic_words"])
        shape = _shape(body["shape"], words)
        index = cls(
            lenses, segments, tuple(map(tuple, body["parts"])), body["normalise"], body["dtype"], vocabulary,
            settings, shape, words, _class_words(body, words, shape, lenses), Kept(folder, tuple(names), stamp),
        )  # fmt: skip
        check_sound(index, numbers=check)
    except (TopiaristError, OSError, *DAMAGE) as error:
        if isinstance(error, TopiaristError) and error.hint == INDEX.again:  # a file that is named
            raise
        raise INDEX.damaged(folder / MANIFEST, error) from error
    return index


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
