"""The pages of the help: each in both languages, saying the same, and shown in the window."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core import resources
from desktop_app.ui import i18n
from desktop_app.ui.help.page import HelpPage, page_file

PAGES = sorted(p.stem for p in resources.path("help").glob("*.md") if "." not in p.stem)
CODE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
REMARK = re.compile(r'""".*?"""|#.*')


def bare(code: str) -> list[str]:
    """The lines of a program without its remarks, which are in the reader's language."""
    return [line for line in REMARK.sub("", code).splitlines() if line.strip()]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_the_same_in_both_languages(name: str) -> None:
    english = page_file(name, "en").read_text("utf-8")
    chinese = page_file(name, "zh_CN").read_text("utf-8")
    assert page_file(name, "zh_CN") != page_file(name, "en")
    programs = [bare(c) for c in CODE.findall(english)]
    assert programs
    assert [bare(c) for c in CODE.findall(chinese)] == programs
    for mark in ("# ", "- "):
        count = [len(re.findall(f"^{mark}", CODE.sub("", t), re.M)) for t in (english, chinese)]
        assert count[0] == count[1] > 0, mark


WORDS = {"en": "Nothing waits for your store", "zh_CN": "没有什么会等待你的存储"}


@pytest.mark.parametrize("language", WORDS)
def test_the_window_shows_it_in_its_language(
    qtbot: QtBot, run: Callable[..., Any], language: str
) -> None:
    i18n.set_language(language)
    try:
        page = HelpPage(None, "offloader")
        qtbot.addWidget(page)
        run(page.load())
        page.show()
        assert WORDS[language] in page.model.source_text(0)
        assert not page.view.jump.isVisible()
    finally:
        i18n.set_language("en")
