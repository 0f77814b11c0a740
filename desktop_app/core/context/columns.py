"""Lists of figures and texts as bytes, each decoded by itself when somebody asks for it: figures as
the machine has them, all else as JSON."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any


def pack(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """``columns`` by name. Lists of floats, and of ints, come back as they are; all else as JSON
    gives it back."""
    head: list[Any] = [sys.byteorder]
    bodies: list[bytes] = []
    for name, values in columns.items():
        kind = "j"
        kinds: set[object] = {type(v) for v in values}
        if kinds == {float}:
            kind, body = "d", array("d", values).tobytes()
        elif kinds == {int} and max([abs(v) for v in values]) < 1 << 63:
            kind, body = "q", array("q", values).tobytes()
        elif len(kinds) == 1 and len(values) > 1 and all(v == values[0] for v in values):
            kind, body = "1", _json([values[0], len(values)])
        else:
            body = _json(values)
        head.append([name, kind, len(body)])
        bodies.append(body)
    return b"\n".join([_json(head), b"".join(bodies)])


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


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

    def __getitem__(self, name: str) -> list[Any]:
        kind, body = self._parts[name]
        if kind in "dq":
            values: array[Any] = array(kind)
            values.frombytes(body)
            return values.tolist()
        value = json.loads(bytes(body))
        return value if kind == "j" else [value[0]] * value[1]
