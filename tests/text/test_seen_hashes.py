"""A table of hashes answers as a set does."""

from hypothesis import given, settings
from hypothesis import strategies as st

from topiarist.text.repeated import LineCounter, SeenHashes


@given(st.lists(st.integers(-(2**63), 2**64 - 1) | st.integers(0, 40).map(lambda n: n << 32), max_size=300))
@settings(max_examples=80, deadline=None)
def test_seen_hashes_add_once(numbers):
    seen, known = SeenHashes(), set()
    for number in numbers:
        same = (number % 2**64) or 1
        assert seen.add(number) is (same not in known)
        known.add(same)
    assert len(seen) == len(known)


def test_seen_hashes_grow():
    seen = SeenHashes()
    assert all(seen.add(hash(f"text {number}")) for number in range(20_000))
    assert not any(seen.add(hash(f"text {number}")) for number in range(20_000))
    assert len(seen) == 20_000


def test_line_counter_skips_single_lines_and_duplicates():
    lines = LineCounter()
    for text in ("one line", "a first line\nand a second one", "a first line\nand a second one"):
        lines.add(text)
    assert lines.n_documents == 3
    assert len(lines._texts) == 1
    assert set(lines._counts.counts.values()) == {1}
