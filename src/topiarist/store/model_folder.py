"""A model as a folder: ``model.json`` says what it is, ``model.safetensors`` holds its arrays.

The folder is written beside its place and renamed, so that it is complete or not there. Reading it runs no code that it
brings: JSON and numbers, a fixed list of classes, and every size checked before anything is computed. Arrays are
mapped, not read: opening takes no memory, and several processes share them. See docs/how-to/save-a-model.md.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.store.array_files import new_file
from topiarist.store.encoding import Reader, Writer
from topiarist.store.seal import VOCABULARY, FileEntry, new_store, read_vocabulary, write_vocabulary
from topiarist.store.tensors import map_tensors, write_tensors
from topiarist.version import __version__

FORMAT, VERSION = "topiarist-model", 1
DESCRIPTION, ARRAYS = "model.json", "model.safetensors"
MODEL_FILES = frozenset((DESCRIPTION, ARRAYS, VOCABULARY))
DAMAGE = (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError, RecursionError, MemoryError)
AGAIN = "a copy of the folder, or save the model again"


def save_model(model: Any, folder: str | Path, *, vocabulary: Vocabulary | None = None) -> None:
    """Write a fitted estimator into a new folder, with the words of its columns if they are given.

    The same model gives the same bytes. ``executor`` is left out; an estimator that holds something else that cannot be
    kept, such as a function, is refused.
    """
    from sklearn.exceptions import NotFittedError  # a second to load, which those who only read do not need
    from sklearn.utils.validation import check_is_fitted

    writer = Writer()
    try:
        body = writer.estimator(model)
        check_is_fitted(model)
    except NotFittedError as error:
        raise UsageError(
            f"{type(model).__name__} is not fitted: there is nothing to save", hint="fit it first"
        ) from error
    except RecursionError as error:
        raise UsageError("cannot save the model: a parameter is nested too deeply", hint="plain values") from error
    n_words = getattr(model, "n_features_in_", None)
    if vocabulary is not None and n_words not in (None, len(vocabulary)):
        raise UsageError(
            f"the model knows {n_words} columns, the vocabulary has {len(vocabulary)} words",
            hint="the vocabulary of the counts that the model was fitted to",
        )
    with new_store(folder) as partial:
        write_tensors(partial / ARRAYS, writer.arrays)
        files = {ARRAYS: FileEntry.of(partial / ARRAYS)}
        if vocabulary is not None:
            files[VOCABULARY] = write_vocabulary(partial, vocabulary)
        _describe(partial, body, files)


def load_model(folder: str | Path, *, check: bool = False) -> Any:
    """The estimator of a folder: it answers with the same bits, and a stream goes on where it was.

    ``check`` compares the checksums of all files, which reads them once; that files are complete is always made sure.
    """
    folder = Path(folder)
    body = _description(folder, check=check)
    arrays = map_tensors(folder / ARRAYS)
    try:
        return Reader(arrays).estimator(body)
    except DAMAGE as error:
        raise _damaged(folder / DESCRIPTION, error) from error


def load_vocabulary(folder: str | Path, *, check: bool = False) -> Vocabulary | None:
    """The words that were saved with a model; None if there were none."""
    folder = Path(folder)
    if VOCABULARY not in _description(folder, check=check)["files"]:
        return None
    try:
        return read_vocabulary(folder)
    except (InputError, *DAMAGE) as error:
        raise _damaged(folder / VOCABULARY, error) from error


def _describe(folder: Path, body: dict[str, Any], files: Mapping[str, FileEntry]) -> None:
    body |= {
        "format": FORMAT,
        "version": VERSION,
        "topiarist": __version__,
        "files": {name: asdict(entry) for name, entry in files.items()},
    }
    text = json.dumps({**body, "sha256": _digest(body)}, indent=1, sort_keys=True, allow_nan=False) + "\n"
    with new_file(folder / DESCRIPTION, sync=True) as file:
        file.write(text.encode())


def _description(folder: Path, *, check: bool) -> dict[str, Any]:
    """What the folder says about itself, after a look at its files."""
    path = folder / DESCRIPTION
    try:
        body = dict(json.loads(path.read_bytes(), parse_constant=_refused))
    except OSError as error:
        raise UsageError(
            f"there is no model in {folder}: {DESCRIPTION} cannot be read ({error.strerror})",
            hint="the folder that save_model was given",
        ) from error
    except DAMAGE as error:
        raise _damaged(path, error) from error
    if body.get("format") != FORMAT:
        raise DamagedError(f"{path} does not describe a model: its format is {body.get('format')!r:.60}")
    if body.get("version") != VERSION:
        raise DamagedError(
            f"{folder} has version {body.get('version')!r:.60} of the format, this topiarist reads {VERSION}",
            hint=f"a newer topiarist; it was written by {body.get('topiarist')!r:.60}",
        )
    try:
        if body.pop("sha256", None) != _digest(body):
            raise ValueError("it does not match its own checksum")
        files = {name: FileEntry(int(entry["bytes"]), str(entry["sha256"])) for name, entry in body["files"].items()}
        if ARRAYS not in files or not set(files) <= {ARRAYS, VOCABULARY}:
            raise ValueError(f"files called {sorted(files)}")
    except DAMAGE as error:
        raise _damaged(path, error) from error
    for name, entry in files.items():
        _check_file(folder / name, entry, contents=check)
    return body


def _check_file(path: Path, entry: FileEntry, *, contents: bool) -> None:
    try:
        size = path.stat().st_size
        same = not contents or size != entry.bytes or FileEntry.of(path) == entry
    except OSError as error:
        raise DamagedError(f"{path} cannot be read: {error.strerror}", hint=AGAIN) from error
    if size != entry.bytes:
        raise DamagedError(f"{path} has {size:,} bytes, {entry.bytes:,} were written", hint=AGAIN)
    if not same:
        raise DamagedError(f"{path} has changed since it was written: its checksum differs", hint=AGAIN)


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _damaged(path: Path, error: BaseException) -> DamagedError:
    said = "it is nested too deeply" if isinstance(error, RecursionError) else getattr(error, "message", str(error))
    missing = f"there is no {said}" if isinstance(error, KeyError) else said
    return DamagedError(f"{path} is damaged, or was written by a newer topiarist: {missing}", hint=AGAIN)


def replace_model(write: Callable[[Path], None], target: str) -> int:
    """Write a model beside its place and put it there; the old one goes only when the new one is complete."""
    place = Path(os.path.abspath(target))
    new, old = (place.with_name(f".{place.name}.{os.getpid()}.{which}") for which in ("new", "old"))
    try:
        write(new)
        number = sum(1 for _ in new.iterdir())
        if place.exists():
            place.rename(old)
        new.rename(place)
    except BaseException:
        _remove_model(new)
        if old.exists() and not place.exists():
            old.rename(place)
        raise
    _remove_model(old)
    return number


def _remove_model(folder: Path) -> None:
    """The files of a model and their folder; a file that came meanwhile keeps it there."""
    if not folder.is_dir():
        return
    for name in MODEL_FILES:
        (folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
