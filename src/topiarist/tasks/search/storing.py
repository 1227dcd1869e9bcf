"""An index as a folder: plain arrays that are opened memory-mapped, and a manifest that is written last.

    manifest.json         format, settings, models, segments; size and checksum of every file
    vocabulary.json       the words, if they are known
    lens-0/               by_word.npy, prior.npy, and mix.npy or information where there is one
    segment-…/            ends, docs, counts, lengths, nodes, and rows, topical, scales of each model; documents.json

Adding documents writes one more segment and then replaces the manifest: killed at any moment, the folder holds the
index as it was or as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.hierarchy import Tree
from topiarist.kernels.search import Postings
from topiarist.models.fisher import Lens
from topiarist.scale.files import mapped, new_file, save
from topiarist.scale.manifest import FileEntry, check_file, digest
from topiarist.tasks.search.descent import Shape
from topiarist.tasks.search.segments import Documents, Segment

FORMAT, VERSION, NAME = "topiarist-search", 1, "manifest.json"
AGAIN = "build the index again and save it to a new folder"
_ARRAYS = ("by_word", "mix", "class_prior", "class_tokens", "word_information", "class_information")
_NUMBERS = ("one_class", "smoothing", "inverse_temperature", "effective_length")


def write(index: Any, folder: Path) -> None:
    """Write a whole index: beside its place first, and moved there when it is complete."""
    folder = folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already", hint="a new folder, or remove that one")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise ResourceError(f"cannot write beside {folder}: {error}", hint="another folder") from error
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
        partial.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        os.replace(partial, folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def append(index: Any) -> None:
    """Write the last segment of an index into its folder, and then the manifest that names it."""
    body = _body(index.folder)
    if len(body["segments"]) != len(index.segments) - 1:
        raise UsageError(
            f"{index.folder} has {len(body['segments'])} segments, this index had {len(index.segments) - 1} before: "
            "somebody else added to it",
            hint="SearchIndex.open(folder) again, and add to that",
        )
    name = f"segment-{uuid.uuid4().hex}"
    try:
        files = _segment(index.folder, name, index.segments[-1])
        whole = {**body, "segments": [*body["segments"], name], "files": {**body["files"], **files}}
        _manifest(index.folder, whole)
    except BaseException:
        shutil.rmtree(index.folder / name, ignore_errors=True)
        raise


def opened(cls: Any, folder: Path, *, check: bool) -> Any:
    """The index in a folder, its arrays memory-mapped."""
    folder = folder.resolve()
    body = _body(folder)
    try:
        for name, entry in body["files"].items():
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise ValueError(f"a file called {name!r}")
            check_file(folder / name, FileEntry(int(entry["bytes"]), str(entry["sha256"])), contents=check)
        lenses = tuple(_read_lens(folder, number, known) for number, known in enumerate(body["lenses"]))
        segments = tuple(_read_segment(folder / name, len(lenses), body["same_rows"]) for name in body["segments"])
        phrases = body["settings"]["phrases"]
        settings = CountSettings(
            **{**body["settings"], "phrases": None if phrases is None else PhraseSettings(**phrases)}
        )
        vocabulary = None
        if "vocabulary.json" in body["files"]:
            vocabulary = Vocabulary(**json.loads((folder / "vocabulary.json").read_text(encoding="utf-8")))
        words = tuple(tuple(tuple(topic) for topic in model) for model in body["topic_words"])
        shape = body["shape"]
        known = None
        if shape is not None:
            tree = Tree.from_dict(shape["tree"])
            known = Shape(tree, tuple(shape["class_nodes"]), shape["model"], words[shape["model"]])
        index = cls(
            lenses, segments, tuple(map(tuple, body["parts"])), body["normalise"], body["dtype"], vocabulary,
            settings, known, words, folder,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{folder / NAME} is damaged: {error!r}", hint=AGAIN) from error
    _sound(index, folder)
    return index


def _sound(index: Any, folder: Path) -> None:
    """The kernels look places up without asking: raise unless the arrays fit together."""
    n_words = index.n_words
    for segment in index.segments:
        n, (ends, docs, counts) = len(segment), segment.postings
        good = (
            ends.shape == (n_words + 1,) and ends.dtype == np.int64 and ends[0] == 0 and ends[-1] == len(docs)
            and bool((np.diff(ends) >= 0).all()) and docs.dtype == np.int32 and docs.shape == counts.shape
            and (not len(docs) or (docs.min() >= 0 and docs.max() < n)) and len(segment.documents.ids) == n
            and all(
                rows.shape == (n, lens.n_classes) and topical.shape == rows.shape and scales.shape == (n, 2)
                for rows, topical, scales, lens in zip(
                    segment.rows, segment.topical, segment.scales, index.lenses, strict=True
                )
            )
        )  # fmt: skip
        if not good:
            raise InputError(f"{folder} holds arrays that are not those of an index", hint=AGAIN)
    if any(len(lens.by_word) != n_words for lens in index.lenses):
        raise InputError(f"the models in {folder} know different numbers of words", hint=AGAIN)


def _settings(index: Any) -> dict[str, Any]:
    shape = index.shape
    return {
        "parts": list(index.parts), "normalise": index.normalise, "dtype": index.dtype,
        "settings": asdict(index.settings),
        "lenses": [{name: getattr(lens, name) for name in _NUMBERS} for lens in index.lenses],
        "same_rows": [lens.class_information is None for lens in index.lenses],
        "topic_words": index.topic_words,
        "shape": None if shape is None else {
            "tree": shape.tree.to_dict(), "class_nodes": [int(node) for node in shape.class_nodes],
            "model": shape.model,
        },
    }  # fmt: skip


def _vocabulary(vocabulary: Vocabulary) -> dict[str, Any]:
    values = {known.name: getattr(vocabulary, known.name) for known in fields(vocabulary)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _manifest(folder: Path, body: dict[str, Any]) -> None:
    body = json.loads(json.dumps({**body, "format": FORMAT, "version": VERSION}))
    text = json.dumps({**body, "sha256": digest(body)}, ensure_ascii=False) + "\n"
    with new_file(folder / NAME, sync=True) as file:
        file.write(text.encode("utf-8"))


def _body(folder: Path) -> dict[str, Any]:
    path = folder / NAME
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        claimed = body.pop("sha256")
    except OSError as error:
        raise InputError(
            f"{folder} is not the folder of an index: {NAME} cannot be read ({error.strerror})",
            hint="the folder that SearchIndex.save was given",
        ) from error
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise InputError(f"{path} is damaged: {error!r}", hint=AGAIN) from error
    if body.get("format") != FORMAT:
        raise InputError(f"{path} is not that of an index: format {body.get('format')!r}")
    if body.get("version") != VERSION:
        raise InputError(
            f"{folder} has version {body.get('version')!r} of the format, this topiarist reads {VERSION}",
            hint="the version of topiarist that wrote it, or a newer one",
        )
    if claimed != digest(body):
        raise InputError(f"{path} is damaged: it does not match its own checksum", hint=AGAIN)
    return dict(body)


def _array(folder: Path, name: str, array: Any) -> dict[str, Any]:
    path = folder / f"{name}.npy"
    path.parent.mkdir(exist_ok=True)
    save(path, np.ascontiguousarray(array), sync=True)
    return {str(path.relative_to(folder)): asdict(FileEntry.of(path))}


def _json(folder: Path, name: str, content: Any) -> dict[str, Any]:
    with new_file(folder / name, sync=True) as file:
        file.write(json.dumps(content, ensure_ascii=False).encode("utf-8"))
    return {name: asdict(FileEntry.of(folder / name))}


def _lens(folder: Path, number: int, lens: Lens) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for name in _ARRAYS:
        if getattr(lens, name) is not None:
            files |= _array(folder, f"lens-{number}/{name}", getattr(lens, name))
    return files


def _read_lens(folder: Path, number: int, known: dict[str, Any]) -> Lens:
    home = folder / f"lens-{number}"
    arrays = {name: mapped(home / f"{name}.npy") if (home / f"{name}.npy").exists() else None for name in _ARRAYS}
    return Lens(**arrays, **known)  # type: ignore[arg-type]


def _segment(folder: Path, name: str, segment: Segment) -> dict[str, Any]:
    arrays = {"ends": segment.postings.ends, "docs": segment.postings.docs, "counts": segment.postings.counts}
    arrays |= {"lengths": segment.lengths, "nodes": segment.nodes}
    for number, (rows, topical, scales) in enumerate(zip(segment.rows, segment.topical, segment.scales, strict=True)):
        arrays |= {f"rows-{number}": rows, f"scales-{number}": scales}
        if topical is not rows:
            arrays[f"topical-{number}"] = topical
    files: dict[str, Any] = {}
    for part, array in arrays.items():
        files |= _array(folder, f"{name}/{part}", array)
    known = segment.documents
    return files | _json(
        folder, f"{name}/documents.json", {"ids": known.ids, "titles": known.titles, "labels": known.labels}
    )


def _read_segment(home: Path, n_lenses: int, same_rows: list[bool]) -> Segment:
    known = json.loads((home / "documents.json").read_text(encoding="utf-8"))
    documents = Documents(tuple(known["ids"]), tuple(known["titles"]), tuple(map(tuple, known["labels"])))
    part = {name: mapped(home / f"{name}.npy") for name in ("ends", "docs", "counts", "lengths", "nodes")}
    rows = tuple(mapped(home / f"rows-{number}.npy") for number in range(n_lenses))
    topical = tuple(
        own if same else mapped(home / f"topical-{number}.npy")
        for number, (own, same) in enumerate(zip(rows, same_rows, strict=True))
    )
    scales = tuple(mapped(home / f"scales-{number}.npy") for number in range(n_lenses))
    index = Postings(part["ends"], part["docs"], part["counts"])
    return Segment(documents, index, part["lengths"], rows, topical, scales, part["nodes"])
