"""Heights of rows as a Fenwick tree: sums, search and changes in O(log n)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate


class Heights:
    """Whole pixels a row. ``sum(i)`` is the top of row ``i``; ``find(y)`` the row at ``y``."""

    __slots__ = ("_tree", "total", "values")

    def __init__(self, values: Iterable[int] = ()) -> None:
        self.values = list(values)
        self.total = 0
        self._tree: list[int] = []
        self._build()

    def __len__(self) -> int:
        return len(self.values)

    def _build(self) -> None:
        sums = [0, *accumulate(self.values)]
        # Node i holds the sum of the last (i & -i) values up to i.
        self._tree = [total - sums[i & (i - 1)] for i, total in enumerate(sums)]
        self.total = sums[-1]

    def __getitem__(self, row: int) -> int:
        return self.values[row]

    def set(self, row: int, height: int) -> int:
        """Change one height; returns the difference."""
        delta = height - self.values[row]
        if delta:
            self.values[row] = height
            self.total += delta
            i, n, tree = row + 1, len(self.values), self._tree
            while i <= n:
                tree[i] += delta
                i += i & -i
        return delta

    def append(self, height: int) -> None:
        self.values.append(height)
        i = len(self.values)
        value, k = height, 1
        while k < (i & -i):
            value += self._tree[i - k]
            k <<= 1
        self._tree.append(value)
        self.total += height

    def insert(self, row: int, heights: list[int]) -> None:
        """At the end O(log n) each; elsewhere the tree is built anew, O(n)."""
        if row == len(self.values):
            for height in heights:
                self.append(height)
            return
        self.values[row:row] = heights
        self._build()

    def remove(self, first: int, last: int) -> None:
        """Rows ``first`` to ``last``, both included."""
        del self.values[first : last + 1]
        self._build()

    def sum(self, row: int) -> int:
        """Sum of the heights before ``row``."""
        total, tree = 0, self._tree
        while row > 0:
            total += tree[row]
            row -= row & -row
        return total

    def find(self, y: int) -> tuple[int, int]:
        """The row that holds ``y`` and the offset in it; past the end: (len, rest)."""
        row, n, tree = 0, len(self.values), self._tree
        if y < 0:
            return 0, y
        bit = 1 << n.bit_length()
        while bit:
            probe = row + bit
            if probe <= n and tree[probe] <= y:
                y -= tree[probe]
                row = probe
            bit >>= 1
        return row, y
