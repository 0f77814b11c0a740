"""The session that the window shows: bound to every side, found again, given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop_app.core.sessions.base import SessionKey
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel

if TYPE_CHECKING:
    from .window import MainWindow


class ShownSession:
    """Of ``window``. At most one; its view model lives in the desk."""

    def __init__(self, window: MainWindow) -> None:
        self._w = window
        self._seek: tuple[SessionKey, str, int] | None = None  # a place in the session to come

    def bind(self, vm: ChatViewModel | None, sources: ChatSources) -> None:
        """Chat, inspector and status line follow ``vm``, or nothing."""
        for side in (self._w.chat, self._w.inspector, self._w.chat_status):
            side.bind(vm, sources)

    def show(self, vm: ChatViewModel, sources: ChatSources) -> None:
        self.bind(vm, sources)
        self._w.turn_to(self._w.chat)
        self._w.pane.mark_open(self._w.desk.current)
        self._w.chat.composer.setFocus()
        self._w.title_it()
        seek, self._seek = self._seek, None
        if seek is not None and seek[0] == self._w.desk.current:
            self._w.chat.find_at(*seek[1:])

    def forgotten(self, key: SessionKey) -> None:
        """It went to the trash: its neighbour in the list takes its place."""
        beside = self._beside(key) if self._w.desk.current == key else None
        self._w.desk.forget(key)
        if beside is not None:
            self._w.open_session(beside)

    def _beside(self, key: SessionKey) -> SessionKey | None:
        for ws in self._w.workspaces.workspaces:
            keys = [s.key for s in ws.sessions if not s.foreign]
            if key in keys:
                at = keys.index(key)
                rest = [*keys[at + 1 :], *reversed(keys[:at])]
                return rest[0] if rest else None
        return None

    def sources_changed(self, vm: ChatViewModel, sources: ChatSources) -> None:
        if self._w.chat.vm is vm:
            self.bind(vm, sources)

    def dropped(self, vm: ChatViewModel) -> None:
        shown = self._w.chat.vm is vm
        key = vm.conversation.key if vm.conversation is not None else None
        self._w.chat.drop(vm)
        if not shown:
            return
        self._w.inspector.bind(None, ChatSources())
        self._w.chat_status.bind(None, ChatSources())
        if self._w.desk.current in (None, key):
            self._w.show_welcome()

    def find_in(self, key: SessionKey, text: str, seq: int) -> None:
        """Open a session at the place where ``text`` was found."""
        if self._w.desk.current == key and self._w.chat.vm is not None:
            self._w.chat.find_at(text, seq)
            return
        self._seek = (key, text, seq)
        self._w.open_session(key)

    def trash(self) -> None:
        """The session that is shown goes to the trash."""
        for ws in self._w.workspaces.workspaces:
            for session in ws.sessions:
                if session.key == self._w.desk.current:
                    self._w.pane.remove(session)
                    return

    def workspace_forgotten(self, workspace_id: str) -> None:
        if self._w.chat.vm is not None and self._w.desk.current is not None:
            keys = {
                s.key
                for w in self._w.workspaces.workspaces
                if w.info.id == workspace_id
                for s in w.sessions
            }
            if self._w.desk.current in keys:
                self._w.desk.forget(self._w.desk.current)

    def way_out(self, action: str) -> None:
        """What the composer offers where nothing can be sent, and a card where something failed."""
        if action == "choose_model":
            self._w.chat.composer.model.open()
        elif action == "manage_models":
            self._w.modelsWanted.emit()
        elif action == "unlock_keys":
            self._w.dialogs.unlock_keys()
        elif (key := self._w.desk.current) is not None:
            if action == "continue_here":
                self._w.workspaces.continue_session(key)
            elif action == "take_over":
                self._w.desk.take_over(key)
            elif action == "open_anyway":
                self._w.workspaces.open_anyway(key)
            elif action == "retry":
                self._w.workspaces.try_again(key)
            elif action == "locate_folder" and (workspace_id := self._workspace_of(key)):
                self._w.pane.folders.locate(workspace_id)

    def _workspace_of(self, key: SessionKey) -> str:
        listed = self._w.workspaces.workspaces
        return next((w.info.id for w in listed if any(s.key == key for s in w.sessions)), "")

    def workspace_moved(self, workspace_id: str) -> None:
        """Its sessions read another folder now: those that are open are opened again."""
        for ws in self._w.workspaces.workspaces:
            if ws.info.id == workspace_id:
                self._w.desk.reopen([s.key for s in ws.sessions])
