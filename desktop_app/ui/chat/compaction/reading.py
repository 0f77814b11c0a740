"""Texts of a compaction as a person reads them: the ledger's items, a difference, what was not
accepted. Rich text of our own making; everything in it that is foreign is escaped."""

from __future__ import annotations

import asyncio
import difflib
import html
import logging
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QUrl
from PySide6.QtCore import Signal as QtSignal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QTextBrowser, QWidget

from desktop_app.core.context.types import LedgerItem
from desktop_app.core.tasks import Tasks
from desktop_app.ui.chat import tool_words
from desktop_app.ui.chat.foreign import visible
from desktop_app.ui.chat.summary_text import inline_html
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, Text, say

from .words import KINDS, item_state, kind_words, rejected_name, rejected_words

log = logging.getLogger(__name__)
SHOWN = 400  # items in one page; a ledger is far smaller, and laying out more would be slow
LINES = 4000  # of a text that is compared
DIFFERENCE = 1000  # lines of a difference in one page
LONG = 2000  # characters shown of one text; the whole is in the chat and in the offload


def _style(token: str = "text", role: str = "body", extra: str = "") -> str:
    now = theme()
    size = now.font(role).pixelSize() or now.px(13)
    return f"font-size: {size}px; color: {now.hex(token)}; {extra}"


def _p(text: str, style: str) -> str:
    return f'<p style="{style}">{text}</p>'


def safe(text: str) -> str:
    """Foreign text for rich text: nothing hidden, nothing that is markup."""
    return html.escape(visible(text)[0]).replace("\n", "<br>")


def _link(target: str, words: str) -> str:
    style = f"color: {theme().hex('accent-text')}; text-decoration: none"
    return f'<a href="{html.escape(target)}" style="{style}">{html.escape(words)}</a>'


def ledger_html(
    items: Sequence[LedgerItem],
    *,
    edits: Mapping[str, str],
    dropped: frozenset[str],
    known: Callable[[str], bool],
    live: bool,
    forbids: Callable[[LedgerItem], bool] = lambda _: False,
    marked: frozenset[str] = frozenset(),
) -> str:
    """Items by kind. Links: ``ref:`` where it came from, ``edit:``, ``drop:``, ``back:`` and
    ``rule:`` with an item's id. ``known`` tells which sources the chat can show, ``forbids`` what
    could be a deny rule too; ``marked`` are set off."""
    out: list[str] = []
    gap = theme().px(10)
    for kind in KINDS:
        found = [i for i in items if i.kind == kind][:SHOWN]
        if not found:
            continue
        heading = _style("text", "strong", f"font-weight: 600; margin: {gap}px 0 2px 0")
        out.append(_p(html.escape(kind_words(kind)), heading))
        for item in found:
            rule = live and forbids(item)
            made = _item_html(item, edits, dropped, known, live, rule)
            if item.id in marked:
                ground = theme().hex("selection")
                name = html.escape(item.id)
                made = f'<a name="{name}"></a><div style="background-color: {ground}">{made}</div>'
            out.append(made)
    return "".join(out) or _p(html.escape(tr("Nothing is carried on yet")), _style("muted"))


def _item_html(
    item: LedgerItem,
    edits: Mapping[str, str],
    dropped: frozenset[str],
    known: Callable[[str], bool],
    live: bool,
    rule: bool,
) -> str:
    out = item.id in dropped
    text = edits.get(item.id, item.text)
    struck = "text-decoration: line-through; " if out or item.status != "open" else ""
    small = theme().px(4)
    own = item.origin in ("user", "human_edit") or item.id in edits
    if not own:
        text = tool_words.named(text)
    shown = html.escape if own else inline_html  # a person's words keep their signs
    words = "<br>".join(shown(line) for line in visible(text)[0].split("\n"))
    body = _p(words, _style("muted" if struck else "text", "body", f"{struck}margin: 0"))
    notes = [item_state(item), tr("left out") if out else ""]
    if item.id in edits and item.origin != "human_edit":
        notes.append(tr("edited by you"))
    links = [_link(f"ref:{e.ref}", tr("Show in chat")) for e in item.evidence[:1] if known(e.ref)]
    if live and item.status == "open":
        links.append(_link(f"edit:{item.id}", tr("Edit")))
        target, words = ("back", tr("Take it in again")) if out else ("drop", tr("Leave out"))
        links.append(_link(f"{target}:{item.id}", words))
    if rule:
        links.append(_link(f"rule:{item.id}", tr("Make it a rule…")))
    line = " · ".join([*(html.escape(n) for n in notes if n), *links])
    return body + _p(line, _style("faint", "caption", f"margin: 0 0 {small}px 0"))


def rejected_html(rejected: Sequence[tuple[str, str]]) -> str:
    """What was not accepted, each with the rule that it broke."""
    if not rejected:
        return _p(html.escape(tr("Everything was accepted")), _style("muted"))
    out: list[str] = []
    for text, rule in rejected[:SHOWN]:
        out.append(_p(safe(rejected_name(text)), _style("text", "body", "margin: 0")))
        why = html.escape(rejected_words(rule))
        out.append(_p(why, _style("faint", "caption", f"margin: 0 0 {theme().px(6)}px 0")))
    return "".join(out)


def difference_lines(before: str, after: str) -> list[str]:
    """What is added and what is gone, as ``difflib.unified_diff`` tells it, with three lines around
    each; empty when nothing is. It may take a second: for a thread."""
    old, new = before.splitlines()[:LINES], after.splitlines()[:LINES]
    return list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]  # without file names


def difference_html(lines: Sequence[str]) -> str:
    """``difference_lines`` for the eye, long ones by their beginning."""
    if not lines:
        return _p(html.escape(tr("No difference")), _style("muted"))
    out: list[str] = []
    for line in lines[:DIFFERENCE]:
        if line.startswith("@@"):
            out.append(_p("⋯", _style("faint", "caption", "margin: 4px 0")))
            continue
        token = {"+": "added", "-": "removed"}.get(line[0])
        ground = f"background-color: {theme().hex(token)}; " if token else ""
        sign = {"+": "+", "-": "−"}.get(line[0], "&nbsp;")
        style = _style("text" if token else "muted", "mono-small", f"{ground}margin: 0")
        out.append(_p(f"{sign}&nbsp;{safe(line[1:]) or '&nbsp;'}", style))
    if len(lines) > DIFFERENCE:
        left = len(lines) - DIFFERENCE
        more = trn("{n} more", "{n} more", left)
        out.append(_p(html.escape(more), _style("faint")))
    return "".join(out)


def messages_html(parts: Sequence[tuple[str, str, str]]) -> str:
    """Texts of messages and results, each under its heading, long ones by their beginning."""
    if not parts:
        return _p(html.escape(tr("Nothing left the context")), _style("muted"))
    out: list[str] = []
    for heading, text, ref in parts[:SHOWN]:
        link = _link(f"ref:{ref}", tr("Show in chat"))
        head = f"{html.escape(heading)} · {link}"
        out.append(_p(head, _style("muted", "small", f"margin: {theme().px(8)}px 0 2px 0")))
        shown = text if len(text) <= LONG else f"{text[:LONG]}…"
        out.append(_p(safe(shown), _style("text", "body", "margin: 0")))
    if len(parts) > SHOWN:
        left = len(parts) - SHOWN
        more = trn("{n} more", "{n} more", left)
        out.append(_p(html.escape(more), _style("faint")))
    return "".join(out)


class Reading(Live, QTextBrowser):
    """A page of rich text on the dialog's ground. ``followed(kind, id)`` when a link was followed,
    by mouse or with Tab and Enter."""

    followed = QtSignal(str, str)

    def __init__(self, name: Text, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._make: Callable[[], str] = str
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setProperty("bare", True)
        self.anchorClicked.connect(self._follow)
        self.setAccessibleName(say(name))
        self.restyle()

    def show_page(self, make: Callable[[], str]) -> None:
        """``make`` gives the page; again when the language or the theme changes."""
        self._make = make
        bar = self.verticalScrollBar()
        at = bar.value()
        self.setHtml(make())
        bar.setValue(at)

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._name))
        self.show_page(self._make)

    def restyle(self) -> None:
        super().restyle()
        self.document().setDocumentMargin(theme().px(12))
        self.show_page(self._make)

    def _follow(self, url: QUrl) -> None:
        kind, _, rest = url.toString(QUrl.ComponentFormattingOption.FullyDecoded).partition(":")
        if rest:
            self.followed.emit(kind, rest)


class Difference(Reading):
    """What changed between two texts; worked out beside the window when it is looked at."""

    def __init__(self, name: Text, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._texts: tuple[str, str] | None = None
        self._tasks = Tasks(lambda name, error: log.error("%s failed", name, exc_info=error))

    def compare(self, before: str, after: str) -> None:
        """Show the difference of other texts."""
        self._texts = before, after
        self.show_page(lambda: _p(html.escape(tr("Comparing…")), _style("muted")))
        if self.isVisible():
            self._start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tasks.cancel("compare")

    def _start(self) -> None:
        if self._texts is not None:
            self._tasks.replace(self._compare(*self._texts), name="compare")

    async def _compare(self, before: str, after: str) -> None:
        lines = await asyncio.to_thread(difference_lines, before, after)
        self._texts = None
        self.show_page(lambda: difference_html(lines))
