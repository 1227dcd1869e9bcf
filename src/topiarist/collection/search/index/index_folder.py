"""Folder of a search index: written at once or segment by segment, and memory-mapped after validation.

    manifest.json         format, settings, models, segments; size and checksum of every file
    vocabulary.json       the words, if they are known
    lens-0/               by_word.npy, class_prior.npy, and mix.npy or information if the model has them
    segment-…/            ends, docs, counts, lengths, nodes, and rows, topical, scales of each model; words, if
                          the postings are of some words only

Documents are added to the folder of a part that nobody reads yet. Content is validated before use: a manifest may name
only files of its own folder, by plain names, and must list every file. Then the arrays must fit (``soundness``).
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.collection.search.index.segments import Segment
from topiarist.collection.search.index.soundness import check_sound
from topiarist.collection.search.index.topics import Shape
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.errors import TopiaristError
from topiarist.models.engine import Postings
from topiarist.models.fisher.scores import KernelView
from topiarist.storage.array_files import allow_open_files, map_array, save
from topiarist.storage.sealed_folder import (
    DAMAGE,
    MANIFEST,
    Format,
    check_file_name,
    check_files,
    new_folder,
    new_sealed_folder,
    read_manifest,
    seal_files,
    write_manifest,
)  # fmt: skip
from topiarist.storage.vocabulary_file import VOCABULARY, read_vocabulary, write_vocabulary
from topiarist.trees import Tree

SEGMENT = re.compile(r"segment-[0-9a-f]{32}")
INDEX = Format(
    name="topiarist-search",
    version=3,
    label="the folder of an index",
    hint="Pass the folder of SearchIndex.save.",
    remedy="Build the index again and save it to a new folder.",
    links=False,
    layout={"ensure_ascii": False},
)
WrittenSegment = tuple[
    str, int, dict[str, Any]
]  # a segment's name, number of documents and manifest entries of its files
LENS_ARRAYS = ("by_word", "mix", "class_prior", "class_tokens", "word_information", "class_information")
LENS_NUMBERS = ("one_class", "smoothing", "inverse_temperature", "effective_length", "row_scores")


@dataclass(frozen=True)
class IndexLocation:
    """Folder of an index and the names of its segments."""

    folder: Path
    segments: tuple[str, ...]


def write_index(index: Any, folder: Path, segments: Iterable[Segment] | None = None) -> None:
    """Write an index to a temporary folder and move it into place when it is complete.

    ``segments`` replaces the segments of the index; an iterator keeps only one of them in memory.
    """
    with new_sealed_folder(folder) as partial:
        if index.vocabulary is not None:
            write_vocabulary(partial, index.vocabulary)
        for number, lens in enumerate(index.lenses):
            of_lens = new_folder(partial / f"lens-{number}")
            for name in LENS_ARRAYS:
                if getattr(lens, name) is not None:
                    save(of_lens / f"{name}.npy", np.ascontiguousarray(getattr(lens, name)))
        names = [_write_segment(partial, segment) for segment in (index.segments if segments is None else segments)]
        write_manifest(partial, INDEX, {**_describe_settings(index), "segments": names, "files": seal_files(partial)})


def write_unlisted_segment(folder: Path, segment: Segment) -> WrittenSegment:
    """Write a segment that no manifest names yet; return its entry for ``list_written_segments``."""
    name = _write_segment(folder, segment)
    return name, len(segment), seal_files(folder, name)


def list_written_segments(folder: Path, segments: Iterable[WrittenSegment]) -> int:
    """Add segments to the manifest of an index and return their number of documents."""
    body, _ = read_manifest(folder, INDEX)
    names, files, documents = list(body["segments"]), dict(body["files"]), 0
    for name, number, entries in segments:
        names.append(name)
        files |= entries
        documents += number
    write_manifest(folder, INDEX, {**body, "segments": names, "files": files})
    return documents


def append_segment(index: Any, longer: Any) -> None:
    """Write the last segment of a longer index to the folder of an index, in place of the segments that it absorbed."""
    folder, names, stay = index.location.folder, index.location.segments, len(longer.segments) - 1
    body, _ = read_manifest(folder, INDEX)
    absorbed = tuple(f"{name}/" for name in names[stay:])
    files = {path: entry for path, entry in body["files"].items() if not path.startswith(absorbed)}
    name = _write_segment(folder, longer.segments[-1])
    files |= seal_files(folder, name)
    write_manifest(folder, INDEX, {**body, "segments": [*names[:stay], name], "files": files})
    remove_unlisted_segments(folder)


def remove_unlisted_segments(folder: Path) -> None:
    """Remove segments that the manifest does not name: absorbed ones, or from replaced workers."""
    names = read_manifest(folder, INDEX)[0]["segments"]
    for path in folder.iterdir():
        if SEGMENT.fullmatch(path.name) and path.name not in names and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


def _describe_settings(index: Any) -> dict[str, Any]:
    """Return the settings of an index as JSON data for its manifest."""
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


def _write_segment(folder: Path, segment: Segment) -> str:
    """Write a segment to its own folder within the index; return its name."""
    name = f"segment-{uuid.uuid4().hex}"
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
    return name


def open_index(cls: Any, folder: Path, *, check: bool) -> Any:
    """Return the index in a folder."""
    folder = folder.resolve()
    body, _ = read_manifest(folder, INDEX)
    try:
        files = check_files(folder, body["files"], INDEX, contents=check)
        allow_open_files(len(files))
        lenses = tuple(_read_lens(folder, files, number, numbers) for number, numbers in enumerate(body["lenses"]))
        names = [
            name if SEGMENT.fullmatch(check_file_name(name)) else check_file_name("/") for name in body["segments"]
        ]
        segments = tuple(_read_segment(folder, files, name, body["same_rows"]) for name in names)
        phrases = body["settings"]["phrases"]
        settings = CountSettings(
            **{**body["settings"], "phrases": None if phrases is None else PhraseSettings(**phrases)}
        )
        vocabulary = read_vocabulary(folder) if VOCABULARY in files else None
        words = _to_word_tuples(body["topic_words"])
        index = cls(
            lenses, segments, tuple(map(tuple, body["parts"])), body["normalise"], body["dtype"], vocabulary,
            settings, _read_shape(body["shape"], words), words, _to_word_tuples(body["class_words"]),
            IndexLocation(folder, tuple(names)),
        )  # fmt: skip
        check_sound(index, numbers=check)
    except (TopiaristError, OSError, *DAMAGE) as error:
        if isinstance(error, TopiaristError) and error.hint == INDEX.remedy:  # a file that is named
            raise
        raise INDEX.create_damaged_error(folder / MANIFEST, error) from error
    return index


def _to_word_tuples(body: Any) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the words of each topic or class of every model."""
    return tuple(tuple(tuple(words) for words in model) for model in body)


def _read_shape(body: Any, words: Any) -> Shape | None:
    """Return the stored tree of an index, or None; raise ValueError for an invalid model number."""
    if body is None:
        return None
    model = body["model"]
    if isinstance(model, bool) or not isinstance(model, int) or not 0 <= model < len(words):
        raise ValueError(f"the tree of model {model!r}")
    return Shape(Tree.from_dict(body["tree"]), tuple(map(int, body["class_nodes"])), model, words[model])


def _read_lens(folder: Path, files: dict[str, Path], number: int, numbers: dict[str, Any]) -> KernelView:
    """Return a memory-mapped model of the index; raise ValueError if it is not complete."""
    paths = {name: files.get(f"lens-{number}/{name}.npy") for name in LENS_ARRAYS}
    arrays: dict[str, Any] = {name: None if path is None else map_array(path) for name, path in paths.items()}
    if set(numbers) != set(LENS_NUMBERS) or any(arrays[name] is None for name in ("by_word", "class_prior")):
        raise ValueError(f"model {number} is not complete")
    return KernelView(**arrays, **numbers)


def _read_segment(folder: Path, files: dict[str, Path], name: str, same_rows: list[bool]) -> Segment:
    """Return a memory-mapped segment from its folder."""

    def array(part: str) -> Any:
        return map_array(files[f"{name}/{part}.npy"])

    rows = tuple(array(f"rows-{number}") for number in range(len(same_rows)))
    topical = tuple(
        class_rows if is_same else array(f"topical-{number}")
        for number, (class_rows, is_same) in enumerate(zip(rows, same_rows, strict=True))
    )
    scales = tuple(array(f"scales-{number}") for number in range(len(same_rows)))
    words = array("words") if f"{name}/words.npy" in files else None
    postings = Postings(array("ends"), array("docs"), array("counts"))
    return Segment(postings, array("lengths"), rows, topical, scales, array("nodes"), words)
