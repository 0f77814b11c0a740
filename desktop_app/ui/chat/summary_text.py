"""A summary as a person reads it: headings, points, paragraphs; no tags meant for the model."""

from __future__ import annotations

import html
import re

from desktop_app.ui.theme import theme

from .foreign import visible

_TAG = re.compile(r"</?[a-z][a-z_-]*(?: [^<>]*)?>")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_POINT = re.compile(r"(\s*)[-*]\s+(.*)")


def summary_html(summary: str) -> str:
    """``summary`` (Markdown of the plain kind) as rich text; everything in it is escaped, lines
    that are nothing but a tag are left out, and what a person wrote keeps its signs."""
    now = theme()
    small, line = now.font("small"), now.line("small")
    base = f"font-size: {small.pixelSize() or now.px(12)}px; line-height: {line + 2}px"
    out: list[str] = []
    apart = False  # an empty line or a tag stood before
    inline = inline_html
    for raw in visible(summary)[0].splitlines():
        text = raw.strip()
        if not text or _TAG.fullmatch(text):
            apart = bool(out)
            if text.startswith(("<pinned", "</")):  # the person's words, as they were written
                inline = html.escape if text[1] == "p" else inline_html
            continue
        gap, apart = now.px(8) if apart else 0, False
        if (found := _HEADING.fullmatch(text)) is not None:
            token = "text" if len(found[1]) == 1 else "muted"
            top = now.px(12 if len(found[1]) == 1 else 8)
            style = f"{base}; font-weight: 600; color: {now.hex(token)}; margin: {top}px 0 2px 0"
            out.append(f'<p style="{style}">{inline(found[2])}</p>')
        elif (found := _POINT.fullmatch(raw)) is not None:
            indent = now.px(10 + 5 * min(6, len(found[1])))
            style = f"{base}; margin: 0 0 2px {indent}px; text-indent: -{now.px(10)}px"
            out.append(f'<p style="{style}">•&nbsp;{inline(found[2])}</p>')
        elif set(text) == {"-"} and len(text) >= 3:
            apart = True
        else:
            out.append(f'<p style="{base}; margin: {gap}px 0 2px 0">{inline(text)}</p>')
    return f'<div style="color: {now.hex("text")}">{"".join(out)}</div>'


def inline_html(text: str) -> str:
    """One line with its Markdown for bold and code as rich text; all else in it is escaped."""
    mono = html.escape(theme().font("mono").family(), quote=True)
    parts = _CODE.split(text)  # code stands at the odd places
    for n, part in enumerate(parts):
        part = html.escape(part)
        code = f'<span style="font-family: {mono}">{part}</span>'
        parts[n] = code if n % 2 else _BOLD.sub(r"<b>\1</b>", part)
    return "".join(parts)
