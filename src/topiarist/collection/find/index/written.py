"""Writing an index to its folder: everything at once beside its place, or one more segment and then the manifest.

Killed at any moment, the folder holds the index as it was or as it is. Only one at a time adds, and only to the state
that it has read. See ``keeping`` for what lies where.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.collection.find.index.index_folder import (
    INDEX,
    LENS_ARRAYS,
    LENS_NUMBERS,
    VERSION,
    Kept,
    locked,
    remove_strays,
)
from topiarist.collection.find.index.segments import Segment
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import ResourceError, UsageError
from topiarist.models.fisher.scores import Lens
from topiarist.store.array_files import new_file, new_folder, save, sync_folder
from topiarist.store.seal import NAME, FileEntry, digest, read_body


def write(index: Any, folder: Path) -> None:
    """Write a whole index: beside its place first, and moved there when it is complete."""
    folder = folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already", hint="a new folder, or remove that one")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResourceError(f"cannot write beside {folder}: {error}", hint="another folder") from error
    partial = new_folder(folder.parent / f".{folder.name}-{uuid.uuid4().hex}")
    try:
        files: dict[str, Any] = {}
        if index.vocabulary is not None:
            files |= _json(partial, "vocabulary.json", _vocabulary(index.vocabulary))
        for number, lens in enumerate(index.lenses):
            files |= _lens(partial, number, lens)
        names = [f"segment-{uuid.uuid4().hex}" for _ in index.segments]
        for name, segment in zip(names, index.segments, strict=True):
            files |= _segment(partial, name, segment)
        _manifest(partial, {**_settings(index), "segments": names, "files": files})
        if folder.exists():
            folder.rmdir()
        os.replace(partial, folder)
        sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def append(kept: Kept, stay: int, segment: Segment) -> Kept:
    """Write a segment that follows the first ``stay`` ones, and then the manifest that names it; the new state.

    From reading the manifest to replacing it nobody else can; and it must be the one that the index was read from.
    """
    folder = kept.folder
    with locked(folder):
        body, stamp = read_body(folder, INDEX)
        if stamp != kept.stamp or tuple(body["segments"]) != kept.segments:
            raise UsageError(
                f"{folder} is not as it was when this index was opened: somebody else added to it, or wrote another",
                hint="SearchIndex.open(folder) again, and add to that",
            )
        remove_strays(folder, kept.segments)
        name = f"segment-{uuid.uuid4().hex}"
        names = (*kept.segments[:stay], name)
        try:
            gone = tuple(f"{old}/" for old in kept.segments[stay:])
            files = {path: entry for path, entry in body["files"].items() if not path.startswith(gone)}
            files |= _segment(folder, name, segment)
            stamp = _manifest(folder, {**body, "segments": names, "files": files})
        except BaseException:
            if name not in read_body(folder, INDEX)[0]["segments"]:  # or it is named already, and must stay
                shutil.rmtree(folder / name, ignore_errors=True)
            raise
        remove_strays(folder, names)
    return Kept(folder, names, stamp)


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


def _vocabulary(vocabulary: Vocabulary) -> dict[str, Any]:
    values = {known.name: getattr(vocabulary, known.name) for known in fields(vocabulary)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _manifest(folder: Path, body: dict[str, Any]) -> str:
    """Write the manifest; its checksum."""
    body = json.loads(json.dumps({**body, "format": INDEX.name, "version": VERSION}))
    stamp = digest(body)
    text = json.dumps({**body, "sha256": stamp}, ensure_ascii=False) + "\n"
    with new_file(folder / NAME, sync=True) as file:
        file.write(text.encode("utf-8"))
    sync_folder(folder)
    return stamp


def _array(folder: Path, name: str, array: Any) -> dict[str, Any]:
    path = folder / f"{name}.npy"
    save(path, np.ascontiguousarray(array), sync=True)
    return {path.relative_to(folder).as_posix(): asdict(FileEntry.of(path))}


def _json(folder: Path, name: str, content: Any) -> dict[str, Any]:
    with new_file(folder / name, sync=True) as file:
        file.write(json.dumps(content, ensure_ascii=False).encode("utf-8"))
    return {name: asdict(FileEntry.of(folder / name))}


def _lens(folder: Path, number: int, lens: Lens) -> dict[str, Any]:
    files: dict[str, Any] = {}
    new_folder(folder / f"lens-{number}")
    for name in LENS_ARRAYS:
        if getattr(lens, name) is not None:
            files |= _array(folder, f"lens-{number}/{name}", getattr(lens, name))
    sync_folder(folder / f"lens-{number}")
    return files


def _segment(folder: Path, name: str, segment: Segment) -> dict[str, Any]:
    arrays = {"ends": segment.postings.ends, "docs": segment.postings.docs, "counts": segment.postings.counts}
    arrays |= {"lengths": segment.lengths, "nodes": segment.nodes}
    if segment.words is not None:
        arrays["words"] = segment.words
    new_folder(folder / name)
    for number, (rows, topical, scales) in enumerate(zip(segment.rows, segment.topical, segment.scales, strict=True)):
        arrays |= {f"rows-{number}": rows, f"scales-{number}": scales}
        if topical is not rows:
            arrays[f"topical-{number}"] = topical
    files: dict[str, Any] = {}
    for part, array in arrays.items():
        files |= _array(folder, f"{name}/{part}", array)
    files |= _json(folder, f"{name}/documents.json", asdict(segment.documents))
    sync_folder(folder / name)
    return files
