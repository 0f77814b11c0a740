"""What a row of the table says of one command, and whether a command's words keep to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from .shell_lex import Word

NUMBER = re.compile(r"[0-9]{1,9}")
Positional = Literal["path", "text", "none", "format", "pattern", "one", "two", "required"]
Custom = Callable[[Sequence[Word]], "list[Word] | None"]


@dataclass(frozen=True, slots=True)
class Spec:
    """One command. ``short`` options may be joined (``-la``); ``short_value`` and ``long_value``
    take a value (a long one that is in ``long`` too may stand without), ``long_optional`` ones only
    after ``=``, ``short_optional`` ones only joined to the letter; ``values`` are (option, pattern
    that its value matches whole); ``digits`` allows ``-20``.

    ``positional``: ``path``, ``text``, ``none``, ``format`` (only ``+…``), ``pattern`` (text first
    unless an option in ``pattern_by`` gave it, then paths), ``one`` (at most one path, last),
    ``two`` (at most two), ``required`` (at least one path). ``deep``: options that make it read
    all files below a directory, ``*`` when it always does. ``custom`` replaces all of this.
    ``whole``: the row speaks of everything that the command reads, not only of how its version is
    asked for.
    """

    short: str = ""
    short_value: str = ""
    long: frozenset[str] = frozenset()
    long_value: frozenset[str] = frozenset()
    long_optional: frozenset[str] = frozenset()
    values: tuple[tuple[str, str], ...] = ()
    short_optional: str = ""
    digits: bool = False
    positional: Positional = "path"
    pattern_by: frozenset[str] = frozenset({"e", "regexp"})
    deep: frozenset[str] = frozenset()
    custom: Custom | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Matched:
    """The words that name files (or may), and the options that were given."""

    paths: tuple[Word, ...]
    options: frozenset[str]


def names(text: str) -> frozenset[str]:
    """The names in a text, divided by blanks."""
    return frozenset(text.split())


def match(spec: Spec, args: Sequence[Word]) -> Matched | None:
    """What a command does with its words, or None when the table does not say."""
    if spec.custom is not None:
        found = spec.custom(args)
        return None if found is None else Matched(tuple(found), frozenset())
    reader = _Options(spec, args)
    if not reader.read():
        return None
    paths = _positionals(spec, reader)
    return None if paths is None else Matched(tuple(paths), frozenset(reader.seen))


class _Options:
    """Options told from other words, GNU's way: they may stand anywhere before ``--``."""

    def __init__(self, spec: Spec, args: Sequence[Word]) -> None:
        self.spec = spec
        self.args = list(args)
        self.rest: list[Word] = []
        self.seen: set[str] = set()
        self.late = False  # an option after another word: some programs take it for a file

    def read(self) -> bool:
        i = 0
        while i < len(self.args):
            word = self.args[i]
            i += 1
            text = word.text
            self.late = self.late or (bool(self.rest) and text.startswith("-"))
            if text == "--":
                self.rest.extend(self.args[i:])
                return True
            if text.startswith("--"):
                if (taken := self._long(word, self.args[i : i + 1])) is None:
                    return False
                i += taken
            elif text.startswith("-") and len(text) > 1:
                if word.glob or (taken := self._short(text[1:], self.args[i : i + 1])) is None:
                    return False
                i += taken
            elif not text or text == "-" or word.glob.startswith(("*", "?", "[")):
                # what a leading wildcard finds is looked at by the caller
                if not word.glob:
                    return False
                self.rest.append(word)
            else:
                self.rest.append(word)
        return True

    def _long(self, word: Word, following: Sequence[Word]) -> int | None:
        spec = self.spec
        name, equals, value = word.text[2:].partition("=")
        # ``--include=*.py`` finds only names that begin with ``--include=``
        if word.glob and not (equals and word.glob.startswith(f"--{name}=")):
            return None
        self.seen.add(name)
        if equals:
            if name not in spec.long_value | spec.long_optional:
                return None
            return 0 if self._fits(name, value) else None
        bare = name in spec.long or name in spec.long_optional
        if name not in spec.long_value:
            return 0 if bare else None
        if not following or following[0].glob or following[0].text.startswith("-"):
            return 0 if bare else None
        return 1 if self._fits(name, following[0].text) else None

    def _fits(self, name: str, value: str) -> bool:
        return all(re.fullmatch(form, value) for key, form in self.spec.values if key == name)

    def _short(self, letters: str, following: Sequence[Word]) -> int | None:
        """How many following words a cluster of short options takes, or None: not listed."""
        spec = self.spec
        if spec.digits and NUMBER.fullmatch(letters):
            return 0
        for k, letter in enumerate(letters):
            self.seen.add(letter)
            if letter in spec.short_value:
                value = letters[k + 1 :]
                if value:
                    return 0 if self._fits(letter, value) else None
                if not following or following[0].glob or following[0].text.startswith("-"):
                    return None
                return 1 if self._fits(letter, following[0].text) else None
            if letter in spec.short_optional:
                return 0
            if letter not in spec.short:
                return None
        return 0


def _positionals(spec: Spec, reader: _Options) -> list[Word] | None:
    words = reader.rest
    match spec.positional:
        case "none":
            return None if words else []
        case "text":
            # a wildcard shows names, of this folder only
            return [w for w in words if w.glob]
        case "format":
            plain = all(w.text.startswith("+") and not w.glob for w in words)
            return [] if plain and len(words) <= 1 else None
        case "pattern":
            if reader.seen & spec.pattern_by:
                return words
            return None if not words or words[0].glob else words[1:]
        case "one" | "two":
            most = 1 if spec.positional == "one" else 2
            if len(words) > most or any(w.glob for w in words):
                return None
            # their second file may be written to
            return None if spec.positional == "one" and reader.late else words
        case "required":
            return words or None
        case _:
            return words
