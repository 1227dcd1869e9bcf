"""Vectors from a program of the user's: JSON lines in (``id``, ``text``), JSON lines out (``id``, ``vector``).

The program is started without a shell, once for each batch, and must answer every line, in any order. What it answered
is remembered by the digest of the text, so that none is asked for twice.
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
from topiarist.counts.vectors import unit_directions
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.text.documents import Document

EXAMPLE = "--embed 'python embed.py', which reads lines with id and text and prints lines with id and vector"


@dataclass
class Program:
    """A program that turns texts into vectors."""

    command: tuple[str, ...]
    known: dict[bytes, Array] = field(default_factory=dict)

    @classmethod
    def from_line(cls, line: str) -> Program:
        """The program of a line as it would be typed: split into words as a shell does, and run without one."""
        try:
            command = tuple(shlex.split(line))
        except ValueError as error:
            raise UsageError(f"the command {line!r} cannot be split into words: {error}", hint="close the quote") from (
                error
            )
        if not command or shutil.which(command[0]) is None:
            raise UsageError(f"there is no program called {(command or ('',))[0]!r}", hint=EXAMPLE)
        return cls(command)

    def of(self, first: int, documents: Sequence[Document]) -> Floats:
        """The vectors of documents; see ``given.VectorSource``."""
        texts = [f"{document.title}\n{document.text}" if document.title else document.text for document in documents]
        keys = [blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.known}
        if missing:
            self.known.update(self._asked(missing))
        if len({len(self.known[key]) for key in keys}) > 1:
            raise InputError("the program answered with vectors of several lengths", hint="one encoder for all texts")
        return unit_directions(np.stack([self.known[key] for key in keys]))

    def check(self, n_docs: int) -> None:
        """Any number of documents will do."""

    def said(self) -> str:
        """Where the vectors come from."""
        return f"from the program {self.command[0]}"

    def _asked(self, missing: dict[bytes, str]) -> dict[bytes, Array]:
        lines = "".join(json.dumps({"id": key.hex(), "text": text}) + "\n" for key, text in missing.items())
        try:
            answer = subprocess.run(  # noqa: S603 (what the user asked for, and no shell)
                self.command, input=lines.encode(), stdout=subprocess.PIPE, check=False
            )
        except OSError as error:
            raise ResourceError(f"the program {self.command[0]} cannot be started: {error}", hint=EXAMPLE) from error
        if answer.returncode:
            raise ResourceError(f"the program {self.command[0]} failed (exit code {answer.returncode})", hint=EXAMPLE)
        found: dict[bytes, Array] = {}
        try:
            for line in answer.stdout.decode().splitlines():
                if line.strip():
                    entry = json.loads(line)
                    found[bytes.fromhex(entry["id"])] = np.asarray(entry["vector"], np.float32).reshape(-1)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"the program {self.command[0]} answered with a line that is no vector: {error}", hint=EXAMPLE
            ) from error
        if missing.keys() - found.keys():
            raise InputError(
                f"the program {self.command[0]} gave no vector for {len(missing.keys() - found.keys()):,} of "
                f"{len(missing):,} texts",
                hint="a line with the same id for each line that it reads",
            )
        return found
