"""Words: languages, counts, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QWidget

from desktop_app.core.errors import ModelError
from desktop_app.ui import i18n
from desktop_app.ui.error_words import WORDS
from desktop_app.ui.errors import ACTIONS, action_label, describe, describe_error
from desktop_app.ui.i18n import tr, trc, trn
from desktop_app.ui.widgets import figures


def test_counts_in_both_languages():
    assert trn("{n} item", "{n} items", 1) == "1 item"
    assert trn("{n} item", "{n} items", 0) == "0 items"
    i18n.set_language("zh_CN")
    assert trn("{n} item", "{n} items", 1) == "1 项"


def test_unknown_text_shows_english_and_context_falls_back():
    i18n.set_language("zh_CN")
    assert tr("A text nobody translated") == "A text nobody translated"
    assert trc("somewhere", "Cancel") == "取消"


def test_braces_in_values_are_only_text():
    assert tr("Do you trust {name}?", name="{x}") == "Do you trust {x}?"


def test_language_reaches_nested_widgets_locale_and_qts_own_words(qtbot):
    class Spy(QLabel):
        seen = 0

        def changeEvent(self, event):
            self.seen += event.type() == event.Type.LanguageChange
            super().changeEvent(event)

    page = QWidget()
    qtbot.addWidget(page)
    spy = Spy(QWidget(page))
    told: list[str] = []
    i18n.notifier.changed.connect(told.append)
    i18n.set_language("zh_CN")
    i18n.notifier.changed.disconnect(told.append)
    assert told == ["zh_CN"]
    assert spy.seen >= 1
    assert QLocale().name() == "zh_CN"
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    qtbot.addWidget(box)
    assert box.buttons()[0].text() == "取消"
    with pytest.raises(ValueError, match="fr"):
        i18n.set_language("fr")


def test_a_broken_catalogue_costs_only_itself(tmp_path: Path, monkeypatch, log_guard):
    folder = tmp_path / "i18n" / "zh_CN"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text("{broken")
    (folder / "b.json").write_text(json.dumps({"Save": "保存"}))
    monkeypatch.setattr(i18n, "resources", lambda: tmp_path)
    log_guard.expect("a.json cannot be read")
    assert i18n.load("zh_CN") == {"Save": "保存"}


def test_error_words_fill_their_places_and_never_fail():
    words = describe("file.too_large", {"path": "a.bin", "size": 5_000_000, "limit": 262_144})
    assert words.reason == "“a.bin” has 5.0 MB; at most 262 KB are read at once."
    for language in ("en", "zh_CN"):
        i18n.set_language(language)
        for code in WORDS:
            found = describe(code, {})
            assert found.title
            assert found.reason
            assert "{" not in found.title + found.reason + found.fix


def test_unknown_errors_show_their_code_and_lead_to_the_log():
    assert "x.y" in describe("x.y", {"a": 1}).reason
    assert describe_error(KeyError("k")).action == "open_log"
    assert describe_error(ModelError("model.empty")).title == "The model said nothing"
    assert describe_error(ValueError()).reason == "ValueError"


def test_actions_have_labels_in_both_languages():
    english = {name: action_label(name) for name in ACTIONS}
    i18n.set_language("zh_CN")
    assert all(action_label(name) != english[name] for name in ACTIONS)


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0"), (942, "942"), (86_100, "86.1k"), (200_000, "200k"), (999_990, "1.00M")],
)
def test_tokens(n, text):
    assert figures.tokens(n) == text


@pytest.mark.parametrize(
    ("n", "text"), [(312, "312 B"), (4000, "4.0 KB"), (1_900_000, "1.9 MB"), (262_144, "262 KB")]
)
def test_sizes(n, text):
    assert figures.size(n) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.42, "0.4 s"), (8, "8 s"), (59, "59 s"), (120, "2 min"), (4800, "1 h 20 min")],
)
def test_durations(seconds, text):
    assert figures.duration(seconds) == text


def test_durations_in_chinese(chinese):
    assert figures.duration(8) == "8 秒"
    assert figures.ago(3) == "刚刚"


def test_shares_never_claim_all_or_nothing():
    assert figures.percent(0.001) == "<1%"
    assert figures.percent(0.999) == "99%"
    assert figures.percent(0.43) == "43%"
    assert (figures.percent(0), figures.percent(1)) == ("0%", "100%")


def test_why_notes_failed_is_said_in_words() -> None:
    slow = describe("compaction.failed", {"reason": "timeout", "seconds": 120})
    assert slow.reason == "The model took longer than 120 seconds. Nothing changed."
    away = describe("compaction.failed", {"reason": "model.unreachable", "model": "glm"})
    assert away.reason.startswith("There is no connection to “glm”.")


def test_what_is_tried_again_is_told_with_the_reason():
    params = {"model": "M", "why": "model.overloaded", "seconds": 4, "tries": 1}
    assert describe("model.retry", params).reason == (
        "“M”: The provider is overloaded. The next try is in 4 s."
    )
    i18n.set_language("zh_CN")
    assert "没有回答" not in describe("model.retry", params).reason


def test_sentences_stand_one_after_the_other_as_their_language_writes_them():
    assert i18n.sentences("It failed", "", "Try again.") == "It failed. Try again."
    i18n.set_language("zh_CN")
    assert i18n.sentences("失败", "请重试。", "") == "失败。请重试。"
    slow = describe("compaction.failed", {"reason": "timeout", "seconds": 120})
    assert "。 " not in slow.reason
