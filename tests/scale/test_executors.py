"""Executors: the order of addition, blocks in files, and the files that rows live in."""

import gc
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from tests.oracles import textbook
from topiarist.errors import InputError, ResourceError
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import em, hplsa, plsa
from topiarist.models.engine import Engine
from topiarist.scale import BlockStore, InProcess
from topiarist.scale.executors import Sums, tree_sum
from topiarist.scale.files import EvenRows, RowFile, Scratch, handles, opened
from topiarist.scale.threads import Threads

COUNTS = sp.csr_matrix(textbook.planted(np.random.default_rng(0), 90, 40, 3, length=50)[0])
SIZE = 20


class Term(str):
    """A sum that shows how it was made."""

    def __add__(self, other):
        return Term("(" + "".join([self, other]) + ")")


@pytest.fixture
def store(tmp_path):
    return BlockStore.write(tmp_path / "store", COUNTS, block_size=SIZE)


@pytest.fixture
def engine():
    with Threads(2) as threads:
        yield Engine(load(), threads)


@pytest.mark.parametrize(
    ("number", "sum_"), [(1, "a"), (2, "(ab)"), (3, "((ab)c)"), (6, "(((ab)(cd))(ef))"), (7, "(((ab)(cd))((ef)g))")]
)
def test_neighbours_are_added_first(number, sum_):
    assert tree_sum(map(Term, "abcdefg"[:number])) == sum_


def test_runs_of_a_power_of_two_are_branches_of_the_tree():
    letters = [Term(letter) for letter in "abcdefghijklmnopqrstu"]
    for number in range(1, len(letters) + 1):
        for size in (1, 2, 4, 8):
            runs = [tree_sum(letters[at : min(at + size, number)]) for at in range(0, number, size)]
            assert tree_sum(runs) == tree_sum(letters[:number])


def test_no_more_sums_are_held_than_the_tree_is_deep():
    sums = Sums()
    for number in range(100):
        sums.add(number)
        assert len(sums._held) <= 7
    assert sums.total() == sum(range(100))


def run(engine, blocks, model=None, executor=None, **rules):
    model = model or plsa.Plsa(engine, 0.01, 0.05)
    rules = em.Rules(**{"max_iter": 12, "tol": 0.0, **rules})
    return em.run(model, blocks, plsa.initial(blocks, 3, np.random.default_rng(0), 0.01), rules, executor=executor)


def assert_same_bits(first, second):
    assert first.objectives == second.objectives
    np.testing.assert_array_equal(first.state.shared.by_word, second.state.shared.by_word)
    for rows, others in zip(first.state.local, second.state.local, strict=True):
        np.testing.assert_array_equal(opened(rows), opened(others))


def shards(dtype):
    return [Shard.of(COUNTS[at : at + SIZE], dtype) for at in range(0, 90, SIZE)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("accelerate", [True, False])
def test_files_give_the_bits_of_memory(store, engine, dtype, accelerate):
    in_memory = run(engine, shards(dtype), accelerate=accelerate)
    in_files = run(engine, store.blocks(dtype), accelerate=accelerate)
    assert len(in_memory.state.local) == 5
    assert all(isinstance(rows, RowFile) for rows in in_files.state.local)
    assert_same_bits(in_memory, in_files)


def test_files_give_the_bits_of_memory_on_a_tree(store, engine):
    mask = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], bool)
    model, rules = hplsa.Hplsa(engine, mask, 0.01), em.Rules(8, 0.0)
    fits = [
        em.run(model, blocks, hplsa.initial(blocks, mask, np.random.default_rng(0), 0.01), rules)
        for blocks in (shards("float64"), store.blocks("float64"))
    ]
    assert fits[0].objectives == fits[1].objectives
    np.testing.assert_array_equal(*(fit.state.shared.word_given_topic for fit in fits))


def test_rows_lie_beside_the_blocks_and_go_with_the_last_who_needs_them(store, engine):
    fit = run(engine, store.blocks())
    (folder,) = store.folder.glob("scratch-*")
    assert len(list(folder.iterdir())) == 5  # those of older states are gone
    del fit
    gc.collect()
    assert not folder.exists()


def test_rows_may_lie_elsewhere(store, engine, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    fit = run(engine, store.blocks(), executor=InProcess(scratch=tmp_path / "elsewhere"))
    assert fit.state.local[0].folder.parent == tmp_path / "elsewhere"
    with pytest.raises(ResourceError, match="cannot make a folder for row parameters"):
        run(engine, store.blocks(), executor=InProcess(scratch=tmp_path / "nowhere"))


def test_a_block_that_takes_too_much_memory_is_refused(store, engine):
    need = max(block.nbytes for block in store.blocks()) + 2 * (SIZE * 3 * 4 + 128)  # a file has a header
    assert run(engine, store.blocks(), executor=InProcess(memory=need), max_iter=1).steps == 1
    with pytest.raises(ResourceError, match="a block takes 0 MB with the parameters of its rows") as caught:
        run(engine, store.blocks(), executor=InProcess(memory=need // 2))
    assert "of the documents, or more memory" in caught.value.hint


def test_handles_open_where_they_are_needed():
    rows = EvenRows(2, 4, "<f4")
    pair = opened((rows, 7))
    np.testing.assert_array_equal(pair[0], np.full((2, 4), 0.25, np.float32))
    assert pair[1] == 7
    block = opened(hplsa.Block(rows, None))
    assert isinstance(block, hplsa.Block)
    assert list(handles(hplsa.Block(rows, None))) == [rows]
    assert list(handles(np.eye(2))) == []
    assert rows.nbytes == 32


def test_a_copy_of_a_handle_removes_nothing(tmp_path):
    scratch = Scratch(tmp_path)
    rows = scratch.rows()
    rows.save(np.eye(3))
    copy = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(copy.load(), np.eye(3))
    del copy
    assert rows.load().shape == (3, 3)
    path = rows.path
    del rows
    with pytest.raises(InputError, match="is not there"):
        RowFile(path).load()


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(ResourceError, match="cannot write"):
        RowFile(str(tmp_path / "nowhere" / "rows.npy")).save(np.eye(2))
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        RowFile(str(tmp_path / "rows.npy")).save(np.array([{}]))
    assert list(tmp_path.iterdir()) == []


def test_an_array_in_a_file_lives_as_long_as_it_is_used(tmp_path):
    array = Scratch(tmp_path).array((4, 3), np.float32)
    array[:] = 5
    part = array[1:]
    del array
    assert len(list(tmp_path.glob("scratch-*/*.npy"))) == 1
    assert part.sum() == 45
    del part
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_an_engine_travels_by_name_and_works_alone(engine):
    copy = pickle.loads(pickle.dumps(plsa.Plsa(engine, 0.5)))
    assert copy.engine.kernels is engine.kernels
    assert copy.engine.threads.n_threads == 1
    assert copy.word_smoothing == 0.5
