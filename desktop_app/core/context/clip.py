"""Shorten a text to a number of tokens: its head and its tail, whole lines where there are some."""

from __future__ import annotations

from collections.abc import Callable

from desktop_app.core.tools.bounds import safe_cut

HEAD_SHARE = 0.6


def _cut(text: str, budget: float, count: Callable[[str], float], *, from_end: bool) -> str:
    """The longest head (or tail) that fits: by bisection, then back to the edge of a line."""
    low, high = 0, min(len(text), int(budget * 40) + 16)
    while low < high:
        middle = (low + high + 1) // 2
        piece = text[len(text) - middle :] if from_end else text[:middle]
        if count(piece) <= budget:
            low = middle
        else:
            high = middle - 1
    cut = safe_cut(text, len(text) - low if from_end else low)  # never inside a character as seen
    piece = text[cut:] if from_end else text[:cut]
    edge = piece.find("\n") + 1 if from_end else piece.rfind("\n")
    whole = piece[edge:] if from_end else piece[: max(edge, 0)]
    return whole if len(whole) * 2 > len(piece) else piece


def clip(text: str, budget: float, count: Callable[[str], float], marker: str) -> str:
    """``text`` if it counts at most ``budget``, else its head, ``marker`` on a line of its own and
    its tail. ``marker`` is not part of the budget."""
    if count(text) <= budget:
        return text
    head = _cut(text, budget * HEAD_SHARE, count, from_end=False)
    tail = _cut(text[len(head) :], budget * (1 - HEAD_SHARE), count, from_end=True)
    return f"{head.rstrip()}\n{marker}\n{tail.lstrip()}".strip("\n")
