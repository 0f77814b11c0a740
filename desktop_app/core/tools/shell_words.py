"""Stretches of a shell line that may be commands, for rules that forbid and for the net of
dangers. Rough on purpose; what may run without asking is ``shell_parse``'s matter."""

from __future__ import annotations

import re
from typing import cast

from .shell_lex import ASSIGNMENT

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
    "timeout",
    "setsid",
    "stdbuf",
    "ionice",
    "busybox",
    "eval",
    "sh",
    "bash",
    "dash",
    "zsh",
    "then",
    "do",
    "else",
    "if",
    "while",
    "until",
    "!",
}

_GIVEN = re.compile(r"-|[0-9.]+[smhd]?$")  # to a wrapper: an option, a number, a time


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
            if ASSIGNMENT.match(head) or head in _WRAPPERS or _GIVEN.match(head):
                words = words[1:]
            elif "/" in head:
                words = [head.rsplit("/", 1)[-1], *words[1:]]
            else:
                break
    return out
