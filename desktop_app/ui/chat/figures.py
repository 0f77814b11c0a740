"""Figures that only the chat shows; the common ones are in ``widgets.figures``."""

from __future__ import annotations

from datetime import datetime

from desktop_app.ui.widgets.figures import count, duration, percent, size, tokens

__all__ = [
    "clock",
    "clock_seconds",
    "count",
    "duration",
    "percent",
    "rough_tokens",
    "size",
    "tokens",
    "when",
    "whole_seconds",
    "window",
]


def window(n: int) -> str:
    """The size of a context window: ``200k``, ``32.8k``, ``1M``; round figures have no point."""
    if n >= 1_000_000:
        return f"{n / 1_000_000:.1f}".removesuffix(".0") + "M"
    if n >= 1000:
        return f"{n / 1000:.1f}".removesuffix(".0") + "k"
    return str(n)


def rough_tokens(n: int) -> str:
    """``39k``, ``162k``; under 10,000 with its tenth, as elsewhere."""
    return f"{n / 1000:.0f}k" if 9_950 <= n < 999_500 else tokens(n)


def whole_seconds(seconds: float) -> str:
    """``6 s``: for times that are no measurement of work."""
    return duration(max(1, round(seconds)))


def clock(ts_us: int) -> str:
    """``12:36`` in local time; empty for an unknown time."""
    return datetime.fromtimestamp(ts_us / 1_000_000).strftime("%H:%M") if ts_us else ""


def clock_seconds(ts_us: int) -> str:
    """``12:36:04`` in local time; empty for an unknown time."""
    return datetime.fromtimestamp(ts_us / 1_000_000).strftime("%H:%M:%S") if ts_us else ""


def when(ts_us: int, now_us: int) -> str:
    """``12:36`` today, ``11-29 12:36`` before: sorts and needs no words."""
    if not ts_us:
        return ""
    then = datetime.fromtimestamp(ts_us / 1_000_000)
    today = datetime.fromtimestamp(now_us / 1_000_000)
    if then.date() == today.date():
        return then.strftime("%H:%M")
    pattern = "%m-%d %H:%M" if then.year == today.year else "%Y-%m-%d %H:%M"
    return then.strftime(pattern)


def dollars(amount: float) -> str:
    """US dollars: cents from one cent on, two significant digits below."""
    if amount == 0 or amount >= 0.01:
        return f"${amount:,.2f}"
    return f"${amount:.2g}" if amount >= 0.0001 else "<$0.0001"
