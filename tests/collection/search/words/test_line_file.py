"""Lines of a file, read when they are asked for."""

from __future__ import annotations

import pytest

from topiarist.collection.search.words import line_file
from topiarist.collection.search.words.line_file import LineFile, find_line, read_lines, write_lines

LINES = [
    [],
    ["one"],
    ["", "a", "b"],
    sorted(["Ä", "a", "z", "考研", "\U0001d4ac", "\ud800", "￿", "zz"]),
]


@pytest.mark.parametrize("lines", LINES)
def test_lines_come_back_by_their_places_and_in_runs(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(line_file, "LINES_PER_BLOCK", 2)
    monkeypatch.setattr(line_file, "MAX_LINES_IN_MEMORY", 0)
    write_lines(tmp_path / "lines.txt", lines)
    found = read_lines(tmp_path / "lines.txt")
    assert isinstance(found, LineFile) or not lines
    assert list(found) == lines
    assert [found[place] for place in range(-len(lines), len(lines))] == [*lines, *lines]
    assert found[1:3] == tuple(lines[1:3])
    assert found[::2] == tuple(lines[::2])
    with pytest.raises(IndexError):
        found[len(lines)]


def test_a_line_is_found_among_lines_that_rise(tmp_path):
    write_lines(tmp_path / "lines.txt", LINES[3])
    found = LineFile(tmp_path / "lines.txt")
    assert [find_line(line, found) for line in LINES[3]] == [*range(len(LINES[3]))]
    assert find_line("no", found) is None
    assert find_line("\U0001ffff", found) is None
