"""The X-ray of the context: a treemap of who uses the window, and what can be done about each.

At first the things of all categories; a group or "smaller ones" opens by Enter or a double click,
Backspace goes back. The chosen tile has a card with its figures and its actions; the same actions
are in its context menu.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.context.types import Breakdown
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import Live, follow, say
from desktop_app.ui.widgets.buttons import Button, IconButton
from desktop_app.ui.widgets.card import Card
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.menu import context_menu
from desktop_app.ui.widgets.tiles import Tile
from desktop_app.ui.widgets.toggles import SegmentedControl
from desktop_app.ui.widgets.treemap import Treemap

from .context_parts import Swatch
from .xray_acts import TileAct, XrayActs
from .xray_nodes import Node, tiles, tree
from .xray_words import node_detail, node_figure, node_name, node_words


class Xray(Live, QWidget):
    """Shows a ``Breakdown``; ``acts`` tells what a person asks for. ``modesWanted``: set what
    compaction does by itself."""

    modesWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._breakdown: Breakdown | None = None
        self._root: Node | None = None
        self._path: tuple[str, ...] = ()
        self._trail: list[tuple[str, ...]] = []  # the levels that led here
        self._nodes: dict[tuple[str, str], Node] = {}
        self.acts = XrayActs(self)
        self.extent = SegmentedControl(lambda: tr("What the map shows"))
        self.extent.set_choices(
            [("used", lambda: tr("Used")), ("whole", lambda: tr("Whole window"))]
        )
        self.extent.changed.connect(lambda _: self._fill())
        self.back = IconButton("arrow-left", lambda: tr("Back to the whole map"), small=True)
        self.back.clicked.connect(self.leave)
        self.modes = IconButton(
            "sliders-horizontal", lambda: tr("What compaction does by itself…"), small=True
        )
        self.modes.clicked.connect(self.modesWanted)
        self.place = ElidedLabel("", role="small-semibold", tone="muted")
        self.map = Treemap(self._words, self._figure, self._name)
        self.map.chosen.connect(self._chosen)
        self.map.opened.connect(self._opened)
        self.map.left.connect(self.leave)
        self.map.menuWanted.connect(self._menu)
        self.card = Card()
        self.swatch = Swatch()
        self.name = ElidedLabel("", role="strong", mode=Qt.TextElideMode.ElideMiddle)
        self.detail = Label("", role="caption", tone="muted", wrap=True)
        self.buttons: list[Button] = []
        self._buttons = QHBoxLayout()
        self._lay_out()
        self._show_place()
        self.card.hide()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        follow(head, setSpacing=6)
        head.addWidget(self.extent)
        head.addWidget(self.back)
        head.addWidget(self.place, 100)
        head.addStretch(1)
        head.addWidget(self.modes)
        name = QHBoxLayout()
        follow(name, setSpacing=8)
        name.addWidget(self.swatch)
        name.addWidget(self.name, 1)
        follow(self.card.body, setSpacing=4)
        self.card.body.addLayout(name)
        self.card.body.addWidget(self.detail)
        follow(self._buttons, setContentsMargins=(0, 4, 0, 0), setSpacing=6)
        self.card.body.addLayout(self._buttons)
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        column.addLayout(head)
        column.addWidget(self.map)
        column.addWidget(self.card)

    # -- what is shown ------------------------------------------------------------------------

    def bind(self, vm: ChatViewModel | None, sources: ChatSources) -> None:
        """Another session, or none."""
        self.acts.bind(vm, sources)
        self._breakdown = self._root = None
        self._path, self._trail = (), []
        self.map.clear()
        self.map.reset_order()

    def set_breakdown(self, breakdown: Breakdown) -> None:
        """Show it; what is chosen and opened stays so while it is there."""
        self._breakdown, self._root = breakdown, tree(breakdown)
        if self._path and self._root.find(self._path) is None:
            self._path, self._trail = (), []
        self._fill()

    def _fill(self) -> None:
        if self._breakdown is None or self._root is None:
            return
        level = self._root.find(self._path) or self._root
        whole = self.extent.value() == "whole"
        found = tiles(level, self._breakdown, whole=whole)
        self._nodes = {(n.category, n.key): n for n in level.walk()}
        for tile in found:
            self._nodes.setdefault(
                (tile.group, tile.key), Node(tile.key, tile.group, int(tile.weight), 0)
            )
        self.map.set_tiles(found)
        self._show_place()
        if (tile := self.map.current()) is not None:
            self._chosen(tile)

    def _show_place(self) -> None:
        inside = bool(self._path)
        self.back.setVisible(inside)
        self.place.setVisible(inside)
        self.extent.setVisible(not inside)
        node = self._root.find(self._path) if self._root is not None and inside else None
        self.place.set_source(node_name(node) if node is not None else "")
        self.map.setAccessibleName(
            tr("Context map: {place}", place=node_name(node)) if node else tr("Context map")
        )

    def node(self, tile: Tile) -> Node:
        """What a tile stands for. The map joins small ones by itself: those are no node yet."""
        found = self._nodes.get((tile.group, tile.key))
        if found is not None and found.tokens == tile.weight:
            return found
        return Node(tile.key, tile.group, int(tile.weight), int(tile.estimated), count=tile.count)

    def _words(self, tile: Tile) -> str:
        if self._breakdown is None:
            return ""
        return node_words(self.node(tile), self._breakdown.total, self._breakdown.limits.window)

    def _figure(self, tile: Tile) -> str:
        return node_figure(self.node(tile))

    def _name(self, tile: Tile) -> str:
        return node_name(self.node(tile))

    def retranslate(self) -> None:
        self.map.retranslate()
        self._fill()

    # -- choosing -----------------------------------------------------------------------------

    def _chosen(self, tile: Tile | None) -> None:
        self.card.setVisible(tile is not None)
        if tile is None or self._breakdown is None:
            return
        node = self.node(tile)
        self.swatch.set_category(node.category)
        self.name.set_source(node_name(node))
        window = self._breakdown.limits.window
        self.detail.set_source(node_detail(node, self._breakdown.total, window))
        self._show_acts(self._acts(node))

    def _acts(self, node: Node) -> list[TileAct]:
        made = self.acts.of(node)
        if self._target(node):
            look = TileAct("open", "zoom-in", lambda: tr("Look inside"), lambda: self.enter(node))
            made.append(look)
        return made

    def _show_acts(self, acts: list[TileAct]) -> None:
        if [b.property("act") for b in self.buttons] != [a.id for a in acts]:
            self._make_buttons(acts)
        for button, act in zip(self.buttons, acts, strict=True):
            button.set_source(act.text)  # the same act may read differently: pin, unpin
            button.setEnabled(not act.why)
            button.setToolTip(act.why)

    def _make_buttons(self, acts: list[TileAct]) -> None:
        while self._buttons.takeAt(0) is not None:
            pass
        for old in self.buttons:
            old.hide()
            old.deleteLater()
        self.buttons = []
        for place, act in enumerate(acts):
            variant = "normal" if place < 2 else "ghost"
            button = Button(
                act.text, small=True, glyph=act.glyph if not place else None, variant=variant
            )
            button.setProperty("act", act.id)
            button.clicked.connect(lambda _=False, place=place: self._run(place))
            self._buttons.addWidget(button)
            self.buttons.append(button)
        self._buttons.addStretch(1)

    def _run(self, place: int) -> None:
        if (tile := self.map.current()) is not None:
            acts = self._acts(self.node(tile))
            if place < len(acts) and not acts[place].why:
                acts[place].run()

    def _menu(self, tile: Tile, at: QPoint) -> None:
        acts = self._acts(self.node(tile))
        if not acts:
            return
        menu = context_menu(self.map)
        for act in acts:
            action = menu.addAction(say(act.text))
            action.setEnabled(not act.why)
            action.setToolTip(act.why)
            action.triggered.connect(act.run)
        menu.popup(at)

    # -- going in and out ---------------------------------------------------------------------

    def _target(self, node: Node) -> tuple[str, ...]:
        """The path that opening ``node`` leads to; empty when it is one thing."""
        if self._root is None:
            return ()
        here = self._root.find(self._path)
        if here is None:
            return ()
        if not self._path:
            category = self._root.find((node.category,))
            inner = category.find((node.key,)) if category is not None else None
            if inner is not None and inner.children:
                return (node.category, node.key)
            known = category is not None and len(category.children) > 1
            return (node.category,) if known and node.item is None else ()
        inner = here.find((node.key,))
        return (*self._path, node.key) if inner is not None and inner.children else ()

    def enter(self, node: Node) -> None:
        """Show what is inside."""
        if path := self._target(node):
            self._trail.append(self._path)
            self._go(path)

    def leave(self) -> None:
        """Back to the level above."""
        if self._trail:
            self._go(self._trail.pop())

    def _go(self, path: tuple[str, ...]) -> None:
        self._path = path
        self.map.clear()
        self.map.reset_order()
        self._fill()
        self.map.setFocus()

    def _opened(self, tile: Tile) -> None:
        node = self.node(tile)
        if self._target(node):
            self.enter(node)
            return
        show = next((a for a in self.acts.of(node) if a.id == "show" and not a.why), None)
        if show is not None:
            show.run()
