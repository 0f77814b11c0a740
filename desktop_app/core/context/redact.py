"""Secrets kept out of what a compaction writes. The person's own words are not touched.

Shapes of keys are the log's; beside them names that say what stands behind them. Values of digits
alone are limits and counts more often than keys and stay.
"""

from __future__ import annotations

import re

from desktop_app.core.log import MASK, mask

_NAME = (
    r"(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret(?:[_-]?[a-z]+){0,2}|private[_-]?key|"
    r"(?:auth|access|refresh|bearer|session|csrf|id)[_-]?token|token|pass(?:word|wd|phrase)|pwd|"
    r"credentials?|authorization|cookie|密码|口令|密钥|令牌)"
)
_NAMED = re.compile(
    rf"({_NAME}(?:\\?[\"'”])?\s*(?:[:=：]|=>|\bis\b|是|为)\s*(?:\\?[\"'“])?"  # \" as in JSON
    r"(?:bearer\s+|basic\s+)?)"
    r"((?:[^\s\"',;&}<>“”\\]|\\(?![\"'])){6,})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(\b(?:bearer|basic)\s+)([A-Za-z0-9+/=._~-]{16,})", re.IGNORECASE)
_USERINFO = re.compile(r"([a-z][a-z0-9+.-]*://[^\s/:@]*:)([^\s/@]+)(@)", re.IGNORECASE)
_TELLING = re.compile(  # a piece of every name above: far quicker to look for
    "key|secret|token|pass|pwd|credential|authorization|cookie|bearer|basic|密码|口令|密钥|令牌",
    re.I,
)
_PLAIN = re.compile(r"\d{1,12}|[a-z]{1,15}\.?|true|false|null|none", re.IGNORECASE)


def _named(match: re.Match[str]) -> str:
    value = match.group(2)
    return match.group() if _PLAIN.fullmatch(value) else f"{match.group(1)}{MASK}"


def redact(text: str) -> str:
    """``text`` with secrets masked."""
    if "://" in text:
        text = _USERINFO.sub(rf"\1{MASK}\3", text)
    if _TELLING.search(text):
        text = _NAMED.sub(_named, text)
        text = _BEARER.sub(rf"\1{MASK}", text)
    return mask(text)


def secrets_in(text: str) -> set[str]:
    """The values that ``redact`` would take out, where a name or an address tells them."""
    found = {m.group(2) for m in _USERINFO.finditer(text)}
    found |= {m.group(2) for m in _BEARER.finditer(text)}
    found |= {m.group(2) for m in _NAMED.finditer(text) if not _PLAIN.fullmatch(m.group(2))}
    return {value for value in found if len(value) >= 6}
