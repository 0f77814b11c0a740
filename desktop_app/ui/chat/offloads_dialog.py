"""What a session offloaded: a list, what each entry holds, and where it is kept.

Shown out of the session's own journal, so that a store of somebody else's, a container that is gone
or a delivery that still waits makes no difference to what can be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QPixmap, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QListView,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.agent.offloads import Offload
from desktop_app.core.ids import now_us
from desktop_app.core.messages import Msg
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button, IconButton
from desktop_app.ui.widgets.card import EmptyState
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.fields import SearchField
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.rows import Role, RowList
from desktop_app.ui.widgets.texts import MonoText

from . import figures, tool_words
from .compaction.detail import parts_of
from .foreign import ForeignBox, visible
from .offload_dialog import cut_lines

PAGE = 256 << 10  # characters that are laid out at once
IdRole = Qt.ItemDataRole.UserRole + 1
_ICONS = {"messages": "messages-square", "tool_result": "file-text", "data": "image"}


def kept_title(kept: Offload) -> str:
    """What it is, in words."""
    if kept.kind == "messages":
        return trn("{n} message", "{n} messages", kept.items)
    if kept.kind == "tool_result" and kept.label:
        return tr("Result of {tool}", tool=tool_words.title(kept.label))
    return kept.name.rpartition("/")[2]


def place_words(kept: Offload) -> str:
    """Where it is kept."""
    if not kept.place:
        if kept.why is None:
            return tr("On its way; the session keeps it until it has arrived")
        reason = describe(*kept.why)
        return tr("Not there yet: {why}", why=reason.reason or reason.title)
    if kept.store:
        return tr("In {store}: {place}", store=kept.store, place=kept.place)
    return tr("In the workspace: {place}", place=kept.place)


def readable(kept: Offload, data: bytes) -> str:
    """``data`` as somebody reads it: messages under who said them, else the text itself."""
    text = data.decode("utf-8", "replace")
    if kept.kind != "messages":
        return text
    parts: list[str] = []
    for line in filter(None, text.split("\n")):
        try:
            said = parts_of(Msg.model_validate_json(line))
        except ValueError:
            parts.append(line)
        else:
            parts += [f"▸ {who}\n{words}" for who, words, _ in said]
    return "\n\n".join(parts)


class OffloadsDialog(Dialog):
    """``offloads`` newest first; the one named ``name`` is chosen, or the first. ``chosen(id)``:
    the content of that one is wanted; ``show_content`` follows."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None, offloads: Sequence[Offload], name: str) -> None:
        super().__init__(parent, lambda: tr("Offloads of this session"), width=860)
        self._all = list(offloads)
        self._text = ""
        self.at = 0
        self.kept: Offload | None = None
        self.search = SearchField(lambda: tr("Find an offload"))
        self.search.searched.connect(self._fill)
        self.model = QStandardItemModel(self)
        self.list = self._make_list()
        self.title, self.place = Label("", role="strong"), ElidedLabel("", tone="muted")
        self.copy = IconButton("copy", lambda: tr("Copy where it is"), small=True)
        self.copy.clicked.connect(
            lambda: self.kept and QApplication.clipboard().setText(self.kept.place)
        )
        self.text, self.image, self.pages = MonoText(margin=10), QLabel(), QStackedWidget()
        self.where = Label("", role="caption", tone="faint")
        self.back = Button(lambda: tr("Back"), glyph="chevron-left")
        self.more = Button(lambda: tr("Further"), glyph="chevron-right")
        self.empty = EmptyState(
            "archive",
            lambda: tr("Nothing was offloaded"),
            lambda: tr(
                "What a compaction takes out of the context and long results are listed here, "
                "with where they are kept."
            ),
        )
        self._build()
        self.restyle()
        self.retranslate()
        self._fill("")
        names = [kept.name for kept in self._all]
        self.choose(self._all[names.index(name)].id if name in names else "")

    def restyle(self) -> None:
        super().restyle()
        if hasattr(self, "empty"):
            self.list.setFixedWidth(min(theme().px(280), self.room().width() // 3))

    def retranslate(self) -> None:
        super().retranslate()
        if hasattr(self, "empty"):
            self.text.setAccessibleName(tr("What was offloaded"))
            self.list.setAccessibleName(tr("Offloads of this session"))

    def _make_list(self) -> QListView:
        view = RowList(self.model)
        view.selectionModel().currentChanged.connect(self._current)
        self.search.leaving.connect(view.setFocus)
        return view

    def _build(self) -> None:
        px = theme().px
        self.text.setReadOnly(True)
        self.text.setProperty("bare", True)
        self.image.setAlignment(Qt.AlignmentFlag.AlignCenter)
        frame = ForeignBox(self.text)
        frame.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.pages.addWidget(frame)
        self.pages.addWidget(self.image)
        self.pages.setMinimumSize(QSize(px(320), px(360)).boundedTo(self.room() * 0.5))
        left = QVBoxLayout()
        follow(left, setSpacing=6)
        left.addWidget(self.search)
        left.addWidget(self.list, 1)
        head = QHBoxLayout()
        head.addWidget(self.place, 1)
        head.addWidget(self.copy)
        right = QVBoxLayout()
        follow(right, setSpacing=4)
        right.addWidget(self.title)
        right.addLayout(head)
        right.addWidget(self.pages, 1)
        right.addWidget(self.where)
        self.both = QWidget()
        row = QHBoxLayout(self.both)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=16)
        row.addLayout(left)
        row.addLayout(right, 1)
        self.body.addWidget(self.both, 1)
        self.body.addWidget(self.empty, 1)
        self.both.setVisible(bool(self._all))
        self.empty.setVisible(not self._all)
        for button, by in ((self.more, PAGE), (self.back, -PAGE)):
            button.clicked.connect(lambda _=False, by=by: self._show_page(self.at + by))
            button.setEnabled(False)
            button.setVisible(bool(self._all))
            self.aside(button)
        close = Button(lambda: tr("Close"), variant="primary")
        self.add_button(close, run=self.accept, default=True)

    def _fill(self, wanted: str) -> None:
        """Those whose name, tool or place holds ``wanted``."""
        wanted = wanted.casefold().strip()
        self.model.clear()
        for kept in self._all:
            title = kept_title(kept)
            if wanted not in f"{title}\n{kept.name}\n{place_words(kept)}".casefold():
                continue
            item = QStandardItem(title)
            item.setData(_ICONS[kept.kind] if kept.place else "clock", Role.ICON)
            name = kept.name.rpartition("/")[2]
            item.setData(f"{figures.size(kept.bytes)} · {name}", Role.DETAIL)
            item.setData(figures.when(kept.ts_us, now_us()), Role.TIME)
            item.setData(place_words(kept), Qt.ItemDataRole.ToolTipRole)
            item.setData(kept.id, IdRole)
            self.model.appendRow(item)
        self.search.set_count(str(self.model.rowCount()) if wanted else "")

    def choose(self, offload_id: str) -> None:
        """Show one of the list; the first when there is none of that id."""
        ids = [self.model.index(i, 0).data(IdRole) for i in range(self.model.rowCount())]
        if ids:
            row = ids.index(offload_id) if offload_id in ids else 0
            self.list.setCurrentIndex(self.model.index(row, 0))

    def _current(self, index: QModelIndex, _old: QModelIndex | None = None) -> None:
        name = index.data(IdRole) if index.isValid() else None
        kept = next((k for k in self._all if k.id == name), None)
        if kept is not None:
            self.kept = kept
            self.title.set_source(kept_title(kept))
            self.place.set_source(visible(place_words(kept))[0])
            self.copy.setEnabled(bool(kept.place))
            self.chosen.emit(kept.id)

    # -- content ------------------------------------------------------------------------------

    def show_content(self, text: str, image: QPixmap | None = None) -> None:
        """What the chosen one holds: an image, or text that is laid out page by page."""
        self.pages.setCurrentIndex(int(image is not None))
        self._text = text
        if image is not None:
            room = self.pages.size()
            keep = Qt.AspectRatioMode.KeepAspectRatio
            smooth = Qt.TransformationMode.SmoothTransformation
            large = image.width() > room.width() or image.height() > room.height()
            self.image.setPixmap(image.scaled(room, keep, smooth) if large else image)
            kept = self.kept
            self.where.set_source(figures.size(kept.bytes) if kept is not None else "")
            self.where.show()
            self.back.setEnabled(False)
            self.more.setEnabled(False)
        else:
            self._show_page(0)

    def show_error(self, code: str, params: dict[str, object]) -> None:
        """Why it cannot be read."""
        words = describe(code, params)
        self.show_content("\n".join(p for p in (words.title, words.reason, words.fix) if p))

    def _show_page(self, at: int) -> None:
        self.at = at = max(0, min(at, max(0, len(self._text) - 1)))
        page = self._text[at : at + PAGE]
        self.text.setPlainText(cut_lines(visible(page.replace("\t", "    "))[0]))
        end = at + len(page)
        self.back.setEnabled(at > 0)
        self.more.setEnabled(end < len(self._text))
        long = len(self._text) > PAGE
        self.where.setVisible(long)
        self.where.set_source(
            tr(
                "{first}–{last} of {total}",
                first=figures.count(at + 1),
                last=figures.count(end),
                total=tr("{n} characters", n=figures.count(len(self._text))),
            )
            if long
            else ""
        )
