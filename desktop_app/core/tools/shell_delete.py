"""What a shell line deletes: whole folders, whatever a wildcard matches, everything.

A net over text like ``dangers``, not a proof: it makes a question graver, never lighter.
"""

from __future__ import annotations

import posixpath
import re
from itertools import takewhile
from typing import Any

from .shell_words import commands_in

Reason = tuple[str, dict[str, Any]]

_CLASS = re.compile(r"\[[^\]]*\]")
_RUNS = ("-exec", "-execdir", "-ok", "-okdir")  # of find: the next word is a program
# Of find: what leaves out nothing of what is below, or not much.
_NO_TEST = (*_RUNS, "-delete", "-depth", "-mindepth", "-mount", "-xdev", "-print", "-print0")
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
        match words[:1]:
            case ["rm"]:
                found += _rm(words[1:])
            case ["find"]:
                found += _find(words, piece)
            case ["rsync"]:
                found += _rsync(words, piece)
            case _:
                pass
    return sorted(found, key=lambda reason: _ORDER.index(reason[0]))[:1]


def _find(words: list[str], piece: str) -> list[Reason]:
    """What it looks for is a narrower matter than all that is below where it looks."""
    runs = {words[i + 1] for i, w in enumerate(words[:-1]) if w in _RUNS}
    names = {posixpath.basename(name) for name in runs}
    if "-delete" not in words and not names & {"rm", "rmdir", "unlink", "shred"}:
        return []
    rest = words[1:]
    while rest and (rest[0] in ("-H", "-L", "-P", "-D") or rest[0].startswith("-O")):
        rest = rest[2:] if rest[0] == "-D" else rest[1:]
    starts = list(takewhile(lambda w: not w.startswith(("-", "!")), rest))
    if outside := [w for w in starts if _is_outside(w)]:
        return [("shell.deletes_outside", {"what": outside[0][:200]})]
    narrow = any(w.startswith("-") and w not in _NO_TEST for w in rest[len(starts) :])
    if not narrow and (not starts or any(map(_everything, starts))):
        return [("shell.deletes_all", {"what": starts[0][:200] if starts else "."})]
    return [("shell.deletes_matches", {"what": piece[:200]})]


def _rsync(words: list[str], piece: str) -> list[Reason]:
    if not any(w.startswith("--del") for w in words):
        return []
    named = [w for w in words[1:] if not w.startswith("-")]
    if named and (_is_outside(named[-1]) or ":" in named[-1]):
        return [("shell.deletes_outside", {"what": named[-1][:200]})]
    return [("shell.deletes_matches", {"what": piece[:200]})]


def _is_outside(word: str) -> bool:
    return word.startswith(_ELSEWHERE) or posixpath.normpath(word).startswith("../")


def _rm(words: list[str]) -> list[Reason]:
    cut = words.index("--") if "--" in words else len(words)
    options = [w for w in words[:cut] if w.startswith("-") and len(w) > 1]
    named = [w for w in words[:cut] if w not in options] + words[cut + 1 :]
    recursive = any(
        len(w) > 2 and "--recursive".startswith(w) if w.startswith("--") else "r" in w.lower()
        for w in options
    )
    out: list[Reason] = []
    for word in named:
        if _is_outside(word):
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
