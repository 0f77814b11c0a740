"""Summaries by extraction: sentences and figures that are in the text, never new ones.

Sentences are scored by how frequent their words are in the text (Luhn, "The Automatic Creation of
Literature Abstracts", 1958: significance of words by frequency), with a little for standing early,
under a heading or beside a figure. Tables get plain statistics.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field, replace

from .text import CJK

_STOP = frozenset(
    re.findall(
        r"\S+",
        """
        the a an and or but of to in on at by for with from as is are was were be been it its this
        that these those we you they he she i our your their his her not no do does did has have had
        will would can could should may might must than then there here when which who what how if
        so such into about over under between after before more most other some any all each per
        """,
    )
)
_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'“(])|(?<=[。！？；])\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    line: int
    place: int


@dataclass(slots=True)
class Digest:
    """What was extracted: headings in order, and sentences in the order of the text."""

    headings: list[str] = field(default_factory=list[str])
    sentences: list[Sentence] = field(default_factory=list[Sentence])


def terms(text: str) -> list[str]:
    """Words without the little ones; Chinese as pairs of characters."""
    out = [w for w in re.findall(r"[a-z][a-z0-9'\-]+", text.lower()) if w not in _STOP]
    for run in re.findall(f"[{CJK}]+", text):
        out += [run[i : i + 2] for i in range(len(run) - 1)]
    return out


def _clean(line: str) -> str:
    line = re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?", "", line.strip())
    line = re.sub(r"^>\s?", "", line)
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", line)


def _joined(block: list[tuple[int, str]]) -> tuple[str, list[tuple[int, int]]]:
    """The lines of a paragraph as one text, and where in it each line number begins."""
    text = ""
    starts: list[tuple[int, int]] = []
    for number, line in block:
        if text and not re.search(f"[{CJK}。！？；，]$", text):
            text += " "
        starts.append((len(text), number))
        text += line
    return text, starts


def _prose(lines: list[tuple[int, str]]) -> tuple[list[str], list[Sentence]]:
    """Headings and sentences; wrapped lines of a paragraph are joined, list items stand alone."""
    headings: list[str] = []
    sentences: list[Sentence] = []
    block: list[tuple[int, str]] = []
    fenced = False

    def flush() -> None:
        joined, starts = _joined(block)
        at = 0
        for part in _SPLIT.split(joined):
            at = joined.index(part, at)
            if len(part.strip()) > 1:
                line = next(n for begin, n in reversed(starts) if begin <= at)
                sentences.append(Sentence(part.strip(), line, len(sentences)))
            at += len(part)
        block.clear()

    for number, line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        heading = re.match(r"^#{1,6}\s+(.+?)\s*#*$", line)
        new = not line.strip() or heading or re.match(r"^\s*(?:[-*+]|\d+[.)])\s", line)
        if block and new:
            flush()
        if heading:
            headings.append(heading.group(1))
        elif line.strip() and not fenced and not re.match(r"^\s*[|=\-_*]{3,}", line):
            block.append((number, _clean(line)))
    flush()
    return headings, sentences


def digest(lines: list[tuple[int, str]], most: int = 5) -> Digest:
    """The ``most`` telling sentences of a text given as (line number, line)."""
    headings, sentences = _prose(lines)
    counts = Counter(t for s in sentences for t in set(terms(s.text)))
    titles = set(terms(" ".join(headings)))
    scored: list[tuple[float, Sentence]] = []
    for s in sentences:
        words = terms(s.text)
        if len(words) < 2:
            continue
        score = sum(counts[w] - 1 + 0.5 * (w in titles) for w in set(words)) / len(words) ** 0.5
        score += 1.0 / (1 + s.place) + 0.4 * bool(re.search(r"\d", s.text))
        scored.append((score, s))
    chosen: list[Sentence] = []
    for _, s in sorted(scored, key=lambda pair: (-pair[0], pair[1].place)):
        mine = set(terms(s.text))
        if all(len(mine & set(terms(c.text))) < 0.6 * len(mine) for c in chosen):
            chosen.append(s)
        if len(chosen) == most:
            break
    return Digest(headings, sorted(chosen, key=lambda s: s.place))


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table. Numeric: ``low``, ``high``, ``mean``; else ``distinct``, ``top`` (the
    commonest value, "" when none comes twice), and for ISO dates ``first`` and ``last``."""

    name: str
    numeric: bool
    low: float = 0.0
    high: float = 0.0
    mean: float = 0.0
    distinct: int = 0
    top: str = ""
    first: str = ""
    last: str = ""


def columns(lines: list[str], delimiter: str = ",") -> tuple[int, list[Column]]:
    """(rows, columns) of a table with a header. Rows of another width are left out."""
    rows = list(csv.reader(lines, delimiter=delimiter))
    if len(rows) < 2 or len(rows[0]) < 2:
        return max(0, len(rows) - 1), []
    head = rows[0]
    body = [r for r in rows[1:] if len(r) == len(head)]
    return len(body), [_column(name, [r[n].strip() for r in body]) for n, name in enumerate(head)]


def _column(name: str, values: list[str]) -> Column:
    filled = [v for v in values if v]
    numbers: list[float] = []
    for value in filled:
        try:
            numbers.append(float(value.replace(",", "").rstrip("%")))
        except ValueError:
            break
    if filled and len(numbers) == len(filled):
        return Column(
            name, True, min(numbers), max(numbers), sum(numbers) / len(numbers), len(set(filled))
        )
    counts = Counter(filled)
    top, times = counts.most_common(1)[0] if counts else ("", 0)
    column = Column(name, False, distinct=len(counts), top=top if times > 1 else "")
    if filled and all(re.match(r"\d{4}-\d\d-\d\d", v) for v in filled):
        return replace(column, first=min(filled), last=max(filled))
    return column


_DEFINED = re.compile(
    r"^\s*(?:export\s+)?(?:async\s+)?(?:def|class|function|func|fn|interface|struct)\s+([A-Za-z_]\w*)"
)


def defined(lines: list[str]) -> list[str]:
    """Names that a source file defines, in order."""
    return [m.group(1) for line in lines if (m := _DEFINED.match(line))]
