"""Embeddings from a program of the user that reads JSON lines (``id``, ``text``) and prints lines (``id``, ``vector``).

The program is started without a shell, once per batch, and must answer every line in any order. Answers are cached by
the digest of the text, so that each text is sent once.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.counts.embeddings.vector_sources import VectorSource
from topiarist.counts.vectors import normalise_vectors
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.text.documents import Document

EXAMPLE = (
    "Pass a program such as 'python embed.py', which reads lines with id and text and prints lines with id and vector."
)


@dataclass
class Program(VectorSource):
    """Program that computes embeddings of texts."""

    command: tuple[str, ...]
    cache: dict[bytes, Array] = field(default_factory=dict)

    @classmethod
    def from_line(cls, line: str) -> Program:
        """Return the program of a command line, split into words as a shell does, but run without a shell."""
        try:
            command = tuple(shlex.split(line))
        except ValueError as error:
            raise UsageError(
                f"the command {line!r} cannot be split into words: {error}", hint="Close the quote."
            ) from (error)
        if not command or shutil.which(command[0]) is None:
            raise UsageError(f"there is no program called {(command or ('',))[0]!r}", hint=EXAMPLE)
        return cls(command)

    def load(self, first: int, documents: Sequence[Document]) -> Floats:
        """Return unit vectors of documents; run the program for texts that the cache lacks."""
        texts = [f"{document.title}\n{document.text}" if document.title else document.text for document in documents]
        keys = [blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.cache}
        if missing:
            self.cache.update(self._run(missing))
        if len({len(self.cache[key]) for key in keys}) > 1:
            raise InputError(
                "the program answered with vectors of several lengths", hint="Use one encoder for all texts."
            )
        return normalise_vectors(np.stack([self.cache[key] for key in keys]))

    def describe(self) -> str:
        return f"from the program {self.command[0]}"

    def _run(self, texts: dict[bytes, str]) -> dict[bytes, Array]:
        """Run the program on texts, by key; raise an error if it fails or a vector is missing."""
        lines = "".join(json.dumps({"id": key.hex(), "text": text}) + "\n" for key, text in texts.items())
        try:
            answer = subprocess.run(  # noqa: S603 (a command of the user, without a shell)
                self.command, input=lines.encode(), stdout=subprocess.PIPE, check=False
            )
        except OSError as error:
            raise ResourceError(f"the program {self.command[0]} cannot be started: {error}", hint=EXAMPLE) from error
        if answer.returncode:
            raise ResourceError(f"the program {self.command[0]} failed (exit code {answer.returncode})", hint=EXAMPLE)
        vectors: dict[bytes, Array] = {}
        try:
            for line in answer.stdout.decode().splitlines():
                if line.strip():
                    entry = json.loads(line)
                    vectors[bytes.fromhex(entry["id"])] = np.asarray(entry["vector"], np.float32).reshape(-1)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"the program {self.command[0]} answered with a line that is not a vector: {error}", hint=EXAMPLE
            ) from error
        if texts.keys() - vectors.keys():
            raise InputError(
                f"the program {self.command[0]} gave no vector for {len(texts.keys() - vectors.keys()):,} of "
                f"{len(texts):,} texts",
                hint="Print a line with the same id for each line of the input.",
            )
        return vectors
