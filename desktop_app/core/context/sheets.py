"""Texts that are put together of many lines, with what they count: most lines were counted before,
so a long text is neither cut apart again nor copied on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .tokens import CountCache


class Lines(NamedTuple):
    """``texts`` under a ``title``, each after ``mark``, with ``between`` two. ``size`` is what they
    count, each with its mark on lines of its own; below 0 where that is not known."""

    title: str
    mark: str
    between: str
    texts: Sequence[str]
    size: float = -1.0


Part = str | Lines


def written(parts: Sequence[Part], count: CountCache | None = None) -> str:
    """``parts`` with an empty line between two. ``count`` is told what the text counts."""
    out: list[str] = []
    for part in parts:
        out.append("\n\n")
        if isinstance(part, str):
            out.append(part)
            continue
        out.append(f"{part.title}\n{part.mark}")
        row = [part.between + part.mark] * (2 * len(part.texts) - 1)
        row[::2] = part.texts
        out += row
    text = "".join(out[1:])
    if count is not None and count.by_line and "\r" not in text:
        count.keep_lines(text, _size(parts, count))
    return text


def _size(parts: Sequence[Part], count: CountCache) -> float:
    """As ``CountCache.count_lines``: what lines count, and one end of a line between two."""
    size, lines = 0.0, 0
    for part in parts:
        plain = part if isinstance(part, str) else part.title
        own = [line for line in plain.split("\n") if line]
        if isinstance(part, Lines):
            between = [line for line in part.between.split("\n") if line]
            more = len(part.texts) - 1
            known = part.size
            if known < 0:
                known = sum([count.unit(part.mark + text) for text in part.texts])
            size += known + more * sum([count.count(line) for line in between])
            lines += len(part.texts) + more * len(between)
        size += sum(count.counts(own))
        lines += len(own)
    return size + max(0, lines - 1) * count.count("\n")
