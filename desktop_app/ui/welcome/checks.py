"""What the welcome page says about this computer; each line is looked up, none is assumed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import figures

_LOW = 1_000_000_000  # bytes free below which long work may fill the disk


@dataclass(frozen=True, slots=True)
class Check:
    """One line: ``tone`` success, warning or danger; words are asked when shown, so that they
    follow the language. ``act`` are the words of a button, empty without one."""

    id: str
    tone: str
    title: Callable[[], str]
    detail: Callable[[], str]
    act: Callable[[], str] | str = ""


def look(data: Path, model: str = "") -> list[Check]:
    """Look at the disk and at programs. ``model`` is the name of the one that new sessions begin
    with, empty for the built-in one. Blocking: call it in a thread."""
    return [_model(model), _disk(data), _program("rg"), _program("git")]


def _model(name: str) -> Check:
    def title() -> str:
        return tr("Model")

    if name:
        return Check(
            "model",
            "success",
            title,
            lambda: tr("New sessions begin with {name}.", name=name),
            lambda: tr("Manage models…"),
        )
    return Check(
        "model",
        "success",
        title,
        lambda: tr("The built-in Guide works offline and needs no key. It follows rules, no AI."),
        lambda: tr("Add a model…"),
    )


def _disk(data: Path) -> Check:
    place = data
    while not place.exists() and place != place.parent:
        place = place.parent

    def title() -> str:
        return tr("Disk")

    if not os.access(place, os.W_OK):
        return Check(
            "disk",
            "danger",
            title,
            lambda: tr("Nothing can be written in {path}. Sessions cannot be kept.", path=data),
        )
    try:
        free = shutil.disk_usage(place).free
    except OSError as error:
        reason = error.strerror or str(error)
        return Check("disk", "warning", title, lambda: reason)
    tone = "success" if free > _LOW else "warning"
    return Check(
        "disk", tone, title, lambda: tr("{size} free where data lives.", size=figures.size(free))
    )


def _program(name: str) -> Check:
    found = shutil.which(name)
    titles = {"rg": lambda: tr("Fast search"), "git": lambda: tr("Git")}
    missing = {
        "rg": lambda: tr("ripgrep is not installed; the slower built-in search is used."),
        "git": lambda: tr("Git is not installed; the agent cannot use it."),
    }
    if found is None:
        return Check(name, "warning", titles[name], missing[name])
    return Check(name, "success", titles[name], lambda: found)
