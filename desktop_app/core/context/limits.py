"""A model's window: who says how large it is, in the order in which they are believed.

The person, the provider's own error text, the provider's model list, the catalogue, and where
nobody knows, 8,192. A number from an error caps all others: the provider refused more than that.
"""

from __future__ import annotations

import re

from desktop_app.core.models.base import LimitSource, ModelInfo

from .marks import DEFAULTS, CompactionSettings
from .types import Limits

ASSUMED = 8192
MIN_WINDOW = 1024  # less cannot hold a system prompt and an answer
MAX_WINDOW = 100_000_000

# "maximum context length is 8192 tokens", "context window of 128,000", "213462 tokens > 200000
# maximum", "exceeds the maximum number of tokens allowed (1048576)", "available context size
# (4096 tokens)", "num_ctx 4096", "max_model_len=32768" …
_NUMBER = r"([0-9][0-9,_]{2,11})"
_LIMIT = (
    re.compile(rf"[0-9] \+ [0-9]+ > {_NUMBER}"),
    re.compile(rf"tokens? > {_NUMBER} max", re.IGNORECASE),
    re.compile(
        r"(?:max(?:imum)?|available|model'?s?|allowed|supported)[\w' -]{0,24}"
        r"(?:context|prompt|input|tokens?)[\w' -]{0,40}?"
        rf"(?:\bis|\bof|\bto|=|:|\()\s*(?:at most\s*)?\(?\s*{_NUMBER}",
        re.IGNORECASE,
    ),
    re.compile(
        r"context[ _-]?(?:length|window|size|limit)[\w' -]{0,24}?"
        rf"(?:\bis|\bof|\bto|=|:|\()\s*(?:only\s+)?\(?\s*{_NUMBER}",
        re.IGNORECASE,
    ),
    re.compile(rf"(?:num_ctx|max_model_len|n_ctx)\W{{0,4}}{_NUMBER}", re.IGNORECASE),
    re.compile(rf"(?:exceeds?|larger than|over)[\w' ]{{0,40}}\(?\s*{_NUMBER}", re.IGNORECASE),
)
# How long an answer may be: "max_tokens: 64000 > 8192, which is the maximum", "supports at most
# 4096 completion tokens", "the valid range of max_tokens is [1, 8192]", "must be less than or equal
# to `8192`", "supported range is from 1 (inclusive) to 65537 (exclusive)".
_OUTPUT = (
    re.compile(rf"tokens\W{{1,3}}[0-9,_]+ > {_NUMBER},? (?:which|max)", re.IGNORECASE),
    re.compile(rf"at most\W{{1,3}}{_NUMBER}", re.IGNORECASE),
    re.compile(rf"range\b[^\[]{{0,40}}\[\s*[0-9]+\s*,\s*{_NUMBER}\s*\]", re.IGNORECASE),
    re.compile(rf"(?:less|smaller) than(?: or equal to)?\W{{1,3}}{_NUMBER}", re.IGNORECASE),
    re.compile(rf"inclusive\) to {_NUMBER} \((?P<out>ex)?", re.IGNORECASE),
)


def output_from_error(text: str) -> int | None:
    """The longest answer that a provider's error allows, in tokens, or None; a number that speaks
    of the context is none."""
    for pattern in _OUTPUT:
        match = pattern.search(text[:4000])
        if match is not None:
            number = int(re.sub(r"[,_]", "", match.group(1)))
            return number - ("out" in match.groupdict() and match.group("out") is not None)
    return None


def window_beside_output(text: str) -> int | None:
    """The window that an error about the longest answer names beside it: vLLM refuses that way
    what does not fit together with the answer."""
    at = text.lower().find("context")
    if match := _LIMIT[0].search(text[:4000]):
        return int(re.sub(r"[,_]", "", match.group(1)))
    return window_from_error("maximum " + text[at:]) if at >= 0 else None


def window_from_error(text: str) -> int | None:
    """The window that a provider's overflow error names, in tokens, or None."""
    for pattern in _LIMIT:
        for match in pattern.finditer(text[:4000]):
            number = int(re.sub(r"[,_]", "", match.group(1)))
            if MIN_WINDOW <= number <= MAX_WINDOW:
                return number
    return None


def resolve(
    info: ModelInfo,
    *,
    user: int | None = None,
    error: int | None = None,
    provider: int | None = None,
    catalogue: int | None = None,
    output: int | None = None,
    marks: CompactionSettings = DEFAULTS,
) -> Limits:
    """The limits of a model, with what the person set in ``marks`` (whose window is theirs as
    ``user`` is). Numbers under ``MIN_WINDOW`` say nothing; ``info`` speaks for the
    source that it names. ``output`` is the longest answer that the provider's error allowed."""
    said: dict[LimitSource, int | None] = {
        "user": marks.window if user is None else user,
        "error": error,
        "provider": provider,
        "catalogue": catalogue,
        "built_in": None,
        "assumed": None,
    }
    if said.get(info.window_source) is None:
        said[info.window_source] = info.window
    window, source = ASSUMED, "assumed"
    for name, number in said.items():
        if number is not None and number >= MIN_WINDOW:
            window, source = number, name
            break
    if error is not None and MIN_WINDOW <= error < window:
        window, source = error, "error"
    max_output = info.max_output if info.max_output > 0 else window
    return Limits(
        window=window,
        max_output=min(max_output, window, output or max_output),
        source=source,
        alert=marks.alert,
        danger=marks.danger,
        target=marks.target,
        kept=marks.reserve,
    )
