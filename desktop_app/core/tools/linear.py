"""Regular expressions that cannot run away.

Python's ``re`` backtracks, holds the interpreter lock while it does, and cannot be stopped: one
bad pattern would freeze the program from any thread. pydantic's core carries the Rust ``regex``
engine (the one ripgrep uses): its time is linear in the text for every pattern, look-around and
back-references are refused. It answers whether a text matches, not where, which is all that
searching lines and matching paths needs.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

MAX_PATTERN = 100_000


class BadPattern(ValueError):
    """A pattern that the engine refuses; the text says why."""


class Linear:
    """A compiled pattern, searched anywhere in a text."""

    __slots__ = ("_validator", "pattern")

    def __init__(self, pattern: str) -> None:
        from pydantic_core import SchemaError, SchemaValidator, core_schema

        if len(pattern) > MAX_PATTERN:
            raise BadPattern(f"longer than {MAX_PATTERN} characters")
        self.pattern = pattern
        try:
            self._validator: Any = SchemaValidator(
                core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")
            )
        except (SchemaError, UnicodeError) as error:
            raise BadPattern(_reason(str(error))) from error

    def matches(self, text: str) -> bool:
        """Whether ``text`` holds a match. Lone surrogates never match."""
        return self._validator.isinstance_python(text)


def _reason(message: str) -> str:
    """The last line of the engine's message without its wrapping."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    for line in reversed(lines):
        if line.startswith("error:"):
            return line.removeprefix("error:").strip()
    return lines[-1].removeprefix("SchemaError:").strip() if lines else "not usable"


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Linear:
    """A cached ``Linear``; BadPattern."""
    return Linear(pattern)


FAST, SLOW = 0.002, 0.01  # seconds of one look: below the stretch grows, above it shrinks
SMALLEST, LARGEST = 1 << 10, 1 << 17  # characters of one look


class Paced:
    """Looks at long texts in stretches whose size follows how dear the pattern is.

    Linear time may still be 30 microseconds a character (``(?:a{1,500}){8}b``), and the engine
    holds the interpreter lock while it looks. ``size`` is what one look may take now; ``cost`` the
    seconds a character of the newest look.
    """

    def __init__(self) -> None:
        self.size = 4 * SMALLEST
        self.cost = 0.0

    def matches(self, engine: Linear, text: str) -> bool:
        """``engine.matches(text)``, measured."""
        began = time.perf_counter()
        found = engine.matches(text)
        seconds = time.perf_counter() - began
        if len(text) >= 64:
            self.cost = seconds / len(text)
        if seconds > SLOW:
            self.size = max(SMALLEST, int(self.size * SLOW / seconds))
        elif seconds < FAST and 2 * len(text) >= self.size:
            self.size = min(LARGEST, self.size * 4)
        return found

    def too_dear(self, characters: int, seconds: float = 0.1) -> bool:
        """Whether one look at so many characters may take longer than ``seconds``."""
        return self.cost * characters > seconds
