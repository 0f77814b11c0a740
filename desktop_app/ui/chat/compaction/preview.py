"""The preview of a compaction: a proposal that a person reads, changes and accepts.

Nothing is changed until "Compact". A choice (keep, leave out, edit, focus) is shown at once; what
it means for the whole is known when it is proposed anew. That is done by itself where no model
takes part, else when the person asks for it: it costs a call.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize, QTimer
from PySide6.QtCore import Signal as QtSignal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.types import Choices, LedgerItem
from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.ui.chat.foreign import ForeignBox
from desktop_app.ui.chat.summary_text import summary_html
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr, trc
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import Line
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.progress import ProgressLine
from desktop_app.ui.widgets.toggles import TabBar

from .edit_item import ItemEdit
from .head import Head
from .preview_tree import PreviewTree
from .reading import Difference, Reading, ledger_html, rejected_html

log = logging.getLogger(__name__)
Propose = Callable[[Choices], Awaitable[Proposal]]
PAGES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("ledger", lambda: tr("Ledger")),
    ("summary", lambda: tr("Summary")),
    ("difference", lambda: tr("Difference")),
    ("rejected", lambda: tr("Rejected")),
)
_WAIT_MS = 250  # after a choice, before it is proposed anew


class PreviewDialog(Dialog):
    """``propose(choices)`` makes a proposal; ``known(ref)`` tells whether the chat can show a
    source, ``sourceWanted(ref)`` asks for it; ``forbids(item)`` whether an item of the ledger could
    be a deny rule too, which ``ruleWanted(item)`` asks for. ``accepted`` with ``proposal`` in
    hand."""

    sourceWanted = QtSignal(str)
    ruleWanted = QtSignal(object)

    def __init__(
        self,
        parent: QWidget | None,
        propose: Propose,
        known: Callable[[str], bool],
        ready: Proposal | None = None,
        forbids: Callable[[LedgerItem], bool] = lambda _: False,
    ) -> None:
        title = lambda: tr("Compaction preview")  # noqa: E731
        super().__init__(parent, title, width=980, around=(0, 0, 0, 0), gap=0)
        self._propose, self._known, self._forbids = propose, known, forbids
        self._tasks = Tasks(self._crashed)
        self._later = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self._later.timeout.connect(self.refresh)
        self.proposal: Proposal | None = None
        self.choices = ready.choices if ready is not None else Choices()
        self.head = Head()
        self.tree = PreviewTree()
        self.tree.known = known
        self.tabs = TabBar()
        names = dict(PAGES)
        self.ledger, self.summary = Reading(names["ledger"]), Reading(names["summary"])
        self.difference = Difference(names["difference"])
        self.refused = Reading(names["rejected"])
        self.pages = QStackedWidget()
        self._side = QWidget()
        self.focus = QPlainTextEdit()
        self.progress = ProgressLine()
        self.trouble = Label("", tone="danger", wrap=True)
        self.note = ElidedLabel(lambda: tr("Nothing is deleted. Undo is exact."), tone="muted")
        self.update_button = Button(lambda: tr("Update preview"), glyph="refresh-cw")
        self.plain = Button(lambda: tr("Without the model"))
        self.go = Button(lambda: trc("verb", "Compact"), variant="primary", glyph="fold-vertical")
        self._build()
        self._wire()
        self.resize(QSize(theme().px(1060), theme().px(700)).boundedTo(self.room()))
        if ready is not None:
            self.show_proposal(ready)
        else:
            self.refresh()

    # -- building -----------------------------------------------------------------------------

    def _build(self) -> None:
        self.body.addWidget(self.head)
        self.body.addWidget(Line())
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.tree, 1)
        row.addWidget(Line(vertical=True))
        side = self._side
        column = QVBoxLayout(side)
        follow(column, setContentsMargins=(0, 0, 0, 12), setSpacing=8)
        self.tabs.set_tabs(PAGES)
        column.addWidget(self.tabs)
        for page in (self.ledger, self.summary, self.difference, self.refused):
            self.pages.addWidget(page)
        column.addWidget(self.pages, 1)
        column.addLayout(self._focus_part())
        row.addWidget(side)
        self.body.addLayout(row, 1)
        under = QVBoxLayout()
        follow(under, setContentsMargins=(16, 4, 16, 6))
        under.addWidget(self.progress)
        under.addWidget(self.trouble)
        self.body.addLayout(under)
        self.trouble.hide()
        self.aside(self.note)
        self.later_button = self.add_button(Button(lambda: tr("Not now")), run=self.reject)
        self.add_button(self.update_button, run=self.refresh)
        self.add_button(self.plain, run=self.without_model)
        self.add_button(self.go, run=self.accept, default=True)
        self.update_button.hide()
        self.plain.hide()
        self.go.setEnabled(False)

    def _focus_part(self) -> QVBoxLayout:
        column = QVBoxLayout()
        follow(column, setContentsMargins=(12, 0, 12, 0), setSpacing=4)
        name = Label(lambda: tr("Focus for the summary (optional)"), role="small-semibold")
        follow(self.focus, setFixedHeight=56)
        self.focus.setProperty("bare", True)
        self.focus.setTabChangesFocus(True)
        self.focus.setPlainText(self.choices.focus)
        self.focus.setAccessibleName(tr("Focus for the summary (optional)"))
        name.setBuddy(self.focus)
        column.addWidget(name)
        column.addWidget(ForeignBox(self.focus))
        return column

    def _wire(self) -> None:
        self.tree.chosen.connect(self.choose)
        self.tree.sourceWanted.connect(self.sourceWanted)
        self.ledger.followed.connect(self._followed)
        self.tabs.changed.connect(self.show_tab)
        self.focus.textChanged.connect(self._focus_changed)
        self.progress.cancelled.connect(self._stop)
        self.finished.connect(self._ended)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The pages give way on a small screen: the table is what is decided in."""
        super().resizeEvent(event)
        self._side.setFixedWidth(min(theme().px(340), round(self.width() * 0.36)))

    def retranslate(self) -> None:
        super().retranslate()
        if hasattr(self, "focus"):
            self.focus.setAccessibleName(tr("Focus for the summary (optional)"))
            self._show_figures()

    # -- proposing ----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Have a proposal made with the choices so far."""
        self._later.stop()
        self.trouble.hide()
        self.update_button.hide()
        self.go.setEnabled(False)
        self.progress.begin(lambda: tr("Preparing the preview…"))
        self._tasks.replace(self._refresh(self.choices), name="propose")

    async def _refresh(self, choices: Choices) -> None:
        try:
            proposal = await self._propose(choices)
        except SlipwayError as error:
            self._failed(error.code, error.params)
            return
        self.progress.end()
        self.show_proposal(proposal)

    def _failed(self, code: str, params: dict[str, Any]) -> None:
        self.progress.end()
        words = describe(code, params)
        parts = (words.title, words.reason, words.fix)
        self.trouble.set_source("\n".join(p for p in parts if p))
        self.trouble.show()
        self.update_button.show()
        self.plain.setVisible(self.choices.notes)

    def without_model(self) -> None:
        """Have one proposed by rules alone: at once, and for nothing."""
        self.choices = replace(self.choices, notes=False)
        self.refresh()

    def show_proposal(self, proposal: Proposal) -> None:
        """Show what would be done; it was made with the choices as they are now."""
        self.proposal = proposal
        self.tree.rows.show_rows(proposal.rows, proposal.before)
        self.tree.rows.set_choices(self.choices)
        self._show_figures()
        self._show_pages()
        current = proposal.choices == self.choices
        self.go.setEnabled(current)
        self.update_button.setVisible(not current)
        self.plain.setVisible(proposal.record.summariser is not None)

    def _show_figures(self) -> None:
        if self.proposal is not None:
            self.head.show_proposal(self.proposal)

    def _show_pages(self) -> None:
        proposal = self.proposal
        if proposal is None:
            return
        self.ledger.show_page(self._ledger_page)
        self.summary.show_page(lambda: summary_html(proposal.record.summary))
        self.difference.compare(summary_of(proposal), proposal.record.summary)
        self.refused.show_page(lambda: rejected_html(proposal.rejected))
        n = len(proposal.rejected)
        self.tabs.set_count("rejected", str(n) if n else "")
        self.tabs.set_count("ledger", str(len(proposal.items)) if proposal.items else "")

    def _ledger_page(self) -> str:
        items = self.proposal.items if self.proposal is not None else ()
        return ledger_html(
            items,
            edits=self.choices.edits,
            dropped=self.choices.drop,
            known=self._known,
            live=True,
            forbids=self._forbids,
        )

    def show_ledger(self) -> None:
        """Draw the ledger again: what can be done about its items has changed."""
        self.ledger.show_page(self._ledger_page)

    def show_tab(self, tab: str) -> None:
        """ "ledger", "summary", "difference" or "rejected"."""
        self.tabs.set_value(tab)
        self.pages.setCurrentIndex([name for name, _ in PAGES].index(tab))

    # -- choosing -----------------------------------------------------------------------------

    def choose(self, ref: str, what: str) -> None:
        """Keep ("keep"), leave out ("drop") or take back ("") the row or item ``ref``."""
        keep, drop = self.choices.keep - {ref}, self.choices.drop - {ref}
        if what == "keep":
            keep |= {ref}
        elif what == "drop":
            drop |= {ref}
        self._chosen(replace(self.choices, keep=keep, drop=drop))

    def edit(self, item_id: str, text: str) -> None:
        """Give an item another text; an empty one takes the edit back."""
        edits = {k: v for k, v in self.choices.edits.items() if k != item_id}
        if text.strip():
            edits[item_id] = text
        self._chosen(replace(self.choices, edits=edits))

    def _focus_changed(self) -> None:
        text = self.focus.toPlainText().strip()
        if text != self.choices.focus:
            self._chosen(replace(self.choices, focus=text), wait=True)

    def _chosen(self, choices: Choices, *, wait: bool = False) -> None:
        self.choices = choices
        self.tree.rows.set_choices(choices)
        self.ledger.show_page(self._ledger_page)
        self.go.setEnabled(False)
        asked = self.proposal is not None and self.proposal.record.summariser is not None
        asks = asked and choices.notes
        if asks or wait:
            self.update_button.show()
        else:
            self._later.start()

    def _followed(self, kind: str, name: str) -> None:
        if kind == "ref":
            self.sourceWanted.emit(name)
        elif kind in ("drop", "back"):
            self.choose(name, "drop" if kind == "drop" else "")
        elif kind in ("edit", "rule") and self.proposal is not None:
            item = next((i for i in self.proposal.items if i.id == name), None)
            if item is not None and kind == "rule":
                self.ruleWanted.emit(item)
            elif item is not None:
                text = self.choices.edits.get(name, item.text)
                editor = ItemEdit(self, text, item.text)
                editor.accepted.connect(lambda: self.edit(name, editor.changed()))
                editor.open()

    # -- the end ------------------------------------------------------------------------------

    def _stop(self) -> None:
        self._tasks.cancel("propose")
        self.progress.end()
        self.update_button.show()

    def _ended(self, _code: int) -> None:
        self._later.stop()
        self._tasks.cancel("propose")

    def _crashed(self, name: str, error: BaseException) -> None:
        log.error("preview task %s failed", name, exc_info=error)
        detail = {"error": type(error).__name__, "detail": str(error)[:500]}
        self._failed("run.crashed", detail)

    async def close_tasks(self) -> None:
        await self._tasks.close()


def summary_of(proposal: Proposal) -> str:
    """What stood for the past before the proposal."""
    state = proposal.draft.state
    if isinstance(state.summary, str):
        return state.summary
    return "\n\n".join(getattr(b, "text", "") for b in state.summary)
