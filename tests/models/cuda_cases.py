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
from topiarist.kernels.cuda.memory import DeviceArray
from topiarist.kernels.shard import CountsView
from topiarist.models import cam, em, hplsa, plsa
from topiarist.models.engine.cuda import CudaEngine
from topiarist.models.engine.cuda_counts import PinnedRows, cut_blocks
from topiarist.models.engine.host import Engine, make_paths
from topiarist.models.seeds import Seeds

simulator.patient()

THREADS = Threads(1)
HOST = Engine(load("compiled"), THREADS)
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


def test_plsa_on_device_with_empty_component(device):
    counts = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    for smoothing in (0.0, 0.2):
        expected = HOST.normalise_columns(counts.copy(), smoothing)
        got = device.normalise_columns(device.to_device(counts), smoothing)
        np.testing.assert_allclose(device.to_host(got), expected, rtol=1e-14)


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


def test_device_engine_returns_host_arrays(device):
    """Every method takes NumPy arrays too, and says the same."""
    matrix = matrix_of()
    rng = np.random.default_rng(3)
    own, other = simplex_rows(rng, 5, 3), np.ascontiguousarray(simplex_rows(rng, 3, 8).T)
    nodes, mask = simplex_rows(rng, 3, 8), MASK
    paths = make_paths(mask, rng.random(mask.shape), np.float64)
    side, host_shard, shard = (
        CountsView.from_matrix(matrix),
        HOST.shard(matrix, np.float64, 3),
        device.shard(matrix, np.float64, 3),
    )
    calls = [
        lambda e, s: e.expected_counts(s, own, other),
        lambda e, s: e.document_counts(s, own, other),
        lambda e, s: e.word_counts(s, other, own),
        lambda e, s: e.log_likelihood(side, own, other),
        lambda e, s: e.fold_in(side, own, other, Folding(0.1, 1.0, 3)),
        lambda e, s: e.row_products(side, other, np.float64),
        lambda e, s: e.word_products(s, own),
        lambda e, s: e.sum_along_paths(nodes, paths),
        lambda e, s: e.distribute_along_paths(nodes, np.ones((8, 2)), np.ones((8, 2)), paths),
        lambda e, s: e.path_counts(nodes, np.ones((8, 2)), np.ones((8, 2)), paths),
        lambda e, s: e.power(own, 0.5),
        lambda e, s: e.logarithms(own),
        lambda e, s: e.posteriors(own.copy(), np.zeros(3), 0.5),
        lambda e, s: e.normalise_rows(own.copy(), 0.3),
        lambda e, s: e.normalise_columns(own.copy(), 0.3),
        lambda e, s: e.column_totals(own),
        lambda e, s: e.add_outer(nodes.copy(), np.arange(3.0), np.arange(8.0)),
        lambda e, s: e.weighted_logs(nodes, np.array([1.0, 0.0, 2.0]), np.arange(8.0)),
        lambda e, s: e.sum_of_logs(own),
        lambda e, s: e.extrapolate(own, own[::-1].copy(), 1.5),
    ]
    for call in calls:
        expected, got = call(HOST, host_shard), call(device, shard)
        expected, got = (value if isinstance(value, tuple) else (value,) for value in (expected, got))
        for one, two in zip(got, expected, strict=True):
            assert type(one) in (np.ndarray, float)
            np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(shard.word_totals(), host_shard.word_totals())
    in_place = own.copy()
    assert device.normalise_rows(in_place, 0.3) is in_place
    np.testing.assert_allclose(in_place, HOST.normalise_rows(own.copy(), 0.3), rtol=1e-12)


def test_atomic_additions_match_approximately():
    matrix = matrix_of()
    start = plsa.create_start([HOST.shard(matrix, np.float64, 3)], 3, np.random.default_rng(0), 0.1)
    atomic = CudaEngine.start(THREADS, atomic=True)
    both(
        atomic, lambda engine: plsa.Plsa(engine, 0.1),
        lambda engine: [engine.shard(matrix, np.float64, 3)], start,
    )  # fmt: skip


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
    assert travelled.atomic == device.atomic
    assert travelled is pickle.loads(pickle.dumps(device))
