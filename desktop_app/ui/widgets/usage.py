"""What a gauge of the context shows: plain values, their words, and where the parts lie in a bar.

It knows nothing of accounting. ``total`` is what is believed to be used; ``upper`` is how much it
may be at most, and is what the marks go by, so a gauge shows both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from desktop_app.ui.i18n import tr, trc
from desktop_app.ui.theme.tokens import CATEGORY_ORDER

from . import figures


@dataclass(frozen=True, slots=True)
class Usage:
    """What fills a window of ``window`` tokens. ``parts`` by category (``CATEGORY_ORDER``);
    ``estimated`` of their sum is not confirmed; ``reserve`` is kept for the answer; ``alert`` and
    ``danger`` are marks in tokens (0: none), and are passed when ``upper`` reaches them (0: as much
    as the sum)."""

    window: int = 0
    parts: Mapping[str, int] = field(default_factory=dict)
    estimated: int = 0
    reserve: int = 0
    alert: int = 0
    danger: int = 0
    upper: int = 0

    @property
    def total(self) -> int:
        return sum(self.parts.values())

    @property
    def share(self) -> float:
        return self.total / self.window if self.window else 0.0

    @property
    def most(self) -> int:
        """How much it may be: what the marks go by."""
        return max(self.total, self.upper)

    @property
    def tone(self) -> str:
        """The colour that the fill calls for: normal, over the alert mark, over the danger one."""
        if self.danger and self.most >= self.danger:
            return "danger"
        if self.alert and self.most >= self.alert:
            return "warning"
        return "accent-text"


def category_name(category: str) -> str:
    """The name of a category in the window."""
    names = {
        "system": tr("System prompt"),
        "tools": tr("Tools"),
        "mcp": tr("MCP servers"),
        "skills": tr("Skills"),
        "ledger": tr("Summary and ledger"),
        "user": tr("You"),
        "assistant": tr("Assistant"),
        "thinking": trc("category", "Thinking"),
        "result": tr("Tool results"),
        "images": tr("Images"),
        "reserve": tr("Kept for the answer"),
        "free": tr("Free"),
        "margin": tr("Margin of the estimate"),
    }
    return names.get(category, category)


def describe(usage: Usage) -> str:
    """The gauge in words: for tooltips and accessible texts."""
    lines = [
        tr(
            "{used} of {window} tokens used, {share}",
            used=figures.tokens(usage.total),
            window=figures.tokens(usage.window),
            share=figures.percent(usage.share),
        )
    ]
    if usage.estimated:
        lines.append(tr("{n} of them estimated", n=figures.tokens(usage.estimated)))
    if usage.most > usage.total:
        most = figures.tokens(usage.most)
        lines.append(tr("At most {n}: what the marks go by", n=most))
    for category in CATEGORY_ORDER:
        if n := usage.parts.get(category, 0):
            lines.append(f"{category_name(category)}: {figures.tokens(n)}")
    if usage.reserve:
        lines.append(f"{category_name('reserve')}: {figures.tokens(usage.reserve)}")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar in logical pixels; ``hatch_from`` is where its estimated tail begins."""

    category: str
    x: float
    width: float
    hatch_from: float


def segments(usage: Usage, width: float, gap: float = 1.0) -> list[Segment]:
    """Where the parts lie in a bar of ``width``: in prompt order, at least ``gap`` wide each,
    parted by ``gap``, never beyond the bar. Small parts that are widened push the rest on and
    the largest gives the room back when the bar is full."""
    total = usage.total
    if usage.window <= 0 or total <= 0:
        return []
    present = [(c, usage.parts[c]) for c in CATEGORY_ORDER if usage.parts.get(c, 0) > 0]
    span = min(1.0, total / usage.window) * width
    room = max(gap * len(present), span - gap * (len(present) - 1))
    widths = [max(gap, n / total * room) for _, n in present]
    surplus = sum(widths) - room
    while surplus > 1e-6:
        big = max(range(len(widths)), key=lambda i: widths[i])
        cut = min(surplus, widths[big] - gap)
        if cut <= 0:
            break
        widths[big] -= cut
        surplus -= cut
    measured = total - min(total, usage.estimated)
    result: list[Segment] = []
    x, before = 0.0, 0
    for (category, n), w in zip(present, widths, strict=True):
        share = min(1.0, max(0.0, (measured - before) / n))
        result.append(Segment(category, x, w, x + share * w))
        x += w + gap
        before += n
    return result
