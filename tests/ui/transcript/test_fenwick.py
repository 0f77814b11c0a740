"""Heights: the tree agrees with plain sums."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop_app.ui.transcript.fenwick import Heights

heights = st.integers(0, 500)
steps = st.lists(
    st.tuples(st.sampled_from(["set", "append", "insert", "remove"]), st.integers(0, 60), heights),
    max_size=40,
)


@given(st.lists(heights, max_size=40), steps)
def test_sums_and_search_agree_with_a_list(start: list[int], changes: list) -> None:
    plain, tree = list(start), Heights(start)
    for what, at, value in changes:
        if what == "append":
            plain.append(value)
            tree.append(value)
        elif what == "insert":
            at = min(at, len(plain))
            plain[at:at] = [value, 7]
            tree.insert(at, [value, 7])
        elif plain and what == "set":
            plain[at % len(plain)] = value
            tree.set(at % len(plain), value)
        elif plain:
            del plain[at % len(plain)]
            tree.remove(at % (len(plain) + 1), at % (len(plain) + 1))
    assert tree.total == sum(plain)
    assert [tree.sum(i) for i in range(len(plain) + 1)] == [
        sum(plain[:i]) for i in range(len(plain) + 1)
    ]
    for y in range(0, sum(plain), 37):
        row, offset = tree.find(y)
        assert sum(plain[:row]) + offset == y
        assert 0 <= offset < plain[row]
    assert tree.find(sum(plain) + 5) == (len(plain), 5)
