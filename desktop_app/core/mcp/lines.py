"""A server's standard output, cut into lines before the SDK makes messages of them.

The SDK keeps what has no end of line however long it grows, copying it for each piece, and makes an
error of every line that is no message. Here a line is held until it is whole, most of what can be
no message is dropped, and who sends too much of either is given up.

It goes where the SDK asks for the name of an encoding (``StdioServerParameters.encoding``).
"""

# pyright: basic

from __future__ import annotations

import codecs
import time

ENCODING = "slipway-lines"
LINE = 64 << 20  # characters of one message
NOISE = 16 << 20  # characters that are no message, within WINDOW seconds
WINDOW = 60.0
TOLD = 20  # lines of noise that are passed on between two messages, to be noted


FLOOD = "slipway-flood:"  # begins the line that stands for a flood, before it is no JSON
WHY = {
    "line": f"it prints a line of more than {LINE >> 20} MB",
    "noise": f"it prints {NOISE >> 20} MB that are no messages",
}


def flooded(item: object) -> str:
    """Why the other side is given up, when what the SDK read says so; else empty."""
    _, found, rest = str(item).partition(FLOOD) if isinstance(item, Exception) else ("", "", "")
    return next((why for what, why in WHY.items() if found and rest.startswith(what)), "")


class Lines(codecs.IncrementalDecoder):
    """UTF-8 to whole lines. After a line over ``LINE`` or noise over ``NOISE`` one line comes that
    ``flooded`` knows, and nothing more: an error raised here the SDK would not pass on before the
    server has ended."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._held: list[str] = []  # of a line that has no end yet
        self._size = 0
        self._noise = self._told = 0
        self._since = time.monotonic()
        self._over = ""

    def decode(self, input: bytes, final: bool = False) -> str:  # noqa: A002 - as codecs has it
        if self._over:
            return ""
        head, end, rest = self._decoder.decode(input, final).rpartition("\n")
        found: list[str] = []
        if end:
            whole = "".join([*self._held, head]).split("\n")
            found = [line for line in whole if self._wanted(line)]
            self._held, self._size = [], 0
        self._held.append(rest)
        self._size += len(rest)
        if self._size > LINE:
            self._over = "line"
        if self._over:
            self._held = []
            found.append(FLOOD + self._over)
        return "".join(f"{line}\n" for line in found)

    def _wanted(self, line: str) -> bool:
        """Whether the line can be a message, or is one of few that are not."""
        bare = line.strip()
        if bare[:1] in ("{", "[") and bare[-1:] in ("}", "]"):
            self._told = 0
            return True
        self._told += bool(bare)
        self._noise += len(line) + 1
        if self._noise > NOISE:
            now, since = time.monotonic(), self._since
            self._noise, self._since = 0, now
            if now - since <= WINDOW:
                self._over = "noise"
        return self._told <= TOLD and not self._over


def _found(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != ENCODING:
        return None
    utf8 = codecs.lookup("utf-8")
    return codecs.CodecInfo(
        utf8.encode, utf8.decode, incrementalencoder=utf8.incrementalencoder,
        incrementaldecoder=Lines, name=ENCODING,
    )  # fmt: skip


codecs.register(_found)
