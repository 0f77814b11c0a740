"""Short words for how long ago something was."""

from __future__ import annotations

import time
from datetime import datetime

from desktop_app.ui.i18n import language, tr

_DAYS_EN = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAYS_ZH = ("周一", "周二", "周三", "周四", "周五", "周六", "周日")


def short_ago(us: int, now: float | None = None) -> str:
    """``us`` microseconds since the epoch as "now", "5 min", "2 h", "1 d", "Mon", "3 Nov"."""
    if us <= 0:
        return ""
    now = time.time() if now is None else now
    seconds = now - us / 1_000_000
    if seconds < 60:
        return tr("now")
    if seconds < 3600:
        return tr("{n} min", n=int(seconds // 60))
    if seconds < 86400:
        return tr("{n} h", n=int(seconds // 3600))
    if seconds < 2 * 86400:
        return tr("{n} d", n=1)
    then = datetime.fromtimestamp(us / 1_000_000)
    if seconds < 7 * 86400:
        return (_DAYS_ZH if language() == "zh_CN" else _DAYS_EN)[then.weekday()]
    if language() == "zh_CN":
        return f"{then.month}月{then.day}日"
    return f"{then.day} {then:%b}"
