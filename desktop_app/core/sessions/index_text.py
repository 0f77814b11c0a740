"""Text for the full-text index: what of a record can be searched, and its terms.

SQLite's tokenizer takes a run of Chinese, Japanese or Korean for one word. Such runs are given to
it as overlapping pairs ("会话记录" → "会话 话记 记录 录"), the last character also alone, so that
any part of a run is found: two or more characters as a phrase of pairs, one as a prefix.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, cast

MOST = 100_000
"""Characters of one message that are indexed."""
MOST_RESULT = 8_000
"""Characters of one tool result; the whole of it is in the offloads."""

# Han with its extensions and compatibility forms, kana, Hangul, Bopomofo.
_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u312f\u3130-\u318f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af"
)
_RUN = re.compile(f"([{_CJK}]+)")
_WORD = re.compile(r"[^\W_]+")


def terms(text: str) -> str:
    """``text`` as the tokenizer should see it."""
    if not _RUN.search(text):
        return text
    return _RUN.sub(lambda run: f" {_pairs(run.group())} ", text)


def _pairs(run: str) -> str:
    return " ".join([*(run[i : i + 2] for i in range(len(run) - 1)), run[-1]])


def match(query: str) -> str:
    """An FTS5 query that finds ``query``: all its words, the last one as a beginning; "" when
    there is nothing to look for. No character of ``query`` has a meaning of its own."""
    parts: list[str] = []
    for piece in _RUN.split(_clean(query)):
        if _RUN.fullmatch(piece):
            if len(piece) == 1:
                parts.append(f'"{piece}"*')
            else:
                pairs = " ".join(piece[i : i + 2] for i in range(len(piece) - 1))
                parts.append(f'"{pairs}"')
        else:
            parts.extend(f'"{word}"' for word in _WORD.findall(piece))
    if parts and not parts[-1].endswith("*") and not _RUN.search(parts[-1]):
        parts[-1] += "*"
    return " AND ".join(parts)


def needles(query: str) -> list[str]:
    """What to look for in a found text, to show it."""
    found: list[str] = []
    for piece in _RUN.split(_clean(query)):
        found.extend([piece] if _RUN.fullmatch(piece) else _WORD.findall(piece))
    return found


def excerpt(text: str, query: str, *, around: int = 60) -> tuple[str, list[tuple[int, int]]]:
    """A line of ``text`` around the first thing that ``query`` names, and where in that line the
    things are (start, end)."""
    flat = " ".join(text.split())
    words = sorted(needles(query), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, words)) or r"(?!)", re.IGNORECASE)
    first = pattern.search(flat)
    start = max(first.start() - around, 0) if first else 0
    line = flat[start : start + 3 * around]
    if start:
        line = f"…{line}"
    return line, [hit.span() for hit in pattern.finditer(line)]


def _clean(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\x00", " ")


def texts(kind: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    """What of a record a person may search for, as (role, text): role is ``user``, ``assistant``,
    ``tool`` or ``title``. A body of another shape than expected gives nothing."""
    if kind == "user.message":
        msg = body.get("msg")
        content = cast(dict[str, Any], msg).get("content") if isinstance(msg, dict) else msg
        return _said("user", _plain(content))
    if kind == "assistant.message":
        return _said("assistant", _plain(body.get("blocks")))
    if kind == "tool.result":
        block = body.get("block")
        output = cast(dict[str, Any], block).get("output") if isinstance(block, dict) else None
        return _said("tool", _plain(output)[:MOST_RESULT])
    if kind in ("title", "session.created"):
        return _said("title", str(body.get("title") or ""))
    if kind == "state.replaced":
        return _of_state(body.get("state"))
    return []


def _of_state(state: Any) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    context = cast(dict[str, Any], state).get("context") if isinstance(state, dict) else None
    for item in cast(list[Any], context) if isinstance(context, list) else []:
        if isinstance(item, dict):
            msg = cast(dict[str, Any], item)
            role = "user" if msg.get("role") == "user" else "assistant"
            found.extend(_said(role, _plain(msg.get("content"))))
    return found


def _said(role: str, text: str) -> list[tuple[str, str]]:
    text = _clean(text[:MOST]).encode("utf-8", "replace").decode()
    return [(role, text)] if text.strip() else []


def _plain(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for item in cast(list[Any], content) if isinstance(content, list) else []:
        if isinstance(item, dict):
            block = cast(dict[str, Any], item)
            if block.get("type") == "text" and isinstance(text := block.get("text"), str):
                parts.append(text)
    return "\n\n".join(parts)
