"""What ripgrep prints with ``--json``, as hits (its documentation, "JSON output")."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, cast

from .grep_wanted import BINARY, LINE_CHARS, Hit, cut

MAX_EVENT = 8 << 20  # bytes of one event; of a longer one only the beginning of its line is shown
HELD = 5_000  # hits of one file that are held back
_NUMBER = re.compile(rb'"\},"line_number":(\d+),')
# The beginning of a text in JSON, without half an escape at its end.
_BEGIN = re.compile(r'"lines":\{"text":"((?:\\u[0-9a-f]{4}|\\[^u]|[^"\\])*)')


class Events:
    """Bytes in, hits out. The hits of a file are held back until ripgrep says whether the file was
    binary; one with ``HELD`` of them is taken for text. ``any``: whether there were hits."""

    def __init__(self, *, as_text: bool) -> None:
        self._as_text = as_text
        self._parts: list[bytes] = []
        self._size = self._number = 0
        self._seam = b""
        self._held: list[Hit] = []
        self._text = as_text
        self.any = False

    def heavy(self, data: bytes) -> bool:
        """Whether the next piece may take longer than a frame."""
        return self._size + len(data) > 1 << 15

    def feed(self, data: bytes) -> list[Hit]:
        hits: list[Hit] = []
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._add(line)
            hits.extend(self._event(b"".join(self._parts)))
            self._parts, self._size, self._number, self._seam = [], 0, 0, b""
        self._add(rest)
        self.any = self.any or bool(hits)
        return hits

    def rest(self) -> list[Hit]:
        """What was held back of a file that was not searched to its end."""
        held, self._held = self._held, []
        return held

    def _add(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= MAX_EVENT or not self._parts:
            self._parts.append(data[:MAX_EVENT])
        if self._size > MAX_EVENT and not self._number:
            # Of a text a quotation mark is escaped: this is where the text ends.
            found = _NUMBER.search(self._seam + data)
            self._number = int(found[1]) if found else 0
        self._seam = data[-64:]

    def _event(self, raw: bytes) -> list[Hit]:
        if self._size > MAX_EVENT:
            return self._hold(_too_long(raw, self._number))
        if raw.startswith((b'{"type":"match"', b'{"type":"context"')):
            return self._hold(_hits(raw))
        if not raw.startswith(b'{"type":"end"'):
            return []
        at = json.loads(raw)["data"]["binary_offset"]
        held, self._held, self._text = self._held, [], self._as_text
        return [] if at is not None and at < BINARY else held

    def _hold(self, hits: list[Hit]) -> list[Hit]:
        self._held.extend(hits)
        self._text = self._text or len(self._held) >= HELD
        if not self._text:
            return []
        held, self._held = self._held, []
        return held


def _hits(raw: bytes) -> list[Hit]:
    event = cast(dict[str, Any], json.loads(raw))
    data = cast(dict[str, Any], event["data"])
    text = _text(data["lines"])
    match = event["type"] == "match"
    lines = text.removesuffix("\n").split("\n")
    path, first = _path(data["path"]), int(data["line_number"])
    return [Hit(path, first + i, cut(line), match) for i, line in enumerate(lines)]


def _too_long(raw: bytes, number: int) -> list[Hit]:
    """A hit in a line of many megabytes: where it is and how it begins."""
    head = raw[:8192].decode("utf-8", "replace")
    start = head.find('"path":')
    if start < 0 or not head.startswith('{"type":"match"'):
        return []
    path, _ = json.JSONDecoder().raw_decode(head, start + len('"path":'))
    begin = _BEGIN.search(head)
    text = json.loads(f'"{begin[1]}"')[:LINE_CHARS] if begin else ""
    return [Hit(_path(path), number, f"{text} [cut here: a very long line]", True)]


def _path(value: dict[str, str]) -> str:
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "surrogateescape")


def _text(value: dict[str, str]) -> str:
    if "text" in value:
        return value["text"]
    data = base64.b64decode(value["bytes"])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
