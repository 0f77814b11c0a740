"""What a sentence is exact about: numbers, paths, hosts, addresses, identifiers.

Two uses: a sentence with such words is worth keeping, and what a model writes may only hold words
of this kind that stand in its evidence. Ordinary words, hyphenated ones too, are none.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[A-Za-z0-9_~@./\\$%#&+][\w./\\:@%+~=?&#$-]*", re.ASCII)
_FOREIGN_PATH = re.compile(r"[\w.~-]*(?:/[\w.~-]+)+|[\w-]+\.[A-Za-z]{1,5}\b")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_FILE = re.compile(r"[\w-]+\.[A-Za-z][A-Za-z0-9]{0,7}$", re.ASCII)
_EDGES = ".,:;!?-/\\'\"`=&#+%$@~"


def _exact(word: str) -> bool:
    """Whether a word is one that must not be changed."""
    return (
        any(c.isdigit() for c in word)
        or "_" in word
        or "@" in word
        or "/" in word
        or word.count("-") > 1
        or _INNER_CAPITAL.search(word) is not None
        or (_FILE.search(word) is not None and not word[0].isupper())
    )


def entities(text: str) -> list[str]:
    """The exact words of ``text`` in order, each once. ``key=value`` and ``host:port`` are given
    whole and in their parts."""
    text = unicodedata.normalize("NFKC", text)
    found: dict[str, None] = {}
    for match in _WORD.finditer(text):
        word = match.group().strip(_EDGES)
        if not word or not _exact(word):
            continue
        found[word] = None
    if not text.isascii():
        for match in _FOREIGN_PATH.finditer(text):
            if not match.group().isascii():
                found.setdefault(match.group().strip(_EDGES), None)
    return list(found)


def holds(source: str, word: str) -> bool:
    """Whether ``word`` stands in ``source`` as a word of its own: 12 is not in 123 or 4.12."""
    at = source.find(word)
    while at >= 0:
        end = at + len(word)
        if _edge(source, at - 1, word[0], -1) and _edge(source, end, word[-1], 1):
            return True
        at = source.find(word, at + 1)
    return False


def _edge(source: str, at: int, own: str, step: int) -> bool:
    if not 0 <= at < len(source):
        return True
    char = source[at]
    if own.isdigit() and char in ".,":
        beyond = at + step
        return not (0 <= beyond < len(source) and source[beyond].isdigit())
    return not (char.isascii() and (char.isalnum() or char == "_") and own.isalnum())


def plain(text: str) -> str:
    """``text`` with its white space made single and its width made one: for comparing."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
