"""What a search looks for and what it finds: shared by both engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from . import globs, ignore, paths
from .grep_types import TYPES

LINE_CHARS = 2_000


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

    def expression(self) -> str:
        """The pattern with its flags, as both engines take it: ``^`` and ``$`` at lines."""
        flags = "m" + ("i" if self.ignore_case else "") + ("s" if self.multiline else "")
        return f"(?{flags})(?:{self.pattern})"

    def by_glob(self, path: str) -> bool | None:
        """Whether the glob takes (True) or leaves out (False) a file; None without one. A taken
        file is searched even where ``.gitignore`` names it, as ripgrep does."""
        if self.glob is None:
            return None
        if self.glob.startswith("!"):
            return False if globs.matches_anywhere(self.glob[1:], path) else None
        return globs.matches_anywhere(self.glob, path)

    def by_type(self, path: str) -> bool:
        name = path.rsplit("/", 1)[-1]
        return self.type is None or any(globs.matches(p, name) for p in TYPES[self.type])

    def secret(self, path: str) -> bool:
        """Whether a file found on the way is left out because it may hold secrets."""
        return paths.secret(path)


def cut(text: str) -> str:
    """A line as shown: no line end, at most ``LINE_CHARS``."""
    text = text.rstrip("\r\n")
    if len(text) <= LINE_CHARS:
        return text
    return f"{text[:LINE_CHARS]} [cut here: {len(text):,} characters]"


def enter(name: str) -> bool:
    """Whether a directory found on the way is entered."""
    return name not in ignore.ALWAYS
