"""Arrays in files without a name are as those in memory, and pages that are let go come back as they were."""

import errno
import gc
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.strategies import counts
from topiarist.counts import scratch
from topiarist.counts.corpus import Corpus, LookupSequence
from topiarist.counts.counting import count
from topiarist.counts.duplicates import N_HASHES, compute_text_signatures, find_candidate_pairs
from topiarist.counts.pruning import move_columns
from topiarist.counts.scratch import IN_MEMORY, ScratchArray, ScratchSpace, iterate_rows, prefetch_pages, release_pages
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.counts.validation import check_counts, sum_columns
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import SystemLimitError

TEXTS = [
    "the cat sat on the mat", "", "Dogs and cats and dogs", "the dog sat", "a mat, a cat; a hat!", "running cats ran",
    "the quick brown fox", "the quick brown dog", "quick brown cats",
]  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Scratch space with all arrays in files, and runs of two rows."""
    monkeypatch.setattr(scratch, "MIN_FILE_SIZE", 1)
    monkeypatch.setattr(scratch, "ROWS_PER_RUN", 2)
    return ScratchSpace(tmp_path)


@pytest.mark.parametrize(
    "chosen",
    [
        CountSettings(min_documents=1),
        CountSettings(min_documents=2),
        CountSettings(min_documents=1, stem="en"),
        CountSettings(min_documents=2, stem="en", stop_words="en"),
        CountSettings(min_documents=1, phrases=PhraseSettings(min_count=2)),
        CountSettings(min_documents=1, min_document_share=0.3),
        CountSettings(min_documents=1, max_words=4),
    ],
    ids=str,
)
@pytest.mark.parametrize("chunk", [None, 20])
def test_counts_in_files_are_those_in_memory(files, chosen, chunk):
    marks, same_marks = [], ScratchArray(files, np.uint32, (N_HASHES,))
    plain, words = count(TEXTS, chosen, minima=marks)
    mapped, same_words = count(TEXTS, chosen, chunk=chunk, minima=same_marks, scratch=files, dtype=np.float32)
    assert words.words == same_words.words
    assert words.forms == same_words.forms
    np.testing.assert_array_equal(words.document_frequency, same_words.document_frequency)
    np.testing.assert_array_equal(words.totals, same_words.totals)
    assert mapped.data.dtype == np.float32
    assert mapped.has_canonical_format
    np.testing.assert_array_equal(plain.toarray(), mapped.toarray())
    np.testing.assert_array_equal(np.concatenate(marks), same_marks.array())


def test_a_count_that_single_precision_cannot_hold_is_kept_in_double(files):
    text = " ".join(["word"] * 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("topiarist.counts.counting.EXACT_IN_FLOAT32", 4)
        found, _ = count([text], CountSettings(min_documents=1), scratch=files, dtype=np.float32)
    assert found.data.dtype == np.float64
    assert found.data.tolist() == [5.0]


@given(matrix=counts(), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_columns_that_meet_are_added_up(matrix, seed):
    target = np.random.default_rng(seed).integers(-1, 4, matrix.shape[1]).astype(np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch, "ROWS_PER_RUN", 2)
        found = move_columns(matrix, target, 4, meeting=True)
    told = np.zeros((matrix.shape[0], 4))
    for column, new in enumerate(target):
        if new >= 0:
            told[:, new] += matrix.toarray()[:, column]
    np.testing.assert_allclose(found.toarray(), told)
    assert found.has_canonical_format


@pytest.mark.parametrize("folder", [True, False])
def test_scratch_array_appends_rows(tmp_path, folder):
    array = ScratchArray(ScratchSpace(tmp_path) if folder else IN_MEMORY, np.int32, (2,))
    array.append(np.array([[1, 2], [3, 4]]))
    array.append(np.empty((0, 2)))
    array.append(np.array([[5, 6]]))
    assert len(array) == 3
    np.testing.assert_array_equal(array.array(), [[1, 2], [3, 4], [5, 6]])
    assert ScratchArray(ScratchSpace(tmp_path), np.float32).array().shape == (0,)


def test_files_have_no_name_and_go_with_the_array(files, tmp_path):
    held = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    array = files.empty(1000, np.int64)
    array[:] = np.arange(1000)
    assert list(tmp_path.iterdir()) == []
    release_pages(array)  # what was written is not lost
    np.testing.assert_array_equal(array, np.arange(1000))
    del array
    gc.collect()
    assert not held or len(os.listdir("/proc/self/fd")) <= held


def test_small_arrays_are_in_memory(tmp_path):
    assert ScratchSpace(tmp_path).empty(10, np.int8).base is None
    assert IN_MEMORY.empty(10, np.int8).base is None


def test_runs_of_a_mapped_matrix(files):
    dense = np.random.default_rng(0).poisson(0.7, (7, 5)).astype(np.float32)
    plain = csr_array(dense)
    data, indices = files.empty(plain.nnz, np.float32), files.empty(plain.nnz, np.int32)
    data[:], indices[:] = plain.data, plain.indices
    mapped = csr_array((data, indices, plain.indptr), shape=plain.shape)
    found = [(here.start, rows.toarray()) for here, rows in iterate_rows(mapped, 3)]
    assert [start for start, _ in found] == [0, 3, 6]
    np.testing.assert_array_equal(np.concatenate([rows for _, rows in found]), dense)
    np.testing.assert_array_equal(mapped.toarray(), dense)


def test_copies_are_the_same_however_minima_are_cut(monkeypatch):
    long = " ".join(f"word{n} and word{n * 7 % 31}" for n in range(60))
    texts = [long, "short one", long, "", long.replace("word3 ", "other "), "short one", ""]
    minima = compute_text_signatures(texts)
    whole = find_candidate_pairs(minima)
    assert {(0, 2), (0, 4), (1, 5)} <= set(map(tuple, whole.tolist()))
    monkeypatch.setattr(scratch, "ROWS_PER_RUN", 2)
    np.testing.assert_array_equal(find_candidate_pairs(minima), whole)
    assert (find_candidate_pairs(minima, 5)[:, 1] >= 5).all()


def test_what_is_known_of_documents_is_looked_up_when_it_is_asked_for():
    asked = []

    def titles(rows):
        asked.append(list(rows))
        return [f"title {row}" for row in rows]

    matrix = csr_array(np.eye(4, dtype=np.float32))
    vocabulary = Vocabulary(("a", "b", "c", "d"), np.ones(4, int), np.ones(4, int))
    corpus = Corpus(LookupSequence.numbers(4), matrix, vocabulary, titles=LookupSequence(4, titles))
    assert asked == []
    assert (corpus.titles[2], corpus.titles[-1], corpus.ids[3]) == ("title 2", "title 3", "3")
    some = corpus.subset([3, 1])
    assert (list(some.titles), list(some.ids), some.titles[0]) == (["title 3", "title 1"], ["3", "1"], "title 3")
    assert corpus.titles[1:3] == ("title 1", "title 2")
    assert "title 3" in corpus.titles
    assert asked == [[2], [3], [3, 1], [3], [1, 2], [0, 1, 2, 3]]
    with pytest.raises(IndexError):
        corpus.titles[4]


def test_words_of_a_small_share_of_documents_are_left_out():
    settings = CountSettings(min_documents=2, min_document_share=0.3)
    assert [settings.min_document_count(number) for number in (1, 6, 10, 11)] == [2, 2, 3, 4]


@pytest.mark.skipif(not scratch._CAN_RELEASE, reason="this system does not hand pages back")
def test_maps_of_others_are_never_let_go(tmp_path):
    """Somebody's own changes of a private map are in memory alone."""
    np.save(tmp_path / "x.npy", np.ones(1 << 20, np.float32))
    theirs = np.load(tmp_path / "x.npy", mmap_mode="c")
    theirs *= 2
    matrix = csr_array((np.asarray(theirs), np.arange(1 << 20, dtype=np.int32), np.array([0, 1 << 20])))
    assert check_counts(matrix).data.sum() == 2 << 20
    release_pages(theirs)
    assert (np.asarray(theirs) == 2).all()
    mine = scratch.mark_releasable(np.load(tmp_path / "x.npy", mmap_mode="c"))
    mine *= 2
    release_pages(mine)
    assert (np.asarray(mine) == 1).all(), "what may be let go must not be changed"


def test_a_full_disk_is_told_before_anything_is_written(files, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(scratch.os, "posix_fallocate", full)
    with pytest.raises(SystemLimitError, match=r"full|space"):
        files.empty(1 << 20, np.int64)


def test_runs_end_where_entries_are_many(monkeypatch):
    monkeypatch.setattr(scratch, "ROWS_PER_RUN", 3)
    monkeypatch.setattr(scratch, "ENTRIES_PER_RUN", 10)
    ends = np.array([0, 4, 8, 12, 12, 40, 41, 42, 43, 44])
    found = list(scratch.split_entries(ends))
    assert [(rows.start, rows.stop) for rows, _ in found] == [(0, 2), (2, 4), (4, 5), (5, 8), (8, 9)]
    assert [(own.start, own.stop) for _, own in found] == [(0, 8), (8, 12), (12, 40), (40, 43), (43, 44)]
    assert list(scratch.split_entries(np.zeros(1, np.int64))) == []


def test_columns_are_added_up_in_double_precision():
    number = (1 << 24) + 5  # single precision stops counting at 2²⁴
    shares = csr_array(
        (np.ones(number, np.float32), np.zeros(number, np.int32), np.arange(number + 1, dtype=np.int32)),
        shape=(number, 2),
    )
    assert sum_columns(shares).tolist() == [number, 0]


def test_what_is_expected_is_there(tmp_path):
    np.save(tmp_path / "numbers.npy", np.arange(1 << 17).reshape(-1, 4))
    array = np.asarray(np.load(tmp_path / "numbers.npy", mmap_mode="c"))
    for start, stop in ((0, len(array)), (100, 20_000), (30_000, len(array)), (5, 5), (5, 6)):
        prefetch_pages(array, start, stop)
        prefetch_pages(array[7:], start, stop - 7)
    prefetch_pages(np.arange(1 << 17), 0, 1 << 17)  # of memory nothing is fetched
    assert array[-1, -1] == (1 << 17) - 1
