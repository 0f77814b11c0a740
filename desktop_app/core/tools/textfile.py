"""Text files as bytes and back, without losing any: encoding, byte order mark, line ends.

Only LF, CR LF and CR end a line, as in editors and ripgrep; U+2028, form feed and the other
characters that ``str.splitlines`` knows do not.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from desktop_app.core.errors import ToolFailure

SNIFF = 8192  # bytes looked at to tell text from binary
_LINE_END = re.compile("\r\n|\n|\r")
# Control bytes that text does not hold; ESC, BEL, BS, FF, TAB and the line ends it may.
_CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27}) + b"\x7f"
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CP1252_HOLES = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's bytes stand for text. ``guessed`` when nothing in the file says so and it is
    not UTF-8; ``damaged`` for UTF-8 with some bytes that are none (kept as they are)."""

    name: str = "utf-8"
    bom: bytes = b""
    guessed: bool = False
    damaged: bool = False

    @property
    def errors(self) -> str:
        if self.name == "utf-8":
            return "surrogateescape" if self.damaged else "strict"
        return "surrogatepass" if self.name.startswith("utf-") else "strict"

    def note(self) -> dict[str, object]:
        """For metadata; empty for plain UTF-8."""
        if self == Encoding():
            return {}
        return {
            "encoding": self.name,
            "bom": bool(self.bom),
            "encoding_guessed": self.guessed,
            "encoding_damaged": self.damaged,
        }


UTF8 = Encoding()


def bom_of(head: bytes) -> Encoding | None:
    """The encoding that a byte order mark names."""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return Encoding(name, bom)
    return None


def is_binary(head: bytes) -> bool:
    """Whether the first bytes are no text: a NUL, or many control bytes."""
    head = head[:SNIFF]
    if bom_of(head):
        return False
    if b"\0" in head:
        return True
    controls = len(head) - len(head.translate(None, _CONTROL))
    return controls * 10 > len(head)


def sniff(data: bytes, *, whole: bool = True) -> Encoding:
    """The encoding of text bytes. With ``whole`` false a character cut at the end is no damage."""
    if (known := bom_of(data)) is not None:
        return known
    try:
        if whole:
            data.decode()
        else:
            codecs.getincrementaldecoder("utf-8")().decode(data)
        return Encoding()
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "surrogateescape")
    strange = sum(1 for c in text if "\udc80" <= c <= "\udcff")
    fine = sum(1 for c in text if c >= "\x80") - strange
    if fine > strange:
        return Encoding(damaged=True)
    return Encoding("latin-1" if _CP1252_HOLES.search(data) else "cp1252", guessed=True)


def decode(data: bytes, path: str) -> tuple[str, Encoding]:
    """A file's text and how to write it back; ToolFailure ``file.binary``, ``file.encoding``."""
    if is_binary(data):
        failure = binary(path)
        raise failure
    encoding = sniff(data)
    try:
        return data[len(encoding.bom) :].decode(encoding.name, encoding.errors), encoding
    except UnicodeError as error:
        raise ToolFailure(
            "file.encoding",
            f"{path!r} starts like {encoding.name} but is not valid {encoding.name}.",
            path=path,
            encoding=encoding.name,
        ) from error


def binary(path: str) -> ToolFailure:
    """What is said of a file that is no text."""
    return ToolFailure(
        "file.binary",
        f"{path!r} is a binary file; it is not shown as text. "
        "Use Bash with a program made for it (file, xxd, unzip -l, …).",
        path=path,
    )


def encode(text: str, encoding: Encoding, path: str) -> bytes:
    """The bytes of ``text``; ToolFailure ``file.unencodable`` for what the encoding cannot hold."""
    try:
        return encoding.bom + text.encode(encoding.name, encoding.errors)
    except UnicodeEncodeError as error:
        char = text[error.start]
        line = text.count("\n", 0, error.start) + 1
        raise ToolFailure(
            "file.unencodable",
            f"{path!r} is written in {encoding.name}, which has no {char!r} "
            f"(U+{ord(char):04X}, in line {line} of the new text). Leave the character out or write"
            " it another way; the file's encoding is kept.",
            path=path,
            encoding=encoding.name,
            character=f"U+{ord(char):04X}",
            line=line,
        ) from error


def lines_of(text: str) -> list[str]:
    """The lines without their ends. A final line end makes no empty last line."""
    lines = _LINE_END.split(text)
    if lines[-1] == "":
        lines.pop()
    return lines


def ends_of(text: str) -> list[str]:
    """The line ends in their order."""
    return _LINE_END.findall(text)


def normal(text: str) -> str:
    """The text with every line end as ``\\n``."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """Without lone surrogates, which no provider takes."""
    return _SURROGATE.sub("\ufffd", text)


def dominant(ends: list[str]) -> str:
    """The commonest line end; ``\\n`` when there is none."""
    return max(("\n", "\r\n", "\r"), key=ends.count) if ends else "\n"
