"""A set of keys on disk answers as a set of Python does."""

import os
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiarist.errors import ResourceError
from topiarist.text.repeated import LineCounter
from topiarist.text.seen_keys import SeenKeys

EXTREMES = [sign * (1 << bits) + step for sign in (1, -1) for bits in (0, 31, 32, 63, 64, 65) for step in (-1, 0, 1)]
NUMBERS = st.integers(-(2**66), 2**66) | st.sampled_from(EXTREMES)


@given(st.lists(NUMBERS | NUMBERS.map(str) | st.text(max_size=3), max_size=100))
def test_seen_keys_match_set(keys):
    seen = set()
    with closing(SeenKeys()) as database:
        for key in keys:
            same = key % 2**64 if isinstance(key, int) else key
            assert database.add(key) is (same not in seen)
            seen.add(same)


def test_seen_keys_keep_numbers_and_digits_apart():
    with closing(SeenKeys()) as keys:
        answers = [keys.add(key) for key in (1, "1", 1, "1", 2**64 - 1, -1)]
    assert answers == [True, True, False, False, True, False]


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="this system does not list open files")
def test_seen_keys_write_to_their_folder(tmp_path):
    def list_open():
        links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        return [link for link in links if os.path.islink(link) and os.readlink(link).startswith(str(tmp_path))]

    counter = LineCounter(str(tmp_path))
    counter._texts._database.execute("PRAGMA cache_size = 10")
    texts = [f"line {number}\nand another" for number in range(20_000)]
    for text in texts:
        counter.add(text)
    (path,) = list_open()
    assert os.stat(path).st_size > 100_000
    assert not any(tmp_path.iterdir())
    counter.find_repeated(lambda rows: [texts[row] for row in rows])
    assert not list_open()


def test_seen_keys_closed_after_pass(tmp_path):
    counter = LineCounter(str(tmp_path))
    counter.finish()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        counter.add("one line\nand another")
    assert not any(tmp_path.iterdir())


def test_seen_keys_report_full_disk(tmp_path):
    with closing(SeenKeys(str(tmp_path))) as keys:
        keys._database.execute("PRAGMA max_page_count = 4")  # SQLite then reports a full disk
        with pytest.raises(ResourceError, match="cannot write the list of read documents") as caught:
            all(keys.add(f"document {number}") for number in range(10_000))
    assert "full" in caught.value.message
    assert caught.value.hint == "Free some disk space."
