"""One MCP server: its state, why it does not run, its tools, what it wrote."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.mcp.server import ServerView, ToolView
from desktop_app.core.mcp.tools import left_out
from desktop_app.ui.errors import action_label
from desktop_app.ui.files.visible import visible
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import figures
from desktop_app.ui.widgets.badge import StateGlyph
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import Card
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.toggles import Switch

from . import mcp_words

OUTPUT_LINES = 12


class _ToolRow(QWidget):
    """A switch with the tool's name, and its tokens."""

    def __init__(self, tokens: str) -> None:
        super().__init__()
        self.tool: ToolView | None = None
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        self.name = ElidedLabel("", role="mono-small")
        self.switch = Switch(name=lambda: tr("Use {name}", name=self.name.text()))
        self.tokens = Label(tokens, role="caption", tone="muted")
        row.addWidget(self.switch)
        row.addWidget(self.name, 1)
        row.addWidget(self.tokens)

    def show_tool(self, tool: ToolView, *, live: bool) -> None:
        self.tool = tool
        self.name.set_source(visible(tool.remote.name)[0])
        self.name.set_tone("text" if tool.enabled else "muted")
        self.switch.setChecked(tool.enabled)
        self.switch.setEnabled(live)
        self.switch.retranslate()
        lines = [tool.name, visible(tool.remote.description)[0][:600]]
        if ghosts := left_out(tool.remote.schema):
            names = visible(", ".join(ghosts))[0][:200]
            lines.append(
                tr("It requires {names} without describing it: not asked for.", names=names)
            )
        self.setToolTip("\n".join(line for line in lines if line))


class ServerCard(Card):
    """``enabled(name, on)``, ``toolEnabled(server, tool, on)``, ``restart(name)``,
    ``remove(name)`` tell what a person asks for; ``show_view`` shows what came of it."""

    enabled = Signal(str, bool)
    toolEnabled = Signal(str, str, bool)
    restart = Signal(str)
    signIn = Signal(str)
    signOut = Signal(str)
    cancelSignIn = Signal(str)
    split = Signal(str)
    trust = Signal(str)  # its certificate is to be looked at
    remove = Signal(str)

    def __init__(self, tokens: Callable[[ToolView], int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tokens = tokens
        self.view: ServerView | None = None
        self._trusted = self._live = True
        self._rows: list[_ToolRow] = []
        self.glyph = StateGlyph("idle")
        self.name = ElidedLabel("", role="semibold")
        self.cost = Label("", role="caption", tone="muted")
        self.switch = Switch(name=lambda: tr("Use {name}", name=self.name.text()))
        self.where = ElidedLabel("", role="mono-small", tone="muted")
        self.program = ElidedLabel("", role="caption", tone="faint")
        self.state = Label("", role="small", tone="muted", wrap=True)
        self.folder = Label(
            lambda: tr("It asked for its roots and was told the working folder, nothing else."),
            role="caption",
            tone="muted",
            wrap=True,
        )
        self.signed = Label("", role="caption", tone="muted", wrap=True)
        self.reason = Label("", role="small", wrap=True, select=True)
        self.fix = Label("", role="small", tone="muted", wrap=True)
        self.bad = Label("", role="caption", tone="warning", wrap=True)
        self.output = Label("", role="mono-small", tone="muted", wrap=True, select=True)
        self._tools = QWidget()
        self._tool_column = QVBoxLayout(self._tools)
        follow(self._tool_column, setContentsMargins=(0, 2, 0, 2), setSpacing=4)
        column = self.body
        follow(column, setContentsMargins=(12, 10, 12, 8), setSpacing=4)
        head = QHBoxLayout()
        follow(head, setSpacing=8)
        for widget in (self.glyph, self.name, self.cost, self.switch):
            head.addWidget(widget, int(widget is self.name))
        column.addLayout(head)
        column.addWidget(self.where)
        column.addWidget(self.program)
        for widget in (self.state, self.signed, self.folder, self.reason, self.fix):
            column.addWidget(widget)
        column.addLayout(self._signing_buttons())
        column.addLayout(self._buttons())
        for widget in (self._tools, self.bad, self.output):
            column.addWidget(widget)
        self._tools.hide()
        self.output.hide()
        self.switch.clicked.connect(lambda on: self.enabled.emit(self._name(), on))

    def _signing_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        follow(row, setSpacing=4)
        self.sign_in_button = Button(lambda: tr("Sign in…"), variant="primary", small=True)
        self.cancel_button = Button(lambda: tr("Cancel"), small=True)
        self.sign_out_button = Button(lambda: tr("Sign out"), small=True)
        self.split_button = Button(lambda: tr("Split"), variant="primary", small=True)
        self.trust_button = Button(
            lambda: action_label("trust_certificate"), glyph="shield-check", small=True
        )
        signing = (self.sign_in_button, self.cancel_button, self.sign_out_button)
        for button in (*signing, self.split_button, self.trust_button):
            row.addWidget(button)
        row.addStretch(1)
        self.split_button.clicked.connect(lambda: self.split.emit(self._name()))
        self.trust_button.clicked.connect(lambda: self.trust.emit(self._name()))
        self.sign_in_button.clicked.connect(lambda: self.signIn.emit(self._name()))
        self.cancel_button.clicked.connect(lambda: self.cancelSignIn.emit(self._name()))
        self.sign_out_button.clicked.connect(lambda: self.signOut.emit(self._name()))
        return row

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        follow(row, setSpacing=4)
        self.tools_button = Button(lambda: tr("Tools"), variant="ghost", small=True)
        self.output_button = Button(lambda: tr("Output"), variant="ghost", small=True)
        self.restart_button = Button(lambda: tr("Restart"), variant="ghost", small=True)
        self.remove_button = Button(lambda: tr("Remove"), variant="ghost", small=True)
        for button in (
            self.tools_button,
            self.output_button,
            self.restart_button,
            self.remove_button,
        ):
            row.addWidget(button)
        row.addStretch(1)
        self.tools_button.clicked.connect(lambda: self._toggle(self._tools))
        self.output_button.clicked.connect(lambda: self._toggle(self.output))
        self.restart_button.clicked.connect(lambda: self.restart.emit(self._name()))
        self.remove_button.clicked.connect(lambda: self.remove.emit(self._name()))
        return row

    def _name(self) -> str:
        return self.view.name if self.view is not None else ""

    def _toggle(self, part: QWidget) -> None:
        part.setVisible(part.isHidden())
        self._render()

    def show_view(self, view: ServerView, *, trusted: bool, live: bool) -> bool:
        """``live``: the session may change things; else it is only shown. Whether it had to be
        drawn anew."""
        if (view, trusted, live) == (self.view, self._trusted, self._live):
            # As a person left it: a switch that was moved and changed nothing goes back.
            self.switch.setChecked(view.enabled)
            if not self._tools.isHidden():
                self._fill_tools(view)
            return False
        self.view, self._trusted, self._live = view, trusted, live
        self._render()
        return True

    def retranslate(self) -> None:
        super().retranslate()
        if self.view is not None:
            self._render()

    def _render(self) -> None:
        view = self.view
        if view is None:
            return
        words, usable = mcp_words.trouble(view), view.problem is None
        self.glyph.set_state(mcp_words.glyph(view), "")
        self.name.set_source(visible(view.name)[0] or tr("(no name)"))
        self.where.set_source(visible(view.where)[0])
        self.where.setVisible(bool(view.where))
        found = view.status.program
        self.program.set_source(tr("Found as {path}", path=visible(found)[0]))
        self.program.setVisible(bool(found) and not view.where.startswith(found))
        self.state.set_source(mcp_words.state(view, trusted=self._trusted))
        self._render_signing(view)
        self.folder.setVisible(view.status.knows_folder and view.state == "ok")
        self.reason.set_source(_sentence(words.title, words.reason) if words else "")
        self.fix.set_source(words.fix if words else "")
        for label in (self.reason, self.fix):
            label.setVisible(bool(label.text()))
        self.switch.setVisible(usable)
        self.switch.setEnabled(self._live)
        self.switch.setChecked(view.enabled)
        self.switch.retranslate()
        cost = sum(self._tokens(t) for t in view.tools if t.enabled)
        self.cost.set_source(figures.tokens(cost) if cost else "")
        self.tools_button.setVisible(bool(view.tools))
        self.output_button.setVisible(bool(view.stderr.strip()))
        self.restart_button.setVisible(usable and view.state in ("ok", "waiting", "failed"))
        self.remove_button.setVisible(usable and self._live)
        self.bad.set_source(
            "\n".join(
                tr("“{name}” is left out: {reason}", name=visible(n)[0] or "?", reason=reason)
                for n, reason in ((n, mcp_words.bad_tool(code)) for n, code in view.status.bad[:8])
            )
        )
        self.bad.setVisible(bool(view.status.bad) and not self._tools.isHidden())
        tail = "\n".join(view.stderr.strip().splitlines()[-OUTPUT_LINES:])
        self.output.set_source(visible(tail)[0])
        if not self._tools.isHidden():
            self._fill_tools(view)
        self.setAccessibleName(f"{self.name.text()}, {self.state.text()}")

    def _render_signing(self, view: ServerView) -> None:
        code, usable = view.status.code, view.problem is None and self._live
        params = view.status.params
        wants = view.state == "failed" and code in ("mcp.sign_in", "mcp.sign_in_failed")
        signed = view.status.signed_in if view.state == "ok" else None
        self.sign_in_button.setVisible(usable and wants)
        self.trust_button.setVisible(usable and view.state == "failed" and "seen" in params)
        self.split_button.setVisible(usable and code == "mcp.whole_line")
        self.cancel_button.setVisible(usable and view.state == "starting" and code != "")
        self.sign_out_button.setVisible(usable and signed is not None)
        self.signed.set_source(mcp_words.signed_in(signed))
        self.signed.setVisible(signed is not None)

    def _fill_tools(self, view: ServerView) -> None:
        while len(self._rows) > len(view.tools):
            self._rows.pop().deleteLater()
        for place, tool in enumerate(view.tools):
            tokens = figures.tokens(self._tokens(tool))
            if place == len(self._rows):
                row = _ToolRow(tokens)
                row.switch.clicked.connect(lambda on, row=row: self._tool_switched(row, on))
                self._rows.append(row)
                self._tool_column.addWidget(row)
            self._rows[place].tokens.set_source(tokens)
            self._rows[place].show_tool(tool, live=self._live)

    def _tool_switched(self, row: _ToolRow, on: bool) -> None:
        if row.tool is not None:
            self.toolEnabled.emit(self._name(), row.tool.remote.name, on)


def _sentence(title: str, reason: str) -> str:
    return tr("{title}. {reason}", title=title, reason=reason) if reason else title
