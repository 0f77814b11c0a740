"""Words for every error of the core: what happened, why, what to do.

The core raises codes with parameters (``core.errors``); here they become a title, a reason, a fix
and, where the window can do it, an action id. A test reads every ``raise`` of the core and fails
when a code has no words. Parameters that are missing show as ``…``, never as an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from desktop_app.core.errors import SlipwayError
from desktop_app.ui.error_words import WORDS
from desktop_app.ui.error_words.context import NOTES_FAILED
from desktop_app.ui.i18n import mark, tr
from desktop_app.ui.widgets import figures


@dataclass(frozen=True, slots=True)
class Words:
    """An error for a person. ``action`` is a command id or one of the ids in ``ACTIONS``; empty
    when only the person can do something."""

    title: str
    reason: str
    fix: str = ""
    action: str = ""


ACTIONS: dict[str, Callable[[], str]] = {
    "retry": lambda: tr("Try again"),
    "locate_folder": lambda: tr("Say where it is…"),
    "choose_model": lambda: tr("Choose a model"),
    "unlock_keys": lambda: tr("Unlock…"),
    "manage_models": lambda: tr("Manage models…"),
    "compact": lambda: tr("Compact now"),
    "open_settings": lambda: tr("Open settings"),
    "show_file": lambda: tr("Show the file"),
    "new_session": lambda: tr("New session"),
    "continue_here": lambda: tr("Continue in a new session"),
    "take_over": lambda: tr("Take over"),
    "open_anyway": lambda: tr("Open anyway"),
    "open_log": lambda: tr("Show the log"),
    "trust": lambda: tr("Trust"),
    "trust_certificate": lambda: tr("Trust this certificate…"),
}


# Parts of a prompt that have no name of their own.
_PARTS = {
    "system": mark("the system prompt"),
    "instructions": mark("the workspace's instructions"),
    "skills": mark("the list of skills"),
}


class _Params(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"


def _shown(params: Mapping[str, Any]) -> _Params:
    """Parameters as text: sizes and token counts in short form, paths as they are."""
    out = _Params()
    for name, value in params.items():
        if name in {"size", "limit", "bytes"} and isinstance(value, int):
            out[name] = figures.size(value)
        elif name in {
            "tokens",
            "window",
            "usable",
            "upper",
            "needed",
            "biggest_tokens",
            "second_tokens",
        } and isinstance(value, int):
            out[name] = figures.tokens(value)
        elif name in ("biggest", "second", "label") and value in _PARTS:
            out[name] = tr(_PARTS[str(value)])
        elif isinstance(value, (list, tuple)):
            out[name] = "; ".join(str(v) for v in value)
        else:
            out[name] = str(value)
    return out


def describe(code: str, params: Mapping[str, Any] | None = None) -> Words:
    """Words for ``code``. An unknown code is shown as itself, with the log as the way on."""
    entry = WORDS.get(code)
    if entry is None:
        return Words(
            tr("Something went wrong"),
            tr("The program reports “{code}”.", code=code),
            tr("The log says more."),
            "open_log",
        )
    title, reason, fix, action = entry
    shown = _shown(params or {})
    for name in ("why", "reason"):
        if (inner := WORDS.get(shown.get(name, ""))) is not None:
            # While it is tried again, what it is called is enough.
            words = inner[0] if code == "model.retry" else inner[1]
            shown[name] = tr(words).format_map(shown)
    if code == "compaction.failed" and (words := NOTES_FAILED.get(shown.get("reason", ""))):
        shown["reason"] = tr(words).format_map(shown)
    title, reason, fix = (
        tr(text).format_map(shown) if text else "" for text in (title, reason, fix)
    )
    return Words(title, reason, fix, action)


def describe_error(error: BaseException) -> Words:
    """Words for any exception: the catalogue's for ours, the kind's name for others."""
    if isinstance(error, SlipwayError):
        return describe(error.code, error.params)
    return Words(
        tr("Something went wrong"),
        f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        tr("The log says more."),
        "open_log",
    )


def action_label(action: str) -> str:
    """The words of an action id's button."""
    label = ACTIONS.get(action)
    return label() if label else tr("Details")
