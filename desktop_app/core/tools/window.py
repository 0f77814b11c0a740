"""Some lines out of a file of any size, in bounded memory: bytes are fed in pieces."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from .textfile import Encoding, printable

LINE_CHARS = 2_000
_KEEP = LINE_CHARS * 4  # bytes of a line that can matter: four a character at most


@dataclass(slots=True)
class Window:
    """Feeds on bytes, keeps lines ``first`` to ``first + count - 1`` (from 0), counts the rest.

    ``kept`` holds (first bytes, full length in bytes or -1 when the line was not read to its end).
    ``total`` is how many lines were seen to start. UTF-16 and UTF-32 are turned to UTF-8 first.
    """

    encoding: Encoding
    first: int
    count: int
    kept: list[tuple[bytes, int]] = field(default_factory=list[tuple[bytes, int]])
    number: int = 0  # of the line being read
    complete: bool = False  # the file was read to its end, so that ``total`` is known
    _buffer: bytearray = field(default_factory=bytearray)
    _length: int = 0  # bytes of the line being read
    _held: bytes = b""
    _decoder: codecs.IncrementalDecoder | None = None

    def __post_init__(self) -> None:
        if self.encoding.name.startswith(("utf-16", "utf-32")):
            self._decoder = codecs.getincrementaldecoder(self.encoding.name)("replace")

    @classmethod
    def of(cls, data: bytes, encoding: Encoding, first: int, count: int) -> Window:
        """What the whole of ``data``, byte order mark off, gives: as if it had been fed, and
        quicker where its lines are plain."""
        window = cls(encoding, first, count)
        plain = window._decoder is None and b"\r" not in data
        if not plain or max(map(len, lines := data.split(b"\n"))) > _KEEP:
            window.feed(data)
            window.close()
            return window
        if not lines[-1]:
            lines.pop()
        window.kept = [(line, len(line)) for line in lines[first : first + count]]
        window.number = len(lines)
        window.complete = True
        return window

    @property
    def full(self) -> bool:
        """Whether every wanted line is kept whole."""
        return self.number >= self.first + self.count

    @property
    def idle(self) -> bool:
        """Whether what comes next is not shown: the window is full, or the line under way is
        already longer than is ever shown."""
        return self.full or self._length > _KEEP

    @property
    def total(self) -> int:
        """Lines seen so far, the one being read included when it has begun."""
        return self.number + (1 if self._length or self._held else 0)

    def feed(self, data: bytes) -> None:
        """Take the next piece, the byte order mark already off."""
        if self._decoder is not None:
            data = self._decoder.decode(data).encode("utf-8", "replace")
        data = self._held + data
        self._held = b""
        if data.endswith(b"\r"):  # may be half of \r\n
            data, self._held = data[:-1], b"\r"
        self._take(data)

    def close(self) -> None:
        """The end of the file."""
        if self._decoder is not None:
            self._take(self._decoder.decode(b"", True).encode("utf-8", "replace"))
        held, self._held = self._held, b""
        self._take(held)
        if self._length:
            self._end_line()
        self.complete = True

    def unfinished(self) -> None:
        """Reading stopped early: keep the line under way, of unknown length."""
        if self._length and self.first <= self.number < self.first + self.count:
            self.kept.append((bytes(self._buffer), -1))

    def lines(self) -> list[str]:
        """The kept lines as shown: cut at ``LINE_CHARS`` with a note, nothing a model refuses."""
        name = "utf-8" if self._decoder is not None else self.encoding.name
        if self.kept and all(0 <= length <= LINE_CHARS for _, length in self.kept):
            # None is cut: all at once. No byte of a character in these encodings is a line feed.
            whole = b"\n".join([data for data, _ in self.kept])
            return printable(whole.decode(name, "replace")).split("\n")
        out: list[str] = []
        for data, length in self.kept:
            text = printable(data.decode(name, "replace"))
            if len(text) > LINE_CHARS or length < 0:
                size = f"{length:,} bytes" if length >= 0 else "a very long line"
                text = f"{text[:LINE_CHARS]} [cut here: {size}]"
            out.append(text)
        return out

    def _take(self, data: bytes) -> None:
        pos = 0
        while pos < len(data):
            if self.number < self.first or self.full:
                pos = self._skip(data, pos)
            else:
                pos = self._keep(data, pos)

    def _skip(self, data: bytes, pos: int) -> int:
        """Pass over lines that are not shown; returns where the next one starts."""
        stop = len(data) if self.full else _after_ends(data, pos, self.first - self.number)
        ends = count_ends(data, pos, stop)
        self.number += ends
        if ends:
            self._length = stop - _last_end(data, pos, stop)
        else:
            self._length += stop - pos
        return stop

    def _keep(self, data: bytes, pos: int) -> int:
        end = _next_end(data, pos)
        stop = len(data) if end < 0 else end
        room = _KEEP - len(self._buffer)
        if room > 0:
            self._buffer += data[pos : min(stop, pos + room)]
        self._length += stop - pos
        if end < 0:
            return stop
        self._end_line()
        return end + (2 if data[end : end + 2] == b"\r\n" else 1)

    def _end_line(self) -> None:
        if self.first <= self.number < self.first + self.count:
            self.kept.append((bytes(self._buffer), self._length))
        self._buffer.clear()
        self._length = 0
        self.number += 1


def count_ends(data: bytes, start: int, stop: int) -> int:
    """Line ends in a stretch that does not end between ``\\r`` and ``\\n``."""
    newlines = data.count(b"\n", start, stop)
    returns = data.count(b"\r", start, stop)
    return newlines + returns - (data.count(b"\r\n", start, stop) if returns else 0)


def _next_end(data: bytes, pos: int) -> int:
    newline = data.find(b"\n", pos)
    carriage = data.find(b"\r", pos, newline if newline >= 0 else len(data))
    return carriage if carriage >= 0 else newline


def _last_end(data: bytes, start: int, stop: int) -> int:
    return max(data.rfind(b"\n", start, stop), data.rfind(b"\r", start, stop)) + 1


def _after_ends(data: bytes, start: int, wanted: int) -> int:
    """Where the line after ``wanted`` line ends begins, or the end of ``data``. Halves the stretch
    and counts, so that a piece of a million short lines costs no loop over them."""
    low, high = start, len(data)
    if count_ends(data, low, high) < wanted:
        return high
    while high - low > 4096:
        middle = (low + high) // 2
        if data[middle - 1 : middle + 1] == b"\r\n":
            middle += 1
        ends = count_ends(data, low, middle)
        if ends >= wanted:
            high = middle
        else:
            wanted -= ends
            low = middle
    while wanted:
        end = _next_end(data, low)
        low = end + (2 if data[end : end + 2] == b"\r\n" else 1)
        wanted -= 1
    return low
