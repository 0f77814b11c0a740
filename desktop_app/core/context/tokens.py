"""How many tokens a text is: by classes of character (``classes``), or exactly by the tokenizer's
own ranks where they ship. ``Accounting`` learns the rest, a ratio per model."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

from desktop_app.core import resources
from desktop_app.core.models.base import ModelInfo

from .classes import OTHER, PRICES, estimate, family

if TYPE_CHECKING:
    import tiktoken

FRAME = 6  # role and separators around a message
# Measured on text kept out of the fitting (tests/benchmarks/bench_counter.py): the most that one
# item was over its count, with some room.
SPREAD = 0.30
WIDE_SPREAD = 0.45  # a family that is not known
EXACT_SPREAD = 0.05  # what a provider's template adds to the ranks' own count


class Counter(Protocol):
    """Counts tokens. ``name`` changes whenever the same text may get another number; ``spread`` is
    how much more than counted a text may be, as a share, before anything was measured."""

    @property
    def name(self) -> str: ...

    @property
    def spread(self) -> float: ...

    def count(self, text: str) -> float: ...


class ClassCounter:
    """The class estimator as a counter, with the prices of a model's family."""

    def __init__(self, model_id: str = "") -> None:
        known = family(model_id)
        self.name = f"class-2-{known}" if known else "class-2"
        self.spread = SPREAD if known else WIDE_SPREAD
        self._prices = PRICES[known]

    def count(self, text: str) -> float:
        return estimate(text, self._prices)

    def joined(self, counts: Sequence[float], gaps: int, spaced: int) -> float:
        """See ``CountCache.keep_joined``."""
        prices = self._prices  # a space before a digit counts
        gap = OTHER + 2 * prices.mark + prices.marks
        return sum(counts) + gaps * gap + spaced * prices.gap


RANKS = {
    # encoding -> (file name tiktoken looks for, sha256 tiktoken itself demands)
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
CHUNK = 32_768  # a million spaces at once overflow the encoder's stack; the loss here is 0.02 %
WHOLE = 2 * CHUNK  # characters that are counted one by one, about 16 ms; of more, samples are
SAMPLES, SAMPLE = 4, 8_192


class RankCounter:
    """Exact counts of one tiktoken encoding. Made by ``load_counter``, off the loop."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self.name = f"ranks-{encoding.name}"
        self.spread = EXACT_SPREAD

    def count(self, text: str) -> float:
        """Exact up to ``WHOLE`` characters. Of longer texts, pieces from beginning to end are
        counted exactly and tell how far the estimate of the whole is off."""
        if len(text) <= WHOLE:
            return sum(self._exact(text[at : at + CHUNK]) for at in range(0, len(text), CHUNK))
        step = (len(text) - SAMPLE) // (SAMPLES - 1)
        pieces = [text[n * step : n * step + SAMPLE] for n in range(SAMPLES)]
        estimated = sum(estimate(piece, PRICES["gpt"]) for piece in pieces)
        exact = sum(map(self._exact, pieces))
        return estimate(text, PRICES["gpt"]) * exact / estimated if estimated else exact

    def _exact(self, piece: str) -> float:
        try:
            return len(self._encoding.encode_ordinary(piece))
        except BaseException as error:  # a Rust panic is no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            return estimate(piece, PRICES["gpt"])


_lock = threading.Lock()
_loaded: dict[str, RankCounter] = {}


def _load(encoding: str) -> RankCounter | None:
    """Blocking; about 0.4 s and 80 MB once (cl100k: half). None when the ranks are not whole,
    because tiktoken would delete such a file and try the network."""
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


@lru_cache(64)
def _classes(model_id: str) -> ClassCounter:
    return ClassCounter(model_id)


def counter_of(info: ModelInfo) -> Counter:
    """The counter for a model as things are: exact when its ranks were loaded (``load_ranks``),
    else the estimator. Never blocks."""
    if info.tokenizer is not None and (exact := _loaded.get(info.tokenizer)) is not None:
        return exact
    return _classes(info.id)


def load_ranks(info: ModelInfo) -> None:
    """Load what ``counter_of`` needs to be exact, when the model uses an encoding whose ranks
    ship. Blocks (half a second once); never touches the network."""
    if info.tokenizer in RANKS:
        _load(info.tokenizer)


async def load_counter(info: ModelInfo) -> Counter:
    """``load_ranks`` in a thread, then the counter."""
    await asyncio.to_thread(load_ranks, info)
    return counter_of(info)


LONG = 8  # texts of many lines whose counts are remembered
ENTRY = 64  # characters that an entry of the cache weighs beside its text


class CountCache:
    """Remembers counts by text, so that a prompt rebuilt from other objects costs no recount.

    Keys are the texts themselves (shared with the messages, not copied). Emptied when the texts
    held pass ``limit`` characters.
    """

    def __init__(self, counter: Counter, limit: int = 64 << 20) -> None:
        self.counter = counter
        self.memo: dict[object, object] = {}  # what else follows from a text and its counts
        self.counted = 0  # texts counted afresh: what a test of O(new items) looks at
        self._limit = limit
        self._held = 0
        self._known: dict[str, float] = {}
        self._long: dict[str, float] = {}  # of the last texts that were put together

    def __call__(self, text: str) -> float:
        return self.count(text)

    def count(self, text: str) -> float:
        if (known := self._known.get(text)) is not None:
            return known
        value = self.counter.count(text)
        self.counted += 1
        self.keep(text, value)
        return value

    def counts(self, texts: Iterable[str]) -> list[float]:
        """Of many at once."""
        texts = list(texts)
        known = list(map(self._known.get, texts))
        if None in known:
            pairs = zip(known, texts, strict=True)
            return [n if n is not None else self.count(text) for n, text in pairs]
        return cast(list[float], known)

    def keep(self, text: str, value: float) -> None:
        """Remember what ``text`` was counted at."""
        if self._held > self._limit:
            self._known.clear()
            self.memo.clear()
            self._held = 0
        self._known[text] = value
        self._held += len(text) + ENTRY

    def keep_all(self, texts: Sequence[str], values: Sequence[float]) -> None:
        """Remember many at once."""
        if texts:
            self.keep(texts[0], values[0])
            self._known.update(zip(texts, values, strict=True))
            self._held += sum(map(len, texts[1:])) + ENTRY * (len(texts) - 1)

    def keep_joined(self, text: str, counts: Sequence[float], gaps: int, spaced: int) -> None:
        """Remember a line that is put together of pieces with these ``counts``, ASCII without white
        space around them, between them a space or, ``gaps`` times, " […] "; ``spaced`` of them
        begin with a digit behind a space. Where classes count, that is what they and the gaps
        count together."""
        counter = self.counter
        if isinstance(counter, ClassCounter) and text not in self._known:
            self.keep(text, counter.joined(counts, gaps, spaced))

    @property
    def by_line(self) -> bool:
        """Whether a text counts what its lines and the ends between them do."""
        return isinstance(self.counter, ClassCounter)

    def unit(self, text: str) -> float:
        """What a text counts that stands on lines of its own in another, without the ends around
        it."""
        edges = (text[:1] == "\n") + (text[-1:] == "\n")
        return self.count_lines(text) - (edges * self.counter.count("\n") if edges else 0.0)

    def keep_lines(self, text: str, size: float) -> None:
        """Remember what ``count_lines`` is asked for next."""
        self._long[text] = size
        while len(self._long) > LONG:
            del self._long[next(iter(self._long))]

    def count_lines(self, text: str) -> float:
        """A text that is put together of others, as a ledger is: line by line, since most lines
        were counted before. By classes that is what the whole would count (no class goes over the
        end of a line; see ``estimate``); a counter by ranks counts the whole."""
        if not isinstance(self.counter, ClassCounter) or "\r" in text:
            return self.count(text)
        if "\n" not in text:
            return self.count(text)
        if (known := self._long.get(text)) is None:
            lines = list(filter(None, text.split("\n")))
            runs = len(lines) - 1 + (text[0] == "\n") + (text[-1] == "\n")
            known = sum(self.counts(lines)) + max(1, runs) * self.counter.count("\n")
            self.keep_lines(text, known)
        return known
