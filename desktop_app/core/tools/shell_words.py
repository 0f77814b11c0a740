"""Shell lines cut into words, as far as that is certain.

Not a shell parser: it knows the plain cases and says "not plain" for everything else, so that a
question is asked rather than a guess made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

# Unquoted, any of these makes a line more than one plain command (or something expanded).
_SPECIAL = set("\n\r;&|<>$`(){}\\!#*?[]~\0")
_SPECIAL_GLOB = _SPECIAL - set("*?[]")
# Still special between double quotes (bash, "Double Quotes").
_IN_DOUBLE = set("$`\\!")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its quotes taken off; ``quoted`` when any part of it was quoted."""

    text: str
    quoted: bool


def plain_words(line: str, *, globs: bool = False) -> list[Word] | None:
    """The words of one plain command, or None when the line is anything more than that.

    Plain: words divided by spaces and tabs, single quotes, double quotes without expansions. No
    operators, substitutions, redirections, escapes, comments, home expansion or assignments before
    the command; no wildcards unless ``globs``. Within quotes an operator is only a character.
    """
    special = _SPECIAL_GLOB if globs else _SPECIAL
    words: list[Word] = []
    i, size = 0, len(line)
    while i < size:
        if line[i] in " \t":
            i += 1
            continue
        text: list[str] = []
        quoted = False
        while i < size and line[i] not in " \t":
            c = line[i]
            if c in "'\"":
                end = line.find(c, i + 1)
                if end < 0:
                    return None
                body = line[i + 1 : end]
                if any(_hidden(b) for b in body) or (c == '"' and _IN_DOUBLE & set(body)):
                    return None
                text.append(body)
                quoted = True
                i = end + 1
            elif _hidden(c) or (c in special and not (c == "~" and _inner_tilde(text))):
                return None
            else:
                text.append(c)
                i += 1
        words.append(Word("".join(text), quoted))
    if words and _ASSIGNMENT.match(words[0].text):
        return None
    return words


def _hidden(c: str) -> bool:
    """Control characters, and blanks that are not the shell's: what one cannot see."""
    return c in "\n\r\0" or (c < " " and c != "\t") or c == "\x7f" or (c > "\x7f" and c.isspace())


def _inner_tilde(before: list[str]) -> bool:
    """A tilde inside a word (``HEAD~1``) is a character; at its start or after ``=`` or ``:`` it
    is somebody's home."""
    return bool(before) and bool(before[-1]) and before[-1][-1] not in "=:"


_SPLIT = re.compile(r"\n|\r|;|&&?|\|\|?|`|\$\(|[(){}]|<\(|>\(")
_WRAPPERS = {
    "sudo",
    "doas",
    "env",
    "nohup",
    "time",
    "exec",
    "command",
    "builtin",
    "nice",
    "xargs",
    "then",
    "do",
    "else",
    "if",
    "while",
    "until",
    "!",
}


def commands_in(line: str) -> list[str]:
    """Every stretch of a line that may be a command, roughly: for rules that *forbid*.

    Errs towards too many: quotes and backslashes are dropped first (``r''m`` is ``rm``),
    assignments and wrappers before a command are taken off, and each form is listed.
    """
    bare = line.replace("\\\n", "").replace("\\", "").replace("'", "").replace('"', "")
    out: list[str] = []
    for piece in cast(list[str], _SPLIT.split(bare)):
        words: list[str] = piece.split()
        while words:
            out.append(" ".join(words))
            head = words[0]
            if _ASSIGNMENT.match(head) or head in _WRAPPERS or head.startswith("-"):
                words = words[1:]
            elif "/" in head:
                words = [head.rsplit("/", 1)[-1], *words[1:]]
            else:
                break
    return out
