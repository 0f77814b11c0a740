"""What a search looks for and what it finds: shared by both engines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from . import globs, ignore, paths
from .grep_types import TYPES

LINE_CHARS = 2_000
BINARY = 64 << 10  # a NUL in the first bytes of a file makes it binary; ripgrep's first look
# One piece of an expression: a class, an escape, a line end, any other character.
_PIECE = re.compile(r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\\.|.", re.DOTALL)
_ENDS = ("\n", "\\n")
_RETURNS = ("\r", "\\r")
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")


class Hit(NamedTuple):
    """One line: ``path`` relative to where the search began, ``number`` from 1; ``match`` false
    for context."""

    path: str
    number: int
    text: str
    match: bool


@dataclass(slots=True)
class Wanted:
    """One search. ``names_only``: a file's first match is enough."""

    pattern: str
    ignore_case: bool = False
    multiline: bool = False
    glob: str | None = None
    type: str | None = None
    before: int = 0
    after: int = 0
    names_only: bool = False
    skipped_secret: int = 0

    def expression(self, *, crlf: bool = False) -> str:
        """The pattern with its flags, as both engines take it: ``^`` and ``$`` at lines. ``crlf``
        for the engine that is not told by an option that a carriage return ends a line too."""
        flags = "m" + ("i" if self.ignore_case else "") + ("s" if self.multiline else "")
        pattern = _any_end(self.pattern) if self.multiline else self.pattern
        return f"(?{flags}{'R' if crlf else ''})(?:{pattern})"

    def by_glob(self, path: str) -> bool | None:
        """Whether the glob takes (True) or leaves out (False) a file; None without one. A taken
        file is searched even where ``.gitignore`` names it, as ripgrep does; a directory that is
        left out is so with all that is in it."""
        if self.glob is None:
            return None
        if not self.glob.startswith("!"):
            return globs.matches_anywhere(self.glob, path)
        ends = [i for i, c in enumerate(path) if c == "/"] + [len(path)]
        out = any(globs.matches_anywhere(self.glob[1:], path[:end]) for end in ends)
        return False if out else None

    def by_type(self, path: str) -> bool:
        name = path.rsplit("/", 1)[-1]
        return self.type is None or any(globs.matches(p, name) for p in TYPES[self.type])

    def secret(self, path: str) -> bool:
        """Whether a file found on the way is left out because it may hold secrets."""
        return paths.secret(path)


def names_line_end(pattern: str) -> bool:
    """Whether an expression wants a line feed or a carriage return, outside of classes."""
    return any(piece in (*_ENDS, *_RETURNS) for piece in _PIECE.findall(pattern))


def _any_end(pattern: str) -> str:
    """An expression whose line feeds match the ends of Windows' lines too."""
    if _VERBOSE.search(pattern):
        return pattern
    out: list[str] = []
    for piece in _PIECE.findall(pattern):
        if piece in _ENDS:
            if out and out[-1] in _RETURNS:
                out.pop()
            out.append(r"(?:\r?\n)")
        else:
            out.append(piece)
    return "".join(out)


def cut(text: str) -> str:
    """A line as shown: no line end, at most ``LINE_CHARS``."""
    text = text.rstrip("\r\n")
    if len(text) <= LINE_CHARS:
        return text
    return f"{text[:LINE_CHARS]} [cut here: {len(text):,} characters]"


def enter(name: str) -> bool:
    """Whether a directory found on the way is entered."""
    return name not in ignore.ALWAYS
