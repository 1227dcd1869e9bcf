"""What was seen before, by hashes: eight bytes and a little air for each, where a set of Python's takes a hundred."""

from __future__ import annotations

from array import array

_SMALLEST = 1 << 12  # places
_FILLED = 0.6  # of the places, at most
_BITS = (1 << 64) - 1


class SeenHashes:
    """A set of hashes that only grows: a table in which a hash stands at its place, or at the next one that is free.

    Two things of the same hash are taken for one: of ten million that happens once in four hundred thousand times.
    """

    def __init__(self) -> None:
        self._table, self._number = array("Q", bytes(8 * _SMALLEST)), 0

    def __len__(self) -> int:
        return self._number

    def add(self, number: int) -> bool:
        """Note a hash; whether it is new."""
        number = (number & _BITS) or 1  # nought is a free place
        if not self._put(number):
            return False
        self._number += 1
        if self._number > _FILLED * len(self._table):
            old, self._table = self._table, array("Q", bytes(16 * len(self._table)))
            for one in filter(None, old):
                self._put(one)
        return True

    def _put(self, number: int) -> bool:
        table, last = self._table, len(self._table) - 1
        place = (number ^ number >> 32) & last
        while known := table[place]:
            if known == number:
                return False
            place = (place + 1) & last
        table[place] = number
        return True
