"""Contrast is computed from the tokens; the theme reaches every widget."""

from __future__ import annotations

import itertools
import re

import pytest
from PySide6.QtGui import QColor, QIcon, QPalette
from PySide6.QtWidgets import QLabel

from desktop_app.ui.theme import Theme, icon, install, pixmap, tokens
from desktop_app.ui.theme import theme as installed
from desktop_app.ui.theme.icons import exists
from desktop_app.ui.theme.qss import qss

PALETTES = {"light": tokens.LIGHT, "dark": tokens.DARK}


def luminance(value: str) -> float:
    """WCAG 2.2 relative luminance."""
    channels = [int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


GROUNDS = ("bg", "surface", "raised", "sunken", "hover", "selection", "selection-inactive")
TONES = ("success", "warning", "danger", "info")
PLAIN = ("text", "muted")
CODE = [name for name in tokens.LIGHT if name.startswith("code-")]
SOFT = [name for name in tokens.LIGHT if name.startswith("cat-") and name.endswith("-soft")]
TEXT = [
    *itertools.product(PLAIN, (*GROUNDS, "pressed")),
    *itertools.product(("faint", "accent-text", *TONES), GROUNDS),
    *((tone, f"{tone}-soft") for tone in TONES),
    ("accent-text", "accent-soft"),
    *(("accent-fg", ground) for ground in ("accent", "accent-hover", "accent-pressed")),
    *itertools.product(PLAIN, ("accent-soft", "warning-soft", "danger-soft", "info-soft")),
    *itertools.product(PLAIN, ("added", "removed")),
    *(("text", ground) for ground in ("text-selection", "find", "success-soft")),
    *itertools.product(CODE, ("sunken", "surface", "raised", "added", "removed")),
    *itertools.product(PLAIN, SOFT),
]
CATEGORIES = [f"cat-{name}" for name in (*tokens.CATEGORY_ORDER, "reserve")]
GRAPHICS = [
    *itertools.product(
        ("outline", "focus", "accent-text", *TONES[:3]),
        ("bg", "surface", "raised", "sunken", "hover", "selection"),
    ),
    *itertools.product(CATEGORIES, ("surface", "bg", "raised", "sunken", "cat-free")),
    ("accent-fg", "outline"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXT, 4.5), (GRAPHICS, 3.0)], ids=["text", "shape"])
def test_contrast(scheme, pairs, least):
    table = PALETTES[scheme]
    low = {
        f"{ink} on {ground}": round(value, 2)
        for ink, ground in pairs
        if (value := contrast(table[ink], table[ground])) < least
    }
    assert low == {}


def test_both_palettes_name_the_same_colours():
    assert set(tokens.LIGHT) == set(tokens.DARK)
    assert all(re.fullmatch(r"#[0-9A-F]{6}", v) for t in PALETTES.values() for v in t.values())


def test_high_contrast_is_higher(theme):
    theme.set_high_contrast(True)
    try:
        for scheme in ("light", "dark"):
            theme.set_scheme(scheme)
            assert contrast(theme.hex("faint"), theme.hex("bg")) >= 7
            assert contrast(theme.hex("border"), theme.hex("bg")) >= 3
    finally:
        theme.set_high_contrast(False)


def test_palette_says_what_the_tokens_say(theme, qapp):
    palette = theme.palette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    light = tokens.LIGHT
    assert palette.color(role.Window) == QColor(light["bg"])
    assert palette.color(group.Inactive, role.Highlight) == QColor(light["selection-inactive"])
    assert palette.color(group.Disabled, role.Text) == QColor(light["disabled"])
    theme.set_scheme("dark")
    assert qapp.palette().color(role.Base) == QColor(tokens.DARK["surface"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sheet_has_no_open_places(scheme):
    sheet = qss(Theme(scheme))
    assert "$" not in sheet
    assert sheet.count("{") == sheet.count("}") > 30


def test_change_bumps_the_serial_tells_and_reaches_widgets(theme, qtbot):
    label = QLabel("x")
    qtbot.addWidget(label)
    serial = theme.serial
    with qtbot.waitSignal(theme.changed):
        theme.set_scheme("dark")
    assert theme.serial > serial
    assert label.palette().windowText().color() == QColor(tokens.DARK["text"])
    same = theme.serial
    theme.set_scheme("dark")
    assert theme.serial == same, "nothing changed, nothing is told"


def test_font_size_scales_lengths_and_fonts(theme):
    assert theme.font("body").pixelSize() == 13
    assert theme.px(11) == 11
    theme.set_scale(200)
    assert theme.font("body").pixelSize() == 26
    assert theme.size("button") == 56
    assert theme.line("message") == 44


def test_chinese_lines_have_more_air(theme, chinese):
    assert theme.line("message") == 24


def test_compact_is_lower(theme):
    assert (theme.size("button"), theme.size("table-row")) == (28, 32)
    theme.set_compact(True)
    assert (theme.size("button"), theme.size("table-row")) == (24, 26)
    assert theme.size("rail") == 48


def test_reduced_motion_takes_no_time(theme):
    assert theme.ms("toast") == 0
    theme.set_reduced_motion(False)
    assert theme.ms("toast") == 120


def test_chinese_families_come_after_the_first_and_mono_is_fixed(theme):
    families = theme.families("ui")
    assert len(families) == len(set(families)) or families[0] in families
    assert theme.font("mono").fixedPitch()
    assert theme.font("figure").weight() == 600


def test_icons_are_tinted_sharp_and_cached(theme):
    for token in ("muted", "danger"):
        image = pixmap("square", token, 16, 2.0).toImage()
        colours = {
            image.pixelColor(x, y).name()
            for x in range(image.width())
            for y in range(image.height())
            if image.pixelColor(x, y).alpha() == 255
        }
        assert colours == {theme.hex(token).lower()}
    assert pixmap("folder", "muted", 16, 2.0).width() == 32
    assert pixmap("folder", "muted", 16, 2.0) is pixmap("folder", "muted", 16, 2.0)
    light = pixmap("folder", "muted", 16).toImage()
    theme.set_scheme("dark")
    assert pixmap("folder", "muted", 16).toImage() != light


def test_icons_off_are_grey_and_unknown_names_still_draw(theme, log_guard):
    log_guard.expect("no icon 'no-such-icon-at-all'")
    off = icon("folder").pixmap(16, 16, QIcon.Mode.Disabled).toImage()
    assert off != icon("folder").pixmap(16, 16, QIcon.Mode.Normal).toImage()
    assert not pixmap("no-such-icon-at-all").isNull()
    assert exists("folder")
    assert not exists("no-such-icon-at-all")


def test_installing_again_does_not_follow_twice(qapp, theme):
    install(qapp, "light")
    again = install(qapp, "dark")
    assert again is installed()
    told: list[int] = []
    again.changed.connect(lambda: told.append(1))
    again.set_scheme("light")
    assert told == [1]


def test_the_sheet_is_back_when_a_window_is_built(qapp, theme) -> None:
    install(qapp, "light")
    sheet = qapp.styleSheet()
    assert sheet
    with theme.building():
        assert qapp.styleSheet() == ""
    assert qapp.styleSheet() == sheet
    with pytest.raises(ZeroDivisionError), theme.building():
        raise ZeroDivisionError
    assert qapp.styleSheet() == sheet
