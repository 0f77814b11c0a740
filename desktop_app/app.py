"""The composition root: loop, core objects, window, orderly shutdown.

The only module that knows both the core and the window.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from desktop_app.core import memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QApplication, QWidget

    from desktop_app.core.service import Slipway
    from desktop_app.core.settings.settings import Settings
    from desktop_app.ui.settings.key_questions import KeyQuestions
    from desktop_app.ui.settings.models_dialog import ModelsDialog
    from desktop_app.ui.widgets.toast import Toast
    from desktop_app.ui.window import MainWindow

log = logging.getLogger("slipway")
IDLE_MS = 5_000
WARM_MS = 1_500  # after the first window: by then the last session is shown


def run_window(folder: str | None = None) -> int:
    """Open the window and run until it is closed."""
    memory.starting()
    app = make_application()
    from desktop_app.ui.loop import AppEventLoop

    with asyncio.Runner(loop_factory=lambda: AppEventLoop(app)) as runner:
        return runner.run(_session(app, folder))


def make_application() -> QApplication:
    """The QApplication with our name; the loop is made after it."""
    os.environ.setdefault("QT_API", "pyside6")
    from PySide6.QtWidgets import QApplication

    from desktop_app.ui.binding import without_features

    without_features()
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(["slipway"])
    app.setApplicationName("slipway")
    app.setApplicationDisplayName("Slipway")
    app.setOrganizationName("slipway")
    app.setDesktopFileName("slipway")
    app.setQuitOnLastWindowClosed(False)
    return app


async def _session(app: QApplication, folder: str | None) -> int:
    from desktop_app.core.errors import SlipwayError

    program = Program(app)
    try:
        await program.open()
    except SlipwayError as error:
        await program.refuse(error)
        return 1
    if folder:
        program.window.workspaces.open_folder(folder)
    await program.run()
    return 0


class Program:
    """One run of the program: core objects, window, and their end in the right order."""

    def __init__(self, app: QApplication) -> None:
        self.app = app
        self.service: Slipway
        self.settings: Settings
        self.window: MainWindow
        self.closing = asyncio.Event()
        self._reported: set[str] = set()
        self._waiting: Toast | None = None  # for the keyring
        self.keys: KeyQuestions
        self._fault: TextIO | None = None

    async def open(self) -> None:
        """Settings, theme, core, window. Raises SlipwayError when the data cannot be opened."""
        from PySide6.QtCore import QSettings

        from desktop_app.core import log as core_log
        from desktop_app.core.agent.policies import policy_of
        from desktop_app.core.paths import ensure, paths
        from desktop_app.core.service import Slipway
        from desktop_app.core.settings.settings import load

        where = paths()
        ensure(where.state)
        core_log.start(where.log)
        self._hooks(where.state)
        self.settings = load(where.settings)
        apply_settings(self.app, self.settings)
        opening = Slipway.open(where, on_error=self._task_failed)
        self.service = await opening
        if model := self.settings.get("model"):
            self.service.default_model = model
        kept = self.settings
        self.service.policy = lambda agent_id: policy_of(kept.get("compaction"), agent_id)
        self._use_network()
        from desktop_app.ui.theme import theme
        from desktop_app.ui.widgets.mark import app_icon
        from desktop_app.ui.window import MainWindow

        self.app.setWindowIcon(app_icon())
        shape = QSettings(str(where.state / "window.ini"), QSettings.Format.IniFormat)
        with theme().building():
            self.window = MainWindow(self.service, self.settings, shape)
        loop = asyncio.get_running_loop()  # a server's tokens are waited for in another thread
        self.service.library.secrets.keyring.on_wait = lambda waits: loop.call_soon_threadsafe(
            self._keyring_waits, waits
        )
        self._ask_about_keys()
        self.window.closing.connect(self.closing.set)
        self.window.settingsWanted.connect(self._open_settings)
        self.window.modelsWanted.connect(self._open_models)
        self.window.keysWanted.connect(lambda: self._open_keys(self.window))
        self.window.settingChosen.connect(self.change_setting)
        self.window.show()
        self.window.start()
        if (last := self.window.last_session()) is not None:
            self.window.open_session(last)
        else:
            self.window.show_welcome()
            self.service.warm()
        self._start_timers()
        self._say_problems()

    def _start_timers(self) -> None:
        """What is done a while after the start, and whenever nothing happens."""
        from PySide6.QtCore import QTimer

        collector = self._collector = memory.Collector()
        self._settle = QTimer(self.window, singleShot=True, interval=IDLE_MS)
        self._settle.timeout.connect(collector.settle)
        self._settle.start()
        self._warm = QTimer(self.window, singleShot=True, interval=WARM_MS)
        self._warm.timeout.connect(self.service.warm_models)
        self._warm.timeout.connect(self.window.dialogs.warm)
        self._warm.start()
        self._idle = QTimer(self.window)
        self._idle.setInterval(IDLE_MS)
        self._idle.timeout.connect(collector.idle)
        self._idle.start()

    def _ask_about_keys(self) -> None:
        """Where keys go and how they are had is asked in the window."""
        from desktop_app.ui.settings.key_questions import KeyQuestions

        secrets = self.service.library.secrets
        self.keys = secrets.asks = KeyQuestions(secrets, self.window, self.window.show_error)
        self.keys.start()

    def _keyring_waits(self, waits: bool) -> None:
        """Say that a key is waited for: the keyring may have a window of its own, unseen."""
        from desktop_app.ui.i18n import tr

        if waits:
            text = tr("Waiting for the system's keyring. It may be asking you to unlock it.")
            self._waiting = self.window.toasts.show(text, "info")
        elif self._waiting in self.window.toasts.toasts():  # else it went by itself
            self._waiting.dismiss()

    def _say_problems(self) -> None:
        """What was found wrong on the way in, once, where the person sees it."""
        from desktop_app.core.errors import SlipwayError

        if self.settings.problem is not None:
            self.window.show_error(self.settings.problem)
        for notice in self.service.db.notices:
            self.window.show_error(SlipwayError(notice.code, **notice.params))

    async def run(self) -> None:
        """Wait for the end, then put everything away."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            try:
                loop.add_signal_handler(name, self.closing.set)
            except (NotImplementedError, RuntimeError):
                pass  # Windows has no such handlers under this loop
        await self.closing.wait()
        await self.close()

    async def close(self) -> None:
        """Stop turns, close journals, then the window."""
        self.window.save_shape()
        self.service.library.secrets.asks = None
        await self.keys.close()
        await self.window.close_parts()
        left = await self.service.close()
        if left:
            log.warning("still running at the end: %s", ", ".join(left))
        self._collector.release()
        self.window.really_close()
        self.window.deleteLater()
        if self._fault is not None:
            faulthandler.disable()  # before its file: it would write into a closed one
            self._fault.close()
            self._fault = None

    async def refuse(self, error: Any) -> None:
        """The data cannot be opened: say why in a window of its own, and end."""
        from desktop_app.ui.bridge import show
        from desktop_app.ui.errors import describe
        from desktop_app.ui.widgets import ConfirmDialog

        words = describe(error.code, error.params)
        dialog = ConfirmDialog(
            None, title=words.title, text=f"{words.reason}\n\n{words.fix}", action="OK"
        )
        await show(dialog)

    def _open_settings(self) -> None:
        from desktop_app.ui.settings.dialog import SettingsDialog

        dialog = SettingsDialog(
            self.window,
            self.settings.get,
            models=[(m.id, m.name) for m in self.service.models.list()],
            place=str(self.settings.path),
        )
        dialog.changed.connect(self.change_setting)
        dialog.keysWanted.connect(lambda: self._open_keys(dialog))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _open_models(self) -> None:
        from desktop_app.ui.settings.models_dialog import ModelsDialog

        of = self.service
        dialog = ModelsDialog(self.window, of.library, of.default_model, of.agents)
        dialog.defaultChosen.connect(lambda model: self.change_setting("model", model))
        dialog.modelsChanged.connect(self.window.models_changed)
        dialog.modelsChanged.connect(self.service.warm_models)
        dialog.trustWanted.connect(
            lambda code, params: self.window.dialogs.trust(code, params, dialog, dialog.again)
        )
        dialog.networkWanted.connect(lambda: self._open_network(dialog))
        dialog.keysWanted.connect(lambda: self._open_keys(dialog, dialog.keys_changed))
        dialog.agentsWanted.connect(
            lambda: self.window.dialogs.open_agents(dialog, dialog.agents_changed)
        )
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _open_keys(self, over: QWidget, then: Callable[[], object] | None = None) -> None:
        from desktop_app.ui.settings.keys_dialog import KeysDialog

        dialog = KeysDialog(over, self.service.library.secrets, self.keys)
        if then is not None:
            dialog.finished.connect(lambda _code: then())
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _open_network(self, models: ModelsDialog) -> None:
        from desktop_app.ui.settings.network_dialog import NetworkDialog

        dialog = NetworkDialog(models, self.settings.get)
        dialog.saved.connect(self.change_network)
        dialog.passwordTyped.connect(models.keep)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def change_network(self, values: dict[str, Any]) -> None:
        """Put how models are reached into force, and save it."""
        for name, value in values.items():
            self.change_setting(name, value)
        self._use_network()

    def _use_network(self) -> None:
        from desktop_app.core.models.network import Network

        self.service.library.connections.network = Network.of(self.settings.get)

    def change_setting(self, name: str, value: Any) -> None:
        """Put a setting into force at once, and save it."""
        from desktop_app.core.errors import SlipwayError
        from desktop_app.core.models.registry import DEFAULT_MODEL
        from desktop_app.ui.settings.apply import LOOK, apply

        try:
            self.settings.set(name, value)
            self.settings.save()
        except SlipwayError as error:
            self.window.show_error(error)
        if name in LOOK:
            apply(self.settings.get, (name,))
        elif name == "trusted_certificates":
            self._use_network()
        elif name == "model":
            former, self.service.default_model = self.service.default_model, value or DEFAULT_MODEL
            self.window.default_model_changed(former)

    # -- errors nobody caught -----------------------------------------------------------------

    def _hooks(self, state: Path) -> None:
        self._fault = (state / "crash.log").open("a", encoding="utf-8")
        faulthandler.enable(self._fault)
        sys.excepthook = lambda kind, error, trace: self.report("slot", error, trace)
        threading.excepthook = lambda args: self.report(
            "thread", args.exc_value, args.exc_traceback
        )
        asyncio.get_running_loop().set_exception_handler(self._loop_failed)

    def _loop_failed(self, _loop: Any, context: dict[str, Any]) -> None:
        self.report("loop", context.get("exception"), None, str(context.get("message", "")))

    def _task_failed(self, name: str, error: BaseException) -> None:
        self.report(name, error, error.__traceback__)

    def report(self, where: str, error: Any, trace: Any, message: str = "") -> None:
        """Log it; tell the person once for each kind of failure."""
        from desktop_app.core.errors import SlipwayError

        if isinstance(error, KeyboardInterrupt):
            self.closing.set()
            return
        text = "".join(traceback.format_exception(type(error), error, trace)) if error else message
        log.error("unexpected failure in %s\n%s", where, text)
        mark = f"{where}:{type(error).__name__}:{message}"
        if mark not in self._reported and hasattr(self, "window"):
            self._reported.add(mark)
            if isinstance(error, SlipwayError):
                self.window.show_error(error)
            else:
                detail = f"{type(error).__name__}: {error}" if error else message
                self.window.show_error(SlipwayError("internal.failed", what=where, error=detail))


def apply_settings(app: QApplication, settings: Settings) -> None:
    """Language, colours, size and motion as the person set them."""
    from desktop_app.ui.settings.apply import apply
    from desktop_app.ui.theme import install

    apply(settings.get, ("language",))
    install(app, settings.get("scheme"))
    apply(settings.get, ("font_size", "density", "motion"))
