"""One compaction of the log: what was there before, what stands there now, what was carried on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize
from PySide6.QtCore import Signal as QtSignal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from desktop_app.core.agent.detail import CompactionDetail
from desktop_app.core.messages import Msg, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock
from desktop_app.ui.chat import figures, tool_words
from desktop_app.ui.chat.gauges import trigger_words
from desktop_app.ui.chat.summary_text import summary_html
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr, trc
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import Line
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.toggles import TabBar

from .preview_tree import PreviewTree
from .reading import Difference, Reading, ledger_html, messages_html, rejected_html
from .words import record_words

PAGES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("rows", lambda: tr("What happened")),
    ("before", lambda: trc("compaction", "Before")),
    ("after", lambda: tr("After")),
    ("difference", lambda: tr("Difference")),
    ("ledger", lambda: tr("Ledger")),
    ("rejected", lambda: tr("Rejected")),
)


class DetailDialog(Dialog):
    """``undoWanted``, ``againWanted`` (the newest only), ``sourceWanted(ref)``."""

    undoWanted = QtSignal()
    againWanted = QtSignal()
    sourceWanted = QtSignal(str)

    def __init__(
        self,
        parent: QWidget | None,
        detail: CompactionDetail,
        *,
        model: str,
        newest: bool,
        known: Callable[[str], bool],
    ) -> None:
        super().__init__(parent, lambda: tr("Compaction"), width=820, around=(0, 14, 0, 0), gap=4)
        self.detail, self._model, self._known = detail, model, known
        self._marked: frozenset[str] = frozenset()
        self.title = Label("", role="title")
        self.facts = ElidedLabel("", tone="muted")
        self.tabs = TabBar()
        self.tree = PreviewTree()
        self.tree.set_live(False)
        self.tree.known = known
        names = dict(PAGES)
        self.before, self.after = Reading(names["before"]), Reading(names["after"])
        self.difference = Difference(names["difference"])
        self.ledger, self.refused = Reading(names["ledger"]), Reading(names["rejected"])
        pages = [self.before, self.after, self.difference, self.ledger, self.refused]
        self.pages = QStackedWidget()
        self._build(pages, newest)
        self.resize(QSize(theme().px(860), theme().px(640)).boundedTo(self.room()))
        self._fill()
        self._head()

    def _build(self, pages: list[Reading], newest: bool) -> None:
        for label in (self.title, self.facts):
            row = QHBoxLayout()
            follow(row, setContentsMargins=(16, 0, 16, 0))
            row.addWidget(label, 1)
            self.body.addLayout(row)
        self.tabs.set_tabs(PAGES)
        self.tabs.changed.connect(self.show_tab)
        self.body.addWidget(self.tabs)
        self.pages.addWidget(self.tree)
        for page in pages:
            self.pages.addWidget(page)
            page.followed.connect(self._followed)
        self.body.addWidget(self.pages, 1)
        self.body.addWidget(Line())
        self.tree.sourceWanted.connect(self.sourceWanted)
        self.undo = Button(lambda: tr("Undo this compaction"), glyph="undo-2")
        self.again = Button(lambda: tr("Compact again with a focus…"), glyph="fold-vertical")
        for button, signal in ((self.undo, self.undoWanted), (self.again, self.againWanted)):
            button.clicked.connect(self.accept)
            button.clicked.connect(signal)
            button.setVisible(newest)
        self.aside(self.again)
        self.aside(self.undo)
        self.add_button(Button(lambda: tr("Close")), run=self.reject, default=True)

    def _head(self) -> None:
        record = self.detail.record
        if record.status == "failed":
            words = describe(record.code, record.params)
            self.title.set_source(words.title)
            self.facts.set_source(words.reason)
            self.tabs.hide()  # nothing was changed: there is nothing to look at
            self.pages.hide()
            return
        after = record.measured if record.measured is not None else record.after
        sizes = {"before": figures.tokens(record.before), "after": figures.tokens(after)}
        self.title.set_source(tr("{before} to {after} tokens", **sizes))
        sure = tr("measured") if record.measured is not None else tr("estimated")
        parts = [record_words(record, self._model), trigger_words(record.trigger), sure]
        if record.status == "undone":
            parts.append(tr("taken back"))
        self.facts.set_source(" · ".join(p for p in parts if p))

    def _fill(self) -> None:
        detail = self.detail
        self.tree.rows.show_plain(detail.rows)
        self.before.show_page(lambda: messages_html(before_parts(detail)))
        self.after.show_page(lambda: summary_html(detail.summary_after))
        self.difference.compare(detail.summary_before, detail.summary_after)
        self.ledger.show_page(self._ledger_page)
        self.refused.show_page(lambda: rejected_html(detail.record.rejected))
        n = len(detail.record.rejected)
        self.tabs.set_count("rejected", str(n) if n else "")
        self.tabs.set_count("ledger", str(len(detail.items)) if detail.items else "")
        if not detail.rows:
            self.show_tab("after")

    def retranslate(self) -> None:
        super().retranslate()
        if hasattr(self, "undo"):
            self._head()

    def show_tab(self, tab: str) -> None:
        """ "rows", "before", "after", "difference", "ledger" or "rejected"."""
        self.tabs.set_value(tab)
        self.pages.setCurrentIndex([name for name, _ in PAGES].index(tab))

    def mark(self, ids: Sequence[str]) -> None:
        """Set items of the ledger off, and show the first of them."""
        self._marked = frozenset(ids)
        self.ledger.show_page(self._ledger_page)
        self.show_tab("ledger")
        for item in ids[:1]:
            self.ledger.scrollToAnchor(item)

    def _ledger_page(self) -> str:
        return ledger_html(
            self.detail.items,
            edits={},
            dropped=frozenset(),
            known=self._known,
            live=False,
            marked=self._marked,
        )

    def _followed(self, kind: str, name: str) -> None:
        if kind == "ref":
            self.sourceWanted.emit(name)


def before_parts(detail: CompactionDetail) -> list[tuple[str, str, str]]:
    """What left or was replaced: heading, text, ref, in the order of the conversation."""
    parts = [part for msg in detail.left for part in parts_of(msg)]
    for masked in detail.masked:
        name = tool_words.title(masked.label) if masked.former else tr("Image")
        parts.append((f"{name} · {tr('Masked')}", masked.former or masked.label, masked.ref))
    return parts


def parts_of(msg: Msg) -> list[tuple[str, str, str]]:
    """A message as somebody reads it: heading, text and ref of each block with words."""
    who = tr("You") if msg.role == "user" else tr("Assistant")
    made: list[tuple[str, str, str]] = []
    for block in msg.content:
        ref = msg.id if msg.role == "user" else block.id
        match block:
            case TextBlock():
                made.append((who, block.text, ref))
            case ThinkingBlock():
                made.append((trc("category", "Thinking"), block.thinking, ref))
            case ToolCallBlock():
                made.append((tool_words.title(block.name), block.input, ref))
            case ToolResultBlock():
                made.append((tool_words.title(block.name), block.text(), ref))
            case _:
                made.append((who, str(getattr(block, "name", "") or ""), ref))
    return [part for part in made if part[1].strip()]
