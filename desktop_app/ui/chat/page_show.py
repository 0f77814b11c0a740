"""What the page shows of its view model: one method a part, and ``everything`` for all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from desktop_app.core.context.types import Breakdown
from desktop_app.ui.errors import action_label, describe
from desktop_app.ui.i18n import tr
from desktop_app.ui.transcript.model import TranscriptModel

from .gauges import usage_of

if TYPE_CHECKING:
    from .page import ChatPage
    from .view_model import ChatViewModel

# Ways out that the window knows.
WAYS = ("continue_here", "take_over", "open_anyway", "locate_folder", "retry")


def rows_of(vm: ChatViewModel) -> TranscriptModel:
    """The rows of a session, as the transcript's model."""
    assert isinstance(vm.rows, TranscriptModel)
    return vm.rows


class PageShow:
    """Reads the view model, writes to the page's widgets. Changes nothing else.

    ``way`` is the way out of what cannot be done here, an id of ``errors``, or empty.
    """

    def __init__(self, page: ChatPage) -> None:
        self._page = page
        self.way = ""
        self._offered = ""  # the approval for which the focus was moved last

    def everything(self) -> None:
        vm = self._page.vm
        self.title(vm.title if vm is not None else "")
        self.stack()
        self.disabled()
        self.activity()
        self.pending()
        self.requests()
        self.queue()
        self.context()
        self.offer()
        self._page.commands.show()
        self.mode()
        self.model()

    def title(self, title: str) -> None:
        page = self._page
        page.header.set_title(title, renamable=page.vm is not None and page.vm.writable)
        page.titleChanged.emit(title)

    def stack(self, *_: object) -> None:
        """The transcript, or what stands there while it has no row."""
        page, vm = self._page, self._page.vm
        blank = vm is None or rows_of(vm).rowCount() == 0
        page.stack.setCurrentWidget(page.empty if blank or page.view is None else page.view)
        page.align()

    def disabled(self) -> None:
        page, vm = self._page, self._page.vm
        words, self.way = "", ""
        if page.sources.missing is not None:
            words, self.way = _why(*page.sources.missing)
        elif vm is not None and vm.conversation is not None and not vm.writable:
            reason = vm.conversation.why_readonly
            words = tr("This session can only be read")
            if reason:
                words, self.way = _why(*reason)
        if self.way not in WAYS:
            self.way = ""
        page.composer.set_disabled(words, action_label(self.way) if self.way else "")

    def activity(self) -> None:
        page, vm = self._page, self._page.vm
        busy = vm is not None and vm.busy
        page.composer.set_busy(busy, stopping=vm is not None and vm.stopping)
        words = self._activity_words()
        waits = vm is not None and (vm.waiting.model or vm.waiting.preparing)
        page.activity.set_activity(words, vm.waiting.seconds if vm is not None and waits else 0.0)
        if vm is not None and vm.conversation is not None and vm.activity == "idle":
            self.disabled()  # a run may end because another window took the session over
        page.stateChanged.emit()

    def _activity_words(self) -> str:
        vm = self._page.vm
        if vm is None or vm.activity != "running":
            return ""
        if vm.stopping:
            return tr("Stopping…")
        if vm.requests:
            return tr("Waiting for you")
        if vm.compacting:
            return tr("Compacting…")
        if vm.waiting.model:
            model = self._page.sources.model_label(vm.waiting.model)
            return tr("Waiting for {model}", model=model)
        return tr("Getting ready…") if vm.waiting.preparing else ""

    def pending(self) -> None:
        page, vm = self._page, self._page.vm
        page.approval.show_approvals(list(vm.approvals) if vm is not None else [])
        asked = vm is not None and not vm.approvals and vm.activity == "parked"
        page.question.show_questions(list(vm.questions) if vm is not None and asked else [])
        self._offer_keys()

    def requests(self) -> None:
        """What servers ask; a new one takes the focus as an approval does."""
        page, vm = self._page, self._page.vm
        page.request.show_requests(list(vm.requests) if vm is not None else [])
        request = page.request.request
        if request is not None and request.id != self._offered:
            self._offered = request.id
            # Who answered the call's approval by a key is in the transcript.
            reading = page.view is not None and page.view.hasFocus()
            if (reading or page.composer.edit.hasFocus()) and page.composer.at_rest:
                page.request.take_focus(Qt.FocusReason.OtherFocusReason)
        self.activity()

    def _offer_keys(self) -> None:
        """A card that came up takes the focus, so that its keys work, unless a message is being
        written: its letters must not answer."""
        page = self._page
        asked = page.approval.approval or page.question.question
        card = page.approval if page.approval.approval is not None else page.question
        if asked is None or card.isHidden() or asked.op_id == self._offered:
            return
        self._offered = asked.op_id
        if page.composer.edit.hasFocus() and page.composer.at_rest:
            card.setFocus(Qt.FocusReason.OtherFocusReason)

    def queue(self) -> None:
        queued = self._page.vm.queued if self._page.vm is not None else None
        if queued is None:
            self._page.composer.set_queue("", 0)
        else:
            self._page.composer.set_queue(queued.text, len(queued.attachments))

    def context(self) -> None:
        vm = self._page.vm
        breakdown: Breakdown | None = vm.breakdown if vm is not None else None
        self._page.composer.set_usage(usage_of(breakdown))
        self._page.offer.set_breakdown(breakdown)
        self._page.offer.setVisible(vm is not None and vm.offered and _over(breakdown))

    def offer(self) -> None:
        vm = self._page.vm
        if vm is not None:
            self._page.offer.set_draft(vm.drafting, vm.drafted, vm.draft_why)
        self._page.offer.setVisible(vm is not None and vm.offered and _over(vm.breakdown))

    def mode(self) -> None:
        if self._page.vm is not None:
            self._page.composer.mode.set_mode(self._page.vm.mode)

    def model(self) -> None:
        vm, info = self._page.vm, self._page.sources.current_model()
        self._page.composer.show_model(info)
        self._page.composer.effort.show_effort(info, vm.effort if vm is not None else None)


def _over(breakdown: Breakdown | None) -> bool:
    """Whether the alert mark is passed: a measured figure may be below it where an estimate made
    ahead of the call was not."""
    if breakdown is None:
        return False
    return breakdown.upper >= breakdown.limits.mark(breakdown.limits.alert)


def _why(code: str, params: dict[str, object]) -> tuple[str, str]:
    """Why nothing can be sent, and the id of the way out."""
    words = describe(code, params)
    return words.reason or words.title, words.action
