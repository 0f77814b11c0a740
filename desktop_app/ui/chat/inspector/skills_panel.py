"""The skills of the workspace: those this agent gets, those it does not, and why."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QVBoxLayout, QWidget

from desktop_app.ui.chat import figures
from desktop_app.ui.chat.foreign import visible
from desktop_app.ui.chat.sources import SkillEntry, first_sentence
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.card import EmptyState, Line
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.rows import Role, RowDelegate
from desktop_app.ui.widgets.toggles import Switch

_DIR = Qt.ItemDataRole.UserRole + 400


def skill_list(view: QListView) -> QListView:
    """A list of two-line rows on the inspector's ground."""
    view.setItemDelegate(RowDelegate(view, two_line=True))
    view.setProperty("ground", "bg")
    view.viewport().setProperty("ground", "bg")
    view.setMouseTracking(True)
    view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return view


class SkillsPanel(Live, QWidget):
    """A list, and below it the chosen skill with its switch. ``switched(folder, on)``."""

    switched = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._skills: list[SkillEntry] = []
        self.model = QStandardItemModel(self)
        self.view = skill_list(QListView())
        self.view.setModel(self.model)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self.empty = EmptyState("book-open", lambda: tr("No skills"), self._why_empty)
        self.switch = Switch(lambda: tr("This agent uses it"))
        self.name = Label("", role="semibold", wrap=True, select=True)
        self.text = Label("", role="small", wrap=True, select=True)
        self.notes = Label("", role="small", tone="warning", wrap=True, select=True)
        self.detail = QWidget()
        px = theme().px
        inner = QVBoxLayout(self.detail)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(Line())
        body = QVBoxLayout()
        body.setContentsMargins(px(16), px(10), px(14), px(12))
        body.setSpacing(px(6))
        for widget in (self.name, self.text, self.notes, self.switch):
            body.addWidget(widget)
        inner.addLayout(body)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.view, 1)
        column.addWidget(self.empty, 1)
        column.addWidget(self.detail)
        self.switch.clicked.connect(self._switch)
        self.retranslate()

    def _why_empty(self) -> str:
        return tr("Skills are folders with a SKILL.md in the workspace's skills folder.")

    def show_skills(self, skills: list[SkillEntry]) -> None:
        self._skills = skills
        self.retranslate()

    def retranslate(self) -> None:
        self.view.setAccessibleName(tr("Skills"))
        chosen = self._current()
        self.model.clear()
        self.view.setVisible(bool(self._skills))
        self.empty.setVisible(not self._skills)
        for place, skill in enumerate(self._skills):
            self.model.appendRow(self._item(skill))
            if chosen is not None and skill.folder == chosen.folder:
                self.view.setCurrentIndex(self.model.index(place, 0))
        self._chosen(self.view.currentIndex())

    def _item(self, skill: SkillEntry) -> QStandardItem:
        item = QStandardItem(visible(skill.name)[0])
        item.setData(True, Role.STRONG)
        item.setData(skill.folder, _DIR)
        if skill.problem is not None:
            words = describe(*skill.problem)
            item.setData("triangle-alert", Role.ICON)
            item.setData("warning", Role.ICON_TOKEN)
            item.setData(words.reason or words.title, Role.DETAIL)
            item.setData(tr("not loaded"), Role.TIME)
            item.setToolTip("\n".join(w for w in (words.title, words.reason, words.fix) if w))
            return item
        item.setData("book-open", Role.ICON)
        item.setData(first_sentence(visible(skill.description)[0]), Role.DETAIL)
        item.setData(figures.tokens(skill.tokens) if skill.enabled else tr("off"), Role.TIME)
        item.setToolTip(visible(skill.description)[0])
        return item

    def _current(self) -> SkillEntry | None:
        row = self.view.currentIndex().row()
        return self._skills[row] if 0 <= row < len(self._skills) else None

    def _chosen(self, index: QModelIndex, _before: QModelIndex | None = None) -> None:
        row = index.row()
        skill = self._skills[row] if 0 <= row < len(self._skills) else None
        self.detail.setVisible(skill is not None)
        if skill is None:
            return
        self.name.set_source(visible(skill.name)[0])
        self.text.set_source(visible(skill.description)[0])
        lines: list[str] = []
        problems = [skill.problem] if skill.problem is not None else []
        for code, params in (*problems, *((c, {"name": skill.name}) for c in skill.warnings)):
            words = describe(code, params)
            lines.append(" ".join(w for w in (words.reason or words.title, words.fix) if w))
        self.notes.set_source("\n".join(lines))
        self.notes.setVisible(bool(lines))
        self.text.setVisible(bool(skill.description))
        self.switch.setVisible(skill.problem is None)
        self.switch.setChecked(skill.enabled)

    def _switch(self, on: bool) -> None:
        if (skill := self._current()) is not None:
            self.switched.emit(skill.folder, on)
