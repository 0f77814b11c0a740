"""The window's areas: which are shown, who gives way where room is short, how they were left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QByteArray, QObject, QSettings

from desktop_app.ui.theme import theme

if TYPE_CHECKING:
    from .machines.page import MachinesPage
    from .window import MainWindow

PANE, PANE_LEAST, INSPECTOR = 256, 200, 320  # widths


class SideAreas(QObject):
    """The list of workspaces on the left, the inspector on the right of ``window``. What the
    person wants to see of them is kept in ``geometry``."""

    def __init__(self, window: MainWindow, geometry: QSettings) -> None:
        super().__init__(window)
        self._w = window
        self._geometry = geometry
        self._asked = ""  # the one that was opened last though room was short
        self._scale = theme().scale

    def _wants(self, area: str) -> bool:
        return str(self._geometry.value(area, "true")) == "true"

    def _want(self, area: str, on: bool) -> None:
        self._geometry.setValue(area, "true" if on else "false")

    def set_inspector(self, on: bool) -> None:
        """Show it or not, also when the window is next opened."""
        self._want("inspector", on)
        self.fit("inspector" if on else "")
        self._w.commands.refresh()

    def toggle_inspector(self) -> None:
        self.set_inspector(not self._w.inspector.isVisible())

    def open(self, tab: str) -> None:
        self.set_inspector(True)
        self._w.inspector.show_tab(tab)

    def restore(self) -> None:
        """Part the window as it was last."""
        sizes: Any = self._geometry.value("split")
        if isinstance(sizes, QByteArray):
            self._w.split.restoreState(sizes)

    def save(self) -> None:
        self._geometry.setValue("split", self._w.split.saveState())
        if self._w.machines is not None:
            self._geometry.setValue("table", self._w.machines.arrangement())

    def arrange(self, table: MachinesPage) -> None:
        """Let the rows of the Workspaces page stand as they were left."""
        kept: Any = self._geometry.value("table")
        if isinstance(kept, list):
            table.arrange([str(one) for one in cast(list[Any], kept)])

    def toggle_pane(self) -> None:
        """The list of workspaces comes or goes."""
        on = not self._w.pane.isVisible()
        self._want("sidebar", on)
        self.fit("sidebar" if on else "")
        self._w.commands.refresh()

    def fit(self, asked: str | None = None) -> None:
        """Show the side areas that there is room for (tokens.md): with less than 620 for the chat
        the inspector goes, with less than 460 the list. What the person ``asked`` for stays; then
        the other goes."""
        if asked is not None:
            self._asked = asked
        w, px = self._w, theme().px
        chat = w.pages.currentWidget() is w.chat
        table = w.machines is not None and w.pages.currentWidget() is w.machines
        pane = self._wants("sidebar") and (chat or bool(w.workspaces.workspaces)) and not table
        inspector = chat and w.chat.vm is not None and self._wants("inspector")
        room = w.width() - px(48) - (px(PANE) if pane else 0)
        if inspector:
            if self._asked == "inspector":
                pane = pane and room - px(INSPECTOR) >= px(460)
            else:
                inspector = room - px(INSPECTOR) >= px(620)
        narrow = w.width() - px(48) - px(PANE_LEAST) < px(460)
        if pane and chat and not inspector and narrow and self._asked != "sidebar":
            pane = False
        w.pane.setVisible(pane)
        w.inspector.setVisible(inspector)
        if pane and not inspector:
            self._narrow_pane()

    def _narrow_pane(self) -> None:
        """The list gives way, down to its least width, before the chat gets too narrow."""
        w, px = self._w, theme().px
        sizes = w.split.sizes()
        short = px(460) - (w.width() - px(48) - sizes[0])
        if short > 0 and sizes[0] > px(PANE_LEAST):
            least = max(px(PANE_LEAST), sizes[0] - short)
            w.split.setSizes([least, sum(sizes) - least, 0])

    def rescale(self) -> None:
        """A new font size: the side areas keep their share of words."""
        w = self._w
        before, self._scale = self._scale, theme().scale
        if before and before != self._scale and w.isVisible():
            factor = self._scale / before
            sizes = w.split.sizes()
            sides = [round(n * factor) for n in (sizes[0], sizes[2])]
            w.split.setSizes([sides[0], max(0, sum(sizes) - sum(sides)), sides[1]])
            self.fit()
