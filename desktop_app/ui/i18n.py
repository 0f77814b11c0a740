"""Words for people: English in the source, other languages from catalogues.

``resources/i18n/<language>/<room>.json`` maps English source texts to translations; all files of a
language are one dictionary. Texts have named placeholders (``{name}``), so that a translation may
reorder them; never an f-string. A missing translation shows English (and fails a test).
"""

from __future__ import annotations

import json
import logging
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QLibraryInfo, QLocale, QObject, QTranslator
from PySide6.QtCore import Signal as QtSignal

from desktop_app.core.resources import root as resources

LANGUAGES = {"en": "English", "zh_CN": "简体中文"}
_STOPS = (".", "!", "?", "…", "。", "！", "？")
_log = logging.getLogger(__name__)


class Notifier(QObject):
    """Tells who is not a widget; widgets get ``QEvent.LanguageChange``."""

    changed = QtSignal(str)


notifier = Notifier()


class _State:
    language = "en"
    words: dict[str, str] = {}  # noqa: RUF012 - replaced as a whole, never changed in place
    translator: QTranslator | None = None


def language() -> str:
    """The language in force: "en" or "zh_CN"."""
    return _State.language


def system_language() -> str:
    """The offered language nearest to the system's."""
    for name in QLocale.system().uiLanguages():
        if name.replace("_", "-").lower().startswith("zh"):
            return "zh_CN"
        if name.lower().startswith("en"):
            return "en"
    return "en"


def load(code: str) -> dict[str, str]:
    """All catalogues of a language as one dictionary; a broken file is logged and left out."""
    words: dict[str, str] = {}
    for path in sorted((resources() / "i18n" / code).glob("*.json")):
        try:
            words.update(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError) as error:
            _log.error("translation %s cannot be read: %s", path.name, error)
    return words


def set_language(code: str) -> None:
    """Switch the whole window at once: catalogues, Qt's own texts, locale; then
    ``LanguageChange`` to every widget and ``notifier.changed``."""
    if code not in LANGUAGES:
        raise ValueError(code)
    if code == _State.language:
        return
    _State.language = code
    _State.words = {} if code == "en" else load(code)
    # The locale picks Simplified glyph forms and the shapes of dates and numbers.
    QLocale.setDefault(QLocale(code if code != "en" else "en_GB"))
    _qt_texts(code)
    if (app := QCoreApplication.instance()) is not None:
        for widget in getattr(app, "topLevelWidgets", list)():
            QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.LanguageChange))
    notifier.changed.emit(code)


def _qt_texts(code: str) -> None:
    """Qt's own words (context menus of fields, standard buttons)."""
    if QCoreApplication.instance() is None:
        return
    if _State.translator is not None:
        QCoreApplication.removeTranslator(_State.translator)
        _State.translator = None
    if code != "en":
        translator = QTranslator()
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if translator.load(f"qtbase_{code}", folder):
            QCoreApplication.installTranslator(translator)
            _State.translator = translator


def tr(text: str, **params: Any) -> str:
    """``text`` in the person's language, its ``{placeholders}`` filled from ``params``."""
    found = _State.words.get(text, text)
    return found.format_map(params) if params else found


def trn(one: str, many: str, n: int, **params: Any) -> str:
    """Like ``tr`` with a count, which also fills ``{n}``. The catalogue's key is ``many``."""
    if _State.language == "en":
        found = one if n == 1 else many
    else:
        found = _State.words.get(many, one if n == 1 else many)
    return found.format_map({"n": n, **params})


def trc(context: str, text: str, **params: Any) -> str:
    """Like ``tr`` for a text whose meaning depends on its place. The catalogue's key is
    ``context|text``; without one, ``text``'s own translation is used."""
    found = _State.words.get(f"{context}|{text}") or _State.words.get(text, text)
    return found.format_map(params) if params else found


def mark(text: str) -> str:
    """``text`` itself: marks a literal that ``tr`` will be given later, so that tests and
    translators find it."""
    return text


def sentences(*parts: str) -> str:
    """The ``parts`` that say something, one after the other as their language writes it: one
    without a stop gets one, and Chinese leaves no blank behind it."""
    stop, gap = ("。", "") if _State.language == "zh_CN" else (".", " ")
    ended = (part if part.endswith(_STOPS) else f"{part}{stop}" for part in parts if part)
    return gap.join(ended)
