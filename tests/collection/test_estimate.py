"""What a grow will take."""

from topiarist.collection.grow import estimate
from topiarist.collection.grow.estimate import estimate_leaves, estimate_memory


def test_memory_that_growing_needs_is_about_what_was_measured():
    """192,132 abstracts: 1.56 GB. 12,000 of them: 0.71 GB. 60 of them: 0.39 GB."""
    assert 1.4e9 < estimate_memory(192_132, 57_574, 14_800_000, 24) < 2.0e9
    assert 0.65e9 < estimate_memory(12_000, 15_100, 900_000, 19) < 0.9e9
    assert 0.35e9 < estimate_memory(60, 352, 1_800, 1) < 0.5e9


def test_a_tree_that_chooses_its_leaves_is_expected_to_have_many():
    assert [estimate_leaves(n_docs) for n_docs in (10, 400, 12_000, 192_132)] == [1, 10, 300, 512]
    assert estimate_memory(192_132, 57_574, 14_800_000) > 1.5 * estimate_memory(192_132, 57_574, 14_800_000, 24)


def test_memory_shortage_compares_need_with_free(monkeypatch):
    sizes = {"documents": 192_132, "words": 57_574, "nonzeros": 14_800_000}
    needed = estimate.estimate_memory(192_132, 57_574, 14_800_000, 24)
    for free, is_short in ((None, False), (needed / 0.81, True), (needed / 0.79, False)):
        monkeypatch.setattr(estimate, "measure_free_memory", lambda free=free: free)
        assert (estimate.find_memory_shortage(sizes, 24) is not None) == is_short
    monkeypatch.setattr(estimate, "measure_free_memory", lambda: needed / 2)
    assert estimate.find_memory_shortage(sizes, 24) == (needed, needed / 2, 57_000)  # 0.6 · 192,132 / 2, in thousands
