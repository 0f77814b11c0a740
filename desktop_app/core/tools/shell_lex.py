"""A shell line cut into words and operators by hand, as far as that is certain.

One of two readings of a line; ``shell_parse`` compares it with the grammar's. It knows lists and
pipelines of simple commands, quotes and escapes, and redirections that change no file. Whatever
else a line holds (expansions, substitutions, subshells, ``&``, heredocs, assignments, braces,
comments, characters that cannot be seen) makes it unreadable: a question is asked rather than a
guess made. The rules of quoting are bash's ("Quoting" in its manual).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_LINE = 4_000
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_OPERATOR = re.compile(r"&&|\|\|(?![|&])|\|(?![|&])|;(?![;&])|\n")
# Only what throws output away or joins the two streams, and reading a file.
_TO_NULL = re.compile(
    r"(?:[12]?>>?|&>>?)[ \t]*/dev/null(?=[ \t\n;|&]|$)|[12]?>&[12](?=[ \t\n;|&]|$)"
)
_FROM = re.compile(r"<(?![<>(&])[ \t]*")
_REFLOG = re.compile(r"\{[0-9]{1,6}\}")
_PLAIN = frozenset("_./,:=@%+^-")
_GLOB = frozenset("*?[")
# Letters and marks that are drawn as nothing (Unicode, Default_Ignorable_Code_Point).
_SHAPELESS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
_ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ")


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its quotes taken off. ``quoted`` when any part was quoted or escaped; ``glob`` is
    the pattern (quoted wildcards as ``[*]``) when bash would expand it; ``start`` and ``end`` are
    indices into the line."""

    text: str
    start: int = 0
    end: int = 0
    quoted: bool = False
    glob: str = ""


@dataclass(slots=True)
class Simple:
    """One simple command. ``inputs`` are files that ``<`` reads; ``before`` the operator that
    stands before it (empty for the first); ``redirects`` the spans of all redirections."""

    words: list[Word] = field(default_factory=list[Word])
    inputs: list[Word] = field(default_factory=list[Word])
    redirects: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    before: str = ""

    @property
    def argv(self) -> list[str]:
        return [word.text for word in self.words]


class _Unreadable(Exception):
    """More than this reader knows."""


def hidden(c: str) -> bool:
    """Control characters, blanks that are not the shell's, and what has no shape."""
    return (c != "\t" and c != " " and not c.isprintable()) or c in _SHAPELESS


def lex(line: str) -> list[Simple] | None:
    """The simple commands of a line, or None: not certain."""
    if len(line) > MAX_LINE:
        return None
    try:
        return _Lexer(line).commands()
    except _Unreadable:
        return None


class _Lexer:
    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0
        self.out: list[Simple] = []

    def commands(self) -> list[Simple]:
        current = Simple()
        while True:
            self._blanks()
            if self.at >= len(self.line):
                break
            if operator := _OPERATOR.match(self.line, self.at):
                self.at = operator.end()
                current = self._next(current, operator.group())
            elif self._redirect(current):
                pass
            else:
                current.words.append(self._word())
        if current.words:
            self.out.append(current)
        elif current.before not in ("", ";", "\n"):
            raise _Unreadable
        if not self.out or any(ASSIGNMENT.match(c.words[0].text) for c in self.out):
            raise _Unreadable
        return self.out

    def _next(self, current: Simple, operator: str) -> Simple:
        """Close a command; a newline after an operator continues the list."""
        if current.words:
            self.out.append(current)
            return Simple(before=operator)
        if operator == "\n":  # empty lines, and after an operator
            return current
        raise _Unreadable

    def _blanks(self) -> None:
        while self.at < len(self.line) and self.line[self.at] in " \t":
            self.at += 1

    def _redirect(self, current: Simple) -> bool:
        found = _TO_NULL.match(self.line, self.at)
        if found is not None and current.words:
            current.redirects.append(found.span())
            self.at = found.end()
            return True
        found = _FROM.match(self.line, self.at)
        if found is not None and current.words and found.end() < len(self.line):
            start, self.at = self.at, found.end()
            word = self._word()
            if word.glob:
                raise _Unreadable
            current.inputs.append(word)
            current.redirects.append((start, self.at))
            return True
        return False

    def _word(self) -> Word:
        line, start = self.line, self.at
        text: list[str] = []
        glob: list[str] = []
        quoted = is_glob = False
        while self.at < len(line):
            c = line[self.at]
            if c in " \t\n;|&":
                break
            if c == "'" or c == '"':
                piece = self._single() if c == "'" else self._double()
                quoted = True
            elif c == "\\":
                piece = self._escape()
                quoted = True
            else:
                piece = self._bare(text, start)
                is_glob = is_glob or piece in _GLOB
                text.append(piece)
                glob.append(piece)
                continue
            text.append(piece)
            glob.append(re.sub(r"[*?\[{]", r"[\g<0>]", piece))
        if self.at == start:
            raise _Unreadable
        pattern = "".join(glob) if is_glob else ""
        return Word("".join(text), start, self.at, quoted, pattern)

    def _bare(self, before: list[str], start: int) -> str:
        """One unquoted character, or an index of the reflog."""
        line, c = self.line, self.line[self.at]
        self.at += 1
        if c in _PLAIN or c in _GLOB or c == "]" or c.isalnum() or (c > "\x7f" and not hidden(c)):
            return c
        # ``HEAD~1``; at a word's start, after ``=`` or ``:`` a tilde is somebody's home
        if c == "~" and before and before[-1][-1:] not in ("=", ":", ""):
            return c
        if (
            c == "!"
            and self.at == start + 1
            and line[self.at : self.at + 1] == " "
            and self._inner()
        ):
            return c
        if c == "{" and before and before[-1] == "@":
            index = _REFLOG.match(line, self.at - 1)
            if index is not None:
                self.at = index.end()
                return index.group()
        raise _Unreadable

    def _inner(self) -> bool:
        """Whether a word of this command stands before: ``!`` first would negate it."""
        before = self.line[: self.at - 1].rstrip(" \t")
        return bool(before) and before[-1] not in ";|&\n"

    def _single(self) -> str:
        end = self.line.find("'", self.at + 1)
        body = self.line[self.at + 1 : end]
        if end < 0 or any(hidden(c) for c in body):
            raise _Unreadable
        self.at = end + 1
        return body

    def _double(self) -> str:
        line, i = self.line, self.at + 1
        out: list[str] = []
        while i < len(line) and line[i] != '"':
            c = line[i]
            if c == "\\":
                following = line[i + 1 : i + 2]
                if not following or hidden(following):
                    raise _Unreadable
                out.append(following if following in '$`"\\' else c + following)
                i += 2
                continue
            # a dollar at the very end expands to nothing but itself
            if hidden(c) or c == "`" or (c == "$" and line[i + 1 : i + 2] != '"'):
                raise _Unreadable
            out.append(c)
            i += 1
        if i >= len(line):
            raise _Unreadable
        self.at = i + 1
        return "".join(out)

    def _escape(self) -> str:
        following = self.line[self.at + 1 : self.at + 2]
        if following not in _ESCAPABLE or not following:
            raise _Unreadable
        self.at += 2
        return following
