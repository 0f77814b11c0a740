"""How many tokens a text is: by class of character at once, or exactly where the ranks ship.

The class estimator prices words, digits, punctuation, CJK and the rest apart, because one rate for
all of them is wrong by up to 2.7 times on logs and JSON. Prices were fitted over twelve kinds of
content and seven tokenizers (0.86 to 1.10 of the truth); ``Accounting`` learns the rest, a ratio
per model. Everything heavy is one pass of C code over the text: about 100 MB/s for ASCII.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import threading
from typing import TYPE_CHECKING, Protocol

from desktop_app.core import resources
from desktop_app.core.models.base import ModelInfo

if TYPE_CHECKING:
    import tiktoken

WORD = 0.95  # one word of Latin letters
INNER_CAPITAL = 2.5  # more for a word like "getUserId" or a piece of base64
LONG_WORD = 8.0  # more for every 20 letters of one case without a break: noise
DIGITS = 1.40  # up to three digits in a row
PUNCTUATION = 0.58  # one mark
CJK = 0.62  # one Chinese, Japanese or Korean character
ALPHABETIC = 0.8  # one letter of an alphabet with its own range (Cyrillic, Greek, accents …)
INDIC = 1.2  # one character of U+0700 to U+1FFF
OTHER = 2.0  # emoji, box drawing, anything else
NEWLINES = 1.2  # a run of line ends
SPACES = 0.6  # every 32 spaces in a row
GAP = 0.7  # two or more spaces inside a line: a table's padding
FRAME = 6  # role and separators around a message

_CJK = re.compile("[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]+")
_ALPHABETIC = re.compile("[\u0080-\u06ff]+")
_INDIC = re.compile("[\u0700-\u1fff]+")
_GAP = re.compile(rb"[!-~]  ")
# Rulers ("-----") cost far less than their marks one by one.
_RULERS = tuple((mark * 4, mark) for mark in (b"-", b"=", b"*", b"_", b"#", b".", b"~"))


def _table(*ranges: tuple[bytes, bytes]) -> bytes:
    """A translation of bytes where everything not named becomes a space."""
    table = bytearray(b" " * 256)
    for members, to in ranges:
        for byte in members:
            table[byte] = to[0]
    return bytes(table)


_LOWER = bytes(range(ord("a"), ord("z") + 1))
_UPPER = bytes(range(ord("A"), ord("Z") + 1))
_DIGIT = b"0123456789"
_LETTERS = _table((_LOWER, b"a"), (_UPPER, b"A"))
_DIGITS = _table((_DIGIT, b"1"))
_NEWLINES = _table((b"\n\r", b"n"))
_NOT_MARKS = bytes(b for b in range(256) if b < 33 or b > 126 or b in _LOWER + _UPPER + _DIGIT)


def estimate(text: str, digits: float = DIGITS, cjk_price: float = CJK) -> float:
    """Tokens of ``text`` by class of character, before any model's ratio. O(len), no state."""
    if not text:
        return 0.0
    if text.isascii():
        return _ascii(text.encode("ascii"), 0, digits)
    cjk = sum(map(len, _CJK.findall(text)))
    alphabetic = sum(map(len, _ALPHABETIC.findall(text)))
    indic = sum(map(len, _INDIC.findall(text)))
    plain = text.encode("ascii", "replace")  # one "?" for each character that is not ASCII
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    other = foreign - cjk - alphabetic - indic
    priced = cjk * cjk_price + alphabetic * ALPHABETIC + indic * INDIC + other * OTHER
    return priced + _ascii(plain, foreign, digits)


def _ascii(raw: bytes, not_marks: int, digit_price: float) -> float:
    """The price of ASCII bytes; ``not_marks`` of its punctuation stand for other characters."""
    letters = b" " + raw.translate(_LETTERS)
    total = WORD * len(letters.split())
    if b"A" in letters:
        # A capital that opens a word is made small, small letters go: what is left of each word
        # is its inner capitals, so the pieces are the words that have one.
        inner = letters.replace(b" A", b" a").translate(None, b"a").split()
        total += INNER_CAPITAL * len(inner)
        total += LONG_WORD * letters.count(b"A" * 20)
    total += LONG_WORD * letters.count(b"a" * 20)
    digits = raw.translate(_DIGITS)
    if b"1" in digits:
        threes = digits.replace(b"111", b"x")
        total += digit_price * (threes.count(b"x") + threes.replace(b"11", b"1").count(b"1"))
    total += NEWLINES * len(raw.translate(_NEWLINES).split())
    if b"  " in raw:
        total += SPACES * raw.count(b" " * 32) + GAP * len(_GAP.findall(raw))
    for run, one in _RULERS:
        if run in raw:
            raw = raw.replace(run, one)
    return total + PUNCTUATION * max(0, len(raw.translate(None, _NOT_MARKS)) - not_marks)


class Counter(Protocol):
    """Counts tokens. ``name`` changes whenever the same text may get another number."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> float: ...


# Prices that differ by more than a ratio: (name, what a model's id holds, digits, CJK).
FAMILIES = (
    ("claude", ("claude", "anthropic"), DIGITS, 0.93),
    ("qwen", ("qwen", "qwq"), 2.45, CJK),  # one token a digit
    ("gpt", ("gpt", "openai"), DIGITS, 0.73),
)


class ClassCounter:
    """The class estimator as a counter, with the prices of a model's family."""

    def __init__(self, model_id: str = "") -> None:
        self.name, self._digits, self._cjk = "class-1", DIGITS, CJK
        for family, marks, digits, cjk in FAMILIES:
            if any(mark in model_id.lower() for mark in marks):
                self.name, self._digits, self._cjk = f"class-1-{family}", digits, cjk
                break

    def count(self, text: str) -> float:
        return estimate(text, self._digits, self._cjk)


RANKS = {
    # encoding -> (file name tiktoken looks for, sha256 tiktoken itself demands)
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    )
}
CHUNK = 32_768  # a million spaces at once overflow the encoder's stack; the loss here is 0.02 %


class RankCounter:
    """Exact counts of one tiktoken encoding. Made by ``load_counter``, off the loop."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self.name = f"ranks-{encoding.name}"

    def count(self, text: str) -> float:
        total = 0.0
        for start in range(0, len(text), CHUNK):
            piece = text[start : start + CHUNK]
            try:
                total += len(self._encoding.encode_ordinary(piece))
            except BaseException as error:  # a Rust panic is no Exception
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                total += estimate(piece)
        return total


_lock = threading.Lock()
_loaded: dict[str, RankCounter] = {}


def _load(encoding: str) -> RankCounter | None:
    """Blocking; about 0.4 s and 80 MB once. None when the ranks are not whole, because tiktoken
    would delete such a file and try the network."""
    name, digest = RANKS[encoding]
    with _lock:
        if (known := _loaded.get(encoding)) is not None:
            return known
        try:
            content = resources.path("tokenizers", name).read_bytes()
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest() != digest:
            return None
        # Set for the load only: children of this process must not inherit it.
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = str(resources.path("tokenizers"))
        try:
            import tiktoken

            counter = RankCounter(tiktoken.get_encoding(encoding))
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before
        _loaded[encoding] = counter
        return counter


async def load_counter(info: ModelInfo) -> Counter:
    """The counter for a model: exact where it uses an encoding whose ranks ship, else the
    estimator. Never touches the network."""
    if info.tokenizer in RANKS and (exact := await asyncio.to_thread(_load, info.tokenizer)):
        return exact
    return ClassCounter(info.id)


ENTRY = 64  # characters that an entry of the cache weighs beside its text


class CountCache:
    """Remembers counts by text, so that a prompt rebuilt from other objects costs no recount.

    Keys are the texts themselves (shared with the messages, not copied). Emptied when the texts
    held pass ``limit`` characters.
    """

    def __init__(self, counter: Counter, limit: int = 64 << 20) -> None:
        self.counter = counter
        self.counted = 0  # texts counted afresh: what a test of O(new items) looks at
        self._limit = limit
        self._held = 0
        self._known: dict[str, float] = {}

    def count(self, text: str) -> float:
        if (known := self._known.get(text)) is not None:
            return known
        value = self.counter.count(text)
        self.counted += 1
        if self._held > self._limit:
            self._known.clear()
            self._held = 0
        self._known[text] = value
        self._held += len(text) + ENTRY
        return value
