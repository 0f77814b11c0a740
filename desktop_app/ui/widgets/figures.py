"""Figures in words: tokens, sizes, durations, shares; short, and the same everywhere."""

from __future__ import annotations

from desktop_app.ui.i18n import tr, trn


def tokens(n: float) -> str:
    """``942``, ``86.1k``, ``1.05M``."""
    if n < 1000:
        return str(round(n))
    if n < 999_950:
        return f"{n / 1000:.1f}k" if n < 99_950 or n % 1000 >= 50 else f"{n / 1000:.0f}k"
    return f"{n / 1_000_000:.2f}M"


def size(n: float) -> str:
    """Bytes: ``312 B``, ``4.0 KB``, ``1.9 MB``."""
    if n < 1000:
        return f"{round(n)} B"
    for unit in ("KB", "MB", "GB"):
        n /= 1000
        if n < 999.5 or unit == "GB":
            return f"{n:.1f} {unit}" if n < 100 else f"{n:.0f} {unit}"
    raise AssertionError


def percent(share: float) -> str:
    """A share of 0 to 1 as ``43%``; a little is never 0, nearly all never 100."""
    value = round(share * 100)
    if value == 0 and share > 0:
        return "<1%"
    if value == 100 and share < 1:
        return "99%"
    return f"{value}%"


def duration(seconds: float) -> str:
    """``0.4 s``, ``8 s``, ``2 min``, ``1 h 20 min``, ``3 d``."""
    if seconds < 9.95:
        text = f"{seconds:.1f}".removesuffix(".0")
        return tr("{n} s", n=text)
    if seconds < 59.5:
        return tr("{n} s", n=round(seconds))
    minutes = round(seconds / 60)
    if minutes < 60:
        return tr("{n} min", n=minutes)
    hours, rest = divmod(minutes, 60)
    if hours < 24:
        return tr("{h} h {m} min", h=hours, m=rest) if rest else tr("{n} h", n=hours)
    return tr("{n} d", n=round(hours / 24))


def ago(seconds: float) -> str:
    """How long ago, for lists: ``now``, ``5 min``, ``2 h``, ``3 d``."""
    return tr("now") if seconds < 45 else duration(max(seconds, 60))


def count(n: int) -> str:
    """``48,212``."""
    return f"{n:,}"


def items(n: int) -> str:
    return trn("{n} item", "{n} items", n)
