"""What a sentence is exact about: numbers, paths, hosts, addresses, identifiers.

Two uses: a sentence with such words is worth keeping, and what a model writes may only hold words
of this kind that stand in its evidence. Ordinary words, hyphenated ones too, are none.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[A-Za-z0-9_~@./\\$%#&+][\w./\\:@%+~=?&#$-]*", re.ASCII)
_FOREIGN_PATH = re.compile(r"[\w.~-]*(?:/[\w.~-]+)+|[\w-]+\.[A-Za-z]{1,5}\b")
# Without one of these no word is exact.
_MARKS = re.compile(r"[\d_@/]|[a-z][A-Z]|\w\.[A-Za-z]|-\w+-")
_SIGNS = bytes(  # of ASCII bytes, what the marks are made of; all else is a space
    ord(
        "1"
        if c in b"0123456789_@/"
        else "a"
        if 97 <= c <= 122
        else "A"
        if 65 <= c <= 90
        else chr(c)
        if c in b".-"
        else " "
    )
    for c in range(256)
)
_SIGN = re.compile(r"[0-9_@/]")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_FILE = re.compile(r"[\w-]+\.[A-Za-z][A-Za-z0-9]{0,7}$", re.ASCII)
_LATIN = re.compile("[a-z]+")
_EDGES = ".,:;!?-/\\'\"`=&#+%$@~"


def _exact(word: str) -> bool:
    """Whether a word is one that must not be changed."""
    if word.isalpha():
        return not word[1:].islower() and _INNER_CAPITAL.search(word) is not None
    return (
        _SIGN.search(word) is not None
        or word.count("-") > 1
        or _INNER_CAPITAL.search(word) is not None
        or ("." in word and not word[0].isupper() and _FILE.search(word) is not None)
    )


def may_name(text: str) -> bool:
    """Whether ``text`` may hold exact words; False is certain, also for every piece of it. Far
    cheaper than to look for them."""
    if not text.isascii():
        return _MARKS.search(text) is not None
    signs = text.encode("ascii").translate(_SIGNS)
    if b"1" in signs or b"aA" in signs:
        return True
    return (b".a" in signs or b".A" in signs or b"-" in signs) and (_MARKS.search(text) is not None)


@lru_cache(maxsize=32768)
def entities(text: str) -> tuple[str, ...]:
    """The exact words of ``text`` in order, each once. Pieces of a text are asked for again and
    again while a plan is made, so the last ones are remembered."""
    if not may_name(text):
        return ()
    if not text.isascii():
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
    return tuple(found)


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


@lru_cache(maxsize=32768)
def words_of(text: str) -> frozenset[str]:
    """The Latin words of ``text`` in lower case; "don't" is "don" and "t". Sets tell quickly which
    of many texts are worth a closer look by patterns."""
    return frozenset(_LATIN.findall(text.lower()))


def plain(text: str) -> str:
    """``text`` with its white space made single and its width made one: for comparing."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).split())
