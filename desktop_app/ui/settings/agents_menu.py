"""Whose new sessions begin with a model: everybody's, or an agent's."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from desktop_app.core.agents import AgentEntry
from desktop_app.ui.i18n import tr


class AgentsMenu(QMenu):
    """``everybody``: the model is for all who have none of their own. ``agent(id, model)``: it is
    an agent's, or (empty) not any more."""

    everybody = Signal()
    agent = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)

    def show_for(self, model: str, default: str, agents: list[AgentEntry]) -> None:
        """What can be chosen for a model; ``default`` is the one for all."""
        self.clear()
        every = self.addAction(tr("Agents without a model of their own"), self.everybody.emit)
        every.setCheckable(True)
        every.setChecked(model == default)
        every.setEnabled(model != default)
        self.addSeparator()
        for one in agents:
            action = self.addAction(one.name.replace("&", "&&"))
            mine = one.model == model
            action.setCheckable(True)
            action.setChecked(mine)
            wanted = "" if mine else model
            action.triggered.connect(lambda _=False, a=one.id, m=wanted: self.agent.emit(a, m))
