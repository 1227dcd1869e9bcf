"""Count matrices that every system receives: prepared once, kept as ``.npz`` files in ``bench-cache/counts``.

A collection is named in ``COLLECTIONS``; ``counts(name)`` returns the path of its CSR file. Where the shared
data are absent the bundled demo corpus stands in for every collection, and the results say so.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.paths import BUNDLED_CORPUS, COUNTS, SHARED_DATA

COLLECTIONS = {
    "20newsgroups": ("20newsgroups",),
    "arxiv-demo": ("arxiv-demo",),
    "arxiv-2011-2013": ("arxiv-2011", "arxiv-2012", "arxiv-2013"),
}
MIN_DOCUMENTS = 5
SPLIT_SEED = 20
TEST_SHARE = 0.2


def sources(name: str) -> list[Path]:
    """Return the document files of a collection: the shared ones, or the bundled corpus in their place."""
    shared = [SHARED_DATA / folder / "docs.jsonl.gz" for folder in COLLECTIONS[name]]
    if all(path.exists() for path in shared):
        return shared
    if BUNDLED_CORPUS.exists():
        return [BUNDLED_CORPUS]
    raise FileNotFoundError(
        f"no documents for {name!r}: expected {[f'shared/data/{f}' for f in COLLECTIONS[name]]} beside the "
        f"repository, or the bundled corpus {BUNDLED_CORPUS.name}"
    )


def provenance(name: str) -> str:
    """Return in words which documents stand behind a collection's name here."""
    used = sources(name)
    return "bundled demo corpus" if used == [BUNDLED_CORPUS] else " + ".join(path.parent.name for path in used)


def texts(name: str) -> Iterator[str]:
    """Yield the texts of a collection, file after file."""
    for path in sources(name):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]


def counts(name: str) -> Path:
    """Return the CSR file of a whole collection: words of at least five documents, scikit-learn's tokens."""
    path = COUNTS / f"{_key(name)}.npz"
    if not path.exists():
        from sklearn.feature_extraction.text import CountVectorizer

        print(f"[data] counting the words of {name} ({provenance(name)})", flush=True)
        save(path, CountVectorizer(min_df=MIN_DOCUMENTS, dtype=np.int32).fit_transform(texts(name)))
    return path


def first_documents(name: str, n_documents: int) -> Path:
    """Return the CSR file of a random subset of documents (nested: a smaller one lies in a larger one).

    Words that the subset does not contain are left out.
    """
    path = COUNTS / f"{_key(name)}-{n_documents}.npz"
    if not path.exists():
        everything = load(counts(name))
        order = np.random.default_rng(SPLIT_SEED).permutation(everything.shape[0])
        save(path, _without_empty_words(everything[np.sort(order[:n_documents])]))
    return path


def completion(name: str) -> dict[str, Path]:
    """Return files for document completion: ``train``, and test documents in halves ``observed``, ``scored``.

    One document in five is a test document; each of its tokens falls into one half by a fair coin. Words
    absent from the training documents are left out everywhere, and so are test documents with an empty half.
    """
    files = {part: COUNTS / f"{_key(name)}-{part}.npz" for part in ("train", "observed", "scored")}
    if not all(path.exists() for path in files.values()):
        everything = load(counts(name))
        rng = np.random.default_rng(SPLIT_SEED)
        is_test = rng.permutation(everything.shape[0]) < round(TEST_SHARE * everything.shape[0])
        seen = np.asarray((everything[~is_test] > 0).sum(axis=0)).ravel() > 0
        test = everything[is_test][:, seen]
        observed = test.copy()
        observed.data = rng.binomial(test.data, 0.5).astype(test.data.dtype)
        scored = sparse.csr_array(test - observed)
        for half in (observed, scored):
            half.eliminate_zeros()
        whole = (observed.sum(axis=1) > 0) & (scored.sum(axis=1) > 0)
        for part, matrix in (
            ("train", everything[~is_test][:, seen]),
            ("observed", observed[whole]),
            ("scored", scored[whole]),
        ):
            save(files[part], matrix)
    return files


def load(path: Path | str) -> sparse.csr_array:
    """Read a CSR file; indices are sorted and 32-bit."""
    with np.load(path, allow_pickle=False) as parts:
        matrix = sparse.csr_array(
            (parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"].tolist())
        )
    matrix.sort_indices()
    return matrix


def describe(path: Path | str) -> dict[str, int]:
    """Return the size of a CSR file in numbers."""
    matrix = load(path)
    return {
        "documents": int(matrix.shape[0]),
        "words": int(matrix.shape[1]),
        "nonzeros": int(matrix.nnz),
        "tokens": int(matrix.data.sum()),
    }


def _key(name: str) -> str:
    """Return the file stem of a collection; a stand-in is kept apart from the real thing."""
    return f"{name}-bundled" if sources(name) == [BUNDLED_CORPUS] else name


def _without_empty_words(matrix: sparse.csr_array) -> sparse.csr_array:
    return matrix[:, np.asarray(matrix.sum(axis=0)).ravel() > 0]


def save(path: Path, matrix: sparse.spmatrix | sparse.csr_array) -> None:
    """Write the parts of a CSR matrix; under a temporary name first, so that nothing is left half done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    matrix = sparse.csr_array(matrix)
    matrix.sort_indices()
    temporary = path.with_name(f"partial-{path.name}")
    np.savez(
        temporary,
        data=matrix.data.astype(np.int32),
        indices=matrix.indices.astype(np.int32),
        indptr=matrix.indptr.astype(np.int32),
        shape=np.array(matrix.shape, dtype=np.int64),
    )
    temporary.replace(path)
