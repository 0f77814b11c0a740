"""Numbers as people read them: ``86.1k``, ``43%``, ``1.9 MB``, ``3.8 s``, ``12:36``."""

from __future__ import annotations

import math
from datetime import datetime

from desktop_app.ui.i18n import tr


def tokens(n: int) -> str:
    """``812``, ``2.1k``, ``86.1k``, ``162k``, ``1.2M``: three figures at most."""
    if abs(n) < 1000:
        return str(n)
    if abs(n) < 99_950:
        return f"{n / 1000:.1f}k"
    if abs(n) < 999_500:
        return f"{n / 1000:.0f}k"
    return f"{n / 1_000_000:.1f}M"


def window(n: int) -> str:
    """The size of a context window: ``200k``, ``32k``, ``1M``; round figures without a point."""
    if n >= 1_000_000:
        return f"{n / 1_000_000:.1f}".removesuffix(".0") + "M"
    if n >= 1000:
        return f"{n / 1000:.1f}".removesuffix(".0") + "k"
    return str(n)


def percent(share: float) -> str:
    """A share of the window. What is there is never shown as 0%."""
    if 0 < share < 0.005:
        return "<1%"
    return f"{math.floor(share * 100 + 0.5)}%"


def count(n: int) -> str:
    """A count with thousands separated: ``48,212``."""
    return f"{n:,}"


def size(n: int) -> str:
    """Bytes, decimal units: ``812 B``, ``2.1 kB``, ``1.9 MB``."""
    value = float(n)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.95 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return ""


def duration(seconds: float) -> str:
    """``0.4 s``, ``3.8 s``, ``12 s``, ``3 min 5 s``; in the person's language."""
    if seconds < 9.95:
        return tr("{n} s", n=f"{seconds:.1f}")
    whole = round(seconds)
    if whole < 60:
        return tr("{n} s", n=whole)
    if whole < 3600:
        return tr("{m} min {s} s", m=whole // 60, s=whole % 60)
    return tr("{h} h {m} min", h=whole // 3600, m=whole % 3600 // 60)


def whole_seconds(seconds: float) -> str:
    """``6 s``: for times that are no measurement of work."""
    if seconds < 60:
        return tr("{n} s", n=max(1, round(seconds)))
    return duration(seconds)


def clock(ts_us: int) -> str:
    """``12:36`` in local time; empty for an unknown time."""
    return datetime.fromtimestamp(ts_us / 1_000_000).strftime("%H:%M") if ts_us else ""


def clock_seconds(ts_us: int) -> str:
    """``12:36:04`` in local time; empty for an unknown time."""
    return datetime.fromtimestamp(ts_us / 1_000_000).strftime("%H:%M:%S") if ts_us else ""


def when(ts_us: int, now_us: int) -> str:
    """``12:36`` today, ``Nov 29, 12:36`` as ``11-29 12:36`` before: sorts and needs no words."""
    if not ts_us:
        return ""
    then = datetime.fromtimestamp(ts_us / 1_000_000)
    today = datetime.fromtimestamp(now_us / 1_000_000)
    if then.date() == today.date():
        return then.strftime("%H:%M")
    pattern = "%m-%d %H:%M" if then.year == today.year else "%Y-%m-%d %H:%M"
    return then.strftime(pattern)
