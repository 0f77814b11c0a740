"""A summary as a person reads it: headings, points, paragraphs; no tags meant for the model."""

from __future__ import annotations

import html
import re

from desktop_app.ui.theme import theme

from .foreign import visible

_TAG = re.compile(r"</?[a-z][a-z_-]*(?: [^<>]*)?>")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_POINT = re.compile(r"(\s*)[-*]\s+(.*)")


def summary_html(summary: str) -> str:
    """``summary`` (Markdown of the plain kind) as rich text; everything in it is escaped, lines
    that are nothing but a tag are left out."""
    now = theme()
    small, line = now.font("small"), now.line("small")
    base = f"font-size: {small.pixelSize() or now.px(12)}px; line-height: {line + 2}px"
    out: list[str] = []
    for raw in visible(summary)[0].splitlines():
        text = raw.strip()
        if not text or _TAG.fullmatch(text):
            continue
        if (found := _HEADING.fullmatch(text)) is not None:
            token = "text" if len(found[1]) == 1 else "muted"
            top = now.px(12 if len(found[1]) == 1 else 8)
            style = f"{base}; font-weight: 600; color: {now.hex(token)}; margin: {top}px 0 2px 0"
            out.append(f'<p style="{style}">{_inline(found[2])}</p>')
        elif (found := _POINT.fullmatch(raw)) is not None:
            indent = now.px(10 + 5 * min(6, len(found[1])))
            style = f"{base}; margin: 0 0 2px {indent}px; text-indent: -{now.px(10)}px"
            out.append(f'<p style="{style}">•&nbsp;{_inline(found[2])}</p>')
        elif set(text) == {"-"} and len(text) >= 3:
            out.append(f'<p style="{base}; margin: 0">&nbsp;</p>')
        else:
            out.append(f'<p style="{base}; margin: 0 0 2px 0">{_inline(text)}</p>')
    return f'<div style="color: {now.hex("text")}">{"".join(out)}</div>'


def _inline(text: str) -> str:
    escaped = html.escape(text)
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escaped)
