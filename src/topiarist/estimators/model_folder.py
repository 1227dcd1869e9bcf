"""Folder of a saved model: ``model.json`` describes it, ``model.safetensors`` holds its arrays.

A folder is written under a temporary name and renamed, so that it is complete or absent. Loading runs no code from the
folder: only JSON and numbers are read, classes come from a fixed list, and every size is checked. Arrays are
memory-mapped, so that several processes share them. See docs/how-to/save-a-model.md.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.estimators import registry
from topiarist.storage.encoding import Reader, Writer
from topiarist.storage.sealed_folder import (
    DAMAGE,
    Format,
    check_files,
    new_sealed_folder,
    read_manifest,
    seal_files,
    write_manifest,
)
from topiarist.storage.tensors import map_tensors, write_tensors
from topiarist.storage.vocabulary_file import VOCABULARY, read_vocabulary, write_vocabulary
from topiarist.version import __version__

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

POSITIVE = frozenset(("temperature_", "inverse_temperature_"))
MAY_BE_NONE = frozenset(("effective_length_", "half_length_"))
NUMBERS = POSITIVE | MAY_BE_NONE | {
    "component_smoothing_", "concentration_", "sharpness_", "floor_", "smoothing_", "unlabelled_weight_",
    "generative_weight_", "n_features_in_", "n_iter_", "n_batches_", "n_tokens_seen_",
}  # fmt: skip
NEEDED = {"CAM": ("temperature_", "effective_length_"), "HPLSA": ("inverse_temperature_",)}
NEEDED |= {"PLSA": ("inverse_temperature_",)}
DESCRIPTION, ARRAYS = "model.json", "model.safetensors"
MODEL_FILES = frozenset((DESCRIPTION, ARRAYS, VOCABULARY))
MODEL = Format(
    name="topiarist-model",
    version=1,
    label="the folder of a model",
    hint="Pass the folder of save_model.",
    remedy="Use a copy of the folder, or save the model again.",
    manifest=DESCRIPTION,
    absent=UsageError,
    error=DamagedError,
    damage="is damaged, or was written by a newer topiarist",
    layout={"indent": 1, "sort_keys": True, "allow_nan": False},
)


def save_model(model: BaseEstimator, folder: str | Path, *, vocabulary: Vocabulary | None = None) -> None:
    """Write a fitted estimator into a new folder.

    Parameters
    ----------
    model : estimator
        Fitted estimator of this package.
    folder : str or Path
        New folder.
    vocabulary : Vocabulary or None
        Words of the columns, saved with the model.

    Returns
    -------
    None

    Raises
    ------
    UsageError
        If the model is not fitted, or holds a value that cannot be saved, such as a function.

    Notes
    -----
    The same model gives the same bytes. The parameter ``executor`` is not saved.

    Examples
    --------
    >>> save_model(PLSA(5).fit(counts), "model")  # doctest: +SKIP
    """
    from sklearn.exceptions import NotFittedError  # a second to load, which those who only read do not need
    from sklearn.utils.validation import check_is_fitted

    writer = Writer(registry)
    try:
        body = writer.estimator(model)
        check_is_fitted(model)
    except NotFittedError as error:
        raise UsageError(
            f"{type(model).__name__} is not fitted: there is nothing to save", hint="Fit it first."
        ) from error
    except RecursionError as error:
        raise UsageError(
            "cannot save the model: a parameter is nested too deeply", hint="Use plain values as parameters."
        ) from error
    n_words = getattr(model, "n_features_in_", None)
    if vocabulary is not None and n_words not in (None, len(vocabulary)):
        raise UsageError(
            f"the model knows {n_words} columns, the vocabulary has {len(vocabulary)} words",
            hint="Pass the vocabulary of the counts that the model was fitted to.",
        )
    with new_sealed_folder(folder) as partial:
        write_tensors(partial / ARRAYS, writer.arrays)
        if vocabulary is not None:
            write_vocabulary(partial, vocabulary)
        write_manifest(partial, MODEL, {**body, "topiarist": __version__, "files": seal_files(partial)})


def load_model(folder: str | Path, *, check: bool = False) -> Any:
    """Load the estimator of a folder; it gives the same answers, and streams continue.

    Parameters
    ----------
    folder : str or Path
        Folder of a saved model.
    check : bool, default False
        Compare the checksums of all files. Sizes are always compared.

    Returns
    -------
    estimator
        The fitted estimator.

    Raises
    ------
    UsageError
        If the folder has no model.
    DamagedError
        If the folder is damaged or was written by a newer version.

    Examples
    --------
    >>> load_model("model").transform(counts)  # doctest: +SKIP
    """
    folder = Path(folder)
    body = _read_description(folder, check=check)
    arrays = map_tensors(folder / ARRAYS)
    try:
        model = Reader(arrays, registry).estimator(body)
        _check_numbers(type(model).__name__, vars(model))
        return model
    except DAMAGE as error:
        raise MODEL.create_damaged_error(folder / DESCRIPTION, error) from error


def _check_numbers(kind: str, fitted: Mapping[str, Any]) -> None:
    """Raise ValueError for a learned number that is missing or not a number."""
    for name in NEEDED.get(kind, ()):
        if name not in fitted:
            raise ValueError(f"there is no {name}")
    for name in NUMBERS & fitted.keys():
        value = fitted[name]
        if value is None and name in MAY_BE_NONE:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value!r:.40}")
        if value == 0 and name in POSITIVE:
            raise ValueError(f"{name} is 0")


def load_vocabulary(folder: str | Path, *, check: bool = False) -> Vocabulary | None:
    """Return the words that were saved with a model; None if there are none."""
    folder = Path(folder)
    if VOCABULARY not in _read_description(folder, check=check)["files"]:
        return None
    try:
        return read_vocabulary(folder)
    except (InputError, *DAMAGE) as error:
        raise MODEL.create_damaged_error(folder / VOCABULARY, error) from error


def _read_description(folder: Path, *, check: bool) -> dict[str, Any]:
    """Read the description of a saved model; raise an error if a file is missing or damaged."""
    body = read_manifest(folder, MODEL)[0]
    try:
        if ARRAYS not in body["files"] or not set(body["files"]) <= {ARRAYS, VOCABULARY}:
            raise ValueError(f"files called {sorted(body['files'])}")
        check_files(folder, body["files"], MODEL, contents=check)
    except DAMAGE as error:
        raise MODEL.create_damaged_error(folder / DESCRIPTION, error) from error
    return body


def replace_model(write: Callable[[Path], None], target: str) -> int:
    """Write a model under a temporary name and swap it in; the old model is removed afterwards."""
    place = Path(os.path.abspath(target))
    new, old = (place.with_name(f".{place.name}.{os.getpid()}.{suffix}") for suffix in ("new", "old"))
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
    """Delete the files of a saved model, and the folder if it is then empty."""
    if not folder.is_dir():
        return
    for name in MODEL_FILES:
        (folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
