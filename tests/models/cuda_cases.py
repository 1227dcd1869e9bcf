"""The engine on a device does what the engine on the host does. Run by ``test_cuda`` in numba's simulator."""

import inspect
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tests import simulator
from tests.oracles import trees
from tests.strategies import simplex_rows
from topiarist import CAM, HPLSA, PLSA, Tree
from topiarist.estimators.tree import growth_data
from topiarist.execution.blocks import BlockStore
from topiarist.execution.executors import InProcess
from topiarist.execution.threads import Threads
from topiarist.kernels import Folding, load
from topiarist.kernels.cuda import segments, verbs
from topiarist.kernels.cuda.memory import DeviceArray
from topiarist.kernels.shard import CountsView
from topiarist.models import cam, em, hplsa, plsa
from topiarist.models.engine.cuda import CudaEngine
from topiarist.models.engine.cuda_counts import PinnedRows, cut_blocks
from topiarist.models.engine.host import Engine, make_paths
from topiarist.models.path_models import Seeds

simulator.patient()

THREADS = Threads(1)
HOST, REFERENCE = (Engine(load(name), THREADS) for name in ("compiled", "reference"))
MASK = trees.balanced(1)
SEEDS = Seeds(np.array([1, 1, 2]), np.array([0, 3, 3]), np.array([2.0, 0.5, 4.0]))


@pytest.fixture(scope="module")
def device():
    return CudaEngine.start(THREADS)


def matrix_of(seed=0, shape=(5, 8)):
    dense = np.random.default_rng(seed).poisson(0.8, shape)
    dense[1], dense[:, 3] = 0, 0
    dense[0, 0] += 1
    return csr_matrix(dense.astype(float))


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")}


def test_engines_have_equal_methods():
    """Nothing of the host's engine would be met with arrays of a device, and nothing is called differently there."""
    for name in public(Engine) - {"kernels", "threads"}:
        ours, theirs = (inspect.getattr_static(kind, name) for kind in (CudaEngine, Engine))
        assert ours is not theirs, name
        if callable(theirs):
            expected = [(p.name, p.default) for p in inspect.signature(theirs).parameters.values()]
            assert [(p.name, p.default) for p in inspect.signature(ours).parameters.values()] == expected, name


def same_state(got, expected, **close):
    close = close or {"rtol": 1e-12, "atol": 1e-14}
    for one, other in zip(got.local, expected.local, strict=True):
        np.testing.assert_allclose(one, other, **close)
    for name, value in vars(expected.shared).items():
        if value is None:  # what the model does not have
            assert getattr(got.shared, name) is None
        else:
            np.testing.assert_allclose(getattr(got.shared, name), value, **close)


def steps(make, blocks_of, start, beta=1.0, number=2, executor=None, engine=HOST):
    """States and objectives of a few EM steps with looking ahead, as NumPy arrays."""
    rules = em.Rules(number, -np.inf, 1.0, accelerate=True)
    fit = em.run(
        make(engine), blocks_of(engine), engine.to_device(start), rules,
        inverse_temperature=beta, executor=executor or engine.executor,
    )  # fmt: skip
    return engine.to_host(fit.state), fit.objectives


def both(device, make, blocks_of, start, beta=1.0, number=2):
    (expected, objectives), (got, result) = (
        steps(make, blocks_of, start, beta, number, engine=engine) for engine in (HOST, device)
    )
    np.testing.assert_allclose(result, objectives, rtol=1e-12)
    same_state(got, expected)


@pytest.mark.parametrize("beta", [1.0, 0.7])
@pytest.mark.parametrize("n_components", [1, 5])
def test_plsa_on_device_matches_host(device, n_components, beta):
    matrix = matrix_of()
    start = plsa.create_start(
        [HOST.shard(matrix, np.float64, n_components)], n_components, np.random.default_rng(0), 0.1
    )
    both(
        device, lambda engine: plsa.Plsa(engine, 0.1, 0.05 if beta < 1 else 0.0),
        lambda engine: [engine.shard(matrix, np.float64, n_components)], start, beta,
    )  # fmt: skip


@pytest.mark.parametrize("topic_mix", ["ml", "heldout", "uniform"])
def test_hplsa_on_device_matches_host(device, topic_mix):
    matrix, heldout = matrix_of(0), matrix_of(1)
    start = hplsa.create_start([HOST.shard(matrix, np.float64, 2)], MASK, np.random.default_rng(0), 0.1)

    def blocks(engine):
        return [hplsa.Block(engine.shard(matrix, np.float64, 2), engine.shard(heldout, np.float64, 2))]

    both(device, lambda engine: hplsa.Hplsa(engine, MASK, 0.1, 0.05, topic_mix), blocks, start)
    both(device, lambda engine: hplsa.Hplsa(engine, MASK, 0.1, 0.05, topic_mix, seeds=SEEDS), blocks, start)


@pytest.mark.parametrize("variant", ["cem", "sem"])
def test_hplsa_variants_on_device_match_host(device, variant):
    matrix = matrix_of()
    start = hplsa.create_start([HOST.shard(matrix, np.float64, 2)], MASK, np.random.default_rng(0), 0.1)
    both(
        device, lambda engine: hplsa.Hplsa(engine, MASK, 0.1, variant=variant),
        lambda engine: [engine.shard(matrix, np.float64, 2)], start, number=1,
    )  # fmt: skip


@pytest.mark.parametrize("node_mix", ["heldout", "ml"])
def test_cam_on_device_matches_host(device, node_mix):
    matrix, heldout = matrix_of(0), matrix_of(1)
    rng = np.random.default_rng(2)
    mix = MASK * simplex_rows(rng, *MASK.shape)
    shared = cam.Params(
        simplex_rows(rng, MASK.shape[1], 8), mix / mix.sum(axis=1, keepdims=True), simplex_rows(rng, 1, 2)[0]
    )
    collection = np.asarray(matrix.sum(axis=0)).ravel() / matrix.sum()
    tokens = np.array([2.0, 0.0, 1.0])

    def blocks(engine):
        return [cam.Block(engine.shard(matrix, np.float64, 2), engine.shard(heldout, np.float64, 2))]

    start = em.State(shared, (np.full((5, 2), 0.5),))
    both(device, lambda engine: cam.Cam(engine, MASK, node_mix, collection, tokens), blocks, start, beta=0.8)
    seeded = {"node_mix": node_mix, "collection": collection, "prior_tokens": tokens, "seeds": SEEDS}
    both(device, lambda engine: cam.Cam(engine, MASK, **seeded), blocks, start, beta=0.8)
    expected = cam.Cam(HOST, MASK).log_likelihood(shared, CountsView.from_matrix(matrix), start.local[0])
    on_device = device.to_device(start)
    got = cam.Cam(device, MASK).log_likelihood(
        on_device.shared, device.view_counts(matrix, np.float64), on_device.local[0]
    )
    assert got == pytest.approx(expected, rel=1e-12)


WIDTHS = (1, 5, 6, 12, 33, 64)  # of which words of one, two and four numbers divide rows
TOLERANCES = {np.float64: {"rtol": 1e-11, "atol": 1e-14}, np.float32: {"rtol": 2e-5, "atol": 1e-6}}


def compare(device, reference, call, **close):
    """A call of both engines, whose arrays are given and returned as NumPy arrays, and equal."""
    got, expected = (call(engine) for engine in (device, reference))
    got, expected = (value if isinstance(value, tuple) else (value,) for value in (got, expected))
    for one, two in zip(got, expected, strict=True):
        assert type(one) in (np.ndarray, float)
        np.testing.assert_allclose(one, two, **close)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("width", "size"), [*((width, 1024) for width in WIDTHS), (5, 3), (12, 2)])
def test_sweeps_match_reference(device, monkeypatch, width, size, dtype):
    """Test rows whole and in segments, with an empty document, an unseen word and a word of no component."""
    monkeypatch.setattr(segments, "SEGMENT_NONZEROS", size)
    monkeypatch.setattr(segments, "MIN_TILE_DOCUMENTS", 2 if size < 4 else 4096)  # several tiles of documents
    monkeypatch.setattr(segments, "TILE_BYTES", 16)
    monkeypatch.setattr(segments, "MIN_TILE_NONZEROS", 1)
    matrix, rng = matrix_of(), np.random.default_rng(1)
    rows = simplex_rows(rng, 5, width).astype(dtype)
    columns = np.ascontiguousarray(simplex_rows(rng, width, 8).T).astype(dtype)
    columns[4] = 0
    shards = {engine: engine.shard(matrix, dtype, width) for engine in (device, REFERENCE)}
    side, close = CountsView.from_matrix(matrix, dtype), TOLERANCES[dtype]
    for call in (
        lambda e: e.expected_counts(shards[e], rows, columns),
        lambda e: e.log_likelihood(side, rows, columns),
        lambda e: e.log_likelihoods(side, rows, columns),
        lambda e: e.row_products(side, columns),
        lambda e: e.row_products(side, columns, np.float64),
        lambda e: e.word_products(shards[e], rows),
    ):
        compare(device, REFERENCE, call, **close)
    np.testing.assert_array_equal(shards[device].word_totals(), shards[REFERENCE].word_totals())


@pytest.mark.parametrize("folding", [Folding(0.0, 1.0, 4), Folding(0.1, 0.8, 3), Folding(0.3, 1.0, 40, 1e-2)])
@pytest.mark.parametrize("width", [1, 5, 12])
def test_fold_in_matches_reference(device, width, folding):
    rng = np.random.default_rng(1)
    rows, columns = simplex_rows(rng, 5, width), np.ascontiguousarray(simplex_rows(rng, width, 8).T)
    side, columns = CountsView.from_matrix(matrix_of()), columns**folding.inverse_temperature
    compare(device, REFERENCE, lambda e: e.fold_in(side, rows, columns, folding), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("part", [2048, 3])
def test_array_operations_match_reference(device, monkeypatch, dtype, part):
    """Test sums of whole rows and in parts, with an empty row, and a node on no path at all."""
    monkeypatch.setattr(verbs, "PART_COLUMNS", part)
    monkeypatch.setattr(verbs, "MIN_PART_ROWS", 2)
    rng = np.random.default_rng(3)
    old, new, values = rng.random((5, 7)).astype(dtype), rng.random((5, 7)).astype(dtype), rng.random((3, 7))
    new[2, 3], empty = 0, new.copy()
    empty[1] = 0
    mask = np.concatenate([trees.balanced(2), np.zeros((4, 1), bool)], axis=1)
    nodes = rng.random((mask.shape[1], 7)).astype(dtype)
    paths = make_paths(mask, rng.random(mask.shape), dtype)
    words, counts = REFERENCE.sum_along_paths(nodes, paths), rng.random((7, 4)).astype(dtype)
    words[2, 1] = 0
    for call in (
        lambda e: e.extrapolate(old, new, 2.5),
        lambda e: e.power(new, 0.7),
        lambda e: e.logarithms(new),
        lambda e: e.column_totals(new),
        lambda e: e.normalise_rows(empty.copy(), 0.0),
        lambda e: e.normalise_rows(empty.copy(), 0.3),
        lambda e: e.normalise_columns(empty.T.copy(), 0.0),
        lambda e: e.normalise_columns(empty.T.copy(), 0.3),
        lambda e: e.posteriors(50 * old, np.log(values[0]), 0.6),
        lambda e: e.sum_of_logs(old),
        lambda e: e.add_outer(old.copy(), np.arange(5.0), values[0]),
        lambda e: e.weighted_logs(old, np.array([1.0, 0, 2.0, 1.0, 0.5]), values[1]),
        lambda e: e.sum_along_paths(nodes, paths),
        lambda e: e.distribute_along_paths(nodes, words, counts, paths),
        lambda e: e.path_counts(nodes, words, counts, paths),
    ):
        compare(device, REFERENCE, call, **TOLERANCES[dtype])
    assert device.sum_of_logs(new) == -np.inf
    in_place = old.copy()
    assert device.normalise_rows(in_place, 0.3) is in_place


LIMIT = 3_500


@pytest.fixture
def exact_places(monkeypatch):
    monkeypatch.setattr(
        "topiarist.kernels.cuda.memory.MIN_BYTES", 16
    )  # or the least places would be most of the memory


@pytest.mark.usefixtures("exact_places")
def test_pinned_blocks_give_equal_bits():
    matrix, limit = matrix_of(4, (12, 8)), LIMIT
    small, large = CudaEngine.start(THREADS, device_memory=limit), CudaEngine.start(THREADS)
    parked = small.make_shards(matrix, np.float64, 3)
    assert len(parked) > 2
    assert not any(block.is_resident for block in parked)
    ends = np.cumsum([0, *(block.shape[0] for block in parked)])
    resident = [large.shard(matrix[a:b], np.float64, 3) for a, b in pairwise(ends)]
    ends = []
    for engine, blocks, executor in (
        (large, resident, InProcess()), (small, parked, small.executor), (small, parked, InProcess()),
    ):  # fmt: skip
        start = plsa.create_start(blocks, 3, np.random.default_rng(0), 0.1)
        assert isinstance(start.local[0], DeviceArray if engine is large else PinnedRows)
        state, objectives = steps(
            lambda engine: plsa.Plsa(engine, 0.1, 0.05), lambda _, blocks=blocks: blocks, start,
            number=2, executor=executor, engine=engine,
        )  # fmt: skip
        ends.append((state.shared.by_word, np.concatenate(state.local), np.array(objectives)))
    for other in ends[1:]:
        for one, two in zip(ends[0], other, strict=True):
            assert np.array_equal(one, two)
    assert 0 < small.memory.peak_bytes <= limit


@pytest.mark.usefixtures("exact_places")
def test_fetch_copies_both_shards_of_block():
    small = CudaEngine.start(THREADS, device_memory=2 * LIMIT)
    matrix, heldout = matrix_of(4, (8, 8)), matrix_of(5, (8, 8))
    training, rest = (
        [small.pinned_pool.pin_shard(small.shard(counts[rows], np.float64, 2)) for rows in (slice(5), slice(5, 8))]
        for counts in (matrix, heldout)
    )
    start = hplsa.create_start(training, MASK, np.random.default_rng(0), 0.1)
    state, objectives = steps(
        lambda engine: hplsa.Hplsa(engine, MASK, 0.1, topic_mix="heldout"),
        lambda _: [hplsa.Block(*pair) for pair in zip(training, rest, strict=True)], start, number=1, engine=small,
    )  # fmt: skip
    wanted, expected = steps(
        lambda engine: hplsa.Hplsa(engine, MASK, 0.1, topic_mix="heldout"),
        lambda engine: [hplsa.Block(engine.shard(matrix, np.float64, 2), engine.shard(heldout, np.float64, 2))],
        replace(small.to_host(start), local=(np.concatenate(small.to_host(start).local),)), number=1,
    )  # fmt: skip
    np.testing.assert_allclose(objectives, expected, rtol=1e-12)
    np.testing.assert_allclose(np.concatenate(state.local), wanted.local[0], rtol=1e-12)
    np.testing.assert_allclose(state.shared.word_given_topic, wanted.shared.word_given_topic, rtol=1e-11)


def test_cut_blocks_returns_fewest_fitting_blocks():
    matrix = matrix_of(4, (24, 8))
    assert cut_blocks(matrix, 8, 3, None) == [0, 24]
    assert cut_blocks(matrix, 8, 3, 1 << 20) == [0, 24]
    cuts = cut_blocks(matrix, 8, 3, 6_000)
    assert (cuts[0], cuts[-1]) == (0, 24)
    assert len(cuts) > 2
    assert len(cut_blocks(matrix, 8, 3, 1)) > 20


def test_estimators_on_device_match_host():
    """From counts to NumPy arrays, and the same as on the processor."""
    matrix = matrix_of(6, (5, 9))
    options = {"random_state": 0, "dtype": "float32", "max_iter": 2}
    tree = Tree.from_paths([["a", "b"], ["a", "c"]])
    for make, learned in (
        (lambda device: PLSA(2, heldout_fraction=0.2, tol=0, device=device, **options), "component_given_doc_"),
        (lambda device: HPLSA(tree=tree, tol=0, device=device, **options), "class_given_doc_"),
        (lambda device: CAM(tree=tree, tol=0, device=device, **options), "cluster_given_doc_"),
    ):
        host, there = make("cpu").fit(matrix), make("cuda").fit(matrix)
        for name in ("components_", "history_", learned):
            assert type(getattr(there, name)) is np.ndarray
            np.testing.assert_allclose(getattr(there, name), getattr(host, name), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(there.transform(matrix[:2]), host.transform(matrix[:2]), rtol=1e-4, atol=1e-5)


def test_stream_on_device_matches_host(monkeypatch):
    monkeypatch.setattr("topiarist.models.online.FIRST_STEPS", 1)
    monkeypatch.setattr("topiarist.models.plsa.BATCH_FOLDING", (1, 1e-3))
    matrix = matrix_of(7, (4, 6))
    tree = Tree.balanced(2, 1)
    for make in (
        lambda device: PLSA(2, random_state=0, dtype="float64", device=device),
        lambda device: HPLSA(tree=tree, random_state=0, dtype="float64", device=device, max_iter=1),
        lambda device: CAM(tree=tree, random_state=0, dtype="float64", device=device, max_iter=1),
    ):
        host, there = (make(device).partial_fit(matrix).partial_fit(matrix) for device in ("cpu", "cuda"))
        np.testing.assert_allclose(there.components_, host.components_, rtol=1e-7)
        assert len(there.stream_) == len(host.stream_) == 1
        assert there.stream_[0].log_likelihood == pytest.approx(host.stream_[0].log_likelihood, rel=1e-6, nan_ok=True)


def test_stored_blocks_on_device_match_host(device, tmp_path):
    matrix = matrix_of(3, (9, 8))
    store = BlockStore.write(tmp_path / "counts", matrix, block_size=4, dtype="float64")
    settings = {"random_state": 0, "max_iter": 2, "word_smoothing": 0.1, "dtype": "float64"}
    there, here = (PLSA(2, device=name, **settings).fit(store) for name in ("cuda", "cpu"))
    np.testing.assert_allclose(there.history_, here.history_, rtol=1e-10)
    np.testing.assert_allclose(there.components_, here.components_, rtol=1e-8)
    np.testing.assert_allclose(there.component_given_doc_, here.component_given_doc_, atol=1e-6)
    tree = Tree.balanced(2, 1)
    there, here = (HPLSA(tree=tree, device=name, **settings).fit(store) for name in ("cuda", "cpu"))
    np.testing.assert_allclose(there.history_, here.history_, rtol=1e-10)


@pytest.mark.parametrize("n_drawn", [9, 6])
def test_tree_grows_from_files_on_device(tmp_path, monkeypatch, n_drawn):
    monkeypatch.setattr(growth_data, "MAX_DRAWN", n_drawn)
    store = BlockStore.write(tmp_path / "counts", matrix_of(3, (9, 8)), block_size=4, dtype="float64")
    settings = {"random_state": 0, "max_iter": 1, "dtype": "float64", "topic_mix": "heldout"}
    there, here = (HPLSA(2, device=name, **settings).fit(store) for name in ("cuda", "cpu"))
    assert there.tree_ == here.tree_
    np.testing.assert_allclose(there.history_, here.history_, rtol=1e-10)
    np.testing.assert_allclose(there.class_given_doc_, here.class_given_doc_, atol=1e-6)


def test_pickled_engine_uses_local_device(device):
    travelled = pickle.loads(pickle.dumps(device))
    assert isinstance(travelled, CudaEngine)
    assert travelled is pickle.loads(pickle.dumps(device))
