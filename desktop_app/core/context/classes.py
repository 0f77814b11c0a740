"""The class estimator: a text priced by classes of character, as a family of tokenizers has them.

One rate for all text is wrong by up to 2.7 times on logs and JSON, because a token is a word of
prose but two characters of base64. The classes are what the splitting rules of byte-pair tokenizers
have in common: a word takes the space before it along, digits do not; digits go alone or in threes;
punctuation runs together; a capital inside a word, or a digit beside a letter, splits it.

Prices were fitted (non-negative least squares on relative errors, 15 kinds of content with equal
weight) to public tokenizers: DeepSeek V4, Qwen 3 and 3.5, GLM 4.7, MiniMax M3, Claude's of 2023,
o200k, Llama 3, Gemma. ``tests/benchmarks/bench_counter.py`` measures them on other text. Everything
heavy is a pass of C code over the bytes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LETTER = 0.8  # one letter of an alphabet with its own range (Cyrillic, Greek, accents …)
INDIC = 1.2  # one character of U+0700 to U+1FFF
OTHER = 2.0  # emoji, box drawing, anything else
SPACES = 0.6  # every 32 spaces in a row
PADDING = 0.5  # two or more spaces inside a line: a table's
LONG_RUN = 4.0  # more for every 20 letters of one case without a break: noise, no word


class Prices(NamedTuple):
    """Tokens of one of each."""

    word: float  # after white space or at a line's beginning
    part: float  # a word after a mark or a digit: "path" in "file.path"
    long: float  # more for every 9 letters of a word
    longer: float  # more for every 13
    inner: float  # more for a word with a capital inside: "getUserId", a piece of base64
    digit: float
    threes: float  # up to three digits in a row
    gap: float  # white space before a digit
    mixed: float  # a digit beside a letter
    mark: float
    marks: float  # a run of marks
    lines: float  # a run of line ends
    cjk: float  # a Chinese, Japanese or Korean character
    cjk_run: float


PRICES = {
    "deepseek": Prices(
        0.87, 0.81, 0.87, 0.00, 2.19, 0.00, 0.95, 1.31, 0.36, 0.18, 0.68, 1.42, 0.54, 0.70
    ),
    "qwen": Prices(
        0.88, 0.20, 0.54, 0.30, 1.56, 0.26, 1.60, 0.90, 0.63, 0.49, 0.43, 1.50, 0.58, 0.98
    ),
    "qwen-3.5": Prices(
        0.78, 0.01, 0.49, 0.87, 1.64, 0.20, 1.63, 0.62, 0.72, 0.57, 0.49, 2.18, 0.54, 0.45
    ),
    "glm": Prices(
        0.88, 0.33, 0.72, 0.40, 1.82, 0.00, 1.26, 1.41, 0.62, 0.53, 0.29, 1.49, 0.56, 0.63
    ),
    "minimax": Prices(
        0.88, 0.37, 0.41, 0.30, 2.06, 0.00, 0.94, 1.25, 0.57, 0.44, 0.47, 1.44, 0.54, 0.21
    ),
    "claude": Prices(
        0.94, 1.13, 0.30, 1.03, 2.18, 0.00, 0.90, 0.80, 0.23, 0.00, 0.92, 1.11, 0.94, 0.23
    ),
    "gpt": Prices(
        0.82, 0.46, 0.82, 0.43, 1.89, 0.00, 0.97, 1.17, 0.50, 0.37, 0.52, 1.46, 0.74, 0.03
    ),
    "llama": Prices(
        0.84, 0.28, 0.58, 0.57, 2.12, 0.00, 0.95, 1.11, 0.61, 0.45, 0.47, 1.45, 0.78, 0.07
    ),
    "gemini": Prices(
        0.83, 0.79, 0.35, 1.39, 1.49, 0.52, 0.81, 1.01, 0.43, 0.01, 1.07, 2.14, 0.61, 0.14
    ),
    "": Prices(  # the mean of all, a little more for digits: a model of no family that is known
        0.86, 0.49, 0.56, 0.59, 1.88, 0.20, 1.11, 1.04, 0.52, 0.34, 0.59, 1.58, 0.65, 0.38
    ),
}
# What a model's id holds, most telling first. Mistral's tokenizers split digits as Qwen's do, and
# Gemini's is Gemma's; Claude's present ones are not public and count more (up to 1.35 times by
# Anthropic's own words), which the first measured call teaches.
_FAMILIES = (
    ("claude", ("claude", "anthropic")),
    ("gemini", ("gemini", "gemma", "google")),
    ("qwen-3.5", ("qwen3.5", "qwen-3.5", "qwen3.6", "qwen-3.6")),
    ("qwen", ("qwen", "qwq", "mistral", "codestral", "devstral", "magistral", "dashscope")),
    ("glm", ("glm", "zhipu", "z-ai")),
    ("minimax", ("minimax",)),
    ("llama", ("llama",)),
    ("deepseek", ("deepseek",)),
    ("gpt", ("gpt", "openai")),
)


def family(model_id: str) -> str:
    """The family of a model by its id ("provider:name"); empty when there is none. The model's
    own name goes before that of who offers it ("deepseek:…", "openrouter:qwen/…")."""
    low = model_id.lower()
    own = (low.partition(":")[2] or low).rpartition("/")[2]
    for text in (own, low):
        for name, marks in _FAMILIES:
            if any(mark in text for mark in marks):
                return name
    return ""


_CJK = re.compile("[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]+")
_FOREIGN = re.compile("[^\x00-\x7f]+")
_ALPHABETIC = re.compile("[\u0080-\u06ff]+")
_INDIC = re.compile("[\u0700-\u1fff]+")
# Rulers ("-----") cost far less than their marks one by one.
_RULERS = tuple((mark * 4, mark) for mark in (b"-", b"=", b"*", b"_", b"#", b".", b"~"))


def _table(rest: bytes, *ranges: tuple[bytes, bytes]) -> bytes:
    """A translation of bytes where everything not named becomes ``rest``."""
    table = bytearray(rest * 256)
    for members, to in ranges:
        for byte in members:
            table[byte] = to[0]
    return bytes(table)


_LOWER, _UPPER, _DIGIT = bytes(range(97, 123)), bytes(range(65, 91)), b"0123456789"
_MARK = bytes(b for b in range(33, 127) if b not in _LOWER + _UPPER + _DIGIT)
_WORDS = _table(b" ", (_LOWER, b"a"), (_UPPER, b"A"))
_PLACES = _table(b" ", (_LOWER + _UPPER, b"a"), (_DIGIT, b"1"), (_MARK, b"."))
_DIGITS = _table(b" ", (_DIGIT, b"1"))
_GAPS = _table(b".", (_DIGIT, b"1"), (b" \t", b" "), (b"\n\r", b"n"))
_LINES = _table(b" ", (b"\n\r", b"n"))
_MARKS = _table(b" ", (_MARK, b"."))


_9, _13, _20, _20_CAPITALS = b"a" * 9, b"a" * 13, b"a" * 20, b"A" * 20


def estimate(text: str, prices: Prices = PRICES[""]) -> float:
    """Tokens of ``text`` by class of character, before any model's ratio. O(len), no state."""
    if not text:
        return 0.0
    if text.isascii():
        return _ascii(text.encode("ascii"), 0, 0, prices)
    strange = " ".join(_FOREIGN.findall(text))
    runs = _CJK.findall(strange)
    cjk = sum(map(len, runs))
    letters = sum(map(len, _ALPHABETIC.findall(strange)))
    indic = sum(map(len, _INDIC.findall(strange)))
    plain = text.encode("ascii", "replace")  # one "?" for each character that is not ASCII
    foreign = len(strange) - strange.count(" ")
    other = foreign - cjk - letters - indic
    priced = cjk * prices.cjk + len(runs) * prices.cjk_run
    priced += letters * LETTER + indic * INDIC + other * OTHER
    return priced + _ascii(plain, foreign, len(runs), prices)


def _ascii(raw: bytes, not_marks: int, not_runs: int, prices: Prices) -> float:
    """The price of ASCII bytes; ``not_marks`` of its marks, in about ``not_runs`` runs, stand for
    other characters."""
    words = b" " + raw.translate(_WORDS)
    places = b" " + raw.translate(_PLACES)
    whole = places.count(b" a")
    lower = words.lower()
    # A run of letters begins where one follows a space: counted far quicker than split out.
    total = prices.word * whole + prices.part * (lower.count(b" a") - whole)
    # What most texts have none of is looked for once, before it is counted.
    numbers = b"1" in places
    if numbers:
        total += prices.mixed * (places.count(b"a1") + places.count(b"1a"))
    if (long := lower.count(_9)) > 0:
        total += prices.long * long + prices.longer * lower.count(_13)
        total += LONG_RUN * (words.count(_20) + words.count(_20_CAPITALS))
    if b"aA" in words or b"AA" in words:
        # A capital that opens a word is made small, small letters go: what is left of each word
        # is its inner capitals, so the pieces are the words that have one.
        inner = words.replace(b" A", b" a").translate(None, b"a")
        total += prices.inner * inner.count(b" A")
    gaps = raw.translate(_GAPS) if numbers or b"  " in raw or b"\t" in raw else b""
    if b"  " in gaps:
        total += SPACES * raw.count(b" " * 32)
        total += PADDING * (gaps.count(b".  ") + gaps.count(b"1  "))
    if numbers:
        digits = raw.translate(_DIGITS)
        count = digits.count(b"1")
        threes = digits.replace(b"111", b"x")
        runs = threes.count(b"x") + threes.replace(b"11", b"1").count(b"1")
        total += prices.digit * count + prices.threes * runs
        total += prices.gap * gaps.count(b" 1")
    if b"\n" in raw or b"\r" in raw:
        total += prices.lines * (b" " + raw.translate(_LINES)).count(b" n")
    marks = b" " + raw.translate(_MARKS)
    if b"...." in marks:
        for run, one in _RULERS:
            if run in raw:
                raw = raw.replace(run, one)
        marks = b" " + raw.translate(_MARKS)
    total += prices.mark * max(0, marks.count(b".") - not_marks)
    return total + prices.marks * max(0, marks.count(b" .") - not_runs)
