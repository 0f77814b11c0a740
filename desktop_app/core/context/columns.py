"""Lists of figures and texts as bytes, each decoded by itself when somebody asks for it: figures as
the machine has them, all else as JSON."""

from __future__ import annotations

import json
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def pack(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """``columns`` by name. Lists of floats, and of ints, come back as they are; all else as JSON
    gives it back."""
    head: list[Any] = [sys.byteorder]
    bodies: list[bytes] = []
    for name, values in columns.items():
        kind = "j"
        kinds: set[object] = {type(v) for v in values}
        if isinstance(values, array):
            kind, body = values.typecode, values.tobytes()
        elif kinds == {float}:
            kind, body = "d", array("d", values).tobytes()
        elif kinds == {int} and max([abs(v) for v in values]) < 1 << 63:
            kind, body = "q", array("q", values).tobytes()
        elif len(kinds) == 1 and len(values) > 1 and all(v == values[0] for v in values):
            kind, body = "1", _json([values[0], len(values)])
        elif kinds == {str} and not any("\0" in v for v in values):
            kind, body = "s", "\0".join(values).encode("utf-8", "surrogatepass")
        else:
            body = _json(values)
        head.append([name, kind, len(body)])
        bodies.append(body)
    return b"\n".join([_json(head), b"".join(bodies)])


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Keys:
    """A set of numbers that begins with a sorted column."""

    def __init__(self, first: Sequence[int] = (), own: Iterable[int] = ()) -> None:
        self._first = first
        self._own = set(own)

    def __contains__(self, key: int) -> bool:
        if key in self._own:
            return True
        at = bisect_left(self._first, key)
        return at < len(self._first) and self._first[at] == key

    def add(self, key: int) -> None:
        self._own.add(key)

    def copy(self) -> Keys:
        return Keys(self._first, self._own)

    def column(self) -> array[int]:
        """All of them, sorted."""
        return array("q", sorted([*self._first, *self._own]))


class Columns:
    """What ``pack`` gave. ValueError for what it did not."""

    def __init__(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        end = bytes(view[: 1 << 16]).index(b"\n")
        order, *head = json.loads(bytes(view[:end]))
        if order != sys.byteorder:
            raise ValueError("another machine wrote it")
        self._parts: dict[str, tuple[str, memoryview]] = {}
        at = end + 1
        for name, kind, size in head:
            self._parts[name] = kind, view[at : at + size]
            at += size
        if at != len(view):
            raise ValueError("columns are cut short")

    def floats(self, name: str) -> array[float]:
        """A column of floats, not made objects."""
        kind, body = self._parts[name]
        values = array("d")
        if kind == "d":
            values.frombytes(body)
        else:
            values.extend(self[name])
        return values

    def ints(self, name: str) -> array[int]:
        """A column of ints."""
        kind, body = self._parts[name]
        values = array("q")
        if kind == "q":
            values.frombytes(body)
        else:
            values.extend(self[name])
        return values

    def __getitem__(self, name: str) -> list[Any]:
        kind, body = self._parts[name]
        if kind == "d":
            return self.floats(name).tolist()
        if kind == "q":
            return self.ints(name).tolist()
        if kind == "s":
            return bytes(body).decode("utf-8", "surrogatepass").split("\0")
        value = json.loads(bytes(body))
        return value if kind == "j" else [value[0]] * value[1]
