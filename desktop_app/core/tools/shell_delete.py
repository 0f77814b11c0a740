"""What a shell line deletes: whole folders, whatever a wildcard matches, everything.

A net over text like ``dangers``, not a proof: it makes a question graver, never lighter.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from .shell_words import commands_in

Reason = tuple[str, dict[str, Any]]

_CLASS = re.compile(r"\[[^\]]*\]")
_ELSEWHERE = ("/", "~", "..", "$")  # how an operand begins that may lead out
GRAVEST = ("shell.deletes_outside", "shell.deletes_all")  # asked for in every mode
_ORDER = (*GRAVEST, "shell.deletes_matches", "shell.deletes_folder")


def deletions(command: str) -> list[Reason]:
    """The gravest thing that a line deletes, as a reason; empty where it deletes none of these.
    ``shell.deletes_outside`` and ``shell.deletes_all`` (the working directory) are to be asked in
    every mode; ``shell.deletes_matches`` and ``shell.deletes_folder`` cannot be undone either. Each
    has ``{what}``, as it stands in the line."""
    found: list[Reason] = []
    for piece in commands_in(command):
        words = piece.split()
        if words and words[0] == "rm":
            found += _rm(words[1:])
        elif words and _deletes_found(words):
            found.append(("shell.deletes_matches", {"what": piece[:200]}))
    return sorted(found, key=lambda reason: _ORDER.index(reason[0]))[:1]


def _deletes_found(words: list[str]) -> bool:
    """Whether a command deletes what it looks for itself."""
    if words[0] == "rsync":
        return any(w.startswith("--del") for w in words)
    if words[0] != "find":
        return False
    runs = {words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-exec", "-execdir", "-ok")}
    names = {posixpath.basename(name) for name in runs}
    return "-delete" in words or bool(names & {"rm", "rmdir", "unlink", "shred"})


def _rm(words: list[str]) -> list[Reason]:
    cut = words.index("--") if "--" in words else len(words)
    options = [w for w in words[:cut] if w.startswith("-") and len(w) > 1]
    named = [w for w in words[:cut] if w not in options] + words[cut + 1 :]
    recursive = any(
        len(w) > 3 and "--recursive".startswith(w) if w.startswith("--") else "r" in w.lower()
        for w in options
    )
    out: list[Reason] = []
    for word in named:
        if word.startswith(_ELSEWHERE) or posixpath.normpath(word).startswith("../"):
            out.append(("shell.deletes_outside", {"what": word[:200]}))
        elif _everything(word) and (recursive or _is_wild(word)):
            out.append(("shell.deletes_all", {"what": word[:200]}))
        elif _is_wild(word):
            out.append(("shell.deletes_matches", {"what": word[:200]}))
        elif recursive:
            out.append(("shell.deletes_folder", {"what": word[:200]}))
    if recursive and not named:  # what it deletes comes from a list of braces, or from xargs
        out.append(("shell.deletes_matches", {"what": "rm " + " ".join(words)}))
    return out


def _is_wild(word: str) -> bool:
    return any(c in word for c in "*?[")


def _everything(word: str) -> bool:
    """Whether an operand is the whole working directory."""
    path = posixpath.normpath(word)
    if path in (".", ".."):
        return True
    first = _CLASS.sub("*", path.split("/")[0])
    return _is_wild(first) and not re.search(r"\w", first)
