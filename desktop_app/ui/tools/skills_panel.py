"""The skills of a workspace: those an agent gets, those it does not, and why."""

from __future__ import annotations

from PySide6.QtGui import QStandardItem
from PySide6.QtWidgets import QWidget

from desktop_app.ui.errors import describe
from desktop_app.ui.files.visible import visible
from desktop_app.ui.i18n import sentences, tr
from desktop_app.ui.widgets import figures
from desktop_app.ui.widgets.rows import Role

from .entries import SkillEntry, first_sentence
from .entry_list import EntryList


class SkillsPanel(EntryList[SkillEntry]):
    """``switched(folder, on)``; ``addWanted`` where ``adds``."""

    def __init__(
        self, parent: QWidget | None = None, *, wide: bool = False, adds: bool = False
    ) -> None:
        super().__init__(
            "book-open",
            lambda: tr("Skills"),
            lambda: tr("No skills"),
            lambda: tr("Skills are folders with a SKILL.md in the workspace's skills folder."),
            lambda: tr("This agent uses it"),
            parent,
            wide=wide,
            add=(lambda: tr("Add a skill…")) if adds else "",
        )

    def show_skills(self, skills: list[SkillEntry]) -> None:
        self.show_entries(skills)

    def key(self, entry: SkillEntry) -> str:
        return entry.folder

    def item(self, entry: SkillEntry) -> QStandardItem:
        item = QStandardItem(visible(entry.name)[0])
        item.setData(True, Role.STRONG)
        if entry.problem is not None:
            words = describe(*entry.problem)
            item.setData("triangle-alert", Role.ICON)
            item.setData("warning", Role.ICON_TOKEN)
            item.setData(words.reason or words.title, Role.DETAIL)
            item.setData(tr("not loaded"), Role.TIME)
            item.setToolTip("\n".join(w for w in (words.title, words.reason, words.fix) if w))
            return item
        item.setData("book-open", Role.ICON)
        item.setData(first_sentence(visible(entry.description)[0]), Role.DETAIL)
        item.setData(figures.tokens(entry.tokens) if entry.enabled else tr("off"), Role.TIME)
        item.setToolTip(visible(entry.description)[0])
        return item

    def describe(self, entry: SkillEntry) -> None:
        self.name.set_source(visible(entry.name)[0])
        self.text.set_source(visible(entry.description)[0])
        lines: list[str] = []
        problems = [entry.problem] if entry.problem is not None else []
        for code, params in (*problems, *((c, {"name": entry.name}) for c in entry.warnings)):
            words = describe(code, params)
            lines.append(sentences(words.reason or words.title, words.fix))
        self.notes.set_source("\n".join(lines))
        self.switch.setVisible(entry.problem is None)
        self.switch.setChecked(entry.enabled)
