"""The transcripts of the sessions that were shown last, each with its scroll position."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from desktop_app.ui.transcript.view import TranscriptView

from .page_show import rows_of
from .view_model import ChatViewModel

if TYPE_CHECKING:
    from .page import ChatPage

KEPT = 4  # transcripts that wait while another is shown


class PageViews:
    """Makes, wires and drops the page's transcript views."""

    def __init__(self, page: ChatPage) -> None:
        self._page = page
        self._views: OrderedDict[ChatViewModel, TranscriptView] = OrderedDict()

    def of(self, vm: ChatViewModel) -> TranscriptView:
        """The view of a session; the one that was not shown for longest goes when there are too
        many."""
        view = self._views.get(vm)
        if view is None:
            view = self._views[vm] = self._make(vm)
        self._views.move_to_end(vm)
        while len(self._views) > KEPT:
            self._page.drop(next(iter(self._views)))
        return view

    def _make(self, vm: ChatViewModel) -> TranscriptView:
        page = self._page
        view = TranscriptView(rows_of(vm))
        view.actionTriggered.connect(page.row_action)
        view.linkActivated.connect(page.work.open_link)
        view.rowExpanded.connect(vm.set_expanded)
        view.needOlder.connect(vm.load_older)
        view.findChanged.connect(
            lambda current, count, done: page.find_bar.set_count(current, count, done=done)
        )
        view.installEventFilter(page)
        page.stack.addWidget(view)
        return view

    def drop(self, vm: ChatViewModel) -> None:
        """Forget the view of a session."""
        view = self._views.pop(vm, None)
        if view is not None:
            self._page.stack.removeWidget(view)
            view.hide()
            view.deleteLater()
